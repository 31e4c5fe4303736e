/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program alone on its GPU: how long it takes there, and which host and which kernels make it
 * take as long as it was measured to. */
#ifndef GSIM_MODELS_GPU_PROGRAM_ALONE_H
#define GSIM_MODELS_GPU_PROGRAM_ALONE_H

#include "models/gpu/context.h"

/* A context that runs the program, by what a row of the trace gives: kernels_ns of an iteration's
 * kernels together, and host_ns of its launches; 0: as in the program. */
struct gsim_context gsim_program_context(const struct gsim_program *program,
                                         const struct gsim_profile *profile, int64_t kernels_ns,
                                         int64_t host_ns, int64_t iterations);

/* The time of all iterations of a context with a program, from its start until its host is done.
 * Many iterations are extrapolated from the first ones, exactly where the host waits for the GPU
 * every few iterations. */
int64_t gsim_program_alone_ns(const struct gsim_context *context);

/* Sets host_ns and pace_ns so that all iterations take time_ns, to a nanosecond an iteration and
 * never more. A profiler makes the host slower, so its launches take as long as in the program at
 * most. Where that is too short the GPU is slower, alone, than its kernels: it runs at lower clocks
 * when a job that needs much power has it for long. Iterations begin no faster then than they do
 * alone; beside other jobs that costs nothing. Kernels become shorter where they alone would take
 * longer than time_ns. host_ns: of an iteration's launches, as measured without the profiler; 0:
 * unknown. The host is as fast as that where the time says nothing of it, and slower where a longer
 * time shows that there is more to an iteration than its launches. Returns the time. */
int64_t gsim_program_fit(struct gsim_context *context, int64_t time_ns, int64_t host_ns);

#endif
