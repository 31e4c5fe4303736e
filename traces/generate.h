/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synthetic traces: an INI spec names a distribution for each quantity of a job; every quantity
 * draws from a random stream of its own, so that a new quantity does not change the others. */
#ifndef GSIM_TRACES_GENERATE_H
#define GSIM_TRACES_GENERATE_H

#include <stdio.h>

#include "gsim/trace.h"

struct gsim_generate_spec;

/* Reads a spec. `keys` are texts "SECTION.KEY=VALUE" that stand in place of the file's, or beside
 * them; ends with NULL, and NULL: none. */
enum gsim_status gsim_generate_spec_read(const char *path, const char *const *keys,
                                         struct gsim_arena *arena,
                                         const struct gsim_generate_spec **out,
                                         struct gsim_log *log);
/* The seed of the spec, 1 when the spec has none. */
uint64_t gsim_generate_seed(const struct gsim_generate_spec *spec);
/* The files of values that the spec names, as paths to open; ends with NULL. */
const char *const *gsim_generate_files(const struct gsim_generate_spec *spec);
/* Equal spec, seed and replication give an equal trace on a platform. */
enum gsim_status gsim_trace_generate(const struct gsim_generate_spec *spec, uint64_t seed,
                                     uint64_t replication, struct gsim_arena *arena,
                                     struct gsim_trace *out, struct gsim_log *log);
/* Writes a comment line that says how to repeat it, then the trace as native CSV. `options`: those
 * that the trace was drawn with besides seed and replication, each with a space before it. */
enum gsim_status gsim_generate_write(const struct gsim_generate_spec *spec, uint64_t seed,
                                     uint64_t replication, const char *options,
                                     const struct gsim_trace *trace, FILE *file,
                                     struct gsim_log *log);

#endif
