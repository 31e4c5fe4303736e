/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of gsim compare share: the runs, and what is said about them. */
#ifndef GSIM_APP_COMPARE_H
#define GSIM_APP_COMPARE_H

#include "sim/app/setup.h"
#include "sim/app/stats.h"
#include "sim/app/warmup.h"

/* One run of the grid replication x policy. */
struct gsim_compare_task {
    int contender, replication;
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_result result;
    struct gsim_summary trimmed; /* the summary without the warm-up's jobs */
    enum gsim_status status;
};

struct gsim_compare {
    struct gsim_cli *cli;
    struct gsim_setup *setup;
    struct gsim_trace *traces; /* by replication */
    int n_traces;
    int first_rep, n_reps; /* those that statistics are over: a shaken trace's own run,
                                        replication 0, is not one of them */
    int n_tasks;
    struct gsim_compare_task *tasks; /* replication by replication */
    int n_threads;
    struct gsim_warmup warmup;
};

static inline const struct gsim_compare_task *gsim_compare_at(const struct gsim_compare *c,
                                                              int contender, int replication) {
    return &c->tasks[replication * c->setup->n_contenders + contender];
}

/* --- compare_stats.c -------------------------------------------------------------------------- */

/* About one policy. Intervals are of 95 %; p values are adjusted for the number of policies. */
struct gsim_compared {
    struct gsim_interval mean_s, p99_s;
    struct gsim_interval ratio; /* of the mean JCT to the first policy's */
    struct gsim_interval difference_s; /* mean JCT - the first policy's, run by run */
    double p; /* of no difference to the first policy */
    struct gsim_interval to_best; /* ratio of the mean JCT to the best policy's */
    double p_to_best;
};

struct gsim_comparison {
    bool has_intervals; /* false: too few jobs in a single run */
    bool is_over_reps; /* else over blocks of consecutive jobs of one run */
    size_t n_units, block_jobs;
    int best, second; /* by the mean JCT; second -1: there is only one policy */
    struct gsim_compared policy[GSIM_MAX_COMPARED];
};

enum gsim_status gsim_compare_statistics(const struct gsim_compare *c, struct gsim_comparison *out);
void gsim_compare_write_intervals(const struct gsim_compare *c, const struct gsim_comparison *s,
                                  FILE *out);

/* "0.012", "< 0.0001", "-" for NaN; buffer holds at least 16. */
void gsim_format_p(char *buffer, double p);

/* --- compare_whatif.c ------------------------------------------------------------------------- */

/* Whether the winner stays the winner when a constant that nobody knows is a fifth off. */
struct gsim_whatif {
    int n_varied; /* constants */
    int n_not_varied; /* assumed columns of the trace, constants without a number */
    bool is_interrupted;
    const char *flip; /* "+20 % on KEY: POLICY wins", or NULL: nothing changes the winner */
};

enum gsim_status gsim_compare_whatif(const struct gsim_compare *c, int winner,
                                     struct gsim_whatif *out);

/* --- compare_load.c --------------------------------------------------------------------------- */

/* Warns on stderr when more work arrives than the cluster can do, or a policy falls behind. */
void gsim_compare_warn_of_load(const struct gsim_compare *c);

#endif
