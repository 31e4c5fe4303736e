/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The three schedulers of time-sliced vGPUs as rules for a lane (NVIDIA vGPU software, "vGPU
 * schedulers"): which context has the turn in the ring, and whether a turn that its owner cannot
 * use is handed on.
 *
 *   best effort  only a vGPU that has work takes a turn, and hands it on when its work is done: the
 *                default of a lane
 *   equal share  every vGPU that is powered on has a turn of equal length, used or not: the
 *                share of each changes when a vGPU comes or goes
 *   fixed share  as many turns as the device can have vGPUs of that size, whether or not they
 *                are there: the share of each never changes
 *
 * The slice is 2 ms where a device can have up to 8 vGPUs and 1 ms beyond (strict round robin), and
 * may be set from 1 to 30 ms. */
#ifndef GSIM_MODELS_GPU_VGPU_H
#define GSIM_MODELS_GPU_VGPU_H

#include "models/hardware/profile.h"

enum gsim_vgpu_scheduler { GSIM_VGPU_BEST_EFFORT = 0, GSIM_VGPU_EQUAL, GSIM_VGPU_FIXED };

struct gsim_vgpu_rule {
    int64_t quantum_ns;
    uint32_t n_turns; /* turns of a round; 0: one for each vGPU that has work */
    bool is_work_conserving; /* an unused turn is handed on to the next vGPU at once */
};

/* The key of the default slice of a device that can have n_most vGPUs. */
enum gsim_key gsim_vgpu_slice_key(const struct gsim_profile *profile, uint32_t n_most);
/* n_running vGPUs are on a device that can have n_most of them; n_running <= n_most. slice_ns 0:
 * the default. */
struct gsim_vgpu_rule gsim_vgpu_rule(const struct gsim_profile *profile,
                                     enum gsim_vgpu_scheduler scheduler, uint32_t n_running,
                                     uint32_t n_most, int64_t slice_ns);

/* Turns that pass whether they are used or not lie on a grid: the turn of place 0 begins at the
 * origin, and the n turns of a round follow each other. */
struct gsim_vgpu_grid {
    int64_t origin_ns, quantum_ns, n;
};

/* The first instant from from_ns on that lies in a turn of this place, with more than need_ns of it
 * left; need_ns is below the quantum. */
int64_t gsim_vgpu_turn_ns(const struct gsim_vgpu_grid *grid, int64_t place, int64_t from_ns,
                          int64_t need_ns);
/* The end of the place's turn, which contains at_ns or ends there. */
int64_t gsim_vgpu_end_ns(const struct gsim_vgpu_grid *grid, int64_t place, int64_t at_ns);
/* How far the present round is. */
int64_t gsim_vgpu_offset_ns(const struct gsim_vgpu_grid *grid, int64_t at_ns);

#endif
