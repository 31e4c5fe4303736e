/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gsim table: the runs of a database as a table, with intervals over replications and tests of the
 * difference from one policy. */
#include <math.h>
#include <string.h>

#include "sim/study/output.h"
#include "sim/study/outfile.h"
#include "sim/app/cli/output_file.h"
#include "sim/app/figures/figure.h"
#include "sim/app/tables/table.h"
#include "sim/base/text.h"

static const char usage[] = "gsim table results.db [--x load] [--format latex]";
static const char run_values[] = "jct_mean_s,jct_p95_s,wait_mean_s,slowdown_mean,gpu_useful";
#define GROUP_VALUES(OR)                                                                           \
    "jct_mean_s" OR "jct_p50_s" OR "jct_p95_s" OR "jct_p99_s" OR "wait_mean_s" OR "wait_p95_s" OR  \
    "slowdown_mean" OR "gpu_hours" OR "jobs"

/* --- SQL -------------------------------------------------------------------------------------- */

struct asking {
    struct gsim_cli *cli;
    struct gsim_db *db;
    struct gsim_table table;
    enum gsim_table_format format;
    const char *by; /* the column by which jobs are grouped; NULL: runs are not broken down */
    bool is_out_of_memory;
};

/* A text as a literal of SQL. */
static const char *quoted(struct gsim_arena *arena, const char *text) {
    if (!text)
        return "NULL";
    char *out = gsim_arena_alloc(arena, 2 * strlen(text) + 3), *p = out;
    if (!out)
        return NULL;
    *p++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            *p++ = '\'';
        *p++ = *text;
    }
    *p = '\'';
    return out;
}

/* Executes all statements of a text; `row` gets the rows of each. */
static enum gsim_status execute(struct asking *a, const char *sql, gsim_db_row *row, void *arg) {
    enum gsim_status status = sql ? GSIM_OK : gsim_no_memory(a->cli->log, "reading the database");
    while (status == GSIM_OK && *sql)
        status = gsim_db_query(a->db, &sql, row, arg, a->cli->log);
    return status;
}

static void take_text(void *arg, const struct gsim_db_value *values, int n) {
    struct asking *a = arg;
    if (n > 0 && !a->table.against)
        a->table.against = gsim_arena_strdup(a->cli->arena, values[0].text);
}

/* The policy that the table is against: named, or that of the first run. */
static enum gsim_status find_against(struct asking *a) {
    const char *named = a->cli->value[GSIM_OPT_AGAINST];
    const char *name = named ? quoted(a->cli->arena, named) : "policy";
    enum gsim_status status =
        !name ? gsim_no_memory(a->cli->log, "reading the database")
              : execute(a,
                        gsim_arena_printf(a->cli->arena,
                                          "SELECT policy FROM chosen WHERE policy = %s "
                                          "ORDER BY run_id LIMIT 1",
                                          name),
                        take_text, a);
    if (status != GSIM_OK || a->table.against)
        return status;
    return gsim_fail(a->cli->log, GSIM_USAGE, NULL, 0,
                     "--against: no chosen run is of the policy '%s'", named);
}

static enum gsim_status say_against(struct asking *a, const char *other) {
    const char *one = quoted(a->cli->arena, a->table.against);
    const char *two = quoted(a->cli->arena, other);
    if (!one || !two)
        return gsim_no_memory(a->cli->log, "reading the database");
    return execute(a,
                   gsim_arena_printf(
                       a->cli->arena,
                       "CREATE TEMP TABLE against AS SELECT %s AS policy, %s AS other", one, two),
                   NULL, NULL);
}

/* --- cells ------------------------------------------------------------------------------------ */

static double number(const struct gsim_db_value *value) {
    return value->is_null ? (double)NAN : value->number;
}

static void take_cell(void *arg, const struct gsim_db_value *v, int n) {
    struct asking *a = arg;
    struct gsim_table *table = &a->table;
    if (n < 14 || a->is_out_of_memory)
        return;
    if (table->n == table->capacity) {
        int capacity = table->capacity ? 2 * table->capacity : 64;
        struct gsim_cell *grown = gsim_arena_array(a->cli->arena, (size_t)capacity, sizeof *grown);
        a->is_out_of_memory = !grown;
        if (!grown)
            return;
        if (table->n)
            memcpy(grown, table->cell, (size_t)table->n * sizeof *grown);
        table->cell = grown;
        table->capacity = capacity;
    }
    struct gsim_cell *cell = &table->cell[table->n++];
    *cell = (struct gsim_cell){.head = gsim_arena_strdup(a->cli->arena, v[0].text),
                               .row = gsim_arena_strdup(a->cli->arena, v[1].text),
                               .n = number(&v[2]),
                               .value = {number(&v[3]), number(&v[4]), number(&v[5])},
                               .ratio = {number(&v[6]), number(&v[7]), number(&v[8])},
                               .p = number(&v[9]),
                               .pairs = v[12].number};
    table->is_shaken |= number(&v[10]) > 0;
    table->has_repeated |= number(&v[13]) > 0;
    table->has_original |= number(&v[11]) > 0;
    a->is_out_of_memory = !cell->head || !cell->row;
}

/* Adjusts p for the number of comparisons, and the intervals of ratios with it, so that one is
 * without 1 where its p is below 0.05. Ranges have no p, and stay. */
static bool adjust(struct gsim_table *table, struct gsim_arena *arena) {
    double *times = gsim_arena_array(arena, (size_t)table->n + 1, sizeof *times);
    double *p = gsim_arena_array(arena, (size_t)table->n + 1, sizeof *p);
    if (!p || !times)
        return false;
    for (int i = 0; i < table->n; i++)
        p[i] = table->cell[i].p;
    if (!gsim_holm(p, times, (size_t)table->n))
        return false;
    for (int i = 0; i < table->n; i++) {
        struct gsim_cell *cell = &table->cell[i];
        if (!isnan(p[i]))
            cell->ratio = gsim_t_ratio_widened(cell->ratio, (size_t)cell->pairs, times[i]);
        cell->p = p[i];
    }
    return true;
}

/* Names the column of the trace, and the number shown of its groups. */
static enum gsim_status say_grouping(struct asking *a) {
    const char *by = quoted(a->cli->arena, a->by);
    if (!by)
        return gsim_no_memory(a->cli->log, "reading the database");
    const char *value = a->cli->value[GSIM_OPT_VALUE];
    enum gsim_status status = execute(
        a, gsim_arena_printf(a->cli->arena, "CREATE TEMP TABLE grouping AS SELECT %s AS by", by),
        NULL, NULL);
    if (status != GSIM_OK || !a->by)
        return status;
    return execute(a,
                   gsim_arena_printf(a->cli->arena, "UPDATE asked SET value = '%s', x = NULL",
                                     value ? value : "jct_mean_s"),
                   NULL, NULL);
}

static void warn_of_absent(void *arg, const struct gsim_db_value *v, int n) {
    const struct asking *a = arg;
    if (n == 2 && v[0].number > 0)
        gsim_warn(a->cli->log, a->cli->operand[0], 0,
                  "%.0f run%s without a value of '%s' %s in no column: %s", v[0].number,
                  gsim_plural((int64_t)v[0].number), a->cli->value[GSIM_OPT_X],
                  v[0].number > 1 ? "are" : "is", v[1].text);
}

/* Runs without the key of --x, as those of other policies have no set.POLICY.KEY, are not shown. */
static enum gsim_status say_absent(struct asking *a) {
    static const char absent[] =
        "SELECT sum(n), group_concat(policy, ', ') FROM (SELECT policy, count(*) AS n FROM chosen "
        "WHERE run_id NOT IN (SELECT run_id FROM attribute JOIN asked ON key = x) "
        "GROUP BY policy ORDER BY min(run_id))";
    return a->cli->value[GSIM_OPT_X] ? execute(a, absent, warn_of_absent, a) : GSIM_OK;
}

static enum gsim_status read_cells(struct asking *a) {
    enum gsim_status status = say_against(a, NULL);
    if (status == GSIM_OK)
        status = say_grouping(a);
    if (status == GSIM_OK)
        status = execute(a, gsim_figure_file("table.sql", a->cli->arena), take_cell, a);
    if (status == GSIM_OK && (a->is_out_of_memory || !adjust(&a->table, a->cli->arena)))
        status = gsim_no_memory(a->cli->log, "reading the database");
    if (status == GSIM_OK)
        status = say_absent(a);
    if (status == GSIM_OK && a->table.n == 0)
        status = gsim_fail(a->cli->log, GSIM_BAD_INPUT, a->cli->operand[0], 0,
                           a->by ? "no jobs are in it to be broken down: it was kept with --keep "
                                   "summary, or the trace has no such column"
                                 : "the chosen runs have no such number");
    return status;
}

static enum gsim_status write_cells(struct asking *a) {
    struct gsim_outfile out;
    enum gsim_status status = read_cells(a);
    if (status == GSIM_OK)
        status = gsim_output_file_open(a->cli, &out);
    if (status != GSIM_OK)
        return status;
    gsim_table_write(out.file, &a->table, a->format);
    return gsim_output_file_close(a->cli, &out);
}

static void warn_of_unfinished(void *arg, const struct gsim_db_value *v, int n) {
    struct asking *a = arg;
    if (n > 0 && v[0].number > 0)
        gsim_warn(a->cli->log, a->cli->operand[0], 0,
                  "%.0f jobs of the chosen runs did not end, and are in no mean", v[0].number);
}

/* --- changed jobs ----------------------------------------------------------------------------- */

struct changes {
    FILE *out;
    const char *one, *two;
    enum gsim_table_format format;
    int n_rows;
};

/* Writes the line about all jobs, and the heads of the list that follows. */
static void put_count(const struct changes *c, const struct gsim_db_value *v) {
    if (c->format != GSIM_TABLE_TEXT)
        return;
    fprintf(c->out,
            "%s (run %.0f) and %s (run %.0f): of %.0f jobs, %s ends %.0f sooner and %.0f later, by "
            "%.6g s in the mean\n\n",
            c->one, v[0].number, c->two, v[1].number, v[2].number, c->two, v[3].number, v[4].number,
            v[5].number);
    fprintf(c->out, "  %-20s %-12s %6s %12s %14.14s %14.14s %14s\n", "job", "user", "GPUs",
            "alone (s)", c->one, c->two, "change (s)");
}

static void put_job(void *arg, const struct gsim_db_value *v, int n) {
    struct changes *c = arg;
    if (n != 7) {
        put_count(c, v);
        c->n_rows++;
        return;
    }
    if (c->format == GSIM_TABLE_CSV) {
        gsim_put_csv_text(c->out, v[0].text);
        fputc(',', c->out);
        gsim_put_csv_text(c->out, v[1].text);
        for (int i = 2; i < n; i++) {
            fputc(',', c->out);
            gsim_put_real(c->out, v[i].number, false);
        }
        fputc('\n', c->out);
    } else {
        fprintf(c->out, "  %-20.20s %-12.12s %6.4g %12.6g %14.6g %14.6g %+14.6g\n", v[0].text,
                v[1].text, v[2].number, v[3].number, v[4].number, v[5].number, v[6].number);
    }
}

static enum gsim_status write_changed(struct asking *a) {
    const char *other = a->cli->value[GSIM_OPT_CHANGED];
    struct changes c = {.one = a->table.against, .two = other, .format = a->format};
    struct gsim_outfile out;
    if (a->format == GSIM_TABLE_LATEX)
        return gsim_fail(a->cli->log, GSIM_USAGE, NULL, 0,
                         "--changed is written as table or csv, not as latex");
    enum gsim_status status = say_against(a, other);
    if (status == GSIM_OK)
        status = gsim_output_file_open(a->cli, &out);
    if (status != GSIM_OK)
        return status;
    c.out = out.file;
    if (c.format == GSIM_TABLE_CSV)
        fputs("job_id,user,gpus,alone_s,against_jct_s,jct_s,change_s\n", c.out);
    status = execute(a, gsim_figure_file("table_jobs.sql", a->cli->arena), put_job, &c);
    if (status == GSIM_OK && c.n_rows == 0)
        status = gsim_fail(a->cli->log, GSIM_BAD_INPUT, a->cli->operand[0], 0,
                           "--changed: no run of '%s' differs from a run of '%s' by policy alone",
                           other, c.one);
    if (status != GSIM_OK) {
        gsim_outfile_abandon(&out);
        return status;
    }
    return gsim_output_file_close(a->cli, &out);
}

/* --- the command ------------------------------------------------------------------------------ */

static enum gsim_status read_format(struct asking *a) {
    const char *text = a->cli->value[GSIM_OPT_FORMAT];
    int format = text ? gsim_text_choice(text, "table|csv|latex") : GSIM_TABLE_TEXT;
    if (format < 0)
        return gsim_fail(a->cli->log, GSIM_USAGE, NULL, 0,
                         "--format: '%s' is not one of table, csv, latex", text);
    a->format = (enum gsim_table_format)format;
    return GSIM_OK;
}

static enum gsim_status read_by(struct asking *a) {
    const char *value = a->cli->value[GSIM_OPT_VALUE];
    a->by = a->cli->value[GSIM_OPT_BY];
    if (a->by && gsim_text_choice(a->by, "class|user|vc|model|gpus|size") < 0)
        return gsim_fail(a->cli->log, GSIM_USAGE, NULL, 0,
                         "--by: '%s' is not one of class, user, vc, model, gpus, size", a->by);
    if (a->by && a->cli->value[GSIM_OPT_X])
        return gsim_fail(a->cli->log, GSIM_USAGE, NULL, 0,
                         "--by and --x both say what the columns are; give one of them");
    if (a->by && value && gsim_text_choice(value, GROUP_VALUES("|")) < 0)
        return gsim_fail(
            a->cli->log, GSIM_USAGE, NULL, 0,
            "--value: '%s' is not known of groups of jobs; there are " GROUP_VALUES(", "), value);
    return GSIM_OK;
}

/* Opens the database; the value of groups is no result of runs, and is said later. */
static enum gsim_status open_runs(struct asking *a) {
    const char *value = a->cli->value[GSIM_OPT_VALUE];
    if (a->by)
        a->cli->value[GSIM_OPT_VALUE] = NULL;
    else if (!value)
        a->cli->value[GSIM_OPT_VALUE] = a->cli->value[GSIM_OPT_X] ? "jct_mean_s" : run_values;
    enum gsim_status status = gsim_figure_open(
        a->cli, (struct gsim_db_choice){.is_list = true, .keeps_changed = true}, &a->db);
    a->cli->value[GSIM_OPT_VALUE] = value;
    return status;
}

enum gsim_status gsim_command_table(struct gsim_cli *cli) {
    struct asking a = {.cli = cli};
    enum gsim_status status = gsim_one_operand(cli, "database", usage);
    if (status == GSIM_OK)
        status = read_format(&a);
    if (status == GSIM_OK)
        status = read_by(&a);
    if (status != GSIM_OK)
        return status;
    status = open_runs(&a);
    if (status == GSIM_OK)
        status = find_against(&a);
    if (status == GSIM_OK)
        status = execute(&a, "SELECT sum(unfinished) FROM chosen", warn_of_unfinished, &a);
    if (status == GSIM_OK)
        status = cli->value[GSIM_OPT_CHANGED] ? write_changed(&a) : write_cells(&a);
    gsim_db_close(a.db);
    return status;
}
