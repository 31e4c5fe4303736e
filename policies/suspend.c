/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coarse preemption for a small lab: a job is stopped on the host and its memory leaves the GPU, so
 * that a few people can share a few GPUs by priority and fairness with only the means of a driver
 * and a process. Quanta of tens of seconds keep the cost of moving memory small. Source: this
 * project; the costs are those measured on an H200 (../shared/validation/h200/suspend_cost.csv).
 *
 * Waiting jobs go by priority, then by least attained GPU time. Once a job has run for a quantum,
 * counted from the end of its copy-in, it gives way to a job that waits with a higher priority, or
 * with the same priority and less GPU time. A job with its memory on the node of a job that is due
 * goes before the first in line if the GPU time that it has had beyond the first's is worth no more
 * than the time that going home saves. And a job with memory that would have to cross the network
 * waits for GPUs of the node where the memory lies, if idle ones and those of jobs there that are
 * due to give way to it are enough, for as long as the copy would take longer (home=): a longer
 * wait would lose more than it can save.
 *
 * mechanism: how the memory leaves and comes back. copy: the program copies it to the host at the
 * end of an iteration; checkpoint: the driver does, at the end of a kernel; restart: from a
 * checkpoint of the program's own on storage; paging: the host is stopped (at the end of a kernel),
 * and the driver pages the memory out as others need the room, and in when the job goes on (Unified
 * Memory, as under nvshare; memory= names the manager). */
#include "policies/lib/common.h"
#include "policies/lib/service.h"
#include "policies/lib/settings.h"
#include "policies/lib/slices.h"

struct state {
    struct gsim_slices slices;
};

enum mechanism { AUTO, COPY, CHECKPOINT, RESTART, PAGING };

static int64_t priority(const struct gsim_ctx *ctx, gsim_slot slot) {
    const int64_t *column = ctx->view->trace->column[GSIM_COL_PRIORITY];
    return column ? column[ctx->view->jobs.index[slot]] : 0;
}

static int64_t gpu_time_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_common_times(gsim_service_ns(ctx, slot), ctx->view->jobs.gpus[slot]);
}

/* Priorities past 15 bits count as the last one. */
static int64_t within_rank(int64_t urgency) {
    enum { MOST = 32767 };
    return urgency > MOST ? MOST : urgency < -MOST ? -MOST : urgency;
}

/* 2^47 ms of GPU time are 4000 years. */
static int64_t rank(const struct gsim_ctx *ctx, gsim_slot slot) {
    enum { TIME_BITS = 47 };
    int64_t time_ms = gpu_time_ns(ctx, slot) / GSIM_NS_PER_MS;
    return -within_rank(priority(ctx, slot)) * (INT64_C(1) << TIME_BITS) + time_ms;
}

/* A job of the same millisecond has no less GPU time than a whole one. */
static bool is_whole_ms(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gpu_time_ns(ctx, slot) % GSIM_NS_PER_MS == 0;
}

/* Ranks are milliseconds of GPU time, within a priority. */
static int64_t worth(const struct gsim_ctx *ctx, gsim_slot slot, int64_t saved_ns) {
    return gsim_common_times(saved_ns / GSIM_NS_PER_MS, ctx->view->jobs.gpus[slot]);
}

/* Jobs of its priority yield to a job if they have had more GPU time; those below it always, but
 * where ranks tell the priorities apart no more: then if they are no milliseconds behind. */
static int64_t least_service_ns(const struct gsim_ctx *ctx, gsim_slot slot, int64_t urgency,
                                uint32_t gpus) {
    int64_t own = priority(ctx, slot), time_ns = gpu_time_ns(ctx, slot);
    if (own == urgency)
        return time_ns == INT64_MAX ? GSIM_NEVER : time_ns / gpus + 1;
    if (own < urgency)
        return GSIM_NEVER;
    int64_t whole_ns = time_ns - time_ns % GSIM_NS_PER_MS;
    return within_rank(own) > within_rank(urgency) ? 0 : whole_ns / gpus + (whole_ns % gpus > 0);
}

/* Compares with the GPU time that the victim will have had by then. */
static bool will_yield(const struct gsim_ctx *ctx, gsim_slot victim, gsim_slot slot,
                       int64_t then_ns) {
    int64_t more_ns = then_ns > ctx->view->now_ns ? then_ns - ctx->view->now_ns : 0;
    int64_t priority_slot = priority(ctx, slot), priority_victim = priority(ctx, victim);
    int64_t victims_ns =
        gpu_time_ns(ctx, victim) + gsim_common_times(more_ns, ctx->view->jobs.gpus[victim]);
    return priority_slot != priority_victim ? priority_slot > priority_victim
                                            : gpu_time_ns(ctx, slot) < victims_ns;
}

static enum gsim_status open_suspend(struct gsim_ctx *ctx) {
    static const struct gsim_preemption by_choice[] = {
        [COPY] = {GSIM_STOP_ITERATION, GSIM_KEEP_HOST},
        [CHECKPOINT] = {GSIM_STOP_KERNEL, GSIM_KEEP_IMAGE},
        [RESTART] = {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE},
        [PAGING] = {GSIM_STOP_KERNEL, GSIM_KEEP_PAGEABLE},
    };
    struct state *state = ctx->state;
    int64_t mechanism = gsim_param(ctx->params, "mechanism");
    enum gsim_status status = gsim_settings_open_memory(ctx);
    if (mechanism == AUTO && ctx->devices)
        mechanism = PAGING;
    if (mechanism == PAGING && !ctx->devices)
        status = gsim_settings_manage(ctx, &(struct gsim_arrangement){.memory = GSIM_MEMORY_UVM});
    if (mechanism == AUTO)
        mechanism = COPY;
    state->slices.preemption = by_choice[mechanism];
    state->slices.slice_ns = gsim_param(ctx->params, "quantum");
    state->slices.rank = rank;
    state->slices.is_first_of_rank = is_whole_ms;
    state->slices.urgency = priority;
    state->slices.least_service_ns = least_service_ns;
    state->slices.worth = worth;
    state->slices.will_yield = gsim_param(ctx->params, "home") ? will_yield : NULL;
    gsim_slices_init(&state->slices, ctx);
    return status;
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_slices_completed(ctx->state, slot);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slices_book(ctx->state, ctx);
    gsim_slices_decide(ctx->state, ctx, plan);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_MEMORY_PARAM,
    GSIM_PATIENCE_PARAM_AS("0"),
    {.name = "home",
     .type = GSIM_PARAM_BOOL,
     .fallback = "on",
     .help = "a job waits for GPUs of the node where its memory lies, for as long as the copy to "
             "another node takes longer"},
    {.name = "quantum",
     .type = GSIM_PARAM_TIME,
     .fallback = "30s",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "how long a job runs before it may have to give way, from the end of its copy-in"},
    {.name = "mechanism",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "auto",
     .choices = "auto|copy|checkpoint|restart|paging",
     .help = "how memory leaves the GPU: auto is paging under memory=, else copy, for a time that "
             "is assumed where the trace has no mem_gib"},
    {0}};

const struct gsim_policy gsim_policy_suspend = {
    .name = "suspend",
    .summary = "priority and fairness by host stop and memory eviction, quanta of tens of seconds",
    .paper = "none: this project's own, for small labs",
    .deviations = "a gang that does not fit is passed over for ever (patience=0), so wide ones may "
                  "starve where single GPUs are always wanted",
    .params = params,
    .state_size = sizeof(struct state),
    .open = open_suspend,
    .on_completion = on_completion,
    .decide = decide,
};
