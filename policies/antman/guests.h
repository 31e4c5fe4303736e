/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AntMan on one GPU: how much it is used, how well its guaranteed job gets on, and what its guests,
 * the opportunistic jobs, may launch. policies/antman.c says who goes where. */
#ifndef GSIM_POLICIES_COMMON_ANTMAN_H
#define GSIM_POLICIES_COMMON_ANTMAN_H

#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"

struct antman_gpu {
    gsim_slot guaranteed; /* GSIM_NO_SLOT: none */
    bool is_freed; /* one of its jobs has just ended */
    bool is_kept_free; /* for a guaranteed job: no opportunistic one starts here */
    int n_looks; /* since the guaranteed job came */
    int64_t worked_ns, taken_ns; /* at the last look: its service, its time with something to do */
    int64_t best_ppm; /* the best pace of a window, one by the other */
    int share; /* of the time that each guest may have, in per cent; 0: they rest */
    int64_t busy_ns, busy_ppm; /* all jobs' GPU time: in the present window, in the last one */
};

struct antman {
    struct gsim_sharing sharing; /* first: its queue is that of guaranteed jobs */
    struct gsim_queue opportunistic;
    struct antman_gpu *gpu;
    struct gsim_preemption way;
    int64_t window_ns, refill_ns, patience_ns, tolerance_ppm, busy_ppm;
    int64_t look_ns; /* the next time */
    bool overflows; /* what guests touch beyond what is left of a GPU's memory is on the host */
};

struct antman_job {
    struct gsim_sharing_job sharing; /* first */
    bool is_opportunistic; /* now */
    int64_t busy_ns; /* GPU time at the last look */
};

static inline struct antman_job *gsim_antman_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}
static inline bool gsim_antman_is_guest(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct antman_job *job = gsim_antman_job(ctx, slot);
    return job->sharing.gpu == gpu + 1 && job->is_opportunistic;
}

/* A job's memory and launches: a guest has what others leave, and where there is a guaranteed job
 * launches as the GPU's share says; else nothing is capped. */
void gsim_antman_cap(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot);
/* The same for all guests of a GPU. */
void gsim_antman_cap_guests(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);
/* From now on this GPU is its own; guests rest until its pace is known. */
void gsim_antman_take(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t gpu);
/* Whether a guest may start here: overflow makes way for guaranteed jobs, guests make none for each
 * other. */
bool gsim_antman_may_overflow(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
/* A guest has come. The first one finds a share that nobody has tried: it begins with the least. */
void gsim_antman_welcome(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);
/* A guaranteed job did so much service in a window, in so much time with something to do: the share
 * of guests follows. true: it changed. */
bool gsim_antman_follow(struct antman_gpu *gpu, int64_t done_ns, int64_t taken_ns,
                        int64_t tolerance_ppm);
/* A window is over on all GPUs. */
void gsim_antman_look(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
