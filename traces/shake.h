/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Input shaking: many traces out of a real one, each a little off, to see whether a result hangs on
 * a coincidence (Tsafrir, Ouaknine, Feitelson, "Reducing performance evaluation sensitivity and
 * variability by input shaking", MASCOTS 2007). */
#ifndef GSIM_TRACES_SHAKE_H
#define GSIM_TRACES_SHAKE_H

#include "gsim/trace.h"

/* Each gap between two arrivals and each job's work, times a factor of its own drawn evenly from
 * 1 - amount to 1 + amount; the order of arrivals stays. What is not changed is shared with `from`,
 * which must outlive it. The same seed and replication give the same trace. */
enum gsim_status gsim_trace_shake(const struct gsim_trace *from, int64_t amount_ppm, uint64_t seed,
                                  uint64_t replication, struct gsim_arena *arena,
                                  struct gsim_trace *out, struct gsim_log *log);

#endif
