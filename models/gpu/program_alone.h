/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program alone on its GPU: how long it takes there, and which host and which kernels make it
 * take as long as it was measured to. */
#ifndef GSIM_MODELS_GPU_PROGRAM_ALONE_H
#define GSIM_MODELS_GPU_PROGRAM_ALONE_H

#include "models/gpu/context.h"

/* A context that runs the program, by what a row of the trace gives: kernels_ns of an iteration's
 * kernels together, and host_ns of its launches; 0: as the program says. */
struct gsim_context gsim_program_context(const struct gsim_program *program,
                                         const struct gsim_profile *profile, int64_t kernels_ns,
                                         int64_t host_ns, int64_t iterations);

/* The time of all iterations of a context with a program, from its start until its host is done.
 * Many iterations are extrapolated from the first ones, exactly where the host waits for the GPU
 * every few iterations. */
int64_t gsim_program_alone_ns(const struct gsim_context *context);

/* Sets host_ns and pace_ns so that all iterations take time_ns, to a nanosecond a call and never
 * more. The host takes host_ns for an iteration's launches, or where that is 0 what the
 * program says, or less where time_ns is too short for it. The GPU is as slow as its power limit
 * makes it. Where that is too short there is more to an iteration than its launches, and the host
 * is slower, up to its time under the profiler, which makes hosts slower. Where that is too short
 * as well, the GPU alone is slower than its kernels for a cause that is not known. Iterations begin
 * no faster then than they do alone; beside other jobs that costs nothing. Kernels become shorter
 * where they alone would take longer than time_ns. Returns the time. */
int64_t gsim_program_fit(struct gsim_context *context, int64_t time_ns, int64_t host_ns);

#endif
