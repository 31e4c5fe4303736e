/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every loop of the program does to the jobs that it knows. */
#include "policies/elasticflow/loop.h"

static struct elasticflow_job *nth(const struct elasticflow *own, uint32_t i) {
    return &own->job[own->order[i]];
}

void elasticflow_end_jobs(struct gsim_plan *plan, struct elasticflow *elasticflow, int64_t now) {
    for (uint32_t i = 0; i < elasticflow->n_order; i++) {
        struct elasticflow_job *job = nth(elasticflow, i);
        bool is_due = job->end <= now || elasticflow->reference->next == now;
        if (job->is_active && job->is_ending && is_due && gsim_plan_end(plan, job->slot))
            job->is_active = false;
    }
}

void elasticflow_forget(struct elasticflow *elasticflow) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < elasticflow->n_order; i++)
        if (nth(elasticflow, i)->is_active)
            elasticflow->order[n++] = elasticflow->order[i];
    elasticflow->n_order = n;
}

uint32_t elasticflow_add_newcomers(struct elasticflow *elasticflow) {
    uint32_t n_new = elasticflow->n_arrived;
    for (uint32_t i = 0; i < n_new; i++)
        elasticflow->order[elasticflow->n_order++] = elasticflow->arrived[i];
    elasticflow->n_arrived = 0;
    return n_new;
}
