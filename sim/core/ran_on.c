/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A list of nodes does not say how many GPUs a job had on each. A gang that asked for a number of
 * nodes has an even part on each; another one fills the nodes that the other jobs leave most of. */
#include "sim/core/ran_on.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hostlist.h"
#include "sim/core/core.h"

/* A node of the log. */
struct name {
    const char *text;
    uint32_t node; /* of the cluster; UINT32_MAX: none */
    uint32_t least_gpus; /* that a job had there, if it had an even part */
    bool *may_be; /* by node: each job that ran there may run on it; NULL: any */
};

struct names {
    struct gsim_core *core;
    struct name *list;
    uint32_t n, capacity;
    /* the nodes of the job that is looked at */
    uint32_t n_found, *found;
};

/* --- the log's names -------------------------------------------------------------------------- */

/* Numbers go by their value: n2 before n10. */
static int by_name(const void *a, const void *b) {
    const struct name *x = a, *y = b;
    size_t m = strlen(x->text), n = strlen(y->text);
    return m != n ? (m < n ? -1 : 1) : strcmp(x->text, y->text);
}

static bool add_name(void *arg, const char *node, size_t length) {
    struct names *names = arg;
    struct gsim_arena *arena = names->core->arena;
    struct name *list =
        gsim_arena_room(arena, names->list, names->n, &names->capacity, sizeof *list);
    if (!list)
        return false;
    names->list = list;
    list[names->n] =
        (struct name){.text = gsim_arena_strndup(arena, node, length), .node = UINT32_MAX};
    return list[names->n++].text != NULL;
}

/* All names of the column, each once. */
static void collect_names(struct names *names, enum gsim_column column) {
    const struct gsim_trace *trace = names->core->trace;
    const struct gsim_names *lists = &trace->names[column];
    uint32_t n = 0;
    for (uint32_t i = 0; trace->column[column] && i < lists->n; i++)
        (void)gsim_hostlist_each(lists->name[i], add_name, names);
    if (names->n > 0)
        qsort(names->list, names->n, sizeof *names->list, by_name);
    for (uint32_t i = 0; i < names->n; i++)
        if (i == 0 || by_name(&names->list[i], &names->list[n - 1]) != 0)
            names->list[n++] = names->list[i];
    names->n = n;
}

static bool find_name(void *arg, const char *node, size_t length) {
    struct names *names = arg;
    char text[256];
    if (length >= sizeof text || names->n_found == names->n)
        return false;
    memcpy(text, node, length);
    text[length] = '\0';
    const struct name key = {.text = text};
    const struct name *name =
        names->n > 0 ? bsearch(&key, names->list, names->n, sizeof key, by_name) : NULL;
    if (name)
        names->found[names->n_found++] = (uint32_t)(name - names->list);
    return name != NULL;
}

/* The nodes of the job in the column; false: it has none, or a list that is none. */
static bool look_up(struct names *names, enum gsim_column column, uint32_t job) {
    const struct gsim_trace *trace = names->core->trace;
    int64_t list = gsim_trace_get(trace, column, job);
    names->n_found = 0;
    return list >= 0 && gsim_hostlist_each(trace->names[column].name[list], find_name, names) &&
           names->n_found > 0 && names->n_found <= gsim_trace_gpus(trace, job);
}

/* --- the cluster's nodes ---------------------------------------------------------------------- */

static bool narrow(struct names *names, struct name *name, const struct gsim_node_set *set) {
    uint32_t n_nodes = names->core->cluster.n_nodes;
    if (!set)
        return true;
    bool is_new = !name->may_be;
    if (is_new)
        name->may_be = gsim_arena_array(names->core->arena, n_nodes, sizeof *name->may_be);
    for (uint32_t node = 0; name->may_be && node < n_nodes; node++)
        name->may_be[node] = set->has_node[node] && (is_new || name->may_be[node]);
    return name->may_be != NULL;
}

/* What the jobs of the log say of its nodes. A list of nodes that jobs of one set name again says
 * nothing new. */
static bool look_at_jobs(struct names *names) {
    struct gsim_core *core = names->core;
    const struct gsim_trace *trace = core->trace;
    const int64_t *cell = trace->column[GSIM_COL_LOGGED_NODES];
    const struct gsim_node_set **last = gsim_arena_array(
        core->arena, trace->names[GSIM_COL_LOGGED_NODES].n + 1u, sizeof(const void *));
    for (uint32_t job = 0; last && cell && job < trace->n_jobs; job++) {
        const struct gsim_node_set *set = gsim_node_sets_of(&core->node_sets, trace, job);
        bool is_known = cell[job] < 0 || (set && last[cell[job]] == set);
        if (is_known || !look_up(names, GSIM_COL_LOGGED_NODES, job))
            continue;
        last[cell[job]] = set;
        uint32_t gpus = gsim_trace_gpus(trace, job);
        uint32_t part = (gpus + names->n_found - 1) / names->n_found;
        for (uint32_t i = 0; i < names->n_found; i++) {
            struct name *name = &names->list[names->found[i]];
            name->least_gpus = part > name->least_gpus ? part : name->least_gpus;
            if (!narrow(names, name, set))
                return false;
        }
    }
    return last != NULL;
}

static uint32_t width(const struct gsim_core *core, uint32_t node) {
    return core->cluster.node_first_gpu[node + 1] - core->cluster.node_first_gpu[node];
}

static bool match(struct names *names) {
    const struct gsim_core *core = names->core;
    uint32_t n_nodes = core->cluster.n_nodes;
    bool *is_taken = gsim_arena_array(core->arena, n_nodes, sizeof *is_taken);
    for (uint32_t i = 0; is_taken && i < names->n; i++) {
        struct name *name = &names->list[i];
        for (uint32_t node = 0; node < n_nodes && name->node == UINT32_MAX; node++)
            if (!is_taken[node] && (!name->may_be || name->may_be[node]) &&
                width(core, node) >= name->least_gpus)
                name->node = node;
        if (name->node != UINT32_MAX)
            is_taken[name->node] = true;
    }
    return is_taken != NULL;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* The node of the job with the most GPUs left; of equal ones the first. */
static uint32_t most_left(const struct gsim_node_part *part, uint32_t n, const uint32_t *left) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (part[i].gpus == 0 && (best == UINT32_MAX || left[part[i].node] > left[part[best].node]))
            best = i;
    return best;
}

/* Whether the nodes have room for the job, as even parts or as whole nodes and a rest; each has a
 * GPU of it at least. */
static bool divide(const struct gsim_core *core, uint32_t job, struct gsim_node_part *part,
                   uint32_t n, uint32_t *left) {
    uint32_t gpus = gsim_trace_gpus(core->trace, job);
    bool is_even = core->node_counts.of_job && core->node_counts.of_job[job] > 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = most_left(part, n, left), others = n - 1 - i;
        uint32_t most = left[part[at].node], share = (gpus + others) / (others + 1);
        if (!is_even)
            share = gpus - others < most ? gpus - others : most;
        if (share == 0 || share > most)
            return false;
        part[at].gpus = share;
        gpus -= share;
    }
    for (uint32_t i = 0; gpus == 0 && i < n; i++)
        left[part[i].node] -= part[i].gpus;
    return gpus == 0;
}

static bool name_nodes(const struct names *names, struct gsim_node_part *part) {
    bool has_all = true;
    for (uint32_t i = 0; i < names->n_found; i++) {
        part[i] = (struct gsim_node_part){.node = names->list[names->found[i]].node};
        has_all &= part[i].node != UINT32_MAX;
    }
    return has_all;
}

/* Jobs on one node, of which the GPUs are known, or on several. */
static void place_jobs(struct names *names, bool are_wide, struct gsim_ran_on *out,
                       uint32_t *n_parts, uint32_t *left) {
    const struct gsim_trace *trace = names->core->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        bool is_whole = gsim_trace_share(trace, job) == GSIM_PPM;
        struct gsim_node_part *part = out->part + *n_parts;
        if (!is_whole || !look_up(names, GSIM_COL_RAN_ON, job) ||
            (names->n_found > 1) != are_wide || !name_nodes(names, part) ||
            !divide(names->core, job, part, names->n_found, left))
            continue;
        out->first[job] = *n_parts;
        out->count[job] = names->n_found;
        *n_parts += names->n_found;
    }
}

static bool make_parts(struct names *names) {
    struct gsim_core *core = names->core;
    const struct gsim_trace *trace = core->trace;
    struct gsim_ran_on *out = &core->ran_on;
    uint32_t n_nodes = core->cluster.n_nodes, n_parts = 0, *left;
    size_t most = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        most += look_up(names, GSIM_COL_RAN_ON, job) ? names->n_found : 0;
    left = gsim_arena_array(core->arena, n_nodes, sizeof *left);
    out->first = gsim_arena_array(core->arena, trace->n_jobs, sizeof *out->first);
    out->part = gsim_arena_array(core->arena, most + names->n, sizeof *out->part);
    out->count = gsim_arena_array(core->arena, trace->n_jobs, sizeof *out->count);
    if (!left || !out->first || !out->part || !out->count)
        return false;
    for (uint32_t node = 0; node < n_nodes; node++)
        left[node] = width(core, node);
    place_jobs(names, false, out, &n_parts, left);
    place_jobs(names, true, out, &n_parts, left);
    return true;
}

enum gsim_status gsim_ran_on_open(struct gsim_core *core) {
    struct names names = {.core = core};
    if (!core->trace->column[GSIM_COL_RAN_ON] || core->cluster.is_pool)
        return GSIM_OK;
    collect_names(&names, GSIM_COL_LOGGED_NODES);
    collect_names(&names, GSIM_COL_RAN_ON);
    names.found = gsim_arena_array(core->arena, names.n + 1u, sizeof *names.found);
    if (gsim_arena_has_failed(core->arena) || !names.found || !look_at_jobs(&names) ||
        !match(&names) || !make_parts(&names))
        return gsim_core_no_memory(core);
    return GSIM_OK;
}

uint32_t gsim_ran_on_parts(const struct gsim_core *core, uint32_t job,
                           const struct gsim_node_part **out) {
    const struct gsim_ran_on *ran_on = &core->ran_on;
    if (!ran_on->count || core->trace->submit_ns[job] != core->view.now_ns)
        return 0;
    *out = ran_on->part + ran_on->first[job];
    return ran_on->count[job];
}
