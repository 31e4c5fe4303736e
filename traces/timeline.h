/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An application's program (traces/apps.h) from what a profiler saw: the host's calls and the
 * GPU's kernels, copies and sets with their times, and the iterations. Readers add records;
 * timeline.c joins and folds them, timeline_write.c writes the program. */
#ifndef GSIM_TRACES_TIMELINE_H
#define GSIM_TRACES_TIMELINE_H

#include <stdio.h>

#include "sim/api/app.h"
#include "traces/build.h"
#include "traces/format.h"
#include "traces/ncu.h"

enum gsim_timeline_what {
    GSIM_TIMELINE_ITERATION = 0,
    GSIM_TIMELINE_CALL,
    GSIM_TIMELINE_KERNEL,
    GSIM_TIMELINE_COPY,
    GSIM_TIMELINE_SET
};

struct gsim_timeline_record {
    int64_t begin_ns, dur_ns;
    int64_t corr; /* joins a call to its work; -1: none */
    int64_t stream; /* -1: not given */
    int64_t line; /* for messages; 0: none */
    int64_t blocks, threads, registers, shared_bytes; /* of a kernel; 0: not given */
    uint32_t name; /* in names */
    uint32_t gpu; /* of a kernel: its GPU's number + 1; 0: not given */
    uint8_t what; /* enum gsim_timeline_what */
};

/* A call of the host in one iteration, for the program. */
struct gsim_timeline_step {
    int64_t host_ns, dur_ns; /* dur_ns: of the work that a launch starts */
    uint32_t record; /* of a launch: its work */
    uint8_t kind; /* enum gsim_app_call_kind */
    int64_t stream;
};

struct gsim_timeline_iteration {
    uint32_t first, n; /* steps */
    int64_t rest_ns; /* host time after the last */
    int64_t host_ns, gpu_ns; /* all host time without waits, and all work */
    uint32_t place; /* in its run of iterations with the same calls; without phases 0 */
};

/* Iterations with one sequence of calls. */
struct gsim_timeline_phase {
    uint32_t first, n; /* of the iterations that make the program */
    int64_t count; /* how often its calls are made in an iteration of the program */
};

/* The time of a launch's work the first time that the calls of its phase are made, and by how much
 * it is longer each time after that; grow_ns 0: first_ns is the mean. */
struct gsim_timeline_growth {
    int64_t first_ns, grow_ns;
};

/* The parts of a timeline that a program leaves out, or cannot be sure of, to be told. */
struct gsim_timeline_left {
    uint32_t n_outside; /* calls outside of all iterations, and the GPU time of their work */
    int64_t outside_ns;
    uint32_t n_uncalled; /* kernels, copies and sets without a call */
    int64_t uncalled_ns, uncalled_line;
    uint32_t n_idle; /* launches without work on the GPU */
    int64_t idle_line;
    uint32_t n_early; /* work that begins before the call that launches it */
    int64_t early_line;
    uint32_t n_other; /* iterations with another sequence of calls */
    int64_t beside_ns; /* work that ran while other work did */
};

struct gsim_timeline {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path;
    struct gsim_builder *names; /* only for its tables of names: APP names, MODEL kinds */
    const char *kind; /* the kind that is wanted; NULL: the only one */
    const char *gpu; /* as the file names it; NULL: not given */
    uint32_t used_gpu; /* of the kernels so far; 0: none has named one */
    struct gsim_timeline_record *record;
    uint32_t n, capacity;
    struct gsim_timeline_step *step;
    uint32_t n_steps, steps_capacity;
    struct gsim_timeline_iteration *iteration; /* those that make the program, by phase */
    uint32_t n_iterations;
    bool has_phases; /* whether changes of the sequence of calls are phases */
    struct gsim_timeline_phase *phase; /* one: the program has no phases */
    uint32_t n_phases;
    struct gsim_timeline_left left;
};

enum gsim_status gsim_timeline_init(struct gsim_timeline *timeline, const char *path,
                                    const char *kind, struct gsim_arena *arena,
                                    struct gsim_log *log);
/* Adds a record; its name is given apart. */
enum gsim_status gsim_timeline_add(struct gsim_timeline *timeline,
                                   const struct gsim_timeline_record *record, const char *name,
                                   size_t length);
/* Reads a file of rows (timeline_csv.c) or a Chrome trace (timeline_kineto.c), told by its first
 * byte. */
enum gsim_status gsim_timeline_read(struct gsim_timeline *timeline);
enum gsim_status gsim_timeline_read_csv(struct gsim_timeline *timeline, struct gsim_input *input);
enum gsim_status gsim_timeline_read_kineto(struct gsim_timeline *timeline,
                                           struct gsim_input *input);
/* Joins and folds the records into the iterations that make the program. */
enum gsim_status gsim_timeline_fold(struct gsim_timeline *timeline);
/* Of all iterations, keeps those that have the most common sequence of calls: of equally common
 * ones the last, which is furthest from the program's start. */
enum gsim_status gsim_timeline_keep_common(struct gsim_timeline *timeline);
/* Keeps those of the most common cycle of sequences, by phase. */
enum gsim_status gsim_timeline_find_phases(struct gsim_timeline *timeline);
/* Of a step that launches, in the first iteration of the phase. */
struct gsim_timeline_growth gsim_timeline_grows(const struct gsim_timeline *timeline,
                                                const struct gsim_timeline_phase *phase,
                                                uint32_t step);
/* Writes the program, and tells of the parts that are left out. sync_every: iterations after which
 * the host waits; 0: it waits only where the timeline says so. bytes: what its kernels move, NULL:
 * not known. The caller checks the stream for errors. */
enum gsim_status gsim_timeline_write(const struct gsim_timeline *timeline, const char *device,
                                     int64_t sync_every, struct gsim_ncu *bytes, FILE *out);

#endif
