/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workload of a row without a command: iterations of the row's GPU time and gaps, as a job that
 * cooperates. On a GPU an iteration is kernels; in a dry run it is a sleep. */
#ifndef GSIM_APP_WORK_H
#define GSIM_APP_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/trace.h"
#include "sim/app/drive/driven.h"
#include "sim/app/drive/work_gpu.h"

struct gsim_work_load {
    int64_t iterations;
    int64_t gpu_ns, gap_ns; /* GPU time of an iteration; time of its host after that */
    int64_t tail_ns; /* time of the host after the last iteration */
    struct gsim_work_memory memory; /* on each GPU */
    int64_t sm_ppm; /* part of the SMs that its kernels fill */
    int64_t speed_up; /* sleeps are shorter by this factor */
    int64_t steps_per_ms; /* how fast the GPUs are; 0: a dry run */
    uint32_t sms; /* of a whole GPU; 0: not known */
    uint32_t gpus;
};

/* The workload of a row: its iterations take the row's duration together, if the job is alone. */
struct gsim_work_load gsim_work_of(const struct gsim_trace *trace, uint32_t job,
                                   const struct gsim_executor *executor);
/* Finds how fast the GPU is that CUDA_VISIBLE_DEVICES names so, if the run was not told, and what
 * else its workloads need. sms: of the whole GPU; 0: as many as are seen. */
enum gsim_status gsim_work_measure(struct gsim_executor *executor, const char *visible,
                                   uint32_t number, uint32_t sms);
/* Runs it, in a process of its own; returns the exit code. */
int gsim_work_do(const struct gsim_work_load *work);

#endif
