/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output that run and compare have in common: notes on stderr, breakdowns, the database. */
#ifndef GSIM_APP_REPORT_H
#define GSIM_APP_REPORT_H

#include "sim/app/results/db.h"
#include "sim/study/output.h"
#include "sim/app/setup/setup.h"

enum gsim_status gsim_report_format(struct gsim_cli *cli, enum gsim_output_format *out);
/* Prints notes on stderr, from one result of each policy: assumptions, results outside validation,
 * unfinished jobs. */
void gsim_report_notes(const struct gsim_cli *cli, const struct gsim_summary *const *summaries,
                       int n);
/* Prints a note on stderr if requests come faster than the policy serves them. */
void gsim_report_requests(const struct gsim_cli *cli, const struct gsim_result *result);
/* Results of n policies on n_reps traces each, policy by policy. */
struct gsim_results {
    const struct gsim_result *result;
    int n, n_reps;
    const struct gsim_window *window;
};

/* --by: gsim_report_check_by checks the column. gsim_report_by prints one row for each value and
 * policy, over the jobs of all replications; with several policies, a row has the ratio of the mean
 * JCT to the first policy's. */
enum gsim_status gsim_report_check_by(struct gsim_cli *cli, const struct gsim_setup *setup);
enum gsim_status gsim_report_by(struct gsim_cli *cli, const struct gsim_results *all);
/* Writes the breakdown of one run as a member of its JSON object; writes no byte without --by. */
enum gsim_status gsim_report_by_json(struct gsim_cli *cli, const struct gsim_window *window,
                                     const struct gsim_result *result);
/* Reads --keep. */
enum gsim_status gsim_report_kept(struct gsim_cli *cli, bool *is_summary);
/* Refuses runs that another build made, unless --force, --replace-old or --keep-old is given, and
 * reports runs that were made from other contents of their files. `path` is the database's. */
enum gsim_status gsim_report_old(struct gsim_cli *cli, struct gsim_db *db,
                                 const struct gsim_db_asked *asked, int64_t n, const char *path);
/* Whether a new run replaces a run of the database in that state. */
bool gsim_report_replaces(const struct gsim_cli *cli, enum gsim_db_state state);
/* Looks up n_replications of each contender in --db before any of them runs, and refuses as
 * gsim_report_old does. */
enum gsim_status gsim_report_look_up(struct gsim_cli *cli, const struct gsim_setup *setup,
                                     uint64_t first_replication, int64_t n_replications,
                                     struct gsim_db_asked **out);
/* Writes the result into --db, if the option is given. */
enum gsim_status gsim_report_db(struct gsim_cli *cli, const struct gsim_setup *setup, int contender,
                                uint64_t replication, const struct gsim_trace *trace,
                                const struct gsim_result *result);
/* Whether --db has the run already, so that it need not be repeated. */
enum gsim_status gsim_report_is_known(struct gsim_cli *cli, const struct gsim_setup *setup,
                                      bool *is_known);

/* The runs of a page. */
struct gsim_report_front {
    const char *configs, *first; /* the only runs, and the first policy: struct gsim_db_choice */
};

/* Checks that --output can be a page; then writes there the page of the database that is the
 * operand. */
enum gsim_status gsim_report_check_page(struct gsim_cli *cli);
enum gsim_status gsim_report_page(struct gsim_cli *cli, const struct gsim_report_front *front);

#endif
