/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/behind.h"
#include "policies/elasticflow/patient.h"
#include "policies/elasticflow/share.h"

/* Of the job's share, in whole slots. */
static int64_t ticks_of(const struct elasticflow *own, const struct elasticflow_job *job) {
    int64_t takes = elasticflow_ceil(job->left / job->level[0].per_tick);
    return (takes / own->slot + (takes % own->slot > 0)) * own->slot;
}

bool elasticflow_behind_fits(const struct elasticflow *own, const struct elasticflow_job *job,
                             int64_t *ticks) {
    if (!job->is_read || job->deadline != ELASTICFLOW_NEVER || job->n_levels == 0 ||
        job->level[0].gpus != 1)
        return false;
    int64_t takes = ticks_of(own, job);
    if (takes < 1 || takes >= ELASTICFLOW_FAR - *ticks)
        return false;
    *ticks += takes;
    return true;
}

static void join(struct elasticflow *own, struct elasticflow_job *job) {
    own->behind_ticks += ticks_of(own, job);
    own->n_behind++;
    job->is_behind = true;
}

void elasticflow_behind_add(struct elasticflow *own, uint32_t number) {
    own->order[own->n_due] = own->due[own->n_due] = number;
    own->n_due++;
    join(own, &own->job[number]);
}

void elasticflow_behind_find(const struct gsim_ctx *ctx, struct elasticflow *own) {
    while (own->n_behind < own->n_due) {
        struct elasticflow_job *job = &own->job[own->due[own->n_due - 1 - own->n_behind]];
        int64_t ticks = own->behind_ticks;
        if (job->now_level > 0 || !elasticflow_behind_fits(own, job, &ticks) ||
            !gsim_state_waits((enum gsim_state)ctx->view->jobs.state[job->slot]))
            return;
        join(own, job);
    }
}

void elasticflow_behind_drop(struct elasticflow *own) {
    for (; own->n_behind > 0; own->n_behind--)
        own->job[own->due[own->n_due - own->n_behind]].is_behind = false;
    own->behind_ticks = 0;
}

/* Jobs of order that a spare GPU may go to before any that has one. */
static int64_t count_first(const struct elasticflow *own) {
    int64_t n = 0;
    for (uint32_t i = 0; i < own->n_order; i++) {
        const struct elasticflow_job *job = &own->job[own->order[i]];
        n += elasticflow_level_now(job) == 0 && job->n_levels > 0 && job->level[0].gpus == 1;
    }
    return n;
}

bool elasticflow_behind_part(struct elasticflow *own, int64_t now) {
    const struct elasticflow_steps *free = &own->free;
    if (free->n < 2 || free->step[0].time != now || own->is_out_of_memory)
        return false;
    for (int64_t n = count_first(own); n < free->step[0].gpus; n++) {
        struct elasticflow_job *job = &own->job[own->order[own->n_order]];
        if (own->n_behind == 0)
            return false;
        own->behind_ticks -= ticks_of(own, job);
        own->n_behind--;
        job->is_behind = false;
        own->n_order++;
        if (!elasticflow_take(own, job, now) || elasticflow_level_now(job) > 0)
            return false;
    }
    struct elasticflow_step last = free->step[free->n - 1];
    return last.gpus >= 1 && last.gpus <= own->n_gpus && last.time < ELASTICFLOW_FAR;
}

void elasticflow_behind_take(struct elasticflow *own) {
    const struct elasticflow_steps *free = &own->free;
    own->behind_from = free->step[free->n - 1].time;
    if (own->n_behind > 0)
        elasticflow_patient_book(own, own->behind_ticks);
}
