/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/overhead.h"

#include <string.h>

/* Seconds of estimate_overhead in scheduler/utils.py; the second of each pair on 256 GPUs or
 * more. */
enum { EACH = 2, EACH_WIDE = 7, RESTART = 27, RESTART_WIDE = 47, NEW_PLACE = 2, WIDE = 256 };

bool elasticflow_open_overheads(struct gsim_ctx *ctx, const struct elasticflow *elasticflow,
                                struct elasticflow_overheads *overheads) {
    overheads->node_gpus = ctx->view->cluster.widest_node;
    overheads->is_known = gsim_arena_array(
        ctx->arena, (size_t)elasticflow->n_gpus * ELASTICFLOW_LEVELS, sizeof(bool));
    return overheads->is_known != NULL;
}

static uint32_t log2_of(int64_t gpus) {
    uint32_t n = 0;
    while (gpus > 1) {
        gpus /= 2;
        n++;
    }
    return n;
}

bool elasticflow_restarts(const struct elasticflow *elasticflow,
                          struct elasticflow_overheads *overheads) {
    int64_t n = overheads->n_events++;
    return n > 0 && n % elasticflow->slot == 0;
}

int64_t elasticflow_overhead(const struct elasticflow *elasticflow, int64_t gpus, bool is_restart) {
    bool is_wide = elasticflow->n_gpus >= WIDE;
    int64_t each = is_wide ? EACH_WIDE : EACH, restart = is_wide ? RESTART_WIDE : RESTART;
    return each + (is_restart ? restart : 0) + NEW_PLACE * ((int64_t)log2_of(gpus) + 1);
}

struct places {
    struct elasticflow *own;
    struct elasticflow_overheads *overheads;
    int64_t next; /* GPU */
    bool is_restart, is_counted;
};

static void count_one(struct places *places, struct elasticflow_job *job, int64_t gpus) {
    bool is_wide = places->own->n_gpus >= WIDE;
    uint32_t log2 = log2_of(gpus);
    bool *is_known = &places->overheads->is_known[(size_t)places->next * ELASTICFLOW_LEVELS + log2];
    job->overhead = *is_known ? is_wide ? EACH_WIDE : EACH
                              : elasticflow_overhead(places->own, gpus, places->is_restart);
    if (!places->is_counted || places->own->mode == ELASTICFLOW_EDF)
        job->overhead = 0;
    *is_known = true;
    places->next += gpus;
}

/* Jobs of a width, or (0) all that have whole nodes. */
static void count_width(struct places *places, int64_t width) {
    struct elasticflow *own = places->own;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = &own->job[own->order[i]];
        int64_t gpus = elasticflow_gpus(job, job->now_level);
        if (gpus > 0 && (width > 0 ? gpus == width : gpus >= places->overheads->node_gpus))
            count_one(places, job, gpus);
    }
}

void elasticflow_count_overheads(struct elasticflow *elasticflow,
                                 struct elasticflow_overheads *overheads, bool is_counted) {
    bool is_restart = is_counted && elasticflow_restarts(elasticflow, overheads);
    struct places places = {elasticflow, overheads, 0, is_restart, is_counted};
    for (uint32_t i = 0; i < elasticflow->n_order; i++)
        elasticflow->job[elasticflow->order[i]].overhead = 0;
    count_width(&places, 0);
    int64_t width = 1;
    while (2 * width < overheads->node_gpus)
        width *= 2;
    for (; width > 0; width /= 2)
        if (width < overheads->node_gpus)
            count_width(&places, width);
    if (is_restart)
        memset(overheads->is_known, 0,
               (size_t)elasticflow->n_gpus * ELASTICFLOW_LEVELS * sizeof *overheads->is_known);
}
