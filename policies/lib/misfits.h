/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting jobs that cannot fit, by the jobs tried before in a pass. */
#ifndef GSIM_POLICIES_LIB_MISFITS_H
#define GSIM_POLICIES_LIB_MISFITS_H

#include "gsim/policy.h"

/* Remembers the smallest whole gang that did not fit in a pass: as long as only the number of GPUs
 * matters, no gang that is at least as large can fit either. */
struct gsim_misfits {
    uint32_t smallest;
    bool is_size_all; /* only whole GPUs can be lacking, and all jobs are placed by one rule */
    bool is_size_by_wish; /* so it is among jobs of one wish (policies/lib/unmet.h) */
};
/* Whether a trial to place a job by the rule changes what the next one finds: then no job that
 * found no room speaks for others, and all are tried. */
static inline bool gsim_misfits_trial_matters(enum gsim_rule rule) {
    return rule == GSIM_RULE_RANDOM || rule == GSIM_RULE_AFFINITY;
}
/* Whether a gang that is placed by the rule needs as many idle GPUs, whatever else is lacking. */
static inline bool gsim_misfits_need_idle(const struct gsim_view *view, enum gsim_rule rule) {
    return !view->pool.is_used && !view->trace->column[GSIM_COL_SHARE_PPM] &&
           rule != GSIM_RULE_FULLEST; /* which takes fewer GPUs */
}
/* keeps_paused: paused jobs may leave their memory on GPUs. */
struct gsim_misfits gsim_misfits_none(const struct gsim_view *view, enum gsim_rule rule,
                                      bool keeps_paused);
/* Whether every job of this width is known not to fit. */
static inline bool gsim_misfits_has_width(const struct gsim_misfits *misfits,
                                          const struct gsim_view *view, uint32_t gpus) {
    return !view->pool.is_used && misfits->is_size_all && gpus >= misfits->smallest;
}
/* Whether the job is known not to fit, without asking the plan: in a pool two comparisons
 * decide. */
static inline bool gsim_misfits_has(const struct gsim_misfits *misfits,
                                    const struct gsim_view *view, gsim_slot slot) {
    if (!view->pool.is_used)
        return gsim_misfits_has_width(misfits, view, view->jobs.gpus[slot]);
    return (int64_t)view->jobs.gpus[slot] * view->jobs.share_ppm[slot] > view->pool.free_ppm ||
           gsim_trace_get(view->trace, GSIM_COL_CPUS_MILLI, view->jobs.index[slot]) >
               view->pool.free_cpus_milli;
}
/* Places the job unless it is known not to fit. */
bool gsim_misfits_place(struct gsim_misfits *misfits, const struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule);

#endif
