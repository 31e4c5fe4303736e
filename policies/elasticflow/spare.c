/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/spare.h"
#include "policies/elasticflow/share.h"

#define MOST ((double)INT64_MAX)

void elasticflow_sort(struct elasticflow *elasticflow,
                      bool (*is_before)(const struct elasticflow_job *a,
                                        const struct elasticflow_job *b)) {
    uint32_t *order = elasticflow->order;
    for (uint32_t i = 1; i < elasticflow->n_order; i++) {
        uint32_t number = order[i], at = i;
        for (; at > 0 && is_before(&elasticflow->job[number], &elasticflow->job[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = number;
    }
}

static bool gains_more(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return a->gain > b->gain;
}

static struct elasticflow_answer try_next(struct elasticflow *elasticflow,
                                          const struct elasticflow_job *job, int64_t now) {
    elasticflow_steps_give_back(&elasticflow->without, &elasticflow->free, &job->plan, job->end,
                                elasticflow->n_gpus);
    struct elasticflow_question question = {job, &elasticflow->without, now, job->now_level + 1};
    return elasticflow_share(elasticflow, &question);
}

/* GPUs that the next level takes; 0: there is none. */
static int64_t step_up(const struct elasticflow_job *job) {
    return job->now_level < job->n_levels
               ? elasticflow_gpus(job, job->now_level + 1) - elasticflow_gpus(job, job->now_level)
               : 0;
}

/* The GPU time that the next level saves, by GPU. The reference takes the job that it costs most
 * for the one that it saves most. */
static void weigh(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now,
                  int64_t n_spare) {
    int64_t gpus = step_up(job);
    job->gain = -MOST;
    if (gpus == 0 || gpus > n_spare)
        return;
    if (job->now_level == 0) { /* before all others, whatever it costs */
        job->gain = MOST;
        return;
    }
    struct elasticflow_answer answer = try_next(elasticflow, job, now);
    double costs = (double)(elasticflow_steps_area(&elasticflow->plan_to_be, answer.end) -
                            elasticflow_steps_area(&job->plan, job->end)) /
                   (double)gpus;
    job->gain = elasticflow->is_reference ? costs : -costs;
}

static struct elasticflow_job *best_of(const struct elasticflow *elasticflow, int64_t n_spare) {
    for (uint32_t i = 0; i < elasticflow->n_order; i++) {
        struct elasticflow_job *job = &elasticflow->job[elasticflow->order[i]];
        if (step_up(job) > 0 && step_up(job) <= n_spare)
            return job;
    }
    return NULL;
}

static void grant(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now) {
    struct elasticflow_answer answer = try_next(elasticflow, job, now);
    elasticflow_steps_copy(&elasticflow->free, &elasticflow->free_to_be);
    elasticflow_steps_copy(&job->plan, &elasticflow->plan_to_be);
    job->now_level++;
    job->end = answer.end;
    job->real_end = answer.real_end;
}

void elasticflow_give_spare(struct elasticflow *elasticflow, int64_t now,
                            void (*on_grant)(struct elasticflow *elasticflow,
                                             struct elasticflow_job *job, int64_t old_end)) {
    int64_t n_spare = elasticflow->free.n > 0 ? elasticflow->free.step[0].gpus : 0;
    struct elasticflow_job *job;
    if (n_spare <= 0)
        return;
    for (uint32_t i = 0; i < elasticflow->n_order; i++)
        weigh(elasticflow, &elasticflow->job[elasticflow->order[i]], now, n_spare);
    elasticflow_sort(elasticflow, gains_more);
    while (n_spare > 0 && (job = best_of(elasticflow, n_spare)) && !elasticflow->is_out_of_memory) {
        int64_t old_end = job->end;
        n_spare -= step_up(job);
        grant(elasticflow, job, now);
        if (on_grant)
            on_grant(elasticflow, job, old_end);
        for (uint32_t i = 0; i < elasticflow->n_order; i++)
            if (step_up(&elasticflow->job[elasticflow->order[i]]) > 0)
                weigh(elasticflow, &elasticflow->job[elasticflow->order[i]], now, n_spare);
        elasticflow_sort(elasticflow, gains_more);
    }
}
