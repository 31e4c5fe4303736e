/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns that say what became of the jobs in the log that a trace comes from. */
#ifndef GSIM_TRACES_LOGGED_H
#define GSIM_TRACES_LOGGED_H

#include "gsim/trace.h"

/* For the trace of which arrivals or lengths were changed: the log is of other jobs. */
static inline void gsim_trace_forget_log(struct gsim_trace *trace) {
    trace->column[GSIM_COL_LOGGED_START_NS] = NULL;
    trace->column[GSIM_COL_LOGGED_END_NS] = NULL;
    trace->column[GSIM_COL_LOGGED_NODES] = NULL;
    trace->column[GSIM_COL_RAN_ON] = NULL;
}

#endif
