/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a run. */
#ifndef GSIM_RESULT_H
#define GSIM_RESULT_H

#include "gsim/trace.h"

/* The requests of one open-loop job, in order of arrival. */
struct gsim_request_log {
    uint32_t job; /* in the trace */
    int64_t n_served; /* how many have a latency: the first n_served */
    const int64_t *arrival_ns;
    const int64_t *latency_ns; /* from arrival until the host learns of the end */
};

/* Per-job results, in trace order. Times are ns; end_ns < 0: did not finish; start_ns < 0: never
 * started. Columns that stayed zero for all jobs are NULL. */
struct gsim_job_results {
    uint32_t n;
    /* When jobs were submitted, where some were submitted after the end of another one (-1: never);
     * NULL: as the trace says. result->trace has these times as well. */
    const int64_t *submit_ns;
    const int64_t *start_ns; /* first time it ran */
    const int64_t *end_ns;
    const int64_t *wait_ns; /* time without units */
    const uint32_t *preemptions;
    const uint32_t *migrations;
    const int64_t *faults;
    const int64_t *bytes_in;
    const int64_t *bytes_out;
    const int64_t *stall_ns; /* on its units without progress: start, save, restore, faults */
    /* GPU time that it held: of a GPU that jobs share its part, so that jobs have all of GPUs' */
    const int64_t *held_ns;
    const uint8_t *declined; /* 1: by the policy */
};

/* The fields of the summary: GSIM_FIELD(name, type, unit, help) in gsim/fields.def. */
struct gsim_summary {
#define GSIM_FIELD_TEXT(name, help) const char *name;
#define GSIM_FIELD_INT(name, help) int64_t name;
#define GSIM_FIELD_REAL(name, help) double name;
#define GSIM_FIELD_BOOL(name, help) bool name;
#include "gsim/fields.def"
};

/* One GPU over the whole run. */
struct gsim_gpu_result {
    uint32_t node;
    const char *device;
    int64_t busy_ns; /* time held by jobs, times the share held */
    int64_t computing_ns; /* part of it in which kernels ran, of lost work too */
    int64_t
        down_ns; /* time for which its node was down, from the first submission to the last end */
};

/* A quantity at a time: a mean over a step, or the job that holds a GPU
 * (sim/study/samples.h has the names). */
struct gsim_sample {
    int64_t time_ns;
    const char *name;
    double value;
};

struct gsim_result {
    const struct gsim_trace *trace;
    /* events and steps of lanes: a measure of the simulation's work, independent of the
     * machine */
    int64_t steps;
    double computing_s; /* computing_ns of all GPUs */
    const struct gsim_gpu_result *gpus; /* summary.gpus entries; NULL: a pool names no GPUs */
    struct gsim_summary summary;
    struct gsim_job_results jobs;
    const struct gsim_request_log *requests; /* of open-loop jobs */
    uint32_t n_request_logs;
    /* filled by the observer that takes them; unique in (name, time) */
    const struct gsim_sample *samples;
    uint32_t n_samples;
    const char *const *assumed; /* "key=value (device)" lines; NULL-terminated, may be NULL */
};

#endif
