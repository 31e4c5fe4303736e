/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/arbiter_ahead.h"

#include <assert.h>

#include "models/gpu/alone.h"
#include "models/gpu/arbiter_walk.h"

/* Steps of one call: they are limited so that the caller can interrupt the simulation. */
enum { STEPS_AT_ONCE = 1 << 22 };

static bool run_some(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, int64_t limit_ns) {
    return gsim_arbiter_walk(arbiter, lanes, limit_ns, STEPS_AT_ONCE);
}

static void settle_lanes(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes) {
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        gsim_gpu_lane_settle(&gpu, &lanes->lane[i], lanes->now_ns);
}

/* The state ahead may lack what it was to be a copy of: it makes no steps, and the run ends. */
static bool lacks_memory(const struct gsim_arbiter *arbiter) {
    return gsim_arena_has_failed(arbiter->arena) || gsim_arbiter_has_failed(arbiter);
}

int64_t gsim_arbiter_next_ns(struct gsim_arbiter *arbiter, int64_t horizon_ns) {
    if (!arbiter->is_ahead_valid) {
        gsim_lanes_copy(&arbiter->ahead, &arbiter->committed);
        if (arbiter->ahead.spans)
            gsim_slice_log_clear(arbiter->ahead.spans);
        arbiter->is_ahead_valid = true;
        arbiter->is_ahead_event = arbiter->ahead.has_reports;
    }
    bool is_there = true;
    if (lacks_memory(arbiter))
        return GSIM_NEVER;
    if (!arbiter->is_ahead_event && arbiter->ahead.now_ns < horizon_ns) {
        is_there = run_some(arbiter, &arbiter->ahead, horizon_ns);
        arbiter->is_ahead_event = arbiter->ahead.has_reports;
    }
    if ((arbiter->is_ahead_event || !is_there) && arbiter->ahead.now_ns <= horizon_ns)
        return arbiter->ahead.now_ns;
    return horizon_ns;
}

/* While rates are unsolved, the time of the next change is unknown. */
static int64_t quiet_until_ns(const struct gsim_lanes *lanes) {
    int64_t next_ns =
        lanes->n_lanes > 0 ? lanes->lane[gsim_lanes_earliest(lanes)].marks.next_ns : GSIM_NEVER;
    if (lanes->unsolved)
        return lanes->now_ns - 1;
    return next_ns == GSIM_NEVER ? GSIM_NEVER : next_ns - 1;
}

/* Whether the member, which runs until end_ns without a change, is then where it is to leave. */
static bool leaves_at(const struct gsim_gpu_lane *lane, const struct gsim_member *member,
                      int64_t end_ns) {
    struct gsim_context then = member->context;
    int64_t from_ns = lane->times.since_ns + member->state.stall_ns;
    if (member->stop_at == GSIM_EXIT_NEVER || then.spec.program || then.spec.arrival_ns ||
        end_ns <= from_ns)
        return false;
    then.done += gsim_work_done(lane->state.rate_q32, end_ns - from_ns);
    return then.done >= gsim_work_of_ns(then.spec.gpu_ns) ||
           (member->stop_at == GSIM_EXIT_KERNEL && gsim_context_is_between_kernels(&then));
}

/* When the only member leaves, if that is the next change: it is known without a state ahead. */
static int64_t leaves_ns(const struct gsim_arbiter *arbiter) {
    const struct gsim_lanes *lanes = &arbiter->committed;
    if (arbiter->n_present != 1 || arbiter->n_spaces > 0 || lanes->has_reports)
        return GSIM_NEVER;
    const struct gsim_gpu_lane *lane = &lanes->lane[gsim_lanes_earliest(lanes)];
    uint16_t place = gsim_gpu_lane_running(lane);
    if (place == GSIM_NO_MEMBER || lane->change != GSIM_CHANGE_YIELD ||
        lane->marks.next_ns <= lanes->now_ns ||
        !leaves_at(lane, &lanes->members[place], lane->marks.next_ns))
        return GSIM_NEVER;
    return lane->marks.next_ns;
}

/* Jobs that page are often stopped before they end: nothing is walked while none can report. */
struct gsim_foresight gsim_arbiter_foresee(struct gsim_arbiter *arbiter, int64_t horizon_ns) {
    struct gsim_lanes *ahead = &arbiter->ahead, *committed = &arbiter->committed;
    if (!arbiter->is_ahead_valid && committed->store.pager && arbiter->n_spaces == 0 &&
        !gsim_arbiter_is_close(arbiter)) {
        int64_t until_ns = gsim_lanes_at_work_until_ns(committed);
        if (until_ns >= horizon_ns)
            return (struct gsim_foresight){until_ns, false};
    }
    int64_t left_ns = arbiter->is_ahead_valid ? GSIM_NEVER : leaves_ns(arbiter);
    if (left_ns != GSIM_NEVER && !gsim_arbiter_is_close(arbiter) && !lacks_memory(arbiter))
        return (struct gsim_foresight){left_ns, true};
    int64_t next_ns = gsim_arbiter_next_ns(arbiter, horizon_ns);
    if (!arbiter->is_ahead_event && (next_ns < horizon_ns || lacks_memory(arbiter)))
        return (struct gsim_foresight){next_ns, false};
    if (!arbiter->is_ahead_event && !gsim_arbiter_is_close(arbiter)) {
        (void)gsim_arbiter_walk(arbiter, ahead, GSIM_NEVER, GSIM_STEPS_PAST_HORIZON);
        arbiter->is_ahead_event = ahead->has_reports;
        if (!ahead->has_reports)
            return (struct gsim_foresight){quiet_until_ns(ahead), false};
    }
    return (struct gsim_foresight){arbiter->is_ahead_event ? ahead->now_ns : horizon_ns,
                                   arbiter->is_ahead_event};
}

/* The state ahead becomes the committed one, and a new state ahead has to be copied from it. A
 * single member that has nothing to report is brought forward instead, which costs less than a
 * copy; but observers hear of a slice from one state only. */
static bool takes_ahead(const struct gsim_arbiter *arbiter, int64_t now_ns) {
    bool is_alone = arbiter->n_present == 1 && !arbiter->committed.spans;
    return arbiter->is_ahead_valid && arbiter->ahead.now_ns == now_ns &&
           (arbiter->is_ahead_event || !is_alone);
}

/* Where rates are extrapolated, how far they are extrapolated at once depends on when the run is
 * looked at: an event that the state ahead did not report by now may have happened on the way. It
 * is reported now. */
static void report_late(const struct gsim_fast_forward *cycle, struct gsim_lanes *committed,
                        int64_t now_ns) {
    committed->is_approximate |= cycle->phase == GSIM_FAST_FORWARD_FOUND && cycle->is_approximate;
    assert(committed->is_approximate);
    for (uint16_t place = 0; place < committed->capacity; place++) {
        struct gsim_member *member = &committed->members[place];
        if (member->is_present && member->reports != 0 && member->finish_ns < now_ns)
            member->finish_ns = now_ns;
    }
}

static void run_to(struct gsim_arbiter *arbiter, struct gsim_lanes *committed, int64_t now_ns) {
    bool has_late = false;
    while (!run_some(arbiter, committed, now_ns))
        continue;
    while (committed->has_reports && committed->now_ns < now_ns) {
        has_late = true;
        committed->has_reports = false;
        gsim_fast_forward_report(&arbiter->cycle);
        while (!run_some(arbiter, committed, now_ns))
            continue;
    }
    committed->has_reports |= has_late;
    if (has_late)
        report_late(&arbiter->cycle, committed, now_ns);
}

/* Without members nothing happens. */
static bool is_empty(const struct gsim_arbiter *arbiter) {
    return arbiter->n_present == 0 && arbiter->n_spaces == 0 && !arbiter->committed.has_reports;
}

/* A state that was settled at this instant is left as it is: joining, leaving and what else may
 * change it keep lanes settled. */
bool gsim_arbiter_settle(struct gsim_arbiter *arbiter, int64_t now_ns) {
    struct gsim_lanes *committed = &arbiter->committed;
    bool is_ahead = takes_ahead(arbiter, now_ns);
    if (!is_ahead && committed->now_ns == now_ns)
        return committed->has_reports;
    if (!is_ahead && is_empty(arbiter)) {
        arbiter->n_steps += committed->n_lanes > 0; /* one finds that nothing is due */
        committed->now_ns = now_ns;
        return false;
    }
    if (is_ahead) {
        /* the state ahead is copied from it when it is needed */
        struct gsim_lanes swap = arbiter->ahead;
        gsim_slice_log_come_true(committed->spans, swap.spans);
        arbiter->ahead = *committed;
        *committed = swap;
        arbiter->is_ahead_valid = false;
    } else if (committed->now_ns < now_ns) {
        run_to(arbiter, committed, now_ns);
        /* it may have skipped elsewhere than the state ahead; spans until now it has told itself */
        if (committed->is_approximate || committed->spans)
            arbiter->is_ahead_valid = false;
    }
    committed->now_ns = now_ns;
    settle_lanes(arbiter, committed);
    return committed->has_reports;
}

/* Of a state of which no cycle is known, and none need be found: the owner is about to change
 * it. */
static void run_alone(struct gsim_arbiter *arbiter, int64_t now_ns) {
    struct gsim_lanes *committed = &arbiter->committed;
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, committed);
    if (!takes_ahead(arbiter, now_ns) && !lacks_memory(arbiter) &&
        gsim_alone_holds(&arbiter->options, &gpu, committed, now_ns))
        arbiter->n_steps += gsim_alone_run(&gpu, committed, now_ns);
}

void gsim_arbiter_disturb(struct gsim_arbiter *arbiter, int64_t now_ns) {
    if (arbiter->n_present == 1 && arbiter->committed.now_ns < now_ns &&
        arbiter->cycle.phase == GSIM_FAST_FORWARD_NONE)
        run_alone(arbiter, now_ns);
    (void)gsim_arbiter_settle(arbiter, now_ns);
    arbiter->is_ahead_valid = false;
    gsim_fast_forward_forget(&arbiter->cycle);
}

uint16_t gsim_arbiter_take(struct gsim_arbiter *arbiter, unsigned *reports) {
    struct gsim_lanes *lanes = &arbiter->committed;
    for (uint16_t place = 0; lanes->has_reports && place < lanes->capacity; place++) {
        struct gsim_member *member = &lanes->members[place];
        if (!member->is_present || member->reports == 0)
            continue;
        *reports = member->reports;
        member->reports = 0;
        gsim_fast_forward_report(&arbiter->cycle);
        arbiter->is_ahead_valid = false;
        return place;
    }
    lanes->has_reports = false;
    return GSIM_NO_MEMBER;
}

bool gsim_arbiter_has_failed(const struct gsim_arbiter *arbiter) {
    return gsim_pager_has_failed(&arbiter->committed.store) ||
           gsim_gang_memory_have_failed(&arbiter->committed.gang) ||
           (arbiter->is_ahead_valid && (gsim_pager_has_failed(&arbiter->ahead.store) ||
                                        gsim_gang_memory_have_failed(&arbiter->ahead.gang)));
}
