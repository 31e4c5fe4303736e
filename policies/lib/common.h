/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small helpers that any policy may use. */
#ifndef GSIM_POLICIES_LIB_COMMON_H
#define GSIM_POLICIES_LIB_COMMON_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* What shares of GPUs are counted in, in ppm: GPUs where the trace has no shares, else the largest part
 * in whole per cents that goes into all of them. */
int64_t gsim_common_share_unit(const struct gsim_trace *trace);
/* a * b for ranks; a product too large is the largest rank. */
int64_t gsim_common_times(int64_t a, int64_t b);
/* Into an index of jobs, ties by the trace's order; a lack of memory goes into the log. */
void gsim_common_insert(struct gsim_ctx *ctx, struct gsim_index *index, gsim_slot slot,
                        int64_t key);
void gsim_common_no_memory(struct gsim_ctx *ctx);
/* Sets the timer for the first of an index by time, or cancels it when there is none. *set_ns: what it
 * was set to last, GSIM_NEVER at first. */
void gsim_common_wake_first(struct gsim_plan *plan, const struct gsim_index *timed,
                            int64_t *set_ns);
/* Whether it could be placed. */
static inline bool gsim_common_waits(const struct gsim_view *view, gsim_slot slot) {
    enum gsim_state state = (enum gsim_state)view->jobs.state[slot];
    return state == GSIM_QUEUED || state == GSIM_PAUSED || state == GSIM_HELD;
}
/* Whether the trace says of any job how it uses its GPU: for how long an iteration, and how much. */
bool gsim_common_sees_use(const struct gsim_ctx *ctx);
/* Whether nothing at all could be placed: no idle GPU, and no share of one. */
bool gsim_common_is_full(const struct gsim_view *view);

bool gsim_common_is_realtime(const struct gsim_view *view, gsim_slot slot);
/* How urgent a job is: class realtime before all others, then the column `priority`. */
int32_t gsim_common_urgency(const struct gsim_ctx *ctx, gsim_slot slot);

#endif
