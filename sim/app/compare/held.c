/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the log's jobs held at once, which the cluster must have had: where the GPUs of the runs are
 * fewer, jobs wait in them that did not wait in the log. */
#include <stdlib.h>
#include <string.h>

#include "sim/app/compare/compare.h"
#include "sim/base/hostlist.h"
#include "sim/base/sort.h"

/* --- GPUs ------------------------------------------------------------------------------------- */

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
static uint32_t list_changes(const struct gsim_trace *trace, int64_t *key, int64_t *ppm) {
    uint32_t n = 0;
    for (uint32_t job = 0; job < trace->n_jobs; job++) {
        if (!is_held(trace, job))
            continue;
        key[n] = 2 * trace->column[GSIM_COL_LOGGED_START_NS][job] + 1;
        ppm[n++] = held_ppm(trace, job);
        key[n] = 2 * trace->column[GSIM_COL_LOGGED_END_NS][job];
        ppm[n++] = -held_ppm(trace, job);
    }
    return n;
}

int64_t gsim_held_gpus(const struct gsim_trace *trace, struct gsim_arena *arena) {
    int64_t now_ppm = 0, most_ppm = 0;
    if (!trace->column[GSIM_COL_LOGGED_START_NS] || !trace->column[GSIM_COL_LOGGED_END_NS])
        return 0;
    int64_t *key = gsim_arena_array(arena, 2 * (size_t)trace->n_jobs, sizeof *key);
    int64_t *ppm = gsim_arena_array(arena, 2 * (size_t)trace->n_jobs, sizeof *ppm);
    uint32_t *order = gsim_arena_array(arena, 2 * (size_t)trace->n_jobs, sizeof *order);
    uint32_t n = key && ppm && order ? list_changes(trace, key, ppm) : 0;
    if (n == 0 || !gsim_sort_order(key, order, n))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        now_ppm += ppm[order[i]];
        most_ppm = now_ppm > most_ppm ? now_ppm : most_ppm;
    }
    return (most_ppm + GSIM_PPM - 1) / GSIM_PPM;
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

static int64_t gpus_of(const struct gsim_cluster_spec *cluster) {
    int64_t n = 0;
    for (uint32_t g = 0; g < cluster->n_groups; g++)
        n += (int64_t)cluster->groups[g].count * cluster->groups[g].gpus_per_node;
    return n;
}

const char *gsim_held_say(const struct gsim_setup *setup, struct gsim_arena *arena) {
    const struct gsim_trace *trace = &setup->trace;
    int64_t held = gsim_held_gpus(trace, arena), there = gpus_of(&setup->cluster);
    if (held <= there)
        return NULL;
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
