/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job of sacct's log waits for besides GPUs: features, one of several partitions, its turn
 * in an array, other jobs, the other parts of a heterogeneous job. */
#ifndef GSIM_TRACES_SACCT_WISHES_H
#define GSIM_TRACES_SACCT_WISHES_H

#include "traces/build.h"

/* Places in row.extra. */
enum {
    GSIM_SACCT_GPUS,
    GSIM_SACCT_STEP_MEM,
    GSIM_SACCT_STEP_USE,
    GSIM_SACCT_TASKS,
    GSIM_SACCT_ELIGIBLE_S,
    GSIM_SACCT_PARTITIONS, /* those of SubmitLine, a name of the column */
    GSIM_SACCT_BEFORE, /* the job on which this one depends */
    GSIM_SACCT_IS_BEGIN, /* on its begin, not on its end */
    GSIM_SACCT_MINUTES, /* after that begin */
    GSIM_SACCT_IS_SINGLETON,
    GSIM_SACCT_IS_LOST, /* a dependency that no job of the trace stands for */
    GSIM_SACCT_IS_HELD,
    GSIM_SACCT_LEADER, /* number of the heterogeneous job */
    GSIM_SACCT_PART, /* the row's place in it */
    GSIM_SACCT_TASK, /* its number in its array */
    GSIM_SACCT_HAS_ASKED, /* for GPUs, in ReqTRES */
};

bool gsim_sacct_take_constraints(struct gsim_builder *b, const char *text, size_t length);
bool gsim_sacct_take_submit_line(struct gsim_builder *b, const char *text, size_t length);
/* JobName, which jobs of --dependency=singleton share. */
bool gsim_sacct_take_name(struct gsim_builder *b, const char *text, size_t length);
/* 7_3 is a task of array 7, 7+1 the second part of the heterogeneous job 7. */
bool gsim_sacct_take_shown_id(struct gsim_builder *b, const char *text, size_t length);
/* Says when the job is submitted: at Submit, when it became Eligible, or after another job. */
void gsim_sacct_arrive(struct gsim_builder *b);
/* Adds the row to the first part of its heterogeneous job, where that is an equal one. */
void gsim_sacct_join_parts(struct gsim_builder *b);

#endif
