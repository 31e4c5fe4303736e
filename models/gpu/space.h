/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sharing in space: how fast kernels run that are on the SMs of one GPU, or of one of its MIG
 * instances, at the same time. Free of state; integers only; the order of the holders is of no
 * matter.
 *
 * A holder spreads its blocks evenly over the SMs it may run on, as many SMs' worth of them as its
 * cap and its own parallelism allow. An SM with more than one SM's worth of blocks is crowded: its
 * time is shared in proportion to the holders' blocks. So caps that sum past 100 % crowd all SMs
 * alike, and up to 100 % no holder takes SM time from another.
 *
 *   compute-bound work runs in proportion to the SMs that the holder gets. Memory-bound work issues
 *   little, so it takes nothing from compute-bound work on its SM;
 *   memory-bound work runs in proportion to the bandwidth that its SMs can draw; on a crowded SM it
 *   waits for its turn to issue like all work there, so it draws only its share of the SM's part;
 *   loads take longer while several holders load, as models/gpu/memory_queue.h says.
 *
 * Left out are: that holders load more at some times than at others; caches; placement that avoids
 * the SMs that other holders have by range. */
#ifndef GSIM_MODELS_GPU_SPACE_H
#define GSIM_MODELS_GPU_SPACE_H

#include "models/gpu/bandwidth.h"

/* The demand of a kernel on a whole device; fields as in gsim_holder. */
struct gsim_demand {
    uint32_t fill_ppm, memory_ppm, loads_ppm;
    int64_t hbm_bytes_per_s;
};

struct gsim_holder {
    uint32_t first_sm, n_sms; /* a range of the space's SMs; n_sms 0: all of them */
    uint32_t cap_ppm; /* the most that it may have of the device's SMs; above 0 */
    bool has_steps; /* its cap leaves the SMs that one of MPS does, gsim_space_cap_sms */
    uint32_t fill_ppm; /* part of the device's SMs that it fills when it is alone; above 0 */
    uint32_t memory_ppm; /* part of its time alone that is bound by memory */
    uint32_t loads_ppm; /* part of its bytes that loads alone move; the rest is half stored */
    int64_t hbm_bytes_per_s; /* drawn alone */

    /* Answers. */
    uint64_t rate_q32; /* of its rate alone on the whole device: above 0, at most one */
    int64_t drawn_bytes_per_s;
    int64_t sms; /* SM time it gets for compute */
    int64_t memory_sms; /* SM time it gets for its memory-bound part */
    int64_t wanted; /* SMs' worth of blocks that it puts on those it may run on */
    int64_t density, computing; /* blocks on each of these SMs; the part of them that computes */
};

/* Fills in the answers of all holders. */
void gsim_space_solve(const struct gsim_space *space, struct gsim_holder *holders, uint32_t n);

#endif
