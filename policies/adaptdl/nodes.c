/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a job gets its GPUs from. */
#include "policies/adaptdl/state.h"

bool adaptdl_reserve(struct gsim_ctx *ctx, struct adaptdl_job *job, uint32_t gpus) {
    if (gpus <= job->n_room)
        return true;
    job->node = gsim_arena_grow(ctx->arena, job->node, job->n_room * sizeof *job->node,
                                gpus * sizeof *job->node);
    job->units = gsim_arena_grow(ctx->arena, job->units, job->n_room * sizeof *job->units,
                                 gpus * sizeof *job->units);
    job->n_room = job->node && job->units ? gpus : 0;
    return job->n_room > 0;
}

void adaptdl_spread(const struct gsim_ctx *ctx, struct adaptdl *adaptdl, struct adaptdl_job *job,
                    uint32_t gpus) {
    job->n_nodes = 0;
    job->is_changed = true;
    while (job->n_nodes < gpus) {
        uint32_t most = 0;
        for (uint32_t node = 1; node < ctx->view->cluster.n_nodes; node++)
            most = adaptdl->free[node] > adaptdl->free[most] ? node : most;
        for (; adaptdl->free[most] > 0 && job->n_nodes < gpus; adaptdl->free[most]--)
            job->node[job->n_nodes++] = most;
    }
}
