/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Priorities of waiting jobs, and the order that follows. */
#ifndef GSIM_POLICIES_SLURM_RANKING_H
#define GSIM_POLICIES_SLURM_RANKING_H

#include "policies/slurm/state.h"

enum gsim_status gsim_slurm_ranking_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* Computes usage and priorities as of the last end of a period, unless they are. true: the order
 * may have changed. Comes before anything that changes what runs. */
bool gsim_slurm_ranking_catch_up(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* A job begins to wait in its nth partition, which is that of its way; first_choice: the list of
 * its ways there, or GSIM_SLURM_NONE. */
void gsim_slurm_ranking_add(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t nth, uint32_t part, uint32_t first_choice);
/* The next time at which priorities change by themselves; GSIM_NEVER: they do not. */
int64_t gsim_slurm_ranking_next(const struct gsim_slurm_state *state, int64_t now_ns);

/* Drops entries of the order from `kept` to before `end`; those before them move, which are those
 * that a pass has looked at. */
void gsim_slurm_ranking_drop(struct gsim_slurm_state *state, uint32_t kept, uint32_t end);
/* The priority of the job in the entry's partition, as of the last ranking. */
int64_t gsim_slurm_ranking_priority(const struct gsim_slurm_entry *entry);

#endif
