/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small helpers that any policy may use: keys of an order, timers, and questions about the
 * trace. */
#include "policies/lib/common.h"

enum { PERCENT_PPM = GSIM_PPM / 100, MOST_URGENT_BATCH = 1 << 20 };

int64_t gsim_common_share_unit(const struct gsim_trace *trace) {
    const int64_t *share_ppm = trace->column[GSIM_COL_SHARE_PPM];
    int64_t unit = GSIM_PPM / PERCENT_PPM;
    for (uint32_t job = 0; share_ppm && job < trace->n_jobs; job++)
        for (int64_t part = (gsim_trace_share(trace, job) + PERCENT_PPM - 1) / PERCENT_PPM;
             part > 0;) { /* Euclid's algorithm */
            int64_t rest = unit % part;
            unit = part;
            part = rest;
        }
    return unit * PERCENT_PPM;
}

int64_t gsim_common_times(int64_t a, int64_t b) {
    gsim_i128 product = (gsim_i128)a * b;
    return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

void gsim_common_no_memory(struct gsim_ctx *ctx) {
    ctx->status = ctx->log->n_errors == 0 ? gsim_no_memory(ctx->log, "ordering jobs") : GSIM_FAILED;
}

bool *gsim_common_named(const struct gsim_ctx *ctx, enum gsim_column column) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t n = trace->names[column].n;
    bool *is_named = gsim_arena_array(ctx->arena, n + 1u, sizeof *is_named);
    for (uint32_t job = 0; is_named && job < trace->n_jobs; job++) {
        int64_t name = gsim_trace_get(trace, column, job);
        is_named[name >= 0 ? (uint32_t)name : n] = true;
    }
    return is_named;
}

void gsim_common_insert(struct gsim_ctx *ctx, struct gsim_index *index, gsim_slot slot,
                        int64_t key) {
    if (!gsim_index_insert(index, slot, key, gsim_nth(ctx->view, slot)))
        gsim_common_no_memory(ctx);
}

void gsim_common_wake_first(struct gsim_plan *plan, const struct gsim_index *timed,
                            int64_t *set_ns) {
    gsim_slot first = gsim_index_first(timed);
    int64_t then_ns = first == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(timed, first);
    if (then_ns != *set_ns) /* otherwise the timer is set already, or there is none */
        gsim_plan_wake(plan, then_ns);
    *set_ns = then_ns;
}

bool gsim_common_sees_use(const struct gsim_ctx *ctx) {
    const int64_t *const *column = ctx->view->trace->column;
    return column[GSIM_COL_GPU_NS] || column[GSIM_COL_HOST_NS] || column[GSIM_COL_HOST_GAP_NS] ||
           column[GSIM_COL_SM_PPM] || column[GSIM_COL_APP];
}

bool gsim_common_is_full(const struct gsim_view *view) {
    return view->cluster.n_idle_gpus == 0 && !view->pool.is_used &&
           !view->trace->column[GSIM_COL_SHARE_PPM];
}

bool gsim_common_has_program(const struct gsim_trace *trace, uint32_t job) {
    int64_t app = gsim_trace_get(trace, GSIM_COL_APP, job);
    return app >= 0 && trace->programs && trace->programs[app];
}

bool gsim_common_is_realtime(const struct gsim_view *view, gsim_slot slot) {
    return gsim_trace_get(view->trace, GSIM_COL_CLASS, view->jobs.index[slot]) ==
           GSIM_CLASS_REALTIME;
}

int32_t gsim_common_urgency(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_trace *trace = ctx->view->trace;
    uint32_t job = ctx->view->jobs.index[slot];
    const int64_t *column = trace->column[GSIM_COL_PRIORITY];
    int64_t priority = column ? column[job] : 0;
    if (priority > MOST_URGENT_BATCH)
        priority = MOST_URGENT_BATCH;
    if (priority < -MOST_URGENT_BATCH)
        priority = -MOST_URGENT_BATCH;
    return (int32_t)priority +
           (gsim_common_is_realtime(ctx->view, slot) ? 4 * MOST_URGENT_BATCH : 0);
}

bool gsim_common_has_memory(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct gsim_view *view = ctx->view;
    struct gsim_where where = {.type = view->cluster.type[gpu], .gpus = view->jobs.gpus[slot]};
    return view->cluster.room != GSIM_ROOM_SCARCE || !gsim_ask_rate(ctx, slot, &where).lacks_memory;
}
