/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application profile: one iteration of a program, kernel by kernel, in terms that carry over
 * from one device to another. Read from models/apps/NAME.csv or a user's file; immutable
 * afterwards. */
#ifndef GSIM_API_APP_H
#define GSIM_API_APP_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/trace.h"

/* The unit that does a kernel's arithmetic. */
enum gsim_precision {
    GSIM_PRECISION_FP32 = 0,
    GSIM_PRECISION_TF32,
    GSIM_PRECISION_FP16,
    GSIM_PRECISION_INT8,
    GSIM_PRECISION_COUNT
};

struct gsim_app_buffer {
    const char *name;
    int64_t bytes;
};

/* A part of a buffer, as bounds in ppm. */
struct gsim_app_extent {
    uint16_t buffer;
    uint32_t from_ppm, to_ppm;
};

struct gsim_app_kernel {
    const char *name;
    int64_t line; /* of its row */
    int64_t count; /* launches per iteration */
    /* Per launch; -1: not given. */
    int64_t flops, bytes;
    int64_t time_ns; /* measured on one device, and valid for that device only */
    const char *device; /* the device of the time; NULL without a time */
    enum gsim_precision precision;
    uint32_t efficiency_ppm; /* part of the binding roof that the kernel reaches */
    uint32_t sm_ppm; /* share of the SMs that the kernel can fill */
    int64_t sms; /* SMs needed at once (a cooperative launch) */
    int64_t register_bytes, shared_bytes; /* of one block */
    const struct gsim_app_extent *touches; /* in order */
    uint32_t n_touches;
};

struct gsim_app {
    const char *path; /* for messages */
    const char *title;
    const struct gsim_app_kernel *kernels;
    uint32_t n_kernels;
    const struct gsim_app_buffer *buffers;
    uint32_t n_buffers;
    int64_t mem_bytes; /* of all buffers */
    int64_t host_ns; /* host time to launch one iteration, in parallel with the GPU */
    int64_t gap_ns; /* host time between two iterations */
    enum gsim_sync sync;
    bool is_idempotent;
};

#endif
