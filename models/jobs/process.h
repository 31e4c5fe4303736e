/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a trace's row on a GPU: the context that its columns describe. Alone on the device it
 * takes exactly the row's service time, under any policy: the time that the device adds to each
 * iteration (the gap between a synchronisation and the next launch) is carved out of the GPU time
 * where the row's own host gap is shorter, since a job measured alone paid for it too. */
#ifndef GSIM_MODELS_JOBS_PROCESS_H
#define GSIM_MODELS_JOBS_PROCESS_H

#include "models/gpu/lane_state.h"
#include "models/hardware/profile.h"
#include "gsim/trace.h"

/* Which parts of a job decide anything where it runs. Where its iterations decide nothing, a job
 * that never waits is one long stream of kernels, and so is a job with a row that names no
 * iterations; where kernels decide nothing either, the latter is a single kernel. */
enum {
    GSIM_PARTS_ITERATIONS = 1, /* each iteration touches the job's memory, or ends a turn */
    GSIM_PARTS_TURNS = 4, /* each iteration may end a turn */
    /* the lane halts the job at the ends of kernels, caps kernels, or makes them longer */
    GSIM_PARTS_KERNELS = 2,
    /* the length of an iteration says what others launch beside it; the job of a row that names no
     * iterations is a single one */
    GSIM_PARTS_LENGTHS = 8,
};

/* Numbers of the device in the iterations of a row, without the effects of other jobs. */
enum {
    GSIM_PROCESS_HAS_GAP = 1, /* the gap of its launches */
    GSIM_PROCESS_HAS_BETWEEN = 2, /* the time between its kernels */
    /* the launch rate, by which the number of kernels, or the length of iterations, is found */
    GSIM_PROCESS_HAS_LAUNCHES = 4,
    /* a guessed number of kernels: as many as are launched in host_ms */
    GSIM_PROCESS_HAS_GUESS = 8,
    GSIM_PROCESS_HAS_SYNCS = 16, /* the host waits for each of these kernels */
    /* the host waits for each kernel of an iteration, which is taken to have one */
    GSIM_PROCESS_HAS_ONE = 32,
};
unsigned gsim_process_keys(const struct gsim_trace *trace, uint32_t index,
                           const struct gsim_profile *profile);

struct gsim_process {
    /* the fixed part of its context; iterations 0: there is nothing to run */
    struct gsim_context context;
    int64_t pace_ns; /* an iteration of the context alone */
    /* iterations of the context in an iteration of the trace's row (sync=kernel) */
    int64_t per_iteration;
    /* what whole ns of these leave of the row's GPU time, in an iteration of the row */
    int64_t left_gpu_ns;
    int64_t iterations; /* iterations of the row, or assumed; 0: none */
    bool is_assumed;
    int64_t tail_ns; /* work of the host alone, after the last iteration */
    /* the key from which the length of iterations was assumed; GSIM_KEY_COUNT: none */
    enum gsim_key length_key;
    bool has_assumed_kernels;
    bool is_stream; /* all iterations of the row are one iteration of the context */
    bool is_open_loop; /* iterations are requests */
    bool is_cold; /* the working set of an iteration does not fit L2 */
};

/* The program of a row; NULL: it has none. */
const struct gsim_program *gsim_process_program(const struct gsim_trace *trace, uint32_t index);
/* parts: GSIM_PARTS_..., the parts that decide anything there. */
struct gsim_process gsim_process_of(const struct gsim_trace *trace, uint32_t index,
                                    const struct gsim_profile *profile, unsigned parts);

/* On a device without a length of iterations the number is at most this (process.c). */
enum { GSIM_PROCESS_ITERATIONS_MOST = 10000 };

/* Iterations of a closed-loop job with a row that names none, as the profile assumes: the number
 * that comes nearest to its length. 0: the profile has no length (ideal). */
struct gsim_assumed_iterations {
    int64_t n;
    enum gsim_key key; /* the key of the length */
};
struct gsim_assumed_iterations gsim_process_assume(const struct gsim_trace *trace, uint32_t index,
                                                   const struct gsim_profile *profile);
int64_t gsim_process_kernels(const struct gsim_profile *profile); /* of an iteration, assumed */
/* The service that a context of this process has done. */
gsim_work gsim_process_done(const struct gsim_process *process, const struct gsim_context *context);
/* The GPU time of this service. */
int64_t gsim_process_gpu_ns(const struct gsim_process *process, int64_t service_ns);
/* The time that the process takes alone until this service is done, and until this much of the
 * pause behind it is left. Kernels count with the pause of their iteration, so that service is
 * ahead of time there. */
int64_t gsim_process_alone_ns(const struct gsim_process *process, int64_t service_ns,
                              int64_t pause_ns);
/* The place in its iterations at which this much service is done. */
void gsim_process_locate(const struct gsim_process *process, const struct gsim_context *context,
                         int64_t service_ns, int64_t *iterations, gsim_work *done);

/* A row, and the device on which its process is to run, at this rate. */
struct gsim_site {
    const struct gsim_trace *trace;
    uint32_t index;
    const struct gsim_profile *profile;
    uint64_t rate_q32;
};
/* The process as a member of a lane there: its context, with kernels that no lane has changed, and
 * the properties by which a lane treats it. */
struct gsim_member gsim_process_member(const struct gsim_process *process,
                                       const struct gsim_site *site);
/* The time of a service on a device that runs the job at this rate; and the pace of a context that
 * was left on another device, which goes on with the lengths of `whole`. */
int64_t gsim_process_time_ns(int64_t service_ns, uint64_t rate_q32);
void gsim_process_repace(struct gsim_context *left, const struct gsim_context *whole);
/* Puts a context of this process where it is after this time alone; returns the pause that is left
 * there of its host, as time alone. */
int64_t gsim_process_put(const struct gsim_process *process, int64_t alone_ns,
                         struct gsim_context *context);

#endif
