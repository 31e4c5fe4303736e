/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First in, first out without the blocking: jobs that do not fit are passed over, without a
 * reservation, so that a wide job may wait for long. Source: the baseline of cluster papers.
 *
 * reference=tiresias: the public simulator's `fjf`, GPUs counted only. */
#include "policies/lib/line.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

static enum gsim_status open_backfill(struct gsim_ctx *ctx) {
    gsim_line_init(ctx->state, ctx, false);
    return gsim_settings_open_memory(ctx);
}

static const struct gsim_param_def params[] = {GSIM_PLACEMENT_PARAM, GSIM_MEMORY_PARAM, {0}};

const struct gsim_policy gsim_policy_backfill = {
    .name = "backfill",
    .summary = "first in, first out, but jobs that do not fit are passed over",
    .paper = "the classic baseline; 'fjf' in the Tiresias simulator",
    .deviations = "none known",
    .references = 1u << GSIM_REFERENCE_TIRESIAS,
    .params = params,
    .state_size = sizeof(struct gsim_line),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_backfill,
    .decide = gsim_line_decide,
};
