/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synthetic traces: an INI spec names a distribution for each quantity of a job; every quantity
 * draws from a random stream of its own, so that a new quantity does not change the others. */
#ifndef GSIM_TRACES_GENERATE_H
#define GSIM_TRACES_GENERATE_H

#include <stdio.h>

#include "gsim/trace.h"

struct gsim_spec;

/* Equal spec, seed and replication give an equal trace on a platform. */
enum gsim_status gsim_trace_generate(const struct gsim_spec *spec, uint64_t seed,
                                     uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log);
/* Writes a comment line that says how to repeat it, then the trace as native CSV. `options`: those
 * that the trace was drawn with besides seed and replication, each with a space before it. */
enum gsim_status gsim_generate_write(const struct gsim_spec *spec, uint64_t seed,
                                     uint64_t replication, const char *options,
                                     const struct gsim_trace *trace, FILE *file,
                                     struct gsim_log *log);

#endif
