/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares that are best for an objective. */
#ifndef GSIM_POLICIES_GAVEL_OPTIMUM_H
#define GSIM_POLICIES_GAVEL_OPTIMUM_H

#include "policies/gavel/state.h"

enum gsim_status gavel_open_optimum(struct gsim_ctx *ctx, struct gavel *gavel);
/* Sets the job's weight and kind, from its gang and speeds. */
void gavel_learn_kind(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number);
bool gavel_optimise(struct gsim_ctx *ctx, struct gavel *gavel);
/* Whether iterations of a job are set beside those of others, or beside seconds. */
bool gavel_counts_iterations(const struct gavel *gavel);
/* Iterations to the end of the job, and the time since its arrival. */
double gavel_left(const struct gsim_ctx *ctx, const struct gavel *gavel,
                  const struct gavel_job *job);
double gavel_age_s(const struct gsim_ctx *ctx, const struct gavel *gavel, uint32_t number);

#endif
