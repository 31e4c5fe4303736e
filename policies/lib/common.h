/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small helpers that any policy may use. */
#ifndef GSIM_POLICIES_LIB_COMMON_H
#define GSIM_POLICIES_LIB_COMMON_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* The unit in which shares of GPUs are counted, in ppm: a GPU where the trace has no shares, else
 * the largest part in whole per cents that divides all shares. */
int64_t gsim_common_share_unit(const struct gsim_trace *trace);
/* a * b for ranks; a product too large becomes the largest rank. */
int64_t gsim_common_times(int64_t a, int64_t b);
/* Which names of a column jobs have that the policy sees; the last place is of jobs without a name.
 * There may be more names: those of jobs on nodes with a policy of their own. NULL: no memory. */
bool *gsim_common_named(const struct gsim_ctx *ctx, enum gsim_column column);
/* Inserts a job into an index, ties by the trace's order; a lack of memory goes into the log. */
void gsim_common_insert(struct gsim_ctx *ctx, struct gsim_index *index, gsim_slot slot,
                        int64_t key);
void gsim_common_no_memory(struct gsim_ctx *ctx);
/* Sets the timer for the first entry of an index by time, or cancels it when the index is empty.
 * *set_ns: the time that was set last, GSIM_NEVER at first. */
void gsim_common_wake_first(struct gsim_plan *plan, const struct gsim_index *timed,
                            int64_t *set_ns);
/* Whether the job waits, so that it could be placed. */
static inline bool gsim_common_waits(const struct gsim_view *view, gsim_slot slot) {
    return gsim_state_waits((enum gsim_state)view->jobs.state[slot]);
}
/* Whether this GPU, with no other job on it, has the memory that the job takes, or it is
 * managed. */
bool gsim_common_has_memory(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu);
/* Whether the trace describes how any job uses its GPU: time of an iteration, or share of the
 * GPU. */
bool gsim_common_sees_use(const struct gsim_ctx *ctx);
/* Whether the kernels of this job of the trace are known one by one. */
bool gsim_common_has_program(const struct gsim_trace *trace, uint32_t job);
/* Whether no job could be placed at all: no idle GPU, and no share of a GPU. */
bool gsim_common_is_full(const struct gsim_view *view);

bool gsim_common_is_realtime(const struct gsim_view *view, gsim_slot slot);
/* The urgency of a job: class realtime before all others, then the column `priority`. */
int32_t gsim_common_urgency(const struct gsim_ctx *ctx, gsim_slot slot);

#endif
