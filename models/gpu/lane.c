/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/lane.h"

#include <assert.h>

#include "gsim/units.h"
#include "sim/base/hints.h"
#include "models/gpu/progress.h"
#include "models/gpu/ready.h"
#include "models/gpu/rounds.h"
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

/* Where a kernel of the running member begins, the first less urgent member that fits joins it. */
static void pad(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    const struct gsim_member *running = gsim_ready_at(gpu, lane, lane->state.at);
    if (lane->state.padding != GSIM_NO_MEMBER || !gsim_lane_is_worth_padding(gpu, lane, running) ||
        !gsim_context_is_between_kernels(&running->context))
        return;
    for (uint16_t place = 0; place < lane->spec.n; place++) {
        struct gsim_member *member = gsim_ready_at(gpu, lane, place);
        if (!gsim_lane_could_pad(running, member) || member->context.times.ready_ns > now_ns)
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

/* --- changes ---------------------------------------------------------------------------------- */

/* An iteration begins, or goes on. */
static void go_on(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    enter(lane, GSIM_LANE_RUNNING);
    if (gsim_rarely(gsim_gpu_lane_closes_gates(lane)))
        lane->times.opens_ns = GSIM_NEVER;
    lane->times.since_ns = now_ns;
    gsim_turn_sweep(gpu, lane, gsim_lane_left_of_turn_ns(gpu, lane, now_ns), now_ns);
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
        gsim_lane_plan_kept(gpu, lane, now_ns);
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
            (gsim_gpu_lane_is_strict(lane) && gsim_lane_turn_ns(gpu, lane, place, now_ns) > now_ns))
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

static void keep(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, int64_t now_ns) {
    int64_t release_ns = lane->times.release_ns;
    enter(lane, GSIM_LANE_KEPT);
    lane->times.release_ns = release_ns;
    if (gsim_ready_at(gpu, lane, lane->state.at)->context.times.ready_ns <= now_ns)
        go_on(gpu, lane, now_ns);
    else
        gsim_lane_plan_kept(gpu, lane, now_ns);
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
        return !gsim_gpu_lane_is_strict(lane) && gsim_lane_turn_ends_ns(gpu, lane) > now_ns;
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
    else if (gsim_lane_is_kept(gpu, lane, now_ns))
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
        if (gsim_turn_ends_with_kernel(gpu, lane) &&
            gsim_lane_kernel_turn_end_ns(gpu, lane) > now_ns) {
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
        gsim_turn_sweep(gpu, lane, gsim_lane_left_of_turn_ns(gpu, lane, now_ns), now_ns);
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
