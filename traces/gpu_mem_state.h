/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of measured memory share. No other file includes this header. */
#ifndef GSIM_TRACES_GPU_MEM_STATE_H
#define GSIM_TRACES_GPU_MEM_STATE_H

#include "traces/build.h"
#include "traces/csv.h"

enum gsim_gpu_mem_target {
    GSIM_GPU_MEM_NOTHING,
    GSIM_GPU_MEM_JOB,
    GSIM_GPU_MEM_NODE,
    GSIM_GPU_MEM_TIME,
    GSIM_GPU_MEM_MEMORY
};
/* Keys of the join: node in the upper bits, seconds since 1970 below. */
enum { GSIM_GPU_MEM_TIME_BITS = 33 };
#define GSIM_GPU_MEM_NO_JOB UINT32_MAX /* of a row that is left out */

struct gsim_gpu_mem_sample {
    int64_t key, bytes;
};

struct gsim_gpu_mem_stay {
    int64_t key, to_s;
    uint32_t job;
};

struct gsim_gpu_mem {
    struct gsim_builder *b;
    struct gsim_builder *names; /* only for its table of names: jobs or nodes, as USER */
    const char *path;
    enum gsim_gpu_mem_target target[GSIM_MAX_FIELD_COLUMNS];
    const char *column[GSIM_MAX_FIELD_COLUMNS];
    int64_t unit; /* of the memory column, in bytes */
    bool is_by_job;
    int64_t name, time_s, bytes; /* of the row under way */
    bool is_bad, is_empty; /* empty: the row has no measurement */
    uint32_t n_like_header, n_columns; /* fields of the row that repeat the header's */
    struct gsim_fates fates;
    uint32_t bad_column;
    char bad_text[64];
    struct gsim_gpu_mem_sample *sample;
    uint32_t n_samples, samples_capacity;
    int64_t *largest; /* by job: the largest value of each name */
    uint32_t n_names;
    uint32_t *alias; /* by names behind these: 1 + the one name of which it is the first label */
    uint32_t n_aliases;
    bool has_seconds, has_dates; /* times of samples: since 1970 or with a Z; without a zone */
    struct gsim_gpu_mem_stay *stay;
    uint32_t n_stays, stays_capacity;
    uint32_t of_stay; /* the job of which stays are added */
    bool *is_given; /* jobs with memory given by the trace */
    uint32_t given_capacity;
    bool *is_of_log; /* by name: a job of the trace was on that node */
    int64_t strange; /* the first node of samples on which no job was; -1: none */
    uint32_t n_jobs, n_shared, n_idle, n_strange; /* jobs measured; samples left out */
    uint32_t sum;
};

#endif
