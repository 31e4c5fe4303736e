/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvshare: a lock on the GPU that one process holds for a quantum; the next holder faults its
 * memory in by Unified Memory, and the memory of the previous holder is evicted. The holder gives
 * the lock back when it has had nothing to run for a while. Where the memory of all jobs fits the
 * GPU there is nothing to protect, and the driver's time slices stay (anti_thrash=auto).
 * Source: Alexopoulos and Mitropoulos, "nvshare: Practical GPU Sharing without Memory Size
 * Constraints", ICSE 2024 (companion), and its public code. */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

enum { AUTO = 0, ON, OFF };

struct state {
    struct gsim_sharing sharing;
    int64_t quantum_ns, idle_release_ns;
    int64_t anti_thrash;
};

static void adapt(const struct gsim_ctx *ctx, struct gsim_lane *lane, uint32_t n_jobs,
                  bool is_oversubscribed) {
    const struct state *state = ctx->state;
    (void)n_jobs;
    bool has_lock = state->anti_thrash == ON || (state->anti_thrash == AUTO && is_oversubscribed);
    lane->quantum_ns = has_lock ? state->quantum_ns : GSIM_QUANTUM_DEFAULT;
    lane->idle_release_ns = has_lock ? state->idle_release_ns : 0;
}

static enum gsim_status open_nvshare(struct gsim_ctx *ctx) {
    struct state *state = ctx->state;
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_RR};
    state->quantum_ns = gsim_param(ctx->params, "quantum");
    state->idle_release_ns = gsim_param(ctx->params, "idle_release");
    state->anti_thrash = gsim_param(ctx->params, "anti_thrash");
    if (state->anti_thrash == OFF)
        ctx->deviation = gsim_param(ctx->params, "memory") == GSIM_MEMORY_RESIDENT
                             ? "without its lock, anti_thrash=off: timeslice by another name"
                             : "without its lock, anti_thrash=off: uvm by another name";
    gsim_sharing_init(&state->sharing, ctx, &lane);
    state->sharing.adapt = adapt;
    return gsim_sharing_set_memory(&state->sharing, ctx);
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "quantum",
     .type = GSIM_PARAM_TIME,
     .fallback = "30s",
     .min = 1000,
     .max = GSIM_TIME_MAX,
     .help = "how long the lock is held while others want it, paging in included"},
    {.name = "idle_release",
     .type = GSIM_PARAM_TIME,
     .fallback = "5s",
     .max = GSIM_TIME_MAX,
     .help = "a holder with nothing to run for this time gives the lock back"},
    {.name = "anti_thrash",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "auto",
     .choices = "auto|on|off",
     .help = "whether there is a lock: auto is where memory is oversubscribed; off leaves the "
             "driver's time slices and paging, which is what uvm does"},
    GSIM_MEMORY_PARAM_AS("uvm"),
    {0}};

const struct gsim_policy gsim_policy_nvshare = {
    .name = "nvshare",
    .summary = "a lock on the GPU with a quantum of tens of seconds, over Unified Memory",
    .paper = "Alexopoulos and Mitropoulos, nvshare: Practical GPU Sharing without Memory Size "
             "Constraints, ICSE 2024 (companion)",
    .deviations =
        "the lock goes round in a ring, not first come first served; memory is touched in "
        "order, evenly over an iteration; jobs wait in one queue, of which the head holds up all "
        "jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .oversubscribes = true,
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_nvshare,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
