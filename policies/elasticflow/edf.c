/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/edf.h"

static void finish(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t end) {
    elasticflow_steps_merge(&elasticflow->free_to_be);
    elasticflow_steps_copy(&elasticflow->free, &elasticflow->free_to_be);
    elasticflow->is_out_of_memory |=
        elasticflow->free.has_failed || elasticflow->free_to_be.has_failed || job->plan.has_failed;
    job->end = end;
}

/* The job ends before the next step: the GPUs are taken until then. */
static void end_here(struct elasticflow *elasticflow, uint32_t step, int64_t now, int64_t end,
                     int64_t gpus) {
    struct elasticflow_steps *free = &elasticflow->free_to_be;
    int64_t before = elasticflow->free.step[step].gpus;
    free->step[step].gpus = before - gpus;
    if (!elasticflow_steps_have(&elasticflow->free, end))
        elasticflow_steps_set(free, elasticflow_align(elasticflow, now, end), before);
}

void elasticflow_edf_take(struct elasticflow *elasticflow, struct elasticflow_job *job,
                          int64_t now) {
    struct elasticflow_steps *free = &elasticflow->free_to_be;
    uint32_t widest = elasticflow_level(job, elasticflow->n_gpus);
    double left = job->left;
    job->plan.n = 0;
    elasticflow_steps_copy(free, &elasticflow->free);
    for (uint32_t i = 0; i + 1 < elasticflow->free.n; i++) {
        int64_t from = elasticflow->free.step[i].time, to = elasticflow->free.step[i + 1].time;
        uint32_t level = elasticflow_level(job, elasticflow->free.step[i].gpus);
        int64_t gpus = elasticflow_gpus(job, level);
        elasticflow_steps_set(&job->plan, from, gpus);
        if (level == 0)
            continue;
        double per_tick = job->level[level - 1].per_tick;
        int64_t end = elasticflow_ceil((double)from + left / per_tick);
        if (to >= end) {
            end_here(elasticflow, i, now, end, gpus);
            finish(elasticflow, job, end);
            return;
        }
        left -= (double)(to - from) * per_tick;
        free->step[i].gpus -= gpus;
    }
    int64_t from = elasticflow->free.step[elasticflow->free.n - 1].time;
    int64_t gpus = elasticflow_gpus(job, widest);
    int64_t end = elasticflow_ceil((double)from + left / job->level[widest - 1].per_tick);
    elasticflow_steps_set(&job->plan, from, gpus);
    elasticflow_steps_set(free, from, elasticflow->n_gpus - gpus);
    elasticflow_steps_set(free, elasticflow_align(elasticflow, now, end), elasticflow->n_gpus);
    finish(elasticflow, job, end);
}
