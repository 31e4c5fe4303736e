/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Policies in a cluster file:
 *
 *     [node notebooks]
 *     gpus = 4
 *     policy = mig           ; of these nodes, for jobs of their partitions
 *     mig.queue = backfill   ; a setting, as --set has it
 *     classes = realtime     ; for jobs of these classes
 *
 *     [partition debug]      ; all nodes of a partition
 *     policy = mps
 *
 * Nodes without partitions and classes take the jobs of a partition of the section's name. All
 * nodes that are in neither are under --policy. */
#include "sim/app/setup/cluster_parts.h"

#include <string.h>
#include <strings.h>

#include "gsim/policy.h"
#include "sim/base/text.h"

/* "debug" of "partition debug". */
static const char *name_of(const char *section) {
    const char *blank = strchr(section, ' ');
    return blank ? blank + 1 + strspn(blank + 1, " \t") : section;
}

bool gsim_cluster_section_is(const char *section, const char *kind) {
    size_t n = strlen(kind);
    return strncmp(section, kind, n) == 0 && (section[n] == '\0' || strchr(" \t", section[n]));
}

static bool is_partition(const char *section) {
    return gsim_cluster_section_is(section, "partition");
}

bool gsim_cluster_parts_has(const struct gsim_ini_entry *entry) {
    return is_partition(entry->section) || strcmp(entry->key, "policy") == 0 ||
           strcmp(entry->key, "classes") == 0 || strchr(entry->key, '.');
}

struct part_reading {
    struct gsim_cli *cli;
    const struct gsim_ini *ini;
    const char *const *section; /* by group */
    struct gsim_node_group *groups;
    uint32_t n_groups;
};

static enum gsim_status bad(const struct part_reading *r, int64_t line, const char *key,
                            const char *why) {
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, line, "%s: %s", key, why);
}

/* --- the keys of a section -------------------------------------------------------------------- */

static enum gsim_status take_policy(const struct part_reading *r,
                                    const struct gsim_ini_entry *entry, struct gsim_part *part) {
    struct gsim_log why = {0};
    struct gsim_params *params = gsim_arena_alloc(r->cli->arena, sizeof *params);
    if (!params)
        return gsim_no_memory(r->cli->log, "reading a cluster");
    part->policy = gsim_policies_find(entry->value, &why);
    if (!part->policy)
        return bad(r, entry->line, "policy", why.errors[0].text);
    part->params = params;
    return gsim_params_init(params, part->policy->name, part->policy->params, r->cli->arena,
                            r->cli->log);
}

static enum gsim_status take_classes(const struct part_reading *r,
                                     const struct gsim_ini_entry *entry, struct gsim_part *part) {
    static const char classes[] = "batch|production|opportunistic|realtime";
    for (const char *p = entry->value; *p; p += strspn(p, ", \t")) {
        size_t n = strcspn(p, ", \t");
        const char *name = gsim_arena_strndup(r->cli->arena, p, n);
        int class = name ? gsim_text_choice(name, classes) : -1;
        if (class < 0)
            return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, entry->line,
                             "classes: '%s' is not one of production, opportunistic, realtime, "
                             "batch",
                             name ? name : "");
        part->classes |= 1u << class;
        p += n;
    }
    return GSIM_OK;
}

static enum gsim_status take_setting(const struct part_reading *r,
                                     const struct gsim_ini_entry *entry, struct gsim_part *part) {
    size_t n = strcspn(entry->key, ".");
    struct gsim_log why = {0};
    union {
        const struct gsim_params *given;
        struct gsim_params *own;
    } params = {.given = part->params}; /* made by take_policy */
    if (strncmp(entry->key, part->policy->name, n) != 0 || part->policy->name[n])
        return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, entry->line,
                         "%s: the policy of these nodes is %s; its settings are %s.KEY = VALUE, "
                         "as 'gsim list policies %s' shows them",
                         entry->key, part->policy->name, part->policy->name, part->policy->name);
    if (gsim_params_set(params.own, entry->key + n + 1, entry->value, r->cli->arena, &why) ==
        GSIM_OK)
        return GSIM_OK;
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, entry->line, "%s",
                     why.errors[0].text);
}

static enum gsim_status take_line(const struct part_reading *r, const struct gsim_ini_entry *entry,
                                  struct gsim_part *part) {
    if (strcmp(entry->key, "policy") == 0)
        return GSIM_OK; /* taken before */
    if (strcmp(entry->key, "classes") == 0)
        return take_classes(r, entry, part);
    if (strchr(entry->key, '.'))
        return take_setting(r, entry, part);
    return bad(r, entry->line, entry->key,
               "a partition has the keys policy, classes and settings of its policy (mps.queue); "
               "its nodes are sections [node NAME] with partitions = NAME");
}

static bool is_of(const struct gsim_ini_entry *entry, const char *section) {
    return gsim_cluster_parts_has(entry) && strcmp(entry->section, section) == 0;
}

/* The part of a section, from all its lines; *out NULL: it says nothing of a policy. */
static enum gsim_status read_section(const struct part_reading *r, const char *section,
                                     struct gsim_part **out) {
    const struct gsim_ini_entry *first = NULL;
    struct gsim_part *part = gsim_arena_alloc(r->cli->arena, sizeof *part);
    enum gsim_status status = part ? GSIM_OK : gsim_no_memory(r->cli->log, "reading a cluster");
    *out = NULL;
    for (int i = 0; i < r->ini->n && status == GSIM_OK; i++) {
        const struct gsim_ini_entry *entry = &r->ini->entries[i];
        if (!is_of(entry, section))
            continue;
        first = first ? first : entry;
        if (strcmp(entry->key, "policy") == 0)
            status = take_policy(r, entry, part);
    }
    if (status != GSIM_OK || !first)
        return status;
    if (!part->policy)
        return bad(r, first->line, first->key,
                   "the section says no policy; policy = mps, for example");
    for (int i = 0; i < r->ini->n && status == GSIM_OK; i++)
        if (is_of(&r->ini->entries[i], section))
            status = take_line(r, &r->ini->entries[i], part);
    part->name = name_of(section);
    *out = part;
    return status;
}

/* --- the nodes of a section ------------------------------------------------------------------- */

static bool has_name(const char *list, const char *name) {
    for (const char *p = list; p && *p; p += strspn(p, ",")) {
        size_t n = strcspn(p, ",");
        if (strlen(name) == n && strncasecmp(p, name, n) == 0)
            return true;
        p += n;
    }
    return false;
}

/* A partition of a part is on nodes of this part alone. */
static enum gsim_status check_alone(const struct part_reading *r, const struct gsim_part *part,
                                    int64_t line) {
    for (uint32_t g = 0; g < r->n_groups; g++) {
        const char *list = r->groups[g].partitions;
        for (const char *p = list; p && *p && r->groups[g].part != part; p += strspn(p, ",")) {
            size_t n = strcspn(p, ",");
            char *name = gsim_arena_strndup(r->cli->arena, p, n);
            if (name && has_name(part->partitions, name))
                return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, line,
                                 "partition '%s' is on nodes under %s and on other nodes, [%s]: "
                                 "its jobs go to the nodes of one policy; a section [partition "
                                 "%s] gives all of its nodes one",
                                 name, part->policy->name, r->section[g], name);
            p += n;
        }
    }
    return GSIM_OK;
}

static const char *add_names(const struct part_reading *r, const char *all, const char *list) {
    return all ? gsim_arena_printf(r->cli->arena, "%s,%s", all, list) : list;
}

/* Gives the part to the groups that the section names. */
static enum gsim_status give(const struct part_reading *r, const char *section,
                             struct gsim_part *part, int64_t line) {
    uint32_t n = 0;
    for (uint32_t g = 0; g < r->n_groups; g++) {
        struct gsim_node_group *group = &r->groups[g];
        bool is_named = is_partition(section) ? has_name(group->partitions, part->name)
                                              : strcmp(r->section[g], section) == 0;
        if (!is_named)
            continue;
        if (group->part)
            return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, line,
                             "[%s]: the nodes of [%s] have a policy already, %s of '%s'", section,
                             r->section[g], group->part->policy->name, group->part->name);
        group->part = part;
        n++;
        if (!group->partitions && part->classes == 0)
            group->partitions = part->name;
        if (group->partitions)
            part->partitions = add_names(r, part->partitions, group->partitions);
    }
    return n > 0 ? GSIM_OK
                 : gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->ini->path, line,
                             "[%s]: no node is in that partition (key partitions of a node)",
                             section);
}

/* Groups of one part follow each other, in the order of the parts' first groups. */
static void bring_together(struct gsim_node_group *groups, uint32_t n) {
    for (uint32_t at = 1; at < n; at++) {
        struct gsim_node_group one = groups[at];
        uint32_t last = at;
        while (last > 0 && groups[last - 1].part != one.part)
            last--;
        if (last == 0)
            continue; /* the first group of its part */
        memmove(&groups[last + 1], &groups[last], (at - last) * sizeof *groups);
        groups[last] = one;
    }
}

/* A section that stands in one piece is met once. */
static bool is_first(const struct gsim_ini *ini, int i) {
    for (int k = 0; k < i; k++)
        if (strcmp(ini->entries[k].section, ini->entries[i].section) == 0)
            return false;
    return true;
}

enum gsim_status gsim_cluster_parts_read(struct gsim_cli *cli, const struct gsim_ini *ini,
                                         const char *const *section, struct gsim_node_group *groups,
                                         uint32_t n_groups) {
    struct part_reading r = {cli, ini, section, groups, n_groups};
    enum gsim_status status = GSIM_OK;
    for (int i = 0; i < ini->n && status == GSIM_OK; i++) {
        const struct gsim_ini_entry *entry = &ini->entries[i];
        struct gsim_part *part = NULL;
        if (is_first(ini, i))
            status = read_section(&r, entry->section, &part);
        if (status == GSIM_OK && part)
            status = give(&r, entry->section, part, entry->line);
    }
    for (int i = 0; i < ini->n && status == GSIM_OK; i++)
        for (uint32_t g = 0; g < n_groups && status == GSIM_OK; g++)
            if (strcmp(ini->entries[i].key, "policy") == 0 && groups[g].part &&
                groups[g].part->partitions &&
                strcmp(name_of(ini->entries[i].section), groups[g].part->name) == 0)
                status = check_alone(&r, groups[g].part, ini->entries[i].line);
    if (status == GSIM_OK)
        bring_together(groups, n_groups);
    return status;
}

const struct gsim_part *gsim_cluster_part(const struct gsim_cluster_spec *cluster, uint32_t group) {
    const struct gsim_part *part = cluster->groups[group].part;
    return group > 0 && cluster->groups[group - 1].part == part ? NULL : part;
}

const char *gsim_cluster_parts_note(const struct gsim_cluster_spec *cluster,
                                    struct gsim_arena *arena) {
    const char *note = "";
    for (uint32_t g = 0; g < cluster->n_groups && note; g++) {
        const struct gsim_part *part = gsim_cluster_part(cluster, g);
        if (part)
            note = gsim_arena_printf(arena, "%s%s%s: %s", note, *note ? ", " : " (", part->name,
                                     part->policy->name);
    }
    return note && *note ? gsim_arena_printf(arena, "%s)", note) : "";
}
