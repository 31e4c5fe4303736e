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

enum { GSIM_APP_PHASES_MOST = 1024 }; /* far above any program */

struct gsim_app_buffer {
    const char *name;
    int64_t bytes; /* as large as it becomes */
    int64_t first_bytes; /* when the calls of its phase are made for the first time */
    int64_t grow_bytes; /* how much larger it is each time that they are made again */
    uint32_t phase; /* that it is there in, counted from 1 on; 0: it is there in all */
};

/* What a kernel does with the memory that it touches. */
enum gsim_access {
    GSIM_ACCESS_UNKNOWN = 0,
    GSIM_ACCESS_READ = 1,
    GSIM_ACCESS_WRITE = 2,
    GSIM_ACCESS_BOTH = 3
};

/* A part of a buffer, as bounds in ppm of the size that the buffer has then. */
struct gsim_app_extent {
    uint16_t buffer;
    uint8_t access; /* enum gsim_access */
    uint32_t from_ppm, to_ppm;
};

/* The engine of the GPU that does the work of a launch. */
enum gsim_app_unit {
    GSIM_APP_SMS = 0,
    GSIM_APP_COPY,
    GSIM_APP_SET,
    GSIM_APP_HOST_COPY /* by an engine that takes no turn */
};

/* The parts of its time that an SM with the kernel's blocks, alone, issues instructions, and that
 * its tensor cores work; 0: not given. */
struct gsim_app_busy {
    uint32_t issue_ppm, tensor_ppm;
};

struct gsim_app_kernel {
    const char *name;
    int64_t line; /* of its row */
    int64_t count; /* launches per iteration */
    /* Per launch; -1: not given. */
    int64_t flops, bytes;
    int64_t dram_bytes; /* moved in time_ns, by counters of its device */
    int64_t stored_bytes; /* the part of these that was stored */
    int64_t time_ns; /* measured on one device, and valid for that device only */
    int64_t parted_bytes; /* shared memory that it has an empty SM have; 0: as the driver chooses */
    int64_t small_l1_ns; /* that time on SMs that have the smallest L1; at least as long */
    struct gsim_app_busy busy;
    const char *device; /* the device of the time; NULL without a time */
    enum gsim_precision precision;
    uint32_t efficiency_ppm; /* part of the binding roof that the kernel reaches */
    uint32_t clock_ppm; /* the clock that the GPU has at most while it runs, of its highest one */
    uint32_t sm_ppm; /* share of the SMs that the kernel can fill */
    int64_t sms; /* SMs needed at once (a cooperative launch) */
    int64_t register_bytes, shared_bytes; /* of one block */
    int64_t blocks, threads; /* of a launch, and of one block; 0: not given */
    bool spreads; /* its work is launched as no more blocks than the SMs that it sees hold */
    bool is_alike; /* its blocks all do as much: those that begin together end together */
    enum gsim_app_unit unit;
    const struct gsim_app_extent *touches; /* in order */
    uint32_t n_touches;
};

/* What the host does next, in a program. */
enum gsim_app_call_kind {
    GSIM_CALL_LAUNCH = 0, /* of a kernel, a copy or a set, in a stream */
    GSIM_CALL_WAIT_DEVICE, /* the host waits for all that was launched */
    GSIM_CALL_WAIT_STREAM, /* the host waits for what was launched in a stream */
    GSIM_CALL_WAIT_EVENT, /* the host waits for an event */
    GSIM_CALL_RECORD, /* an event stands behind what was launched in a stream */
    GSIM_CALL_AFTER /* what follows in a stream waits for an event */
};

struct gsim_app_call {
    int64_t line; /* of its row */
    int64_t host_ns; /* host time from the call before it, until it takes effect */
    int64_t time_ns; /* of this launch, on the device of its kernel; -1: the kernel's own */
    enum gsim_app_call_kind kind;
    uint32_t kernel; /* of a launch */
    uint32_t again; /* how often the calls of its phase were made before */
    uint16_t stream, event; /* numbers from 0 */
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
    /* Of a program: host time of an iteration without the profiler that saw it; 0: not known */
    int64_t launch_ns;
    enum gsim_sync sync;
    int64_t sync_every; /* iterations after which a host waits that waits for iterations */
    bool is_idempotent;
    int64_t energy_uj; /* of an iteration at the highest clock, without idle; 0: not given */
    /* The program: what the host does in an iteration, in order. NULL: not given; the kernels are
     * then launched evenly over host_ns, and wait for nothing. */
    const struct gsim_app_call *calls;
    uint32_t n_calls;
    uint16_t n_streams, n_events;
    int64_t rest_ns; /* host time from the last call to the end of the iteration */
};

#endif
