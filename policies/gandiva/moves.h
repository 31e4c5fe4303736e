/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves of running jobs: gathering scattered gangs, growing jobs onto idle GPUs. */
#ifndef GSIM_POLICIES_GANDIVA_MOVES_H
#define GSIM_POLICIES_GANDIVA_MOVES_H

#include "policies/lib/slices.h"

/* Moves one gang to fewer nodes, if any can be; one a decide: what it leaves may be what the next one
 * needs. */
bool gsim_moves_gather(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan);

struct gsim_growth {
    int64_t after_ns; /* for so long nobody has waited or come */
    int64_t calm_ns; /* since when */
};
/* When somebody waits: who has more GPUs than asked for gives them back. Before anybody is placed. */
void gsim_moves_shrink(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan);
/* When nobody does: who could use idle GPUs beside its own gets as many again. Sets the timer, which
 * slices leave alone while nobody waits. */
void gsim_moves_grow(struct gsim_growth *growth, struct gsim_slices *slices, struct gsim_ctx *ctx,
                     struct gsim_plan *plan);

#endif
