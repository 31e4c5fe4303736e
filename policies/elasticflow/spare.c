/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/elasticflow/spare.h"
#include "policies/elasticflow/patient.h"
#include "policies/elasticflow/share.h"

#include <string.h>

#define MOST ((double)INT64_MAX)

typedef bool before(const struct elasticflow_job *a, const struct elasticflow_job *b);

/* --- an order --------------------------------------------------------------------------------- */

static void insert_each(struct elasticflow *elasticflow, uint32_t first, uint32_t end,
                        before *is_before) {
    uint32_t *order = elasticflow->order;
    for (uint32_t i = first + 1; i < end; i++) {
        uint32_t number = order[i], at = i;
        for (; at > first && is_before(&elasticflow->job[number], &elasticflow->job[order[at - 1]]);
             at--)
            order[at] = order[at - 1];
        order[at] = number;
    }
}

/* Merges what stands sorted before and from the middle on. */
static void merge(struct elasticflow *elasticflow, uint32_t first, uint32_t middle, uint32_t end,
                  before *is_before) {
    uint32_t *order = elasticflow->order, *left = elasticflow->mover, n = middle - first, at = 0;
    memcpy(left, order + first, n * sizeof *left);
    for (uint32_t to = first; at < n; to++)
        if (middle < end &&
            is_before(&elasticflow->job[order[middle]], &elasticflow->job[left[at]]))
            order[to] = order[middle++];
        else
            order[to] = left[at++];
}

/* Sorts the jobs of order from the first one up to the end; equal ones keep their order. */
static void sort(struct elasticflow *elasticflow, uint32_t first, uint32_t end, before *is_before) {
    enum { FEW = 8 };
    if (end - first <= FEW) {
        insert_each(elasticflow, first, end, is_before);
        return;
    }
    uint32_t middle = first + (end - first) / 2, *order = elasticflow->order;
    sort(elasticflow, first, middle, is_before);
    sort(elasticflow, middle, end, is_before);
    if (is_before(&elasticflow->job[order[middle]], &elasticflow->job[order[middle - 1]]))
        merge(elasticflow, first, middle, end, is_before);
}

void elasticflow_sort(struct elasticflow *elasticflow,
                      bool (*is_before)(const struct elasticflow_job *a,
                                        const struct elasticflow_job *b)) {
    const uint32_t *order = elasticflow->order;
    uint32_t i = 1; /* as far as they stand sorted */
    while (i < elasticflow->n_order &&
           !is_before(&elasticflow->job[order[i]], &elasticflow->job[order[i - 1]]))
        i++;
    if (i < elasticflow->n_order)
        sort(elasticflow, 0, elasticflow->n_order, is_before);
}

/* --- gains ------------------------------------------------------------------------------------ */

static bool gains_more(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return a->gain > b->gain;
}

/* Sorts the jobs of order from the first one up to the end by their gains. Most of a long line come
 * before all others, or behind them, and keep their order. */
static void sort_gains(struct elasticflow *elasticflow, uint32_t first, uint32_t end) {
    uint32_t *order = elasticflow->order, *other = elasticflow->mover;
    uint32_t middle = first, last, n = 0, n_behind = 0;
    for (uint32_t i = first; i < end; i++)
        if (elasticflow->job[order[i]].gain >= MOST)
            order[middle++] = order[i];
        else
            other[n++] = order[i];
    last = middle;
    for (uint32_t i = 0; i < n; i++)
        if (elasticflow->job[other[i]].gain > -MOST)
            order[last++] = other[i];
        else
            other[n_behind++] = other[i];
    memcpy(order + last, other, n_behind * sizeof *order);
    sort(elasticflow, middle, last, gains_more);
}

/* The job's plan, with the next level up to the first change of it or of the GPUs that are free
 * without it: further work makes no job late. */
static struct elasticflow_answer add_now(struct elasticflow *elasticflow,
                                         const struct elasticflow_job *job) {
    struct elasticflow_steps *plan = &elasticflow->plan_to_be, *free = &elasticflow->without;
    int64_t until = job->end;
    if (free->n > 1 && free->step[1].time < until)
        until = free->step[1].time;
    if (job->plan.n > 1 && job->plan.step[1].time < until)
        until = job->plan.step[1].time;
    elasticflow_steps_copy(plan, &job->plan);
    if (until < job->end)
        elasticflow_steps_add(plan, until, elasticflow_gpus(job, job->now_level));
    if (plan->n > 0)
        plan->step[0].gpus = elasticflow_gpus(job, job->now_level + 1);
    elasticflow_steps_take(&elasticflow->free_to_be, free, plan, job->end);
    elasticflow->is_out_of_memory |= plan->has_failed || elasticflow->free_to_be.has_failed;
    return (struct elasticflow_answer){job->end, job->real_end, true};
}

/* The share of a job that begins with the next level. Where the rest of that, in whole slots from
 * now on, does not fit beside what others were promised, the job keeps its plan. */
static struct elasticflow_answer try_next(struct elasticflow *elasticflow,
                                          const struct elasticflow_job *job, int64_t now,
                                          bool asks_plan_alone) {
    elasticflow_steps_give_back(&elasticflow->without, &elasticflow->free, &job->plan, job->end,
                                elasticflow->n_gpus);
    struct elasticflow_question question = {job, &elasticflow->without, now, job->now_level + 1,
                                            asks_plan_alone};
    struct elasticflow_answer answer = elasticflow_share(elasticflow, &question);
    bool is_late = !answer.meets && job->deadline < ELASTICFLOW_NEVER;
    return is_late && !elasticflow->is_reference ? add_now(elasticflow, job) : answer;
}

/* GPUs that the next level takes; 0: there is none. */
static int64_t step_up(const struct elasticflow_job *job) {
    return job->now_level < job->n_levels
               ? elasticflow_gpus(job, job->now_level + 1) - elasticflow_gpus(job, job->now_level)
               : 0;
}

/* The GPU time that the next level saves, by GPU. The reference takes the job that it costs most
 * for the one that it saves most. */
static void weigh_next(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now,
                       int64_t gpus) {
    int64_t area;
    if (!elasticflow_patient_weigh(elasticflow, job, now, &area)) {
        struct elasticflow_answer answer = try_next(elasticflow, job, now, true);
        area = elasticflow_steps_area(&elasticflow->plan_to_be, answer.end);
    }
    double costs = (double)(area - elasticflow_steps_area(&job->plan, job->end)) / (double)gpus;
    job->gain = elasticflow->is_reference ? costs : -costs;
}

/* A job without a GPU comes before all others, whatever its next level costs. */
static inline void weigh(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now,
                         int64_t n_spare) {
    int64_t gpus = step_up(job);
    bool is_possible = gpus > 0 && gpus <= n_spare;
    job->gain = is_possible ? MOST : -MOST;
    job->is_steady = false;
    if (is_possible && job->now_level > 0)
        weigh_next(elasticflow, job, now, gpus);
}

/* The place in order of the job that gains most; n_order: none does. */
static uint32_t best_of(const struct elasticflow *elasticflow, int64_t n_spare) {
    for (uint32_t i = 0; i < elasticflow->n_order; i++) {
        const struct elasticflow_job *job = &elasticflow->job[elasticflow->order[i]];
        if (step_up(job) > 0 && step_up(job) <= n_spare)
            return i;
    }
    return elasticflow->n_order;
}

/* --- grants ----------------------------------------------------------------------------------- */

/* Order is in three parts: jobs that come before all others, jobs with a gain, and jobs of which
 * the next level is wider than the spare GPUs, now and after each further grant. While these are
 * enough for each of the first part, only the middle one changes. */
struct parts {
    uint32_t middle, last; /* where these begin */
    int64_t widest; /* GPUs of the next levels of the first part, the most */
    /* of the middle: GPUs of the next levels, no more than these; whether all gains are steady, and
     * the most that one of them releases */
    int64_t widest_middle;
    bool is_calm;
    int64_t releases;
    struct elasticflow_edges edges; /* with which they were weighed */
};

static double gain_of(const struct elasticflow *elasticflow, uint32_t i) {
    return elasticflow->job[elasticflow->order[i]].gain;
}

static void find_last(const struct elasticflow *elasticflow, struct parts *parts) {
    while (parts->last > parts->middle && gain_of(elasticflow, parts->last - 1) <= -MOST)
        parts->last--;
}

static struct parts find_parts(const struct elasticflow *elasticflow) {
    struct parts parts = {.last = elasticflow->n_order};
    for (; parts.middle < parts.last && gain_of(elasticflow, parts.middle) >= MOST;
         parts.middle++) {
        int64_t gpus = step_up(&elasticflow->job[elasticflow->order[parts.middle]]);
        parts.widest = gpus > parts.widest ? gpus : parts.widest;
    }
    find_last(elasticflow, &parts);
    return parts;
}

/* A job of the first part that can have a further level is the first of the middle now. Returns
 * its place. */
static uint32_t leave_first(struct elasticflow *elasticflow, struct parts *parts, uint32_t at) {
    uint32_t *order = elasticflow->order, number = order[at];
    if (at >= parts->middle || step_up(&elasticflow->job[number]) == 0)
        return at;
    parts->middle--;
    memmove(order + at, order + at + 1, (parts->middle - at) * sizeof *order);
    order[parts->middle] = number;
    return parts->middle;
}

/* A job that was weighed is of the middle, if there is room for its next level. */
static void note(struct parts *parts, const struct elasticflow_job *job, int64_t n_spare) {
    int64_t gpus = step_up(job);
    if (gpus > n_spare)
        return;
    parts->is_calm &= job->is_steady;
    if (gpus > parts->widest_middle)
        parts->widest_middle = gpus;
    if (job->is_steady && job->releases > parts->releases)
        parts->releases = job->releases;
}

/* Whether steady gains have changed since they were weighed. */
static bool are_edges_new(const struct parts *parts, const struct elasticflow_edges *edges) {
    return !edges->are_known || !parts->edges.are_known || edges->first != parts->edges.first ||
           edges->last_gpus != parts->edges.last_gpus || edges->rise == 0 ||
           edges->rise <= parts->releases;
}

/* Weighs jobs of order from the first one up to the end, and sorts them. Steady gains of jobs but
 * for the one that was granted a level stay, unless the edges have changed. */
static void weigh_all(struct elasticflow *elasticflow, struct parts *parts, uint32_t first,
                      const struct elasticflow_job *granted, int64_t now, int64_t n_spare,
                      bool are_new) {
    parts->is_calm = true;
    parts->widest_middle = 0;
    parts->releases = INT64_MIN;
    for (uint32_t i = first; i < parts->last; i++) {
        struct elasticflow_job *job = &elasticflow->job[elasticflow->order[i]];
        int64_t gpus = step_up(job);
        if (gpus == 0)
            continue;
        if (are_new || !job->is_steady || job == granted || gpus > n_spare)
            weigh(elasticflow, job, now, n_spare);
        note(parts, job, n_spare);
    }
    sort_gains(elasticflow, first, parts->last);
}

/* Moves the job at this place to where its gain belongs; all others of the middle are sorted, and
 * of equal ones none passes another. */
static void sift(struct elasticflow *elasticflow, const struct parts *parts, uint32_t at) {
    uint32_t *order = elasticflow->order, number = order[at];
    const struct elasticflow_job *job = &elasticflow->job[number];
    for (; at > parts->middle && job->gain > gain_of(elasticflow, at - 1); at--)
        order[at] = order[at - 1];
    for (; at + 1 < parts->last && gain_of(elasticflow, at + 1) > job->gain; at++)
        order[at] = order[at + 1];
    order[at] = number;
}

/* Weighs jobs again after a grant to the one at this place. */
static void weigh_again(struct elasticflow *elasticflow, struct parts *parts, uint32_t at,
                        int64_t now, int64_t n_spare) {
    struct elasticflow_edges edges = elasticflow_patient_edges(elasticflow, now);
    struct elasticflow_job *granted = &elasticflow->job[elasticflow->order[at]];
    bool are_new = are_edges_new(parts, &edges);
    parts->edges = edges;
    if (n_spare < parts->widest) {
        parts->last = elasticflow->n_order;
        weigh_all(elasticflow, parts, 0, granted, now, n_spare, are_new);
        int64_t releases = parts->releases;
        *parts = find_parts(elasticflow);
        parts->edges = edges;
        parts->releases = releases;
        return;
    }
    at = leave_first(elasticflow, parts, at);
    if (are_new || !parts->is_calm || n_spare < parts->widest_middle) {
        weigh_all(elasticflow, parts, parts->middle, granted, now, n_spare, are_new);
    } else if (at >= parts->middle && step_up(granted) > 0) {
        weigh(elasticflow, granted, now, n_spare);
        sift(elasticflow, parts, at);
        note(parts, granted, n_spare);
    }
    find_last(elasticflow, parts);
}

/* No GPU is spare any more: jobs that can have a further level go behind the others, which keep
 * their gains. */
static void end_grants(struct elasticflow *elasticflow) {
    for (uint32_t i = 0; i < elasticflow->n_order; i++) {
        struct elasticflow_job *job = &elasticflow->job[elasticflow->order[i]];
        job->gain = step_up(job) > 0 ? -MOST : job->gain;
    }
    sort_gains(elasticflow, 0, elasticflow->n_order);
}

static void grant(struct elasticflow *elasticflow, struct elasticflow_job *job, int64_t now) {
    struct elasticflow_answer answer = try_next(elasticflow, job, now, false);
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
    if (n_spare <= 0)
        return;
    for (uint32_t i = 0; i < elasticflow->n_order; i++)
        weigh(elasticflow, &elasticflow->job[elasticflow->order[i]], now, n_spare);
    sort_gains(elasticflow, 0, elasticflow->n_order);
    struct parts parts = find_parts(elasticflow);
    parts.edges = elasticflow_patient_edges(elasticflow, now);
    parts.releases = INT64_MAX; /* not known yet */
    while (n_spare > 0 && !elasticflow->is_out_of_memory) {
        uint32_t at = best_of(elasticflow, n_spare);
        if (at == elasticflow->n_order)
            return;
        struct elasticflow_job *job = &elasticflow->job[elasticflow->order[at]];
        int64_t old_end = job->end;
        n_spare -= step_up(job);
        grant(elasticflow, job, now);
        if (on_grant)
            on_grant(elasticflow, job, old_end);
        if (n_spare > 0)
            weigh_again(elasticflow, &parts, at, now, n_spare);
    }
    end_grants(elasticflow);
}
