/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim plan: the numbers of nodes from which on a target is met, found by runs of one sweep, of
 * which only those are made that the search asks for. */
#ifndef GSIM_APP_PLAN_H
#define GSIM_APP_PLAN_H

#include "sim/app/plan/target.h"
#include "sim/app/sweep/sweep.h"
#include "sim/study/output.h"
#include "sim/study/stats.h"

/* --- the cells -------------------------------------------------------------------------------- */

/* What a run of the database says. */
struct gsim_plan_run {
    int64_t position; /* in the sweep, from 1; 0: the grid has no such run */
    double value; /* of the target's field; NaN: the run has none */
    double gpus, held, unfinished; /* held: share of GPU time, while jobs arrive */
    double idle;                   /* likewise: neither held nor down */
    double watts; /* of a GPU in the mean; NaN: not known */
};

/* The runs on one number of nodes, under one policy and one factor of arrivals. */
struct gsim_plan_cell {
    struct gsim_plan_run *run; /* by replication */
    bool is_known; /* all of them have been made */
    struct gsim_interval value; /* over replications; low and high are NaN if there is only one */
    double gpus, held, idle, watts; /* means, as above */
    double unfinished; /* jobs, over all replications */
};

/* The ends of a cell's interval: the one nearer to the target, the mean, and the one farther. */
enum gsim_plan_end { GSIM_PLAN_NEAR = 0, GSIM_PLAN_MEAN, GSIM_PLAN_FAR, GSIM_PLAN_ENDS };

struct gsim_plan_series {
    const char *policy, *arrivals; /* "1.5" */
    struct gsim_plan_cell *cell; /* by number of nodes */
    int first; /* the widest job fits on no fewer nodes */
    bool is_scanned; /* more nodes did not always help: all numbers were tried */
};

struct gsim_planned {
    struct gsim_cli *cli;
    struct gsim_sweep *sweep;
    struct gsim_db *db;
    struct gsim_target target;
    double price; /* of a GPU for an hour; NaN: not given */
    const struct gsim_grid_key *policies, *nodes;
    char *const *arrivals; /* as they were typed */
    int n_arrivals, n_policies, n_nodes, n_reps;
    bool is_range; /* intervals are ranges over changed copies of one trace */
    const char *over; /* "10 resampled traces"; "this trace alone": no interval */
    int64_t *n; /* the numbers of nodes */
    struct gsim_plan_series *series; /* by policy and arrivals */
    int n_series, n_made;
    const char *watts_assumed; /* "energy.idle_w=105 (h200)"; NULL: none are */
    struct gsim_sweep_notes notes; /* on all runs that the plan looked at */
};

/* --- search.c --------------------------------------------------------------------------------- */

/* The least number of nodes (its position) from which on every number that was tried meets the
 * target; n_nodes: the most nodes do not meet it, or were not tried. */
int gsim_plan_answer(const struct gsim_planned *p, const struct gsim_plan_series *s,
                     enum gsim_plan_end end);
/* Whether the mean of the number of nodes, which was tried, meets the target. */
bool gsim_plan_is_met(const struct gsim_planned *p, const struct gsim_plan_cell *cell);
/* Makes runs until the answers of all series are found. */
enum gsim_status gsim_plan_search(struct gsim_planned *p);

/* --- print.c ---------------------------------------------------------------------------------- */

void gsim_plan_write(const struct gsim_planned *p, enum gsim_output_format format);

#endif
