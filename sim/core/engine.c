/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of a run. It merges sources of events by time: the model, watches of running time,
 * failures and repairs of nodes, arrivals (a cursor over the trace, never preloaded) and the
 * policy's timer. At one instant they are served in this order, the model's completions first; then
 * the policy decides. Consequences of its plan at that instant are the next round. */
#include "sim/core/core.h"
#include "sim/base/text.h"
#include "sim/base/team.h"
#include "sim/base/units.h"
#include "sim/base/hints.h"

enum gsim_status gsim_core_no_memory(struct gsim_core *core) {
    if (core->status == GSIM_OK)
        core->status = gsim_no_memory(core->log, "simulating");
    return core->status;
}

/* --- one instant ------------------------------------------------------------------------------ */

/* The time of the next arrival that waits for no other job's end. */
static int64_t next_open_ns(const struct gsim_core *core) {
    return core->next_arrival < core->n_open
               ? core->trace->submit_ns[gsim_trace_arrival(core->trace, core->next_arrival)]
               : GSIM_NEVER;
}

void gsim_core_look_ahead(struct gsim_core *core) {
    core->arrival_ns = next_open_ns(core);
    if (gsim_rarely(core->loops) && gsim_loops_next_ns(core) < core->arrival_ns)
        core->arrival_ns = gsim_loops_next_ns(core);
}

/* The job of the arrival that is due now. Jobs that come after others follow those that do not. */
static inline uint32_t take_arrival(struct gsim_core *core) {
    if (gsim_mostly(!core->loops))
        return gsim_trace_arrival(core->trace, core->next_arrival++);
    uint32_t job = next_open_ns(core) > core->arrival_ns
                       ? gsim_loops_take(core)
                       : gsim_trace_arrival(core->trace, core->next_arrival++);
    gsim_loops_number(core, job);
    return job;
}

static void serve_model(struct gsim_core *core) {
    core->events.n = 0;
    if (gsim_rarely(!core->ops->advance(core->model, core->view.now_ns, &core->events)))
        (void)gsim_core_no_memory(core);
    core->holds_admission = core->events.n > 1;
    for (uint32_t i = 0; i < core->events.n && core->status == GSIM_OK; i++)
        gsim_job_event(core, &core->events.list[i]);
    if (core->holds_admission)
        gsim_jobs_admit_held(core);
}

static void serve_arrivals(struct gsim_core *core) {
    while (core->arrival_ns == core->view.now_ns && core->status == GSIM_OK) {
        gsim_slot slot = gsim_jobs_enter(core, take_arrival(core));
        gsim_core_look_ahead(core);
        core->metrics.n_events++;
        if (gsim_rarely(slot == GSIM_NO_SLOT || !gsim_jobs_announce(core, slot))) {
            (void)gsim_core_no_memory(core);
            return;
        }
        gsim_core_changed(core, slot);
    }
}

static void serve_timer(struct gsim_core *core) {
    if (gsim_mostly(core->timer_ns != core->view.now_ns))
        return;
    core->timer_ns = GSIM_NEVER;
    core->has_changed = true;
    core->metrics.n_events++;
    if (core->policy->on_timer)
        core->policy->on_timer(&core->ctx);
    gsim_core_heed(core);
}

/* Counts jobs that have arrived and were not placed at once. */
static void count_those_left(struct gsim_core *core) {
    for (uint32_t i = 0; i < core->arrived.n; i++) {
        gsim_slot slot = core->arrived.list[i];
        if (gsim_state_waits(core->jobs.state[slot]) && !core->jobs.core[slot].is_wanting)
            gsim_metrics_wants(core, slot, true);
    }
    core->arrived.n = 0;
}

static void decide(struct gsim_core *core) {
    struct gsim_view *view = &core->view;
    view->changes.n_arrived = core->arrived.n;
    view->changes.n_completed = core->completed.n;
    view->changes.n_settled = core->settled.n;
    gsim_plan_refresh_view(core);
    if (core->policy->decide)
        core->policy->decide(&core->ctx, &core->plan);
    gsim_core_heed(core);
    core->settled.n = 0;
    for (uint32_t i = 0; i < core->completed.n; i++)
        gsim_jobs_leave(core, core->completed.list[i]);
    core->completed.n = 0;
    core->has_changed = false;
    /* a plan that was rolled back may have scratch memory */
    if (core->plan.n > 0 || gsim_rarely(core->plan.scratch))
        gsim_plan_apply(&core->plan);
    gsim_core_check(core);
    count_those_left(core);
}

/* The next time at which anything but the model acts: arrival, failure, timer, watch, --until. */
static int64_t horizon_ns(const struct gsim_core *core) {
    int64_t horizon = core->arrival_ns, until = core->options->until_ns;
    int64_t failure = gsim_eventq_next(&core->failures.queue);
    if (failure < horizon)
        horizon = failure;
    if (core->timer_ns < horizon)
        horizon = core->timer_ns;
    if (core->watch_ns < horizon)
        horizon = core->watch_ns;
    return until < horizon ? until + 1 : horizon;
}

static int64_t next_instant(struct gsim_core *core) {
    int64_t horizon = horizon_ns(core);
    core->model_ns = core->ops->next_time(core->model, horizon);
    return core->model_ns < horizon ? core->model_ns : horizon;
}

GSIM_COLD static void never_settles(struct gsim_core *core) {
    char now[32];
    gsim_format_seconds(now, core->view.now_ns, 9);
    core->status = gsim_fail(core->log, GSIM_FAILED, NULL, 0,
                             "policy '%s' does not settle at %s s: %u decides at one instant",
                             core->policy->name, now, GSIM_MAX_ROUNDS);
}

/* Returns the time of the next instant; 0 after a failure. */
static int64_t serve_instant(struct gsim_core *core) {
    for (uint32_t round = 0; core->status == GSIM_OK; round++) {
        if (gsim_rarely(round == GSIM_MAX_ROUNDS)) {
            never_settles(core);
            return 0;
        }
        if (round > 0 || core->model_ns <= core->view.now_ns)
            serve_model(core);
        if (gsim_rarely(core->watch_ns <= core->view.now_ns))
            gsim_watches_serve(core);
        if (gsim_rarely(!gsim_eventq_is_empty(&core->failures.queue)))
            gsim_failures_serve(core);
        serve_arrivals(core);
        serve_timer(core);
        if (core->has_changed && core->status == GSIM_OK)
            decide(core);
        int64_t next = core->has_changed ? 0 : next_instant(core);
        if (next > core->view.now_ns)
            return next;
    }
    return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

GSIM_COLD static void end_early(struct gsim_core *core, int64_t now_ns) {
    gsim_metrics_pass(core, now_ns);
    core->view.now_ns = now_ns;
    core->events.n = 0; /* there are none: the model has named the time of its next event */
    (void)core->ops->advance(core->model, now_ns, &core->events);
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++)
        gsim_metrics_job_cut(core, core->view.jobs.active[i]);
}

static enum gsim_status no_progress(struct gsim_core *core) {
    char now[32];
    gsim_format_seconds(now, core->view.now_ns, 9);
    return gsim_fail(core->log, GSIM_FAILED, NULL, 0,
                     "policy '%s' leaves %u job%s waiting for ever at %s s; the first is '%s'%s",
                     core->policy->name, core->view.jobs.n_active,
                     gsim_plural(core->view.jobs.n_active), now,
                     gsim_trace_id(core->trace, core->jobs.job[core->view.jobs.active[0]]),
                     gsim_core_why_waits(core));
}

/* Whether all nodes are up, no job runs, and only failures and repairs are ahead, which could go on
 * for ever. */
static bool only_fails(struct gsim_core *core) {
    const struct gsim_failures *failures = &core->failures;
    return !gsim_eventq_is_empty(&failures->queue) && core->cluster.n_gpus_down == 0 &&
           core->view.jobs.n_active > 0 && core->timer_ns == GSIM_NEVER &&
           core->arrival_ns == GSIM_NEVER &&
           core->ops->next_time(core->model, gsim_eventq_next(&failures->queue)) == GSIM_NEVER;
}

/* The most work that the job has got to. Work that stops have discarded since the last heartbeat
 * counts, so that a job which begins anew each time stands still however far it is now; a job that
 * has had no such stop is on its way back, and moves. */
static int64_t got_to_ns(struct gsim_core *core, gsim_slot slot) {
    struct gsim_core_job *own = &core->jobs.core[slot];
    int64_t done_ns = gsim_attained_ns(&core->view, slot);
    if (!own->was_discarded)
        own->discarded_ns = 0;
    own->was_discarded = false;
    return done_ns > own->discarded_ns ? done_ns : own->discarded_ns;
}

/* Whether, since the last heartbeat, no job arrived, completed or got farther than before although
 * time passed: a livelock in which jobs preempt each other before they get to work, or before they
 * are done where a preemption discards it. */
static bool is_idle_motion(struct gsim_core *core) {
    struct gsim_heartbeat *last = &core->heartbeat;
    struct gsim_heartbeat now = {.next_arrival = core->next_arrival,
                                 .n_completed = core->metrics.n_completed,
                                 .now_ns = core->view.now_ns};
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++)
        now.served_ns += got_to_ns(core, core->view.jobs.active[i]);
    bool is_idle = core->view.jobs.n_active > 0 && now.served_ns == last->served_ns &&
                   now.next_arrival == last->next_arrival && now.n_completed == last->n_completed;
    if (!is_idle)
        *last = now;
    return is_idle;
}

static bool is_beat_due(const struct gsim_core *core, uint32_t n) {
    return n - core->beat_nth >= GSIM_HEARTBEAT_EVERY;
}

/* At the n-th instant. */
static bool beats_idly(struct gsim_core *core, uint32_t n) {
    core->beat_nth = n;
    core->n_discards = 0;
    return is_idle_motion(core);
}

/* An active job from which stops have taken work; GSIM_NO_SLOT: there is none. */
static gsim_slot discarded_job(const struct gsim_core *core) {
    for (uint32_t i = 0; i < core->view.jobs.n_active; i++)
        if (core->jobs.core[core->view.jobs.active[i]].discarded_ns > 0)
            return core->view.jobs.active[i];
    return GSIM_NO_SLOT;
}

GSIM_COLD static enum gsim_status livelock(struct gsim_core *core) {
    gsim_slot discarded = discarded_job(core);
    gsim_slot first = discarded != GSIM_NO_SLOT ? discarded : core->view.jobs.active[0];
    const char *advice =
        discarded != GSIM_NO_SLOT
            ? "Each stop discards what a job has done, and no job ends before it is stopped: "
              "choose a preemption that keeps work (preempt=restart, not discard), or longer turns"
            : "Where GPUs page, slices must be longer than the way back in; where nodes fail, "
              "--mtbf must be longer than the way back from storage; where jobs move at ticks, a "
              "tick must be longer than their way";
    const char *why = gsim_core_why_waits(core);
    char since[32];
    gsim_format_seconds(since, core->heartbeat.now_ns, 3);
    return gsim_fail(
        core->log, GSIM_FAILED, NULL, 0,
        "policy '%s' moves %u job%s about, and none has got anything done since %s s; "
        "the first is '%s'%s%s",
        core->policy->name, core->view.jobs.n_active, gsim_plural(core->view.jobs.n_active), since,
        gsim_trace_id(core->trace, core->jobs.job[first]), *why ? why : ". ", *why ? "" : advice);
}

GSIM_COLD static enum gsim_status clock_ends(struct gsim_core *core) {
    enum gsim_status status = gsim_failures_accuse(core);
    if (status != GSIM_OK)
        return status;
    return gsim_fail(core->log, GSIM_FAILED, NULL, 0,
                     "the clock passes its end (146 years) with %u job%s unfinished",
                     core->view.jobs.n_active, gsim_plural(core->view.jobs.n_active));
}

static bool is_interrupted(const struct gsim_core *core) {
    return core->options->stop && *core->options->stop;
}

static void show_progress(struct gsim_core *core) {
    const struct gsim_run_options *options = core->options;
    if (options->progress)
        options->progress(options->progress_arg, core->metrics.n_completed, core->trace->n_jobs);
}

/* Whether each job has ended, or was declined. */
static inline bool has_seen_all(const struct gsim_core *core) {
    return core->metrics.n_completed + core->metrics.n_declined == core->trace->n_jobs;
}

/* Whether the run ends before its n-th instant, which would be at next_ns; *status is then its
 * outcome. */
GSIM_APART static bool is_over(struct gsim_core *core, int64_t next_ns, uint32_t n,
                               enum gsim_status *status) {
    bool has_no_end = core->options->until_ns == GSIM_NEVER, was_interrupted;
    if ((next_ns == GSIM_NEVER && core->view.jobs.n_active) || (has_no_end && only_fails(core))) {
        *status = no_progress(core);
        return true;
    }
    if (is_beat_due(core, n) && beats_idly(core, n) && has_no_end) {
        *status = livelock(core);
        return true;
    }
    *status = GSIM_OK;
    if (next_ns == GSIM_NEVER || has_seen_all(core))
        return true;
    show_progress(core);
    was_interrupted = is_interrupted(core);
    if (was_interrupted || next_ns > core->options->until_ns) {
        end_early(core, was_interrupted ? core->view.now_ns : core->options->until_ns);
        *status = was_interrupted ? GSIM_INCOMPLETE : GSIM_OK;
        return true;
    }
    if (next_ns > GSIM_TIME_MAX)
        *status = clock_ends(core);
    return *status != GSIM_OK;
}

GSIM_APART static enum gsim_status run_loop(struct gsim_core *core) {
    const int64_t until_ns = core->options->until_ns;
    const int64_t last_ns = until_ns < GSIM_TIME_MAX ? until_ns : GSIM_TIME_MAX;
    /* Instants may be seconds apart, and failures go on for ever. */
    const bool is_watched = core->options->progress || !gsim_eventq_is_empty(&core->failures.queue);
    const volatile sig_atomic_t never = 0;
    const volatile sig_atomic_t *stop = core->options->stop ? core->options->stop : &never;
    enum gsim_status status;
    gsim_core_look_ahead(core);
    int64_t next = next_instant(core);
    for (uint32_t n = 1; core->status == GSIM_OK; n++) {
        if (gsim_rarely(gsim_arena_has_failed(core->arena)))
            return gsim_core_no_memory(core);
        bool may_be_over =
            next > last_ns || has_seen_all(core) || is_beat_due(core, n) || is_watched || *stop;
        if (gsim_rarely(may_be_over) && is_over(core, next, n, &status))
            return status;
        gsim_metrics_pass(core, next);
        core->view.now_ns = next;
        next = serve_instant(core);
    }
    return core->status;
}

enum gsim_status gsim_run(const struct gsim_run_options *options, struct gsim_arena *arena,
                          struct gsim_result *result, struct gsim_log *log) {
    struct gsim_core *core = gsim_arena_alloc(arena, sizeof *core);
    if (!core)
        return gsim_no_memory(log, "starting a run");
    core->options = options;
    core->trace = options->trace;
    core->policy = options->policy;
    core->arena = arena;
    core->log = log;
    core->compat = gsim_compat_of(options->reference);
    core->ops = options->model;
    core->observer = options->observer;
    core->at_hand = &core->own_at_hand;
    if (options->n_threads > 1)
        core->team = gsim_team_new(options->n_threads, arena);
    enum gsim_status status = gsim_core_open(core);
    if (status == GSIM_OK)
        status = run_loop(core);
    if (core->ctx.core && core->policy->close)
        core->policy->close(&core->ctx);
    gsim_team_close(core->team);
    gsim_observe_end(core);
    gsim_failures_close(core);
    if (status != GSIM_OK && status != GSIM_INCOMPLETE)
        return status;
    enum gsim_status finished = gsim_metrics_finish(core, result);
    return finished != GSIM_OK ? finished : status;
}
