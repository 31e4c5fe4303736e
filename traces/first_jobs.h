/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first jobs of a trace to arrive, as a trace of its own. */
#ifndef GSIM_TRACES_FIRST_JOBS_H
#define GSIM_TRACES_FIRST_JOBS_H

#include "gsim/trace.h"

/* n is at most the trace's number of jobs. A job that comes after one that is left out comes when
 * the trace says. */
enum gsim_status gsim_trace_first(const struct gsim_trace *from, uint32_t n,
                                  struct gsim_arena *arena, struct gsim_trace *out,
                                  struct gsim_log *log);

#endif
