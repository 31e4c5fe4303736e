/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim validate: the project's own tables of what was measured, published or proved, each row beside
 * what this build says. All of it is data, in experiments/validate/SUITE (built into the program):
 *
 *   TABLE.csv  scenario,what,simulated,reference,unit,bound,use: one row a number. `simulated` is
 *              arithmetic (sim/app/sweep/expression.h) over result fields of the scenario's run
 *              (`jct_mean_s`), of a job (`jct_s(ID)`), of another scenario (`makespan_s@alone`), and
 *              quotes of a model (`copy_us(h2d 4096)`, see validate_quote.c). `reference` is
 *              arithmetic over numbers. `bound` is "3%", a number in the row's unit, or "3se":
 *              three standard errors over the scenario's seeds, these at most 0.5 % of the mean,
 *              or ">": above the reference, which is then a limit and has no error.
 *              `use`: empty, `fitted` (constants come from this row: it is left out of the
 *              summary), `aside` (kept aside when constants were fitted to other rows of its
 *              table), or `shown` (no bound is promised).
 *   TABLE.ini  title and source, perhaps mean_bound (per cent: of all its rows
 *              but those only shown), then a [scenario] each: the long options of `gsim run` as keys
 *              (what stands before the first section holds for all), and `trace = FILE` beside it,
 *              or the trace itself as `columns = ...` and one `job = ...` a line. `seeds = 1, 2`:
 *              one run each; a number is then their mean.
 *
 * Other files of the folder are what these name. */
#ifndef GSIM_APP_VALIDATE_H
#define GSIM_APP_VALIDATE_H

#include "models/hardware/profile.h"
#include "sim/app/cli/cli.h"
#include "sim/app/sweep/expression.h"
#include "sim/app/figures/folder.h"
#include "sim/app/cli/output.h"
#include "sim/base/ini.h"

enum gsim_row_use { GSIM_ROW_TEST = 0, GSIM_ROW_FITTED, GSIM_ROW_ASIDE, GSIM_ROW_SHOWN };

enum gsim_row_verdict {
    GSIM_ROW_WITHIN = 0,
    GSIM_ROW_MISSED,
    GSIM_ROW_UNBOUND, /* fitted or shown: nothing is promised */
    GSIM_ROW_MISSING, /* this version cannot run it */
};

/* What a run is asked for, by the text of its call. */
struct gsim_wanted {
    struct gsim_call call;
    double *value; /* by run */
    struct gsim_wanted *next;
};

struct gsim_validate_scenario {
    const char *name; /* "" for what stands before the first section */
    const struct gsim_validate_table *table;
    const char *missing; /* why it cannot be run here; NULL: it can */
    const char *trace; /* path */
    const char **seed; /* by run; NULL: one run, by the default seed */
    int n_runs;
    struct gsim_wanted *wanted;
};

struct gsim_validate_row {
    const struct gsim_validate_table *table;
    const struct gsim_validate_scenario *scenario;
    const char *what, *simulated_text, *reference_text, *unit, *bound;
    enum gsim_row_use use;
    int64_t line;
    /* Answers; NaN where there is none. */
    double simulated, reference, error_percent, standard_error;
    enum gsim_row_verdict verdict;
    const char *missing;
};

struct gsim_validate_table {
    const char *suite, *name, *title, *source;
    const char *mean_bound; /* NULL: none */
    const char *csv; /* its name among the files that are built in */
    struct gsim_ini ini;
    struct gsim_validate_scenario *scenario;
    int n_scenarios;
    struct gsim_validate_row *row;
    int n_rows, capacity;
};

struct gsim_validation {
    struct gsim_cli *cli;
    struct gsim_validate_table *table;
    int n_tables;
    struct gsim_folder folder; /* traces and other files, for as long as it runs */
};

/* validate_tables.c: the tables of the suites that the operands name, or all. */
enum gsim_status gsim_validate_load(struct gsim_validation *v);
/* A scenario's key, or the table's; NULL: neither has it. */
const char *gsim_scenario_key(const struct gsim_validate_scenario *scenario, const char *key);
/* Where a file of that name beside the suite's tables has been unpacked; NULL: there is none. */
const char *gsim_validate_file(const struct gsim_validation *v, const char *suite, const char *name,
                               struct gsim_arena *arena);
struct gsim_validate_scenario *gsim_scenario_find(const struct gsim_validate_table *table,
                                                  const char *name);

/* validate_run.c: fills all answers. */
enum gsim_status gsim_validate_run(struct gsim_validation *v, int n_threads);

/* validate_quote.c: a quote of a model for a device. *is_quote is false when the name is none. */
enum gsim_status gsim_validate_quote(const struct gsim_call *call,
                                     const struct gsim_profile *profile, struct gsim_arena *arena,
                                     bool *is_quote, double *out, struct gsim_log *log);

/* validate_print.c: what rows come to. Errors in per cent, of the rows with a bound. */
struct gsim_validate_summary {
    const char *suite;
    int n_rows, n_bound, n_within, n_fitted, n_aside, n_shown, n_missing;
    int n_errors; /* rows that have an error in per cent */
    double mean_percent, worst_percent;
};
/* Adds a table's rows; a summary starts zeroed. */
void gsim_validate_sum(const struct gsim_validate_table *table, struct gsim_validate_summary *s);
/* Whether the mean error keeps to the table's bound on it; a table without one does. */
bool gsim_validate_mean_is_within(const struct gsim_validate_table *table);
void gsim_validate_print(const struct gsim_validation *v, enum gsim_output_format format);

#endif
