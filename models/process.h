/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row of a trace does on a GPU: the context that its columns describe. Alone on the device
 * it takes exactly the row's service time, under any policy: what the device adds to each
 * iteration (the gap between a synchronisation and the next launch) is carved out of the GPU time
 * where the row's own host gap is shorter, since a job measured alone paid for it too. */
#ifndef GSIM_MODELS_PROCESS_H
#define GSIM_MODELS_PROCESS_H

#include "models/context.h"
#include "models/profile.h"
#include "models/space.h"
#include "sim/api/trace.h"

struct gsim_process {
    struct gsim_context context; /* its fixed part; iterations 0: there is nothing to run */
    int64_t pace_ns; /* an iteration of the context alone */
    int64_t per_iteration; /* of these make one iteration of the trace's row (sync=kernel) */
    int64_t tail_ns; /* host only, after the last iteration */
    bool is_open_loop; /* iterations are requests */
    bool is_cold; /* what an iteration touches does not fit L2 */
};

struct gsim_process gsim_process_of(const struct gsim_trace *trace, uint32_t index,
                                    const struct gsim_profile *profile);
/* What its kernels do with the device when they are alone there: what the row does not say fills
 * all SMs, or the part of a GPU that it asks for, and draws nothing from memory. */
struct gsim_demand gsim_process_demand(const struct gsim_trace *trace, uint32_t index,
                                       const struct gsim_profile *profile);
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
