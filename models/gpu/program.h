/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a job on one kind of device: what its host does in an iteration, call by call, and
 * the kernels that it launches. Made once from an application's file and a device's profile,
 * immutable, and shared by all jobs that run it; a job runs it with its host faster or slower, and
 * its kernels shorter or longer, by one factor each.
 *
 * The host launches ahead of the GPU, past the ends of iterations, until its launch queue is full
 * or until it waits. It knows nothing of the GPU but what has ended: so of the kernels, in the
 * order of their launches, the first that a wait needs and the last that a launch needs decide
 * when the host goes on. */
#ifndef GSIM_MODELS_GPU_PROGRAM_H
#define GSIM_MODELS_GPU_PROGRAM_H

#include "gsim/arena.h"
#include "gsim/status.h"
#include "gsim/units.h"
#include "models/gpu/clock.h"
#include "models/hardware/profile.h"
#include "models/memory/touch_order.h"
#include "sim/api/app.h"

/* The longest host or GPU time of an iteration: ten days. */
#define GSIM_PROGRAM_MOST_NS (INT64_C(864000) * GSIM_NS_PER_S)

/* A launch: a kernel, a copy or a set. */
struct gsim_program_kernel {
    int64_t ns; /* alone on the device, from its begin to its end */
    int64_t register_bytes, shared_bytes; /* of one block */
    uint32_t memory_ppm; /* part of its time alone that is bound by memory */
    uint32_t lowers_ppm; /* by which the GPU's highest clock is lower while it runs */
    int64_t blocks; /* 0: not given */
    uint32_t threads; /* of one block; 0: not given */
    int64_t per_sm; /* blocks that an SM holds at one time; 0: blocks or threads are not given */
    uint32_t kind; /* number in app->kernels: launches of one kernel have one number */
    uint16_t stream;
    uint8_t unit; /* enum gsim_app_unit */
    bool spreads; /* its work is launched as no more blocks than the SMs of its lane hold */
    bool is_alike; /* its blocks all do as much */
    bool is_traffic_known; /* whether memory_ppm comes from bytes, and not from job.memory_ppm */
    int64_t hbm_bytes_per_s; /* drawn alone; 0: its traffic is not known */
    uint32_t loads_ppm; /* the part of it that loads alone move; the rest is half stored */
    int64_t parted_bytes; /* shared memory that it has an empty SM have; 0: as the driver chooses */
    uint32_t small_l1_ppm; /* by which it takes longer on SMs with the smallest L1 */
    struct gsim_app_busy busy;
    uint32_t again; /* how often the calls of its phase were made before */
};

struct gsim_program_call {
    int64_t host_ns; /* host time from the call before it, until it takes effect */
    uint8_t kind; /* enum gsim_app_call_kind */
    uint16_t stream, event;
    uint32_t kernel; /* of a launch: its number in program->kernels; launches are in order */
};

/* The program as contexts run it that take turns: kernels one after another, in the order of their
 * launches, so that what a stream waits for has ended before. */
struct gsim_program_step {
    int64_t launched_ns; /* host time from the begin of the iteration to its launch */
    int64_t end_ns; /* GPU time of the iteration's kernels up to its end */
    int64_t blocks; /* of the iteration's launches up to this one, at least one of each */
    /* host time from the begin of the iteration up to the first wait that ends with this kernel,
     * which may be a wait in the next iteration; -1: none does */
    int64_t wait_ns;
    bool is_apart; /* a copy by an engine that takes no turn, beside kernels that do */
};

struct gsim_program {
    const struct gsim_app *app;
    const struct gsim_program_call *calls;
    const struct gsim_program_kernel *kernels;
    const struct gsim_program_step *steps; /* by kernel */
    uint32_t n_calls, n_kernels;
    uint16_t n_streams, n_events;
    /* The number of iterations after which the host waits for all that it has launched; 0: it
     * never does. After the last iteration it does in any case. */
    int64_t sync_every;
    int64_t rest_ns; /* host time after the last call */
    int64_t host_ns; /* host time of an iteration without waits */
    int64_t launch_ns; /* that without the profiler that saw its calls, or host_ns if not known */
    int64_t kernels_ns; /* of all kernels */
    /* GPU time of an iteration in turns: the kernels, and the time between two of a stream */
    int64_t gpu_ns;
    int64_t hbm_bytes; /* of all kernels of which traffic is known */
    /* What an iteration draws beyond idle, where the application says so; its core_uj is 0 where
     * not. And its time alone, gpu_ns or more, in which that is within the power limit. */
    struct gsim_clock_energy energy;
    int64_t powered_ns;
    /* The order of its touches in a memory of order_bytes: buffers one after another, of each the
     * bytes from the first to the last that kernels touch. NULL: it touches nothing. */
    const struct gsim_touch_order *order;
    int64_t order_bytes;
};

/* A block of a kernel of a file, and where the file says so. */
struct gsim_program_block {
    const char *path, *kernel;
    int64_t line, threads, register_bytes, shared_bytes;
};

/* Whether the device can launch the block, and an SM of it hold the block. A device without limits
 * (ideal) has zeros. */
enum gsim_status gsim_program_check_block(const struct gsim_profile *profile,
                                          const struct gsim_program_block *block,
                                          struct gsim_log *log);

/* The program of an application on this device. An application without calls has none: *out is
 * NULL then. */
enum gsim_status gsim_program_of(const struct gsim_app *app, const struct gsim_profile *profile,
                                 struct gsim_arena *arena, const struct gsim_program **out,
                                 struct gsim_log *log);

#endif
