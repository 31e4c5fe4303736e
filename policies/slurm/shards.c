/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gres/shard (slurm.schedmd.com/gres.html, Sharding): a node's shards are spread evenly over its
 * GPUs, and a job has those of one GPU. The first GPU with room is taken, or with LL_SHARED_GRES
 * (SelectTypeParameters in slurm.conf(5)) the one of which the least is in use. */
#include "policies/slurm/shards.h"

enum gsim_status gsim_slurm_shards_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    uint32_t n = ctx->view->cluster.n_gpus;
    state->used_ppm = gsim_arena_array(ctx->arena, n, sizeof *state->used_ppm);
    state->first_on = gsim_arena_array(ctx->arena, n, sizeof *state->first_on);
    if (!state->used_ppm || !state->first_on)
        return gsim_no_memory(ctx->log, "opening shards");
    for (uint32_t gpu = 0; gpu < n; gpu++)
        state->first_on[gpu] = GSIM_NO_SLOT;
    return GSIM_OK;
}

bool gsim_slurm_shards_are_on(const struct gsim_slurm_state *state, uint32_t node) {
    return state->of_file[node] && state->of_file[node]->shards > 0;
}

/* The part of a GPU in use by shards that is free once the jobs that end by then are gone. */
static int64_t left_at(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                       uint32_t gpu, int64_t at_ns) {
    int64_t used_ppm = 0;
    for (gsim_slot other = state->first_on[gpu]; other != GSIM_NO_SLOT;
         other = gsim_slurm_job(ctx, other)->next_on) {
        const struct gsim_slurm_job *job = gsim_slurm_job(ctx, other);
        if (!job->is_freed && gsim_slurm_end_of(state, ctx, other) > at_ns)
            used_ppm += job->share_ppm;
    }
    return GSIM_PPM - used_ppm;
}

bool gsim_slurm_shards_have_room(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                 const struct gsim_slurm_job *job, uint32_t node, int64_t at_ns) {
    const uint32_t *first = &ctx->view->cluster.node_first_gpu[node];
    for (uint32_t gpu = first[0]; gpu < first[1]; gpu++)
        if (state->first_on[gpu] != GSIM_NO_SLOT &&
            left_at(state, ctx, gpu, at_ns) >= job->share_ppm)
            return true;
    return false;
}

uint32_t gsim_slurm_shards_find(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                const struct gsim_slurm_job *job, uint32_t node) {
    const uint32_t *first = &ctx->view->cluster.node_first_gpu[node];
    uint32_t found = GSIM_SLURM_NONE;
    for (uint32_t gpu = first[0]; gpu < first[1]; gpu++) {
        bool has_room = state->first_on[gpu] == GSIM_NO_SLOT
                            ? gsim_gpu_is_idle(ctx->view, gpu)
                            : GSIM_PPM - state->used_ppm[gpu] >= job->share_ppm;
        if (has_room &&
            (found == GSIM_SLURM_NONE ||
             (state->conf.shares_least_loaded && state->used_ppm[gpu] < state->used_ppm[found])))
            found = gpu;
    }
    return found;
}

bool gsim_slurm_shards_take(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot,
                            uint32_t gpu) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    bool is_first = state->first_on[gpu] == GSIM_NO_SLOT;
    job->gpu = gpu;
    job->next_on = state->first_on[gpu];
    state->first_on[gpu] = slot;
    state->used_ppm[gpu] += job->share_ppm;
    return is_first;
}

bool gsim_slurm_shards_leave(struct gsim_slurm_state *state, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    gsim_slot *link = &state->first_on[job->gpu];
    while (*link != slot)
        link = &gsim_slurm_job(ctx, *link)->next_on;
    *link = job->next_on;
    state->used_ppm[job->gpu] -= job->share_ppm;
    job->is_freed = false;
    return state->first_on[job->gpu] == GSIM_NO_SLOT;
}

/* Of jobs that end together the one with the highest slot counts as the last. */
bool gsim_slurm_shards_end_last(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                                gsim_slot slot) {
    int64_t end_ns = gsim_slurm_end_of(state, ctx, slot);
    for (gsim_slot other = state->first_on[gsim_slurm_job(ctx, slot)->gpu]; other != GSIM_NO_SLOT;
         other = gsim_slurm_job(ctx, other)->next_on) {
        int64_t others_ns = gsim_slurm_end_of(state, ctx, other);
        if (others_ns > end_ns || (others_ns == end_ns && other > slot))
            return false;
    }
    return true;
}

bool gsim_slurm_shards_free(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, bool is_freed) {
    gsim_slurm_job(ctx, slot)->is_freed = is_freed;
    for (gsim_slot other = state->first_on[gsim_slurm_job(ctx, slot)->gpu]; other != GSIM_NO_SLOT;
         other = gsim_slurm_job(ctx, other)->next_on)
        if (other != slot && !gsim_slurm_job(ctx, other)->is_freed)
            return false;
    return true;
}
