/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any trace file, by its header or by a format's name. */
#ifndef GSIM_TRACES_READ_H
#define GSIM_TRACES_READ_H

#include <stdio.h>

#include "sim/api/trace.h"

/* The formats of list.def; ends with NULL. */
extern const struct gsim_trace_format *const gsim_trace_formats[];

/* format NULL: told from the header. options may be NULL. */
enum gsim_status gsim_trace_read(const char *path, const char *format,
                                 const struct gsim_trace_options *options, struct gsim_arena *arena,
                                 struct gsim_trace *out, struct gsim_log *log);
/* Whether native CSV can say what the job asks for: not a gang of parts of GPUs, nor no GPU. */
bool gsim_trace_is_writable(const struct gsim_trace *trace, uint32_t job);
/* Writes a native CSV of the columns that the trace has; reading it gives the same trace. Jobs that
 * cannot be written are left out. The caller checks the stream for errors. */
void gsim_trace_write(const struct gsim_trace *trace, FILE *out);

#endif
