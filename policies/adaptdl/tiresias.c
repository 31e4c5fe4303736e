/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two queues: a job that has had its threshold of GPU time goes to the tail of the second one. In
 * the order of the queues a job runs if it fits into the GPUs that are left. */
#include "policies/adaptdl/state.h"

static bool is_in(const struct adaptdl *adaptdl, uint32_t queue, uint32_t number) {
    return adaptdl->job[number].is_active && adaptdl->job[number].is_demoted == (queue == 1);
}

/* Drops jobs that are done, or were demoted. */
static void clean(struct adaptdl *adaptdl, uint32_t queue) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < adaptdl->n_queue[queue]; i++)
        if (is_in(adaptdl, queue, adaptdl->queue[queue][i]))
            adaptdl->queue[queue][kept++] = adaptdl->queue[queue][i];
    adaptdl->n_queue[queue] = kept;
}

static void demote(struct adaptdl *adaptdl, int64_t now_ns) {
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        if (job->is_chosen)
            job->executed_ns += now_ns - job->last_ns;
        job->last_ns = now_ns;
        bool is_over = (gsim_i128)job->executed_ns * job->gpus >= adaptdl->threshold_ns;
        if (!job->is_chosen || job->is_demoted || !is_over)
            continue;
        job->is_demoted = true;
        adaptdl->queue[1][adaptdl->n_queue[1]++] = adaptdl->active[i];
    }
    clean(adaptdl, 0);
}

static void choose(struct adaptdl *adaptdl) {
    uint32_t n_left = adaptdl->n_gpus;
    for (uint32_t q = 0; q < 2; q++)
        for (uint32_t i = 0; i < adaptdl->n_queue[q]; i++) {
            struct adaptdl_job *job = &adaptdl->job[adaptdl->queue[q][i]];
            job->is_chosen = job->gpus <= n_left;
            n_left -= job->is_chosen ? job->gpus : 0;
            job->is_changed = !job->is_chosen && job->n_nodes > 0;
            job->n_nodes = job->is_chosen ? job->n_nodes : 0;
        }
}

bool adaptdl_tiresias(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    clean(adaptdl, 0);
    clean(adaptdl, 1);
    demote(adaptdl, ctx->view->now_ns);
    choose(adaptdl);
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        const struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        for (uint32_t u = 0; u < job->n_nodes; u++)
            adaptdl->free[job->node[u]]--;
    }
    for (uint32_t q = 0; q < 2; q++)
        for (uint32_t i = 0; i < adaptdl->n_queue[q]; i++) {
            struct adaptdl_job *job = &adaptdl->job[adaptdl->queue[q][i]];
            if (!job->is_chosen || job->n_nodes > 0)
                continue;
            if (!adaptdl_reserve(ctx, job, job->gpus))
                return false;
            adaptdl_spread(ctx, adaptdl, job, job->gpus);
        }
    return true;
}
