/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/lane_plan.h"

#include "sim/base/hints.h"
#include "models/gpu/padding.h"
#include "models/gpu/progress.h"
#include "models/gpu/ready.h"
#include "models/gpu/rounds.h"
#include "models/gpu/straight.h"
#include "models/gpu/turn_memory.h"

int64_t gsim_lane_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
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
        int64_t one_ns = gsim_lane_turn_ns(gpu, lane, place, now_ns);
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

bool gsim_lane_is_worth_padding(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                                const struct gsim_member *running) {
    bool is_worth = false;
    for (uint16_t place = 0; gsim_gpu_lane_is_padded(lane) && place < lane->spec.n && !is_worth;
         place++)
        is_worth = gsim_lane_could_pad(running, gsim_ready_at(gpu, lane, place));
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

GSIM_APART int64_t gsim_lane_kernel_turn_end_ns(const struct gsim_lane_gpu *gpu,
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
        consider(lane, GSIM_CHANGE_QUANTUM, gsim_lane_kernel_turn_end_ns(gpu, lane));
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
    if (gsim_lane_is_worth_padding(gpu, lane, member))
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

int64_t gsim_lane_turn_ends_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
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
    return gsim_sooner_ns(gsim_lane_turn_ends_ns(gpu, lane), released);
}

static int64_t kept_until_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane) {
    if (gsim_ready_is_switched(lane))
        return outranked_ns(gpu, lane);
    return gsim_gpu_lane_is_whole(lane) ? challenged_ns(gpu, lane) : released_ns(gpu, lane);
}

void gsim_lane_plan_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         int64_t now_ns) {
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
        gsim_lane_plan_kept(gpu, lane, now_ns);
        return;
    }
    lane->marks.next_ns = gsim_gpu_lane_is_strict(lane)
                              ? first_turn_ns(gpu, lane, now_ns)
                              : gsim_ready_but_ns(gpu, lane, GSIM_NO_MEMBER, now_ns);
    if (lane->marks.next_ns < now_ns)
        lane->marks.next_ns = now_ns;
}

int64_t gsim_lane_left_of_turn_ns(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                                  int64_t now_ns) {
    bool ends_with_kernel = gsim_rarely(gsim_turn_ends_with_kernel(gpu, lane));
    int64_t end_ns = ends_with_kernel ? gsim_lane_kernel_turn_end_ns(gpu, lane) : GSIM_NEVER;
    if (ends_in_time(lane) || (ends_with_kernel && end_ns == GSIM_NEVER))
        end_ns =
            gsim_gpu_lane_is_strict(lane) ? strict_end_ns(lane) : gsim_lane_turn_ends_ns(gpu, lane);
    int64_t left_ns = end_ns == GSIM_NEVER ? GSIM_NEVER : end_ns - now_ns;
    int64_t quantum_ns = gsim_gpu_lane_quantum_ns(lane, gsim_ready_at(gpu, lane, lane->state.at));
    bool is_beside = gpu->n_lanes > 1 && quantum_ns > 0;
    return is_beside && quantum_ns < left_ns ? quantum_ns : left_ns;
}

bool gsim_lane_is_kept(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                       int64_t now_ns) {
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
