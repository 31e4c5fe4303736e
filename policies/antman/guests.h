/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AntMan on one GPU: its use, the pace of its guaranteed job, and the launches that its guests, the
 * opportunistic jobs, may make. policies/antman/antman.c decides which job goes where. */
#ifndef GSIM_POLICIES_ANTMAN_GUESTS_H
#define GSIM_POLICIES_ANTMAN_GUESTS_H

#include "policies/lib/queue.h"
#include "policies/lib/settings.h"
#include "policies/lib/sharing.h"
#include "sim/base/bitset.h"
#include "sim/base/index.h"

struct antman_gpu {
    struct gsim_queue jobs; /* that share it: a job waits in a queue, or is in one of these */
    gsim_slot guaranteed; /* GSIM_NO_SLOT: none */
    int n_looks; /* looks since the guaranteed job came */
    int64_t worked_ns, taken_ns; /* at the last look: its service, its time with something to do */
    int64_t best_ppm; /* the best pace of a window, worked_ns by taken_ns */
    int share; /* share of the time for each guest, in per cent; 0: guests rest */
    /* all jobs' GPU time: in the present window; as a ratio in the last window */
    int64_t busy_ns, busy_ppm;
};

struct antman {
    struct gsim_sharing sharing; /* first; its queue holds guaranteed jobs */
    struct gsim_queue opportunistic;
    /* jobs of one GPU in the queue of guaranteed jobs: those that have patience left, by arrival,
     * and those that have lost it, in the queue's order, their size the memory of each */
    struct gsim_index patient, singles;
    int64_t n_queued; /* jobs that ever came into it */
    struct antman_gpu *gpu;
    /* GPUs, so that a decide costs by those that it is about: with jobs that share them, or a use
     * from before; of those with jobs, the ones without a guaranteed job, and the ones of which the
     * use lets a guest in. */
    struct gsim_bitset used, unowned, quiet;
    uint32_t n_unowned, *n_unowned_of; /* in all, and of each node */
    struct gsim_bitset freed; /* one of its jobs has just ended */
    struct gsim_bitset kept; /* for a guaranteed job: no opportunistic job starts there */
    struct gsim_preemption way;
    int64_t window_ns, refill_ns, patience_ns, tolerance_ppm, busy_ppm;
    int64_t look_ns; /* time of the next look; GSIM_NEVER before the first arrival */
    bool overflows; /* guest memory beyond the free memory of a GPU is on the host */
};

struct antman_job {
    struct gsim_sharing_job sharing; /* first */
    int64_t nth; /* in the queue of guaranteed jobs */
    bool is_opportunistic; /* at present */
    int64_t busy_ns; /* GPU time at the last look */
};

static inline struct antman_job *gsim_antman_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}
static inline bool gsim_antman_is_guest(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu) {
    const struct antman_job *job = gsim_antman_job(ctx, slot);
    return job->sharing.gpu == gpu + 1 && job->is_opportunistic;
}

/* Brings the sets of GPUs up to date with that one. */
void gsim_antman_note(const struct gsim_ctx *ctx, uint32_t gpu);
/* Books the job's GPU time since it was last counted to the GPU that it is on; what was counted. */
struct gsim_counters gsim_antman_count(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t gpu);
/* Caps a job's memory and launches: a guest has the memory that other jobs leave, and launches by
 * the GPU's share where there is a guaranteed job; other jobs have no cap. */
void gsim_antman_cap(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot);
/* Calls gsim_antman_cap for all guests of a GPU. */
void gsim_antman_cap_guests(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);
/* Makes this GPU the guaranteed job's own; guests rest until its pace is known. */
void gsim_antman_take(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t gpu);
/* Whether a guest may start here: overflow makes room for guaranteed jobs, not for other guests. */
bool gsim_antman_may_overflow(const struct gsim_ctx *ctx, uint32_t gpu, gsim_slot slot);
/* Books a new guest. The first guest begins with the least share, since a share without guests is
 * untested. */
void gsim_antman_welcome(struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu);
/* Adapts the share of guests to a window in which the guaranteed job did done_ns of service in
 * taken_ns with something to do. true: the share changed. */
bool gsim_antman_follow(struct antman_gpu *gpu, int64_t done_ns, int64_t taken_ns,
                        int64_t tolerance_ppm);
/* Ends a window on all GPUs. Windows follow each other from the first arrival on. */
void gsim_antman_look(struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
