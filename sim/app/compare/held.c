/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the log's jobs held at once, which the cluster must have had: where the GPUs of the runs are
 * fewer, jobs wait in them that did not wait in the log. */
#include <stdlib.h>
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/base/hostlist.h"
#include "sim/base/sort.h"
#include "sim/core/node_sets.h"

/* --- GPUs ------------------------------------------------------------------------------------- */

/* Whether the job is of one partition, a position among the names; -1: of any. */
static bool is_counted(const struct gsim_trace *trace, int64_t partition, uint32_t job) {
    return partition < 0 || gsim_trace_get(trace, GSIM_COL_PARTITION, job) == partition;
}

static bool is_held(const struct gsim_trace *trace, uint32_t job) {
    return trace->column[GSIM_COL_LOGGED_START_NS][job] >= 0 &&
           trace->column[GSIM_COL_LOGGED_END_NS][job] >
               trace->column[GSIM_COL_LOGGED_START_NS][job];
}

/* In millionths of a GPU. */
static int64_t held_ppm(const struct gsim_trace *trace, uint32_t job) {
    return (int64_t)gsim_trace_gpus(trace, job) * gsim_trace_share(trace, job);
}

/* Starts and ends of jobs in the order of time; ends go first, which give GPUs to starts. */
static uint32_t list_changes(const struct gsim_trace *trace, int64_t partition, int64_t *key,
                             int64_t *ppm) {
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        if (!is_held(trace, job) || !is_counted(trace, partition, job))
            continue;
        key[n] = 2 * trace->column[GSIM_COL_LOGGED_START_NS][job] + 1;
        ppm[n++] = held_ppm(trace, job);
        key[n] = 2 * trace->column[GSIM_COL_LOGGED_END_NS][job];
        ppm[n++] = -held_ppm(trace, job);
    }
    return n;
}

/* The most GPUs that the log's jobs held at once, those of one partition or all; 0: the trace has
 * no log. */
static int64_t most_held(const struct gsim_trace *trace, int64_t partition,
                         struct gsim_arena *arena) {
    int64_t now_ppm = 0, most_ppm = 0;
    size_t n_jobs = 0;
    if (!trace->column[GSIM_COL_LOGGED_START_NS] || !trace->column[GSIM_COL_LOGGED_END_NS])
        return 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        n_jobs += is_counted(trace, partition, job);
    int64_t *key = gsim_arena_array(arena, 2 * n_jobs, sizeof *key);
    int64_t *ppm = gsim_arena_array(arena, 2 * n_jobs, sizeof *ppm);
    uint32_t *order = gsim_arena_array(arena, 2 * n_jobs, sizeof *order);
    uint32_t n = key && ppm && order ? list_changes(trace, partition, key, ppm) : 0;
    if (n == 0 || !gsim_sort_order(key, order, n))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        now_ppm += ppm[order[i]];
        most_ppm = now_ppm > most_ppm ? now_ppm : most_ppm;
    }
    return (most_ppm + GSIM_PPM - 1) / GSIM_PPM;
}

/* --- idle GPUs -------------------------------------------------------------------------------- */

/* What changes at an instant: jobs that wait, and GPUs that are held. */
struct change {
    int64_t ns;
    int waits, holds;
};

static int by_ns(const void *a, const void *b) {
    const struct change *x = a, *y = b;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static size_t list_waits(const struct gsim_trace *trace, struct change *change) {
    size_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        if (!is_held(trace, job))
            continue;
        change[n++] = (struct change){trace->submit_ns[job], 1, 0};
        change[n++] = (struct change){trace->column[GSIM_COL_LOGGED_START_NS][job], -1, 1};
        change[n++] = (struct change){trace->column[GSIM_COL_LOGGED_END_NS][job], 0, -1};
    }
    if (n > 0)
        qsort(change, n, sizeof *change, by_ns);
    return n;
}

/* The longest time on end in which jobs wait and none has a GPU; its begin in *from_ns. */
static int64_t longest_idle(const struct change *change, size_t n, int64_t *from_ns) {
    int64_t longest_ns = 0, since_ns = -1;
    int waits = 0, holds = 0;
    for (size_t i = 0; i < n; i++) {
        waits += change[i].waits;
        holds += change[i].holds;
        if (i + 1 < n && change[i + 1].ns == change[i].ns)
            continue;
        if (since_ns >= 0 && change[i].ns - since_ns > longest_ns) {
            longest_ns = change[i].ns - since_ns;
            *from_ns = since_ns;
        }
        if (waits == 0 || holds > 0)
            since_ns = -1;
        else if (since_ns < 0)
            since_ns = change[i].ns;
    }
    return longest_ns;
}

const char *gsim_held_say_idle(const struct gsim_setup *setup, struct gsim_arena *arena) {
    const struct gsim_trace *trace = &setup->trace;
    const int64_t hour_ns = 3600 * GSIM_NS_PER_S;
    int64_t from_ns = 0;
    char length[40], from[40];
    if (!trace->column[GSIM_COL_LOGGED_START_NS] || !trace->column[GSIM_COL_LOGGED_END_NS])
        return NULL;
    struct change *change = gsim_arena_array(arena, 3 * (size_t)trace->n_jobs, sizeof *change);
    size_t n = change ? list_waits(trace, change) : 0;
    int64_t longest_ns = longest_idle(change, n, &from_ns);
    if (longest_ns < hour_ns)
        return NULL;
    (void)gsim_format_humane(length, (double)longest_ns / 1e9);
    (void)gsim_format_humane(from, (double)from_ns / 1e9);
    return gsim_arena_printf(arena,
                             "in the log no job had a GPU for %s on end though jobs waited, from "
                             "%s after time 0 on: GPUs were down or reserved then (reservations "
                             "belong in --slurm-conf)",
                             length, from);
}

/* --- nodes ------------------------------------------------------------------------------------ */

struct nodes {
    struct gsim_arena *arena;
    const char **name;
    size_t n, capacity;
};

static bool add_node(void *arg, const char *node, size_t length) {
    struct nodes *nodes = arg;
    if (nodes->n == nodes->capacity) {
        size_t capacity = nodes->capacity ? 2 * nodes->capacity : 256;
        const char **grown = gsim_arena_grow(nodes->arena, nodes->name, nodes->n * sizeof *grown,
                                             capacity * sizeof *grown);
        if (!grown)
            return false;
        nodes->name = grown;
        nodes->capacity = capacity;
    }
    nodes->name[nodes->n] = gsim_arena_strndup(nodes->arena, node, length);
    return nodes->name[nodes->n++] != NULL;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The number of nodes that the log names; 0: none, or a list that is none. */
static size_t count_nodes(const struct gsim_trace *trace, struct gsim_arena *arena) {
    const struct gsim_names *lists = &trace->names[GSIM_COL_LOGGED_NODES];
    struct nodes nodes = {.arena = arena};
    size_t n = 0;
    if (!trace->column[GSIM_COL_LOGGED_NODES])
        return 0;
    for (uint32_t i = 0; i < lists->n; i++)
        if (!gsim_hostlist_each(lists->name[i], add_node, &nodes))
            return 0;
    if (nodes.n > 0)
        qsort(nodes.name, nodes.n, sizeof *nodes.name, by_name);
    for (size_t i = 0; i < nodes.n; i++)
        n += i == 0 || strcmp(nodes.name[i], nodes.name[i - 1]) != 0;
    return n;
}

/* --- as a sentence ---------------------------------------------------------------------------- */

/* Those of nodes of the partition; of all nodes where it is NULL. */
static int64_t gpus_of(const struct gsim_cluster_spec *cluster, const char *partition) {
    int64_t n = 0;
    for (uint32_t g = 0; g < cluster->n_groups; g++) {
        const char *own = cluster->groups[g].partitions;
        if (!partition || (own && gsim_node_sets_meet(partition, own)))
            n += (int64_t)cluster->groups[g].count * cluster->groups[g].gpus_per_node;
    }
    return n;
}

/* A partition of which the log's jobs held more GPUs than it has here; NULL: there is none. Jobs
 * that name several partitions say not in which one they ran. */
static const char *say_partition(const struct gsim_setup *setup, struct gsim_arena *arena) {
    const struct gsim_trace *trace = &setup->trace;
    const struct gsim_names *names = &trace->names[GSIM_COL_PARTITION];
    for (uint32_t i = 0; trace->column[GSIM_COL_PARTITION] && i < names->n; i++) {
        int64_t there = gpus_of(&setup->cluster, names->name[i]);
        if (strchr(names->name[i], ',') || there == 0)
            continue;
        int64_t held = most_held(trace, i, arena);
        if (held > there)
            return gsim_arena_printf(arena,
                                     "in the log jobs of partition %.64s held up to %lld GPUs at "
                                     "once, and that partition has %lld here (its nodes have "
                                     "changed since, or the file lacks some)",
                                     names->name[i], (long long)held, (long long)there);
    }
    return NULL;
}

const char *gsim_held_say(const struct gsim_setup *setup, struct gsim_arena *arena) {
    const struct gsim_trace *trace = &setup->trace;
    int64_t held = most_held(trace, -1, arena), there = gpus_of(&setup->cluster, NULL);
    if (held <= there)
        return say_partition(setup, arena);
    size_t n_nodes = count_nodes(trace, arena);
    const char *on = n_nodes == 0 ? ""
                                  : gsim_arena_printf(arena, ", on %zu node%s in all", n_nodes,
                                                      n_nodes == 1 ? "" : "s");
    return gsim_arena_printf(arena,
                             "in the log up to %lld GPUs were held at once%s, and this cluster has "
                             "%lld (--nodes and --gpus-per-node, --cluster or --slurm-conf say "
                             "which GPUs there are)",
                             (long long)held, on ? on : "", (long long)there);
}
