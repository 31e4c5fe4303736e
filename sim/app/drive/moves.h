/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of which the driver holds the state, and which go on on other GPUs than they left.
 * The driver takes such a move as a permutation of all GPUs of the machine. */
#ifndef GSIM_APP_MOVES_H
#define GSIM_APP_MOVES_H

#include "sim/app/drive/driven.h"
#include "sim/app/drive/image.h"

/* Whether the job's units are on other GPUs than those that it left. */
bool gsim_moves_is_due(const struct gsim_job *about);
/* Why the job's state cannot come onto the GPUs of its units; NULL: it can. */
const char *gsim_moves_refusal(const struct gsim_executor *executor, const struct gsim_job *about);
/* For each GPU of the machine, where the state that was taken from it goes: for the job's GPUs what
 * its placement says, and the others make room. For moves that are due, and not refused. NULL: no
 * memory. */
struct gsim_image_pair *gsim_moves_pairs(const struct gsim_executor *executor,
                                         const struct gsim_job *about, struct gsim_arena *arena);

#endif
