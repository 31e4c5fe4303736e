/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces under another load: the times between submissions are stretched or shrunk evenly, so that
 * bursts, cycles and the order of jobs stay. */
#ifndef GSIM_TRACES_SCALE_H
#define GSIM_TRACES_SCALE_H

#include "gsim/trace.h"

/* Each time since the first submission becomes numerator/denominator of itself, rounded down;
 * deadlines keep their distance from the submission. Unchanged columns are shared with `from`,
 * which must outlive the result. */
enum gsim_status gsim_trace_scale(const struct gsim_trace *from, int64_t numerator,
                                  int64_t denominator, struct gsim_arena *arena,
                                  struct gsim_trace *out, struct gsim_log *log);
/* Scales submissions so that the work of all jobs is this share of what n_gpus GPUs can do from the
 * first submission to the last. Bad input if all jobs arrive at one instant, or have no work. */
enum gsim_status gsim_trace_scale_to_load(const struct gsim_trace *from, int64_t load_ppm,
                                          int64_t n_gpus, struct gsim_arena *arena,
                                          struct gsim_trace *out, struct gsim_log *log);

#endif
