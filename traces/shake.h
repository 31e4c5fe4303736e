/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input shaking: many traces from a real trace, each slightly changed, to test whether a result
 * depends on a coincidence (Tsafrir, Ouaknine, Feitelson, "Reducing performance evaluation
 * sensitivity and variability by input shaking", MASCOTS 2007). */
#ifndef GSIM_TRACES_SHAKE_H
#define GSIM_TRACES_SHAKE_H

#include "gsim/trace.h"

/* Multiplies each gap between two arrivals and each job's work by a factor of its own, drawn evenly
 * from 1 - amount to 1 + amount; the order of arrivals stays. Unchanged columns are shared with
 * `from`, which must outlive the result. Equal seed and replication give an equal trace. */
enum gsim_status gsim_trace_shake(const struct gsim_trace *from, int64_t amount_ppm, uint64_t seed,
                                  uint64_t replication, struct gsim_arena *arena,
                                  struct gsim_trace *out, struct gsim_log *log);
/* The work alone: jobs arrive when they do in `from`. */
enum gsim_status gsim_trace_shake_work(const struct gsim_trace *from, int64_t amount_ppm,
                                       uint64_t seed, uint64_t replication,
                                       struct gsim_arena *arena, struct gsim_trace *out,
                                       struct gsim_log *log);

#endif
