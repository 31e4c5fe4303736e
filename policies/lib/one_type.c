/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/one_type.h"

static bool is_unlike(struct gsim_rate a, struct gsim_rate b, struct gsim_one_type alike) {
    bool has_other_host =
        a.wants.cpus_milli != b.wants.cpus_milli || a.wants.mem_bytes != b.wants.mem_bytes;
    return (alike.speed && a.pace_q32 != b.pace_q32) || (alike.wants && has_other_host) ||
           (a.pace_q32 == 0) != (b.pace_q32 == 0);
}

static bool refuse(struct gsim_ctx *ctx, gsim_slot job, uint16_t first, uint16_t other) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t number = ctx->view->jobs.index[job];
    ctx->status =
        gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
                  "%s: its rules know one type of GPU, and job '%.64s' is unlike on '%s' and on "
                  "'%s', in its speed or in whether it has the memory; take nodes of one of them, "
                  "or policy gavel, themis, elasticflow or sia, "
                  "which tell types apart",
                  ctx->policy->name, gsim_trace_id(trace, number), gsim_ask_device(ctx, first),
                  gsim_ask_device(ctx, other));
    return false;
}

bool gsim_one_type(struct gsim_ctx *ctx, gsim_slot job, struct gsim_one_type alike) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    struct gsim_where where = {.type = cluster->type[0], .gpus = alike.gpus, .host = alike.beside};
    struct gsim_rate first = gsim_ask_rate(ctx, job, &where);
    for (uint32_t node = 1; node < cluster->n_nodes; node++) {
        uint32_t gpu = cluster->node_first_gpu[node];
        if (cluster->type[gpu] == cluster->type[gpu - 1])
            continue;
        where.type = cluster->type[gpu];
        if (is_unlike(first, gsim_ask_rate(ctx, job, &where), alike))
            return refuse(ctx, job, cluster->type[0], where.type);
    }
    return true;
}

static bool has_one_type(const struct gsim_view_cluster *cluster) {
    for (uint32_t node = 1; node < cluster->n_nodes; node++)
        if (cluster->type[cluster->node_first_gpu[node]] != cluster->type[0])
            return false;
    return true;
}

bool gsim_one_type_up_to(struct gsim_ctx *ctx, gsim_slot job, uint32_t most) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    most = most < cluster->n_gpus ? most : cluster->n_gpus;
    if (has_one_type(cluster))
        return true;
    for (uint32_t gpus = 1; gpus <= most; gpus++)
        if (!gsim_one_type(ctx, job, (struct gsim_one_type){.gpus = gpus, .speed = true}))
            return false;
    return true;
}

bool gsim_runs_somewhere(struct gsim_ctx *ctx, gsim_slot job, uint32_t gpus) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t number = ctx->view->jobs.index[job];
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = gpus};
    if (gsim_ask_rate(ctx, job, &where).pace_q32 > 0)
        return true;
    ctx->status =
        gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
                  "%s: by the table of speeds, job '%.64s' cannot run on %u GPUs of the cluster: "
                  "it has rows of 0 there, or the part of a host that falls to each is too small",
                  ctx->policy->name, gsim_trace_id(trace, number), gpus);
    return false;
}
