/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PAI's trace of 2020 as it was published: tables of comma-separated values, their headers in files
 * of their own. Two of them make jobs: pai_task_table has the request of each task of a job and the
 * time when it ran, pai_job_table the job's user and submission. */
#ifndef GSIM_TRACES_PAI_TABLES_H
#define GSIM_TRACES_PAI_TABLES_H

#include "traces/input.h"

/* Whether a first line is a line of pai_task_table. */
bool gsim_pai_is_task_table(const char *line);
/* input is pai_task_table, options->table the path of pai_job_table. */
enum gsim_status gsim_pai_tables_read(struct gsim_input *input,
                                      const struct gsim_trace_options *options,
                                      struct gsim_arena *arena, struct gsim_trace *out,
                                      struct gsim_log *log);

#endif
