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
    GSIM_SACCT_NODES, /* that it had */
    GSIM_SACCT_LEAST_NODES, /* that it asked for, by ReqTRES or ReqNodes */
    GSIM_SACCT_IS_ELSEWHERE, /* on another cluster than the first row */
    GSIM_SACCT_IS_RUNNING,
    GSIM_SACCT_SAID_NODES, /* by SubmitLine; 0: it asked by node, and names no number */
};

/* The column that says how many nodes a row had, or asked for at least. */
bool gsim_sacct_take_nodes_had(struct gsim_builder *b, const char *text, size_t length);
bool gsim_sacct_take_nodes_asked(struct gsim_builder *b, const char *text, size_t length);
/* node=2 in a list of TRES goes to the place; false: it is no number. */
bool gsim_sacct_take_node_tres(struct gsim_builder *b, const char *text, int place);
/* What SubmitLine says of nodes. */
struct gsim_submit_line;
void gsim_sacct_take_submitted_nodes(struct gsim_builder *b, const struct gsim_submit_line *line);
/* Fills the column num_nodes once the row is read. */
void gsim_sacct_choose_nodes(struct gsim_builder *b);
/* Adds the nodes of the row, which joins its heterogeneous job, to those of the first part. */
void gsim_sacct_join_nodes(struct gsim_builder *b);

/* sacct_tres.c: lists of TRES, of a step's use, of what the row had, and of what it asked for. */
bool gsim_sacct_take_usage(struct gsim_builder *b, const char *text, size_t length);
bool gsim_sacct_take_tres(struct gsim_builder *b, const char *text, size_t length);
bool gsim_sacct_take_request(struct gsim_builder *b, const char *text, size_t length);
/* A whole number of at most `most`, which *text is moved behind. */
bool gsim_sacct_take_number(const char **text, int64_t most, int64_t *out);

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
