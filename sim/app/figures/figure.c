/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/figures/figure.h"
#include "sim/app/plan/target.h"
#include "sim/app/identity/program.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/cli/options.h"
#include "sim/app/results/db_private.h"
#include "sim/base/embedded.h"
#include "sim/base/text.h"

enum { MAX_FIGURES = 64, MAX_CHARACTERS = 60, MAX_LINES = 8, MAX_BARS = 24, MAX_PAGES = 6 };

/* Column widths of journals, and the height of a figure without var_height, in inches. */
static const double single_in = 3.33, double_in = 6.9, height_in = 2.2;
static const double most_height_in = 9;

/* --- the built-in figures --------------------------------------------------------------------- */

static const char folder[] = "plots/";

static const char *embedded(const char *name, struct gsim_arena *arena) {
    const char *path = gsim_arena_printf(arena, "%s%s", folder, name);
    const struct gsim_embedded *file = path ? gsim_embedded_find(path) : NULL;
    return file ? (const char *)file->bytes : NULL; /* the build ends each file with a NUL */
}

const char *gsim_figure_file(const char *name, struct gsim_arena *arena) {
    static const char with[] = "\n-- with ";
    const char *text = embedded(name, arena), *line = text ? strstr(text, with) : NULL;
    if (!line)
        return text;
    const char *other = line + strlen(with), *end = other + strcspn(other, "\n");
    const char *others = gsim_arena_strndup(arena, other, (size_t)(end - other));
    others = others ? embedded(others, arena) : NULL;
    return others ? gsim_arena_printf(arena, "%.*s\n%s%s", (int)(line - text), text, others,
                                      end + (*end == '\n'))
                  : NULL;
}

/* The comment in a line of the text; lines count from 0. */
static const char *comment_line(const char *text, int line, struct gsim_arena *arena) {
    while (line-- > 0) {
        const char *end = strchr(text, '\n');
        text = end ? end + 1 : "";
    }
    text += strncmp(text, "-- ", 3) == 0 ? 3 : 0;
    return gsim_arena_strndup(arena, text, strcspn(text, "\n"));
}

static bool fill(struct gsim_figure *figure, const char *name, struct gsim_arena *arena) {
    *figure = (struct gsim_figure){.name = name};
    const char *sql = gsim_arena_printf(arena, "%s.sql", name);
    const char *gp = gsim_arena_printf(arena, "%s.gp", name);
    if (!sql || !gp)
        return false;
    figure->sql = gsim_figure_file(sql, arena);
    figure->gp = gsim_figure_file(gp, arena);
    if (!figure->sql || !figure->gp)
        return false;
    figure->summary = comment_line(figure->sql, 0, arena);
    figure->needs = comment_line(figure->sql, 1, arena);
    const char *limit = comment_line(figure->sql, 2, arena);
    if (!figure->summary || !figure->needs || !limit)
        return false;
    figure->most_series = strcmp(limit, "lines") == 0  ? MAX_LINES
                          : strcmp(limit, "bars") == 0 ? MAX_BARS
                                                       : 0;
    figure->is_of_one_run = strcmp(limit, "one run") == 0;
    return true;
}

/* Files are sorted by name. A figure of a database has a query beside its script; common.sql is
 * shared by all. */
bool gsim_figure_at(int at, struct gsim_arena *arena, struct gsim_figure *out) {
    for (const struct gsim_embedded *file = gsim_embedded_files; file->name; file++) {
        size_t n = strlen(file->name), skip = strlen(folder);
        if (strncmp(file->name, folder, skip) != 0 || strcmp(file->name + n - 3, ".gp") != 0)
            continue;
        char *name = gsim_arena_strndup(arena, file->name + skip, n - skip - 3);
        const char *query = name ? gsim_arena_printf(arena, "%s.sql", name) : NULL;
        if (!query || !gsim_figure_file(query, arena) || strcmp(name, "common") == 0)
            continue;
        if (at-- == 0)
            return fill(out, name, arena);
    }
    return false;
}

enum gsim_status gsim_figure_find(const char *name, struct gsim_arena *arena,
                                  struct gsim_figure *out, struct gsim_log *log) {
    const char *names[MAX_FIGURES];
    int n = 0;
    while (n < MAX_FIGURES && gsim_figure_at(n, arena, out)) {
        if (strcmp(out->name, name) == 0)
            return GSIM_OK;
        names[n++] = out->name;
    }
    int close = gsim_text_suggest(name, names, n);
    return gsim_fail(log, GSIM_USAGE, NULL, 0, "no figure is called '%s'%s%s%s", name,
                     close >= 0 ? "; did you mean '" : "; 'gsim list figures' shows them",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

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

struct writing {
    const struct gsim_figure *figure;
    const struct gsim_figure_request *request;
    FILE *out;
    int64_t first, last; /* series of this page */
    int block; /* number of the data block, from 1 */
    int64_t n_rows, n_series, n_bars; /* rows, series and bars of the block */
    int64_t n_all; /* series of all pages */
    int n_pages; /* as the figure's statements set var_pages, or 1 */
    bool is_first_look; /* the number of pages is not known yet */
    uint64_t filled; /* blocks with rows, as bits */
    double series; /* number of the series that is being written */
    int longest; /* characters of the longest label */
    double height_in;
};

/* The most characters of a label: a key is as wide as the plot, so that (3.33 - 1.13) in / 0.063 in
 * are left behind its sample lines; labels of bars and rows stand beside it. */
static int most_characters(const struct writing *w) {
    return w->request->is_double ? MAX_CHARACTERS : w->figure->most_series == MAX_LINES ? 34 : 30;
}

void gsim_figure_put(const char *text, int most, enum gsim_figure_format format, FILE *out) {
    char clean[GSIM_FIGURE_TEXT];
    gsim_figure_text(clean, text, most, format);
    for (const char *p = clean; *p; p++)
        fputs(*p == '\\' ? "\\\\" : *p == '"' ? "'" : (char[]){*p, '\0'}, out);
}

static void put_data_text(const struct writing *w, const char *text) {
    gsim_figure_put(text, most_characters(w), w->request->format, w->out);
}

/* Writes a text in single quotes, within which only the quote itself is special. */
static void put_quoted(const struct writing *w, const char *text) {
    char clean[GSIM_FIGURE_TEXT];
    gsim_figure_text(clean, text, most_characters(w), w->request->format);
    fputc('\'', w->out);
    for (const char *p = clean; *p; p++)
        fputs(*p == '\'' ? "''" : (char[]){*p, '\0'}, w->out);
    fputc('\'', w->out);
}

static void put_value(const struct writing *w, const struct gsim_db_value *value) {
    if (value->is_text)
        put_data_text(w, value->text);
    else if (value->is_null)
        fputs("NaN", w->out);
    else
        fprintf(w->out, "%.10g", value->number);
}

static void put_variable(struct writing *w, const struct gsim_db_value *value) {
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
static void begin_series(struct writing *w, const struct gsim_db_value *values) {
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
    return figure->most_series == MAX_LINES && n > 2 && strcmp(values[0].name, "series") == 0 &&
           strcmp(values[1].name, "label") == 0;
}

/* The number of a row's bar or of its curve's series; 0 if the figure has no limit. */
static int64_t place_of(struct writing *w, const struct gsim_db_value *values, int n) {
    if (is_curve(w->figure, values, n))
        return (int64_t)values[0].number;
    return w->figure->most_series == MAX_BARS ? ++w->n_bars : 0;
}

static void put_cells(struct writing *w, const struct gsim_db_value *values, int n, int64_t place) {
    bool has_series = is_curve(w->figure, values, n), is_first = true;
    if (has_series && (w->n_series == 0 || values[0].number != w->series))
        begin_series(w, values);
    for (int i = 0; i < n; i++) {
        if (has_series && i == 1)
            continue;
        fputs(is_first ? "" : "\t", w->out);
        if (is_first && w->figure->most_series == MAX_BARS)
            fprintf(w->out, "%lld", (long long)(place - w->first + 1));
        else
            put_value(w, &values[i]);
        is_first = false;
    }
    fputc('\n', w->out);
}

static void put_row(void *arg, const struct gsim_db_value *values, int n) {
    struct writing *w = arg;
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
static enum gsim_status write_block(struct writing *w, struct gsim_db *db, const char **sql,
                                    struct gsim_log *log) {
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
static bool has_what_it_draws(const struct writing *w) {
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

static enum gsim_status write_data(struct writing *w, struct gsim_db *db, struct gsim_log *log) {
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

/* --- the script ------------------------------------------------------------------------------- */

/* Writes a file name of the folder where gnuplot runs: "./" keeps a name from being a pipe ("|...")
 * or an option. */
static void put_file_name(FILE *out, const char *name) {
    fputs("'./", out);
    for (; *name; name++)
        fputs(*name == '\'' ? "''" : (char[]){*name, '\0'}, out);
    fputc('\'', out);
}

/* Sets the terminal for text of 8 points on a page. Pixels: 96 an inch on a screen (SVG), 300 in a
 * picture. No terminal interprets texts ("enhanced"). */
void gsim_figure_terminal(const struct gsim_figure_request *request, double height, FILE *out) {
    double width = request->is_double ? double_in : single_in;
    switch (request->format) {
    case GSIM_FIGURE_SVG:
        fprintf(out, "set terminal svg noenhanced size %.0f,%.0f font 'Helvetica,10.5'\n",
                96 * width, 96 * height);
        break;
    case GSIM_FIGURE_PNG:
        fprintf(out,
                "set terminal pngcairo noenhanced size %.0f,%.0f font 'Helvetica,8' fontscale 3.1 "
                "linewidth 3 pointscale 3\n",
                300 * width, 300 * height);
        break;
    case GSIM_FIGURE_TEX:
        fprintf(out, "set terminal cairolatex pdf size %.2fin,%.2fin font ',8'\n", width, height);
        break;
    default:
        fprintf(out,
                "set terminal pdfcairo noenhanced size %.2fin,%.2fin font 'Helvetica,8' "
                "fontscale 0.75\n",
                width, height);
    }
    fputs("set output ", out);
    put_file_name(out, request->output);
    fputc('\n', out);
}

/* Sets the layout of the key. gnuplot overestimates the width of letters and would let the key run
 * out of the picture, so the script sets the number of columns from letters of 0.062 in and 0.38 in
 * for the rest of an entry. */
static void put_key(const struct writing *w, FILE *out) {
    double width = w->request->is_double ? double_in : single_in, margin = 0.75;
    int columns = (int)((width - margin) / (0.38 + 0.062 * w->longest));
    double excess = w->request->format == GSIM_FIGURE_SVG ? 0.25 : 0.1; /* in widths of a letter */
    fprintf(out, "set key width %.1f maxcols %d\n", -excess * w->longest,
            columns > 1 ? columns : 1);
}

static void put_script(const struct writing *w, FILE *out, const char *data,
                       struct gsim_arena *arena) {
    fprintf(out,
            "# %s: %s\n# Made by gsim " GSIM_VERSION "; draw it again with: gnuplot FILE.gp\n"
            "set encoding utf8\n",
            w->figure->name, w->figure->summary);
    gsim_figure_terminal(w->request, w->height_in, out);
    fprintf(out, "width = %.2f\n", w->request->is_double ? double_in : single_in);
    fprintf(out, "\n%s\n%s\n", gsim_figure_file("common.gp", arena), data);
    if (w->longest)
        put_key(w, out);
    fputs(w->figure->gp, out);
}

static enum gsim_status check_runs(const struct gsim_figure *figure, struct gsim_db *db,
                                   struct gsim_log *log) {
    int64_t n = 1, first = 1;
    enum gsim_status status = figure->is_of_one_run
                                  ? gsim_db_number(db, "SELECT count(*) FROM chosen", &n, log)
                                  : GSIM_OK;
    if (status == GSIM_OK && n > 1)
        status = gsim_db_number(db, "SELECT min(run_id) FROM chosen", &first, log);
    if (status == GSIM_OK && n > 1)
        return gsim_fail(log, GSIM_USAGE, NULL, 0,
                         "figure '%s' is of one run and there are %lld; choose one with --where, "
                         "such as --where run_id=%lld",
                         figure->name, (long long)n, (long long)first);
    return status;
}

static enum gsim_status share_tables(struct gsim_db *db, struct gsim_cli *cli) {
    const char *sql = gsim_figure_file("common.sql", cli->arena);
    enum gsim_status status = sql ? GSIM_OK : gsim_no_memory(cli->log, "drawing");
    while (status == GSIM_OK && *sql)
        status = gsim_db_query(db, &sql, NULL, NULL, cli->log);
    return status;
}

static void warn_of_copies(void *arg, const struct gsim_db_value *values, int n) {
    struct gsim_cli *cli = arg;
    if (n > 0 && values[0].number > 0)
        gsim_warn(
            cli->log, cli->operand[0], 0,
            "%.0f runs are of shaken or resampled copies of a trace that is not among them as "
            "it is: means are over copies, and bars the range over them, no interval",
            values[0].number);
}

/* Tables have ranges and their own words for them (gsim table). */
static enum gsim_status look_for_copies(struct gsim_db *db, struct gsim_cli *cli) {
    const char *count = "SELECT count(*) FROM copies";
    return gsim_db_query(db, &count, warn_of_copies, cli, cli->log);
}

enum gsim_status gsim_figure_open(struct gsim_cli *cli, struct gsim_db_choice choice,
                                  struct gsim_db **db) {
    struct gsim_target target = {.value = (double)NAN};
    enum gsim_status status =
        cli->value[GSIM_OPT_TARGET] ? gsim_target_read(cli, &target) : GSIM_OK;
    if (status == GSIM_OK)
        status = gsim_price_read(cli, &choice.price);
    if (status != GSIM_OK)
        return status;
    choice.where = cli->value[GSIM_OPT_WHERE];
    choice.x = cli->value[GSIM_OPT_X];
    choice.y = cli->value[GSIM_OPT_Y];
    choice.target = target.value;
    choice.value = target.field ? target.field : cli->value[GSIM_OPT_VALUE];
    status = gsim_db_open_existing(cli->operand[0], cli->arena, db, cli->log);
    if (status != GSIM_OK)
        return status;
    gsim_db_heed(*db, cli->io->stop);
    status = gsim_db_choose(*db, &choice, cli->log);
    if (status == GSIM_OK)
        status = share_tables(*db, cli);
    return status == GSIM_OK && !choice.keeps_changed ? look_for_copies(*db, cli) : status;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Fills the table `sheet`, from which statements read the page, its series, and its width. */
static enum gsim_status set_page(const struct writing *w, struct gsim_db *db,
                                 struct gsim_log *log) {
    char sql[200];
    (void)snprintf(sql, sizeof sql, "INSERT INTO sheet VALUES (%d, %lld, %lld, %d)",
                   w->request->page, (long long)w->first, (long long)w->last,
                   w->request->is_double);
    return gsim_db_execute(db, sql, log);
}

/* Writes the data of a page. Tables that the figure's statements make are rolled back, also after
 * an error. */
static enum gsim_status write_drawing(struct writing *w, struct gsim_db *db, char **data,
                                      struct gsim_log *log) {
    size_t size;
    enum gsim_status status = gsim_db_execute(db, "SAVEPOINT figure", log);
    if (status != GSIM_OK)
        return status;
    w->out = open_memstream(data, &size);
    status = w->out ? set_page(w, db, log) : gsim_no_memory(log, "drawing");
    if (status == GSIM_OK)
        status = write_data(w, db, log);
    if (w->out && fclose(w->out) != 0 && status == GSIM_OK)
        status = gsim_no_memory(log, "drawing");
    struct gsim_log unheard = {0};
    enum gsim_status undone = gsim_db_execute(db, "ROLLBACK TO figure; RELEASE figure",
                                              status == GSIM_OK ? log : &unheard);
    return status == GSIM_OK ? undone : status;
}

static struct writing begin_page(const struct gsim_figure *figure,
                                 const struct gsim_figure_request *request, int64_t a_page) {
    int64_t before = request->page > 1 ? (request->page - 1) * a_page : 0;
    return (struct writing){.figure = figure,
                            .request = request,
                            .height_in = height_in,
                            .n_pages = 1,
                            .first = before + 1,
                            .last = a_page ? before + a_page : INT32_MAX};
}

static enum gsim_status check_pages(const struct writing *w, struct gsim_log *log) {
    if (w->n_pages <= MAX_PAGES)
        return GSIM_OK;
    return gsim_fail(log, GSIM_USAGE, NULL, 0,
                     "figure '%s' would be of %d pages, and %d is the most; choose with --where, "
                     "such as --where \"policy IN ('fifo', 'srtf')\"",
                     w->figure->name, w->n_pages, MAX_PAGES);
}

bool gsim_figure_is_shared(const char *sql) {
    static const char *const makes[] = {"CREATE TEMP TABLE IF NOT EXISTS ",
                                        "CREATE INDEX IF NOT EXISTS "};
    while (strncmp(sql, "--", 2) == 0 || *sql == '\n')
        sql += strncmp(sql, "--", 2) == 0 ? strcspn(sql, "\n") : 1;
    return strncmp(sql, makes[0], strlen(makes[0])) == 0 ||
           strncmp(sql, makes[1], strlen(makes[1])) == 0;
}

/* Makes the tables with which the statements begin that say IF NOT EXISTS. They read all jobs and
 * nothing of the page, and are kept for the figure's other pages, which find them there. */
static enum gsim_status share_between_pages(const struct gsim_figure *figure, struct gsim_db *db,
                                            struct gsim_log *log) {
    const char *sql = figure->sql;
    enum gsim_status status = GSIM_OK;
    while (status == GSIM_OK && gsim_figure_is_shared(sql))
        status = gsim_db_query(db, &sql, NULL, NULL, log);
    return status;
}

/* Spreads the series evenly over pages, at most most_series on a page, and writes the requested
 * page. */
static enum gsim_status write_pages(struct writing *w, struct gsim_db *db, char **data,
                                    struct gsim_log *log) {
    int most = w->figure->most_series;
    struct gsim_figure_request first = *w->request;
    const struct gsim_figure_request *request = w->request;
    first.page = 1;
    *w = begin_page(w->figure, &first, most);
    w->is_first_look = true;
    enum gsim_status status = write_drawing(w, db, data, log);
    w->request = request;
    if (most && w->n_all > most)
        w->n_pages = (int)((w->n_all - 1) / most + 1);
    if (status == GSIM_OK)
        status = check_pages(w, log);
    if (status != GSIM_OK || (request->page <= 1 && (!most || w->n_pages == 1)))
        return status;
    free(*data);
    *data = NULL;
    int n_pages = w->n_pages;
    int64_t a_page = most ? (w->n_all - 1) / n_pages + 1 : 0;
    *w = begin_page(w->figure, request, a_page);
    status = write_drawing(w, db, data, log);
    w->n_pages = n_pages;
    return status;
}

enum gsim_status gsim_figure_write(const struct gsim_figure *figure, struct gsim_db *db,
                                   const struct gsim_figure_request *request,
                                   struct gsim_arena *arena, FILE *out, int *n_pages,
                                   struct gsim_log *log) {
    char *data = NULL;
    enum gsim_status status = check_runs(figure, db, log);
    if (status != GSIM_OK)
        return status;
    status = share_between_pages(figure, db, log);
    if (status != GSIM_OK)
        return status;
    struct writing w = {.figure = figure, .request = request};
    status = write_pages(&w, db, &data, log);
    if (status == GSIM_OK)
        put_script(&w, out, data, arena);
    *n_pages = w.n_pages;
    free(data);
    return status;
}
