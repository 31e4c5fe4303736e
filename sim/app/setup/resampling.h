/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that say how a trace is resampled. */
#ifndef GSIM_APP_RESAMPLING_H
#define GSIM_APP_RESAMPLING_H

#include "sim/app/cli/options.h"
#include "traces/resample.h"

/* Reads --block and --near. by: a column's name; NULL: user or vc, as the trace has it, or neither.
 * load: a ratio to the trace's own; NULL: 1. */
enum gsim_status gsim_resampling_read(struct gsim_cli *cli, const char *by, const char *load,
                                      const struct gsim_trace *trace, struct gsim_resampling *out);
/* What more traces like this one could be had by, for a message: where few blocks of time change
 * places, resampled traces hardly differ. */
const char *gsim_resampling_advice(const struct gsim_trace *trace);

#endif
