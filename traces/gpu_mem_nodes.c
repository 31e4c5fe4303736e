/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that was measured by node: samples meet the jobs that were on the node then. */
#include "traces/gpu_mem.h"
#include "traces/gpu_mem_state.h"
#include "sim/base/sort.h"
#include "sim/base/text.h"
#include "sim/base/units.h"

#include <string.h>

enum { MAX_AT_ONCE = 256 };

struct present {
    const struct gsim_gpu_mem_stay *stay[MAX_AT_ONCE];
    uint32_t n;
};

/* Removes from the present jobs those that have left the node, or were on another. */
static void let_go(struct present *p, int64_t key) {
    int64_t time_s = key & ((INT64_C(1) << GSIM_GPU_MEM_TIME_BITS) - 1);
    for (uint32_t i = p->n; i-- > 0;)
        if (p->stay[i]->key >> GSIM_GPU_MEM_TIME_BITS != key >> GSIM_GPU_MEM_TIME_BITS ||
            p->stay[i]->to_s <= time_s)
            p->stay[i] = p->stay[--p->n];
}

/* Whether several jobs are present; parts of one job may be on one node. */
static bool is_shared(const struct present *p) {
    for (uint32_t i = 1; i < p->n; i++)
        if (p->stay[i]->job != p->stay[0]->job)
            return true;
    return false;
}

static void give(struct gsim_gpu_mem *g, const struct present *p,
                 const struct gsim_gpu_mem_sample *sample, bool *is_measured) {
    int64_t bytes = sample->bytes, node = sample->key >> GSIM_GPU_MEM_TIME_BITS;
    if (!g->is_of_log[node]) {
        g->strange = g->n_strange++ == 0 ? node : g->strange;
        return;
    }
    bool is_idle = p->n == 0, is_of_several = is_shared(p);
    is_idle |= !is_of_several && !is_idle && p->stay[0]->job == GSIM_GPU_MEM_NO_JOB;
    g->n_idle += is_idle;
    g->n_shared += is_of_several;
    if (is_idle || is_of_several || g->is_given[p->stay[0]->job])
        return;
    int64_t *cell = &g->b->column[GSIM_COL_MEM_BYTES][p->stay[0]->job];
    if (!is_measured[p->stay[0]->job]) {
        is_measured[p->stay[0]->job] = true;
        g->n_jobs++;
        *cell = bytes; /* replaces an assumed value */
    }
    *cell = bytes > *cell ? bytes : *cell;
    g->b->is_used[GSIM_COL_MEM_BYTES] = true;
}

static enum gsim_status join(struct gsim_gpu_mem *g, const uint32_t *samples, const uint32_t *stays,
                             bool *is_measured) {
    struct present *p = gsim_arena_alloc(g->b->arena, sizeof *p);
    if (!p)
        return gsim_no_memory(g->b->log, "joining measured memory");
    uint32_t next = 0;
    for (uint32_t s = 0; s < g->n_samples; s++) {
        const struct gsim_gpu_mem_sample *sample = &g->sample[samples[s]];
        for (; next < g->n_stays && g->stay[stays[next]].key <= sample->key; next++) {
            let_go(p, g->stay[stays[next]].key);
            if (p->n == MAX_AT_ONCE && g->stay[stays[next]].job == GSIM_GPU_MEM_NO_JOB)
                continue; /* several are there already */
            if (p->n == MAX_AT_ONCE)
                return gsim_fail(g->b->log, GSIM_BAD_INPUT, g->path, 0,
                                 "more than %d jobs on a node at a time", MAX_AT_ONCE);
            p->stay[p->n++] = &g->stay[stays[next]];
        }
        let_go(p, sample->key);
        give(g, p, sample, is_measured);
    }
    return GSIM_OK;
}

/* The order of an array by its keys, which are `stride` bytes apart. */
static uint32_t *order_by_key(struct gsim_arena *arena, const void *array, size_t stride,
                              uint32_t n) {
    int64_t *keys = gsim_arena_array(arena, (size_t)n + 1, sizeof *keys);
    uint32_t *order = gsim_arena_array(arena, (size_t)n + 1, sizeof *order);
    for (uint32_t i = 0; keys && i < n; i++)
        memcpy(&keys[i], (const char *)array + i * stride, sizeof *keys);
    return keys && order && gsim_sort_order(keys, order, n) ? order : NULL;
}

/* Samples and jobs that are on clocks of two kinds meet where both are UTC, and only there. */
static void say_clocks(const struct gsim_gpu_mem *g) {
    if (g->n_stays == 0 || !(g->b->is_zoneless ? g->has_seconds : g->has_dates))
        return;
    gsim_warn(g->b->log, g->path, 0,
              "times here are %s, and those of %s %s: dates are taken for UTC, and where the clock "
              "of their site is another, samples count for jobs that ran hours before or after; "
              "SLURM_TIME_FORMAT=%%s sacct writes seconds, TZ=UTC nvidia-smi dates of UTC",
              g->b->is_zoneless ? "seconds since 1970, or UTC" : "dates without a time zone",
              g->b->path,
              g->b->is_zoneless ? "dates without a time zone" : "seconds since 1970, or UTC");
}

static void say_left_out(const struct gsim_gpu_mem *g) {
    if (g->n_shared + g->n_idle > 0)
        gsim_warn(g->b->log, g->path, 0,
                  "left out %u samples of nodes that several jobs shared, %u when no job of the "
                  "trace was there",
                  g->n_shared, g->n_idle);
    if (g->n_strange > 0)
        gsim_warn(g->b->log, g->path, 0,
                  "left out %u sample%s of nodes on which no job of the trace ran (the first: "
                  "'%s')",
                  g->n_strange, gsim_plural(g->n_strange),
                  g->names->names[GSIM_COL_USER].name[g->strange]);
}

enum gsim_status gsim_gpu_mem_finish(struct gsim_gpu_mem *measured, struct gsim_builder *builder) {
    struct gsim_gpu_mem *g = measured;
    enum gsim_status status = GSIM_OK;
    if (!g || builder->n == 0)
        return GSIM_OK;
    if (!g->is_by_job) {
        uint32_t *samples =
            order_by_key(builder->arena, g->sample, sizeof *g->sample, g->n_samples);
        uint32_t *stays = order_by_key(builder->arena, g->stay, sizeof *g->stay, g->n_stays);
        bool *is_measured = gsim_arena_array(builder->arena, builder->n, sizeof *is_measured);
        status = samples && stays && is_measured
                     ? join(g, samples, stays, is_measured)
                     : gsim_no_memory(builder->log, "joining measured memory");
    }
    if (status != GSIM_OK)
        return status;
    gsim_warn(builder->log, g->path, 0, "measured GPU memory of %u job%s of %u", g->n_jobs,
              gsim_plural(g->n_jobs), builder->n);
    say_left_out(g);
    say_clocks(g);
    return GSIM_OK;
}
