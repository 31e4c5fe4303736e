/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of a figure: rows of statements as blocks that gnuplot reads, with texts of users. */
#include "sim/app/figures/figure.h"
#include "sim/base/text.h"

#include <string.h>

enum { MAX_CHARACTERS = 60 };
static const double most_height_in = 9;

/* --- texts of users --------------------------------------------------------------------------- */

/* The spelling of a character where TeX reads the output of gnuplot. */
static const char *tex(char c) {
    static const struct {
        char c;
        const char *text;
    } table[] = {{'\\', "\\textbackslash{}"},
                 {'{', "\\{"},
                 {'}', "\\}"},
                 {'$', "\\$"},
                 {'&', "\\&"},
                 {'#', "\\#"},
                 {'%', "\\%"},
                 {'_', "\\_"},
                 {'~', "\\textasciitilde{}"},
                 {'^', "\\textasciicircum{}"},
                 {'`', "\\textasciigrave{}"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].c == c)
            return table[i].text;
    return NULL;
}

static void append(char **out, const char *text, size_t n) {
    memcpy(*out, text, n);
    *out += n;
}

static int count_characters(const char *text) {
    int n = 0;
    for (int length; *text; n++, text += length ? length : 1)
        length = gsim_text_utf8_length(text);
    return n;
}

void gsim_figure_text(char *out, const char *text, int most, enum gsim_figure_format format) {
    int too_many = count_characters(text) - most, cut = most / 2;
    const char *p = text;
    for (int n = 0; *p; n++) {
        int length = gsim_text_utf8_length(p);
        const char *instead = format == GSIM_FIGURE_TEX ? tex(*p) : NULL;
        if (too_many > 0 && n >= cut && n < cut + too_many + 3)
            append(&out, ".", n < cut + 3 ? 1 : 0);
        else if (instead)
            append(&out, instead, strlen(instead));
        else if (length == 0 || (unsigned char)*p < 32 || *p == 127)
            append(&out, "?", 1);
        else
            append(&out, p, (size_t)length);
        p += length ? length : 1;
    }
    *out = '\0';
}

/* --- data ------------------------------------------------------------------------------------- */

/* The most characters of a label: a key is as wide as the plot, so that (3.33 - 1.13) in / 0.063 in
 * are left behind its sample lines; labels of bars and rows stand beside it. */
static int most_characters(const struct gsim_figure_writing *w) {
    return w->request->is_double                         ? MAX_CHARACTERS
           : w->figure->most_series == GSIM_FIGURE_LINES ? 34
                                                         : 30;
}

void gsim_figure_put(const char *text, int most, enum gsim_figure_format format, FILE *out) {
    char clean[GSIM_FIGURE_TEXT];
    gsim_figure_text(clean, text, most, format);
    for (const char *p = clean; *p; p++)
        fputs(*p == '\\' ? "\\\\" : *p == '"' ? "'" : (char[]){*p, '\0'}, out);
}

static void put_data_text(const struct gsim_figure_writing *w, const char *text) {
    gsim_figure_put(text, most_characters(w), w->request->format, w->out);
}

/* Writes a text in single quotes, within which only the quote itself is special. */
static void put_quoted(const struct gsim_figure_writing *w, const char *text) {
    char clean[GSIM_FIGURE_TEXT];
    gsim_figure_text(clean, text, most_characters(w), w->request->format);
    fputc('\'', w->out);
    for (const char *p = clean; *p; p++)
        fputs(*p == '\'' ? "''" : (char[]){*p, '\0'}, w->out);
    fputc('\'', w->out);
}

static void put_value(const struct gsim_figure_writing *w, const struct gsim_db_value *value) {
    if (value->is_text)
        put_data_text(w, value->text);
    else if (value->is_null)
        fputs("NaN", w->out);
    else
        fprintf(w->out, "%.10g", value->number);
}

static void put_variable(struct gsim_figure_writing *w, const struct gsim_db_value *value) {
    const char *name = value->name + strlen("var_");
    if (strcmp(name, "pages") == 0)
        w->n_pages = (int)value->number;
    if (strcmp(name, "height") == 0)
        w->height_in = value->number < most_height_in ? value->number : most_height_in;
    fprintf(w->out, "%s = ", name);
    if (value->is_text)
        put_quoted(w, value->text);
    else if (value->is_null)
        fputs("NaN", w->out);
    else
        fprintf(w->out, "%.10g", strcmp(name, "height") == 0 ? w->height_in : value->number);
    fputc('\n', w->out);
}

/* Begins a series: two blank lines start a gnuplot index, and its first line is the header. */
static void begin_series(struct gsim_figure_writing *w, const struct gsim_db_value *values) {
    fputs(w->n_series ? "\n\n" : "", w->out);
    fprintf(w->out, "%.10g\t", values[0].number);
    put_value(w, &values[1]);
    fputc('\n', w->out);
    w->series = values[0].number;
    w->n_series++;
    int length = count_characters(values[1].text), most = most_characters(w);
    length = length < most ? length : most;
    w->longest = length > w->longest ? length : w->longest;
}

static bool is_curve(const struct gsim_figure *figure, const struct gsim_db_value *values, int n) {
    return figure->most_series == GSIM_FIGURE_LINES && n > 2 &&
           strcmp(values[0].name, "series") == 0 && strcmp(values[1].name, "label") == 0;
}

/* The number of a row's bar or of its curve's series; 0 if the figure has no limit. */
static int64_t place_of(struct gsim_figure_writing *w, const struct gsim_db_value *values, int n) {
    if (is_curve(w->figure, values, n))
        return (int64_t)values[0].number;
    return w->figure->most_series == GSIM_FIGURE_BARS ? ++w->n_bars : 0;
}

static void put_cells(struct gsim_figure_writing *w, const struct gsim_db_value *values, int n,
                      int64_t place) {
    bool has_series = is_curve(w->figure, values, n), is_first = true;
    if (has_series && (w->n_series == 0 || values[0].number != w->series))
        begin_series(w, values);
    for (int i = 0; i < n; i++) {
        if (has_series && i == 1)
            continue;
        fputs(is_first ? "" : "\t", w->out);
        if (is_first && w->figure->most_series == GSIM_FIGURE_BARS)
            fprintf(w->out, "%lld", (long long)(place - w->first + 1));
        else
            put_value(w, &values[i]);
        is_first = false;
    }
    fputc('\n', w->out);
}

static void put_row(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_figure_writing *w = arg;
    bool is_variable = strncmp(values[0].name, "var_", 4) == 0;
    for (int i = 0; i < n && is_variable; i++)
        put_variable(w, &values[i]);
    if (is_variable)
        return;
    assert(!values[0].is_text); /* a row begins with a number: no text can end the block */
    int64_t place = place_of(w, values, n);
    w->n_all = place > w->n_all ? place : w->n_all;
    if (place && (place < w->first || place > w->last))
        return;
    if (w->n_rows++ == 0)
        fprintf(w->out, "$data%d << END_OF_DATA\n", w->block);
    put_cells(w, values, n, place);
}

/* Writes the rows of a statement as a block. A statement of rows takes a block number even if it
 * finds no row, so that the drawing never reads another statement's rows under that number. */
static enum gsim_status write_block(struct gsim_figure_writing *w, struct gsim_db *db,
                                    const char **sql, struct gsim_log *log) {
    char first[64];
    enum gsim_status status = gsim_db_first_column(db, *sql, first, sizeof first, log);
    if (status != GSIM_OK)
        return status;
    w->block += *first && strncmp(first, "var_", 4) != 0;
    w->n_rows = w->n_series = w->n_bars = 0;
    status = gsim_db_query(db, sql, put_row, w, log);
    if (w->n_rows == 0)
        return status;
    fprintf(w->out, "END_OF_DATA\nrows%d = %lld\n", w->block, (long long)w->n_rows);
    if (w->n_series)
        fprintf(w->out, "series%d = %lld\n", w->block, (long long)w->n_series);
    w->filled |= UINT64_C(1) << w->block;
    return status;
}

/* Whether each block that the drawing uses has rows. The drawing tests for an optional block with
 * exists('rowsN'). */
static bool has_what_it_draws(const struct gsim_figure_writing *w) {
    const char *gp = w->figure->gp;
    for (int block = 1; block <= w->block; block++) {
        char data[24], rows[40];
        (void)snprintf(data, sizeof data, "$data%d", block);
        (void)snprintf(rows, sizeof rows, "exists('rows%d')", block);
        if (!(w->filled >> block & 1) && strstr(gp, data) && !strstr(gp, rows))
            return false;
    }
    return w->filled & 2; /* block 1 has the figure's subject */
}

enum gsim_status gsim_figure_write_data(struct gsim_figure_writing *w, struct gsim_db *db,
                                        struct gsim_log *log) {
    const char *sql = w->figure->sql;
    enum gsim_status status = GSIM_OK;
    while (*sql && status == GSIM_OK)
        status = write_block(w, db, &sql, log);
    bool is_to_be_cut = w->is_first_look && w->n_all > w->last;
    if (status == GSIM_OK && !is_to_be_cut && !has_what_it_draws(w))
        return gsim_fail(log, GSIM_BAD_INPUT, NULL, 0, "figure '%s' has nothing to show%s; it %s",
                         w->figure->name, w->request->page > 1 ? " on this page" : "",
                         w->figure->needs);
    return status;
}
