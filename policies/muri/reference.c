/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of the authors' simulator (Rivendile/Muri @ 4e69a78, simulator/run_sim.py), with its
 * oddities: a running job makes no iteration for as long as its start takes after each event of the
 * cluster, but does until its own end; jobs that were to end with the next arrival end then, even
 * where a fall to another queue comes before; where jobs are packed, an end that is near an arrival
 * is the arrival's instant. Its clock is in seconds as `double`, and only + - * / and comparisons
 * touch it. */
#include "policies/muri/reference.h"

#include "policies/muri/antman.h"
#include "policies/muri/order.h"
#include "policies/muri/overhead.h"
#include "policies/muri/pack.h"
#include "policies/muri/room.h"
#include "policies/muri/themis.h"
#include "sim/base/units.h"

/* The time of no event, later than all events. */
static const double never = 1e300;
/* Times within this part of each other are one event; with packed jobs also those within 0.1 ms. */
static const double one_event = 1e-9, one_event_s = 1e-4;
/* An iteration of each job is longer than the trace says by this (itertime_overhead_list). */
static const double slower_alone = 1.015;

struct arrival {
    double time;
    int64_t last_ns; /* of its jobs */
    uint32_t first, n; /* in the order of arrival */
};

struct muri_loop {
    struct arrival *arrival;
    uint32_t n_arrivals, next_arrival;
    uint32_t *ending, n_ending; /* the jobs that end next, at `end` */
    uint32_t *attached, n_attached; /* the jobs that end with the next arrival */
    uint32_t *group; /* scratch */
    double *group_end;
    double end, jump;
};

struct event {
    double time;
    int64_t due_ns;
    bool has_arrivals;
    const uint32_t *ending;
    uint32_t n_ending;
};

static bool is_near(double a, double b, double part, double at_most) {
    double apart = a > b ? a - b : b - a, larger = a > b ? a : b;
    double within = part * larger;
    return apart <= (within > at_most ? within : at_most);
}

static double seconds_by_ms(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_MS / 1000;
}

static int64_t ns_of(double seconds) {
    double ns = seconds * (double)GSIM_NS_PER_S + 0.5;
    return ns < (double)GSIM_TIME_MAX ? (int64_t)ns : GSIM_TIME_MAX;
}

/* --- the trace -------------------------------------------------------------------------------- */

static enum gsim_status refuse(struct gsim_ctx *ctx, uint32_t number, const char *needs) {
    return gsim_fail(ctx->log, GSIM_BAD_INPUT, ctx->view->trace->path,
                     gsim_trace_line(ctx->view->trace, number),
                     "muri: reference=muri needs %s of each job", needs);
}

static const char *model_of(const struct gsim_trace *trace, uint32_t number) {
    int64_t name = gsim_trace_get(trace, GSIM_COL_MODEL, number);
    return name >= 0 ? trace->names[GSIM_COL_MODEL].name[name] : NULL;
}

static enum gsim_status read_job(struct gsim_ctx *ctx, struct muri *muri, uint32_t number) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct muri_job *job = &muri->job[number];
    int64_t iterations = gsim_trace_get(trace, GSIM_COL_ITERATIONS, number);
    int64_t iteration_ns = gsim_trace_get(trace, GSIM_COL_ITERATION_NS, number);
    if (iterations <= 0 || iteration_ns <= 0)
        return refuse(ctx, number, "iterations and iteration_ms, above 0,");
    if (job->is_exclusive && (muri_packs(muri) || muri->rule == MURI_ANTMAN))
        return refuse(ctx, number, "the stages of an iteration (stage_host_ms, ...)");
    job->submit = seconds_by_ms(trace->submit_ns[number]);
    job->iteration = (double)iteration_ns / (double)GSIM_NS_PER_MS * slower_alone / 1000;
    job->current = job->iteration;
    job->left = (double)iterations;
    job->own_overhead = muri_overhead_s(model_of(trace, number), job->gpus);
    job->overhead = job->own_overhead;
    return GSIM_OK;
}

static void add_arrival(struct muri_loop *loop, const struct gsim_trace *trace, uint32_t nth) {
    int64_t at_ns = trace->submit_ns[gsim_trace_arrival(trace, nth)];
    double time = seconds_by_ms(at_ns);
    uint32_t n = loop->n_arrivals;
    while (n > 0 && is_near(loop->arrival[n - 1].time, time, one_event, 0))
        n--;
    if (n == loop->n_arrivals)
        loop->arrival[loop->n_arrivals++] = (struct arrival){.time = time, .first = nth};
    loop->arrival[n].n++;
    loop->arrival[n].last_ns = at_ns;
}

enum gsim_status muri_open_reference(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n = trace->n_jobs;
    struct muri_loop *loop = gsim_arena_array(ctx->arena, 1, sizeof *loop);
    if (!loop || !(loop->arrival = gsim_arena_array(ctx->arena, n, sizeof *loop->arrival)) ||
        !(loop->ending = gsim_arena_array(ctx->arena, n, sizeof *loop->ending)) ||
        !(loop->attached = gsim_arena_array(ctx->arena, n, sizeof *loop->attached)) ||
        !(loop->group = gsim_arena_array(ctx->arena, n, sizeof *loop->group)) ||
        !(loop->group_end = gsim_arena_array(ctx->arena, n, sizeof *loop->group_end)))
        return gsim_no_memory(ctx->log, "opening muri");
    loop->end = loop->jump = never;
    muri->loop = loop;
    for (uint32_t i = 0; i < n; i++) {
        enum gsim_status status = read_job(ctx, muri, i);
        if (status != GSIM_OK)
            return status;
    }
    for (uint32_t i = 0; i < n; i++)
        add_arrival(loop, trace, i);
    if (muri->rule == MURI_THEMIS)
        return muri_themis_open(ctx, muri);
    return muri->rule == MURI_ANTMAN ? muri_antman_open(ctx, muri) : GSIM_OK;
}

/* --- the next event --------------------------------------------------------------------------- */

static void attach(struct muri_loop *loop) {
    for (uint32_t i = 0; i < loop->n_ending; i++)
        loop->attached[i] = loop->ending[i];
    loop->n_attached = loop->n_ending;
}

/* false: there is none. */
static bool next_event(const struct muri *muri, struct event *event) {
    struct muri_loop *loop = muri->loop;
    const struct arrival *arrival =
        loop->next_arrival < loop->n_arrivals ? &loop->arrival[loop->next_arrival] : NULL;
    double start = arrival ? arrival->time : never;
    bool is_both = arrival && (muri_packs(muri) ? is_near(loop->end, start, one_event, one_event_s)
                                                : loop->end == start);
    if (is_both)
        attach(loop);
    event->has_arrivals = is_both || start < loop->end;
    event->time = event->has_arrivals ? start : loop->end;
    event->ending = event->has_arrivals ? loop->attached : loop->ending;
    event->n_ending = event->has_arrivals ? loop->n_attached : loop->n_ending;
    if (event->time > loop->jump)
        *event = (struct event){.time = loop->jump};
    event->due_ns = ns_of(event->time);
    if (event->has_arrivals && event->due_ns < arrival->last_ns)
        event->due_ns = arrival->last_ns;
    return event->time < never;
}

/* --- an event --------------------------------------------------------------------------------- */

static void end_jobs(struct gsim_plan *plan, struct muri *muri, const struct event *event) {
    for (uint32_t i = 0; i < event->n_ending; i++) {
        struct muri_job *job = &muri->job[event->ending[i]];
        if (!job->is_active || !gsim_plan_end(plan, job->slot))
            continue;
        job->is_active = job->is_here = job->runs = false;
        if (muri->rule == MURI_ANTMAN)
            muri_antman_release(muri, event->ending[i]);
    }
    muri->n_order = muri_keep_active(muri, muri->order, muri->n_order);
    for (uint32_t q = 0; q < MURI_N_QUEUES; q++)
        muri->queue[q].n = muri_keep_active(muri, muri->queue[q].job, muri->queue[q].n);
}

static void add_jobs(struct gsim_ctx *ctx, struct muri *muri) {
    struct muri_loop *loop = muri->loop;
    const struct arrival *arrival = &loop->arrival[loop->next_arrival++];
    loop->n_attached = 0;
    for (uint32_t i = 0; i < arrival->n; i++) {
        uint32_t number = gsim_trace_arrival(ctx->view->trace, arrival->first + i);
        struct muri_job *job = &muri->job[number];
        job->is_active = true;
        job->since = job->submit;
        job->remaining = muri_packs(muri) ? seconds_by_ms(ctx->view->jobs.service_ns[job->slot])
                                          : job->left * job->iteration;
        muri->order[muri->n_order++] = number;
        muri->queue[0].job[muri->queue[0].n++] = number;
    }
}

static void account(struct muri_job *job, double now) {
    double ran = now - job->since - job->overhead;
    if (job->runs) {
        job->left -= (ran > 0 ? ran : 0) / job->current;
        job->executed = job->executed + now - job->since;
        job->remaining = job->left * job->iteration;
    }
    job->since = now;
}

static double reference_rank(const struct muri *muri, const struct muri_job *job) {
    switch (muri->rule) {
    case MURI_S:
    case MURI_SHORTEST_GPU:
        return job->remaining * job->gpus;
    case MURI_L:
    case MURI_IN_ORDER:
        return job->executed * job->gpus;
    default:
        return job->remaining;
    }
}

/* Runs jobs in their order, passing over those that do not fit. */
static void run_by_rank(struct muri *muri) {
    muri_sort_by_rank(muri, muri->order, muri->n_order);
    muri_room_clear(&muri->room);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->runs = muri_room_take(&muri->room, job->gpus, NULL);
    }
    muri_pack_alone(muri);
}

/* Queue after queue, where only the number of free GPUs counts. */
static void run_by_queue(struct muri *muri) {
    uint32_t n_free = muri->n_gpus;
    for (uint32_t i = 0; i < muri->n_line; i++) {
        struct muri_job *job = &muri->job[muri->line[i]];
        job->runs = job->gpus <= n_free;
        n_free -= job->runs ? job->gpus : 0;
    }
    muri_pack_alone(muri);
}

static bool decide_reference(struct muri *muri, double now) {
    switch (muri->rule) {
    case MURI_SHORTEST:
    case MURI_SHORTEST_GPU:
        run_by_rank(muri);
        return true;
    case MURI_QUEUES:
        muri_line_up(muri);
        run_by_queue(muri);
        return true;
    case MURI_THEMIS:
        muri_themis(muri, now);
        return true;
    case MURI_ANTMAN:
        muri_antman(muri);
        return true;
    default:
        if (!muri_has_queues(muri))
            muri_sort_by_rank(muri, muri->order, muri->n_order);
        muri_line_up(muri);
        return muri_pack(muri);
    }
}

/* --- after it --------------------------------------------------------------------------------- */

/* Whether an end joins those of its group: rule=antman looks at its list of events once more. */
static bool is_merged(const struct muri *muri, uint32_t group) {
    return muri->rule == MURI_ANTMAN &&
           is_near(muri->loop->group_end[group], muri->loop->end, one_event, one_event_s);
}

/* Jobs with ends near each other are one event, at the end of the first of them in the order. */
static void foresee_ends(struct muri *muri, double now) {
    struct muri_loop *loop = muri->loop;
    uint32_t n_groups = 0, first = 0;
    double part = muri->rule == MURI_QUEUES ? 0 : one_event;
    for (uint32_t i = 0; i < muri->n_order; i++) {
        const struct muri_job *job = &muri->job[muri->order[i]];
        double end = now + job->left * job->current;
        uint32_t g = job->runs ? 0 : MURI_NONE;
        while (g < n_groups && !is_near(loop->group_end[g], end, part, 0))
            g++;
        loop->group[i] = g;
        if (job->runs && g == n_groups)
            loop->group_end[n_groups++] = end;
    }
    for (uint32_t g = 1; g < n_groups; g++)
        if (loop->group_end[g] < loop->group_end[first])
            first = g;
    loop->end = n_groups > 0 ? loop->group_end[first] : never;
    loop->n_ending = 0;
    for (uint32_t i = 0; i < muri->n_order; i++)
        if (loop->group[i] != MURI_NONE &&
            (loop->group[i] == first || is_merged(muri, loop->group[i])))
            loop->ending[loop->n_ending++] = muri->order[i];
}

static double up(double x) {
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

static void foresee_jump(struct muri *muri, double now) {
    struct muri_loop *loop = muri->loop;
    loop->jump = never;
    for (uint32_t i = 0; i < muri->n_order && muri_has_queues(muri); i++) {
        const struct muri_job *job = &muri->job[muri->order[i]];
        if (!job->runs || job->queue + 1 >= MURI_N_QUEUES)
            continue;
        double jump = up(muri->limit[job->queue] / job->gpus) - job->executed + now;
        loop->jump = jump < loop->jump ? jump : loop->jump;
    }
}

static void process(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri,
                    const struct event *event) {
    end_jobs(plan, muri, event);
    if (event->has_arrivals)
        add_jobs(ctx, muri);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        account(job, event->time);
        if (muri_has_queues(muri) && job->runs)
            muri_demote(muri, muri->order[i]);
        job->rank = reference_rank(muri, job);
    }
    if (!decide_reference(muri, event->time)) {
        muri->is_out_of_memory = true;
        return;
    }
    if (muri_has_queues(muri))
        muri_part_queues(muri);
    foresee_ends(muri, event->time);
    foresee_jump(muri, event->time);
}

void muri_run_reference(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri) {
    struct event event;
    bool has_event;
    while ((has_event = next_event(muri, &event)) && event.due_ns <= ctx->view->now_ns &&
           !muri->is_out_of_memory && ctx->status == GSIM_OK)
        process(ctx, plan, muri, &event);
    if (has_event && event.due_ns > ctx->view->now_ns)
        gsim_plan_wake(plan, event.due_ns);
}
