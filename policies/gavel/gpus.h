/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GPUs of its type a job has in a round. */
#ifndef GSIM_POLICIES_GAVEL_GPUS_H
#define GSIM_POLICIES_GAVEL_GPUS_H

#include "policies/gavel/state.h"

enum gsim_status gavel_open_gpus(struct gsim_ctx *ctx, struct gavel *gavel);
/* Lets the GPUs be shared in pairs. */
void gavel_arrange(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel);
/* Gives the jobs of the round's choices their GPUs, on as few nodes as possible: those that go on
 * on a type keep their own, others are preempted. The rounds never give more than there are. */
void gavel_assign(struct gsim_ctx *ctx, struct gsim_plan *plan, struct gavel *gavel);
void gavel_give_gpus(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number);
void gavel_preempt(struct gsim_plan *plan, const struct gavel *gavel, struct gavel_job *job);

#endif
