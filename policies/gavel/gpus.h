/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GPUs of its type a job has in a round. */
#ifndef GSIM_POLICIES_GAVEL_GPUS_H
#define GSIM_POLICIES_GAVEL_GPUS_H

#include "policies/gavel/state.h"

enum gsim_status gavel_open_gpus(struct gsim_ctx *ctx, struct gavel *gavel);
/* Gives the job GPUs of the type, on as few nodes as possible. The rounds never give more than
 * there are. */
void gavel_take_gpus(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number, uint32_t type);
void gavel_give_gpus(const struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number);

#endif
