/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs with shards of a GPU (gres/shard): which GPUs they are on, how much of them is left, and
 * when. A GPU with a shard in use is no whole GPU for other jobs, and the other way round. */
#ifndef GSIM_POLICIES_SLURM_SHARDS_H
#define GSIM_POLICIES_SLURM_SHARDS_H

#include "policies/slurm/state.h"

enum gsim_status gsim_slurm_shards_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx);
/* Whether the node's GPUs may be had in shards. */
bool gsim_slurm_shards_are_on(const struct gsim_slurm_state *state, uint32_t node);
/* Whether a GPU of the node that is in use by shards now has room for the job by then. */
bool gsim_slurm_shards_have_room(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 const struct gsim_slurm_job *job, uint32_t node, int64_t at_ns);
/* The GPU of the node that the job gets: the first with room, or with LL_SHARED_GRES the one of
 * which the least is in use. GSIM_SLURM_NONE: none has room. */
uint32_t gsim_slurm_shards_find(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                const struct gsim_slurm_job *job, uint32_t node);
/* Books a job on a GPU; returns whether it is the first there. */
bool gsim_slurm_shards_take(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t gpu);
/* Takes a job off its GPU; returns whether it was the last there. */
bool gsim_slurm_shards_leave(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot);
/* Whether no other job on the job's GPU is thought to end later. */
bool gsim_slurm_shards_end_last(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot);
/* Notes that preemption would free the job, or not; returns whether all others on its GPU are
 * freed. */
bool gsim_slurm_shards_free(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, bool is_freed);

/* When a running job is expected to end: at its limit; a job past its limit, one step of backfill
 * (bf_resolution) from now. */
static inline int64_t gsim_slurm_end_of(const struct gsim_slurm_state *state,
                                        const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t end_ns = gsim_slurm_job(ctx, slot)->end_ns, now_ns = ctx->view->now_ns;
    return end_ns > now_ns ? end_ns : now_ns + state->conf.bf_resolution_ns;
}

#endif
