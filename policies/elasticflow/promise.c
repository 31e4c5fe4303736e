/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/promise.h"
#include "policies/elasticflow/share.h"

static bool is_due(const struct elasticflow_job *job) {
    return job->deadline < ELASTICFLOW_NEVER;
}

static struct elasticflow_job *nth(const struct elasticflow *own, uint32_t i) {
    return &own->job[own->order[i]];
}

void elasticflow_promise(struct elasticflow *own) {
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        if (!is_due(job))
            continue; /* what it was given is asked of no later plan */
        elasticflow_steps_copy(&job->promise, &job->plan);
        job->promised_end = job->end;
        own->is_out_of_memory |= job->promise.has_failed;
    }
}

/* Whether the rest of the promise makes the job's work by its deadline. `now` is rounded up by less
 * than a tick, in which a job that runs goes on. */
static bool suffices(const struct elasticflow_job *job, int64_t now) {
    const struct elasticflow_steps *promise = &job->promise;
    int64_t last = job->promised_end < job->deadline ? job->promised_end : job->deadline;
    double made = 0;
    for (uint32_t i = 0; i < promise->n; i++) {
        uint32_t level = elasticflow_level(job, promise->step[i].gpus);
        int64_t from = promise->step[i].time, to = last;
        if (i + 1 < promise->n && promise->step[i + 1].time < last)
            to = promise->step[i + 1].time;
        from = from < now ? now - 1 : from;
        if (level > 0 && to > from)
            made += (double)(to - from) * job->level[level - 1].per_tick;
    }
    return now < job->promised_end && made >= job->left;
}

/* Takes the plan from the free GPUs. Returns whether there are as many. */
static bool take(struct elasticflow *own, const struct elasticflow_job *job) {
    elasticflow_steps_take(&own->without, &own->free, &job->plan, job->end);
    elasticflow_steps_copy(&own->free, &own->without);
    bool has_all = true;
    for (uint32_t i = 0; i < own->free.n; i++)
        has_all &= own->free.step[i].gpus >= 0;
    own->is_out_of_memory |= own->without.has_failed || own->free.has_failed;
    return has_all && !own->is_out_of_memory;
}

/* The part of the promise that is to come; it ends later than now. */
static void adopt(struct elasticflow_job *job, int64_t now) {
    job->plan.n = 0;
    elasticflow_steps_set(&job->plan, now, 0);
    for (uint32_t i = 0; i < job->promise.n; i++) {
        const struct elasticflow_step *step = &job->promise.step[i];
        elasticflow_steps_set(&job->plan, step->time < now ? now : step->time, step->gpus);
    }
    job->end = job->real_end = job->promised_end;
}

bool elasticflow_keep_promises(struct elasticflow *own, int64_t now) {
    own->free.n = 0;
    elasticflow_steps_set(&own->free, now, own->n_gpus);
    for (uint32_t i = 0; i < own->n_order; i++)
        if (is_due(nth(own, i)) && !suffices(nth(own, i), now))
            return false;
    for (uint32_t i = 0; i < own->n_order; i++)
        if (is_due(nth(own, i))) {
            adopt(nth(own, i), now);
            if (!take(own, nth(own, i)))
                return false;
        }
    for (uint32_t i = 0; i < own->n_order && !own->is_out_of_memory; i++)
        if (!is_due(nth(own, i)))
            (void)elasticflow_take(own, nth(own, i), now);
    return true;
}
