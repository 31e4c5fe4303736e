/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Declarations that the files of gsim compare share: the runs, and the statistics and sentences
 * about them. */
#ifndef GSIM_APP_COMPARE_H
#define GSIM_APP_COMPARE_H

#include "sim/study/output.h"
#include "sim/app/setup/setup.h"
#include "sim/study/latencies.h"
#include "sim/study/stats.h"

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
    /* the replications that statistics are over, without the original of changed traces, which is
     * replication 0 */
    int first_rep, n_reps;
    int n_tasks;
    struct gsim_compare_task *tasks; /* in order of replication, then of contender */
    int n_threads;
    struct gsim_db_asked *asked; /* of each task, in the database; NULL: there is none */
    /* the runs of the first jobs alone, on which other values of constants are tried; NULL: those
     * are tried on all jobs */
    const struct gsim_compare *part;
};

static inline const struct gsim_compare_task *gsim_compare_at(const struct gsim_compare *c,
                                                              int contender, int replication) {
    return &c->tasks[replication * c->setup->n_contenders + contender];
}
static inline const struct gsim_summary *gsim_compare_summary(const struct gsim_compare *c,
                                                              int contender, int replication) {
    return &gsim_compare_at(c, contender, replication)->result.summary;
}

/* Whether the contender's policy knows for how long jobs run, as no scheduler does: a bound for
 * others, and nothing to run. Where the trace has estimates, it sees those alone. */
static inline bool gsim_compare_knows_durations(const struct gsim_compare *c, int contender) {
    const struct gsim_policy *policy = c->setup->contender[contender].policy;
    return policy->is_oracle && !policy->oracle_where &&
           !c->setup->trace.column[GSIM_COL_ESTIMATE_NS];
}

/* --- command.c -------------------------------------------------------------------------------- */

/* Makes all runs of a loaded setup, with their notes, and puts them into --db. */
enum gsim_status gsim_compare_runs(struct gsim_compare *c);
/* Makes the runs of the first n jobs alone, one for each policy, which are not stored. false: some
 * run failed or was interrupted. */
bool gsim_compare_part(const struct gsim_compare *c, uint32_t n, struct gsim_compare *part);
/* Writes the verdict's sentences; a NULL ends them. */
void gsim_compare_write_verdict(FILE *out, const char *const *lines);
/* Writes a sentence, broken between words into lines of at most 98 columns. */
void gsim_compare_put_wrapped(FILE *out, const char *prefix, const char *text);
void gsim_compare_free(struct gsim_compare *c);

/* --- logged.c --------------------------------------------------------------------------------- */

/* How far the waits of a policy are from those of the log. */
struct gsim_from_log {
    double wait_mean_s;
    double users_off_s; /* mean over jobs: how far their user's mean wait is off */
    double off_s; /* mean over jobs: how far their own wait is off */
    double within_minute; /* share of jobs */
    bool is_near;
};

struct gsim_logged_user;
struct gsim_logged {
    uint32_t n; /* jobs that began in the log and in all runs; 0: the trace has no log */
    uint32_t n_counted; /* jobs that count, in the log or not */
    double wait_mean_s; /* as logged */
    enum gsim_column owner; /* USER or VC; GSIM_COL_COUNT: the trace names neither */
    const char *held; /* says that the cluster has fewer GPUs than the log held; NULL: it has not */
    struct gsim_logged_user *user; /* the most jobs first */
    uint32_t n_users;
    struct gsim_from_log policy[GSIM_MAX_COMPARED];
};

/* Of the trace as it is: changed traces have no log. */
enum gsim_status gsim_compare_logged(const struct gsim_compare *c, struct gsim_logged *out);
/* The row "as logged", and one for each policy; --by user adds the waits of users. */
void gsim_compare_write_logged(const struct gsim_compare *c, const struct gsim_logged *l,
                               int width);
void gsim_compare_put_json_logged(FILE *out, const struct gsim_logged *l, int contender);
/* The contender nearest to the log; a bound, which knows how long jobs run, only where all are. */
int gsim_compare_nearest(const struct gsim_compare *c, const struct gsim_logged *l);
/* A sentence for the verdict, of a trace with a log; NULL: no memory. */
const char *gsim_compare_say_logged(const struct gsim_compare *c, const struct gsim_logged *l);

/* --- held.c ----------------------------------------------------------------------------------- */

/* A clause that names the most GPUs that the log's jobs held at once, where the cluster has fewer;
 * NULL: it has not, or the trace has no log. */
const char *gsim_held_say(const struct gsim_setup *setup, struct gsim_arena *arena);
/* A clause that names the longest time in which no job of the log had a GPU though jobs waited;
 * NULL: none of an hour. */
const char *gsim_held_say_idle(const struct gsim_setup *setup, struct gsim_arena *arena);

/* --- real.c: a run of gsim drive beside its simulation (--real) ------------------------------- */

enum gsim_status gsim_compare_real(struct gsim_cli *cli, struct gsim_setup *setup);

/* --- stats.c ---------------------------------------------------------------------------------- */

/* The results by which policies are ranked; lower is better. */
enum gsim_measure { GSIM_MEASURE_JCT = 0, GSIM_MEASURE_LATENCY, GSIM_MEASURE_COUNT };
/* The name of a measure ("mean JCT"), and its value in one run, NaN if the run has none. */
extern const char *const gsim_measure_names[GSIM_MEASURE_COUNT];
double gsim_measure_of(const struct gsim_summary *summary, enum gsim_measure measure);

/* The units that intervals are computed over. Over shaken or resampled traces the interval is a
 * range, and there is no p value: the number of such traces is a free choice. */
enum gsim_units { GSIM_UNITS_NONE = 0, GSIM_UNITS_BATCHES, GSIM_UNITS_REPS, GSIM_UNITS_CHANGED };

/* The statistics of one policy; an unknown value is NaN. p values are adjusted for the number of
 * policies, and the intervals of ratios and differences with them: they leave out "no difference"
 * where p is below 0.05. */
struct gsim_compared {
    struct gsim_interval mean_s, p99_s;
    struct gsim_interval ratio; /* mean JCT / the first policy's */
    struct gsim_interval difference_s; /* mean JCT - the first policy's, unit by unit */
    double p; /* p value of "no difference to the first policy" */
    struct gsim_latencies latency; /* latencies of the policy's requests */
    int n_below; /* changed traces in which its mean JCT is below the first policy's */
};

struct gsim_compare_ranking {
    bool is_there; /* every run has a value of the measure */
    bool is_in[GSIM_MAX_COMPARED]; /* contenders that are ranked */
    int best, second; /* contenders; second is -1 if only one policy is ranked */
    double value[GSIM_MAX_COMPARED]; /* mean over the replications that statistics are over */
    struct gsim_interval to_best[GSIM_MAX_COMPARED]; /* value / the best contender's value */
    double p[GSIM_MAX_COMPARED]; /* p value of "no difference to the best contender" */
    /* changed traces in which the value is above the best contender's */
    int n_above[GSIM_MAX_COMPARED];
};

struct gsim_comparison {
    enum gsim_units units;
    const char *over; /* the units in words: "shaken traces" */
    int n_units; /* 1 if units is NONE */
    const char *none_why; /* the reason why there are no intervals; NULL: there are */
    /* the reason why intervals may hold the truth less often than they say; NULL: there is none */
    const char *skewed_why;
    struct gsim_compared policy[GSIM_MAX_COMPARED];
    struct gsim_compare_ranking ranking[GSIM_MEASURE_COUNT];
    /* of the policies that do not know durations */
    struct gsim_compare_ranking blind[GSIM_MEASURE_COUNT];
    struct gsim_logged logged;
};

enum gsim_status gsim_compare_statistics(const struct gsim_compare *c, struct gsim_comparison *out);

/* --- whatif.c --------------------------------------------------------------------------------- */

/* Whether the winner stays the winner if an assumed constant is a fifth smaller or larger. */
struct gsim_whatif {
    int n_varied; /* constants that were tried */
    int n_not_varied; /* assumed columns of the trace, and constants that are no number */
    /* constants beyond the budget of steps, or not reached before an interruption */
    int n_left_out;
    bool is_interrupted, is_forbidden;
    const char *flip; /* "POLICY wins with KEY +20 %"; NULL: no trial changes the winner */
    /* By contender: its mean JCT as a part of contender 0's, over the values that were tried of
     * constants that one of the two rests on. */
    struct gsim_tried {
        int n; /* 0: none was tried */
        double least, most;
    } tried[GSIM_MAX_COMPARED];
};

/* `winner` holds the winning contender of each measure, -1 for a measure without a winner. */
enum gsim_status gsim_compare_whatif(const struct gsim_compare *c, const int *winner,
                                     struct gsim_whatif *out);

/* --- verdict.c -------------------------------------------------------------------------------- */

/* Writes the verdict's sentences, NULL-terminated, and makes the what-if runs that they need. */
enum gsim_status gsim_compare_verdict(const struct gsim_compare *c, const struct gsim_comparison *s,
                                      const char *const **lines, struct gsim_whatif *whatif);

/* --- print.c ---------------------------------------------------------------------------------- */

/* Prints the table of the trace, and the table of intervals. */
void gsim_compare_write_tables(const struct gsim_compare *c, const struct gsim_comparison *s);
/* Over which units the intervals are, or why there are none; NULL: no memory. */
const char *gsim_compare_say_over(const struct gsim_compare *c, const struct gsim_comparison *s);
/* Writes one row for each run, as CSV or JSON, with the statistics of its policy. */
enum gsim_status gsim_compare_write_rows(const struct gsim_compare *c,
                                         const struct gsim_comparison *s,
                                         const char *const *verdict,
                                         enum gsim_output_format format);
/* Writes "0.012", "< 0.001", or "-" for NaN; the buffer holds at least 16 bytes. */
void gsim_format_p(char *buffer, double p);

/* --- keep.c ----------------------------------------------------------------------------------- */

/* Writes the comparison into --db, where its runs are already; verdict and advice are sentences,
 * NULL-terminated, and either may be NULL. */
enum gsim_status gsim_compare_keep(const struct gsim_compare *c, const struct gsim_comparison *s,
                                   const char *const *verdict, const char *const *advice);

/* --- load.c ----------------------------------------------------------------------------------- */

/* The GPUs of the cluster, each counted by its speed relative to the device of reference. */
double gsim_compare_capacity(const struct gsim_compare *c);
/* The GPU time that a job of the trace asks for. */
double gsim_work_of_job_s(const struct gsim_trace *trace, uint32_t job);
/* The work of all jobs, as a part of what the GPUs can do from the first arrival to the last; NaN
 * where they are few, or all arrive at once. */
double gsim_compare_load(const struct gsim_compare *c);
/* Warns on stderr when more work arrives than the cluster can do, or a policy falls behind. */
void gsim_compare_warn_of_load(const struct gsim_compare *c);

#endif
