/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A picture of traces: durations, widths, arrivals and the likeness of neighbours. */
#ifndef GSIM_APP_PICTURE_H
#define GSIM_APP_PICTURE_H

#include "gsim/trace.h"
#include "sim/app/cli/options.h"

/* Draws the traces, which are called by those names, into the file that -o names. */
enum gsim_status gsim_picture_draw(struct gsim_cli *cli, const struct gsim_trace *traces,
                                   const char *const *names, int n);

#endif
