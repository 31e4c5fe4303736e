/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lanes of one space that share its SMs block by block (models/gpu/sm_array.h), where a job has a
 * program: each running context has one kernel at a time, its next one a launch later. A job
 * without a program beside it runs kernels that fill its part of the SMs and let none beside them.
 * Copies and sets need no SMs. */
#ifndef GSIM_MODELS_GPU_SHARED_SMS_H
#define GSIM_MODELS_GPU_SHARED_SMS_H

#include "models/gpu/lanes.h"

/* Gives every running context of the space its rate from lanes->now_ns on. Returns false, and
 * nothing changes, where contexts share by rates: no lane has a program, a gate or atoms, a lane is
 * by priority, a single lane without limits has the space to itself, or the device has more SMs
 * than GSIM_ARRAY_SMS_MAX. last: of this space (models/gpu/sm_array.h); NULL: none is kept. */
bool gsim_shared_sms_solve(const struct gsim_lane_gpu *gpu, const struct gsim_space *space,
                           uint16_t number, struct gsim_lanes *lanes, struct gsim_sm_last *last);

#endif
