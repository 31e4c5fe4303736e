/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The workload of a row without a command, in a dry run: a job that cooperates, and sleeps for the
 * iterations of the row. */
#ifndef GSIM_APP_WORK_H
#define GSIM_APP_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/trace.h"

struct gsim_work_load {
    int64_t iterations, iteration_ns;
    int64_t tail_ns; /* of the host, after the last iteration */
    int64_t speed_up; /* sleeps are shorter by this factor */
};

/* The workload of a row: together its iterations take the row's duration alone. */
struct gsim_work_load gsim_work_of(const struct gsim_trace *trace, uint32_t job, int64_t speed_up);
/* Runs it, in a process of its own; returns the exit code. */
int gsim_work_do(const struct gsim_work_load *work);

#endif
