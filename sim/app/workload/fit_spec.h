/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A spec that draws traces like a given one. */
#ifndef GSIM_APP_FIT_SPEC_H
#define GSIM_APP_FIT_SPEC_H

#include <stdio.h>

#include "gsim/trace.h"

/* Writes the spec. *unfitted gets the names of columns that it leaves out, or "". */
enum gsim_status gsim_fit_spec(const struct gsim_trace *trace, struct gsim_arena *arena, FILE *out,
                               const char **unfitted, struct gsim_log *log);

#endif
