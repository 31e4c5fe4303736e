/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes of one space that share its SMs block by block (models/gpu/sm_array.h), where a job has a
 * program: each running context has one kernel at a time, its next one a launch later. A job
 * without a program beside it runs kernels that fill its part of the SMs and let none beside them.
 * Copies and sets need no SMs. */
#ifndef GSIM_MODELS_GPU_SHARED_SMS_H
#define GSIM_MODELS_GPU_SHARED_SMS_H

#include "models/gpu/lanes.h"

/* The present kernel of a member. Of a program it follows from that, the GPU time of its context
 * and the device. */
struct gsim_present_kernel {
    const struct gsim_program *program; /* NULL: of no program */
    const struct gsim_profile *profile;
    int64_t gpu_ns;
    int64_t number;
    gsim_work begin, end; /* as work of its iteration; it begins a launch after the one before it */
    struct gsim_sm_kernel shape;
};

/* Members of which the present kernel is kept: of several at one place the last one's is. */
enum { GSIM_PRESENT_KERNELS = 16 };

/* Kernels and rates of a space as they were when it was last looked at; these change no result. */
struct gsim_shared_sms_kept {
    struct gsim_sm_last last;
    struct gsim_present_kernel present[GSIM_PRESENT_KERNELS];
};

/* Gives every running context of the space its rate from lanes->now_ns on. Returns false, and
 * nothing changes, where contexts share by rates: no lane has a program, a gate or atoms, a lane is
 * by priority, a single lane without limits has the space to itself, or the device has more SMs
 * than GSIM_ARRAY_SMS_MAX. kept: of this space; NULL: nothing is. */
bool gsim_shared_sms_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                           uint16_t number, struct gsim_lanes *lanes,
                           struct gsim_shared_sms_kept *kept);

#endif
