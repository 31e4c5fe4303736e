/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The column phases: parts of a job with models of their own in the table of speeds,
 *
 *     64/16 ResNet-18 (batch size 16); 32/8 ResNet-18 (batch size 32)
 *
 * 64 iterations of the first, of which 16 are an epoch, then 32 of the second. Without /16 the part
 * is one epoch. The row's iterations are their sum, and its time what they take on the first device
 * of the table on which each can run. */
#ifndef GSIM_TRACES_PHASES_H
#define GSIM_TRACES_PHASES_H

#include "sim/api/phases.h"
#include "traces/build.h"

/* Sets time and iterations of the row under way, which has phases. */
enum gsim_status gsim_phases_fill(struct gsim_rates *rates, struct gsim_builder *builder,
                                  int64_t line);

#endif
