/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of the authors' simulator (pkusys/ElasticFlow @ 04a0109, scheduler/scheduler.py), with
 * its oddities: a count of events is compared with the seconds of a slot, GPUs go where they raise
 * the GPU time of a job most, a job that is late through overheads makes every newcomer be
 * declined, newcomers of one event are admitted or declined together, and edf ends at the end of a
 * second, the others at the end of a slot. */
#include "policies/elasticflow/reference.h"
#include "policies/elasticflow/edf.h"
#include "policies/elasticflow/loop.h"
#include "policies/elasticflow/place.h"
#include "policies/elasticflow/share.h"
#include "policies/elasticflow/spare.h"
#include "sim/base/units.h"

static struct elasticflow_job *nth(const struct elasticflow *own, uint32_t i) {
    return &own->job[own->order[i]];
}

static bool is_due_before(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return a->deadline < b->deadline;
}

static bool is_wider(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return elasticflow_gpus(a, a->now_level) > elasticflow_gpus(b, b->now_level);
}

static bool started_before(const struct elasticflow_job *a, const struct elasticflow_job *b) {
    return a->n_start < b->n_start || (a->n_start == b->n_start && a->n_came < b->n_came);
}

bool elasticflow_open_reference(struct gsim_ctx *ctx, struct elasticflow *own) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct elasticflow_reference *loop = gsim_arena_array(ctx->arena, 1, sizeof *loop);
    own->reference = loop;
    if (!loop)
        return false;
    loop->events.arena = ctx->arena;
    for (uint32_t n = 0; n < trace->n_jobs; n++) {
        uint32_t number = gsim_trace_arrival(trace, n);
        struct elasticflow_event *event =
            elasticflow_events_at(&loop->events, trace->submit_ns[number] / own->tick_ns);
        if (!event)
            return false;
        event->n_starts++;
    }
    loop->last = loop->next = loop->events.n > 0 ? loop->events.event[0].time : -1;
    if (own->mode == ELASTICFLOW_LAS && !elasticflow_las_open(ctx, own))
        return false;
    if (own->mode == ELASTICFLOW_GANDIVA && !elasticflow_turns_open(ctx, own))
        return false;
    return elasticflow_open_overheads(ctx, own, &loop->overheads);
}

/* --- the event -------------------------------------------------------------------------------- */

/* Plans all jobs anew, in the order of their deadlines. Returns whether all meet them. */
static bool plan_all(struct elasticflow *own, int64_t now) {
    bool do_meet = true;
    own->free.n = 0;
    elasticflow_steps_set(&own->free, now, own->n_gpus);
    elasticflow_sort(own, is_due_before);
    for (uint32_t i = 0; i < own->n_order && !own->is_out_of_memory; i++) {
        if (own->mode == ELASTICFLOW_EDF)
            elasticflow_edf_take(own, nth(own, i), now);
        else
            do_meet &= elasticflow_take(own, nth(own, i), now);
    }
    return do_meet;
}

static bool is_declined(const struct elasticflow_job *job) {
    return !job->is_admitted && job->deadline < ELASTICFLOW_NEVER;
}

static void decline(struct gsim_plan *plan, struct elasticflow *own) {
    for (uint32_t i = 0; i < own->n_order; i++)
        if (is_declined(nth(own, i)) && gsim_plan_decline(plan, nth(own, i)->slot))
            nth(own, i)->is_active = false;
    elasticflow_forget(own);
}

static void admit(struct gsim_plan *plan, struct elasticflow *own, int64_t now) {
    uint32_t n_new = elasticflow_add_newcomers(own);
    bool do_meet = plan_all(own, now);
    if (n_new > 0 && !do_meet && own->mode == ELASTICFLOW_ADMIT) {
        decline(plan, own);
        (void)plan_all(own, now);
    }
    for (uint32_t i = 0; i < own->n_order; i++)
        nth(own, i)->is_admitted = true;
}

static uint32_t level_of(const struct elasticflow_job *job) {
    return job->plan.n > 0 ? elasticflow_level(job, job->plan.step[0].gpus) : 0;
}

static void start(struct elasticflow *own, struct elasticflow_job *job) {
    job->has_started = true;
    job->n_start = own->reference->n_started;
    elasticflow_events_add_end(&own->reference->events, job, job->end);
}

static void on_grant(struct elasticflow *own, struct elasticflow_job *job, int64_t old_end) {
    if (!job->has_started) {
        job->has_started = true;
        job->n_start = ++own->reference->n_started;
    }
    elasticflow_events_end(&own->reference->events, job, old_end, job->end);
}

/* The time of the job's first GPUs, or of its next change: -1: none. */
static int64_t next_change(const struct elasticflow_job *job, int64_t now) {
    for (uint32_t i = 0; i < job->plan.n; i++)
        if (job->plan.step[i].time > now)
            return job->plan.step[i].time;
    return -1;
}

static void plan_event(struct elasticflow *own, struct elasticflow_job *job, int64_t now) {
    int64_t at = next_change(job, now);
    if (at >= 0)
        (void)elasticflow_events_at(&own->reference->events, at);
}

/* Where jobs are never declined, an event stands for each plan's next change. */
static void wait_for_gpus(struct elasticflow *own, const struct elasticflow_job *job, int64_t now) {
    for (uint32_t s = 0; s < job->plan.n; s++) {
        if (job->plan.step[s].gpus == 0)
            continue;
        if (job->plan.step[s].time > now && own->mode == ELASTICFLOW_ALL)
            (void)elasticflow_events_at(&own->reference->events, job->plan.step[s].time);
        return;
    }
}

static void first_change(struct elasticflow *own, int64_t now) {
    struct elasticflow_events *events = &own->reference->events;
    int64_t first = -1;
    for (uint32_t i = 0; i < own->n_order; i++) {
        int64_t at = next_change(nth(own, i), now);
        if (at >= 0 && (first < 0 || at < first))
            first = at;
    }
    if (first >= 0 && (events->n == 0 || first < events->event[0].time))
        (void)elasticflow_events_at(events, first);
}

static void use_plans(struct elasticflow *own, int64_t now, const int64_t *old_end) {
    struct elasticflow_events *events = &own->reference->events;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        job->now_level = level_of(job);
        if (job->has_started || own->mode != ELASTICFLOW_EDF)
            elasticflow_events_end(events, job, old_end[own->order[i]], job->end);
    }
    own->reference->n_started++;
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        if (!job->has_started && job->now_level > 0)
            start(own, job);
        else if (!job->has_started)
            wait_for_gpus(own, job, now);
    }
}

/* The order in which the program places jobs; of edf it does not matter. */
static void order_for_places(struct elasticflow *own, int64_t now) {
    if (own->mode == ELASTICFLOW_ALL) {
        elasticflow_sort(own, started_before);
        for (uint32_t i = 0; i < own->n_order; i++)
            if (nth(own, i)->has_started)
                plan_event(own, nth(own, i), now);
        return;
    }
    if (own->mode == ELASTICFLOW_ADMIT)
        first_change(own, now);
    elasticflow_sort(own, is_wider);
}

/* A job that was to end in the event, and had no GPUs, goes on. */
static void leave_event(struct elasticflow *own, int64_t now) {
    for (uint32_t i = 0; i < own->n_order; i++)
        if (nth(own, i)->event_at == now)
            nth(own, i)->event_at = -1;
}

static void move_ends(void *arg, int64_t from, int64_t to) {
    struct elasticflow *own = arg;
    for (uint32_t i = 0; i < own->n_order; i++)
        if (nth(own, i)->event_at == from)
            nth(own, i)->event_at = to;
}

/* --- until the next event --------------------------------------------------------------------- */

static void run_one(struct elasticflow *own, struct elasticflow_job *job, int64_t ticks,
                    int64_t next) {
    double per_tick = job->level[job->now_level - 1].per_tick;
    int64_t end = own->mode == ELASTICFLOW_EDF ? job->end : job->real_end;
    int64_t ran = ticks - (next > end ? next - end : 0);
    ran = ran < job->overhead ? 0 : ran - job->overhead;
    double made = (double)ran * per_tick;
    if (job->left <= made && job->end > next) {
        int64_t now = next - ticks, old_end = job->end;
        made = (double)(old_end - now) * per_tick;
        elasticflow_events_end(&own->reference->events, job, old_end, next);
        job->end = now + elasticflow_ceil(job->left / per_tick);
    }
    job->left -= made;
    job->overhead = 0;
}

static void run_until(struct elasticflow *own, int64_t now, int64_t next) {
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        if (job->now_level > 0)
            run_one(own, job, next - now, next);
    }
    for (uint32_t i = 0; i < own->n_order; i++) {
        struct elasticflow_job *job = nth(own, i);
        job->is_ending =
            job->event_at == next && (own->mode != ELASTICFLOW_ADMIT || job->now_level > 0);
    }
}

static void add_overheads(struct elasticflow *own) {
    struct elasticflow_reference *loop = own->reference;
    elasticflow_count_overheads(own, &loop->overheads, loop->events.n > 0);
    for (uint32_t i = 0; i < own->n_order && loop->events.n > 0; i++) {
        struct elasticflow_job *job = nth(own, i);
        int64_t old_end = job->end;
        job->end += job->overhead;
        if (job->now_level > 0)
            elasticflow_events_end(&loop->events, job, old_end, job->end);
    }
}

static bool keep_ends(struct gsim_plan *plan, const struct elasticflow *own, int64_t **old_end,
                      uint32_t n_jobs) {
    struct gsim_arena *arena = gsim_plan_scratch(plan);
    *old_end = arena ? gsim_arena_array(arena, n_jobs, sizeof **old_end) : NULL;
    for (uint32_t i = 0; *old_end && i < own->n_order; i++)
        (*old_end)[own->order[i]] = nth(own, i)->end;
    for (uint32_t i = 0; *old_end && i < own->n_arrived; i++)
        (*old_end)[own->arrived[i]] = 0;
    return *old_end != NULL;
}

static void process_elastic(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own) {
    struct elasticflow_reference *loop = own->reference;
    int64_t now = loop->next, *old_end;
    elasticflow_end_jobs(plan, own, now);
    elasticflow_forget(own);
    leave_event(own, now);
    if (!keep_ends(plan, own, &old_end, ctx->view->trace->n_jobs)) {
        own->is_out_of_memory = true;
        return;
    }
    elasticflow_events_remove(&loop->events, now);
    admit(plan, own, now);
    use_plans(own, now, old_end);
    if (own->mode != ELASTICFLOW_EDF)
        elasticflow_give_spare(own, now, on_grant);
    order_for_places(own, now);
    add_overheads(own);
    loop->next = elasticflow_events_next(&loop->events, now, own->slot, move_ends, own);
    if (loop->next >= 0)
        run_until(own, now, loop->next);
}

static void process(struct gsim_ctx *ctx, struct gsim_plan *plan, struct elasticflow *own) {
    if (own->mode == ELASTICFLOW_LAS)
        elasticflow_las_event(plan, own);
    else if (own->mode == ELASTICFLOW_GANDIVA)
        elasticflow_turns_event(plan, own);
    else
        process_elastic(ctx, plan, own);
    own->is_out_of_memory |= own->reference->events.has_failed;
}

void elasticflow_decide_reference(struct gsim_ctx *ctx, struct gsim_plan *plan,
                                  struct elasticflow *own) {
    struct elasticflow_reference *loop = own->reference;
    int64_t now = ctx->view->now_ns / own->tick_ns;
    while (loop->next >= 0 && loop->next <= now && !own->is_out_of_memory)
        process(ctx, plan, own);
    elasticflow_end_jobs(plan, own, now);
    int64_t wake = loop->next;
    for (uint32_t i = 0; i < own->n_order; i++)
        if (nth(own, i)->is_active && nth(own, i)->is_ending && nth(own, i)->end < wake)
            wake = nth(own, i)->end;
    if (wake >= 0)
        gsim_plan_wake(plan, wake * own->tick_ns);
    elasticflow_place(ctx, plan, own);
}
