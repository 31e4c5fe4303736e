/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads any trace file, by its header or by a format's name. */
#ifndef GSIM_TRACES_READ_H
#define GSIM_TRACES_READ_H

#include "traces/format.h"

/* The formats of list.def; ends with NULL. */
extern const struct gsim_trace_format *const gsim_trace_formats[];

#endif
