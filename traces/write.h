/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace as native CSV. Decimals are exact: reading the text back gives the same trace. */
#ifndef GSIM_TRACES_WRITE_H
#define GSIM_TRACES_WRITE_H

#include <stdio.h>

#include "sim/api/trace.h"

/* Writes only the columns that the trace has. GSIM_FAILED when the file cannot take it all. */
enum gsim_status gsim_trace_write(const struct gsim_trace *trace, FILE *file,
                                  struct gsim_log *log);

#endif
