/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/rotation.h"

#include <assert.h>

#include "gsim/units.h"
#include "sim/base/hints.h"
#include "models/gpu/turn_memory.h"

GSIM_ROLE_ASSERT(struct gsim_ring_times);
GSIM_ROLE_ASSERT(struct gsim_ring_marks);
GSIM_ROLE_ASSERT(struct gsim_ring_sums);
GSIM_ROLE_ASSERT(struct gsim_member_sums);

static void stop_padding(struct gsim_ring *ring) {
    ring->state.padding = GSIM_NO_MEMBER;
    ring->state.padding_rate_q32 = 0;
    ring->times.padding_since_ns = ring->times.padding_until_ns = GSIM_NEVER;
}

static void leave_sms(struct gsim_ring *ring) {
    gsim_sm_held_clear(&ring->state.held);
    ring->state.look_done = 0;
    ring->state.held_kernel = 0;
    ring->times.arrived_ns = GSIM_NEVER;
}

static void stop_halting(struct gsim_ring *ring) {
    ring->state.is_halting = false;
    ring->state.halted_done = 0;
    ring->state.halted_restore_ns = 0;
    ring->times.halted_ns = GSIM_NEVER;
}

/* Times that do not apply any more are reset: they would make equal states look different. */
static void enter(struct gsim_ring *ring, enum gsim_lane_phase phase) {
    ring->state.phase = (uint8_t)phase;
    ring->times.switched_ns = ring->times.release_ns = GSIM_NEVER;
    if (phase == GSIM_LANE_IDLE || phase == GSIM_LANE_SWITCHING)
        ring->times.since_ns = GSIM_NEVER;
    if (phase != GSIM_LANE_RUNNING)
        leave_sms(ring);
}

void gsim_ring_init(struct gsim_ring *ring, int64_t quantum_ns) {
    *ring = (struct gsim_ring){.how = {.discipline = GSIM_DISCIPLINE_RR, .quantum_ns = quantum_ns},
                               .state = {.last = GSIM_NO_MEMBER, .rate_q32 = GSIM_RATE_ONE},
                               .marks = {.next_ns = GSIM_NEVER}};
    enter(ring, GSIM_LANE_IDLE);
    stop_padding(ring);
    stop_halting(ring);
}

static struct gsim_member *member_at(const struct gsim_rotation *rotation,
                                     const struct gsim_ring *ring, uint16_t place) {
    return &rotation->members[ring->member[place]];
}

static uint16_t after(const struct gsim_ring *ring, uint16_t place) {
    return (uint16_t)(place + 1 == ring->n ? 0 : place + 1);
}

/* --- the next event of the lane --------------------------------------------------------------- */

/* The earliest instant at which a member other than that at place `but` is ready. */
static int64_t ready_but_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                            uint16_t but) {
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < ring->n; place++) {
        int64_t one_ns = member_at(rotation, ring, place)->context.times.ready_ns;
        if (place != but && one_ns < ready_ns)
            ready_ns = one_ns;
    }
    return ready_ns;
}

/* As ready_but_ns, among the members that are more urgent than this priority (above), or equally
 * urgent. */
static int64_t ready_rivals_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                               int32_t priority, bool above) {
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < ring->n; place++) {
        const struct gsim_member *one = member_at(rotation, ring, place);
        bool is_rival = above ? one->how.priority > priority : one->how.priority == priority;
        if (is_rival && place != ring->state.at && one->context.times.ready_ns < ready_ns)
            ready_ns = one->context.times.ready_ns;
    }
    return ready_ns;
}

/* The least turns of a round: turns without an owner pass unused. */
static uint16_t least_turns(const struct gsim_ring *ring) {
    return gsim_lane_turns(&ring->how) == GSIM_TURNS_FIXED ? gsim_lane_most_vgpus(&ring->how) : 0;
}

struct gsim_grid gsim_ring_grid(const struct gsim_ring *ring) {
    uint16_t n_turns = least_turns(ring);
    return (struct gsim_grid){ring->marks.grid_ns, ring->how.quantum_ns,
                              n_turns > ring->n ? n_turns : ring->n};
}

/* In a strict lane: the first instant in the member's own turns at which it is ready and there is
 * time to switch to it. */
static int64_t turn_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                       uint16_t place, int64_t now_ns) {
    int64_t ready_ns = member_at(rotation, ring, place)->context.times.ready_ns;
    bool is_there = !ring->state.is_used || ring->state.last == ring->member[place];
    struct gsim_grid grid = gsim_ring_grid(ring);
    if (ready_ns == GSIM_NEVER)
        return GSIM_NEVER;
    return gsim_grid_turn_ns(&grid, place, ready_ns > now_ns ? ready_ns : now_ns,
                             is_there ? 0 : gsim_switch_most_ns(&rotation->costs));
}

static int64_t first_turn_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                             int64_t now_ns) {
    int64_t first_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < ring->n; place++) {
        int64_t one_ns = turn_ns(rotation, ring, place, now_ns);
        first_ns = one_ns < first_ns ? one_ns : first_ns;
    }
    return first_ns;
}

/* In a strict lane, the turn of this place begins now. */
static void begin_round(struct gsim_ring *ring, int64_t place, int64_t now_ns) {
    ring->marks.grid_ns = now_ns - place * ring->how.quantum_ns;
}

/* The first end of a quantum at which another member is ready. */
static int64_t preemption_ns(const struct gsim_ring *ring, const struct gsim_member *member,
                             int64_t ready_ns) {
    int64_t quantum_ns = gsim_ring_quantum_ns(ring, member);
    int64_t first_ns = ring->marks.quantum_start_ns + quantum_ns;
    if (ready_ns <= first_ns || ready_ns == GSIM_NEVER)
        return ready_ns == GSIM_NEVER ? GSIM_NEVER : first_ns;
    int64_t n = (ready_ns - ring->marks.quantum_start_ns + quantum_ns - 1) / quantum_ns;
    return ring->marks.quantum_start_ns + n * quantum_ns;
}

/* When the running member gives up the lane by itself; a time past limit_ns does not matter. */
static int64_t yields_ns(const struct gsim_ring *ring, const struct gsim_member *member,
                         int64_t limit_ns) {
    const struct gsim_context *context = &member->context;
    int64_t from_ns = ring->times.since_ns + member->state.stall_ns;
    if (ring->state.rate_q32 == 0)
        return GSIM_NEVER;
    if (member->stop_at != GSIM_EXIT_NEVER)
        return gsim_context_boundary_ns(context, from_ns, ring->state.rate_q32,
                                        member->stop_at == GSIM_EXIT_ITERATION);
    return gsim_context_idle_ns(context, from_ns, ring->state.rate_q32, limit_ns);
}

static int64_t watched_ns(const struct gsim_member *member, int64_t since_ns, uint64_t rate_q32) {
    if (member->watch_iterations != member->context.sums.done_iterations)
        return GSIM_NEVER;
    gsim_work left = member->watch_done - member->context.done;
    if (left <= 0)
        return since_ns;
    if (rate_q32 == 0)
        return GSIM_NEVER;
    return since_ns + member->state.stall_ns + gsim_work_time(left, rate_q32);
}

static void consider(struct gsim_ring *ring, enum gsim_lane_change change, int64_t time_ns) {
    if (time_ns >= ring->marks.next_ns)
        return; /* of changes at one time the first considered stands */
    ring->marks.next_ns = time_ns > ring->times.since_ns ? time_ns : ring->times.since_ns;
    ring->change = (uint8_t)change;
}

/* --- padding ---------------------------------------------------------------------------------- */

static bool could_pad(const struct gsim_member *running, const struct gsim_member *other) {
    return other->how.priority < running->how.priority && !gsim_context_is_done(&other->context);
}

static bool is_worth_padding(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                             const struct gsim_member *running) {
    bool is_worth = false;
    for (uint16_t place = 0; gsim_ring_is_padded(ring) && place < ring->n && !is_worth; place++)
        is_worth = could_pad(running, member_at(rotation, ring, place));
    return is_worth && gsim_padding_left_ppm(&ring->how, &running->spec.demand) > 0;
}

/* Changes of the padding member are considered before those of the running one, which they do not
 * touch. */
static void plan_padding(const struct gsim_rotation *rotation, struct gsim_ring *ring) {
    if (ring->state.padding == GSIM_NO_MEMBER)
        return;
    const struct gsim_member *member = &rotation->members[ring->state.padding];
    int64_t since_ns = ring->times.padding_since_ns, until_ns = ring->times.padding_until_ns;
    uint64_t rate_q32 = ring->state.padding_rate_q32;
    int64_t kernel_ns = gsim_context_boundary_ns(&member->context, since_ns, rate_q32, false);
    ring->marks.padding_ends_ns = kernel_ns < until_ns ? kernel_ns : until_ns;
    consider(ring, GSIM_CHANGE_PADDED, ring->marks.padding_ends_ns);
    if (member->watch_iterations >= 0)
        consider(ring, GSIM_CHANGE_PADDED, watched_ns(member, since_ns, rate_q32));
    consider(ring, GSIM_CHANGE_PADDED, gsim_context_refill_ns(&member->context, since_ns));
}

/* Where a kernel of the running member begins, the first less urgent member that fits joins it. */
static void pad(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    const struct gsim_member *running = member_at(rotation, ring, ring->state.at);
    if (ring->state.padding != GSIM_NO_MEMBER || !is_worth_padding(rotation, ring, running) ||
        !gsim_context_is_between_kernels(&running->context))
        return;
    for (uint16_t place = 0; place < ring->n; place++) {
        struct gsim_member *member = member_at(rotation, ring, place);
        if (!could_pad(running, member) || member->context.times.ready_ns > now_ns)
            continue;
        int64_t time_ns =
            gsim_padding_time_ns(&running->context, &member->context, member->spec.block_ns);
        if (time_ns == 0)
            continue;
        gsim_context_resume(&member->context, now_ns);
        ring->state.padding = ring->member[place];
        ring->state.padding_rate_q32 = GSIM_RATE_ONE;
        ring->times.padding_since_ns = now_ns;
        ring->times.padding_until_ns = now_ns + time_ns;
        return;
    }
}

/* --- the next change -------------------------------------------------------------------------- */

/* How far a program is worth looking at: where turns end with quanta, to the end of this one. */
GSIM_APART static int64_t look_until_ns(const struct gsim_rotation *rotation,
                                        const struct gsim_ring *ring,
                                        const struct gsim_member *member) {
    if (gsim_ring_is_strict(ring) || gsim_ring_is_by_priority(ring) || ring->how.ends_at_boundary)
        return GSIM_NEVER;
    return preemption_ns(ring, member, ready_but_ns(rotation, ring, ring->state.at));
}

/* When the kernel is to be looked at again, where kernels share SMs. */
static int64_t looked_at_ns(const struct gsim_ring *ring, const struct gsim_member *member) {
    gsim_work left = ring->state.look_done - member->context.done;
    if (left <= 0 || ring->state.rate_q32 == 0)
        return GSIM_NEVER;
    return ring->times.since_ns + member->state.stall_ns +
           gsim_work_time(left, ring->state.rate_q32);
}

static int64_t sooner_ns(int64_t a_ns, int64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

/* How far changes of a program matter. Where kernels share SMs and the look at this one is due, or
 * there was none, the plan holds for this instant only. */
GSIM_APART static int64_t limit_of_program_ns(const struct gsim_rotation *rotation,
                                              const struct gsim_ring *ring,
                                              const struct gsim_member *member, int64_t look_ns) {
    if (ring->is_by_blocks && look_ns == GSIM_NEVER)
        return ring->times.since_ns;
    return sooner_ns(look_ns, look_until_ns(rotation, ring, member));
}

/* Whether a quantum or a more urgent member can end the present turn. */
static bool ends_in_time(const struct gsim_ring *ring) {
    if (gsim_ring_is_strict(ring))
        return gsim_ring_grid(ring).n > 1;
    return !gsim_ring_is_whole(ring) &&
           (gsim_ring_is_by_priority(ring) || !ring->how.ends_at_boundary);
}

static int64_t strict_end_ns(const struct gsim_ring *ring) {
    struct gsim_grid grid = gsim_ring_grid(ring);
    return gsim_grid_end_ns(&grid, ring->state.at, ring->times.since_ns);
}

static void plan_turn_end(const struct gsim_rotation *rotation, struct gsim_ring *ring) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    if (!ends_in_time(ring))
        return;
    if (gsim_ring_is_strict(ring)) {
        consider(ring, GSIM_CHANGE_QUANTUM, strict_end_ns(ring));
        return;
    }
    if (!gsim_ring_is_by_priority(ring)) {
        int64_t ready_ns = ready_but_ns(rotation, ring, ring->state.at);
        consider(ring, GSIM_CHANGE_QUANTUM, preemption_ns(ring, member, ready_ns));
        return;
    }
    consider(ring, GSIM_CHANGE_URGENT, ready_rivals_ns(rotation, ring, member->how.priority, true));
    consider(
        ring, GSIM_CHANGE_QUANTUM,
        preemption_ns(ring, member, ready_rivals_ns(rotation, ring, member->how.priority, false)));
    if (is_worth_padding(rotation, ring, member))
        consider(ring, GSIM_CHANGE_KERNEL,
                 gsim_context_boundary_ns(&member->context,
                                          ring->times.since_ns + member->state.stall_ns,
                                          ring->state.rate_q32, false));
}

static void plan_running(const struct gsim_rotation *rotation, struct gsim_ring *ring) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    ring->marks.next_ns = GSIM_NEVER;
    if (ring->state.is_halting) {
        consider(ring, GSIM_CHANGE_HALTED, ring->times.halted_ns);
        return;
    }
    plan_padding(rotation, ring);
    int64_t look_ns = looked_at_ns(ring, member), limit_ns = look_ns;
    if (gsim_rarely(member->context.program != NULL))
        limit_ns = limit_of_program_ns(rotation, ring, member, look_ns);
    consider(ring, GSIM_CHANGE_YIELD, yields_ns(ring, member, limit_ns));
    consider(ring, GSIM_CHANGE_KERNEL, look_ns);
    if (member->watch_iterations >= 0)
        consider(ring, GSIM_CHANGE_WATCHED,
                 watched_ns(member, ring->times.since_ns, ring->state.rate_q32));
    consider(ring, GSIM_CHANGE_REFILLED,
             gsim_context_refill_ns(&member->context, ring->times.since_ns));
    plan_turn_end(rotation, ring);
    consider(ring, GSIM_CHANGE_REACHED, gsim_turn_reached_ns(rotation, ring));
}

static gsim_i128 weighted_ns(const struct gsim_member *member) {
    return (gsim_i128)(member->sums.busy_ns - member->spec.counted_ns) * member->how.weight;
}

static bool goes_before(const struct gsim_ring *ring, const struct gsim_member *one,
                        const struct gsim_member *other) {
    if (gsim_lane_is_fair(&ring->how) && weighted_ns(one) != weighted_ns(other))
        return weighted_ns(one) < weighted_ns(other);
    return one->how.priority > other->how.priority;
}

/* Between its iterations the member that has a whole lane keeps it until a member is ready that
 * ranks at least as high; within an iteration it keeps the lane in any case. */
static int64_t challenged_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    const struct gsim_member *first = member_at(rotation, ring, ring->state.at);
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; first->context.done == 0 && place < ring->n; place++) {
        const struct gsim_member *one = member_at(rotation, ring, place);
        if (place != ring->state.at && one->context.times.ready_ns < ready_ns &&
            !goes_before(ring, first, one))
            ready_ns = one->context.times.ready_ns;
    }
    return ready_ns;
}

/* The end of the present quantum while a rival is ready, or the instant at which a more urgent
 * member is ready. */
static int64_t turn_ends_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    if (!gsim_ring_is_by_priority(ring))
        return preemption_ns(ring, member, ready_but_ns(rotation, ring, ring->state.at));
    int64_t urgent_ns = ready_rivals_ns(rotation, ring, member->how.priority, true);
    int64_t quantum_ns =
        preemption_ns(ring, member, ready_rivals_ns(rotation, ring, member->how.priority, false));
    return urgent_ns < quantum_ns ? urgent_ns : quantum_ns;
}

/* The end of the turn, or of the time for which a context that has nothing to run may keep the lane
 * from ready members. */
static int64_t released_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    int64_t ready_ns = ready_but_ns(rotation, ring, ring->state.at);
    int64_t released = ready_ns > ring->times.release_ns ? ready_ns : ring->times.release_ns;
    int64_t turn_ns = turn_ends_ns(rotation, ring);
    return turn_ns < released ? turn_ns : released;
}

static void plan_kept(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                      int64_t now_ns) {
    ring->times.since_ns = now_ns;
    ring->marks.next_ns = GSIM_NEVER;
    consider(ring, GSIM_CHANGE_RELEASED,
             gsim_ring_is_whole(ring) ? challenged_ns(rotation, ring)
                                      : released_ns(rotation, ring));
    consider(ring, GSIM_CHANGE_YIELD,
             member_at(rotation, ring, ring->state.at)->context.times.ready_ns);
}

void gsim_ring_plan(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    if (ring->state.phase == GSIM_LANE_SWITCHING)
        return; /* a switch goes on until next_ns in any case */
    if (ring->state.phase == GSIM_LANE_RUNNING) {
        plan_running(rotation, ring);
        return;
    }
    if (ring->state.phase == GSIM_LANE_KEPT) {
        plan_kept(rotation, ring, now_ns);
        return;
    }
    ring->marks.next_ns = gsim_ring_is_strict(ring) ? first_turn_ns(rotation, ring, now_ns)
                                                    : ready_but_ns(rotation, ring, GSIM_NO_MEMBER);
    if (ring->marks.next_ns < now_ns)
        ring->marks.next_ns = now_ns;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* How long the present member may go on before other members of the lane run, or for a quantum
 * beside other lanes with memory of their own on this GPU. */
static int64_t left_of_turn_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                               int64_t now_ns) {
    int64_t end_ns = GSIM_NEVER;
    if (ends_in_time(ring))
        end_ns = gsim_ring_is_strict(ring) ? strict_end_ns(ring) : turn_ends_ns(rotation, ring);
    int64_t left_ns = end_ns == GSIM_NEVER ? GSIM_NEVER : end_ns - now_ns;
    int64_t quantum_ns = gsim_ring_quantum_ns(ring, member_at(rotation, ring, ring->state.at));
    bool is_beside = rotation->n_lanes > 1 && quantum_ns > 0;
    return is_beside && quantum_ns < left_ns ? quantum_ns : left_ns;
}

/* An iteration begins, or goes on. */
static void go_on(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    enter(ring, GSIM_LANE_RUNNING);
    ring->times.since_ns = now_ns;
    gsim_turn_sweep(rotation, ring, left_of_turn_ns(rotation, ring, now_ns), now_ns);
    gsim_context_resume(&member_at(rotation, ring, ring->state.at)->context, now_ns);
    pad(rotation, ring, now_ns);
    gsim_ring_plan(rotation, ring, now_ns);
}

static void run(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    ring->state.last = ring->member[ring->state.at];
    ring->state.is_used = true;
    ring->marks.quantum_start_ns = now_ns;
    ring->sums.n_slices++;
    leave_sms(ring);
    go_on(rotation, ring, now_ns);
}

static void switch_to(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t place,
                      int64_t cost_ns, int64_t now_ns) {
    struct gsim_member *member = member_at(rotation, ring, place);
    ring->state.at = place;
    if (ring->state.is_halting)
        stop_halting(ring);
    if (cost_ns > 0 && member->spec.is_cold)
        cost_ns += rotation->costs.cold_ns;
    cost_ns += member->state.restore_ns;
    member->state.restore_ns = 0;
    ring->sums.switch_ns += cost_ns;
    ring->marks.next_ns = now_ns + cost_ns;
    if (gsim_store_is_proactive(rotation->store) && ring->member[place] != ring->state.last)
        ring->marks.next_ns = gsim_turn_migrate(rotation, ring, ring->marks.next_ns);
    if (ring->marks.next_ns == now_ns) {
        run(rotation, ring, now_ns);
        return;
    }
    enter(ring, GSIM_LANE_SWITCHING);
    ring->times.switched_ns = ring->marks.next_ns;
}

/* The next ready member, in ring order after the present one, which comes last. By priority, the
 * first of the most urgent; in a strict lane, the member that has the turn. */
static uint16_t next_ready(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                           int64_t now_ns) {
    uint16_t place = ring->state.at, best = GSIM_NO_MEMBER;
    for (uint16_t i = 0; i < ring->n; i++) {
        place = after(ring, place);
        const struct gsim_member *member = member_at(rotation, ring, place);
        if (member->context.times.ready_ns > now_ns ||
            (gsim_ring_is_strict(ring) && turn_ns(rotation, ring, place, now_ns) > now_ns))
            continue;
        if (!gsim_ring_is_by_priority(ring))
            return place;
        if (best == GSIM_NO_MEMBER || goes_before(ring, member, member_at(rotation, ring, best)))
            best = place;
    }
    return best;
}

/* The member that was last on an idle lane goes on without a switch, even when others became ready
 * as well. */
static void leave_idleness(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                           int64_t now_ns) {
    if (!gsim_ring_is_by_priority(ring) && !gsim_ring_is_strict(ring) &&
        ring->state.last == ring->member[ring->state.at] &&
        member_at(rotation, ring, ring->state.at)->context.times.ready_ns <= now_ns) {
        run(rotation, ring, now_ns);
        return;
    }
    uint16_t place = next_ready(rotation, ring, now_ns);
    assert(place != GSIM_NO_MEMBER);
    bool is_free = gsim_ring_is_by_priority(ring) || !ring->state.is_used ||
                   ring->state.last == ring->member[place];
    switch_to(rotation, ring, place, is_free ? 0 : rotation->costs.idle_ns, now_ns);
}

static int64_t preempt_cost_ns(const struct gsim_rotation *rotation,
                               const struct gsim_member *member) {
    const struct gsim_switch_costs *costs = &rotation->costs;
    return costs->preempt_ns + gsim_muldiv_floor(costs->preempt_full_ns - costs->preempt_ns,
                                                 member->spec.state_ppm, GSIM_PPM);
}

/* The lane is passed on to this place. */
static void pass_on(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t place,
                    int64_t cost_ns, int64_t now_ns) {
    stop_padding(ring);
    if (place == GSIM_NO_MEMBER) {
        enter(ring, GSIM_LANE_IDLE);
        gsim_ring_plan(rotation, ring, now_ns);
    } else if (place == ring->state.at) {
        switch_to(rotation, ring, place, 0, now_ns); /* its host has launched again already */
    } else {
        switch_to(rotation, ring, place, cost_ns, now_ns);
    }
}

static void give_up(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t cost_ns,
                    int64_t now_ns) {
    pass_on(rotation, ring, next_ready(rotation, ring, now_ns), cost_ns, now_ns);
}

/* The device chooses the next context some time before a slice ends; if none waited by then, it
 * takes a context that became ready since. A scheduler in software looks when it switches. */
static void end_slice(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t cost_ns,
                      int64_t now_ns) {
    bool is_software = gsim_ring_is_by_priority(ring) || gsim_ring_is_strict(ring) ||
                       ring->how.idle_release_ns > 0 || ring->how.ends_at_boundary;
    uint16_t place = ring->state.at;
    if (!is_software)
        place = next_ready(rotation, ring, now_ns - rotation->costs.lookahead_ns);
    if (place == ring->state.at || place == GSIM_NO_MEMBER)
        place = next_ready(rotation, ring, now_ns);
    pass_on(rotation, ring, place, cost_ns, now_ns);
}

/* The instant up to which the member waits for pages, of the time between these two. */
static int64_t wait_for_pages(struct gsim_member *member, int64_t from_ns, int64_t to_ns) {
    int64_t waited_ns =
        to_ns - from_ns < member->state.stall_ns ? to_ns - from_ns : member->state.stall_ns;
    member->state.stall_ns -= waited_ns;
    return from_ns + waited_ns;
}

static void run_on(struct gsim_member *member, int64_t from_ns, int64_t to_ns, uint64_t rate_q32) {
    int64_t iterations = member->context.sums.done_iterations;
    gsim_context_run(&member->context, from_ns, to_ns, rate_q32);
    if (member->context.sums.done_iterations != iterations)
        gsim_tenant_end_iteration(&member->tenant, gsim_context_is_swept(&member->context));
}

static void settle_padding(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                           int64_t now_ns) {
    int64_t since_ns = ring->times.padding_since_ns;
    if (ring->state.padding == GSIM_NO_MEMBER || now_ns <= since_ns)
        return;
    struct gsim_member *member = &rotation->members[ring->state.padding];
    member->sums.busy_ns += now_ns - since_ns;
    gsim_turn_tell(rotation, GSIM_SPAN_SLICE, member, since_ns, now_ns, 0);
    run_on(member, since_ns, now_ns, ring->state.padding_rate_q32);
    ring->times.padding_since_ns = now_ns;
}

/* Where time goes that the member has its lane and its kernel does not run as fast as alone. */
GSIM_APART static void count_losses(const struct gsim_ring *ring, struct gsim_member *member,
                                    int64_t ran_ns) {
    struct gsim_member_sums *sums = &member->sums;
    if (ring->state.rate_q32 == 0) {
        sums->waited_ns += ran_ns;
        return;
    }
    sums->sms_ns += gsim_muldiv_floor(ran_ns, ring->lost.sms_ppm, GSIM_PPM);
    sums->bandwidth_ns += gsim_muldiv_floor(ran_ns, ring->lost.bandwidth_ppm, GSIM_PPM);
}

void gsim_ring_settle(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                      int64_t now_ns) {
    settle_padding(rotation, ring, now_ns);
    if (ring->state.phase != GSIM_LANE_RUNNING || now_ns <= ring->times.since_ns)
        return;
    struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    member->sums.busy_ns += now_ns - ring->times.since_ns;
    int64_t begin_ns = wait_for_pages(member, ring->times.since_ns, now_ns);
    gsim_turn_tell(rotation, GSIM_SPAN_FAULT, member, ring->times.since_ns, begin_ns, 0);
    gsim_turn_tell(rotation, GSIM_SPAN_SLICE, member, begin_ns, now_ns, 0);
    if (gsim_rarely(ring->is_by_blocks))
        count_losses(ring, member, now_ns - begin_ns);
    if (!ring->state.is_halting &&
        begin_ns < now_ns) /* the progress that a halt leaves is set at its end */
        run_on(member, begin_ns, now_ns, ring->state.rate_q32);
    ring->times.since_ns = now_ns;
}

static void begin_halt(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                       int64_t now_ns) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    struct gsim_lane_urgency urgency = gsim_lane_urgency(&ring->how);
    struct gsim_kernel_stop_outcome outcome =
        gsim_kernel_stop(&urgency, &rotation->costs.halt, &member->context, ring->state.rate_q32,
                         now_ns, member->spec.block_ns, member->spec.is_idempotent);
    ring->state.halted_done = outcome.done;
    ring->state.halted_restore_ns = outcome.restore_ns;
    ring->times.halted_ns = now_ns + outcome.free_ns;
    ring->state.is_halting = true;
    stop_padding(ring);
    gsim_ring_plan(rotation, ring, now_ns);
}

static void end_halt(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    gsim_context_set(&member->context, ring->state.halted_done, now_ns);
    member->state.restore_ns = ring->state.halted_restore_ns;
    stop_halting(ring);
    give_up(rotation, ring, 0, now_ns);
}

static int64_t yield_cost_ns(const struct gsim_rotation *rotation, const struct gsim_ring *ring) {
    return gsim_ring_is_by_priority(ring) ? 0 : rotation->costs.idle_ns;
}

/* Whether the lane waits for the present member, which has nothing to run. */
static bool is_kept(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    if (gsim_ring_is_whole(ring))
        return member->stop_at == GSIM_EXIT_NEVER && !gsim_context_is_done(&member->context) &&
               challenged_ns(rotation, ring) > now_ns;
    if (ring->how.idle_release_ns == 0 || gsim_ring_is_strict(ring) ||
        member->stop_at != GSIM_EXIT_NEVER || gsim_context_is_done(&member->context))
        return false;
    ring->times.release_ns = now_ns + ring->how.idle_release_ns;
    return released_ns(rotation, ring) > now_ns;
}

static void keep(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    int64_t release_ns = ring->times.release_ns;
    enter(ring, GSIM_LANE_KEPT);
    ring->times.release_ns = release_ns;
    if (member_at(rotation, ring, ring->state.at)->context.times.ready_ns <= now_ns)
        go_on(rotation, ring, now_ns);
    else
        plan_kept(rotation, ring, now_ns);
}

/* Whether the member's next iteration or request is in the queue already: the device sees no gap,
 * and the turn goes on. A loop that synchronises has nothing in the queue for a moment, however
 * short its gap is. */
static bool runs_on(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                    int64_t now_ns) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    const struct gsim_context *context = &member->context;
    if (member->stop_at != GSIM_EXIT_NEVER || gsim_ring_is_whole(ring) ||
        context->times.ready_ns > now_ns)
        return false;
    if (context->arrival_ns)
        return !gsim_ring_is_strict(ring) && turn_ends_ns(rotation, ring) > now_ns;
    return (context->never_waits || context->program) && !ring->how.ends_at_boundary;
}

static void yield(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    leave_sms(ring); /* its kernel has ended */
    if (runs_on(rotation, ring, now_ns))
        go_on(rotation, ring, now_ns);
    else if (is_kept(rotation, ring, now_ns))
        keep(rotation, ring, now_ns);
    else
        give_up(rotation, ring, yield_cost_ns(rotation, ring), now_ns);
}

/* Whether more than half of the turn went into a wait for pages, and more are missing. */
static bool is_in_vain(const struct gsim_rotation *rotation, const struct gsim_ring *ring,
                       const struct gsim_member *member, int64_t now_ns) {
    return gsim_store_is_sweeping(rotation->store, &member->tenant) &&
           2 * member->tenant.last.stall_ns > now_ns - ring->marks.quantum_start_ns;
}

static void change(const struct gsim_rotation *rotation, struct gsim_ring *ring, int64_t now_ns) {
    const struct gsim_member *member = member_at(rotation, ring, ring->state.at);
    switch ((enum gsim_lane_change)ring->change) {
    case GSIM_CHANGE_YIELD:
        yield(rotation, ring, now_ns);
        break;
    case GSIM_CHANGE_RELEASED:
        give_up(rotation, ring, yield_cost_ns(rotation, ring), now_ns);
        break;
    case GSIM_CHANGE_QUANTUM:
        ring->sums.n_vain +=
            ring->how.idle_release_ns > 0 && is_in_vain(rotation, ring, member, now_ns);
        end_slice(rotation, ring, preempt_cost_ns(rotation, member), now_ns);
        break;
    case GSIM_CHANGE_URGENT:
        begin_halt(rotation, ring, now_ns);
        break;
    case GSIM_CHANGE_HALTED:
        end_halt(rotation, ring, now_ns);
        break;
    case GSIM_CHANGE_REACHED:
        gsim_turn_sweep(rotation, ring, left_of_turn_ns(rotation, ring, now_ns), now_ns);
        gsim_ring_plan(rotation, ring, now_ns);
        break;
    case GSIM_CHANGE_WATCHED:
    case GSIM_CHANGE_REFILLED:
    case GSIM_CHANGE_KERNEL:
    case GSIM_CHANGE_PADDED:
        pad(rotation, ring, now_ns);
        gsim_ring_plan(rotation, ring, now_ns);
        break;
    }
}

static uint16_t stopped(const struct gsim_rotation *rotation, uint16_t place) {
    struct gsim_member *member = &rotation->members[place];
    if (gsim_context_is_done(&member->context) && member->finish_ns == GSIM_NEVER)
        member->finish_ns = member->context.times.launch_ns;
    return place;
}

/* The padding member is looked at; the running member goes on from where it was, and its changes
 * due now stay due. */
static uint16_t look_at_padding(const struct gsim_rotation *rotation, struct gsim_ring *ring,
                                int64_t now_ns) {
    uint16_t place = ring->state.padding;
    settle_padding(rotation, ring, now_ns);
    if (now_ns >= ring->marks.padding_ends_ns)
        stop_padding(ring);
    gsim_ring_plan(rotation, ring, now_ns);
    return stopped(rotation, place);
}

uint16_t gsim_ring_step(const struct gsim_rotation *rotation, struct gsim_ring *ring) {
    int64_t now_ns = ring->marks.next_ns;
    if (ring->state.phase == GSIM_LANE_SWITCHING) {
        run(rotation, ring, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (ring->state.phase == GSIM_LANE_IDLE) {
        leave_idleness(rotation, ring, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (ring->state.phase == GSIM_LANE_KEPT) {
        if (ring->change == GSIM_CHANGE_RELEASED)
            change(rotation, ring, now_ns);
        else
            go_on(rotation, ring, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (ring->change == GSIM_CHANGE_PADDED)
        return look_at_padding(rotation, ring, now_ns);
    uint16_t place = ring->member[ring->state.at];
    bool goes_on = ring->change == GSIM_CHANGE_KERNEL || ring->change == GSIM_CHANGE_REACHED;
    gsim_ring_settle(rotation, ring, now_ns);
    change(rotation, ring, now_ns);
    return goes_on ? GSIM_NO_MEMBER : stopped(rotation, place);
}

/* --- members ---------------------------------------------------------------------------------- */

void gsim_ring_join(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                    int64_t now_ns) {
    assert(ring->n < GSIM_RING_MAX);
    ring->member[ring->n++] = member;
    if (!ring->state.is_used)
        ring->state.at = (uint16_t)(ring->n - 1); /* the first of the ring begins */
    if (ring->n == 1 || ring->n > least_turns(ring))
        begin_round(ring, ring->state.is_used ? ring->state.at : 0, now_ns);
    gsim_ring_plan(rotation, ring, now_ns);
}

/* The place before the leaving member becomes the present one, so that the next member in the ring
 * stays the next. */
static void take_out(struct gsim_ring *ring, uint16_t place) {
    ring->n--;
    for (uint16_t i = place; i < ring->n; i++)
        ring->member[i] = ring->member[i + 1];
    if (place <= ring->state.at && ring->n > 0)
        ring->state.at = (uint16_t)(ring->state.at > 0 ? ring->state.at - 1 : ring->n - 1);
}

void gsim_ring_leave(const struct gsim_rotation *rotation, struct gsim_ring *ring, uint16_t member,
                     int64_t now_ns) {
    uint16_t place = 0;
    while (ring->member[place] != member)
        place++;
    assert(place < ring->n);
    bool had_lane = place == ring->state.at && ring->state.phase != GSIM_LANE_IDLE;
    bool was_running = had_lane && ring->state.phase == GSIM_LANE_RUNNING;
    if (had_lane && ring->state.phase == GSIM_LANE_SWITCHING &&
        gsim_store_is_proactive(rotation->store))
        rotation->members[member].state.stall_ns +=
            ring->marks.next_ns - now_ns; /* its memory is on its way */
    if (ring->state.last == member)
        ring->state.last = GSIM_NO_MEMBER;
    take_out(ring, place);
    begin_round(ring, had_lane ? ring->state.at + 1 : ring->state.at, now_ns);
    if (had_lane)
        enter(ring, GSIM_LANE_IDLE);
    if (had_lane || ring->state.padding == member)
        stop_padding(ring);
    if (had_lane)
        stop_halting(ring);
    uint16_t next = was_running ? next_ready(rotation, ring, now_ns) : GSIM_NO_MEMBER;
    if (next != GSIM_NO_MEMBER)
        switch_to(rotation, ring, next, preempt_cost_ns(rotation, &rotation->members[member]),
                  now_ns);
    else
        gsim_ring_plan(rotation, ring, now_ns);
}
