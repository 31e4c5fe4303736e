/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What files of a run say, and the laws that hold of it. The files come from the program, maybe
 * from another build of it, and nothing is taken from a simulation: gsim check reads only what was
 * written. */
#ifndef GSIM_APP_WRITTEN_H
#define GSIM_APP_WRITTEN_H

#include "gsim/arena.h"
#include "gsim/units.h"
#include "sim/app/cli/options.h"

/* The fields of a result as indices: GSIM_WRITTEN_gpu_busy. */
enum gsim_written_field {
#define GSIM_FIELD_TEXT(name, help) GSIM_WRITTEN_##name,
#define GSIM_FIELD_INT(name, help) GSIM_WRITTEN_##name,
#define GSIM_FIELD_REAL(name, help) GSIM_WRITTEN_##name,
#define GSIM_FIELD_BOOL(name, help) GSIM_WRITTEN_##name,
#include "gsim/fields.def"
    GSIM_WRITTEN_FIELDS
};
extern const char *const gsim_written_fields[GSIM_WRITTEN_FIELDS];

/* The numbers of a job's row, in the order of gsim_written_columns; times in ns. */
enum gsim_written_column {
    GSIM_WRITTEN_SUBMIT,
    GSIM_WRITTEN_START, /* -1: never */
    GSIM_WRITTEN_END, /* -1: never */
    GSIM_WRITTEN_WAIT,
    GSIM_WRITTEN_SERVICE,
    GSIM_WRITTEN_GPUS_PPM,
    GSIM_WRITTEN_PREEMPTIONS,
    GSIM_WRITTEN_MIGRATIONS,
    GSIM_WRITTEN_FAULTS,
    GSIM_WRITTEN_BYTES_IN,
    GSIM_WRITTEN_BYTES_OUT,
    GSIM_WRITTEN_STALL,
    GSIM_WRITTEN_DECLINED,
    GSIM_WRITTEN_JCT, /* written in jobs.csv only; -1: not given */
    GSIM_WRITTEN_HELD, /* not in a jobs.csv of an older program; likewise */
    GSIM_WRITTEN_COLUMNS
};

/* What the record of a driven run says of a job; times in ns. */
struct gsim_written_driven {
    int64_t begin_ns, end_ns, ran_ns, stall_ns, stops;
};

/* What the trace says of the kernels of a job, without which its GPU time is its service. */
struct gsim_written_kernels {
    bool is_unknown; /* no GPU time is certain: a profile has them, or they wait for memory */
    int64_t iterations, gpu_ns, gap_ns, tail_ns; /* 0: not given */
    int64_t fill_ppm; /* of the SMs; 0: all of them */
};

struct gsim_written_job {
    const char *id;
    int64_t value[GSIM_WRITTEN_COLUMNS];
    struct gsim_written_driven driven; /* of a driven run */
    bool is_driven;
    struct gsim_written_kernels kernels;
};

enum { GSIM_WRITTEN_SPEED_ONE = 1000 /* of a GPU on which work takes the trace's time */ };

struct gsim_written_gpu {
    int64_t busy_ns, down_ns;
    int64_t speed_milli;
    int64_t gap_ns; /* the least pause of a host between iterations there */
    int64_t hbm_bytes; /* of its device; -1: not known */
};

/* One run, as far as the files read so far tell. */
struct gsim_written {
    struct gsim_arena *arena;
    struct gsim_log *log;
    const char *path; /* of the file at hand */
    const char *run; /* "run 3 (las)" for messages; "" */
    double number[GSIM_WRITTEN_FIELDS]; /* of the summary; NaN: not known */
    bool has_summary;
    bool has_policy; /* the two below are known, by the policy */
    bool has_settings; /* and by the run's settings, which only a database has */
    bool is_shared; /* jobs may share GPUs, in turns or beside each other */
    bool is_resized; /* gangs may have fewer or more GPUs than they ask for */
    bool is_paced; /* work may take another time than the trace's: other devices, copies, paging */
    bool is_foreign; /* a policy from outside: jobs may have any number of GPUs */
    bool is_by_table; /* by --rates or --goodput work takes what tables say */
    bool has_kernels; /* it is known what the trace says of kernels */
    bool assumes_iterations; /* where the trace has none */
    int64_t most_gap_ns; /* the largest of gap_ns of its GPUs */
    int64_t spread_ppm; /* over which part of a kernel its blocks end, at most */
    bool begins_anew; /* a job that the site's scheduler evicts loses its work */
    struct gsim_written_job *jobs; /* in trace order */
    uint32_t n_jobs, capacity;
    bool has_jobs;
    bool is_driven; /* on real GPUs: jobs took the time that they took */
    struct gsim_written_gpu *gpus;
    uint32_t n_gpus;
    int64_t n_spans; /* of timelines, checked */
};

/* GSIM_FAILED, with the place of the file at hand and the run in front. */
__attribute__((format(printf, 2, 3))) enum gsim_status gsim_written_broken(struct gsim_written *w,
                                                                           const char *format, ...);
void gsim_written_begin(struct gsim_written *w, struct gsim_arena *arena, struct gsim_log *log);
/* A new row with all values -1; NULL: no memory. */
struct gsim_written_job *gsim_written_add(struct gsim_written *w, const char *id);
/* Says what the run's policy and settings allow. */
void gsim_written_policy(struct gsim_written *w, const char *policy);

/* Reads one kind of file into w; then the laws are to be held. */
enum gsim_status gsim_written_read_csv(struct gsim_written *w, const char *path);
enum gsim_status gsim_written_read_json(struct gsim_written *w, const char *path);
/* Holds the laws of each run of a database; a single run is left in w for the files that follow. */
enum gsim_status gsim_written_check_db(struct gsim_written *w, const char *path, int64_t *n_runs);
/* Reads a timeline, and holds the laws of its spans, and of them and what w has. */
enum gsim_status gsim_written_check_timeline(struct gsim_written *w, const char *path);

/* Of sums of reals: the last digits depend on the order of summation. */
#define GSIM_WRITTEN_SLACK 1e-9
/* Whether a real is larger than another one by more than that. */
bool gsim_written_is_more(double a, double b);
/* That no more work was done than GPUs can do. */
enum gsim_status gsim_written_hold_work(struct gsim_written *w);
/* The laws of a summary, of the rows of jobs, and of the two together. */
enum gsim_status gsim_written_hold(struct gsim_written *w);

#endif
