/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/kernel_log.h"

#include "gsim/units.h"

enum { UNKNOWN = -1 };

static bool is_watched(const struct gsim_lane_gpu *gpu, int64_t from_ns, int64_t to_ns) {
    const struct gsim_slice_log *spans = gpu->spans;
    return spans && spans->has_kernels && to_ns >= spans->from_ns && from_ns < spans->until_ns;
}

static void tell_level(const struct gsim_lane_gpu *gpu, const struct gsim_member *member,
                       int64_t sms, int64_t blocks, int64_t now_ns) {
    gsim_slice_log_add(gpu->spans, &(struct gsim_span){.kind = GSIM_SPAN_SMS,
                                                       .job = member->how.job,
                                                       .begin_ns = now_ns,
                                                       .end_ns = now_ns,
                                                       .sms = sms,
                                                       .blocks = blocks});
}

/* A kernel that has its lane's SMs to itself spreads its blocks over them. */
static void tell_alone(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                       const struct gsim_member *member, const struct gsim_program_kernel *kernel,
                       int64_t now_ns) {
    int64_t sms = gpu->profile->value[GSIM_KEY_SMS];
    if (gpu->spaces)
        sms = gpu->spaces[lane->spec.space].sms;
    if (kernel->unit != GSIM_APP_SMS) {
        tell_level(gpu, member, 0, 0, now_ns);
    } else if (kernel->per_sm == 0) {
        int64_t part = gsim_muldiv_ceil(sms, member->spec.demand.fill_ppm, GSIM_PPM);
        tell_level(gpu, member, part, UNKNOWN, now_ns);
    } else {
        tell_level(gpu, member, kernel->blocks < sms ? kernel->blocks : sms,
                   kernel->blocks < kernel->per_sm * sms ? kernel->blocks : kernel->per_sm * sms,
                   now_ns);
    }
}

static struct gsim_span span_of(const struct gsim_member *member, int64_t number,
                                const struct gsim_kernel_run *run, int64_t to_ns) {
    const struct gsim_program *program = member->context.spec.program;
    const struct gsim_program_kernel *kernel = &program->kernels[number];
    return (struct gsim_span){.kind = GSIM_SPAN_KERNEL,
                              .job = member->how.job,
                              .begin_ns = run->begin_ns,
                              .end_ns = run->end_ns < to_ns ? run->end_ns : to_ns,
                              .launch = {.kernel = program->app->kernels[kernel->kind].name,
                                         .iteration = member->context.sums.done_iterations,
                                         .number = (uint32_t)number,
                                         .stream = kernel->stream,
                                         .blocks = kernel->blocks,
                                         .threads = kernel->threads,
                                         .is_end = run->end_ns <= to_ns}};
}

void gsim_kernel_log_run(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                         const struct gsim_member *member, int64_t from_ns, int64_t to_ns,
                         uint64_t rate_q32) {
    const struct gsim_context *context = &member->context;
    if (!is_watched(gpu, from_ns, to_ns) || !context->spec.program || rate_q32 == 0)
        return;
    bool is_alone = !lane->is_by_blocks && (!gpu->spaces || rate_q32 == GSIM_RATE_ONE);
    int64_t number = gsim_context_kernel(context, 1, from_ns).kernel;
    for (; number < context->spec.kernels; number++) {
        struct gsim_kernel_run run = gsim_context_kernel_run(context, number, from_ns, rate_q32);
        if (run.begin_ns >= to_ns)
            break;
        struct gsim_span span = span_of(member, number, &run, to_ns);
        if (is_alone)
            tell_alone(gpu, lane, member, &context->spec.program->kernels[number], span.begin_ns);
        gsim_slice_log_add(gpu->spans, &span);
        if (is_alone)
            tell_level(gpu, member, 0, 0, span.end_ns);
    }
}

/* A member that lost its lane, to others of it, has no blocks any more. */
static void tell_gone(const struct gsim_lane_gpu *gpu, const struct gsim_gpu_lane *lane,
                      uint16_t member, int64_t now_ns) {
    const struct gsim_lane_shown *shown = &lane->shown;
    if (shown->sms > 0 && shown->member != member && gpu->members[shown->member].is_present)
        tell_level(gpu, &gpu->members[shown->member], 0, 0, now_ns);
}

void gsim_kernel_log_sms(const struct gsim_lane_gpu *gpu, struct gsim_gpu_lane *lane,
                         bool is_served, int64_t now_ns) {
    uint16_t member = lane->spec.member[lane->state.at];
    const struct gsim_lane_shown nothing = {.kernel = UINT32_MAX, .member = member};
    struct gsim_lane_shown now = nothing, *shown = &lane->shown;
    if (!is_watched(gpu, now_ns, now_ns)) {
        *shown = nothing;
        return;
    }
    if (is_served) {
        now.kernel = lane->state.held_kernel;
        now.blocks = lane->state.held.n;
        for (uint32_t sm = 0; now.blocks > 0 && sm < GSIM_ARRAY_SMS_MAX; sm++)
            now.sms += lane->state.held.blocks[sm] > 0;
    }
    if (now.sms == shown->sms && now.blocks == shown->blocks && now.kernel == shown->kernel &&
        now.member == shown->member)
        return;
    tell_gone(gpu, lane, member, now_ns);
    *shown = now;
    tell_level(gpu, &gpu->members[member], now.sms, now.blocks, now_ns);
}
