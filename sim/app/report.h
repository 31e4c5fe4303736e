/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What run and compare print in common: notes on stderr, breakdowns, the database. */
#ifndef GSIM_APP_REPORT_H
#define GSIM_APP_REPORT_H

#include "sim/app/db.h"
#include "sim/app/output.h"
#include "sim/app/setup.h"

enum gsim_status gsim_report_format(struct gsim_cli *cli, enum gsim_output_format *out);
/* Said once on stderr: assumptions, results outside validation, unfinished jobs. */
void gsim_report_notes(const struct gsim_cli *cli, const struct gsim_summary *summary);
/* --by: checks the column, and prints one row a value for each result. */
enum gsim_status gsim_report_check_by(struct gsim_cli *cli, const struct gsim_setup *setup);
enum gsim_status gsim_report_by(struct gsim_cli *cli, const struct gsim_result *results, int n);
/* Writes the result into --db, if there is one. */
enum gsim_status gsim_report_db(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                                uint64_t replication, const struct gsim_result *result);
/* Whether --db has the run already and it need not be repeated. */
enum gsim_status gsim_report_is_known(struct gsim_cli *cli, const struct gsim_setup *setup,
                                      int contender, bool *is_known);

#endif
