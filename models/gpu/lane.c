/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/lane.h"

#include <assert.h>

#include "gsim/units.h"
#include "sim/base/hints.h"
#include "models/gpu/progress.h"
#include "models/gpu/ready.h"
#include "models/gpu/rounds.h"
#include "models/gpu/straight.h"
#include "models/gpu/turn_memory.h"

GSIM_ROLE_ASSERT(struct gsim_lane_times);
GSIM_ROLE_ASSERT(struct gsim_lane_marks);
GSIM_ROLE_ASSERT(struct gsim_lane_sums);
GSIM_ROLE_ASSERT(struct gsim_member_sums);

static void stop_padding(struct gsim_gpu_lane *lane) {
    lane->state.padding = GSIM_NO_MEMBER;
    lane->state.padding_rate_q32 = 0;
    lane->times.padding_since_ns = lane->times.padding_until_ns = GSIM_NEVER;
}

static void leave_sms(struct gsim_gpu_lane *lane) {
    gsim_sm_held_clear(&lane->state.held);
    lane->state.look_done = 0;
    lane->state.held_kernel = lane->state.admitted = lane->state.let_nth = 0; /* they have ended */
    gsim_gpu_lane_end_atom(lane);
    lane->times.arrived_ns = lane->times.next_atom_ns = lane->times.let_ns = GSIM_NEVER;
}

static void stop_halting(struct gsim_gpu_lane *lane) {
    lane->state.is_halting = false;
    lane->state.halted_done = 0;
    lane->state.halted_restore_ns = 0;
    lane->times.halted_ns = GSIM_NEVER;
}

/* Times that do not apply any more are reset: they would make equal states look different. */
static void enter(struct gsim_gpu_lane *lane, enum gsim_lane_phase phase) {
    lane->state.phase = (uint8_t)phase;
    lane->times.switched_ns = lane->times.release_ns = GSIM_NEVER;
    if (phase == GSIM_LANE_IDLE || phase == GSIM_LANE_SWITCHING)
        lane->times.since_ns = GSIM_NEVER;
    if (phase != GSIM_LANE_RUNNING)
        leave_sms(lane);
}

void gsim_gpu_lane_init(struct gsim_gpu_lane *lane, int64_t quantum_ns) {
    *lane =
        (struct gsim_gpu_lane){.how = {.discipline = GSIM_DISCIPLINE_RR, .quantum_ns = quantum_ns},
                               .times = {.opens_ns = GSIM_NEVER},
                               .state = {.last = GSIM_NO_MEMBER, .rate_q32 = GSIM_RATE_ONE},
                               .marks = {.next_ns = GSIM_NEVER}};
    enter(lane, GSIM_LANE_IDLE);
    stop_padding(lane);
    stop_halting(lane);
}

static uint16_t after(const struct gsim_gpu_lane *lane, uint16_t place) {
    return (uint16_t)(place + 1 == lane->spec.n ? 0 : place + 1);
}

/* --- the next event of the lane --------------------------------------------------------------- */

/* In a strict lane: the first instant in the member's own turns at which it is ready and there is
 * time to switch to it. */
static int64_t turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                       uint16_t place, int64_t now_ns) {
    int64_t ready_ns = gsim_ready_at(gpu, lane, place)->context.times.ready_ns;
    bool is_there = !lane->state.is_used || lane->state.last == lane->spec.member[place];
    struct gsim_vgpu_grid grid = gsim_round_grid(lane);
    if (ready_ns == GSIM_NEVER)
        return GSIM_NEVER;
    return gsim_vgpu_turn_ns(&grid, lane->spec.turn[place], ready_ns > now_ns ? ready_ns : now_ns,
                             is_there ? 0 : gsim_switch_most_ns(&gpu->costs));
}

static int64_t first_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                             int64_t now_ns) {
    int64_t first_ns = GSIM_NEVER;
    for (uint16_t place = 0; place < lane->spec.n; place++) {
        int64_t one_ns = turn_ns(gpu, lane, place, now_ns);
        first_ns = one_ns < first_ns ? one_ns : first_ns;
    }
    return first_ns;
}

/* The first end of a slice of this length at which another member is ready. */
static int64_t slice_end_ns(const struct gsim_gpu_lane *lane, int64_t quantum_ns,
                            int64_t ready_ns) {
    int64_t first_ns = lane->marks.quantum_start_ns + quantum_ns;
    if (ready_ns <= first_ns || ready_ns == GSIM_NEVER)
        return ready_ns == GSIM_NEVER ? GSIM_NEVER : first_ns;
    int64_t n = (ready_ns - lane->marks.quantum_start_ns + quantum_ns - 1) / quantum_ns;
    return lane->marks.quantum_start_ns + n * quantum_ns;
}

static int64_t preemption_ns(const struct gsim_gpu_lane *lane, const struct gsim_member *member,
                             int64_t ready_ns) {
    return slice_end_ns(lane, gsim_gpu_lane_quantum_ns(lane, member), ready_ns);
}

/* The end of the present quantum while another member is ready. */
static inline int64_t quantum_end_ns(const struct gsim_lane_gpu *gpu,
                                     const struct gsim_gpu_lane *lane) {
    int64_t quantum_ns = gsim_gpu_lane_quantum_ns(lane, gsim_ready_at(gpu, lane, lane->state.at));
    int64_t first_ns = lane->marks.quantum_start_ns + quantum_ns;
    return slice_end_ns(lane, quantum_ns, gsim_ready_but_ns(gpu, lane, lane->state.at, first_ns));
}

/* When a more urgent member takes the lane: at once, or at the end of a slice. */
static int64_t urgent_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                         const struct gsim_member *member) {
    int64_t ready_ns = gsim_ready_rivals_ns(gpu, lane, member->how.priority, true);
    int64_t slice_ns = gsim_lane_urgency(&lane->how).slice_ns;
    return slice_ns > 0 ? slice_end_ns(lane, slice_ns, ready_ns) : ready_ns;
}

/* When the running member gives up the lane by itself; a time past limit_ns does not matter. */
static int64_t yields_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                         const struct gsim_member *member, int64_t limit_ns) {
    const struct gsim_context *context = &member->context;
    int64_t from_ns = lane->times.since_ns + member->state.stall_ns;
    if (lane->state.rate_q32 == 0)
        return GSIM_NEVER;
    if (gsim_rarely(gpu->goes_straight))
        return gsim_straight_until_ns(member, from_ns, lane->state.rate_q32);
    if (member->stop_at != GSIM_EXIT_NEVER)
        return gsim_context_boundary_ns(context, from_ns, lane->state.rate_q32,
                                        member->stop_at == GSIM_EXIT_ITERATION);
    return gsim_context_idle_ns(context, from_ns, lane->state.rate_q32, limit_ns);
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

static void consider(struct gsim_gpu_lane *lane, enum gsim_lane_change change, int64_t time_ns) {
    if (time_ns >= lane->marks.next_ns)
        return; /* of changes at one time the first considered stands */
    lane->marks.next_ns = time_ns > lane->times.since_ns ? time_ns : lane->times.since_ns;
    lane->change = (uint8_t)change;
}

/* --- padding ---------------------------------------------------------------------------------- */

static bool could_pad(const struct gsim_member *running, const struct gsim_member *other) {
    return other->how.priority < running->how.priority && !gsim_context_is_done(&other->context);
}

static bool is_worth_padding(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                             const struct gsim_member *running) {
    bool is_worth = false;
    for (uint16_t place = 0; gsim_gpu_lane_is_padded(lane) && place < lane->spec.n && !is_worth;
         place++)
        is_worth = could_pad(running, gsim_ready_at(gpu, lane, place));
    return is_worth && gsim_padding_left_ppm(&lane->how, &running->spec.demand) > 0;
}

/* Changes of the padding member are considered before those of the running one, which they do not
 * touch. */
static void plan_padding(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane) {
    if (lane->state.padding == GSIM_NO_MEMBER)
        return;
    const struct gsim_member *member = &gpu->members[lane->state.padding];
    int64_t since_ns = lane->times.padding_since_ns, until_ns = lane->times.padding_until_ns;
    uint64_t rate_q32 = lane->state.padding_rate_q32;
    int64_t kernel_ns = gsim_context_boundary_ns(&member->context, since_ns, rate_q32, false);
    lane->marks.padding_ends_ns = kernel_ns < until_ns ? kernel_ns : until_ns;
    consider(lane, GSIM_CHANGE_PADDED, lane->marks.padding_ends_ns);
    if (member->watch_iterations >= 0)
        consider(lane, GSIM_CHANGE_PADDED, watched_ns(member, since_ns, rate_q32));
    consider(lane, GSIM_CHANGE_PADDED, gsim_context_refill_ns(&member->context, since_ns));
}

/* Where a kernel of the running member begins, the first less urgent member that fits joins it. */
static void pad(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    const struct gsim_member *running = gsim_ready_at(gpu, lane, lane->state.at);
    if (lane->state.padding != GSIM_NO_MEMBER || !is_worth_padding(gpu, lane, running) ||
        !gsim_context_is_between_kernels(&running->context))
        return;
    for (uint16_t place = 0; place < lane->spec.n; place++) {
        struct gsim_member *member = gsim_ready_at(gpu, lane, place);
        if (!could_pad(running, member) || member->context.times.ready_ns > now_ns)
            continue;
        int64_t time_ns =
            gsim_padding_time_ns(gsim_context_kernel_ns(&running->context),
                                 gsim_context_kernel_ns(&member->context), member->spec.block_ns);
        if (time_ns == 0)
            continue;
        gsim_context_resume(&member->context, now_ns);
        lane->state.padding = lane->spec.member[place];
        lane->state.padding_rate_q32 = GSIM_RATE_ONE;
        lane->times.padding_since_ns = now_ns;
        lane->times.padding_until_ns = now_ns + time_ns;
        return;
    }
}

/* --- the next change -------------------------------------------------------------------------- */

/* How far a program is worth looking at: where turns end with quanta, to the end of this one. */
GSIM_APART static int64_t look_until_ns(const struct gsim_lane_gpu *gpu,
                                        const struct gsim_gpu_lane *lane) {
    if (gsim_gpu_lane_is_strict(lane) || gsim_gpu_lane_is_by_priority(lane) ||
        gsim_gpu_lane_ends_at_boundary(lane))
        return GSIM_NEVER;
    return quantum_end_ns(gpu, lane);
}

/* When the kernel is to be looked at again, where kernels share SMs. */
static int64_t looked_at_ns(const struct gsim_gpu_lane *lane, const struct gsim_member *member) {
    gsim_work left = lane->state.look_done - member->context.done;
    if (left <= 0 || lane->state.rate_q32 == 0)
        return GSIM_NEVER;
    return lane->times.since_ns + member->state.stall_ns +
           gsim_work_time(left, lane->state.rate_q32);
}

/* How far changes of a program matter. Where kernels share SMs and the look at this one is due, or
 * there was none, the plan holds for this instant only. */
GSIM_APART static int64_t limit_of_program_ns(const struct gsim_lane_gpu *gpu,
                                              const struct gsim_gpu_lane *lane, int64_t look_ns) {
    if (lane->is_by_blocks && look_ns == GSIM_NEVER)
        return lane->times.since_ns;
    return gsim_sooner_ns(look_ns, look_until_ns(gpu, lane));
}

/* Whether a quantum or a more urgent member can end the present turn. */
static bool ends_in_time(const struct gsim_gpu_lane *lane) {
    if (gsim_gpu_lane_is_strict(lane))
        return gsim_round_grid(lane).n > 1;
    return lane->spec.n > 1 && !gsim_gpu_lane_is_whole(lane) &&
           (gsim_gpu_lane_is_by_priority(lane) || !gsim_gpu_lane_ends_at_boundary(lane));
}

static int64_t strict_end_ns(const struct gsim_gpu_lane *lane) {
    struct gsim_vgpu_grid grid = gsim_round_grid(lane);
    return gsim_vgpu_end_ns(&grid, lane->spec.turn[lane->state.at], lane->times.since_ns);
}

/* When a turn ends that ends with a kernel; GSIM_NEVER: its iteration ends before. Where its time
 * is up as a kernel ends, the next one of the iteration has begun. */
GSIM_APART static int64_t kernel_turn_end_ns(const struct gsim_lane_gpu *gpu,
                                             const struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    int64_t up_ns = quantum_end_ns(gpu, lane), since_ns = lane->times.since_ns;
    int64_t from_ns = since_ns + member->state.stall_ns;
    bool is_up = up_ns < since_ns || (up_ns == since_ns && member->context.done == 0);
    if (up_ns == GSIM_NEVER || lane->state.rate_q32 == 0 ||
        (is_up && from_ns <= since_ns && gsim_context_is_between_kernels(&member->context)))
        return up_ns;
    return gsim_context_kernel_end_ns(&member->context, up_ns, from_ns, lane->state.rate_q32);
}

static void plan_turn_end(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    if (gsim_rarely(gsim_turn_ends_with_kernel(gpu, lane)))
        consider(lane, GSIM_CHANGE_QUANTUM, kernel_turn_end_ns(gpu, lane));
    if (!ends_in_time(lane))
        return;
    bool is_strict = gsim_gpu_lane_is_strict(lane);
    if (is_strict || !gsim_gpu_lane_is_by_priority(lane)) {
        consider(lane, GSIM_CHANGE_QUANTUM,
                 is_strict ? strict_end_ns(lane) : quantum_end_ns(gpu, lane));
        return;
    }
    consider(lane, GSIM_CHANGE_URGENT, urgent_ns(gpu, lane, member));
    consider(
        lane, GSIM_CHANGE_QUANTUM,
        preemption_ns(lane, member, gsim_ready_rivals_ns(gpu, lane, member->how.priority, false)));
    if (is_worth_padding(gpu, lane, member))
        consider(lane, GSIM_CHANGE_KERNEL,
                 gsim_context_boundary_ns(&member->context,
                                          lane->times.since_ns + member->state.stall_ns,
                                          lane->state.rate_q32, false));
}

static void plan_running(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane) {
    struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    lane->marks.next_ns = GSIM_NEVER;
    if (lane->state.is_halting) {
        consider(lane, GSIM_CHANGE_HALTED, lane->times.halted_ns);
        return;
    }
    plan_padding(gpu, lane);
    int64_t look_ns = looked_at_ns(lane, member), limit_ns = look_ns;
    if (gsim_rarely(member->context.spec.program != NULL)) {
        member->context.spec.copies_apart = gsim_progress_copies_apart(gpu, lane);
        limit_ns = limit_of_program_ns(gpu, lane, look_ns);
    }
    consider(lane, GSIM_CHANGE_YIELD, yields_ns(gpu, lane, member, limit_ns));
    consider(lane, GSIM_CHANGE_KERNEL, look_ns);
    if (gsim_rarely(lane->times.opens_ns > lane->times.since_ns)) /* no sooner: it is open then */
        consider(lane, GSIM_CHANGE_KERNEL, lane->times.opens_ns);
    if (gsim_rarely(lane->times.next_atom_ns > lane->times.since_ns))
        consider(lane, GSIM_CHANGE_KERNEL, lane->times.next_atom_ns);
    if (member->watch_iterations >= 0)
        consider(lane, GSIM_CHANGE_WATCHED,
                 watched_ns(member, lane->times.since_ns, lane->state.rate_q32));
    consider(lane, GSIM_CHANGE_REFILLED,
             gsim_context_refill_ns(&member->context, lane->times.since_ns));
    plan_turn_end(gpu, lane);
    consider(lane, GSIM_CHANGE_REACHED, gsim_turn_reached_ns(gpu, lane));
}

/* Between its iterations the member that has a whole lane keeps it until a member is ready that
 * ranks at least as high; within an iteration it keeps the lane in any case. */
static int64_t challenged_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    const struct gsim_member *first = gsim_ready_at(gpu, lane, lane->state.at);
    int64_t ready_ns = GSIM_NEVER;
    for (uint16_t place = 0; first->context.done == 0 && place < lane->spec.n; place++) {
        const struct gsim_member *one = gsim_ready_at(gpu, lane, place);
        if (place != lane->state.at && one->context.times.ready_ns < ready_ns &&
            !gsim_ready_goes_before(lane, first, one))
            ready_ns = one->context.times.ready_ns;
    }
    return ready_ns;
}

/* The end of the quantum while a rival is ready, or when a more urgent member is ready. */
static int64_t turn_ends_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    if (!gsim_gpu_lane_is_by_priority(lane))
        return quantum_end_ns(gpu, lane);
    int64_t quantum_ns =
        preemption_ns(lane, member, gsim_ready_rivals_ns(gpu, lane, member->how.priority, false));
    return gsim_sooner_ns(urgent_ns(gpu, lane, member), quantum_ns);
}

/* A member that asked for the lane ahead of its iteration, or is within one, keeps it until a
 * member that is at least as urgent is ready. */
static int64_t outranked_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    int32_t priority = gsim_ready_at(gpu, lane, lane->state.at)->how.priority;
    return gsim_sooner_ns(gsim_ready_rivals_ns(gpu, lane, priority, true),
                          gsim_ready_rivals_ns(gpu, lane, priority, false));
}

/* The end of the turn, or of how long an idle context may keep the lane from ready members. */
static int64_t released_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    int64_t ready_ns = gsim_ready_but_ns(gpu, lane, lane->state.at, lane->times.release_ns);
    int64_t released = ready_ns > lane->times.release_ns ? ready_ns : lane->times.release_ns;
    return gsim_sooner_ns(turn_ends_ns(gpu, lane), released);
}

static int64_t kept_until_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    if (gsim_ready_is_switched(lane))
        return outranked_ns(gpu, lane);
    return gsim_gpu_lane_is_whole(lane) ? challenged_ns(gpu, lane) : released_ns(gpu, lane);
}

static void plan_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    lane->times.since_ns = now_ns;
    lane->marks.next_ns = GSIM_NEVER;
    consider(lane, GSIM_CHANGE_RELEASED, kept_until_ns(gpu, lane));
    consider(lane, GSIM_CHANGE_YIELD,
             gsim_ready_at(gpu, lane, lane->state.at)->context.times.ready_ns);
}

void gsim_gpu_lane_plan(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        int64_t now_ns) {
    if (lane->state.phase == GSIM_LANE_SWITCHING)
        return; /* a switch goes on until next_ns in any case */
    if (lane->state.phase == GSIM_LANE_RUNNING) {
        plan_running(gpu, lane);
        return;
    }
    if (lane->state.phase == GSIM_LANE_KEPT) {
        plan_kept(gpu, lane, now_ns);
        return;
    }
    lane->marks.next_ns = gsim_gpu_lane_is_strict(lane)
                              ? first_turn_ns(gpu, lane, now_ns)
                              : gsim_ready_but_ns(gpu, lane, GSIM_NO_MEMBER, now_ns);
    if (lane->marks.next_ns < now_ns)
        lane->marks.next_ns = now_ns;
}

/* --- changes ---------------------------------------------------------------------------------- */

/* How long the present member may go on before other members of the lane run, or for a quantum
 * beside other lanes with memory of their own on this GPU. */
static int64_t left_of_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                               int64_t now_ns) {
    bool ends_with_kernel = gsim_rarely(gsim_turn_ends_with_kernel(gpu, lane));
    int64_t end_ns = ends_with_kernel ? kernel_turn_end_ns(gpu, lane) : GSIM_NEVER;
    if (ends_in_time(lane) || (ends_with_kernel && end_ns == GSIM_NEVER))
        end_ns = gsim_gpu_lane_is_strict(lane) ? strict_end_ns(lane) : turn_ends_ns(gpu, lane);
    int64_t left_ns = end_ns == GSIM_NEVER ? GSIM_NEVER : end_ns - now_ns;
    int64_t quantum_ns = gsim_gpu_lane_quantum_ns(lane, gsim_ready_at(gpu, lane, lane->state.at));
    bool is_beside = gpu->n_lanes > 1 && quantum_ns > 0;
    return is_beside && quantum_ns < left_ns ? quantum_ns : left_ns;
}

/* An iteration begins, or goes on. */
static void go_on(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    enter(lane, GSIM_LANE_RUNNING);
    if (gsim_rarely(gsim_gpu_lane_closes_gates(lane)))
        lane->times.opens_ns = GSIM_NEVER;
    lane->times.since_ns = now_ns;
    gsim_turn_sweep(gpu, lane, left_of_turn_ns(gpu, lane, now_ns), now_ns);
    gsim_context_resume(&gsim_ready_at(gpu, lane, lane->state.at)->context, now_ns);
    pad(gpu, lane, now_ns);
    gsim_gpu_lane_plan(gpu, lane, now_ns);
}

static void run(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    lane->state.last = lane->spec.member[lane->state.at];
    lane->state.is_used = true;
    lane->marks.quantum_start_ns = now_ns;
    lane->sums.n_slices++;
    leave_sms(lane);
    if (gsim_rarely(gsim_ready_at(gpu, lane, lane->state.at)->context.times.ready_ns > now_ns)) {
        enter(lane, GSIM_LANE_KEPT); /* it asked ahead */
        plan_kept(gpu, lane, now_ns);
    } else {
        go_on(gpu, lane, now_ns);
    }
}

static void switch_to(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, uint16_t place,
                      int64_t cost_ns, int64_t now_ns) {
    struct gsim_member *member = gsim_ready_at(gpu, lane, place);
    lane->state.at = place;
    if (lane->state.is_halting)
        stop_halting(lane);
    cost_ns = gsim_switch_to_ns(&gpu->costs, member, cost_ns) + member->state.restore_ns;
    member->state.restore_ns = 0;
    lane->sums.switch_ns += cost_ns;
    lane->marks.next_ns = now_ns + cost_ns;
    if (gsim_pager_is_proactive(gpu->store) && lane->spec.member[place] != lane->state.last)
        lane->marks.next_ns = gsim_turn_migrate(gpu, lane, false, lane->marks.next_ns);
    if (lane->marks.next_ns == now_ns) {
        run(gpu, lane, now_ns);
        return;
    }
    enter(lane, GSIM_LANE_SWITCHING);
    lane->times.switched_ns = lane->marks.next_ns;
}

/* The next ready member, in ring order after the present one, which comes last. By priority, the
 * first of the most urgent; in a strict lane, the member that has the turn. */
static uint16_t next_ready(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                           int64_t now_ns) {
    uint16_t place = lane->state.at, best = GSIM_NO_MEMBER;
    for (uint16_t i = 0; i < lane->spec.n; i++) {
        place = after(lane, place);
        const struct gsim_member *member = gsim_ready_at(gpu, lane, place);
        if (gsim_ready_asks_ns(gpu, lane, member) > now_ns ||
            (gsim_gpu_lane_is_strict(lane) && turn_ns(gpu, lane, place, now_ns) > now_ns))
            continue;
        if (!gsim_gpu_lane_is_by_priority(lane))
            return place;
        if (best == GSIM_NO_MEMBER ||
            gsim_ready_is_next(lane, member, gsim_ready_at(gpu, lane, best), now_ns))
            best = place;
    }
    return best;
}

/* The member that was last on an idle lane goes on without a switch, even when others became ready
 * as well. */
static void leave_idleness(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                           int64_t now_ns) {
    if (!gsim_gpu_lane_is_by_priority(lane) && !gsim_gpu_lane_is_strict(lane) &&
        lane->state.last == lane->spec.member[lane->state.at] &&
        gsim_ready_at(gpu, lane, lane->state.at)->context.times.ready_ns <= now_ns) {
        run(gpu, lane, now_ns);
        return;
    }
    uint16_t place = next_ready(gpu, lane, now_ns);
    assert(place != GSIM_NO_MEMBER);
    bool is_free = gsim_ready_in_one_process(lane) || !lane->state.is_used ||
                   lane->state.last == lane->spec.member[place];
    switch_to(gpu, lane, place, is_free ? 0 : gpu->costs.idle_ns, now_ns);
}

/* The lane is passed on to this place. */
static void pass_on(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, uint16_t place,
                    int64_t cost_ns, int64_t now_ns) {
    stop_padding(lane);
    if (place == GSIM_NO_MEMBER) {
        enter(lane, GSIM_LANE_IDLE);
        if (gsim_rarely(gsim_gpu_lane_closes_gates(lane)))
            lane->times.opens_ns = now_ns + gsim_gpu_lane_gate_wait_ns(lane);
        gsim_gpu_lane_plan(gpu, lane, now_ns);
    } else if (place == lane->state.at) {
        switch_to(gpu, lane, place, 0, now_ns); /* its host has launched again already */
    } else {
        switch_to(gpu, lane, place, cost_ns, now_ns);
    }
}

static void give_up(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t cost_ns,
                    int64_t now_ns) {
    pass_on(gpu, lane, next_ready(gpu, lane, now_ns), cost_ns, now_ns);
}

/* The device chooses the next context some time before a slice ends; if none waited by then, it
 * takes a context that became ready since. A scheduler in software looks when it switches. */
static void end_slice(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t cost_ns,
                      int64_t now_ns) {
    uint16_t place = lane->state.at;
    if (!gsim_gpu_lane_is_in_software(lane))
        place = next_ready(gpu, lane, now_ns - gpu->costs.lookahead_ns);
    if (place == lane->state.at || place == GSIM_NO_MEMBER)
        place = next_ready(gpu, lane, now_ns);
    pass_on(gpu, lane, place, cost_ns, now_ns);
}

static inline void settle_padding(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                                  int64_t now_ns) {
    int64_t since_ns = lane->times.padding_since_ns;
    if (lane->state.padding == GSIM_NO_MEMBER || now_ns <= since_ns)
        return;
    struct gsim_member *member = &gpu->members[lane->state.padding];
    member->sums.busy_ns += now_ns - since_ns;
    gsim_progress_run(gpu, lane, member, since_ns, now_ns, lane->state.padding_rate_q32);
    lane->times.padding_since_ns = now_ns;
    gsim_slice_log_tell(gpu->spans, GSIM_SPAN_SLICE, member->how.job, since_ns, now_ns, 0);
}

/* Where time goes that the member has its lane and its kernel does not run as fast as alone. */
GSIM_APART static void count_losses(const struct gsim_gpu_lane *lane, struct gsim_member *member,
                                    int64_t ran_ns) {
    struct gsim_member_sums *sums = &member->sums;
    if (lane->state.rate_q32 == 0) {
        sums->waited_ns += ran_ns;
        return;
    }
    sums->sms_ns += gsim_muldiv_floor(ran_ns, lane->lost.sms_ppm, GSIM_PPM);
    sums->bandwidth_ns += gsim_muldiv_floor(ran_ns, lane->lost.bandwidth_ppm, GSIM_PPM);
}

void gsim_gpu_lane_settle(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                          int64_t now_ns) {
    settle_padding(gpu, lane, now_ns);
    if (lane->state.phase != GSIM_LANE_RUNNING || now_ns <= lane->times.since_ns)
        return;
    struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    int64_t since_ns = lane->times.since_ns;
    member->sums.busy_ns += now_ns - since_ns;
    int64_t begin_ns = gsim_turn_wait(member, since_ns, now_ns);
    if (gsim_rarely(lane->is_by_blocks))
        count_losses(lane, member, now_ns - begin_ns);
    if (!lane->state.is_halting &&
        begin_ns < now_ns) /* the progress that a halt leaves is set at its end */
        gsim_progress_run(gpu, lane, member, begin_ns, now_ns, lane->state.rate_q32);
    lane->times.since_ns = now_ns;
    gsim_slice_log_tell(gpu->spans, GSIM_SPAN_FAULT, member->how.job, since_ns, begin_ns, 0);
    gsim_slice_log_tell(gpu->spans, GSIM_SPAN_SLICE, member->how.job, begin_ns, now_ns, 0);
}

static void begin_halt(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                       int64_t now_ns) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    struct gsim_lane_urgency urgency = gsim_lane_urgency(&lane->how);
    struct gsim_kernel_stop_outcome outcome =
        gsim_kernel_stop(&urgency, &gpu->costs.halt, &member->context, lane->state.rate_q32, now_ns,
                         member->spec.block_ns, member->spec.is_idempotent);
    lane->state.halted_done = outcome.done;
    lane->state.halted_restore_ns = outcome.restore_ns;
    lane->times.halted_ns = now_ns + outcome.free_ns;
    lane->state.is_halting = true;
    stop_padding(lane);
    gsim_gpu_lane_plan(gpu, lane, now_ns);
}

static void end_halt(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    gsim_context_set(&member->context, lane->state.halted_done, now_ns);
    member->state.restore_ns = lane->state.halted_restore_ns;
    stop_halting(lane);
    give_up(gpu, lane, 0, now_ns);
}

static int64_t yield_cost_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    return gsim_ready_in_one_process(lane) ? 0 : gpu->costs.idle_ns;
}

/* Whether the lane waits for the present member, which has nothing to run. */
static bool is_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    if (gsim_gpu_lane_is_whole(lane))
        return member->stop_at == GSIM_EXIT_NEVER && !gsim_context_is_done(&member->context) &&
               challenged_ns(gpu, lane) > now_ns;
    if (gsim_ready_is_switched(lane)) /* by the kernel that a hint launched, if there are hints */
        return gsim_lane_urgency(&lane->how).hint_ns > 0 && member->stop_at == GSIM_EXIT_NEVER &&
               member->context.done > 0 && gsim_ready_leads(gpu, lane, member) &&
               outranked_ns(gpu, lane) > now_ns;
    if (lane->how.idle_release_ns == 0 || gsim_gpu_lane_is_strict(lane) ||
        member->stop_at != GSIM_EXIT_NEVER || gsim_context_is_done(&member->context))
        return false;
    lane->times.release_ns = now_ns + lane->how.idle_release_ns;
    return released_ns(gpu, lane) > now_ns;
}

static void keep(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    int64_t release_ns = lane->times.release_ns;
    enter(lane, GSIM_LANE_KEPT);
    lane->times.release_ns = release_ns;
    if (gsim_ready_at(gpu, lane, lane->state.at)->context.times.ready_ns <= now_ns)
        go_on(gpu, lane, now_ns);
    else
        plan_kept(gpu, lane, now_ns);
}

/* Whether the member's next iteration or request is in the queue already: the device sees no gap,
 * and the turn goes on. A loop that synchronises has nothing in the queue for a moment, however
 * short its gap is. */
static bool runs_on(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                    int64_t now_ns) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    const struct gsim_context *context = &member->context;
    if (member->stop_at != GSIM_EXIT_NEVER || gsim_gpu_lane_is_whole(lane) ||
        context->times.ready_ns > now_ns)
        return false;
    if (context->spec.arrival_ns)
        return !gsim_gpu_lane_is_strict(lane) && turn_ends_ns(gpu, lane) > now_ns;
    return (context->spec.never_waits || gsim_context_is_ahead(context, now_ns)) &&
           (!gsim_gpu_lane_ends_at_boundary(lane) || gsim_turn_ends_with_kernel(gpu, lane));
}

/* The memory of a process is free at the end of its last iteration, before the next turn has its
 * own moved in; a last gap of its host is taken to be shorter than the way out of that memory. */
static void close_ended(const struct gsim_lane_gpu *gpu, uint16_t place) {
    struct gsim_member *member = &gpu->members[place];
    if (gsim_context_is_done(&member->context))
        gsim_pager_close(gpu->store, &member->tenant);
}

static void copy(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                 int64_t now_ns) {
    gsim_progress_copy(gpu, lane, gsim_gpu_lane_present(gpu, lane), now_ns);
    close_ended(gpu, lane->spec.member[lane->state.at]);
}

static void yield(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    leave_sms(lane); /* its kernel has ended */
    if (gsim_rarely(gsim_context_copies_next(&gsim_gpu_lane_present(gpu, lane)->context)))
        copy(gpu, lane, now_ns);
    if (runs_on(gpu, lane, now_ns))
        go_on(gpu, lane, now_ns);
    else if (is_kept(gpu, lane, now_ns))
        keep(gpu, lane, now_ns);
    else
        give_up(gpu, lane, yield_cost_ns(gpu, lane), now_ns);
}

static void change(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    const struct gsim_member *member = gsim_ready_at(gpu, lane, lane->state.at);
    switch ((enum gsim_lane_change)lane->change) {
    case GSIM_CHANGE_YIELD:
        yield(gpu, lane, now_ns);
        break;
    case GSIM_CHANGE_RELEASED:
        give_up(gpu, lane, yield_cost_ns(gpu, lane), now_ns);
        break;
    case GSIM_CHANGE_QUANTUM:
        if (gsim_turn_ends_with_kernel(gpu, lane) && kernel_turn_end_ns(gpu, lane) > now_ns) {
            gsim_gpu_lane_plan(gpu, lane, now_ns); /* turns are longer than it was planned */
            break;
        }
        lane->sums.n_vain +=
            lane->how.idle_release_ns > 0 && gsim_turn_is_in_vain(gpu, lane, now_ns);
        end_slice(gpu, lane, gsim_switch_preempt_ns(&gpu->costs, member), now_ns);
        break;
    case GSIM_CHANGE_URGENT:
        if (gsim_ready_is_switched(lane))
            give_up(gpu, lane, gsim_switch_preempt_ns(&gpu->costs, member), now_ns);
        else
            begin_halt(gpu, lane, now_ns);
        break;
    case GSIM_CHANGE_HALTED:
        end_halt(gpu, lane, now_ns);
        break;
    case GSIM_CHANGE_REACHED:
        gsim_turn_sweep(gpu, lane, left_of_turn_ns(gpu, lane, now_ns), now_ns);
        gsim_gpu_lane_plan(gpu, lane, now_ns);
        break;
    case GSIM_CHANGE_WATCHED:
    case GSIM_CHANGE_REFILLED:
    case GSIM_CHANGE_KERNEL:
    case GSIM_CHANGE_PADDED:
        pad(gpu, lane, now_ns);
        gsim_gpu_lane_plan(gpu, lane, now_ns);
        break;
    }
}

static uint16_t stopped(const struct gsim_lane_gpu *gpu, uint16_t place) {
    struct gsim_member *member = &gpu->members[place];
    if (gsim_context_is_done(&member->context) && member->finish_ns == GSIM_NEVER)
        member->finish_ns = member->context.times.launch_ns;
    return place;
}

/* The padding member is looked at; the running member goes on from where it was, and its changes
 * due now stay due. */
static uint16_t look_at_padding(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                                int64_t now_ns) {
    uint16_t place = lane->state.padding;
    settle_padding(gpu, lane, now_ns);
    if (now_ns >= lane->marks.padding_ends_ns)
        stop_padding(lane);
    gsim_gpu_lane_plan(gpu, lane, now_ns);
    return stopped(gpu, place);
}

uint16_t gsim_gpu_lane_step(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane) {
    int64_t now_ns = lane->marks.next_ns;
    if (lane->state.phase == GSIM_LANE_SWITCHING) {
        run(gpu, lane, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (lane->state.phase == GSIM_LANE_IDLE) {
        leave_idleness(gpu, lane, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (lane->state.phase == GSIM_LANE_KEPT) {
        if (lane->change == GSIM_CHANGE_RELEASED)
            change(gpu, lane, now_ns);
        else
            go_on(gpu, lane, now_ns);
        return GSIM_NO_MEMBER;
    }
    if (lane->change == GSIM_CHANGE_PADDED)
        return look_at_padding(gpu, lane, now_ns);
    uint16_t place = lane->spec.member[lane->state.at];
    bool goes_on = lane->change == GSIM_CHANGE_KERNEL || lane->change == GSIM_CHANGE_REACHED;
    gsim_gpu_lane_settle(gpu, lane, now_ns);
    close_ended(gpu, place);
    change(gpu, lane, now_ns);
    return goes_on ? GSIM_NO_MEMBER : stopped(gpu, place);
}

/* --- members ---------------------------------------------------------------------------------- */

void gsim_gpu_lane_join(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                        uint16_t member, int64_t now_ns) {
    assert(lane->spec.n < GSIM_CONTEXTS_MAX);
    if (gsim_gpu_lane_is_strict(lane))
        gsim_round_join(lane, now_ns);
    lane->spec.member[lane->spec.n++] = member;
    if (!lane->state.is_used && lane->state.phase == GSIM_LANE_IDLE)
        lane->state.at = (uint16_t)(lane->spec.n - 1); /* the first of the ring begins */
    gsim_gpu_lane_plan(gpu, lane, now_ns);
}

/* The place before the leaving member becomes the present one, so that the next one stays next. */
static void take_out(struct gsim_gpu_lane *lane, uint16_t place) {
    lane->spec.n--;
    lane->spec.cap_sms = lane->spec.n > 0 ? lane->spec.cap_sms : 0; /* others may have its SMs */
    for (uint16_t i = place; i < lane->spec.n; i++) {
        lane->spec.member[i] = lane->spec.member[i + 1];
        lane->spec.turn[i] = lane->spec.turn[i + 1];
    }
    if (place <= lane->state.at && lane->spec.n > 0)
        lane->state.at = (uint16_t)(lane->state.at > 0 ? lane->state.at - 1 : lane->spec.n - 1);
}

void gsim_gpu_lane_leave(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         uint16_t member, int64_t now_ns) {
    struct gsim_member *leaver = &gpu->members[member];
    uint16_t place = 0;
    while (lane->spec.member[place] != member)
        place++;
    assert(place < lane->spec.n);
    bool had_lane = place == lane->state.at && lane->state.phase != GSIM_LANE_IDLE;
    bool was_running = had_lane && lane->state.phase == GSIM_LANE_RUNNING;
    if (had_lane && lane->state.phase == GSIM_LANE_SWITCHING && gsim_pager_is_proactive(gpu->store))
        leaver->state.stall_ns += lane->marks.next_ns - now_ns; /* its memory is on its way */
    leaver->tenant.whole.is_on = false; /* no newcomer cuts its sweep any more */
    if (lane->state.last == member)
        lane->state.last = GSIM_NO_MEMBER;
    if (gsim_gpu_lane_is_strict(lane))
        gsim_round_leave(lane, lane->spec.turn[place], now_ns);
    take_out(lane, place);
    lane->state.ahead_ns = lane->spec.n > 0 ? lane->state.ahead_ns : 0; /* its kernels have ended */
    if (had_lane)
        enter(lane, GSIM_LANE_IDLE);
    if (had_lane || lane->state.padding == member)
        stop_padding(lane);
    if (had_lane)
        stop_halting(lane);
    uint16_t next = was_running ? next_ready(gpu, lane, now_ns) : GSIM_NO_MEMBER;
    if (next != GSIM_NO_MEMBER)
        switch_to(gpu, lane, next, gsim_switch_preempt_ns(&gpu->costs, leaver), now_ns);
    else
        gsim_gpu_lane_plan(gpu, lane, now_ns);
}
