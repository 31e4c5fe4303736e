/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiresias' promotion of starved jobs: a job that has waited knob times as long as it ran goes back
 * to the first queue with a clean sheet. Its waiting counts once it has run since its last
 * promotion, and it comes behind all jobs that wait in the first queue then, as in the authors'
 * simulator (SymbioticLab/Tiresias, simulator/run_sim.py: last_pending_time counts while
 * executed_time > 0, and the job is appended to queue 0). Source: Gu et al., "Tiresias", NSDI 2019,
 * on PROMOTEKNOB. */
#include "policies/tiresias/promotion.h"

#include "policies/lib/common.h"
#include "policies/lib/service.h"

void gsim_promotion_arrive(const struct gsim_promotion *promotion, struct gsim_promotion_job *job) {
    *job = (struct gsim_promotion_job){.order = GSIM_NOT_STARTED + 2 * promotion->n_rounds};
}

static int64_t ran_ns(const struct gsim_ctx *ctx, gsim_slot slot,
                      const struct gsim_promotion_job *job) {
    return gsim_service_ns(ctx, slot) - job->base_ns;
}

void gsim_promotion_wait(struct gsim_promotion *promotion, struct gsim_ctx *ctx, gsim_slot slot,
                         struct gsim_promotion_job *job, bool is_in_first) {
    int64_t ran = ran_ns(ctx, slot, job), now = ctx->view->now_ns;
    job->since_ns = now;
    job->is_counting = ran > 0;
    if (promotion->knob_ppm == 0 || is_in_first || ran <= 0)
        return;
    int64_t due_ns = now + gsim_muldiv_floor(ran, promotion->knob_ppm, GSIM_PPM) - job->waited_ns;
    gsim_index_remove(&promotion->due, slot);
    gsim_common_insert(ctx, &promotion->due, slot, due_ns);
}

void gsim_promotion_run(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                        gsim_slot slot, struct gsim_promotion_job *job) {
    if (job->is_counting)
        job->waited_ns += ctx->view->jobs.changed_ns[slot] - job->since_ns;
    job->is_counting = false;
    gsim_index_remove(&promotion->due, slot);
}

void gsim_promotion_start(struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                          gsim_slot slot, struct gsim_promotion_job *job) {
    int64_t started_ns = ctx->view->jobs.changed_ns[slot];
    if (promotion->started_ns != started_ns || job->order > promotion->started_order)
        promotion->n_starts++;
    promotion->started_ns = started_ns;
    promotion->started_order = job->order;
    job->order = promotion->n_starts;
}

gsim_slot gsim_promotion_take(struct gsim_promotion *promotion, const struct gsim_ctx *ctx) {
    gsim_slot slot;
    while ((slot = gsim_index_first(&promotion->due)) != GSIM_NO_ID &&
           gsim_index_key(&promotion->due, slot) <= ctx->view->now_ns) {
        gsim_index_remove(&promotion->due, slot);
        if (gsim_common_waits(ctx->view, slot))
            return slot;
    }
    return GSIM_NO_SLOT;
}

void gsim_promotion_forget_placed(struct gsim_promotion *promotion, const struct gsim_plan *plan) {
    const struct gsim_unit *units;
    gsim_slot slot;
    while ((slot = gsim_index_first(&promotion->due)) != GSIM_NO_ID &&
           gsim_plan_units(plan, slot, &units) > 0)
        gsim_index_remove(&promotion->due, slot);
}

void gsim_promotion_promote(const struct gsim_promotion *promotion, const struct gsim_ctx *ctx,
                            gsim_slot slot, struct gsim_promotion_job *job) {
    *job = (struct gsim_promotion_job){.base_ns = gsim_service_ns(ctx, slot),
                                       .order = GSIM_NOT_STARTED + 2 * promotion->n_rounds + 1};
}
