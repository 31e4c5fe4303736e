/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of one run, simulated or driven: its summary, and the files that options name. */
#ifndef GSIM_APP_RUN_OUTPUT_H
#define GSIM_APP_RUN_OUTPUT_H

#include "sim/study/outfile.h"
#include "sim/app/setup/setup.h"

/* Checks and opens output files before the run, so that an hour's result is not lost to a missing
 * folder. */
enum gsim_status gsim_run_output_open(struct gsim_cli *cli, struct gsim_outfile *jobs);
/* Makes the run of the first contender under a progress bar, and writes the timeline if
 * --timeline is given. */
enum gsim_status gsim_run_output_make(struct gsim_cli *cli, struct gsim_setup *setup,
                                      struct gsim_result *result);
/* Writes the summary as --format says. */
enum gsim_status gsim_run_output_write(struct gsim_cli *cli, const struct gsim_setup *setup,
                                       const struct gsim_result *result);
/* Writes the per-job CSV, and closes its file. */
enum gsim_status gsim_run_output_jobs(struct gsim_cli *cli, const struct gsim_result *result,
                                      struct gsim_outfile *jobs);

#endif
