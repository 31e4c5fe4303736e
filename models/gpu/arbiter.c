/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/arbiter.h"

#include <assert.h>
#include <string.h>

#include "models/gpu/alone.h"
#include "models/gpu/gate.h"
#include "models/gpu/rotation.h"
#include "models/gpu/straight_lanes.h"
#include "models/gpu/turn_memory.h"
#include "gsim/units.h"

enum {
    STEPS_AT_ONCE = 1 << 22,
    /* When the short loop is tried again changes no result. Turns left to the plain engine, so that
     * an attempt in vain costs little beside them, and places of a ring that take as long to look
     * at as a turn there: both are estimates. */
    LONGEST_REST = 1000,
    PLACES_A_TURN = 32,
};

/* --- opening ---------------------------------------------------------------------------------- */

struct gsim_arbiter *gsim_arbiter_new(const struct gsim_arbiter_options *options,
                                      struct gsim_arena *arena) {
    struct gsim_arbiter *arbiter = gsim_arena_alloc(arena, sizeof *arbiter);
    if (!arbiter)
        return NULL;
    arbiter->options = *options;
    arbiter->arena = arbiter->solved.arena = arena;
    arbiter->shares = gsim_pager_whole();
    for (int i = 0; i < 2; i++)
        arbiter->spans[i] = (struct gsim_slice_log){.arena = arena,
                                                    .from_ns = options->watch_from_ns,
                                                    .until_ns = options->watch_until_ns,
                                                    .has_kernels = options->watches_kernels};
    if (options->watch_until_ns > 0) {
        arbiter->committed.spans = &arbiter->spans[0];
        arbiter->ahead.spans = &arbiter->spans[1];
    }
    return arbiter;
}

static bool grow_members(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes,
                         uint16_t capacity) {
    struct gsim_member *members =
        gsim_arena_grow(arbiter->arena, lanes->members, lanes->capacity * sizeof *members,
                        capacity * sizeof *members);
    if (!members)
        return false;
    lanes->members = members;
    lanes->capacity = capacity;
    return true;
}

static bool grow_lanes(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, uint16_t n) {
    struct gsim_gpu_lane *lane = gsim_arena_grow(arbiter->arena, lanes->lane,
                                                 lanes->n_lanes * sizeof *lane, n * sizeof *lane);
    if (!lane)
        return false;
    lanes->lane = lane;
    for (uint16_t i = lanes->n_lanes; i < n; i++)
        gsim_gpu_lane_init(&lane[i], arbiter->options.quantum_ns);
    lanes->n_lanes = n;
    return true;
}

/* The copies that look ahead and that remember a cycle are as large as the committed state, which
 * grows last, so that a copy is never the smaller one, also where memory ends. */
static bool reserve(struct gsim_arbiter *arbiter, uint16_t members, uint16_t lane) {
    struct gsim_lanes *all[] = {&arbiter->cycle.per_period, &arbiter->cycle.seen, &arbiter->ahead,
                                &arbiter->committed};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (members > all[i]->capacity && !grow_members(arbiter, all[i], members))
            return false;
        if (lane > all[i]->n_lanes && !grow_lanes(arbiter, all[i], lane))
            return false;
    }
    return true;
}

/* --- the plain engine ------------------------------------------------------------------------- */

static struct gsim_lane_gpu lane_gpu_of(const struct gsim_arbiter *arbiter,
                                        struct gsim_lanes *lanes) {
    return (struct gsim_lane_gpu){lanes->members,
                                  arbiter->options.costs,
                                  &lanes->store,
                                  &lanes->gang,
                                  lanes->spans,
                                  lanes->n_lanes,
                                  lanes->capacity,
                                  arbiter->n_spaces > 0 ? arbiter->spaces : NULL,
                                  arbiter->options.profile,
                                  false};
}

static uint16_t earliest(const struct gsim_lanes *lanes) {
    uint16_t first = 0;
    for (uint16_t i = 1; i < lanes->n_lanes; i++)
        if (lanes->lane[i].marks.next_ns < lanes->lane[first].marks.next_ns)
            first = i;
    return first;
}

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
        uint16_t number = earliest(lanes);
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

/* Brings the lanes to the first instant with a report or to limit_ns, or as far as n_steps steps
 * go. Returns false if neither has been reached yet. */
static bool run_steps(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, int64_t limit_ns,
                      int64_t n_steps) {
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    if (!gsim_straight_lanes_hold(&arbiter->options, lanes))
        return walk(arbiter, &gpu, lanes, limit_ns, n_steps);
    gsim_straight_lanes_begin(&gpu, lanes);
    bool is_there = walk(arbiter, &gpu, lanes, limit_ns, n_steps);
    gsim_straight_lanes_end(&gpu, lanes);
    return is_there;
}

/* The steps of one call are limited so that the caller can interrupt the simulation. */
static bool run_some(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes, int64_t limit_ns) {
    return run_steps(arbiter, lanes, limit_ns, STEPS_AT_ONCE);
}

static void settle_lanes(struct gsim_arbiter *arbiter, struct gsim_lanes *lanes) {
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        gsim_gpu_lane_settle(&gpu, &lanes->lane[i], lanes->now_ns);
}

/* --- the two states --------------------------------------------------------------------------- */

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
    int64_t next_ns = lanes->n_lanes > 0 ? lanes->lane[earliest(lanes)].marks.next_ns : GSIM_NEVER;
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
    const struct gsim_gpu_lane *lane = &lanes->lane[earliest(lanes)];
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
        (void)run_steps(arbiter, ahead, GSIM_NEVER, GSIM_STEPS_PAST_HORIZON);
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
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, committed);
    if (!takes_ahead(arbiter, now_ns) && !lacks_memory(arbiter) &&
        gsim_alone_holds(&arbiter->options, &gpu, committed, now_ns))
        arbiter->n_steps += gsim_alone_run(&gpu, committed, now_ns);
}

static void disturb(struct gsim_arbiter *arbiter, int64_t now_ns) {
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

/* --- changes by the owner --------------------------------------------------------------------- */

bool gsim_arbiter_set_lane(struct gsim_arbiter *arbiter, uint16_t number,
                           const struct gsim_lane *how, uint16_t space, int64_t now_ns) {
    assert(how->discipline != GSIM_DISCIPLINE_PADDING || arbiter->n_spaces > 0);
    disturb(arbiter, now_ns);
    if (number >= arbiter->committed.n_lanes && !reserve(arbiter, 0, (uint16_t)(number + 1)))
        return false;
    struct gsim_gpu_lane *lane = &arbiter->committed.lane[number];
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, &arbiter->committed);
    int64_t was_ns = lane->how.quantum_ns;
    lane->how = *how;
    if (how->quantum_ns == 0)
        lane->how.quantum_ns = arbiter->options.quantum_ns;
    lane->spec.space = space;
    if (lane->how.quantum_ns > was_ns)
        gsim_turn_lengthen(&gpu, lane, now_ns);
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_side_by_side_unsolve(&arbiter->committed, arbiter->n_spaces, lane);
    return true;
}

void gsim_arbiter_set_spaces(struct gsim_arbiter *arbiter, const struct gsim_space *spaces,
                             uint16_t n, int64_t now_ns) {
    assert(n <= GSIM_SPACES_MAX);
    disturb(arbiter, now_ns);
    for (uint16_t i = 0; i < n; i++)
        arbiter->spaces[i] = spaces[i];
    arbiter->n_spaces = n;
    gsim_side_by_side_forget(&arbiter->solved);
    arbiter->committed.unsolved = 0;
    for (uint16_t i = 0; i < arbiter->committed.n_lanes; i++) {
        assert(arbiter->committed.lane[i].spec.n == 0);
        arbiter->committed.lane[i].state.rate_q32 = GSIM_RATE_ONE;
        arbiter->committed.lane[i].state.is_used = false;
        arbiter->committed.lane[i].is_by_blocks = false;
    }
}

void gsim_arbiter_set_memory(struct gsim_arbiter *arbiter, const struct gsim_pager *pager) {
    struct gsim_store *store = &arbiter->committed.store;
    enum gsim_memory before = store->pager ? store->pager->manager : GSIM_MEMORY_RESIDENT;
    struct gsim_uvm uvm = arbiter->pager.uvm;
    uint64_t stamp = arbiter->pager.stamp;
    if (pager)
        arbiter->pager = *pager;
    arbiter->pager.stamp = stamp;
    if (pager && before == pager->manager)
        arbiter->pager.uvm = uvm; /* the pager has its scratch space already */
    if (pager)
        gsim_pager_share(&arbiter->pager, &arbiter->shares);
    if (before != (pager ? pager->manager : GSIM_MEMORY_RESIDENT))
        gsim_pager_store_init(store, pager ? &arbiter->pager : NULL, arbiter->arena);
}

void gsim_arbiter_set_shares(struct gsim_arbiter *arbiter, struct gsim_arbiter *keeper,
                             const struct gsim_pager_shares *shares, int64_t now_ns) {
    struct gsim_lanes *lanes = &keeper->committed;
    int64_t was_bytes_per_s = arbiter->pager.uvm.copy_bytes_per_s;
    disturb(keeper, now_ns);
    arbiter->shares = *shares;
    gsim_pager_share(&arbiter->pager, shares);
    /* a gang waits for the pages of another of its GPUs, or hardly for these */
    if (keeper != arbiter)
        return;
    for (uint16_t place = 0; place < lanes->capacity; place++) {
        struct gsim_member *member = &lanes->members[place];
        if (member->is_present)
            member->state.stall_ns =
                gsim_tenant_repace(&member->tenant, member->state.stall_ns, was_bytes_per_s,
                                   arbiter->pager.uvm.copy_bytes_per_s);
    }
    struct gsim_lane_gpu gpu = lane_gpu_of(keeper, lanes);
    gsim_gpu_lanes_plan(&gpu, lanes->lane, lanes->n_lanes, now_ns);
}

uint16_t gsim_arbiter_free_lane(const struct gsim_arbiter *arbiter) {
    uint16_t lane = 0;
    while (lane < arbiter->committed.n_lanes && arbiter->committed.lane[lane].spec.n > 0)
        lane++;
    return lane;
}

static uint16_t free_place(struct gsim_arbiter *arbiter) {
    struct gsim_lanes *lanes = &arbiter->committed;
    for (uint16_t place = 0; place < lanes->capacity; place++)
        if (!lanes->members[place].is_present)
            return place;
    uint16_t old = lanes->capacity, capacity = (uint16_t)(old ? old * 2 : 1);
    bool is_free = capacity <= GSIM_CONTEXTS_MAX && reserve(arbiter, capacity, 0);
    return is_free ? old : GSIM_NO_MEMBER;
}

/* Opens the memory of a newcomer on this GPU and on those of its gang. */
static bool open_memory(struct gsim_lanes *lanes, struct gsim_member *newcomer, bool is_carried) {
    struct gsim_tenant_spec spec = newcomer->tenant.spec;
    return gsim_pager_open(&lanes->store, &newcomer->tenant, &spec, is_carried) &&
           gsim_gang_memory_open(&lanes->gang, &spec, is_carried);
}

uint16_t gsim_arbiter_join(struct gsim_arbiter *arbiter, const struct gsim_member *newcomer,
                           enum gsim_arrival arrival, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_member member = *newcomer;
    assert(member.how.lane < lanes->n_lanes && !member.is_present);
    disturb(arbiter, now_ns);
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    gsim_turn_cut(&gpu, lanes->lane, now_ns);
    if (arrival != GSIM_ARRIVAL_PARKED &&
        !open_memory(lanes, &member, arrival == GSIM_ARRIVAL_CARRIED))
        return GSIM_NO_MEMBER;
    uint16_t place = free_place(arbiter);
    if (place == GSIM_NO_MEMBER) {
        gsim_pager_close(&lanes->store, &member.tenant);
        return GSIM_NO_MEMBER;
    }
    member.is_present = true;
    member.finish_ns = GSIM_NEVER;
    lanes->members[place] = member;
    gpu = lane_gpu_of(arbiter, lanes); /* of more members */
    gsim_gpu_lane_join(&gpu, &lanes->lane[member.how.lane], place, now_ns);
    if (lanes->store.pager && lanes->n_lanes > 1) /* sweeps of all lanes were cut */
        gsim_gpu_lanes_plan(&gpu, lanes->lane, lanes->n_lanes, now_ns);
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_gate_look_at_newcomer(lanes, member.how.lane);
    gsim_lanes_choose_anchor(lanes);
    arbiter->n_present++;
    return place;
}

static void leave_lane(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    struct gsim_gpu_lane *lane = &lanes->lane[lanes->members[member].how.lane];
    gsim_gpu_lane_leave(&gpu, lane, member, now_ns);
    if (arbiter->n_spaces > 0 && lane->spec.n == 0)
        lane->state.is_used = false; /* contexts side by side: no context is left to switch from */
    gsim_side_by_side_forget(&arbiter->solved);
    gsim_side_by_side_unsolve(lanes, arbiter->n_spaces, lane);
}

static void step_out(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(member < lanes->capacity && lanes->members[member].is_present);
    disturb(arbiter, now_ns);
    leave_lane(arbiter, member, now_ns);
    lanes->members[member].is_present = false;
    if (lanes->store.pager)
        gsim_slice_log_tell(lanes->spans, GSIM_SPAN_RESIDENT, lanes->members[member].how.job,
                            now_ns, now_ns, 0);
    gsim_memory_use_add(&arbiter->gone, &lanes->members[member].tenant.sum, 1);
    arbiter->n_present--;
    lanes->members[member].reports = 0;
    gsim_lanes_choose_anchor(lanes);
}

void gsim_arbiter_leave(struct gsim_arbiter *arbiter, uint16_t member, int64_t now_ns) {
    step_out(arbiter, member, now_ns);
    gsim_pager_close(&arbiter->committed.store, &arbiter->committed.members[member].tenant);
    gsim_gang_memory_close(&arbiter->committed.gang);
}

struct gsim_parked gsim_arbiter_park(struct gsim_arbiter *arbiter, uint16_t member,
                                     int64_t now_ns) {
    step_out(arbiter, member, now_ns);
    const struct gsim_member *left = &arbiter->committed.members[member];
    return (struct gsim_parked){left->tenant, left->state.stall_ns};
}

void gsim_arbiter_drop(struct gsim_arbiter *arbiter, struct gsim_tenant *parked, uint32_t gpu,
                       int64_t now_ns) {
    struct gsim_store *store = &arbiter->committed.store;
    disturb(arbiter, now_ns);
    for (uint32_t i = 0; i < arbiter->committed.gang.n; i++)
        if (arbiter->committed.gang.part[i].gpu == gpu)
            store = &arbiter->committed.gang.part[i].store;
    gsim_pager_close(store, parked);
}

bool gsim_arbiter_take_in(struct gsim_arbiter *arbiter, struct gsim_arbiter *other, uint32_t gpu,
                          const struct gsim_tenant *parked, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    uint32_t n = lanes->gang.n;
    assert(arbiter->n_present == 0 && other->n_present == 0);
    disturb(arbiter, now_ns);
    disturb(other, now_ns);
    if (!gsim_gang_memory_reserve(&lanes->gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->ahead.gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->cycle.seen.gang, n + 1, arbiter->arena) ||
        !gsim_gang_memory_reserve(&arbiter->cycle.per_period.gang, n + 1, arbiter->arena))
        return false;
    struct gsim_gang_part *part = &lanes->gang.part[lanes->gang.n++];
    struct gsim_store unused = part->store;
    *part = (struct gsim_gang_part){.gpu = gpu, .is_open = parked, .store = other->committed.store};
    if (parked) /* the bytes that it moves are counted from zero */
        part->tenant = (struct gsim_tenant){
            .spec = parked->spec, .used = parked->used, .unused = parked->unused};
    other->committed.store = unused;
    return true;
}

struct gsim_tenant gsim_arbiter_give_back(struct gsim_arbiter *arbiter, struct gsim_arbiter *other,
                                          int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(arbiter->n_present == 0 && lanes->gang.n > 0);
    disturb(arbiter, now_ns);
    disturb(other, now_ns);
    struct gsim_gang_part *part = &lanes->gang.part[--lanes->gang.n];
    gsim_memory_use_add(&other->gone, &part->tenant.sum, 1);
    struct gsim_store unused = other->committed.store;
    other->committed.store = part->store;
    part->store = unused;
    return part->tenant;
}

bool gsim_arbiter_exit(struct gsim_arbiter *arbiter, uint16_t place, enum gsim_exit exit_at,
                       int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    const struct gsim_context *context = &member->context;
    if (context->done == 0 ||
        (exit_at == GSIM_EXIT_KERNEL && gsim_context_is_between_kernels(context)))
        return true;
    member->stop_at = (uint8_t)exit_at;
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
    return false;
}

void gsim_arbiter_rank(struct gsim_arbiter *arbiter, uint16_t place, const struct gsim_entry *how,
                       int64_t now_ns) {
    disturb(arbiter, now_ns);
    struct gsim_member *member = &arbiter->committed.members[place];
    member->how.priority = how->priority;
    member->how.weight = how->weight;
    member->spec.counted_ns = member->sums.busy_ns;
}

void gsim_arbiter_move(struct gsim_arbiter *arbiter, uint16_t place, uint16_t lane, int64_t gpu_ns,
                       int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    assert(lane < lanes->n_lanes);
    disturb(arbiter, now_ns);
    leave_lane(arbiter, place, now_ns);
    struct gsim_member *member = &lanes->members[place];
    member->how.lane = lane;
    gsim_context_stretch(&member->context, gpu_ns);
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    gsim_gpu_lane_join(&gpu, &lanes->lane[lane], place, now_ns);
    gsim_lanes_choose_anchor(lanes);
}

void gsim_arbiter_cap(struct gsim_arbiter *arbiter, uint16_t place, int64_t cap, int64_t refill_ns,
                      int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    gsim_context_cap(&member->context, cap, refill_ns, now_ns);
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
}

void gsim_arbiter_overflow(struct gsim_arbiter *arbiter, uint16_t place,
                           struct gsim_overflow overflow, int64_t now_ns) {
    struct gsim_lanes *lanes = &arbiter->committed;
    disturb(arbiter, now_ns);
    struct gsim_member *member = &lanes->members[place];
    gsim_context_stretch(&member->context, member->context.spec.gpu_ns + overflow.ns -
                                               member->tenant.spec.overflow.ns);
    member->tenant.spec.overflow = overflow;
    struct gsim_lane_gpu gpu = lane_gpu_of(arbiter, lanes);
    gsim_gpu_lane_plan(&gpu, &lanes->lane[member->how.lane], now_ns);
}

void gsim_arbiter_watch(struct gsim_arbiter *arbiter, uint16_t member, int64_t iterations,
                        gsim_work done, int64_t now_ns) {
    disturb(arbiter, now_ns);
    arbiter->committed.members[member].watch_iterations = iterations;
    arbiter->committed.members[member].watch_done = done;
}

/* --- questions -------------------------------------------------------------------------------- */

const struct gsim_slice_log *gsim_arbiter_take_spans(struct gsim_arbiter *arbiter) {
    struct gsim_slice_log *spans = arbiter->committed.spans;
    if (!spans)
        return NULL;
    arbiter->taken = *spans;
    gsim_slice_log_clear(spans);
    return &arbiter->taken;
}

bool gsim_arbiter_has_failed(const struct gsim_arbiter *arbiter) {
    return gsim_pager_has_failed(&arbiter->committed.store) ||
           gsim_gang_memory_have_failed(&arbiter->committed.gang) ||
           (arbiter->is_ahead_valid && (gsim_pager_has_failed(&arbiter->ahead.store) ||
                                        gsim_gang_memory_have_failed(&arbiter->ahead.gang)));
}

struct gsim_memory_use gsim_arbiter_use(const struct gsim_arbiter *arbiter, uint16_t place,
                                        uint32_t n_gpus) {
    const struct gsim_memory_use *one = &arbiter->committed.members[place].tenant.sum;
    struct gsim_memory_use use = {0};
    gsim_memory_use_add(&use, one, n_gpus - arbiter->committed.gang.n);
    gsim_gang_memory_add_use(&arbiter->committed.gang, &use);
    use.stall_ns = one->stall_ns;
    return use;
}

struct gsim_arbiter_stats gsim_arbiter_stats(const struct gsim_arbiter *arbiter) {
    const struct gsim_lanes *lanes = &arbiter->committed;
    struct gsim_arbiter_stats stats = {.skipped_ns = lanes->skipped_ns,
                                       .steps = arbiter->n_steps,
                                       .rounded = arbiter->n_rounded,
                                       .is_approximate = lanes->is_approximate,
                                       .has_shared_blocks = lanes->has_shared_blocks,
                                       .has_unknown_traffic = lanes->has_unknown_traffic,
                                       .has_first_loads = lanes->has_first_loads,
                                       .has_crowded_unequals = lanes->has_crowded_unequals,
                                       .bytes_in = arbiter->gone.bytes_in};
    for (uint16_t i = 0; i < lanes->capacity; i++)
        stats.bytes_in += lanes->members[i].is_present ? lanes->members[i].tenant.sum.bytes_in : 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        stats.slices += lanes->lane[i].sums.n_slices;
        stats.switch_ns += lanes->lane[i].sums.switch_ns;
        stats.vain_slices += lanes->lane[i].sums.n_vain;
    }
    return stats;
}
