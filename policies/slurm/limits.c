/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of each kind of limit the first that is set counts: of the partition's QOS, of the job's QOS (in
 * the other order with OverPartQOS), of the associations (slurm.schedmd.com/resource_limits.html).
 * Group limits of associations hold at the user and at every account above; a limit for each user
 * is that of the nearest association that has one. A job that alone is more than a limit would
 * never start; jobs of a log did, so that the limit is not asked of such a job. */
#include "policies/slurm/limits.h"

#include <string.h>

/* What counts against a limit. */
static int64_t used(const struct gsim_slurm_count *count, enum gsim_slurm_limit limit,
                    int64_t now_ns) {
    switch (limit) {
    case GSIM_SLURM_GRP_JOBS:
    case GSIM_SLURM_USER_JOBS:
    case GSIM_SLURM_ACCOUNT_JOBS:
        return count->n_jobs;
    case GSIM_SLURM_GRP_RUN: {
        gsim_i128 left_ns = count->gpu_end_ns - (gsim_i128)count->n_gpus * now_ns;
        return left_ns > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)left_ns;
    }
    default:
        return count->n_gpus;
    }
}

static int64_t asked(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_slurm_limit limit) {
    int64_t gpus = ctx->view->jobs.gpus[slot];
    switch (limit) {
    case GSIM_SLURM_GRP_JOBS:
    case GSIM_SLURM_USER_JOBS:
    case GSIM_SLURM_ACCOUNT_JOBS:
        return 1;
    case GSIM_SLURM_GRP_RUN: {
        gsim_i128 all = (gsim_i128)gpus * gsim_slurm_job(ctx, slot)->limit_ns;
        return all > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)all;
    }
    default:
        return gpus;
    }
}

static bool has_room(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_slurm_limit limit,
                     int64_t most, const struct gsim_slurm_count *count) {
    int64_t wants = asked(ctx, slot, limit);
    return most < 0 || wants > most || used(count, limit, ctx->view->now_ns) + wants <= most;
}

/* --- QOS -------------------------------------------------------------------------------------- */

/* The QOS that are asked, the first of them first; returns how many. */
static int qos_of(const struct gsim_slurm_state *state, const struct gsim_slurm_job *job,
                  uint32_t out[2]) {
    const struct gsim_slurm_partition *partition = gsim_slurm_partition_of(state, job);
    uint32_t of_partition = GSIM_SLURM_NONE;
    int n = 0;
    for (uint32_t q = 0; *partition->qos && q < state->conf.n_qos; q++)
        if (gsim_slurm_lists(partition->qos, state->conf.qos[q].name,
                             strlen(state->conf.qos[q].name)))
            of_partition = q;
    bool job_first = job->qos != GSIM_SLURM_NONE && state->conf.qos[job->qos].goes_over_partition;
    if (job_first)
        out[n++] = job->qos;
    if (of_partition != GSIM_SLURM_NONE && of_partition != job->qos)
        out[n++] = of_partition;
    if (job->qos != GSIM_SLURM_NONE && !job_first)
        out[n++] = job->qos;
    return n;
}

static uint32_t user_of(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_column column) {
    return (uint32_t)(gsim_trace_get(ctx->view->trace, column, ctx->view->jobs.index[slot]) + 1);
}

/* The counter of the QOS that the limit is of. */
static struct gsim_slurm_count *counter(const struct gsim_slurm_state *state,
                                        const struct gsim_ctx *ctx, gsim_slot slot, uint32_t qos,
                                        enum gsim_slurm_limit limit) {
    if (limit == GSIM_SLURM_USER_JOBS || limit == GSIM_SLURM_USER_GPUS)
        return &state->user_count[(size_t)qos * state->n_users + user_of(ctx, slot, GSIM_COL_USER)];
    if (limit == GSIM_SLURM_ACCOUNT_JOBS || limit == GSIM_SLURM_ACCOUNT_GPUS)
        return &state->name_count[(size_t)qos * state->n_names + user_of(ctx, slot, GSIM_COL_VC)];
    return &state->qos_count[qos];
}

/* --- associations ----------------------------------------------------------------------------- */

static int64_t most_of(const struct gsim_slurm_account *account, enum gsim_slurm_limit limit) {
    return account->conf ? account->conf->limits.most[limit] : -1;
}

static bool associations_let(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                             gsim_slot slot, enum gsim_slurm_limit limit) {
    uint32_t own = gsim_slurm_job(ctx, slot)->assoc;
    bool is_group = limit <= GSIM_SLURM_GRP_RUN;
    for (uint32_t at = own; at != GSIM_SLURM_NONE; at = state->account[at].parent) {
        const struct gsim_slurm_account *account = &state->account[is_group ? at : own];
        int64_t most = most_of(&state->account[at], limit);
        if (!has_room(ctx, slot, limit, most, &account->count))
            return false;
        if (!is_group && most >= 0)
            return true;
    }
    return true;
}

/* --- asking and booking ----------------------------------------------------------------------- */

bool gsim_slurm_limits_let(const struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                           gsim_slot slot) {
    uint32_t qos[2];
    int n = state->conf.has_limits ? qos_of(state, gsim_slurm_job(ctx, slot), qos) : 0;
    for (int l = 0; state->conf.has_limits && l < GSIM_SLURM_JOB_GPUS; l++) {
        enum gsim_slurm_limit limit = (enum gsim_slurm_limit)l;
        int i = 0;
        while (i < n && state->conf.qos[qos[i]].limits.most[limit] < 0)
            i++;
        bool lets = i < n ? has_room(ctx, slot, limit, state->conf.qos[qos[i]].limits.most[limit],
                                     counter(state, ctx, slot, qos[i], limit))
                          : associations_let(state, ctx, slot, limit);
        if (!lets)
            return false;
    }
    return true;
}

static void book(const struct gsim_ctx *ctx, gsim_slot slot, struct gsim_slurm_count *count,
                 int sign) {
    int64_t gpus = ctx->view->jobs.gpus[slot];
    count->n_jobs += sign;
    count->n_gpus += sign * gpus;
    count->gpu_end_ns += (gsim_i128)sign * gpus * gsim_slurm_job(ctx, slot)->end_ns;
}

void gsim_slurm_limits_book(struct gsim_slurm_state *state, const struct gsim_ctx *ctx,
                            gsim_slot slot, int sign) {
    static const enum gsim_slurm_limit kinds[] = {GSIM_SLURM_GRP_JOBS, GSIM_SLURM_USER_JOBS,
                                                  GSIM_SLURM_ACCOUNT_JOBS};
    const struct gsim_slurm_job *job = gsim_slurm_job(ctx, slot);
    uint32_t qos[2];
    int n = qos_of(state, job, qos);
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            book(ctx, slot, counter(state, ctx, slot, qos[i], kinds[k]), sign);
    for (uint32_t at = job->assoc; at != GSIM_SLURM_NONE; at = state->account[at].parent)
        book(ctx, slot, &state->account[at].count, sign);
}

enum gsim_status gsim_slurm_limits_open(struct gsim_slurm_state *state, struct gsim_ctx *ctx) {
    enum { MOST = 1 << 26 };
    size_t n = state->conf.n_qos + 1u;
    if (n * state->n_users > MOST || n * state->n_names > MOST)
        return gsim_fail(ctx->log, GSIM_BAD_INPUT, state->conf.path, 0,
                         "%zu QOS of %u users; that is too many", n, state->n_users);
    state->qos_count = gsim_arena_array(ctx->arena, n, sizeof *state->qos_count);
    state->user_count = gsim_arena_array(ctx->arena, n * state->n_users, sizeof *state->user_count);
    state->name_count = gsim_arena_array(ctx->arena, n * state->n_names, sizeof *state->name_count);
    return state->qos_count && state->user_count && state->name_count
               ? GSIM_OK
               : gsim_no_memory(ctx->log, "opening limits");
}
