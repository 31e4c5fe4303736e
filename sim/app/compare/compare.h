/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of gsim compare share: the runs, and what is said about them. */
#ifndef GSIM_APP_COMPARE_H
#define GSIM_APP_COMPARE_H

#include "sim/app/cli/output.h"
#include "sim/app/setup/setup.h"
#include "sim/app/statistics/latencies.h"
#include "sim/app/statistics/stats.h"

/* One run of the grid replication x policy. */
struct gsim_compare_task {
    int contender, replication;
    struct gsim_arena *arena;
    struct gsim_log log;
    struct gsim_result result;
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
};

static inline const struct gsim_compare_task *gsim_compare_at(const struct gsim_compare *c,
                                                              int contender, int replication) {
    return &c->tasks[replication * c->setup->n_contenders + contender];
}
static inline const struct gsim_summary *gsim_compare_summary(const struct gsim_compare *c,
                                                              int contender, int replication) {
    return &gsim_compare_at(c, contender, replication)->result.summary;
}

/* --- compare_stats.c -------------------------------------------------------------------------- */

/* What policies are ranked by; lower is better. */
enum gsim_measure { GSIM_MEASURE_JCT = 0, GSIM_MEASURE_LATENCY, GSIM_MEASURE_COUNT };
/* "mean JCT"; the value of one run, NaN where it has none. */
extern const char *const gsim_measure_names[GSIM_MEASURE_COUNT];
double gsim_measure_of(const struct gsim_summary *summary, enum gsim_measure measure);

/* What intervals are over. Those over shaken traces are ranges, and have no p: a trace can be shaken
 * as often as one likes. */
enum gsim_units { GSIM_UNITS_NONE = 0, GSIM_UNITS_BATCHES, GSIM_UNITS_REPS, GSIM_UNITS_SHAKEN };

/* About one policy; NaN is not known. p values are adjusted for the number of policies. */
struct gsim_compared {
    struct gsim_interval mean_s, p99_s;
    struct gsim_interval ratio; /* of the mean JCT to the first policy's */
    struct gsim_interval difference_s; /* mean JCT - the first policy's, unit by unit */
    double p; /* of no difference to the first policy */
    struct gsim_latencies latency; /* of its requests */
    int n_below; /* shaken traces in which its mean JCT is below the first policy's */
};

struct gsim_ranking {
    bool is_there; /* the runs have it */
    int best, second; /* second -1: there is only one policy */
    double value[GSIM_MAX_COMPARED]; /* mean over the traces that statistics are over */
    struct gsim_interval to_best[GSIM_MAX_COMPARED]; /* ratio to the best one's */
    double p[GSIM_MAX_COMPARED]; /* of being alike */
    int n_above[GSIM_MAX_COMPARED]; /* shaken traces in which it is above the best one */
};

struct gsim_comparison {
    enum gsim_units units;
    int n_units; /* 1 where units is NONE */
    const char *none_why; /* there are no intervals; NULL: there are */
    struct gsim_compared policy[GSIM_MAX_COMPARED];
    struct gsim_ranking ranking[GSIM_MEASURE_COUNT];
};

enum gsim_status gsim_compare_statistics(const struct gsim_compare *c, struct gsim_comparison *out);

/* --- compare_whatif.c ------------------------------------------------------------------------- */

/* Whether the winner stays the winner when a constant that nobody knows is a fifth off. */
struct gsim_whatif {
    int n_varied; /* constants */
    int n_not_varied; /* assumed columns of the trace, constants without a number */
    int n_left_out; /* constants that were beyond the budget, or behind an interruption */
    bool is_interrupted, is_forbidden;
    const char *flip; /* "POLICY wins with KEY +20 %", or NULL: nothing changes the winner */
};

/* winner: by measure, -1 where none is to be defended. */
enum gsim_status gsim_compare_whatif(const struct gsim_compare *c, const int *winner,
                                     struct gsim_whatif *out);

/* --- compare_verdict.c ------------------------------------------------------------------------ */

/* Sentences, NULL-terminated; the what-if runs meanwhile. */
enum gsim_status gsim_compare_verdict(const struct gsim_compare *c, const struct gsim_comparison *s,
                                      const char *const **lines, bool *is_interrupted);

/* --- compare_print.c -------------------------------------------------------------------------- */

/* The table of the trace itself, and how sure it is. */
void gsim_compare_write_tables(const struct gsim_compare *c, const struct gsim_comparison *s);
/* A row a run, as CSV or JSON, with what is known of its policy. */
enum gsim_status gsim_compare_write_rows(const struct gsim_compare *c,
                                         const struct gsim_comparison *s,
                                         const char *const *verdict,
                                         enum gsim_output_format format);
/* "0.012", "< 0.001", "-" for NaN; buffer holds at least 16. */
void gsim_format_p(char *buffer, double p);

/* --- compare_load.c --------------------------------------------------------------------------- */

/* Work that arrives, as a share of what the GPUs can do between the first arrival and the last. */
double gsim_offered_load(const struct gsim_trace *trace, int64_t n_gpus, int64_t span_ns);
/* GPU time that a job of the trace asks for. */
double gsim_work_of_job_s(const struct gsim_trace *trace, uint32_t job);
/* Warns on stderr when more work arrives than the cluster can do, or a policy falls behind. */
void gsim_compare_warn_of_load(const struct gsim_compare *c);

#endif
