/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/antman/guests.h"
#include "policies/lib/sharing.h"

enum { WHOLE = 100, PERCENT_PPM = GSIM_PPM / 100, REST_PPM = 1 };

/* --- memory ----------------------------------------------------------------------------------- */

static int64_t mem_of(const struct gsim_view *view, gsim_slot slot) {
    int64_t bytes = gsim_trace_get(view->trace, GSIM_COL_MEM_BYTES, view->jobs.index[slot]);
    return bytes > 0 ? bytes : 0;
}

/* The memory that the guaranteed job and earlier guests leave; a guest's cap is at least 1 byte,
 * since 0 means no cap. */
static int64_t room_for(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct gsim_view *view = ctx->view;
    const struct antman_gpu *here = &((const struct antman *)ctx->state)->gpu[gpu];
    int64_t room = view->cluster.hbm_bytes[gpu];
    if (here->guaranteed != GSIM_NO_SLOT)
        room -= mem_of(view, here->guaranteed);
    for (gsim_slot other = here->jobs.first; other != GSIM_NO_SLOT;
         other = gsim_queue_after(ctx, other))
        if (gsim_nth(view, other) < gsim_nth(view, slot) && gsim_antman_is_guest(ctx, other, gpu))
            room -= mem_of(view, other);
    return room > 1 ? room : 1;
}

bool gsim_antman_may_overflow(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    uint32_t n_others = view->cluster.clients[gpu] -
                        (((const struct antman *)ctx->state)->gpu[gpu].guaranteed != GSIM_NO_SLOT);
    return n_others == 0 ||
           view->cluster.mem_used[gpu] + mem_of(view, slot) <= view->cluster.hbm_bytes[gpu];
}

void gsim_antman_note(const struct gsim_ctx *ctx, uint32_t gpu) {
    struct antman *antman = ctx->state;
    uint32_t node = ctx->view->cluster.node_of_gpu[gpu];
    const struct antman_gpu *here = &antman->gpu[gpu];
    bool is_shared = here->jobs.first != GSIM_NO_SLOT, is_owned = here->guaranteed != GSIM_NO_SLOT;
    bool is_used = is_shared || here->busy_ns > 0 || here->busy_ppm > 0;
    bool is_unowned = is_shared && !is_owned;
    bool is_quiet = is_shared && here->busy_ppm < antman->busy_ppm;
    uint32_t more = (uint32_t)is_unowned - gsim_bitset_has(&antman->unowned, gpu);
    antman->n_unowned += more;
    antman->n_unowned_of[node] += more;
    (is_used ? gsim_bitset_add : gsim_bitset_remove)(&antman->used, gpu);
    (is_unowned ? gsim_bitset_add : gsim_bitset_remove)(&antman->unowned, gpu);
    (is_quiet ? gsim_bitset_add : gsim_bitset_remove)(&antman->quiet, gpu);
}

/* --- caps ------------------------------------------------------------------------------------- */

void gsim_antman_cap(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot) {
    const struct antman *antman = ctx->state;
    uint32_t gpu = gsim_antman_job(ctx, slot)->sharing.gpu - 1;
    const struct antman_gpu *here = &antman->gpu[gpu];
    struct gsim_entry entry = {.job = slot};
    bool is_guest = gsim_antman_is_guest(ctx, slot, gpu);
    if (is_guest && antman->overflows)
        entry.mem_cap_bytes = room_for(ctx, slot, gpu);
    if (is_guest && here->guaranteed != GSIM_NO_SLOT && here->share < WHOLE) {
        entry.launch_refill_ns = antman->refill_ns;
        entry.launch_share_ppm = here->share > 0 ? (uint32_t)here->share * PERCENT_PPM : REST_PPM;
    }
    (void)gsim_sharing_say(&antman->sharing, plan, gpu, &entry);
}

void gsim_antman_cap_guests(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    const struct antman_gpu *here = &((const struct antman *)ctx->state)->gpu[gpu];
    for (gsim_slot slot = here->jobs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        if (gsim_antman_is_guest(ctx, slot, gpu))
            gsim_antman_cap(ctx, plan, slot);
}

void gsim_antman_take(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t gpu) {
    struct antman_gpu *here = &((struct antman *)ctx->state)->gpu[gpu];
    here->guaranteed = slot;
    here->n_looks = 0;
    here->best_ppm = 0;
    here->share = 0;
    gsim_antman_note(ctx, gpu);
    gsim_antman_cap_guests(ctx, plan, gpu);
}

void gsim_antman_welcome(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    struct antman_gpu *here = &((struct antman *)ctx->state)->gpu[gpu];
    uint32_t n_guests = 0;
    for (gsim_slot slot = here->jobs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot))
        n_guests += gsim_antman_is_guest(ctx, slot, gpu);
    if (n_guests == 1 && here->share > 1)
        here->share = 1;
    gsim_antman_cap_guests(ctx, plan, gpu);
}

/* --- the guaranteed job's pace ---------------------------------------------------------------- */

/* Whether the pace is within the tolerance. Pace: service by time with an iteration or a request
 * under way, so that neither the rate of requests nor the place of a long gap between iterations
 * counts as degradation. A job that had nothing to do lost nothing. */
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
    int before = gpu->share;
    if (gpu->n_looks++ == 0)
        return false; /* the job came within this window */
    if (is_as_good(gpu, done_ns, taken_ns, tolerance_ppm))
        gpu->share += gpu->share > 0 ? (gpu->share + 1) / 2 : 1;
    else
        gpu->share /= 2;
    if (gpu->share > WHOLE)
        gpu->share = WHOLE;
    return gpu->share != before;
}

struct gsim_counters gsim_antman_count(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    struct antman_job *job = gsim_antman_job(ctx, slot);
    struct gsim_counters now = gsim_count(ctx, slot);
    int64_t busy_ns =
        now.busy_ns + now.costs.stall_ns; /* kernels that wait for host memory are on the GPU */
    if (busy_ns > job->busy_ns) /* a job that was stopped may have lost work */
        ((struct antman *)ctx->state)->gpu[gpu].busy_ns += busy_ns - job->busy_ns;
    job->busy_ns = busy_ns;
    return now;
}

/* The windows that have ended since the one to be looked at, in which the cluster was empty. */
static int64_t empty_windows(const struct gsim_ctx *ctx) {
    const struct antman *antman = ctx->state;
    return (ctx->view->now_ns - antman->look_ns) / antman->window_ns;
}

static void look_at(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    struct antman *antman = ctx->state;
    struct antman_gpu *here = &antman->gpu[gpu];
    struct gsim_counters now = {0};
    for (gsim_slot slot = here->jobs.first; slot != GSIM_NO_SLOT;
         slot = gsim_queue_after(ctx, slot)) {
        struct gsim_counters counted = gsim_antman_count(ctx, slot, gpu);
        if (slot == here->guaranteed)
            now = counted;
    }
    here->busy_ppm = gsim_muldiv_floor(here->busy_ns, GSIM_PPM, antman->window_ns);
    if (empty_windows(ctx) > 0)
        here->busy_ppm = 0;
    here->busy_ns = 0;
    gsim_antman_note(ctx, gpu);
    if (here->guaranteed == GSIM_NO_SLOT)
        return;
    int64_t done_ns = now.work_ns - here->worked_ns, taken_ns = now.taken_ns - here->taken_ns;
    here->worked_ns = now.work_ns;
    here->taken_ns = now.taken_ns;
    if (gsim_antman_follow(here, done_ns, taken_ns, antman->tolerance_ppm))
        gsim_antman_cap_guests(ctx, plan, gpu);
}

void gsim_antman_look(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct antman *antman = ctx->state;
    for (uint32_t gpu = gsim_bitset_first(&antman->used); gpu != UINT32_MAX;
         gpu = gsim_bitset_next(&antman->used, gpu + 1))
        look_at(ctx, plan, gpu);
    antman->look_ns += (empty_windows(ctx) + 1) * antman->window_ns;
}
