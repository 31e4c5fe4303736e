/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A driven run as a run among others: its result and its jobs in the tables of simulated ones,
 * so that reports, figures and queries need not know where times came from. */
#ifndef GSIM_APP_DRIVE_ROW_H
#define GSIM_APP_DRIVE_ROW_H

#include "sim/app/results/db_real.h"
#include "sim/app/setup/setup.h"

/* Adds the run, and says of which driven run it is. */
enum gsim_status gsim_drive_add_row(struct gsim_cli *cli, const struct gsim_setup *setup,
                                    const struct gsim_result *result, struct gsim_db *db,
                                    int64_t real_run);

#endif
