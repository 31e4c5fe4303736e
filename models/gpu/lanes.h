/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of all lanes of a GPU at one instant, and what the owner of the GPU has said of
 * them. */
#ifndef GSIM_MODELS_GPU_LANES_H
#define GSIM_MODELS_GPU_LANES_H

#include "models/gpu/lane.h"

enum { GSIM_SPACES_MAX = GSIM_MIG_SLICES_MAX };

struct gsim_arbiter_options {
    struct gsim_switch_costs costs;
    int64_t quantum_ns; /* of lanes that name no quantum */
    int64_t slice_budget; /* slices without recurrence, until steady rates are extrapolated */
    bool is_plain; /* no cycle is skipped: the reference */
    bool is_exact; /* rates are never extrapolated */
    /* every slice between these times is walked and logged for observers; until 0: none is */
    int64_t watch_from_ns, watch_until_ns;
    bool watches_kernels; /* and kernels of programs */
    const struct gsim_profile *profile; /* of the GPU, for the SMs of kernels that are watched */
};

struct gsim_lanes {
    int64_t now_ns;
    struct gsim_member *members;
    uint16_t capacity;
    struct gsim_gpu_lane *lane;
    uint16_t n_lanes;
    struct gsim_slice_log *spans; /* log of the spans of this state; not part of it */
    uint16_t anchor; /* the lane at the turns of which cycles are looked for */
    uint32_t unsolved; /* spaces (bits) in which other members run than when rates were solved */
    bool has_reports;
    bool is_approximate;
    bool has_shared_blocks; /* kernels went to SMs block by block (models/gpu/shared_sms.h) */
    bool has_unknown_traffic; /* of some of them the bytes that they move are not known */
    bool has_first_loads; /* some of them began with loads that L2 did not have */
    bool has_crowded_unequals; /* kernels with different demands had too few SMs for all of them */
    int64_t skipped_ns;
    struct gsim_store store;
    /* memory of a gang on its other GPUs; the gang is then the only member */
    struct gsim_gang_memory gang;
};

/* The lane with the first change. There is a lane. */
static inline uint16_t gsim_lanes_earliest(const struct gsim_lanes *lanes) {
    uint16_t first = 0;
    for (uint16_t i = 1; i < lanes->n_lanes; i++)
        if (lanes->lane[i].marks.next_ns < lanes->lane[first].marks.next_ns)
            first = i;
    return first;
}

void gsim_lanes_copy(struct gsim_lanes *to, const struct gsim_lanes *from);
/* An instant up to which no member can have anything to report, that instant included: what it has
 * left to do takes as long as alone at least. Of lanes that do not run side by side. */
int64_t gsim_lanes_at_work_until_ns(const struct gsim_lanes *lanes);
void gsim_lanes_choose_anchor(struct gsim_lanes *lanes);

#endif
