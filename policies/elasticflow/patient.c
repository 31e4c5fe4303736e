/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/patient.h"

static double rate(const struct elasticflow_job *job, uint32_t level) {
    return job->level[level - 1].per_tick;
}

static bool is_patient(const struct elasticflow *own, const struct elasticflow_job *job) {
    return !own->is_reference && job->deadline == ELASTICFLOW_NEVER && job->n_levels > 0;
}

/* The end of the job's work on its least level behind that step; false: it is none of a run. */
static bool end_behind(const struct elasticflow *own, const struct elasticflow_job *job,
                       struct elasticflow_step last, double left,
                       struct elasticflow_answer *found) {
    int64_t takes = elasticflow_ceil(left / rate(job, 1));
    double most = (double)(ELASTICFLOW_NEVER - last.time) * rate(job, 1);
    if (last.gpus < job->level[0].gpus || last.gpus > own->n_gpus || most < left || takes < 1 ||
        takes >= ELASTICFLOW_NEVER - last.time)
        return false;
    *found = (struct elasticflow_answer){last.time + elasticflow_align(own, 0, takes),
                                         last.time + takes, true};
    return found->end < ELASTICFLOW_NEVER;
}

/* Takes GPUs from the last step on until that end. */
static void take_last(struct elasticflow_steps *free, int64_t gpus, int64_t end) {
    struct elasticflow_step last = free->step[free->n - 1];
    free->step[free->n - 1].gpus = last.gpus - gpus;
    if (free->n > 1 && free->step[free->n - 2].gpus == last.gpus - gpus)
        free->n--;
    elasticflow_steps_append(free, end, last.gpus);
}

bool elasticflow_patient_take(struct elasticflow *own, struct elasticflow_job *job, int64_t now) {
    struct elasticflow_steps *free = &own->free;
    struct elasticflow_answer found;
    if (!is_patient(own, job) || free->n == 0 || free->step[0].time != now)
        return false;
    struct elasticflow_step last = free->step[free->n - 1];
    if (!end_behind(own, job, last, job->left, &found))
        return false;
    take_last(free, job->level[0].gpus, found.end);
    job->plan.n = 0;
    if (last.time > now)
        elasticflow_steps_append(&job->plan, now, 0);
    elasticflow_steps_append(&job->plan, last.time, job->level[0].gpus);
    job->end = found.end;
    job->real_end = found.real_end;
    own->is_out_of_memory |= job->plan.has_failed || free->has_failed;
    return true;
}

void elasticflow_patient_book(struct elasticflow *own, int64_t ticks) {
    struct elasticflow_steps *free = &own->free;
    take_last(free, 1, free->step[free->n - 1].time + ticks);
    own->is_out_of_memory |= free->has_failed;
}

/* --- the GPUs that are free without the job --------------------------------------------------- */

static int64_t time_of(const struct elasticflow_steps *steps, uint32_t at) {
    return at < steps->n ? steps->step[at].time : ELASTICFLOW_NEVER;
}

/* The first time at which they change; ELASTICFLOW_NEVER: they never do. */
static int64_t first_change(const struct elasticflow *own, const struct elasticflow_job *job) {
    const struct elasticflow_steps *free = &own->free, *plan = &job->plan;
    int64_t has = free->step[0].gpus, had = plan->step[0].gpus, first = has + had;
    bool is_over = false;
    for (uint32_t f = 1, p = 1; f < free->n || p < plan->n || !is_over;) {
        int64_t time = time_of(free, f) < time_of(plan, p) ? time_of(free, f) : time_of(plan, p);
        if (!is_over && job->end <= time) {
            time = job->end;
            is_over = true;
        }
        if (time_of(free, f) == time)
            has = free->step[f++].gpus;
        if (time_of(plan, p) == time)
            had = plan->step[p++].gpus;
        if (has + (is_over ? 0 : had) != first)
            return time;
    }
    return ELASTICFLOW_NEVER;
}

/* The last such time, and the GPUs that are free from then on; there is a first one. */
static struct elasticflow_step last_change(const struct elasticflow *own,
                                           const struct elasticflow_job *job) {
    const struct elasticflow_steps *free = &own->free, *plan = &job->plan;
    uint32_t f = free->n - 1, p = plan->n - 1;
    int64_t time = job->end, gpus = free->step[f].gpus, before = gpus;
    for (bool is_over = true; before == gpus;) {
        time = free->step[f].time > plan->step[p].time ? free->step[f].time : plan->step[p].time;
        if (is_over && job->end >= time) {
            time = job->end;
            is_over = false;
        }
        f -= free->step[f].time == time;
        p -= plan->step[p].time == time;
        before = free->step[f].gpus + (is_over ? 0 : plan->step[p].gpus);
    }
    return (struct elasticflow_step){time, gpus};
}

/* Whether the walks above hold: both begin now, and all ends. */
static bool can_walk(const struct elasticflow *own, const struct elasticflow_job *job,
                     int64_t now) {
    const struct elasticflow_steps *free = &own->free, *plan = &job->plan;
    return free->n > 0 && plan->n > 0 && free->step[0].time == now && plan->step[0].time == now &&
           job->end > now && job->end < ELASTICFLOW_NEVER &&
           free->step[free->n - 1].time < ELASTICFLOW_NEVER &&
           plan->step[plan->n - 1].time < job->end;
}

struct elasticflow_edges elasticflow_patient_edges(const struct elasticflow *own, int64_t now) {
    const struct elasticflow_steps *free = &own->free;
    if (free->n < 2 || free->step[0].time != now || free->step[0].gpus == free->step[1].gpus ||
        free->step[free->n - 1].time >= ELASTICFLOW_FAR)
        return (struct elasticflow_edges){0};
    return (struct elasticflow_edges){free->step[1].time, free->step[free->n - 1].gpus,
                                      free->step[1].gpus - free->step[0].gpus, true};
}

/* Notes whether the first change is the first step of free, or of the plan: it stays while that
 * step of free does. Where both fall on one time, they must not cancel out. */
static void note_steady(const struct elasticflow *own, struct elasticflow_job *job, int64_t first) {
    int64_t of_free = time_of(&own->free, 1), of_plan = time_of(&job->plan, 1);
    bool ends = job->end <= of_plan;
    of_plan = ends ? job->end : of_plan;
    job->is_steady = first == (of_free < of_plan ? of_free : of_plan) && job->end < ELASTICFLOW_FAR;
    job->releases = of_free == of_plan
                        ? job->plan.step[0].gpus - (ends ? 0 : job->plan.step[1].gpus)
                        : INT64_MIN;
}

bool elasticflow_patient_weigh(const struct elasticflow *own, struct elasticflow_job *job,
                               int64_t now, int64_t *area) {
    if (!is_patient(own, job) || !can_walk(own, job, now))
        return false;
    double per_tick = rate(job, job->now_level + 1);
    int64_t gpus = elasticflow_gpus(job, job->now_level + 1), next = first_change(own, job);
    int64_t real_end = elasticflow_ceil((double)now + job->left / per_tick);
    int64_t end = elasticflow_align(own, now, real_end);
    if (real_end >= ELASTICFLOW_NEVER || end >= ELASTICFLOW_NEVER)
        return false;
    double made = (double)(next - now) * per_tick;
    struct elasticflow_answer found = {end, real_end, true};
    *area = gpus * (end - now);
    note_steady(own, job, next);
    if (next >= end || job->left <= made)
        return true;
    struct elasticflow_step last = last_change(own, job);
    if (!end_behind(own, job, last, job->left - made, &found)) {
        job->is_steady = false;
        return false;
    }
    /* the time behind the last step is as long wherever that is */
    job->is_steady &= found.end - last.time < ELASTICFLOW_FAR;
    *area = gpus * (next - now) + job->level[0].gpus * (found.end - last.time);
    return true;
}
