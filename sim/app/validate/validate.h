/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim validate: the project's own tables of measured, published or proved values, each row beside
 * the value of this build. All data are in experiments/validate/SUITE (built into the program):
 *
 *   TABLE.csv  scenario,what,simulated,reference,unit,bound,use: one row a number. `simulated` is
 *              arithmetic (sim/app/sweep/expression.h) over result fields of the scenario's run
 *              (`jct_mean_s`), of a job (`jct_s(ID)`), of another scenario (`makespan_s@alone`),
 *              and quotes of a model (`copy_us(h2d 4096)`, see quote.c). `reference` is arithmetic
 *              over numbers. `bound` is "3%", a number in the row's unit, or "3se": three standard
 *              errors over the scenario's seeds, these at most 0.5 % of the mean, or ">": above the
 *              reference, which is then a limit and has no error. `use`: empty, `fitted`
 *              (constants come from this row, which the summary leaves out), `aside` (set aside
 *              when constants were fitted to other rows of its table), or `shown` (no bound is
 *              promised).
 *   TABLE.ini  title and source, perhaps mean_bound (per cent: over all rows except those that are
 *              only shown), then a [scenario] each: the long options of `gsim run` as keys (a key
 *              before the first section applies to all scenarios), and `trace = FILE` beside it,
 *              or the trace itself as `columns = ...` and one `job = ...` a line. `seeds = 1, 2`:
 *              one run for each seed; a number is then the mean over them.
 *
 * Other files of the folder are those that a table names. */
#ifndef GSIM_APP_VALIDATE_H
#define GSIM_APP_VALIDATE_H

#include "models/hardware/profile.h"
#include "sim/app/cli/options.h"
#include "sim/app/sweep/expression.h"
#include "sim/app/figures/folder.h"
#include "sim/study/output.h"
#include "sim/base/ini.h"

enum gsim_row_use { GSIM_ROW_TEST = 0, GSIM_ROW_FITTED, GSIM_ROW_ASIDE, GSIM_ROW_SHOWN };

enum gsim_row_verdict {
    GSIM_ROW_WITHIN = 0,
    GSIM_ROW_MISSED,
    GSIM_ROW_UNBOUND, /* fitted or shown: no bound is promised */
    GSIM_ROW_MISSING, /* this version cannot run the row's scenario */
};

/* A value that a row wants from runs, and the call that names it. */
struct gsim_wanted {
    struct gsim_call call;
    double *value; /* by run */
    struct gsim_wanted *next;
};

struct gsim_validate_scenario {
    const char *name; /* "" for the keys before the first section */
    const struct gsim_validate_table *table;
    const char *missing; /* the reason why this version cannot run it; NULL: it can */
    const char *trace; /* path of the trace */
    const char **seed; /* by run; NULL: one run with the default seed */
    int n_runs;
    struct gsim_wanted *wanted;
};

struct gsim_validate_row {
    const struct gsim_validate_table *table;
    const struct gsim_validate_scenario *scenario;
    const char *what, *simulated_text, *reference_text, *unit, *bound;
    enum gsim_row_use use;
    int64_t line;
    /* The computed values; NaN if there is none. */
    double simulated, reference, error_percent, standard_error;
    enum gsim_row_verdict verdict;
    const char *missing;
};

struct gsim_validate_table {
    const char *suite, *name, *title, *source;
    const char *mean_bound; /* NULL: the table promises no mean */
    const char *csv; /* name of the table among the built-in files */
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
    struct gsim_folder folder; /* traces and other files, removed when the command ends */
};

/* tables.c: loads the tables and the suites that the operands name, or all suites. */
enum gsim_status gsim_validate_load(struct gsim_validation *v);
/* The value of a scenario's key, or of the table's; NULL: neither has the key. */
const char *gsim_scenario_key(const struct gsim_validate_scenario *scenario, const char *key);
/* The path to which a file beside the suite's tables has been written; NULL: there is no such
 * file. */
const char *gsim_validate_file(const struct gsim_validation *v, const char *suite, const char *name,
                               struct gsim_arena *arena);
struct gsim_validate_scenario *gsim_scenario_find(const struct gsim_validate_table *table,
                                                  const char *name);

/* run.c: makes the runs and computes all rows. */
enum gsim_status gsim_validate_run(struct gsim_validation *v, int n_threads);

/* quote.c: computes a model's quote for a device. *is_quote becomes false if no quote has that
 * name. */
enum gsim_status gsim_validate_quote(const struct gsim_call *call,
                                     const struct gsim_profile *profile, struct gsim_arena *arena,
                                     bool *is_quote, double *out, struct gsim_log *log);

/* print.c: the summary of rows. Errors are in per cent, over the rows with a bound. */
struct gsim_validate_summary {
    const char *suite;
    int n_rows, n_bound, n_within, n_fitted, n_aside, n_shown, n_missing;
    int n_errors; /* rows with an error in per cent */
    double mean_percent, worst_percent;
};
/* Whether the mean error is within the table's bound on it; true for a table without such a
 * bound. */
bool gsim_validate_mean_is_within(const struct gsim_validate_table *table);
void gsim_validate_print(const struct gsim_validation *v, enum gsim_output_format format);
/* What the file of --rows-csv begins with. */
#define GSIM_ROWS_CSV_BEGINS "suite,table,scenario,what,"
void gsim_validate_print_csv(const struct gsim_validation *v, FILE *out);

#endif
