/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace, or log, that a command without a simulation reads (describe, fit, resample). */
#ifndef GSIM_APP_INPUT_TRACE_H
#define GSIM_APP_INPUT_TRACE_H

#include "gsim/trace.h"
#include "sim/app/cli/options.h"

/* Rows of a log that cannot be read are left out and counted, unless --strict is given, as in the
 * commands that simulate: the facts of a log are those of the jobs that they run. */
enum gsim_status gsim_input_trace(const struct gsim_cli *cli, const char *path,
                                  struct gsim_trace *out);

#endif
