/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows and summaries of gsim validate, as a table, CSV or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/validate/validate.h"

static const char *verdict_name(const struct gsim_validate_row *row) {
    static const char *const names[] = {"within", "missed", "no bound",
                                        "not available in this version"};
    return names[row->verdict];
}

static const char *use_name(const struct gsim_validate_row *row) {
    static const char *const names[] = {"test", "fitted", "aside", "shown"};
    return names[row->use];
}

/* --- summaries -------------------------------------------------------------------------------- */

static void add_row(struct gsim_validate_summary *s, const struct gsim_validate_row *row) {
    bool is_missing = row->verdict == GSIM_ROW_MISSING;
    bool counts = !is_missing && (row->use == GSIM_ROW_TEST || row->use == GSIM_ROW_ASIDE);
    s->n_rows++;
    s->n_missing += is_missing;
    s->n_fitted += !is_missing && row->use == GSIM_ROW_FITTED;
    s->n_shown += !is_missing && row->use == GSIM_ROW_SHOWN;
    s->n_aside += counts && row->use == GSIM_ROW_ASIDE;
    s->n_bound += counts;
    s->n_within += counts && row->verdict == GSIM_ROW_WITHIN;
    if (!counts || isnan(row->error_percent))
        return;
    double off = fabs(row->error_percent);
    s->mean_percent += (off - s->mean_percent) / ++s->n_errors;
    s->worst_percent = fmax(s->worst_percent, off);
}

/* Adds a table's rows to a summary, which starts zeroed. */
static void add_table(const struct gsim_validate_table *table, struct gsim_validate_summary *s) {
    s->suite = table->suite;
    for (int r = 0; r < table->n_rows; r++)
        add_row(s, &table->row[r]);
}

/* The mean error of the table, over all rows with an error that are not just shown. */
static double mean_error(const struct gsim_validate_table *table) {
    double sum = 0;
    int n = 0;
    for (int r = 0; r < table->n_rows; r++) {
        const struct gsim_validate_row *row = &table->row[r];
        bool counts = row->use != GSIM_ROW_SHOWN && !isnan(row->error_percent);
        sum += counts ? fabs(row->error_percent) : 0;
        n += counts;
    }
    return n ? sum / n : 0;
}

bool gsim_validate_mean_is_within(const struct gsim_validate_table *table) {
    return !table->mean_bound || mean_error(table) <= strtod(table->mean_bound, NULL);
}

/* The summary of the suite with tables that begin at *at, which moves behind them. */
static struct gsim_validate_summary next_suite(const struct gsim_validation *v, int *at) {
    struct gsim_validate_summary summary = {0};
    do
        add_table(&v->table[*at], &summary);
    while (++*at < v->n_tables && strcmp(v->table[*at].suite, summary.suite) == 0);
    return summary;
}

static void print_summary(const struct gsim_validate_summary *s, FILE *out) {
    fprintf(out, "%-12s %5d %7d %6d %7d %7d %6d %6d ", s->suite, s->n_rows, s->n_bound, s->n_within,
            s->n_aside, s->n_fitted, s->n_shown, s->n_missing);
    if (s->n_errors)
        fprintf(out, "%8.2f %% %8.2f %%\n", s->mean_percent, s->worst_percent);
    else
        fprintf(out, "%10s %10s\n", "-", "-");
}

static void print_summaries(const struct gsim_validation *v, FILE *out) {
    fprintf(out, "\nsummary: rows with a bound; fitted rows and those only shown are left out\n"
                 "suite         rows bounded within  (aside)  fitted  shown absent  mean |err|"
                 "      worst\n");
    for (int t = 0; t < v->n_tables;) {
        struct gsim_validate_summary summary = next_suite(v, &t);
        print_summary(&summary, out);
    }
}

/* --- rows ------------------------------------------------------------------------------------- */

enum { LABEL = 160 };

static int put_label(const struct gsim_validate_row *row, char label[LABEL]) {
    return snprintf(label, LABEL, "%s%s%s", row->scenario->name, *row->scenario->name ? ": " : "",
                    row->what);
}

static int widest_label(const struct gsim_validate_table *table) {
    char label[LABEL];
    int widest = 0;
    for (int r = 0; r < table->n_rows; r++) {
        int width = put_label(&table->row[r], label);
        widest = width > widest ? width : widest;
    }
    return widest;
}

static void print_row(const struct gsim_validate_row *row, int width, FILE *out) {
    char label[LABEL], simulated[40] = "-", error[40] = "";
    (void)put_label(row, label);
    if (!isnan(row->simulated))
        (void)snprintf(simulated, sizeof simulated, "%.7g", row->simulated);
    if (!isnan(row->error_percent))
        (void)snprintf(error, sizeof error, "%+.2f %%", row->error_percent);
    fprintf(out, "  %-*s %12s %12.7g %-4s %10s  ", width, label, simulated, row->reference,
            row->unit, error);
    if (row->verdict == GSIM_ROW_WITHIN || row->verdict == GSIM_ROW_MISSED)
        fprintf(out, "%s %s", row->verdict == GSIM_ROW_WITHIN ? "within" : "MISSES", row->bound);
    else
        fputs(verdict_name(row), out);
    if (!isnan(row->standard_error))
        fprintf(out, " (se %.2g)", row->standard_error);
    if (row->missing)
        fprintf(out, " (%s)", row->missing);
    fprintf(out, "%s%s\n", row->use == GSIM_ROW_TEST ? "" : ", ",
            row->use == GSIM_ROW_TEST ? "" : use_name(row));
}

static void print_mean(const struct gsim_validate_table *table, FILE *out) {
    if (table->mean_bound)
        fprintf(out, "  mean error %.2f %%: %s %s%%\n", mean_error(table),
                gsim_validate_mean_is_within(table) ? "within" : "MISSES", table->mean_bound);
}

static void print_table(const struct gsim_validation *v, FILE *out) {
    for (int t = 0; t < v->n_tables; t++) {
        const struct gsim_validate_table *table = &v->table[t];
        int width = widest_label(table);
        fprintf(out, "%s%s/%s: %s\n  (%s)\n", t ? "\n" : "", table->suite, table->name,
                table->title, table->source);
        fprintf(out, "  %-*s %12s %12s %-4s %10s\n", width, "", "simulated", "reference", "",
                "error");
        for (int r = 0; r < table->n_rows; r++)
            print_row(&table->row[r], width, out);
        print_mean(table, out);
    }
    print_summaries(v, out);
}

void gsim_validate_print_csv(const struct gsim_validation *v, FILE *out) {
    fputs(GSIM_ROWS_CSV_BEGINS
          "simulated,reference,unit,error_percent,standard_error,bound,use,verdict\n",
          out);
    for (int t = 0; t < v->n_tables; t++)
        for (int r = 0; r < v->table[t].n_rows; r++) {
            const struct gsim_validate_row *row = &v->table[t].row[r];
            const char *const texts[] = {row->table->suite, row->table->name, row->scenario->name,
                                         row->what};
            for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                gsim_put_csv_text(out, texts[i]);
                fputc(',', out);
            }
            gsim_put_real(out, row->simulated, false);
            fputc(',', out);
            gsim_put_real(out, row->reference, false);
            fputc(',', out);
            gsim_put_csv_text(out, row->unit);
            fputc(',', out);
            gsim_put_real(out, row->error_percent, false);
            fputc(',', out);
            gsim_put_real(out, row->standard_error, false);
            fprintf(out, ",%s,%s,%s\n", row->bound, use_name(row), verdict_name(row));
        }
}

static void put_text_member(FILE *out, const char *name, const char *text) {
    fprintf(out, "\"%s\":", name);
    gsim_put_json_text(out, text);
    fputc(',', out);
}

static void put_real_member(FILE *out, const char *name, double value) {
    fprintf(out, "\"%s\":", name);
    gsim_put_real(out, value, true);
    fputc(',', out);
}

static void print_json_row(const struct gsim_validate_row *row, FILE *out) {
    fputc('{', out);
    put_text_member(out, "suite", row->table->suite);
    put_text_member(out, "table", row->table->name);
    put_text_member(out, "source", row->table->source);
    put_text_member(out, "scenario", row->scenario->name);
    put_text_member(out, "what", row->what);
    put_real_member(out, "simulated", row->simulated);
    put_real_member(out, "reference", row->reference);
    put_text_member(out, "unit", row->unit);
    put_real_member(out, "error_percent", row->error_percent);
    put_real_member(out, "standard_error", row->standard_error);
    put_text_member(out, "bound", row->bound);
    put_text_member(out, "use", use_name(row));
    fprintf(out, "\"verdict\":\"%s\"}", verdict_name(row));
}

static void print_json_summary(const struct gsim_validate_summary *s, FILE *out) {
    fputc('{', out);
    put_text_member(out, "suite", s->suite);
    put_real_member(out, "mean_abs_error_percent", s->n_errors ? s->mean_percent : (double)NAN);
    put_real_member(out, "worst_abs_error_percent", s->n_errors ? s->worst_percent : (double)NAN);
    fprintf(out,
            "\"rows\":%d,\"bounded\":%d,\"within\":%d,\"aside\":%d,\"fitted\":%d,\"shown\":%d,"
            "\"not_available\":%d}",
            s->n_rows, s->n_bound, s->n_within, s->n_aside, s->n_fitted, s->n_shown, s->n_missing);
}

static void print_json(const struct gsim_validation *v, FILE *out) {
    const char *comma = "";
    fputs("{\"schema\":\"gsim-validate-1\",\"rows\":[", out);
    for (int t = 0; t < v->n_tables; t++)
        for (int r = 0; r < v->table[t].n_rows; r++, comma = ",\n") {
            fputs(comma, out);
            print_json_row(&v->table[t].row[r], out);
        }
    fputs("],\n\"summary\":[", out);
    comma = "";
    for (int t = 0; t < v->n_tables; comma = ",\n") {
        struct gsim_validate_summary summary = next_suite(v, &t);
        fputs(comma, out);
        print_json_summary(&summary, out);
    }
    fputs("]}\n", out);
}

void gsim_validate_print(const struct gsim_validation *v, enum gsim_output_format format) {
    if (format == GSIM_OUTPUT_JSON)
        print_json(v, v->cli->io->out);
    else if (format == GSIM_OUTPUT_CSV)
        gsim_validate_print_csv(v, v->cli->io->out);
    else
        print_table(v, v->cli->io->out);
}
