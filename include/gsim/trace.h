/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trace: the jobs that arrive. Read whole, checked, then immutable and shared by threads. A
 * column that the file does not have is NULL; no value is invented for it. */
#ifndef GSIM_TRACE_H
#define GSIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gsim/arena.h"
#include "gsim/status.h"
#include "gsim/job.h"

enum gsim_column {
#define GSIM_COLUMN(symbol, name, kind, help) GSIM_COL_##symbol,
#include "gsim/columns.def"
#undef GSIM_COLUMN
    GSIM_COL_COUNT
};

enum gsim_sync { GSIM_SYNC_ITERATION = 0, GSIM_SYNC_KERNEL, GSIM_SYNC_NONE };

/* Limits; past them a trace is refused with a message. */
#define GSIM_MAX_JOBS 100000000u
#define GSIM_MAX_GANG 1000000u
#define GSIM_MAX_FIELD_COLUMNS 256
#define GSIM_MAX_FIELD_BYTES 4096

/* Interned texts of a NAME column: cells are positions in it. */
struct gsim_names {
    uint32_t n;
    const char **name;
};

struct gsim_program; /* a job kernel by kernel */
struct gsim_rates; /* measured speeds by model, device and GPUs */
struct gsim_goodput; /* how fast applications learn, by GPUs, nodes and batch size */

struct gsim_trace {
    const char *path; /* as given, for messages */
    const char *format; /* name of the format */
    uint32_t n_jobs;
    uint32_t n_dropped; /* rows of the file that are no jobs here; a warning gave the reason */
    const char *dropped; /* these rows by reason, in words; empty or NULL: none */

    const char *id_text; /* all ids, NUL-terminated, one after the other */
    const uint32_t *id_at; /* offset of each job's id in id_text */
    const uint32_t *line; /* line of each job; NULL: first_line + index */
    int64_t first_line;

    const int64_t *submit_ns; /* >= 0 */
    const int64_t *service_ns; /* time alone on its GPUs, >= 0 */
    const uint32_t *gpus; /* gang size >= 1; NULL: all 1 */
    const uint32_t *order; /* jobs by (submit, index); NULL: the file is in that order */

    /* NULL: the trace does not have the column; -1: empty cell */
    const int64_t *column[GSIM_COL_COUNT];
    struct gsim_names names[GSIM_COL_COUNT];

    /* Speed of an application's jobs on a device type, relative to the cluster's first: by name (of
     * GSIM_COL_APP), by device type. NULL: all are equal, or the speeds were not looked up. */
    const uint64_t *app_rate_q32;
    uint16_t n_app_devices;

    /* The insides of applications (opaque here), on the cluster's first device: by name (of
     * GSIM_COL_APP). NULL: no application has one; an entry NULL: this application has none. */
    const struct gsim_program *const *programs;

    /* The speeds by which the work of jobs of its models is counted and charged (opaque here);
     * NULL: the trace was read without a table. */
    const struct gsim_rates *rates;

    /* By which jobs of its applications have their time and speed, epoch by epoch (opaque here);
     * NULL: the trace was read without a table. */
    const struct gsim_goodput *goodput;

    /* Whether some job has a time that was measured, on a device that no format names: not those
     * that follow from an application's kernels, and none that a spec draws. */
    bool has_measured_times;
    /* The date of time 0 in seconds since 1970, on the clock of a log that has dates without a time
     * zone; 0: not known. */
    int64_t origin_s;

    /* Values that do not come from the file: "mem_gib=20GiB" for each column that --assume filled,
     * and the files that were joined. NULL-terminated, may be NULL. */
    const char *const *assumed;
};

static inline const char *gsim_trace_id(const struct gsim_trace *trace, uint32_t job) {
    return trace->id_text + trace->id_at[job];
}

static inline int64_t gsim_trace_line(const struct gsim_trace *trace, uint32_t job) {
    return trace->line ? trace->line[job] : trace->first_line + job;
}

static inline uint32_t gsim_trace_gpus(const struct gsim_trace *trace, uint32_t job) {
    return trace->gpus ? trace->gpus[job] : 1;
}

/* The job of the nth arrival. */
static inline uint32_t gsim_trace_arrival(const struct gsim_trace *trace, uint32_t nth) {
    return trace->order ? trace->order[nth] : nth;
}

/* -1 when the trace does not say. */
static inline int64_t gsim_trace_get(const struct gsim_trace *trace, enum gsim_column column,
                                     uint32_t job) {
    return trace->column[column] ? trace->column[column][job] : -1;
}

/* Whether one tensor of the job's model dwarfs the others, so that its transfer cannot be spread
 * over servers: 1 yes, 0 no, -1 the trace does not name a model. Source: Gu et al., "Tiresias",
 * NSDI 2019, section 3.4 and table 3 (VGG11, 16 and 19, AlexNet). */
int gsim_trace_skew(const struct gsim_trace *trace, uint32_t job);

/* The share of each GPU, in ppm. */
static inline uint32_t gsim_trace_share(const struct gsim_trace *trace, uint32_t job) {
    int64_t share = gsim_trace_get(trace, GSIM_COL_SHARE_PPM, job);
    return share < 0 ? (uint32_t)GSIM_PPM : (uint32_t)share;
}

/* --- readers --------------------------------------------------------------------------------- */

struct gsim_trace_options {
    const char *const *assume; /* "column=value", NULL-terminated; NULL: none */
    const char *by_model; /* a table of models (traces/by_model.h); NULL: none */
    const char *table; /* a second file of the trace, for formats of two files (pai); NULL: none */
    const char *gpu_mem; /* measured memory (traces/gpu_mem.h); NULL: none */
    /* Rows that cannot be read are left out, and counted with the reason; false: they are errors.
     * The native format has no such rows. */
    bool is_lenient;
    uint32_t shards; /* of a GPU, where a log counts them (gres/shard); 0: not known */
    FILE *left_out; /* a CSV row for what became of each row of the file; NULL: none is written */
    const char *rates; /* a table of measured speeds (traces/rates.h); NULL: none */
    const char *goodput; /* a table of goodput (traces/goodput.h); NULL: none */
    const char *log_from; /* where the log begins (traces/log_from.h); NULL: with its first job */
    /* The content of the trace where it is in memory: the path is then its name in messages, and no
     * file is read. NULL: the path is a file. */
    const void *bytes;
    size_t n_bytes;
};

/* format NULL: detected from the header. options may be NULL. */
enum gsim_status gsim_trace_read(const char *path, const char *format,
                                 const struct gsim_trace_options *options, struct gsim_arena *arena,
                                 struct gsim_trace *out, struct gsim_log *log);
/* Whether native CSV can express the job: it cannot express a gang of parts of GPUs, or no GPU. */
bool gsim_trace_is_writable(const struct gsim_trace *trace, uint32_t job);
/* Writes a native CSV of the columns that the trace has; reading it gives an equal trace. Jobs that
 * cannot be written are left out. The caller checks the stream for errors. */
void gsim_trace_write(const struct gsim_trace *trace, FILE *out);

#endif
