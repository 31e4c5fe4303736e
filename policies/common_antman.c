/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/common_antman.h"

enum { MOST_CAP = 1 << 30, LEAST_STEP = 100 }; /* thread blocks a refill */

void gsim_antman_cap(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, bool is_capped) {
    const struct antman *antman = ctx->state;
    uint32_t gpu = gsim_antman_job(ctx, slot)->sharing.gpu - 1;
    const struct gsim_entry entry = {.job = slot,
                                     .launch_cap = antman->gpu[gpu].cap,
                                     .launch_refill_ns = is_capped ? antman->refill_ns : 0};
    (void)gsim_sharing_say(&antman->sharing, plan, gpu, &entry);
}

void gsim_antman_cap_guests(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    for (uint32_t i = 0; i < ctx->view->n_active; i++)
        if (gsim_antman_is_guest(ctx, ctx->view->active[i], gpu))
            gsim_antman_cap(ctx, plan, ctx->view->active[i],
                            antman->gpu[gpu].guaranteed != GSIM_NO_SLOT);
}

void gsim_antman_take(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t gpu) {
    struct antman_gpu *here = &((struct antman *)ctx->state)->gpu[gpu];
    here->guaranteed = slot;
    here->n_looks = 0;
    here->cap = here->best_ppm = 0;
    gsim_antman_cap_guests(ctx, plan, gpu);
}

/* Pace: service by time with an iteration or a request under way, so neither how often requests come
 * nor where a long gap between iterations falls is taken for degradation. Who had nothing to do lost
 * nothing. */
static bool is_as_good(struct antman_gpu *gpu, int64_t done_ns, int64_t taken_ns,
                       int64_t tolerance_ppm) {
    if (taken_ns <= 0)
        return true;
    int64_t pace_ppm = gsim_muldiv_floor(done_ns, GSIM_PPM, taken_ns);
    if (pace_ppm > gpu->best_ppm)
        gpu->best_ppm = pace_ppm;
    return pace_ppm >= gsim_muldiv_floor(gpu->best_ppm, GSIM_PPM - tolerance_ppm, GSIM_PPM);
}

bool gsim_antman_follow(struct antman_gpu *gpu, int64_t done_ns, int64_t taken_ns,
                        int64_t tolerance_ppm) {
    int64_t before = gpu->cap;
    if (gpu->n_looks++ == 0)
        return false; /* it came within this window */
    if (is_as_good(gpu, done_ns, taken_ns, tolerance_ppm))
        gpu->cap += gpu->cap / 2 > LEAST_STEP ? gpu->cap / 2 : LEAST_STEP;
    else
        gpu->cap /= 2;
    if (gpu->cap > MOST_CAP)
        gpu->cap = MOST_CAP;
    return gpu->cap != before;
}

static void look_at(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct antman *antman = ctx->state;
    struct antman_gpu *here = &antman->gpu[gpu];
    here->busy_ppm = gsim_muldiv_floor(here->busy_ns, GSIM_PPM, antman->window_ns);
    here->busy_ns = 0;
    if (here->guaranteed == GSIM_NO_SLOT)
        return;
    struct gsim_counters now = gsim_count(ctx, here->guaranteed);
    int64_t done_ns = now.work_ns - here->worked_ns, taken_ns = now.taken_ns - here->taken_ns;
    here->worked_ns = now.work_ns;
    here->taken_ns = now.taken_ns;
    if (gsim_antman_follow(here, done_ns, taken_ns, antman->tolerance_ppm))
        gsim_antman_cap_guests(ctx, plan, gpu);
}

void gsim_antman_look(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    for (uint32_t i = 0; i < ctx->view->n_active; i++) {
        struct antman_job *job = gsim_antman_job(ctx, ctx->view->active[i]);
        if (job->sharing.gpu == 0)
            continue;
        int64_t busy_ns = gsim_count(ctx, ctx->view->active[i]).busy_ns;
        antman->gpu[job->sharing.gpu - 1].busy_ns += busy_ns - job->busy_ns;
        job->busy_ns = busy_ns;
    }
    for (uint32_t gpu = 0; gpu < ctx->view->n_gpus; gpu++)
        look_at(ctx, plan, gpu);
    antman->look_ns = ctx->view->now_ns + antman->window_ns;
}
