/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/arbiter_walk.h"

#include "models/gpu/gate.h"
#include "models/gpu/rotation.h"
#include "models/gpu/straight_lanes.h"

enum {
    /* When the short loop is tried again changes no result. Turns left to the plain engine, so that
     * an attempt in vain costs little beside them, and places of a ring that take as long to look
     * at as a turn there: both are estimates. */
    LONGEST_REST = 1000,
    PLACES_A_TURN = 32,
};

static bool has_reached_watch(const struct gsim_member *member) {
    const struct gsim_context *context = &member->context;
    int64_t beyond = context->sums.done_iterations - member->watch_iterations;
    return beyond > 0 || (beyond == 0 && context->done >= member->watch_done);
}

/* The reports that are due for a member that has just stopped running. */
static unsigned due_reports(const struct gsim_member *member) {
    const struct gsim_context *context = &member->context;
    if (gsim_context_is_done(context))
        return GSIM_REPORT_WORKED;
    unsigned reports = GSIM_REPORT_NOTHING;
    if (member->watch_iterations >= 0 && has_reached_watch(member))
        reports = GSIM_REPORT_WATCHED;
    if ((member->stop_at == GSIM_EXIT_ITERATION && context->done == 0) ||
        (member->stop_at == GSIM_EXIT_KERNEL && gsim_context_is_between_kernels(context)))
        reports |= GSIM_REPORT_LEFT;
    return reports;
}

static void inspect(struct gsim_lanes *lanes, uint16_t place) {
    struct gsim_member *member = &lanes->members[place];
    unsigned reports = due_reports(member);
    if (reports == GSIM_REPORT_NOTHING)
        return;
    if (reports & GSIM_REPORT_WATCHED)
        member->watch_iterations = -1;
    member->reports |= (uint8_t)reports;
    lanes->has_reports = true;
}

/* While an observer watches, every slice is walked; without memory, the remembered state may be no
 * whole one. */
static void look_for_cycles(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes,
                            int64_t limit_ns) {
    const struct gsim_arbiter_options *options = &arbiter->options;
    bool is_to_come = lanes->now_ns < options->watch_until_ns &&
                      !(lanes->spans && lanes->spans->n == GSIM_SPANS_MOST);
    if ((is_to_come && lanes->now_ns >= options->watch_from_ns) ||
        gsim_arena_has_failed(arbiter->arena))
        return;
    if (is_to_come && options->watch_from_ns < limit_ns)
        limit_ns = options->watch_from_ns;
    gsim_fast_forward_turn(&arbiter->cycle, options, lanes, limit_ns);
}

/* Whether the step began a turn, and did not only end one: where switching costs nothing a step may
 * do both. */
static bool has_begun(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane,
                      uint16_t stopped) {
    return stopped == GSIM_NO_MEMBER || (lane->state.phase == GSIM_LANE_RUNNING &&
                                         lane->marks.quantum_start_ns == lanes->now_ns);
}

/* The lane with the next change. Rates of an instant are solved when all its changes are made. */
static uint16_t next_lane(struct gsim_arbiter *arbiter, const struct gsim_lane_gpu *gpu,
                          struct gsim_lanes *lanes) {
    for (;;) {
        uint16_t number = gsim_lanes_earliest(lanes);
        if (!lanes->unsolved || lanes->lane[number].marks.next_ns <= lanes->now_ns)
            return number;
        gsim_side_by_side_solve(gpu, arbiter->spaces, &arbiter->solved, lanes);
    }
}

/* Up to when no change of another lane can come before one of this lane. */
static int64_t undisturbed_until_ns(const struct gsim_lanes *lanes, uint16_t number,
                                    int64_t limit_ns) {
    int64_t until_ns = limit_ns;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (i != number && lanes->lane[i].marks.next_ns <= until_ns)
            until_ns = lanes->lane[i].marks.next_ns - 1;
    return until_ns;
}

/* After a look for cycles at a turn of the anchor lane: gives further turns in a short loop, of
 * most_steps steps or fewer, and looks again when they are over. A lane that is not for the loop
 * is left to the plain engine for a while, twice as long each time. */
static int64_t go_round(struct gsim_arbiter *arbiter, const struct gsim_lane_gpu *gpu,
                        struct gsim_lanes *lanes, int64_t limit_ns, int64_t most_steps) {
    struct gsim_gpu_lane *lane = &lanes->lane[lanes->anchor];
    if (arbiter->options.is_plain || arbiter->rest_left-- > 0)
        return 0;
    struct gsim_rotation_bounds bounds = {
        .until_ns = undisturbed_until_ns(lanes, lanes->anchor, limit_ns),
        .most_steps = most_steps,
        .unseen = gsim_fast_forward_unseen(&arbiter->cycle, &arbiter->options, lanes)};
    struct gsim_rotation done = gsim_rotation_run(gpu, lanes, lane, &bounds);
    if (done.is_open) /* the loop pays even where it is soon left, but for large rings */
        arbiter->rest = done.turns > lane->spec.n / PLACES_A_TURN ? 0 : lane->spec.n / 4;
    else
        arbiter->rest = arbiter->rest < LONGEST_REST ? 2 * arbiter->rest + 1 : LONGEST_REST;
    arbiter->rest_left = arbiter->rest;
    if (done.turns == 0)
        return 0;
    arbiter->n_rounded += done.turns;
    gsim_fast_forward_pass(&arbiter->cycle, &bounds.unseen, done.turns - 1);
    look_for_cycles(arbiter, lanes, limit_ns);
    return done.steps;
}

/* A turn of the anchor lane has begun. Returns the steps that further turns would have taken. After
 * a skip the plan of the turn is that of before, which the loop would not know. */
static int64_t begin_turn(struct gsim_arbiter *arbiter, const struct gsim_lane_gpu *gpu,
                          struct gsim_lanes *lanes, int64_t limit_ns, int64_t most_steps) {
    int64_t steps = 0, skipped_ns = lanes->skipped_ns;
    look_for_cycles(arbiter, lanes, limit_ns);
    while (lanes->skipped_ns == skipped_ns) {
        int64_t more = go_round(arbiter, gpu, lanes, limit_ns, most_steps - steps);
        if (more == 0)
            break;
        steps += more;
    }
    arbiter->n_steps += steps;
    return steps;
}

/* Makes the changes up to the first instant with a report or to limit_ns, or n_steps of them.
 * Returns false if neither has been reached yet. */
static bool walk(struct gsim_arbiter *arbiter, const struct gsim_lane_gpu *gpu,
                 struct gsim_lanes *lanes, int64_t limit_ns, int64_t n_steps) {
    for (int64_t n = 0; lanes->n_lanes > 0; n++) {
        if (n == n_steps)
            return false;
        arbiter->n_steps++;
        uint16_t number = next_lane(arbiter, gpu, lanes);
        struct gsim_gpu_lane *lane = &lanes->lane[number];
        if (lane->marks.next_ns == GSIM_NEVER || lane->marks.next_ns > limit_ns ||
            (lanes->has_reports && lane->marks.next_ns > lanes->now_ns))
            break;
        lanes->now_ns = lane->marks.next_ns;
        gsim_side_by_side_unsolve(lanes, arbiter->n_spaces, lane);
        uint16_t stopped = gsim_gpu_lane_step(gpu, lane);
        if (stopped != GSIM_NO_MEMBER)
            inspect(lanes, stopped);
        gsim_gate_follow(lanes, number);
        if (number == lanes->anchor && !lanes->has_reports && has_begun(lanes, lane, stopped))
            n += begin_turn(arbiter, gpu, lanes, limit_ns, n_steps - n - 1);
    }
    if (!lanes->has_reports && limit_ns > lanes->now_ns && limit_ns != GSIM_NEVER)
        lanes->now_ns = limit_ns;
    return true;
}

bool gsim_arbiter_walk(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, int64_t limit_ns,
                       int64_t n_steps) {
    struct gsim_lane_gpu gpu = gsim_arbiter_lane_gpu(arbiter, lanes);
    if (!gsim_straight_lanes_hold(&arbiter->options, lanes))
        return walk(arbiter, &gpu, lanes, limit_ns, n_steps);
    gsim_straight_lanes_begin(&gpu, lanes);
    bool is_there = walk(arbiter, &gpu, lanes, limit_ns, n_steps);
    gsim_straight_lanes_end(&gpu, lanes);
    return is_there;
}
