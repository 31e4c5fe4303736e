/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of the timeline share. No other file includes this header. */
#ifndef GSIM_STUDY_TIMELINE_PRIVATE_H
#define GSIM_STUDY_TIMELINE_PRIVATE_H

#include <zlib.h>

#include "sim/study/occupancy.h"
#include "sim/study/outfile.h"
#include "sim/study/timeline_options.h"

enum { GSIM_PID_JOBS = 1, GSIM_PID_CLUSTER = 2, GSIM_PID_FIRST_GPU = 10 };
/* Numbers of a GPU's rows: those of jobs come first, then the kinds of spans that models report,
 * and the streams of programs. */
enum { GSIM_ROWS_OF_A_KIND = 1000000 };

/* The state that a row shows: that of a job of the trace, or that of a lane of a GPU. */
struct gsim_timeline_lane {
    int64_t since_ns; /* begin of the present state */
    uint8_t state; /* enum gsim_state */
    bool is_moving;
};

/* The rows of one kind of a GPU: for each, the end of its last span. */
struct gsim_timeline_rows {
    int64_t *end_ns;
    uint32_t n;
};

/* A row of a GPU: a stream of a job's program. */
struct gsim_timeline_stream {
    uint32_t gpu, job, row; /* number of the row, of the GPU's */
    uint16_t number;
};

struct gsim_timeline_gpu {
    struct gsim_timeline_lane *lanes;
    uint32_t n_lanes;
    struct gsim_timeline_rows spans[GSIM_SPAN_COUNT];
    struct gsim_timeline_stream *streams;
    uint32_t n_streams;
};

/* The SMs of a job's kernel. */
struct gsim_timeline_level {
    int64_t at_ns, sms, blocks; /* blocks -1: not known */
};

/* The kernel of a job that was told last: its parts make one span. */
struct gsim_timeline_kernel {
    struct gsim_span span;
    bool is_open;
    int64_t most_blocks; /* at one time */
    struct gsim_timeline_level now, written; /* its present SMs; the counters as last written */
    uint32_t gpu;
    struct gsim_timeline_stream *streams; /* the rows of the job */
    uint32_t n_streams;
};

struct gsim_run_timeline {
    struct gsim_observer observer;
    struct gsim_timeline_options options;
    struct gsim_arena *arena;
    struct gsim_outfile file;
    gzFile gz;
    struct gsim_occupancy occupancy;
    struct gsim_timeline_lane *jobs; /* by position in the trace */
    uint32_t *row_of_job; /* by position in the trace, from 1; 0: the job has no row */
    uint32_t *free_rows; /* stack of unused rows */
    uint32_t n_free_rows, n_rows;
    struct gsim_timeline_gpu *gpus;
    struct gsim_timeline_kernel **kernels; /* by position in the trace; NULL: none was told */
    int64_t n_events, n_left_out;
    int64_t full_ns; /* time of the first event that was left out */
    int64_t counted_ns, n_queue, busy_ppm; /* the counters as last written; -1: never written */
    int64_t now_ns;
    bool has_begun, has_failed, has_written, cannot_write;
};

/* timeline_write.c */
__attribute__((format(printf, 2, 3))) void gsim_event_put(struct gsim_run_timeline *t,
                                                          const char *format, ...);
void gsim_event_text(struct gsim_run_timeline *t, const char *text);
void gsim_event_us(struct gsim_run_timeline *t, const char *key, int64_t time_ns);
void gsim_event_separate(struct gsim_run_timeline *t);
/* Begins an event, or counts it as left out and returns false. */
bool gsim_event_begin(struct gsim_run_timeline *t);
/* Writes a span clipped to the window, up to its name, and leaves the event open; false if no part
 * of the span is in the window. */
bool gsim_event_open_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                          int64_t end_ns);
/* A span of a job; the text `name` stands before the job's name. */
bool gsim_event_span(struct gsim_run_timeline *t, uint32_t pid, uint32_t tid, int64_t begin_ns,
                     int64_t end_ns, const char *name, uint32_t job, const char *category);
void gsim_event_counter(struct gsim_run_timeline *t, const char *name, int64_t at_ns,
                        int64_t value_ppm);

/* timeline_kernels.c */
uint32_t gsim_timeline_row_id(int kind, uint32_t row);
void gsim_timeline_take_kernel(struct gsim_run_timeline *t, const struct gsim_span *span);
void gsim_timeline_take_sms(struct gsim_run_timeline *t, const struct gsim_span *span);
/* The job leaves its GPU, or the run ends. */
void gsim_timeline_end_kernel(struct gsim_run_timeline *t, uint32_t job, int64_t now_ns);

#endif
