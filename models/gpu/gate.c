/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/gate.h"

#include "models/gpu/member_alone.h"

enum { LAUNCHES_AT_ONCE = 64 }; /* launches that one look at the gate goes through */

/* --- kernels ---------------------------------------------------------------------------------- */

/* The SMs that its blocks fill together, as many on each as there is room for: more than there are
 * where they run in several waves. */
static int64_t sms_of(const struct gsim_profile *profile, const struct gsim_sm_kernel *kernel) {
    struct gsim_sm_room sm = gsim_sm_room(profile), need = gsim_sm_room_of_kernel(profile, kernel);
    int64_t per_sm = gsim_sm_room_fit(&sm, &need);
    return per_sm > 0 ? (kernel->blocks + per_sm - 1) / per_sm : kernel->blocks;
}

enum kind { NEITHER, COMPUTES, MOVES };

/* A kernel on few SMs cannot use much of the arithmetic of all. How busy the SMs of a kernel on
 * many of them are is not known: they are taken to be busy. */
static enum kind kind_of(const struct gsim_space *space, const struct gsim_lane_gate *gate,
                         const struct gsim_member *member, int64_t number) {
    const struct gsim_program *program = member->context.spec.program;
    struct gsim_sm_kernel kernel = gsim_gate_shape(space, member, number);
    if (program && (program->kernels[number].unit != GSIM_APP_SMS ||
                    !program->kernels[number].is_traffic_known))
        return NEITHER;
    if (kernel.memory_ppm >= gate->bound_ppm)
        return MOVES;
    int64_t sms = sms_of(space->profile, &kernel);
    return sms * GSIM_PPM >= space->profile->value[GSIM_KEY_SMS] * (int64_t)gate->bound_ppm
               ? COMPUTES
               : NEITHER;
}

static bool needs_sms(const struct gsim_member *member, int64_t number) {
    const struct gsim_program *program = member->context.spec.program;
    return !program || program->kernels[number].unit == GSIM_APP_SMS;
}

static int64_t time_of(const struct gsim_member *member, int64_t number) {
    const struct gsim_program *program = member->context.spec.program;
    if (!needs_sms(member, number))
        return 0;
    return program ? program->kernels[number].ns
                   : member->context.spec.gpu_ns / member->context.spec.kernels;
}

static const struct gsim_member *present(const struct gsim_lanes *lanes,
                                         const struct gsim_gpu_lane *lane) {
    return &lanes->members[lane->spec.member[lane->state.at]];
}

static int64_t present_kernel(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    return gsim_context_kernel(&present(lanes, lane)->context, 1, lanes->now_ns).kernel;
}

/* --- jobs of a higher rank -------------------------------------------------------------------- */

static bool is_above(const struct gsim_gpu_lane *lane, const struct gsim_gpu_lane *gated) {
    return lane->spec.n > 0 && lane->spec.space == gated->spec.space &&
           lane->how.gate.rank > gated->how.gate.rank;
}

/* The kernel of an iteration that is under way: the one that runs, or the last that ran before the
 * host has launched the next, also where it waits for each. A copy or a set stands for the kernel
 * behind it. -1: no iteration is. */
static int64_t kernel_under_way(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    const struct gsim_member *member = present(lanes, lane);
    bool is_running = gsim_gpu_lane_running(lane) != GSIM_NO_MEMBER;
    if (!is_running && member->context.done == 0 && gsim_context_is_swept(&member->context))
        return -1;
    int64_t kernel = present_kernel(lanes, lane);
    if (!is_running && kernel > 0)
        kernel--;
    while (kernel + 1 < member->context.spec.kernels && !needs_sms(member, kernel))
        kernel++;
    return kernel;
}

static bool are_unlike(const struct gsim_space *space, const struct gsim_lane_gate *gate,
                       const struct gsim_member *member, int64_t number,
                       const struct gsim_member *other, int64_t other_number) {
    enum kind kind = kind_of(space, gate, member, number);
    return kind == NEITHER || kind != kind_of(space, gate, other, other_number);
}

static bool fits(const struct gsim_space *space, const struct gsim_lane_gate *gate,
                 const struct gsim_member *member, int64_t number) {
    struct gsim_sm_kernel kernel = gsim_gate_shape(space, member, number);
    int64_t most = gate->below_sms > 0 ? gate->below_sms : space->profile->value[GSIM_KEY_SMS];
    return sms_of(space->profile, &kernel) < most;
}

/* Whether no kernel of a higher rank is in the way of this one. */
static bool is_clear(const struct gsim_space *space, const struct gsim_lanes *lanes,
                     const struct gsim_gpu_lane *gated, int64_t number) {
    const struct gsim_lane_gate *gate = &gated->how.gate;
    const struct gsim_member *member = present(lanes, gated);
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        int64_t urgent = is_above(lane, gated) ? kernel_under_way(lanes, lane) : -1;
        if (urgent < 0 || !needs_sms(member, number) || gate->opens == GSIM_GATE_IDLE)
            continue;
        if (!fits(space, gate, member, number) ||
            !are_unlike(space, gate, member, number, present(lanes, lane), urgent))
            return false;
    }
    return true;
}

/* How long kernels may last together that begin before others have ended; GSIM_NEVER: no lane of a
 * higher rank has a job. */
static int64_t most_ahead_ns(struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    int64_t most_ns = GSIM_NEVER;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (!is_above(lane, gated))
            continue;
        struct gsim_member *member = &lanes->members[lane->spec.member[lane->state.at]];
        int64_t per_sweep = member->context.spec.per_sweep; /* its host waits for each kernel */
        int64_t one_ns = gsim_member_iteration_ns(member) * (per_sweep > 1 ? per_sweep : 1);
        one_ns = gsim_muldiv_floor(one_ns, gated->how.gate.ahead_ppm, GSIM_PPM);
        most_ns = one_ns < most_ns ? one_ns : most_ns;
    }
    return most_ns;
}

/* --- kernels that were let begin -------------------------------------------------------------- */

static bool is_beside(const struct gsim_gpu_lane *lane, const struct gsim_gpu_lane *gated) {
    return lane->spec.n > 0 && lane->spec.space == gated->spec.space &&
           gsim_gpu_lane_is_gated(lane);
}

static int64_t ahead_ns(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    int64_t sum_ns = 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_beside(&lanes->lane[i], gated))
            sum_ns += lanes->lane[i].state.ahead_ns;
    return sum_ns;
}

/* Forgets the kernels that were let begin, if all of them have ended. */
static bool have_ended(struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (is_beside(lane, gated) && gsim_gpu_lane_running(lane) != GSIM_NO_MEMBER &&
            present_kernel(lanes, lane) < (int64_t)lane->state.admitted)
            return false;
    }
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_beside(&lanes->lane[i], gated))
            lanes->lane[i].state.ahead_ns = 0;
    return true;
}

/* Whether a lane of GSIM_GATE_IDLE waits until nothing of a higher rank is launched, and has not
 * been for long enough. */
static bool is_waiting(const struct gsim_gpu_lane *lane) {
    return lane->state.is_shut || lane->times.opens_ns != GSIM_NEVER;
}

static bool has_come(const struct gsim_gpu_lane *lane, int64_t kernel) {
    return lane->times.arrived_ns != GSIM_NEVER && lane->state.held_kernel == kernel;
}

/* Of kernels that begin in one instant the SMs get first the one that was launched first. A kernel
 * behind another one of its lane comes later. */
static void note_turn(struct gsim_lanes *lanes, struct gsim_gpu_lane *lane, int64_t next) {
    uint8_t n = 0;
    if (has_come(lane, next) || next > present_kernel(lanes, lane))
        return;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *other = &lanes->lane[i];
        bool is_now = other->spec.space == lane->spec.space && other->times.let_ns == lanes->now_ns;
        if (other != lane && is_now && other->state.let_nth > n)
            n = other->state.let_nth;
    }
    lane->state.let_nth = (uint8_t)(n + 1);
    lane->times.let_ns = lanes->now_ns;
}

static void serve_last(struct gsim_lanes *lanes, uint16_t number) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) /* lanes that their jobs have left, too */
        if (lanes->lane[i].spec.space == lanes->lane[number].spec.space)
            lanes->lane[i].state.is_served_last = i == number;
}

void gsim_gate_note_lone(struct gsim_lanes *lanes, uint16_t number) {
    const struct gsim_gpu_lane *lane = &lanes->lane[number];
    bool is_lone = !lane->state.is_served_last && gsim_gpu_lane_running(lane) != GSIM_NO_MEMBER;
    for (uint16_t i = 0; i < lanes->n_lanes && is_lone; i++)
        is_lone = i == number || lanes->lane[i].spec.n == 0 ||
                  lanes->lane[i].spec.space != lane->spec.space;
    if (is_lone)
        serve_last(lanes, number);
}

/* The next kernel of the lane begins. */
static int64_t let_begin(struct gsim_lanes *lanes, uint16_t number, int64_t next) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    int64_t one_ns = time_of(present(lanes, lane), next);
    serve_last(lanes, number);
    note_turn(lanes, lane, next);
    lane->state.ahead_ns += one_ns;
    lane->state.admitted = (uint32_t)next + 1;
    return one_ns;
}

/* Lets kernels of the lane begin, that many at most, and as long as those that have not ended last
 * no longer than most_ns. Returns whether it did. */
static bool let_some(const struct gsim_space *space, struct gsim_lanes *lanes, uint16_t number,
                     int64_t kernel, int64_t most, int64_t most_ns) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    const struct gsim_member *member = present(lanes, lane);
    int64_t sum_ns = ahead_ns(lanes, lane), n = 0;
    if (sum_ns > most_ns && have_ended(lanes, lane))
        sum_ns = 0;
    int64_t next = kernel > lane->state.admitted ? kernel : lane->state.admitted;
    struct gsim_kernel_span span = gsim_context_kernel(
        &member->context, sum_ns > most_ns ? 1 : next - kernel + most, lanes->now_ns);
    while (n < most && sum_ns <= most_ns && next <= kernel + span.n_behind &&
           is_clear(space, lanes, lane, next)) {
        sum_ns += let_begin(lanes, number, next++);
        n++;
    }
    return n > 0;
}

/* Without a job of a higher rank a kernel begins as it comes. It counts from then on: a job of a
 * higher rank may come before it has ended. Of the lane it is the only one then, since kernels
 * behind it have not come. Returns whether it had not been let begin. */
static bool let_freely(struct gsim_lanes *lanes, uint16_t number, int64_t kernel) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    if (lane->how.gate.opens != GSIM_GATE_APART || kernel < lane->state.admitted)
        return false;
    lane->state.ahead_ns = 0;
    (void)let_begin(lanes, number, kernel);
    return true;
}

bool gsim_gate_admits(const struct gsim_space *space, struct gsim_lanes *lanes, uint16_t number,
                      int64_t kernel) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    int64_t most_ns = most_ahead_ns(lanes, lane);
    if (most_ns == GSIM_NEVER) {
        (void)let_freely(lanes, number, kernel);
        return true;
    }
    if (lane->how.gate.opens != GSIM_GATE_IDLE || !is_waiting(lane))
        (void)let_some(space, lanes, number, kernel, LAUNCHES_AT_ONCE, most_ns);
    return kernel < lane->state.admitted;
}

bool gsim_gate_lets_one(const struct gsim_space *space, struct gsim_lanes *lanes, uint16_t number,
                        int64_t kernel) {
    int64_t most_ns = most_ahead_ns(lanes, &lanes->lane[number]);
    return most_ns == GSIM_NEVER ? let_freely(lanes, number, kernel)
                                 : let_some(space, lanes, number, kernel, 1, most_ns);
}

/* Whether the lane waits for its gate with this kernel. */
static bool waits_for_gate(const struct gsim_gpu_lane *lane, int64_t kernel) {
    bool waits = lane->how.gate.opens == GSIM_GATE_IDLE || lane->state.rate_q32 == 0;
    return waits && lane->is_by_blocks && !has_come(lane, kernel);
}

/* A lane that had its GPU to itself did not ask for its kernel. */
void gsim_gate_look_at_newcomer(struct gsim_lanes *lanes, uint16_t number) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (lane->spec.n == 0 || !gsim_gpu_lane_is_gated(lane) ||
            !is_above(&lanes->lane[number], lane))
            continue;
        lane->state.ahead_ns = 0;
        if (gsim_gpu_lane_running(lane) == GSIM_NO_MEMBER)
            continue;
        int64_t kernel = present_kernel(lanes, lane), end = lane->state.admitted;
        if (kernel >= end && !waits_for_gate(lane, kernel))
            (void)let_begin(lanes, i, kernel);
        for (int64_t next = kernel; next < end; next++)
            lane->state.ahead_ns += time_of(present(lanes, lane), next);
    }
}

int64_t gsim_gate_asks_ns(struct gsim_lanes *lanes, uint16_t number) {
    const struct gsim_gpu_lane *lane = &lanes->lane[number];
    if (!gsim_lane_counts_ahead(&lane->how) || gsim_gpu_lane_running(lane) == GSIM_NO_MEMBER ||
        most_ahead_ns(lanes, lane) == GSIM_NEVER)
        return GSIM_NEVER;
    int64_t kernel = present_kernel(lanes, lane), let = lane->state.admitted - kernel;
    struct gsim_kernel_span span =
        gsim_context_kernel(&present(lanes, lane)->context, let + 1, lanes->now_ns);
    return let == span.n_behind + 1 ? span.next_ns : GSIM_NEVER;
}

/* --- gates that open where nothing of a higher rank is launched ------------------------------- */

static bool is_launched_above(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_above(&lanes->lane[i], gated) &&
            gsim_gpu_lane_running(&lanes->lane[i]) != GSIM_NO_MEMBER)
            return true;
    return false;
}

static bool are_any_above(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_above(&lanes->lane[i], gated))
            return true;
    return false;
}

/* When the gates below may open, by the lanes above; GSIM_NEVER: they may. A lane that came after
 * the last kernel knows it by these alone. */
static int64_t shut_until_ns(struct gsim_lanes *lanes, const struct gsim_gpu_lane *gated) {
    int64_t until_ns = GSIM_NEVER;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (!is_above(lane, gated) || !gsim_gpu_lane_closes_gates(lane))
            continue;
        if (lane->times.opens_ns <= lanes->now_ns)
            lane->times.opens_ns = GSIM_NEVER;
        if (until_ns == GSIM_NEVER ||
            (lane->times.opens_ns != GSIM_NEVER && lane->times.opens_ns > until_ns))
            until_ns = lane->times.opens_ns;
    }
    return until_ns;
}

/* The gate waits for a job of a higher rank that may launch again, and for none that has left. The
 * time from which on the gate is open again is known only until then: later it would make equal
 * states look different. */
bool gsim_gate_look(struct gsim_lanes *lanes, uint16_t number) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    int64_t was_ns = lane->times.opens_ns;
    bool is_shut = is_launched_above(lanes, lane);
    if (is_shut || was_ns <= lanes->now_ns || !are_any_above(lanes, lane))
        lane->times.opens_ns = GSIM_NEVER;
    else if (lane->state.is_shut && gsim_gpu_lane_gate_wait_ns(lane) > 0)
        lane->times.opens_ns = lanes->now_ns + gsim_gpu_lane_gate_wait_ns(lane);
    int64_t until_ns = is_shut ? GSIM_NEVER : shut_until_ns(lanes, lane);
    if (until_ns != GSIM_NEVER)
        lane->times.opens_ns = until_ns;
    lane->state.is_shut = is_shut;
    return lane->times.opens_ns != was_ns;
}

enum gsim_gate_way gsim_gate_way(const struct gsim_lanes *lanes, uint16_t number, int64_t kernel) {
    const struct gsim_gpu_lane *lane = &lanes->lane[number];
    bool has_begun = lane->times.arrived_ns != GSIM_NEVER && lane->state.held.n > 0;
    if (lane->how.gate.opens != GSIM_GATE_IDLE)
        return GSIM_GATE_FREE;
    if (lane->how.gate.whole_ns > 0 && has_begun &&
        time_of(present(lanes, lane), kernel) <= lane->how.gate.whole_ns)
        return GSIM_GATE_RUNS_OUT;
    return is_waiting(lane) ? GSIM_GATE_STOPPED : GSIM_GATE_FREE;
}
