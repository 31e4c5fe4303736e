/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of a run with a row for each job, as CSV. */
#ifndef GSIM_STUDY_JOBS_CSV_H
#define GSIM_STUDY_JOBS_CSV_H

#include <stdio.h>

#include "gsim/result.h"

#define GSIM_JOBS_CSV_BEGINS "job_id,submit_s,start_s,"
/* Writes one row for each job, in trace order. The caller checks the stream for errors. */
void gsim_write_jobs_csv(FILE *out, const struct gsim_result *result);

#endif
