/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attained service of jobs, and the amounts of it at which a policy looks at them. */
#ifndef GSIM_POLICIES_LIB_SERVICE_H
#define GSIM_POLICIES_LIB_SERVICE_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Attained service: the time that a job has had its GPUs to run on (for GPU time, times their
 * number); waits for pages there count, and transitions do not. */
int64_t gsim_service_ns(const struct gsim_ctx *ctx, gsim_slot slot);

/* Amounts of service at which jobs are to be looked at. Policies set them again whenever a job
 * settles. */
struct gsim_service {
    struct gsim_index reached; /* jobs with a watch that went off, or past their limit already */
};
void gsim_service_init(struct gsim_service *limits, struct gsim_ctx *ctx);
void gsim_service_set(struct gsim_service *limits, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot, int64_t served_ns);
void gsim_service_forget(struct gsim_service *limits, gsim_slot slot);
void gsim_service_watched(struct gsim_service *limits, struct gsim_ctx *ctx, gsim_slot slot);
/* Takes a job that is at its limit; GSIM_NO_SLOT: none. */
gsim_slot gsim_service_take(struct gsim_service *limits);

#endif
