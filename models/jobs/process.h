/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row of a trace does on a GPU: the context that its columns describe. Alone on the device
 * it takes exactly the row's service time, under any policy: what the device adds to each
 * iteration (the gap between a synchronisation and the next launch) is carved out of the GPU time
 * where the row's own host gap is shorter, since a job measured alone paid for it too. */
#ifndef GSIM_MODELS_JOBS_PROCESS_H
#define GSIM_MODELS_JOBS_PROCESS_H

#include "models/gpu/context.h"
#include "models/hardware/profile.h"
#include "models/gpu/space.h"
#include "gsim/trace.h"

/* What the parts of a job decide where it runs. Where its iterations decide nothing, a job that never
 * waits is one long stream of kernels, and so is one whose row names no iterations; where kernels decide
 * nothing either, that one is a single kernel. */
enum {
    GSIM_PARTS_ITERATIONS = 1, /* each touches its memory, or ends a turn */
    GSIM_PARTS_TURNS = 4, /* each may end a turn */
    GSIM_PARTS_KERNELS = 2, /* the lane halts it at their ends, caps them, or makes them longer */
};

/* What of the device is in the iterations of a row, besides what others do to them. */
enum {
    GSIM_PROCESS_HAS_GAP = 1, /* the gap of its launches */
    GSIM_PROCESS_HAS_BETWEEN = 2, /* the time between its kernels */
    GSIM_PROCESS_HAS_LAUNCHES =
        4, /* how fast it launches: how many kernels there are, or how long */
    GSIM_PROCESS_HAS_GUESS = 8, /* of kernels: as many as are launched in host_ms */
    GSIM_PROCESS_HAS_SYNCS = 16, /* the host waits for each of these */
};
unsigned gsim_process_keys(const struct gsim_trace *trace, uint32_t index,
                           const struct gsim_profile *profile);

struct gsim_process {
    struct gsim_context context; /* its fixed part; iterations 0: there is nothing to run */
    int64_t pace_ns; /* an iteration of the context alone */
    int64_t per_iteration; /* of these make one iteration of the trace's row (sync=kernel) */
    int64_t iterations; /* of the row, or assumed; 0: it has none */
    bool is_assumed;
    int64_t tail_ns; /* host only, after the last iteration */
    enum gsim_key length_key; /* that iterations came from; GSIM_KEY_COUNT: none */
    bool has_assumed_kernels;
    bool is_stream; /* all iterations of the row are one of the context */
    bool is_open_loop; /* iterations are requests */
    bool is_cold; /* what an iteration touches does not fit L2 */
};

/* parts: what decides anything there. */
struct gsim_process gsim_process_of(const struct gsim_trace *trace, uint32_t index,
                                    const struct gsim_profile *profile, unsigned parts);

/* Iterations of a closed-loop job whose row names none, as the profile assumes: as many as come next
 * to its length. 0: the profile has no length (ideal). */
struct gsim_assumed_iterations {
    int64_t n;
    enum gsim_key key; /* that said so */
};
struct gsim_assumed_iterations gsim_process_assume(const struct gsim_trace *trace, uint32_t index,
                                                   const struct gsim_profile *profile);
/* What its kernels do with the device when they are alone there: what the row does not say fills
 * all SMs, or the part of a GPU that it asks for, and draws nothing from memory. */
struct gsim_demand gsim_process_demand(const struct gsim_trace *trace, uint32_t index,
                                       const struct gsim_profile *profile);
int64_t gsim_process_kernels(const struct gsim_profile *profile); /* of an iteration, assumed */
/* Service done, of a context of that process. */
gsim_work gsim_process_done(const struct gsim_process *process, const struct gsim_context *context);
/* GPU time of so much service. */
int64_t gsim_process_gpu_ns(const struct gsim_process *process, int64_t service_ns);
/* The place in its iterations at which this much service is done. */
void gsim_process_locate(const struct gsim_process *process, const struct gsim_context *context,
                         int64_t service_ns, int64_t *iterations, gsim_work *done);

/* On a device that runs the job at this rate: how long service takes; a context that is to run there;
 * one that was left on another device, and goes on as the whole one would. */
int64_t gsim_process_time_ns(int64_t service_ns, uint64_t rate_q32);
void gsim_process_pace(struct gsim_context *context, uint64_t rate_q32);
void gsim_process_repace(struct gsim_context *left, const struct gsim_context *whole);
/* Puts a context of that process where so much service is done. */
void gsim_process_put(const struct gsim_process *process, gsim_work service,
                      struct gsim_context *context);

#endif
