/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a backfill pass knows of the future: which room running jobs free on each node, and when,
 * and of jobs that ask for as much of a node, before which times none starts there. In a pass jobs
 * start and are planned, so that these times only grow: one that was true stays a bound. */
#ifndef GSIM_POLICIES_SLURM_OUTLOOK_H
#define GSIM_POLICIES_SLURM_OUTLOOK_H

#include "policies/slurm/state.h"

/* Of a tree of up to 2^32 leaves, of which one for each level waits. */
enum { GSIM_SLURM_BRANCHES = 32 };

/* Nodes on which jobs of that limit may start soon enough: branches of an outlook's tree that are
 * still to be seen, at first the root. */
struct gsim_slurm_walk {
    int64_t limit_ns;
    struct gsim_slurm_branch {
        int64_t from_ns;
        uint32_t place;
    } branch[GSIM_SLURM_BRANCHES];
    uint32_t n;
};

/* Lists the ends of running jobs by node. false: no memory. */
bool gsim_slurm_outlook_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* A job without shards has started in the pass. */
void gsim_slurm_outlook_start(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* The running job ends at another time than before. */
void gsim_slurm_outlook_forget(struct gsim_slurm_state *state, const struct gsim_slurm_job *job);
/* How many GPUs of the node the job could have by then. */
uint32_t gsim_slurm_outlook_free_at(const struct gsim_slurm_state *state,
                                    const struct gsim_ctx *ctx, const struct gsim_slurm_job *job,
                                    uint32_t node, int64_t at_ns);
/* What the job takes of each node, or at least of each of several; GSIM_SLURM_NONE: all
 * of a node's GPUs. */
uint32_t gsim_slurm_outlook_part(const struct gsim_slurm_state *state,
                                 const struct gsim_slurm_way *way, uint32_t gpus);
/* The outlook of jobs that ask for as much of a node as this one does. */
struct gsim_slurm_outlook *gsim_slurm_outlook_of(struct gsim_slurm_state *state,
                                                 const struct gsim_ctx *ctx, gsim_slot slot);
/* The first time, of those up to most_ns, at which the job can use its part of the node;
 * GSIM_NEVER: none. */
int64_t gsim_slurm_outlook_look(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot, struct gsim_slurm_outlook *outlook, uint32_t node,
                                int64_t most_ns);
/* The next node on which jobs of the outlook may start by then; GSIM_SLURM_NONE: there is none. */
uint32_t gsim_slurm_outlook_next(const struct gsim_slurm_state *state,
                                 const struct gsim_slurm_outlook *outlook,
                                 struct gsim_slurm_walk *walk, int64_t most_ns);

#endif
