/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/shared_sms.h"

#include "models/gpu/atoms.h"
#include "models/gpu/clock.h"
#include "models/gpu/gate.h"
#include "models/gpu/kernel_log.h"
#include "models/gpu/member_alone.h"
#include "sim/base/hints.h"

/* The kernels of a space, and the lanes that they belong to: of each as many as the space has
 * lanes. */
struct batch {
    struct gsim_sm_kernel *kernel;
    gsim_work *end; /* of each kernel, as work of its iteration */
    uint16_t *lane, *order;
    uint32_t n;
    struct gsim_atom *atom; /* of those that run as atoms */
    uint32_t n_atoms;
};

/* The SMs of a lane, and the bytes that the other lanes of its space move on average. */
struct place {
    int64_t first_sm, n_sms;
    bool has_queue, is_pooled;
    int64_t others_bytes_per_s;
};

static bool is_here(const struct gsim_gpu_lane *lane, uint16_t number) {
    return lane->spec.space == number && lane->spec.n > 0;
}

static bool has_program(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    for (uint16_t i = 0; i < lane->spec.n; i++)
        if (lanes->members[lane->spec.member[i]].context.spec.program)
            return true;
    return false;
}

static bool is_limited(const struct gsim_gpu_lane *lane) {
    return lane->how.n_sms > 0 || gsim_gpu_lane_has_atoms(lane) ||
           (lane->how.cap_ppm > 0 && lane->how.cap_ppm < GSIM_PPM);
}

/* Whether a kernel of the lane has come to SMs that other lanes had as well. When these leave, its
 * blocks stay where they are, and none of them goes faster for that: it has the GPU to itself block
 * by block, to its end. */
static bool is_amid_kernel(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    uint16_t running = gsim_gpu_lane_running(lane);
    if (!lane->is_by_blocks || running == GSIM_NO_MEMBER || lane->times.arrived_ns == GSIM_NEVER)
        return false;
    struct gsim_kernel_span span =
        gsim_context_kernel(&lanes->members[running].context, 1, lanes->now_ns);
    return lane->state.held_kernel == span.kernel;
}

static bool applies(const struct gsim_space *space, uint16_t number,
                    const struct gsim_lanes *lanes) {
    bool is_by_kernels = false, has_limits = false;
    const struct gsim_gpu_lane *last = NULL;
    uint32_t n = 0;
    if (space->profile->value[GSIM_KEY_SMS] > GSIM_ARRAY_SMS_MAX)
        return false;
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (!is_here(lane, number))
            continue;
        if (gsim_gpu_lane_is_by_priority(lane))
            return false;
        is_by_kernels |= has_program(lanes, lane) || gsim_gpu_lane_is_gated(lane) ||
                         gsim_gpu_lane_has_atoms(lane);
        has_limits |= is_limited(lane);
        last = lane;
        n++;
    }
    return is_by_kernels && (n > 1 || has_limits || is_amid_kernel(lanes, last));
}

/* The first SM, from `from` on, of a range of this width that other caps leave; where it ends past
 * the end of the space, there is none. */
static int64_t first_left(const struct gsim_lanes *lanes, uint16_t number, int64_t width,
                          int64_t from) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        const struct gsim_lane_spec *spec = &lanes->lane[i].spec;
        int64_t end = spec->cap_first + spec->cap_sms;
        bool is_capped = is_here(&lanes->lane[i], number) && spec->cap_sms > 0;
        if (is_capped && spec->cap_first < from + width && end > from)
            return first_left(lanes, number, width, end);
    }
    return from;
}

/* Caps are laid out beside each other as long as there are SMs for that, and then from the end. A
 * client keeps its SMs: its running kernel would have more than its cap leaves it, and those of
 * others, if they lay elsewhere once another client has left. */
static void lay_out_cap(const struct gsim_space *space, uint16_t number, struct gsim_lanes *lanes,
                        struct gsim_gpu_lane *lane) {
    int64_t width = gsim_sm_array_width(space->profile, space->sms, lane->how.cap_ppm);
    if (lane->spec.cap_sms == width)
        return;
    lane->spec.cap_sms = 0;
    int64_t first = first_left(lanes, number, width, 0);
    lane->spec.cap_first = (uint16_t)(first + width <= space->sms ? first : space->sms - width);
    lane->spec.cap_sms = (uint16_t)width;
}

static struct place place_of(const struct gsim_space *space, uint16_t number,
                             struct gsim_lanes *lanes, struct gsim_gpu_lane *lane) {
    if (!is_limited(lane))
        lane->spec.cap_sms = 0;
    if (gsim_rarely(gsim_gpu_lane_has_atoms(lane)))
        return (struct place){.n_sms = space->sms,
                              .has_queue = true}; /* of which each atom has its own */
    if (lane->how.n_sms > 0)
        return (struct place){.first_sm = lane->how.first_sm, .n_sms = lane->how.n_sms};
    if (!is_limited(lane))
        return (struct place){.n_sms = space->sms};
    lay_out_cap(space, number, lanes, lane);
    return (struct place){.first_sm = lane->spec.cap_first,
                          .n_sms = lane->spec.cap_sms,
                          .has_queue = true,
                          .is_pooled = !gsim_gpu_lane_is_gated(lane)};
}

static int64_t scaled(gsim_work work, int64_t part, int64_t whole) {
    return (int64_t)(gsim_work_to_ns(work) * part / whole);
}

/* The time between two kernels of a stream, in which the later one does not need SMs yet. */
static gsim_work before_it(const struct gsim_space *space, const struct gsim_context *context,
                           const struct gsim_kernel_span *span) {
    int64_t between_ns = space->profile->value[GSIM_KEY_LAUNCH_BETWEEN_NS];
    if (!context->spec.program || span->kernel == 0 || between_ns == 0)
        return 0;
    int64_t ns = context->spec.program->kernels[span->kernel].ns;
    ns = ns > 0 ? ns : 1;
    return gsim_work_of_ns(scaled(span->end - span->start, between_ns, ns + between_ns));
}

static bool needs_sms(const struct gsim_context *context, int64_t kernel) {
    return !context->spec.program || context->spec.program->kernels[kernel].unit == GSIM_APP_SMS;
}

static int64_t at_highest(int64_t power_uw, uint32_t clock_ppm) {
    return gsim_muldiv_floor(power_uw, GSIM_PPM, clock_ppm);
}

/* The power that a program draws, by the energy of an iteration. */
static struct gsim_member_power power_of(const struct gsim_profile *profile,
                                         const struct gsim_context *context) {
    const struct gsim_program *program = context->spec.program;
    struct gsim_member_power out = {.pace_ns = context->spec.pace_ns,
                                    .gpu_ns = context->spec.gpu_ns};
    if (program->energy.core_uj == 0)
        return out;
    int64_t ns = program->gpu_ns;
    if (context->spec.pace_ns > context->spec.gpu_ns)
        ns = gsim_muldiv_floor(ns, context->spec.pace_ns, context->spec.gpu_ns);
    const struct gsim_clock_energy *energy = &program->energy;
    out.clock_ppm = gsim_clock_alone(profile, energy, ns);
    out.power_uw = at_highest(gsim_muldiv_floor(energy->core_uj, GSIM_NS_PER_S, ns), out.clock_ppm);
    out.memory_uw =
        at_highest(gsim_muldiv_floor(energy->memory_uj, GSIM_NS_PER_S, ns), out.clock_ppm);
    return out;
}

static void set_power(const struct gsim_profile *profile, struct gsim_member *member,
                      int64_t number, struct gsim_sm_kernel *out) {
    const struct gsim_context *context = &member->context;
    if (!context->spec.program)
        return;
    if (member->power.gpu_ns != context->spec.gpu_ns ||
        member->power.pace_ns != context->spec.pace_ns)
        member->power = power_of(profile, context);
    out->clock_ppm = member->power.clock_ppm;
    out->power_uw = member->power.power_uw;
    out->memory_uw = member->power.memory_uw;
    out->lowers_ppm = context->spec.program->kernels[number].lowers_ppm;
}

/* A program that is slower alone than its kernels has a GPU at lower clocks (models/gpu/
 * program_alone.h). Beside others it has so too, since no turn of theirs lets it rest. */
static uint64_t clocked(const struct gsim_context *context, uint64_t rate_q32) {
    if (context->spec.pace_ns <= context->spec.gpu_ns)
        return rate_q32;
    gsim_u128 rate =
        (gsim_u128)rate_q32 * (uint64_t)context->spec.gpu_ns / (uint64_t)context->spec.pace_ns;
    return rate_q32 > 0 && rate == 0 ? 1 : (uint64_t)rate;
}

/* A kernel that the lane did not have when it was looked at last comes to the SMs now; what the
 * lane had is forgotten at the end of each iteration. */
static void note_arrival(struct gsim_gpu_lane *lane, int64_t kernel, int64_t now_ns) {
    struct gsim_lane_state *state = &lane->state;
    if (lane->times.arrived_ns != GSIM_NEVER && state->held_kernel == kernel)
        return;
    gsim_sm_held_clear(&state->held);
    gsim_gpu_lane_end_atom(lane);
    state->held_kernel = (uint32_t)kernel;
    lane->times.arrived_ns = now_ns;
    if (lane->times.let_ns != now_ns)
        state->let_nth = 0;
    lane->times.next_atom_ns = GSIM_NEVER;
}

static void set(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane, uint64_t rate_q32,
                gsim_work look_done, struct gsim_sm_losses lost, int64_t now_ns) {
    bool is_as_before = lane->is_by_blocks && lane->state.rate_q32 == rate_q32 &&
                        lane->state.look_done == look_done;
    bool loses_as_before =
        lane->lost.sms_ppm == lost.sms_ppm && lane->lost.bandwidth_ppm == lost.bandwidth_ppm;
    lane->is_by_blocks = true;
    if (is_as_before && loses_as_before)
        return;
    gsim_gpu_lane_settle(gpu, lane, now_ns);
    lane->lost = lost;
    if (is_as_before)
        return;
    lane->state.rate_q32 = rate_q32;
    lane->state.look_done = look_done;
    gsim_gpu_lane_plan(gpu, lane, now_ns);
}

/* The lane is on no SMs: it goes on without them, or its kernel does not begin yet. */
static void go_on_without(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                          uint64_t rate_q32, gsim_work look_done, int64_t now_ns) {
    gsim_sm_held_clear(&lane->state.held);
    gsim_gpu_lane_end_atom(lane);
    lane->state.held_kernel = 0;
    lane->times.arrived_ns = lane->times.next_atom_ns = GSIM_NEVER;
    set(gpu, lane, rate_q32, look_done, (struct gsim_sm_losses){0}, now_ns);
}

/* Whether the kernel has begun, or may begin now. The gate is asked in any case: kernels that are
 * launched behind this one may be let begin with it. */
GSIM_APART static bool is_let_begin(const struct gsim_space *space, struct gsim_lanes *lanes,
                                    uint16_t number, int64_t kernel) {
    const struct gsim_gpu_lane *lane = &lanes->lane[number];
    bool has_begun = lane->times.arrived_ns != GSIM_NEVER && lane->state.held_kernel == kernel;
    return gsim_gate_admits(space, lanes, number, kernel) || has_begun;
}

/* What the running member of a lane has done of its iteration by now_ns. */
static gsim_work done_at(const struct gsim_gpu_lane *lane, const struct gsim_member *member,
                         int64_t now_ns) {
    int64_t ran_ns = now_ns - lane->times.since_ns - member->state.stall_ns;
    if (ran_ns <= 0 || lane->state.is_halting)
        return member->context.done;
    return member->context.done + gsim_work_done(lane->state.rate_q32, ran_ns);
}

/* A kernel that is stopped block by block, or runs as atoms, consists of its waves, where only the
 * time of a block is known. */
static void divide(const struct gsim_gpu_lane *lane, const struct gsim_member *member,
                   struct gsim_sm_kernel *kernel) {
    const struct gsim_context_spec *spec = &member->context.spec;
    int64_t block_ns = member->spec.block_ns;
    bool is_divided = lane->how.gate.opens == GSIM_GATE_IDLE || gsim_gpu_lane_has_atoms(lane);
    if (is_divided && !spec->program && block_ns > 0)
        kernel->blocks *= (spec->gpu_ns / spec->kernels + block_ns - 1) / block_ns;
}

/* A program that looks at how many SMs it has launches its kernel's work as no more blocks than
 * they hold. */
static void spread(struct gsim_sm_kernel *kernel) {
    int64_t most = kernel->n_sms * kernel->alone.per_sm;
    if (!kernel->spreads || kernel->is_whole || kernel->blocks <= most)
        return;
    kernel->whole_blocks = kernel->blocks;
    kernel->blocks = most;
}

GSIM_APART static void obey_gate(const struct gsim_lanes *lanes, uint16_t number, int64_t launch,
                                 struct gsim_sm_kernel *kernel) {
    enum gsim_gate_way way = gsim_gate_way(lanes, number, launch);
    kernel->is_stopped = way == GSIM_GATE_STOPPED;
    if (way == GSIM_GATE_RUNS_OUT)
        kernel->rank = UINT16_MAX;
}

/* What the present member of the lane moves in the mean of an iteration, alone. */
static int64_t moves(const struct gsim_lanes *lanes, const struct gsim_gpu_lane *lane) {
    return gsim_member_alone(&lanes->members[lane->spec.member[lane->state.at]])->hbm_bytes_per_s;
}

/* As long as an iteration takes alone, others move bytes between two uses of what kernels begin
 * with; it takes longer beside them, and they move less. */
static struct gsim_first_loads first_loads_of(const struct gsim_space *space,
                                              struct gsim_member *member,
                                              const struct place *place) {
    const struct gsim_program *program = member->context.spec.program;
    if (!program || place->others_bytes_per_s == 0)
        return (struct gsim_first_loads){0};
    struct gsim_member_begins *begins = &member->begins;
    int64_t ns = gsim_member_iteration_ns(member), others = place->others_bytes_per_s;
    if (begins->iteration_ns != ns || begins->others_bytes_per_s != others ||
        begins->peak_bytes_per_s != space->peak_bytes_per_s || begins->profile != space->profile)
        *begins = (struct gsim_member_begins){
            ns, others, space->peak_bytes_per_s, space->profile,
            gsim_first_loads_of(space, program->hbm_bytes,
                                gsim_muldiv_floor(others, ns, GSIM_NS_PER_S))};
    return begins->loads;
}

static struct gsim_present_kernel find_present(const struct gsim_space *space,
                                               const struct gsim_member *member, int64_t now_ns) {
    const struct gsim_context *context = &member->context;
    struct gsim_kernel_span span = gsim_context_kernel(context, 1, now_ns);
    struct gsim_present_kernel out = {.program = context->spec.program,
                                      .profile = space->profile,
                                      .gpu_ns = context->spec.gpu_ns,
                                      .number = span.kernel,
                                      .begin = span.start + before_it(space, context, &span),
                                      .end = span.end,
                                      .shape = gsim_gate_shape(space, member, span.kernel)};
    gsim_sm_kernel_know_alone(space, &out.shape);
    return out;
}

/* What a kernel of which only the time is known fills is told by its job, and is found anew. */
static bool is_present(const struct gsim_present_kernel *kept, const struct gsim_space *space,
                       const struct gsim_context *context) {
    return kept->program && kept->program == context->spec.program && !kept->shape.is_whole &&
           kept->profile == space->profile && kept->gpu_ns == context->spec.gpu_ns &&
           gsim_context_is_known_at(context, kept->number);
}

/* Of the member of this number. A kernel is looked at several times. other: a place where nothing
 * is kept. */
static const struct gsim_present_kernel *present_of(const struct gsim_space *space,
                                                    const struct gsim_lanes *lanes, uint16_t number,
                                                    struct gsim_shared_sms_kept *kept,
                                                    struct gsim_present_kernel *other) {
    struct gsim_present_kernel *out = kept ? &kept->present[number % GSIM_PRESENT_KERNELS] : other;
    const struct gsim_member *member = &lanes->members[number];
    if (!kept || !is_present(out, space, &member->context))
        *out = find_present(space, member, lanes->now_ns);
    return out;
}

/* What the kernel is, wherever it runs and however much of it is left. */
static void begin_kernel(const struct gsim_space *space, struct gsim_lanes *lanes,
                         struct gsim_member *member, const struct gsim_present_kernel *present,
                         struct gsim_sm_kernel *out) {
    *out = present->shape;
    out->all = present->end - present->begin;
    set_power(space->profile, member, present->number, out);
    lanes->has_unknown_traffic |=
        present->program && !present->program->kernels[present->number].is_traffic_known;
}

/* No gate holds back blocks of the lane's kernels, and none is launched in parts. */
static bool chooses_freely(const struct gsim_gpu_lane *lane) {
    return !gsim_gpu_lane_is_gated(lane) && !gsim_gpu_lane_has_atoms(lane);
}

/* The kernel of a running lane joins the batch, unless it needs no SMs now. The lane is brought
 * forward where its rate changes only: it is asked again at the end of each of its kernels, so that
 * its kernel is the one that it had when it was last brought forward. */
static void collect(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                    struct gsim_lanes *lanes, uint16_t number, const struct place *place,
                    struct gsim_shared_sms_kept *kept, struct batch *out) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    struct gsim_member *member = &lanes->members[gsim_gpu_lane_running(lane)];
    const struct gsim_context *context = &member->context;
    struct gsim_present_kernel other;
    const struct gsim_present_kernel *present =
        present_of(space, lanes, gsim_gpu_lane_running(lane), kept, &other);
    gsim_work begin = present->begin, end = present->end;
    gsim_work done = done_at(lane, member, lanes->now_ns);
    if (done < begin || !needs_sms(context, present->number)) {
        go_on_without(gpu, lane, GSIM_RATE_ONE, done < begin ? begin : end, lanes->now_ns);
        return;
    }
    /* it may have a part of a nanosecond of the kernel before it */
    bool ran_alone = !lane->is_by_blocks && done - begin >= gsim_work_of_ns(1);
    if (gsim_rarely(gsim_gpu_lane_is_gated(lane)) &&
        !is_let_begin(space, lanes, number, present->number) && !ran_alone) {
        go_on_without(gpu, lane, 0, end, lanes->now_ns);
        return;
    }
    note_arrival(lane, present->number, lanes->now_ns);
    if (gsim_rarely(ran_alone))
        lane->state.let_nth = 0; /* it was there before those that are let begin now */
    struct gsim_sm_kernel *kernel = &out->kernel[out->n];
    begin_kernel(space, lanes, member, present, kernel);
    if (!gsim_gpu_lane_has_atoms(lane))
        kernel->first_loads = first_loads_of(space, member, place);
    lanes->has_first_loads |= kernel->first_loads.misses_ppm > 0;
    kernel->left = end - done;
    kernel->arrived_ns = lane->times.arrived_ns;
    kernel->let_nth = lane->state.let_nth;
    kernel->first_sm = (uint16_t)place->first_sm;
    kernel->n_sms = (uint16_t)place->n_sms;
    kernel->has_queue = place->has_queue;
    kernel->is_pooled = place->is_pooled;
    kernel->may_begin_apart = place->is_pooled || (kernel->is_alike && chooses_freely(lane));
    kernel->rank = lane->how.gate.rank;
    kernel->held = &lane->state.held;
    kernel->ran_alone = ran_alone;
    divide(lane, member, kernel);
    spread(kernel);
    if (gsim_rarely(gsim_gpu_lane_is_gated(lane)))
        obey_gate(lanes, number, present->number, kernel);
    out->end[out->n] = end;
    out->lane[out->n] = number;
    out->n++;
    if (gsim_rarely(gsim_gpu_lane_has_atoms(lane)))
        out->atom[out->n_atoms++] = (struct gsim_atom){
            .kernel = kernel,
            .end = &out->end[out->n - 1],
            .lane = number,
            .needs = gsim_sm_array_needs(space, kernel, lane->how.atoms.slip_ppm)};
}

/* Observers learn which SMs each lane of the space has now. */
static void tell_sms(const struct gsim_lane_gpu *gpu, uint16_t number, struct gsim_lanes *lanes,
                     const struct batch *batch) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        bool is_served = false;
        for (uint32_t k = 0; k < batch->n && !is_served; k++)
            is_served = batch->lane[k] == i;
        if (is_here(&lanes->lane[i], number))
            gsim_kernel_log_sms(gpu, &lanes->lane[i], is_served, lanes->now_ns);
    }
}

/* The kernel for which a lane asks its gate, which is one of GSIM_GATE_APART; -1: it asks for
 * none. */
static int64_t asks_for(const struct gsim_space *space, const struct gsim_lanes *lanes,
                        const struct gsim_gpu_lane *lane) {
    if (!gsim_gpu_lane_is_gated(lane) || lane->how.gate.opens == GSIM_GATE_IDLE ||
        gsim_gpu_lane_running(lane) == GSIM_NO_MEMBER)
        return -1;
    const struct gsim_member *member = &lanes->members[gsim_gpu_lane_running(lane)];
    struct gsim_kernel_span span = gsim_context_kernel(&member->context, 1, lanes->now_ns);
    gsim_work begin = span.start + before_it(space, &member->context, &span);
    bool is_there = done_at(lane, member, lanes->now_ns) >= begin;
    return is_there && needs_sms(&member->context, span.kernel) ? (int64_t)span.kernel : -1;
}

/* Gates of several lanes are asked by turns, for a kernel each, from the lane on that is behind the
 * last one of which a kernel was let begin, though its job may have left: as Orion's scheduler goes
 * through its clients. */
GSIM_APART static void ask_by_turns(const struct gsim_space *space, uint16_t number,
                                    struct gsim_lanes *lanes) {
    uint16_t n = lanes->n_lanes, first = 0;
    for (uint16_t i = 0; i < n; i++)
        if (lanes->lane[i].spec.space == number && lanes->lane[i].state.is_served_last)
            first = i + 1;
    for (bool is_any = true; is_any;) {
        is_any = false;
        for (uint16_t i = 0; i < n; i++) {
            uint16_t at = (uint16_t)((first + i) % n);
            const struct gsim_gpu_lane *lane = &lanes->lane[at];
            int64_t kernel = is_here(lane, number) ? asks_for(space, lanes, lane) : -1;
            is_any |= kernel >= 0 && gsim_gate_lets_one(space, lanes, at, kernel);
        }
    }
}

static bool have_several_gates(const struct gsim_lanes *lanes, uint16_t number) {
    uint32_t n = 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_here(&lanes->lane[i], number) && gsim_gpu_lane_is_gated(&lanes->lane[i]) &&
            lanes->lane[i].how.gate.opens != GSIM_GATE_IDLE)
            n++;
    return n > 1;
}

/* A gate may open at a time of its own. */
GSIM_APART static void look_at_gate(const struct gsim_lane_gpu *gpu, struct gsim_lanes *lanes,
                                    uint16_t number) {
    struct gsim_gpu_lane *lane = &lanes->lane[number];
    if (!gsim_gate_look(lanes, number))
        return;
    gsim_gpu_lane_settle(gpu, lane, lanes->now_ns);
    gsim_gpu_lane_plan(gpu, lane, lanes->now_ns);
}

/* Kernels that come behind others of their lane may be let begin at once. */
GSIM_APART static void look_for_launches(const struct gsim_lane_gpu *gpu, uint16_t number,
                                         struct gsim_lanes *lanes) {
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (lane->spec.space != number || !gsim_gpu_lane_is_gated(lane) ||
            lane->how.gate.opens == GSIM_GATE_IDLE)
            continue;
        int64_t asks_ns = lane->spec.n > 0 ? gsim_gate_asks_ns(lanes, i) : GSIM_NEVER;
        if (asks_ns == lane->times.opens_ns)
            continue;
        lane->times.opens_ns = asks_ns;
        gsim_gpu_lane_settle(gpu, lane, lanes->now_ns);
        gsim_gpu_lane_plan(gpu, lane, lanes->now_ns);
    }
}

static int64_t all_move(const struct gsim_lanes *lanes, uint16_t number) {
    int64_t sum = 0;
    for (uint16_t i = 0; i < lanes->n_lanes; i++)
        if (is_here(&lanes->lane[i], number))
            sum += moves(lanes, &lanes->lane[i]);
    return sum;
}

/* The kernels that the lanes of the space have on SMs now. */
static void collect_all(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                        uint16_t number, struct gsim_lanes *lanes,
                        struct gsim_shared_sms_kept *kept, struct batch *batch) {
    int64_t all_bytes_per_s = all_move(lanes, number);
    if (gsim_rarely(have_several_gates(lanes, number)))
        ask_by_turns(space, number, lanes);
    for (uint16_t i = 0; i < lanes->n_lanes; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[i];
        if (!is_here(lane, number))
            continue;
        struct place place = place_of(space, number, lanes, lane);
        place.others_bytes_per_s = all_bytes_per_s - moves(lanes, lane);
        if (gsim_rarely(lane->how.gate.opens == GSIM_GATE_IDLE))
            look_at_gate(gpu, lanes, i);
        if (gsim_gpu_lane_running(lane) != GSIM_NO_MEMBER)
            collect(gpu, space, lanes, i, &place, kept, batch);
    }
}

static void solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *space, uint16_t number,
                  struct gsim_lanes *lanes, struct gsim_shared_sms_kept *kept,
                  struct batch *batch) {
    collect_all(gpu, space, number, lanes, kept, batch);
    if (gsim_rarely(batch->n_atoms > 0))
        gsim_atoms_choose(space, number, lanes, batch->atom, batch->n_atoms);
    gsim_sm_array_solve(space, batch->kernel, batch->order, batch->n, kept ? &kept->last : NULL);
    for (uint32_t i = 0; i < batch->n; i++) {
        struct gsim_gpu_lane *lane = &lanes->lane[batch->lane[i]];
        const struct gsim_context *context = &lanes->members[gsim_gpu_lane_running(lane)].context;
        set(gpu, lane, clocked(context, batch->kernel[i].rate_q32),
            batch->end[i] - batch->kernel[i].look, batch->kernel[i].lost, lanes->now_ns);
    }
    look_for_launches(gpu, number, lanes);
    if (gpu->spans)
        tell_sms(gpu, number, lanes, batch);
}

/* Each page of a stack's frame is touched as it is entered, so that kernels of few lanes have a
 * small one. */
enum { FEW = 16 };

GSIM_APART static void solve_many(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                                  uint16_t number, struct gsim_lanes *lanes,
                                  struct gsim_shared_sms_kept *kept) {
    struct gsim_sm_kernel kernel[GSIM_CONTEXTS_MAX];
    struct gsim_atom atom[GSIM_CONTEXTS_MAX];
    gsim_work end[GSIM_CONTEXTS_MAX];
    uint16_t lane[GSIM_CONTEXTS_MAX], order[GSIM_CONTEXTS_MAX];
    struct batch batch = {kernel, end, lane, order, 0, atom, 0};
    solve(gpu, space, number, lanes, kept, &batch);
}

static void solve_few_or_many(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                              uint16_t number, struct gsim_lanes *lanes,
                              struct gsim_shared_sms_kept *kept) {
    struct gsim_sm_kernel kernel[FEW];
    struct gsim_atom atom[FEW];
    gsim_work end[FEW];
    uint16_t lane[FEW], order[FEW];
    struct batch batch = {kernel, end, lane, order, 0, atom, 0};
    if (gsim_rarely(lanes->n_lanes > FEW))
        solve_many(gpu, space, number, lanes, kept);
    else
        solve(gpu, space, number, lanes, kept, &batch);
}

bool gsim_shared_sms_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                           uint16_t number, struct gsim_lanes *lanes,
                           struct gsim_shared_sms_kept *kept) {
    if (!applies(space, number, lanes)) {
        if (gsim_rarely(lanes->has_shared_blocks))
            look_for_launches(gpu, number, lanes);
        return false;
    }
    lanes->has_shared_blocks = true;
    solve_few_or_many(gpu, space, number, lanes, kept);
    return true;
}
