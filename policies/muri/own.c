/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/muri/own.h"

#include <string.h>

#include "policies/muri/calm.h"
#include "policies/muri/line.h"
#include "policies/muri/order.h"
#include "policies/muri/pack.h"
#include "sim/base/units.h"

static double seconds_of(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_S;
}

enum gsim_status muri_open_own(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n_exclusive = 0;
    if (!muri_packs(muri))
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "muri: rules other than muri-s, muri-l and in-order are those of Muri's "
                         "simulator alone: --set reference=muri; elsewhere the policies srtf, "
                         "srsf, tiresias, gavel and antman are like them");
    for (uint32_t i = 0; i < muri->n_jobs; i++) {
        struct muri_job *job = &muri->job[i];
        int64_t iteration_ns = gsim_trace_get(trace, GSIM_COL_ITERATION_NS, i);
        job->is_exclusive |= iteration_ns <= 0;
        job->iteration = iteration_ns > 0 ? seconds_of(iteration_ns) : 1;
        n_exclusive += job->is_exclusive;
    }
    muri->tolerance = 0;
    muri->is_due = true;
    muri->n_exclusive = n_exclusive;
    if (!muri_calm_open(ctx, muri) || !muri_line_open(ctx, muri))
        return gsim_no_memory(ctx->log, "opening muri");
    if (n_exclusive > 0)
        ctx->deviation = gsim_arena_printf(
            ctx->arena,
            "%u of %u jobs have GPUs to themselves: the trace does not give iteration_ms and the "
            "stages of an iteration (stage_host_ms, stage_gpu_ms, stage_net_ms)",
            n_exclusive, muri->n_jobs);
    return GSIM_OK;
}

static void drop(struct muri *muri, uint32_t number) {
    uint32_t at = 0;
    while (at < muri->n_order && muri->order[at] != number)
        at++;
    if (at < muri->n_order)
        memmove(muri->order + at, muri->order + at + 1,
                (--muri->n_order - at) * sizeof *muri->order);
}

/* A job that failed comes again behind the others. */
static void add(struct muri *muri, uint32_t number) {
    if (muri->job[number].is_active)
        drop(muri, number);
    muri->order[muri->n_order++] = number;
    muri->job[number].is_active = true;
}

static void read_jobs(struct gsim_ctx *ctx, struct muri *muri) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        add(muri, view->jobs.index[view->changes.arrived[i]]);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->is_active = job->is_here;
        if (!job->is_here)
            continue;
        job->rank = muri_own_rank(ctx, muri, job);
    }
    muri->n_order = muri_keep_active(muri, muri->order, muri->n_order);
}

bool muri_run_own(struct gsim_ctx *ctx, struct gsim_plan *plan, struct muri *muri) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    bool has_changed = muri->n_failures != cluster->n_failures ||
                       muri->n_repairs != cluster->n_repairs || muri->has_returned;
    muri->is_due |=
        has_changed || ctx->view->changes.n_arrived > 0 || ctx->view->changes.n_completed > 0;
    bool is_due = muri->is_due;
    muri->is_due = muri->has_returned = false;
    if (muri->is_lined && has_changed)
        muri_line_leave(muri);
    if (muri->is_lined && muri_line_serve(ctx, plan, muri, is_due))
        return false;
    if (!is_due)
        return !muri->is_at_rest;
    if (muri->is_calm && !has_changed && muri_calm(ctx, plan, muri))
        return false;
    muri->n_failures = cluster->n_failures;
    muri->n_repairs = cluster->n_repairs;
    read_jobs(ctx, muri);
    muri_sort_by_rank(muri, muri->order, muri->n_order);
    muri_line_up(muri);
    muri->is_out_of_memory = !muri_pack(muri);
    return true;
}
