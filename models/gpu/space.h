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
 *   when the bandwidth that all holders would draw is more than all their SMs can draw together,
 *   it is shared in proportion to SMs, and no holder gets more than it would draw.
 *
 * Left out are: contention between memory phases of holders with average demands that fit; caches;
 * placement that avoids the SMs that other holders have by range. */
#ifndef GSIM_MODELS_GPU_SPACE_H
#define GSIM_MODELS_GPU_SPACE_H

#include "models/hardware/mig.h"
#include "models/hardware/profile.h"
#include "gsim/units.h"

/* Amounts of SMs are in millionths of an SM. */
#define GSIM_SM GSIM_PPM

/* The SMs and the memory that are shared. */
struct gsim_space {
    const struct gsim_profile *profile;
    int64_t sms; /* SMs of this space; shares are of the whole device's */
    int64_t peak_bytes_per_s; /* bandwidth of the memory that belongs to them */
};

/* The demand of a kernel on a whole device; fields as in gsim_holder. */
struct gsim_demand {
    uint32_t fill_ppm, memory_ppm;
    int64_t hbm_bytes_per_s;
};

struct gsim_holder {
    uint32_t first_sm, n_sms; /* a range of the space's SMs; n_sms 0: all of them */
    uint32_t cap_ppm; /* the most that it may have of the device's SMs; above 0 */
    uint32_t fill_ppm; /* part of the device's SMs that it fills when it is alone; above 0 */
    uint32_t memory_ppm; /* part of its time alone that is bound by memory */
    int64_t hbm_bytes_per_s; /* drawn alone */

    /* Answers. */
    uint64_t rate_q32; /* of its rate alone on the whole device: above 0, at most one */
    int64_t drawn_bytes_per_s;
    int64_t sms; /* SM time it gets for compute */
    int64_t memory_sms; /* SM time it gets for its memory-bound part */
    int64_t wanted; /* SMs' worth of blocks that it puts on those it may run on */
    int64_t density, computing; /* blocks on each of these SMs; the part of them that computes */
};

struct gsim_space gsim_space_of_device(const struct gsim_profile *profile);
/* An instance has a fixed part of the memory's bandwidth: its neighbours change nothing. */
struct gsim_space gsim_space_of_instance(const struct gsim_profile *profile,
                                         const struct gsim_mig_profile *instance);

/* Bandwidth that these SMs (in millionths) draw together, by the device's curve: straight lines
 * between its points and from nothing to the first, level past the last. */
int64_t gsim_space_bandwidth(const struct gsim_space *space, int64_t sms);
/* The like of kernels that stage what they read in shared memory, with more bytes under way. */
int64_t gsim_space_staged_bandwidth(const struct gsim_space *space, int64_t sms);
/* Whether a block with this shared memory takes half of an SM's or more: it stages. */
bool gsim_space_is_staged(const struct gsim_profile *profile, int64_t shared_bytes);
/* How much of a kernel's time is bound by memory, by the bandwidth that it draws alone: its share
 * of the bandwidth that the SMs that it fills can draw. */
uint32_t gsim_space_memory_ppm(const struct gsim_profile *profile, uint32_t fill_ppm,
                               int64_t hbm_bytes_per_s);
/* Fills in the answers of all holders. */
void gsim_space_solve(const struct gsim_space *space, struct gsim_holder *holders, uint32_t n);

#endif
