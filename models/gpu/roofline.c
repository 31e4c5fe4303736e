/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/gpu/roofline.h"

#include <assert.h>
#include <string.h>

#include "models/gpu/space.h"

static int64_t peak(const struct gsim_profile *profile, enum gsim_precision precision) {
    static const enum gsim_key keys[GSIM_PRECISION_COUNT] = {
        [GSIM_PRECISION_FP32] = GSIM_KEY_FP32_FLOPS_PER_S,
        [GSIM_PRECISION_TF32] = GSIM_KEY_TF32_FLOPS_PER_S,
        [GSIM_PRECISION_FP16] = GSIM_KEY_FP16_FLOPS_PER_S,
        [GSIM_PRECISION_INT8] = GSIM_KEY_INT8_OPS_PER_S,
    };
    return profile->value[keys[precision]];
}

/* A kernel with the whole device puts as many blocks on an SM as copies do at their best. */
static int64_t bandwidth(const struct gsim_profile *profile, uint32_t sm_ppm) {
    struct gsim_space space = gsim_space_of_device(profile);
    if (sm_ppm == GSIM_PPM)
        return space.peak_bytes_per_s;
    return gsim_space_bandwidth(&space, profile->value[GSIM_KEY_SMS] * (int64_t)sm_ppm);
}

/* The part of a rate that a kernel reaches: of the share of its SMs, its efficiency; an unlimited
 * rate stays unlimited. */
static int64_t reached(int64_t rate, uint32_t share_ppm, uint32_t efficiency_ppm) {
    if (rate == INT64_MAX)
        return rate;
    int64_t share = gsim_muldiv_floor(rate, share_ppm, GSIM_PPM);
    int64_t part = gsim_muldiv_floor(share, efficiency_ppm, GSIM_PPM);
    return part > 0 ? part : 1;
}

static int64_t at_rate(int64_t amount, int64_t rate) {
    if (rate == INT64_MAX)
        return 0;
    gsim_i128 ns = ((gsim_i128)amount * GSIM_NS_PER_S + rate - 1) / rate;
    return ns > GSIM_TIME_MAX ? GSIM_TIME_MAX : (int64_t)ns;
}

struct gsim_roofline_time gsim_roofline(const struct gsim_profile *profile,
                                        const struct gsim_roofline *kernel) {
    assert(kernel->flops >= 0 && kernel->bytes >= 0);
    int64_t flops_per_s =
        reached(peak(profile, kernel->precision), kernel->sm_ppm, kernel->efficiency_ppm);
    int64_t bytes_per_s =
        reached(bandwidth(profile, kernel->sm_ppm), (uint32_t)GSIM_PPM, kernel->efficiency_ppm);
    struct gsim_roofline_time time = {.compute_ns = at_rate(kernel->flops, flops_per_s),
                                      .memory_ns = at_rate(kernel->bytes, bytes_per_s)};
    int64_t roof = time.compute_ns > time.memory_ns ? time.compute_ns : time.memory_ns;
    gsim_i128 whole = (gsim_i128)roof + profile->value[GSIM_KEY_LAUNCH_NS];
    time.whole_ns = whole > GSIM_TIME_MAX ? GSIM_TIME_MAX : (int64_t)whole;
    return time;
}

/* --- applications ----------------------------------------------------------------------------- */

static enum gsim_status too_much(const struct gsim_app *app, const struct gsim_app_kernel *kernel,
                                 const struct gsim_profile *profile, const char *what,
                                 int64_t needed, int64_t there, struct gsim_log *log) {
    return gsim_fail(log, GSIM_BAD_INPUT, app->path, kernel->line,
                     "kernel '%s' needs %lld %s; device %s has %lld", kernel->name,
                     (long long)needed, what, profile->name, (long long)there);
}

/* Kernels, in all launches or in the last one of each, when buffers have grown. */
struct launches {
    const struct gsim_app_kernel *kernels;
    uint32_t n;
    bool are_last;
};

/* Bytes from the first to the last that the launches touch of a buffer. A byte of which a part is
 * touched counts, as in the order of a program's touches (models/gpu/program.c). */
static int64_t touched_of(const struct gsim_app *app, const struct launches *launches, uint32_t b) {
    uint32_t from = (uint32_t)GSIM_PPM, to = 0;
    for (uint32_t k = 0; k < launches->n; k++)
        for (uint32_t e = 0; e < launches->kernels[k].n_touches; e++) {
            const struct gsim_app_extent *extent = &launches->kernels[k].touches[e];
            if (extent->buffer != b)
                continue;
            from = extent->from_ppm < from ? extent->from_ppm : from;
            to = extent->to_ppm > to ? extent->to_ppm : to;
        }
    if (to <= from)
        return 0;
    const struct gsim_app_buffer *buffer = &app->buffers[b];
    int64_t least_bytes = launches->are_last ? buffer->bytes : buffer->first_bytes;
    return gsim_muldiv_ceil(buffer->bytes, to, GSIM_PPM) -
           gsim_muldiv_floor(least_bytes, from, GSIM_PPM);
}

/* Of all buffers; buffers of different phases are not there together, and those of the phase of
 * which most is touched count. */
static int64_t touched_bytes(const struct gsim_app *app, struct launches launches) {
    int64_t bytes[GSIM_APP_PHASES_MOST + 1] = {0}, most = 0;
    for (uint32_t b = 0; b < app->n_buffers; b++) {
        uint32_t phase = app->buffers[b].phase;
        bytes[phase] += touched_of(app, &launches, b);
        most = phase > 0 && bytes[phase] > most ? bytes[phase] : most;
    }
    return bytes[0] + most;
}

static enum gsim_status check_needs(const struct gsim_app *app,
                                    const struct gsim_app_kernel *kernel,
                                    const struct gsim_profile *profile, struct gsim_log *log) {
    int64_t touched = touched_bytes(app, (struct launches){kernel, 1, true});
    const struct {
        const char *what;
        int64_t needed, there;
    } needs[] = {
        {"SMs", kernel->sms, profile->value[GSIM_KEY_SMS]},
        {"bytes of registers a block", kernel->register_bytes,
         profile->value[GSIM_KEY_SM_REGISTER_BYTES]},
        {"bytes of shared memory a block", kernel->shared_bytes,
         profile->value[GSIM_KEY_SM_SHARED_BYTES]},
        {"bytes of device memory", touched, profile->value[GSIM_KEY_HBM_BYTES]},
    };
    bool is_ideal = profile->value[GSIM_KEY_SM_REGISTER_BYTES] == 0; /* an ideal SM has no limits */
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].needed > needs[i].there && !(is_ideal && (i == 1 || i == 2)))
            return too_much(app, kernel, profile, needs[i].what, needs[i].needed, needs[i].there,
                            log);
    return GSIM_OK;
}

enum gsim_status gsim_roofline_time_kernel(const struct gsim_app *app,
                                           const struct gsim_app_kernel *kernel,
                                           const struct gsim_profile *profile,
                                           struct gsim_roofline_time *out, struct gsim_log *log) {
    struct gsim_roofline work = {.flops = kernel->flops > 0 ? kernel->flops : 0,
                                 .bytes = kernel->bytes > 0 ? kernel->bytes : 0,
                                 .precision = kernel->precision,
                                 .sm_ppm = kernel->sm_ppm,
                                 .efficiency_ppm = kernel->efficiency_ppm};
    *out = gsim_roofline(profile, &work);
    if (kernel->device && strcmp(kernel->device, profile->name) == 0)
        out->whole_ns = kernel->time_ns;
    else if (kernel->flops < 0 && kernel->bytes < 0)
        return gsim_fail(
            log, GSIM_BAD_INPUT, app->path, kernel->line,
            "kernel '%s' has the time of device %s only; for %s it needs flops or bytes",
            kernel->name, kernel->device, profile->name);
    return GSIM_OK;
}

/* Sums over the kernels of an iteration; sums weighted by time are divided at the end. */
struct sums {
    gsim_i128 ns, bytes, sm_ppm_ns, memory_ns;
};

static void add_kernel(struct sums *sums, struct gsim_roofline_cost *cost,
                       const struct gsim_app_kernel *kernel, const struct gsim_roofline_time *time,
                       gsim_i128 ns) {
    sums->ns += ns;
    sums->bytes += (gsim_i128)(kernel->bytes > 0 ? kernel->bytes : 0) * kernel->count;
    sums->sm_ppm_ns += ns * kernel->sm_ppm;
    if (time->memory_ns > time->compute_ns)
        sums->memory_ns += ns;
    cost->kernels += kernel->count;
    if (time->whole_ns > cost->longest_kernel_ns)
        cost->longest_kernel_ns = time->whole_ns;
}

/* Whether the launch has a time of its own on this device. */
static bool is_timed(const struct gsim_app *app, const struct gsim_app_call *call,
                     const struct gsim_profile *profile) {
    return call->kind == GSIM_CALL_LAUNCH && call->time_ns >= 0 &&
           strcmp(app->kernels[call->kernel].device, profile->name) == 0;
}

int64_t gsim_roofline_launch_ns(const struct gsim_app *app, const struct gsim_app_call *call,
                                const struct gsim_profile *profile, int64_t kernel_ns) {
    return is_timed(app, call, profile) ? call->time_ns : kernel_ns;
}

/* The time of all launches of a kernel in an iteration, of which each alone takes kernel_ns unless
 * it has a time of its own. */
static gsim_i128 launches_ns(const struct gsim_app *app, uint32_t kernel,
                             const struct gsim_profile *profile, int64_t kernel_ns) {
    gsim_i128 ns = (gsim_i128)kernel_ns * app->kernels[kernel].count;
    for (uint32_t c = 0; c < app->n_calls; c++)
        if (app->calls[c].kernel == kernel && is_timed(app, &app->calls[c], profile))
            ns += app->calls[c].time_ns - kernel_ns;
    return ns;
}

enum gsim_status gsim_roofline_cost(const struct gsim_app *app, const struct gsim_profile *profile,
                                    struct gsim_roofline_cost *out, struct gsim_log *log) {
    struct sums sums = {0, 0, 0, 0};
    enum gsim_status worst = GSIM_OK;
    *out = (struct gsim_roofline_cost){.sm_ppm = (uint32_t)GSIM_PPM};
    for (uint32_t k = 0; k < app->n_kernels; k++) {
        struct gsim_roofline_time time;
        enum gsim_status status = check_needs(app, &app->kernels[k], profile, log);
        if (status == GSIM_OK)
            status = gsim_roofline_time_kernel(app, &app->kernels[k], profile, &time, log);
        if (status == GSIM_OK)
            add_kernel(&sums, out, &app->kernels[k], &time,
                       launches_ns(app, k, profile, time.whole_ns));
        worst = status != GSIM_OK ? status : worst;
    }
    if (worst != GSIM_OK)
        return worst;
    if (sums.ns > GSIM_TIME_MAX || sums.bytes > INT64_MAX)
        return gsim_fail(log, GSIM_BAD_INPUT, app->path, 0,
                         "an iteration is past the end of the clock (146 years) on a %s",
                         profile->name);
    out->gpu_ns = (int64_t)sums.ns;
    out->bytes = (int64_t)sums.bytes;
    out->working_set_bytes =
        touched_bytes(app, (struct launches){app->kernels, app->n_kernels, false});
    if (sums.ns == 0)
        return GSIM_OK;
    gsim_i128 bytes_per_s = sums.bytes * GSIM_NS_PER_S / sums.ns;
    out->hbm_bytes_per_s = bytes_per_s > INT64_MAX ? INT64_MAX : (int64_t)bytes_per_s;
    out->sm_ppm = (uint32_t)(sums.sm_ppm_ns / sums.ns);
    out->memory_ppm = (uint32_t)(sums.memory_ns * GSIM_PPM / sums.ns);
    return GSIM_OK;
}
