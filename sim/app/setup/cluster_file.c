/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cluster of different nodes, as an INI file:
 *
 *     [node dgx]
 *     count = 4          ; nodes of this kind, default 1
 *     gpus = 8           ; GPUs of each
 *     device = h200      ; a listed device or FILE.ini, default: --device
 *     cpus = 128         ; CPUs of each, default: not counted
 *     pcie_root_gpus = 2 ; GPUs below one PCIe root, default: a root for each
 *     pcie_root_bytes_per_s = 63 GB/s ; what such a root carries each way
 *     host_mem = 1TiB    ; memory of each host for jobs' memory, default: enough
 *     network_bytes_per_s = 12.5 GB/s ; into a node, default: the device's network.bytes_per_s
 *     numa_gpus = 4      ; GPUs of one NUMA domain, default: the device's host.numa_gpus
 *     host_in_bytes_per_s = 166 GB/s ; what such GPUs reach together in; also host_out_...,
 *                        ; host_both_...; default: the device's host.in_bytes_per_s and so on
 *     rates_as = v100    ; its GPUs' name in --rates, default: the device's
 *     switch_nodes = 2   ; nodes below one switch, default: all of the section
 *     partitions = gpu,long ; those that the nodes are in (column partition), default: none
 *     gpu_type = a100    ; what jobs call these GPUs (column gpu_type), default: the device
 *     features = ib,a100 ; what jobs may ask for (column features), default: none
 *     policy = mps       ; of these nodes' own (cluster_parts.c), default: --policy
 *
 * Nodes are numbered in the order of the sections. A slurm.conf is read as well: its nodes with
 * GPUs, in its order. */
#include "sim/app/setup/cluster_file.h"
#include "sim/app/setup/cluster_parts.h"

#include <string.h>
#include <strings.h>

#include "sim/app/setup/set.h"
#include "sim/base/ini.h"
#include "sim/base/text.h"
#include "sim/base/units.h"
#include "sim/core/node_sets.h"
#include "sim/site/slurm.h"

struct reading {
    struct gsim_cli *cli;
    const char *path;
    const char *default_device;
    struct gsim_node_group *groups;
    const char **device; /* by group */
    const char **section; /* by group */
    int64_t *line;
    int64_t *root_line; /* by group: the line of its last key about PCIe roots */
    uint32_t n;
    uint32_t capacity;
};

static enum gsim_status take_number(struct reading *r, const struct gsim_ini_entry *entry,
                                    int64_t most, int64_t *out) {
    if (gsim_parse_int(entry->value, out) == GSIM_PARSE_OK && *out >= 1 && *out <= most)
        return GSIM_OK;
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
                     "%s: '%s' is not a whole number from 1 to %lld", entry->key, entry->value,
                     (long long)most);
}

static enum gsim_status refuse_bare(const struct reading *r, const struct gsim_ini_entry *entry,
                                    const char *likely, const char *literal) {
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
                     "%s: '%s' has no unit; say %s%s or %s%s", entry->key, entry->value,
                     entry->value, likely, entry->value, literal);
}

static enum gsim_status take_bytes(struct reading *r, const struct gsim_ini_entry *entry,
                                   int64_t *out) {
    enum gsim_parse parsed = gsim_parse_size(entry->value, out);
    if (parsed == GSIM_PARSE_BARE)
        return refuse_bare(r, entry, "GiB", "B");
    if (parsed == GSIM_PARSE_OK && *out >= 1)
        return GSIM_OK;
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
                     "%s: '%s' is not a size above 0, such as 512GiB", entry->key, entry->value);
}

static enum gsim_status take_rate(struct reading *r, const struct gsim_ini_entry *entry,
                                  int64_t *out) {
    enum gsim_parse parsed = gsim_parse_speed(entry->value, out);
    if (parsed == GSIM_PARSE_BARE)
        return refuse_bare(r, entry, "GB/s", "B/s");
    if (parsed == GSIM_PARSE_OK && *out >= 1)
        return GSIM_OK;
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
                     "%s: '%s' is not a rate above 0, such as 12.5 GB/s or 63e9", entry->key,
                     entry->value);
}

/* Names between commas, without blanks. */
static enum gsim_status take_name(struct reading *r, const struct gsim_ini_entry *entry,
                                  const char **out) {
    char *names = gsim_arena_strdup(r->cli->arena, entry->value);
    size_t n = 0;
    if (!names)
        return gsim_no_memory(r->cli->log, "reading a cluster");
    for (const char *p = entry->value; *p; p++)
        if (*p != ' ' && *p != '\t')
            names[n++] = *p;
    names[n] = '\0';
    *out = names;
    return n > 0 ? GSIM_OK
                 : gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line, "%s: no name",
                             entry->key);
}

static const char *const host_keys[GSIM_HOST_WAYS] = {"host_in_bytes_per_s", "host_out_bytes_per_s",
                                                      "host_both_bytes_per_s"};

static enum gsim_status take_link(struct reading *r, const struct gsim_ini_entry *entry) {
    struct gsim_node_group *group = &r->groups[r->n - 1];
    int64_t number = 0;
    enum gsim_status status;
    if (strcmp(entry->key, "network_bytes_per_s") == 0)
        return take_rate(r, entry, &group->network_bytes_per_s);
    for (int way = 0; way < GSIM_HOST_WAYS; way++)
        if (strcmp(entry->key, host_keys[way]) == 0)
            return take_rate(r, entry, &group->host.bytes_per_s[way]);
    if (strcmp(entry->key, "numa_gpus") == 0) {
        status = take_number(r, entry, GSIM_MAX_GPUS_PER_NODE, &number);
        group->host.numa_gpus = (uint32_t)number;
        return status;
    }
    r->root_line[r->n - 1] = entry->line;
    if (strcmp(entry->key, "pcie_root_bytes_per_s") == 0)
        return take_rate(r, entry, &group->root_bytes_per_s);
    status = take_number(r, entry, GSIM_MAX_GPUS_PER_NODE, &number);
    group->gpus_per_root = (uint32_t)number;
    return status;
}

static enum gsim_status refuse_key(const struct reading *r, const struct gsim_ini_entry *entry,
                                   const char *const *names, int n) {
    int close = gsim_text_suggest(entry->key, names, n);
    return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
                     "a node has no key '%s'; %s%s%s", entry->key,
                     close >= 0
                         ? "did you mean '"
                         : "it has count, gpus, device, cpus, host_mem, pcie_root_gpus, "
                           "pcie_root_bytes_per_s, network_bytes_per_s, "
                           "host_in_bytes_per_s, host_out_bytes_per_s, "
                           "host_both_bytes_per_s, numa_gpus, switch_nodes, rates_as, partitions, "
                           "gpu_type, features, policy, classes",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

/* Where a key with names goes; NULL: the key is another one. */
static const char **text_of(struct gsim_node_group *group, const char *key) {
    return strcmp(key, "partitions") == 0 ? &group->partitions
           : strcmp(key, "gpu_type") == 0 ? &group->gpu_type
           : strcmp(key, "features") == 0 ? &group->features
                                          : NULL;
}

static enum gsim_status take_entry(struct reading *r, const struct gsim_ini_entry *entry) {
    static const char *const names[] = {"count",
                                        "gpus",
                                        "device",
                                        "cpus",
                                        "host_mem",
                                        "switch_nodes",
                                        "rates_as",
                                        "partitions",
                                        "gpu_type",
                                        "features",
                                        "pcie_root_gpus",
                                        "pcie_root_bytes_per_s",
                                        "network_bytes_per_s",
                                        "host_in_bytes_per_s",
                                        "host_out_bytes_per_s",
                                        "host_both_bytes_per_s",
                                        "numa_gpus"};
    enum { N_PLAIN = 10, N_NAMES = sizeof names / sizeof *names };
    struct gsim_node_group *group = &r->groups[r->n - 1];
    enum gsim_status status = GSIM_OK;
    int64_t number = 0;
    if (strcmp(entry->key, "count") == 0) {
        status = take_number(r, entry, GSIM_MAX_NODES, &number);
        group->count = (uint32_t)number;
    } else if (strcmp(entry->key, "gpus") == 0) {
        status = take_number(r, entry, GSIM_MAX_GPUS_PER_NODE, &number);
        group->gpus_per_node = (uint32_t)number;
    } else if (strcmp(entry->key, "cpus") == 0) {
        status = take_number(r, entry, 1000000, &number);
        group->cpus_milli = number * 1000;
    } else if (strcmp(entry->key, "switch_nodes") == 0) {
        status = take_number(r, entry, GSIM_MAX_NODES, &number);
        group->nodes_per_switch = (uint32_t)number;
    } else if (strcmp(entry->key, "host_mem") == 0) {
        status = take_bytes(r, entry, &group->host_bytes);
    } else if (strcmp(entry->key, "rates_as") == 0) {
        group->in_rates = entry->value;
    } else if (text_of(group, entry->key)) {
        status = take_name(r, entry, text_of(group, entry->key));
    } else if (strcmp(entry->key, "device") == 0) {
        r->device[r->n - 1] = entry->value;
    } else {
        for (int i = N_PLAIN; i < N_NAMES; i++)
            if (strcmp(entry->key, names[i]) == 0)
                return take_link(r, entry);
        status = refuse_key(r, entry, names, N_NAMES);
    }
    return status;
}

static enum gsim_status check_group(struct reading *r, uint32_t g) {
    const struct gsim_node_group *group = &r->groups[g];
    if (group->gpus_per_node == 0)
        return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, r->line[g],
                         "the node says no 'gpus'; gpus = 8, for example");
    if (group->gpus_per_root > group->gpus_per_node)
        return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, r->root_line[g],
                         "pcie_root_gpus: %u GPUs below one root of a node that has %u",
                         group->gpus_per_root, group->gpus_per_node);
    if ((group->gpus_per_root > 0) != (group->root_bytes_per_s > 0))
        return gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, r->root_line[g],
                         "a shared root needs both pcie_root_gpus and pcie_root_bytes_per_s");
    return GSIM_OK;
}

static enum gsim_status refuse_section(const struct reading *r,
                                       const struct gsim_ini_entry *entry) {
    bool is_above = !*entry->section;
    return gsim_fail(
        r->cli->log, GSIM_BAD_INPUT, r->path, entry->line,
        "%s%s%s: a cluster has sections [node NAME], and [partition NAME] with a policy",
        is_above ? "'" : "section [", is_above ? entry->key : entry->section,
        is_above ? "' stands above all sections" : "]");
}

static enum gsim_status read_groups(struct reading *r, const struct gsim_ini *ini) {
    const char *section = NULL;
    for (int i = 0; i < ini->n; i++) {
        const struct gsim_ini_entry *entry = &ini->entries[i];
        bool is_of_policy = gsim_cluster_parts_has(entry);
        if (gsim_cluster_section_is(entry->section, "partition"))
            continue;
        if (!gsim_cluster_section_is(entry->section, "node"))
            return refuse_section(r, entry);
        if (!section || strcmp(section, entry->section) != 0) {
            section = entry->section;
            r->device[r->n] = r->default_device;
            r->line[r->n] = entry->line;
            r->section[r->n] = section;
            r->groups[r->n++].count = 1;
        }
        enum gsim_status status = is_of_policy ? GSIM_OK : take_entry(r, entry);
        if (status != GSIM_OK)
            return status;
    }
    for (uint32_t g = 0; g < r->n; g++) {
        enum gsim_status status = check_group(r, g);
        if (status != GSIM_OK)
            return status;
    }
    return r->n ? GSIM_OK
                : gsim_fail(r->cli->log, GSIM_BAD_INPUT, r->path, 0,
                            "no node; a cluster has sections [node NAME] with gpus = N");
}

static bool is_equal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The profile of a group: its GPUs may have a name of their own in a table of speeds. A device that
 * another group has (like; NULL: none) is not read again. */
static enum gsim_status load_profile(struct reading *r, uint32_t g, const struct gsim_profile *like,
                                     const struct gsim_profile **out) {
    enum gsim_status status = GSIM_OK;
    *out = like;
    if (!like || !r->groups[g].in_rates)
        status = gsim_set_profile(r->cli, r->device[g], out);
    if (status != GSIM_OK || !r->groups[g].in_rates)
        return status;
    struct gsim_profile *own = gsim_arena_alloc(r->cli->arena, sizeof *own);
    if (!own)
        return gsim_no_memory(r->cli->log, "reading a cluster");
    *own = **out;
    own->in_rates = r->groups[g].in_rates;
    *out = own;
    return GSIM_OK;
}

/* Loads one profile for each device and name in a table, and points each group to its profile. */
static enum gsim_status load_profiles(struct reading *r, struct gsim_cluster_spec *out) {
    const struct gsim_profile **profiles = gsim_arena_array(r->cli->arena, r->n, sizeof *profiles);
    const char **names = gsim_arena_array(r->cli->arena, r->n, sizeof *names);
    if (!profiles || !names)
        return gsim_no_memory(r->cli->log, "reading a cluster");
    uint16_t n = 0;
    for (uint32_t g = 0; g < r->n; g++) {
        uint16_t at = 0;
        const struct gsim_profile *like = NULL;
        for (; at < n; at++) {
            bool is_like = strcmp(names[at], r->device[g]) == 0;
            if (is_like && is_equal(profiles[at]->in_rates, r->groups[g].in_rates))
                break;
            like = is_like ? profiles[at] : like;
        }
        if (at == n) {
            enum gsim_status status = load_profile(r, g, like, &profiles[n]);
            if (status != GSIM_OK)
                return status;
            names[n++] = r->device[g];
        }
        r->groups[g].device = at;
        r->groups[g].device_name = r->device[g];
        r->groups[g].hbm_bytes = profiles[at]->value[GSIM_KEY_HBM_BYTES];
        r->groups[g].is_host_moot = gsim_set_is_host_moot(profiles[at]);
    }
    *out = (struct gsim_cluster_spec){
        .groups = r->groups, .n_groups = r->n, .profiles = profiles, .n_profiles = n};
    return GSIM_OK;
}

enum gsim_status gsim_cluster_shards(struct gsim_cli *cli, uint32_t *shards) {
    const char *path = cli->value[GSIM_OPT_SLURM_CONF];
    *shards = 0;
    struct gsim_slurm *slurm = path ? gsim_arena_alloc(cli->arena, sizeof *slurm) : NULL;
    if (!path)
        return GSIM_OK;
    if (!slurm)
        return gsim_no_memory(cli->log, "reading slurm.conf");
    enum gsim_status status = gsim_slurm_read(path, cli->arena, slurm, cli->log);
    if (status == GSIM_OK)
        *shards = gsim_slurm_shards_of_gpu(slurm);
    return status;
}

enum gsim_status gsim_cluster_slurm_read(struct gsim_cli *cli, const char *path,
                                         const char *default_device, int64_t n_nodes,
                                         struct gsim_cluster_spec *out, bool *has_nodes) {
    struct gsim_slurm *slurm = gsim_arena_alloc(cli->arena, sizeof *slurm);
    if (!slurm)
        return gsim_no_memory(cli->log, "reading a cluster");
    enum gsim_status status = gsim_slurm_read(path, cli->arena, slurm, cli->log);
    struct reading r = {.cli = cli, .path = path, .default_device = default_device};
    if (status == GSIM_OK)
        r.n = gsim_slurm_groups(slurm, cli->arena,
                                n_nodes > 0 ? (uint32_t)n_nodes : gsim_slurm_count_nodes(slurm),
                                &r.groups);
    *has_nodes = r.n > 0;
    if (status != GSIM_OK || r.n == 0)
        return status;
    r.device = gsim_arena_array(cli->arena, r.n, sizeof *r.device);
    if (!r.device)
        return gsim_no_memory(cli->log, "reading a cluster");
    for (uint32_t g = 0; g < r.n; g++)
        r.device[g] = default_device;
    return load_profiles(&r, out);
}

/* "a100, h100": the types of the groups that are no name of their device, each once; "": none. */
static const char *strange_types(const struct gsim_cluster_spec *cluster,
                                 struct gsim_arena *arena) {
    const struct gsim_node_group *groups = cluster->groups;
    const char *list = "";
    for (uint32_t g = 0; g < cluster->n_groups && list; g++) {
        const char *type = groups[g].gpu_type;
        bool is_known = !type || gsim_node_sets_names(type, groups[g].device_name);
        for (uint32_t k = 0; k < g && !is_known; k++)
            is_known = groups[k].gpu_type && strcasecmp(groups[k].gpu_type, type) == 0;
        if (!is_known)
            list = gsim_arena_printf(arena, "%s%s%s", list, *list ? ", " : "", type);
    }
    return list;
}

/* Whether --device names the GPUs of a site that has them of one type. */
static bool is_named(const struct gsim_cli *cli, const struct gsim_cluster_spec *cluster) {
    bool is_one = true;
    for (uint32_t g = 1; g < cluster->n_groups; g++) {
        const char *first = cluster->groups[0].gpu_type, *type = cluster->groups[g].gpu_type;
        is_one &= first && type && strcasecmp(first, type) == 0;
    }
    return is_one && cli->value[GSIM_OPT_DEVICE];
}

const char *gsim_cluster_say_types(const struct gsim_cli *cli,
                                   const struct gsim_cluster_spec *cluster) {
    const char *file = cli->value[GSIM_OPT_CLUSTER], *device = cluster->groups[0].device_name;
    bool is_site = file ? gsim_slurm_is_conf(file)
                        : cli->value[GSIM_OPT_SLURM_CONF] && !cli->value[GSIM_OPT_GPUS_PER_NODE];
    if (!is_site || strcmp(device, "ideal") == 0 || is_named(cli, cluster))
        return NULL;
    const char *types = strange_types(cluster, cli->arena);
    return !types || !*types
               ? NULL
               : gsim_arena_printf(
                     cli->arena,
                     "GPUs of type %s run as the device %s, since a site's file names "
                     "no devices: jobs take as long as in the log on each, memory and "
                     "energy are those of %s (--device names another, --cluster "
                     "FILE.ini one for each kind of node)",
                     types, device, device);
}

static enum gsim_status read_slurm(struct gsim_cli *cli, const char *path,
                                   const char *default_device, struct gsim_cluster_spec *out) {
    bool has_nodes = false;
    enum gsim_status status =
        gsim_cluster_slurm_read(cli, path, default_device, 0, out, &has_nodes);
    if (status == GSIM_OK && !has_nodes)
        return gsim_fail(cli->log, GSIM_BAD_INPUT, path, 0,
                         "none of its nodes has GPUs (Gres=gpu:...)");
    return status;
}

enum gsim_status gsim_cluster_file_read(struct gsim_cli *cli, const char *path,
                                        const char *default_device, struct gsim_cluster_spec *out) {
    struct gsim_ini ini;
    if (gsim_slurm_is_conf(path))
        return read_slurm(cli, path, default_device, out);
    enum gsim_status status = gsim_ini_read_file(path, cli->arena, &ini, cli->log);
    if (status == GSIM_OK)
        status = gsim_ini_once(&ini, cli->arena, cli->log);
    if (status != GSIM_OK)
        return status;
    struct reading r = {.cli = cli, .path = path, .default_device = default_device};
    size_t most = (size_t)ini.n + 1;
    r.groups = gsim_arena_array(cli->arena, most, sizeof *r.groups);
    r.device = gsim_arena_array(cli->arena, most, sizeof *r.device);
    r.section = gsim_arena_array(cli->arena, most, sizeof *r.section);
    r.line = gsim_arena_array(cli->arena, most, sizeof *r.line);
    r.root_line = gsim_arena_array(cli->arena, most, sizeof *r.root_line);
    if (!r.groups || !r.device || !r.section || !r.line || !r.root_line || ini.n > UINT16_MAX)
        return gsim_no_memory(cli->log, "reading a cluster");
    status = read_groups(&r, &ini);
    if (status == GSIM_OK)
        status = load_profiles(&r, out);
    return status == GSIM_OK ? gsim_cluster_parts_read(cli, &ini, r.section, r.groups, r.n)
                             : status;
}
