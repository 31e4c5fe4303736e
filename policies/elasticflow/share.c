/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/late.h"
#include "policies/elasticflow/patient.h"
#include "policies/elasticflow/share.h"

/* An answer that is being computed. */
struct pass {
    struct elasticflow *own;
    const struct elasticflow_question *q;
    double left;
    int64_t from; /* the plan is made up to there */
    int64_t limit; /* the deadline's end of a slot */
};

static double rate(const struct elasticflow_job *job, uint32_t level) {
    return job->level[level - 1].per_tick;
}

/* The level that a step of free leaves to the job, at most this one, which it has. */
static uint32_t level_at(const struct pass *p, uint32_t step, uint32_t most) {
    int64_t gpus = p->own->free_to_be.step[step].gpus;
    uint32_t level = most;
    while (level > 0 && p->q->job->level[level - 1].gpus > gpus)
        level--;
    return level;
}

/* The time between two steps; the last one before the deadline ends with the deadline itself. */
static double between(const struct pass *p, int64_t from, int64_t to) {
    return (double)((to == p->limit ? p->q->job->deadline : to) - from);
}

static void give(struct pass *p, uint32_t step, uint32_t level) {
    struct elasticflow_step *at = &p->own->free_to_be.step[step];
    struct elasticflow_steps *plan = &p->own->plan_to_be;
    int64_t gpus = elasticflow_gpus(p->q->job, level);
    if (step < plan->n && plan->step[step].time == at->time) /* plans have the steps of free */
        plan->step[step].gpus = gpus;
    else
        elasticflow_steps_set(plan, at->time, gpus);
    at->gpus -= gpus;
}

/* From the end on as many GPUs are free as the question says of the time before it. */
static struct elasticflow_answer done(struct pass *p, int64_t end, int64_t real_end) {
    int64_t at = elasticflow_steps_find(p->q->free, end - 1);
    int64_t before = at >= 0 && p->q->free->step[at].time >= p->from ? p->q->free->step[at].gpus
                                                                     : p->own->n_gpus;
    if (!elasticflow_steps_have(p->q->free, end))
        elasticflow_steps_set(&p->own->free_to_be, end, before);
    return (struct elasticflow_answer){end, real_end, real_end <= p->q->job->deadline};
}

/* --- a job that begins with a level ----------------------------------------------------------- */

/* Gives the level from now on. Returns whether the job ends before the first change of free. */
static bool begins(struct pass *p, struct elasticflow_answer *answer) {
    const struct elasticflow_job *job = p->q->job;
    double per_tick = rate(job, p->q->level);
    int64_t now = p->q->now;
    int64_t next = p->q->free->n > 1 ? p->q->free->step[1].time : p->limit;
    int64_t real_end = elasticflow_ceil((double)now + p->left / per_tick);
    int64_t end = elasticflow_align(p->own, now, real_end);
    bool can_wait =
        next > now && (p->own->is_reference || p->left > between(p, now, next) * per_tick);
    give(p, 0, p->q->level);
    if ((next >= end && job->deadline >= real_end) || !can_wait) {
        *answer = done(p, end, real_end);
        return true;
    }
    p->left -= between(p, now, next) * per_tick;
    p->from = next;
    elasticflow_steps_set(&p->own->plan_to_be, next, 0);
    return false;
}

/* --- the share -------------------------------------------------------------------------------- */

/* The step from which on the level, where it is free, makes the iterations by the deadline; -1:
 * there is none. */
static int64_t begin_of(const struct pass *p, uint32_t level) {
    const struct elasticflow_steps *free = &p->own->free_to_be;
    int64_t until = p->limit;
    double made = 0;
    for (int64_t i = (int64_t)free->n - 1; i >= 0; i--) {
        int64_t time = free->step[i].time;
        if (time >= p->limit)
            continue;
        if (time < p->from)
            break;
        uint32_t got = level_at(p, (uint32_t)i, level);
        if (got > 0)
            made += between(p, time, until) * rate(p->q->job, got);
        if (got > 0 && made >= p->left)
            return i;
        until = time;
    }
    return -1;
}

static struct elasticflow_answer ends(struct pass *p, int64_t from, uint32_t level) {
    int64_t takes = elasticflow_ceil(p->left / rate(p->q->job, level));
    return done(p, from + elasticflow_align(p->own, 0, takes), from + takes);
}

/* Gives the level from that step on, and the one below it before. */
static struct elasticflow_answer fill(struct pass *p, uint32_t level, int64_t begin) {
    struct elasticflow_steps *free = &p->own->free_to_be;
    int64_t last = elasticflow_steps_find(free, p->limit);
    uint32_t got = 0;
    int64_t i = elasticflow_steps_find(free, p->from - 1) + 1;
    for (; i < last; i++) {
        got = level_at(p, (uint32_t)i, i >= begin ? level : level - 1);
        give(p, (uint32_t)i, got);
        if (got == 0)
            continue;
        double made = between(p, free->step[i].time, free->step[i + 1].time) * rate(p->q->job, got);
        if (i >= begin && made >= p->left)
            return ends(p, free->step[i].time, got);
        p->left -= made;
    }
    /* the sum, in another order, is short by its last bit */
    got = level_at(p, (uint32_t)last, level);
    give(p, (uint32_t)last, got);
    return ends(p, free->step[last].time, got > 0 ? got : level);
}

static void note_times(struct pass *p) {
    struct elasticflow_steps *free = &p->own->free_to_be;
    for (uint32_t i = 0; i < free->n && free->step[i].time < p->limit; i++)
        elasticflow_steps_add(&p->own->plan_to_be, free->step[i].time, 0);
}

static struct elasticflow_answer compute(struct pass *p) {
    const struct elasticflow_job *job = p->q->job;
    struct elasticflow_answer answer;
    if (p->q->level > 0 && begins(p, &answer))
        return answer;
    note_times(p);
    uint32_t widest = 0;
    while (widest < job->n_levels && job->level[widest].gpus <= p->own->n_gpus)
        widest++;
    for (uint32_t level = 1; level <= widest; level++) {
        int64_t begin = begin_of(p, level);
        if (begin >= 0)
            return fill(p, level, begin);
        /* where no level makes less than the one below, the widest makes most, to the last bit */
        if (level == 1 && !job->has_slower_level && begin_of(p, widest) < 0)
            break;
    }
    struct elasticflow_late late = {
        .left = p->left, .from = p->from, .limit = p->limit, .widest = widest};
    return elasticflow_late(p->own, p->q, &late);
}

struct elasticflow_answer elasticflow_share(struct elasticflow *elasticflow,
                                            const struct elasticflow_question *question) {
    struct elasticflow_steps *free = &elasticflow->free_to_be, *plan = &elasticflow->plan_to_be;
    struct pass p = {elasticflow, question, question->job->left, question->now,
                     elasticflow_align(elasticflow, question->now, question->job->deadline)};
    elasticflow_steps_copy(free, question->free);
    plan->n = 0;
    elasticflow_steps_set(plan, question->now, 0);
    if (p.limit >= question->now && free->n > 0)
        elasticflow_steps_add(free, p.limit,
                              free->step[elasticflow_steps_find(free, p.limit)].gpus);
    if (free->has_failed || plan->has_failed || free->n == 0 || plan->n == 0) {
        elasticflow->is_out_of_memory = true;
        return (struct elasticflow_answer){question->now, question->now, false};
    }
    struct elasticflow_answer answer = compute(&p);
    if (!question->asks_plan_alone)
        elasticflow_steps_merge(free);
    elasticflow_steps_merge(plan);
    return answer;
}

bool elasticflow_take(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now) {
    if (elasticflow_patient_take(elasticflow, job, now))
        return true;
    struct elasticflow_question question = {job, &elasticflow->free, now, 0, false};
    struct elasticflow_answer answer = elasticflow_share(elasticflow, &question);
    elasticflow_steps_copy(&elasticflow->free, &elasticflow->free_to_be);
    elasticflow_steps_copy(&job->plan, &elasticflow->plan_to_be);
    job->end = answer.end;
    job->real_end = answer.real_end;
    elasticflow->is_out_of_memory |= job->plan.has_failed || elasticflow->free.has_failed;
    return answer.meets;
}
