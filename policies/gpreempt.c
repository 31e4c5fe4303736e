/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPreempt: high-priority and best-effort jobs have a context of the driver each, with time slices
 * of different lengths: `slice` of a best-effort one (1 us), 1 s of a high-priority one. So a
 * best-effort job is off the GPU a switch (switch.preempt_ns) after a high-priority job is ready,
 * whatever its kernels are, and comes back when that has nothing to run. A hint `hint` before the
 * kernels of a request or iteration come launches a kernel that waits for them: the switch is over
 * when they are there. That kernel waits for all launches of the request, so that the GPU stays
 * with the high-priority context to the request's end.
 *
 * High priority have jobs of class realtime, or with a `priority` above 0.
 * Source: Fan et al., "GPreempt: GPU preemptive scheduling made general and efficient", USENIX ATC
 * 2025; its public code for the slices (1 s and 1 us) and for how early a hint is (100 us). */
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

static bool arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                    struct gsim_unit unit) {
    struct gsim_entry entry = {.job = slot, .priority = gsim_common_urgency(ctx, slot) > 0};
    return gsim_sharing_say(ctx->state, plan, unit.gpu, &entry);
}

static enum gsim_status open_gpreempt(struct gsim_ctx *ctx) {
    struct gsim_sharing *sharing = ctx->state;
    struct gsim_lane lane = {.discipline = GSIM_DISCIPLINE_PRIORITY,
                             .urgent.stop = GSIM_STOP_SWITCH,
                             .urgent.slice_ns = gsim_param(ctx->params, "slice"),
                             .urgent.hint_ns = gsim_param(ctx->params, "hint")};
    gsim_sharing_init(sharing, ctx, &lane);
    sharing->arrange = arrange;
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    GSIM_PLACEMENT_PARAM,
    GSIM_QUEUE_PARAM,
    {.name = "slice",
     .type = GSIM_PARAM_TIME,
     .fallback = "1us",
     .min = 1,
     .max = GSIM_TIME_MAX,
     .help = "the slice of a best-effort job while a high-priority one waits"},
    {.name = "hint",
     .type = GSIM_PARAM_TIME,
     .fallback = "100us",
     .min = 0,
     .max = GSIM_TIME_MAX,
     .help = "how long before the kernels of a high-priority request the GPU is asked for; 0 is "
             "without hints"},
    {0}};

const struct gsim_policy gsim_policy_gpreempt = {
    .name = "gpreempt",
    .summary = "the driver's time slices, tiny for best-effort jobs; hints hide the switch",
    .paper = "Fan et al., GPreempt: GPU preemptive scheduling made general and efficient, USENIX "
             "ATC 2025",
    .deviations =
        "a high-priority job that fills its slice of 1 s keeps the GPU, where a best-effort one "
        "would have 1 us; jobs of one level take turns by the driver's quantum and switch, where "
        "they are streams of one context; each request is known early enough for its hint; the "
        "two blocks of a hint's kernel take no SM; jobs wait in one queue, of which the head holds "
        "up all jobs behind it unless queue= says another",
    GSIM_QUEUE_ORACLE,
    .shares_gpus = true,
    .has_contexts = true,
    .params = params,
    .state_size = sizeof(struct gsim_sharing),
    .job_size = sizeof(struct gsim_sharing_job),
    .open = open_gpreempt,
    .on_arrival = gsim_sharing_on_arrival,
    .decide = gsim_sharing_on_decide,
};
