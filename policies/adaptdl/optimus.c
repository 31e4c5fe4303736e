/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimus (Peng et al., EuroSys 2018) as ported: each job gets one GPU, in the order in which they
 * came, then the next GPU goes again and again to the job that it saves the most time. Iterations
 * left are counted from the end of the epoch under way, and the last epoch counts as one. */
#include "policies/adaptdl/state.h"
#include "policies/lib/one_type.h"
#include "policies/lib/rounds.h"

/* The time of an iteration on that many GPUs, as packed as possible. A lone GPU sums the gradients
 * of two steps at least. */
static double step_s(struct gsim_ctx *ctx, const struct adaptdl_job *job, uint32_t gpus) {
    struct gsim_where where = {
        .type = ctx->view->cluster.type[0], .gpus = gpus, .least_summed = gpus == 1};
    return 1 / gsim_rounds_per_s(gsim_ask_rate(ctx, job->slot, &where));
}

/* The time that one GPU more would save. */
static void find_gain(struct gsim_ctx *ctx, struct adaptdl_job *job) {
    job->step_s = job->next_s > 0 ? job->next_s : step_s(ctx, job, job->width);
    job->next_s = job->width < job->most_gpus ? step_s(ctx, job, job->width + 1) : job->step_s;
    job->gain = (job->step_s - job->next_s) * job->left;
}

/* Asked once. */
static bool is_alike(struct gsim_ctx *ctx, struct adaptdl_job *job) {
    uint32_t most = job->is_alike ? 0 : job->most_gpus;
    job->is_alike = true;
    return gsim_one_type_up_to(ctx, job->slot, most);
}

static bool learn(struct gsim_ctx *ctx, struct adaptdl_job *job) {
    struct gsim_where where = {.type = ctx->view->cluster.type[0], .gpus = 1};
    struct gsim_rate rate = gsim_ask_rate(ctx, job->slot, &where);
    job->most_gpus = rate.most_gpus;
    job->left = rate.iterations_after_epoch > 0 ? (double)rate.iterations_after_epoch : 1;
    if (rate.most_gpus > 0 && rate.iterations_after_epoch >= 0)
        return is_alike(ctx, job);
    const struct gsim_trace *trace = ctx->view->trace;
    ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, 0,
                            "adaptdl: rule=optimus counts iterations: job '%s' needs an "
                            "application in --goodput, with the column iterations",
                            gsim_trace_id(trace, ctx->view->jobs.index[job->slot]));
    return false;
}

static struct adaptdl_job *most_gain(const struct adaptdl *adaptdl) {
    struct adaptdl_job *best = NULL;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        if (job->width > 0 && job->gain > 0 && (!best || job->gain > best->gain))
            best = job;
    }
    return best;
}

static bool find_widths(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    uint32_t n_left = adaptdl->n_gpus;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        job->width = n_left > 0;
        n_left -= job->width;
        job->next_s = 0;
        if (!learn(ctx, job))
            return false;
        if (job->width > 0)
            find_gain(ctx, job);
    }
    for (struct adaptdl_job *job; n_left > 0 && (job = most_gain(adaptdl)); n_left--) {
        job->width++;
        find_gain(ctx, job);
    }
    return true;
}

bool adaptdl_optimus(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    uint32_t widest = 0;
    if (!find_widths(ctx, adaptdl))
        return false;
    adaptdl_free_all(ctx, adaptdl);
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
        job->is_changed = job->width != job->n_nodes;
        widest = job->width > widest ? job->width : widest;
        if (job->is_changed)
            job->n_nodes = 0;
        for (uint32_t u = 0; u < job->n_nodes; u++)
            adaptdl->free[job->node[u]]--;
    }
    for (uint32_t width = 1; width <= widest; width++)
        for (uint32_t i = 0; i < adaptdl->n_active; i++) {
            struct adaptdl_job *job = &adaptdl->job[adaptdl->active[i]];
            if (job->width != width || !job->is_changed)
                continue;
            if (!adaptdl_reserve(ctx, job, width))
                return false;
            adaptdl_spread(ctx, adaptdl, job, width);
        }
    return true;
}
