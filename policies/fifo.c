/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First in, first out: jobs start in the order of their arrival, and the head of the line blocks
 * every job behind it. Source: the baseline of every scheduling paper.
 *
 * reference=tiresias: the public simulator's `fifo`, GPUs counted only. reference=helios: the
 * fullest node that fits, whole nodes beyond one. reference=pai: its FIFO is not strict, it skips
 * jobs that do not fit, in the order (submit, job). */
#include "policies/lib/line.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

static enum gsim_status open_fifo(struct gsim_ctx *ctx) {
    gsim_line_init(ctx->state, ctx, ctx->reference != GSIM_REFERENCE_PAI);
    return gsim_settings_open_memory(ctx);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_fifo = {
    .name = "fifo",
    .summary = "strict first in, first out: the head of the line blocks",
    .paper = "the classic baseline",
    .deviations = "none known",
    .references =
        1u << GSIM_REFERENCE_TIRESIAS | 1u << GSIM_REFERENCE_PAI | 1u << GSIM_REFERENCE_HELIOS,
    .params = params,
    .state_size = sizeof(struct gsim_line),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_fifo,
    .decide = gsim_line_decide,
};
