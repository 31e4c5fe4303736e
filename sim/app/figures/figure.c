/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/figures/figure.h"
#include "sim/app/plan/target.h"
#include "sim/app/identity/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/app/cli/options.h"
#include "sim/app/results/db_private.h"
#include "sim/base/embedded.h"
#include "sim/base/text.h"

enum { MAX_FIGURES = 64, MAX_PAGES = 6 };

/* Column widths of journals, and the height of a figure without var_height, in inches. */
static const double single_in = 3.33, double_in = 6.9, height_in = 2.2;

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
    figure->most_series = strcmp(limit, "lines") == 0  ? GSIM_FIGURE_LINES
                          : strcmp(limit, "bars") == 0 ? GSIM_FIGURE_BARS
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
static void put_key(const struct gsim_figure_writing *w, FILE *out) {
    double width = w->request->is_double ? double_in : single_in, margin = 0.75;
    int columns = (int)((width - margin) / (0.38 + 0.062 * w->longest));
    double excess = w->request->format == GSIM_FIGURE_SVG ? 0.25 : 0.1; /* in widths of a letter */
    fprintf(out, "set key width %.1f maxcols %d\n", -excess * w->longest,
            columns > 1 ? columns : 1);
}

static void put_script(const struct gsim_figure_writing *w, FILE *out, const char *data,
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
static enum gsim_status set_page(const struct gsim_figure_writing *w, struct gsim_db *db,
                                 struct gsim_log *log) {
    char sql[200];
    (void)snprintf(sql, sizeof sql, "INSERT INTO sheet VALUES (%d, %lld, %lld, %d)",
                   w->request->page, (long long)w->first, (long long)w->last,
                   w->request->is_double);
    return gsim_db_execute(db, sql, log);
}

/* Writes the data of a page. Tables that the figure's statements make are rolled back, also after
 * an error. */
static enum gsim_status write_drawing(struct gsim_figure_writing *w, struct gsim_db *db,
                                      char **data, struct gsim_log *log) {
    size_t size;
    enum gsim_status status = gsim_db_execute(db, "SAVEPOINT figure", log);
    if (status != GSIM_OK)
        return status;
    w->out = open_memstream(data, &size);
    status = w->out ? set_page(w, db, log) : gsim_no_memory(log, "drawing");
    if (status == GSIM_OK)
        status = gsim_figure_write_data(w, db, log);
    if (w->out && fclose(w->out) != 0 && status == GSIM_OK)
        status = gsim_no_memory(log, "drawing");
    struct gsim_log unheard = {0};
    enum gsim_status undone = gsim_db_execute(db, "ROLLBACK TO figure; RELEASE figure",
                                              status == GSIM_OK ? log : &unheard);
    return status == GSIM_OK ? undone : status;
}

static struct gsim_figure_writing begin_page(const struct gsim_figure *figure,
                                             const struct gsim_figure_request *request,
                                             int64_t a_page) {
    int64_t before = request->page > 1 ? (request->page - 1) * a_page : 0;
    return (struct gsim_figure_writing){.figure = figure,
                                        .request = request,
                                        .height_in = height_in,
                                        .n_pages = 1,
                                        .first = before + 1,
                                        .last = a_page ? before + a_page : INT32_MAX};
}

static enum gsim_status check_pages(const struct gsim_figure_writing *w, struct gsim_log *log) {
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
static enum gsim_status write_pages(struct gsim_figure_writing *w, struct gsim_db *db, char **data,
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
    struct gsim_figure_writing w = {.figure = figure, .request = request};
    status = write_pages(&w, db, &data, log);
    if (status == GSIM_OK)
        put_script(&w, out, data, arena);
    *n_pages = w.n_pages;
    free(data);
    return status;
}
