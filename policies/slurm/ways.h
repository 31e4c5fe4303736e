/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ways in which a job may run: a partition that it names, and nodes of it. A job that names
 * several partitions waits in an entry for each, as in Slurm's queue of jobs (build_job_queue() of
 * job_scheduler.c), and starts by the first entry that lets it. A constraint [rack1|rack2] gives an
 * entry several ways: the main scheduler takes the first that has room, backfill the earliest
 * (sbatch(1), Matching OR). */
#ifndef GSIM_POLICIES_SLURM_WAYS_H
#define GSIM_POLICIES_SLURM_WAYS_H

#include "policies/slurm/state.h"

/* Reads the names of the trace's column. */
enum gsim_status gsim_slurm_ways_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* Lists the job as waiting in each partition where it may run. Expects what it asks for beside each
 * GPU. */
void gsim_slurm_ways_enter(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* Drops the entries of jobs that have started, where a job has several. */
void gsim_slurm_ways_tidy(struct gsim_slurm_state *state, const struct gsim_ctx *ctx);
/* Drops the entries of a job. */
void gsim_slurm_ways_remove(struct gsim_slurm_state *state, gsim_slot slot);
/* An entry is no longer listed; gives back its ways. */
void gsim_slurm_ways_leave(struct gsim_slurm_state *state, const struct gsim_slurm_entry *entry);

/* Has the job tried in a way of an entry; GSIM_SLURM_NONE: in its only one. */
static inline void gsim_slurm_ways_load(const struct gsim_slurm_state *state,
                                        struct gsim_slurm_job *job, uint32_t choice) {
    if (choice != GSIM_SLURM_NONE)
        job->way = state->choice[choice].way;
}

/* The next way of an entry; GSIM_SLURM_NONE: there is none. */
static inline uint32_t gsim_slurm_ways_next(const struct gsim_slurm_state *state, uint32_t choice) {
    return choice == GSIM_SLURM_NONE ? choice : state->choice[choice].next;
}

#endif
