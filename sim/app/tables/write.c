/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table as text, a block for each column; as CSV, a line for each cell; and as a LaTeX
 * tabular. */
#include <math.h>
#include <string.h>

#include "sim/study/output.h"
#include "sim/app/figures/figure.h"
#include "sim/app/identity/program.h"
#include "sim/app/tables/table.h"

/* Marks of a difference from the policy that the table is against. */
static const char *stars(double p) {
    return p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}

static bool is_new_column(const struct gsim_table *table, int at) {
    return at == 0 || strcmp(table->cell[at].head, table->cell[at - 1].head) != 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* One run has a mean and no interval. */
static bool has_ends(const struct gsim_interval *interval) {
    return isfinite(interval->low) && isfinite(interval->high);
}

static void put_interval(FILE *out, const struct gsim_interval *interval) {
    char text[64] = "";
    if (has_ends(interval))
        (void)snprintf(text, sizeof text, "[%.3g, %.3g]", interval->low, interval->high);
    fprintf(out, " %-20s", text);
}

static void put_p(FILE *out, double p) {
    if (isnan(p))
        return;
    if (p < 0.001)
        fprintf(out, " <0.001 %s", stars(p));
    else
        fprintf(out, " %6.3f %s", p, stars(p));
}

static int width_of_rows(const struct gsim_table *table) {
    int width = 12;
    for (int i = 0; i < table->n; i++) {
        int length = (int)strlen(table->cell[i].row);
        width = length > width ? length : width;
    }
    return width;
}

static void put_head(FILE *out, const struct gsim_table *table, const char *head, int width) {
    const char *interval = table->is_shaken ? "range" : "95 % interval";
    gsim_put_plain(out, 0, head);
    fprintf(out, "\n  %-*s runs       mean  %-20s of %-6.6s %-20s%s\n", width, "", interval,
            table->against, interval, table->is_shaken ? "" : "      p");
}

/* What the means beside ranges are of. */
static const char *means_of(const struct gsim_table *table) {
    return table->has_original ? "means of the trace as it is; "
                               : "means over copies, not the trace as it is; ";
}

static void write_text(FILE *out, const struct gsim_table *table) {
    int width = width_of_rows(table);
    for (int i = 0; i < table->n; i++) {
        const struct gsim_cell *cell = &table->cell[i];
        if (is_new_column(table, i) && i > 0)
            fputc('\n', out);
        if (is_new_column(table, i))
            put_head(out, table, cell->head, width);
        fputs("  ", out);
        gsim_put_plain(out, width, cell->row);
        fprintf(out, " %4.0f %10.4g ", cell->n, cell->value.mean);
        put_interval(out, &cell->value);
        if (isfinite(cell->ratio.mean)) {
            fprintf(out, " %9.3f", cell->ratio.mean);
            put_interval(out, &cell->ratio);
            put_p(out, cell->p);
        }
        fputc('\n', out);
    }
    if (table->is_shaken)
        fprintf(out,
                "\n%sranges over as many shaken or resampled copies of it as there are runs: how "
                "sensitive it is, no chance of being wrong\n",
                means_of(table));
    else
        fprintf(out,
                "\nintervals over runs; p of \"no difference from %s\" in equal runs, and the "
                "intervals of ratios, adjusted for the number of comparisons (Holm); * below 0.05, "
                "** below 0.01; %s%s\n",
                table->against, gsim_intervals_caution,
                table->has_repeated ? "; runs that are all equal have no interval: their seeds "
                                      "change nothing, so they are one"
                                    : "");
}

/* --- CSV -------------------------------------------------------------------------------------- */

static void put_numbers(FILE *out, const struct gsim_interval *interval) {
    const double number[] = {interval->mean, interval->low, interval->high};
    for (int i = 0; i < 3; i++) {
        bool is_said = i == 0 ? isfinite(interval->mean) : has_ends(interval);
        fputc(',', out);
        gsim_put_real(out, is_said ? number[i] : (double)NAN, false);
    }
}

static void write_csv(FILE *out, const struct gsim_table *table) {
    fputs("column,row,runs,mean,low,high,against,ratio,ratio_low,ratio_high,p\n", out);
    for (int i = 0; i < table->n; i++) {
        const struct gsim_cell *cell = &table->cell[i];
        gsim_put_csv_text(out, cell->head);
        fputc(',', out);
        gsim_put_csv_text(out, cell->row);
        fprintf(out, ",%.0f", cell->n);
        put_numbers(out, &cell->value);
        fputc(',', out);
        gsim_put_csv_text(out, table->against);
        put_numbers(out, &cell->ratio);
        fputc(',', out);
        gsim_put_real(out, cell->p, false);
        fputc('\n', out);
    }
}

/* --- LaTeX ------------------------------------------------------------------------------------ */

/* Writes the first n bytes of a text for TeX, with its special characters spelt out. */
static void put_tex(FILE *out, const char *text, size_t n) {
    char cut[GSIM_FIGURE_TEXT / 16], spelt[GSIM_FIGURE_TEXT];
    (void)snprintf(cut, sizeof cut, "%.*s", (int)n, text);
    gsim_figure_text(spelt, cut, (int)sizeof cut, GSIM_FIGURE_TEX);
    fputs(spelt, out);
}

static const struct gsim_cell *find(const struct gsim_table *table, const char *head,
                                    const char *row) {
    for (int i = 0; i < table->n; i++)
        if (strcmp(table->cell[i].head, head) == 0 && strcmp(table->cell[i].row, row) == 0)
            return &table->cell[i];
    return NULL;
}

/* The first cell of a row stands for the row. */
static bool is_new_row(const struct gsim_table *table, int at) {
    for (int i = 0; i < at; i++)
        if (strcmp(table->cell[i].row, table->cell[at].row) == 0)
            return false;
    return true;
}

static void put_cell(FILE *out, const struct gsim_cell *cell) {
    fputs(" & ", out);
    if (!cell)
        return;
    fprintf(out, "$%.4g%s%s%s$", cell->value.mean, *stars(cell->p) ? "^{" : "", stars(cell->p),
            *stars(cell->p) ? "}" : "");
    if (has_ends(&cell->value))
        fprintf(out, " {\\scriptsize$[%.3g, %.3g]$}", cell->value.low, cell->value.high);
}

/* The part of the heads that all columns share: "JCT mean (h)" of "JCT mean (h), load = 0.5"; 0:
 * they share none. */
static size_t shared_head(const struct gsim_table *table) {
    const char *comma = strstr(table->cell[0].head, ", ");
    size_t n = comma ? (size_t)(comma - table->cell[0].head) : 0;
    for (int i = 1; i < table->n && n; i++)
        if (strncmp(table->cell[i].head, table->cell[0].head, n + 2) != 0)
            n = 0;
    return n;
}

static void put_heads(FILE *out, const struct gsim_table *table, int n_columns) {
    size_t shared = shared_head(table);
    if (shared) {
        fprintf(out, " & \\multicolumn{%d}{c}{", n_columns);
        put_tex(out, table->cell[0].head, shared);
        fprintf(out, "} \\\\\n\\cmidrule{2-%d}\n", n_columns + 1);
    }
    for (int i = 0; i < table->n; i++)
        if (is_new_column(table, i)) {
            const char *head = table->cell[i].head + (shared ? shared + 2 : 0);
            fputs(" & ", out);
            put_tex(out, head, strlen(head));
        }
    fputs(" \\\\\n\\midrule\n", out);
}

static void write_latex(FILE *out, const struct gsim_table *table) {
    fputs("% Made by gsim " GSIM_VERSION "; needs \\usepackage{booktabs}\n\\begin{tabular}{l", out);
    int n_columns = 0;
    for (int i = 0; i < table->n; i++)
        n_columns += is_new_column(table, i);
    for (int i = 0; i < n_columns; i++)
        fputc('r', out);
    fputs("}\n\\toprule\n", out);
    put_heads(out, table, n_columns);
    for (int i = 0; i < table->n; i++) {
        if (!is_new_row(table, i))
            continue;
        put_tex(out, table->cell[i].row, strlen(table->cell[i].row));
        for (int k = 0; k < table->n; k++)
            if (is_new_column(table, k))
                put_cell(out, find(table, table->cell[k].head, table->cell[i].row));
        fputs(" \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
    if (table->is_shaken)
        fprintf(out,
                "%% %sbrackets: the range over shaken or resampled copies of it, no confidence "
                "interval.\n",
                means_of(table));
    else
        fprintf(
            out,
            "%% Brackets: 95 %% intervals by Johnson's t on logarithms over runs; %s.\n%% * p < "
            "0.05, ** p < 0.01 against %s: paired t of logarithms, adjusted by Holm.\n",
            gsim_intervals_caution, table->against);
}

void gsim_table_write(FILE *out, const struct gsim_table *table, enum gsim_table_format format) {
    if (format == GSIM_TABLE_CSV)
        write_csv(out, table);
    else if (format == GSIM_TABLE_LATEX)
        write_latex(out, table);
    else
        write_text(out, table);
}
