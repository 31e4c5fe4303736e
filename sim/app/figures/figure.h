/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures: plots/NAME.sql queries the database, plots/NAME.gp draws. A gnuplot script is made of
 * the common style, the data, and the drawing; it needs no other file, so a user can keep and
 * change it.
 *
 * The lines that open a .sql say what the figure shows, which data it `needs:`, and its limit:
 *     lines     at most 8 series a page: the eye can tell no more of them apart
 *     bars      at most 24 rows a page
 *     one run
 *     any
 *
 * Each statement that selects rows is a block $data1, $data2, ... of numbers and texts between
 * tabs, which exists if the statement found rows; a drawing that can do without a block tests
 * exists('rows2') first. Columns `series` and `label` split a block into indexes with the label as
 * header; series1 and rows1 count them. A statement with columns var_NAME sets variables;
 * var_height is the height in inches.
 *
 * Series and bars beyond the limit of a page go on the next page, as evenly as possible; a figure
 * that divides itself sets var_pages to the number of its pages. Statements see the table `sheet`
 * (page, first, last, is_double), with one row: the page, its series, and whether it is two columns
 * wide. Axes cover the data of all pages. Tables that the first statements make IF NOT EXISTS are
 * made once for all pages, and read nothing of the page.
 *
 * Texts come from users: job names, policies, files. They stand only in data and in single quotes.
 * Characters that gnuplot or TeX would interpret are replaced, and the terminals do not interpret
 * any. */
#ifndef GSIM_APP_FIGURE_H
#define GSIM_APP_FIGURE_H

#include <stdio.h>

#include "sim/app/cli/options.h"
#include "sim/app/results/db_figure.h"

enum gsim_figure_format {
    GSIM_FIGURE_PDF = 0,
    GSIM_FIGURE_SVG,
    GSIM_FIGURE_PNG,
    GSIM_FIGURE_TEX,
    GSIM_FIGURE_FORMAT_COUNT
};

struct gsim_figure {
    const char *name;
    const char *summary, *needs; /* one line each */
    const char *sql, *gp;
    int most_series; /* 0: any number */
    bool is_of_one_run;
};

struct gsim_figure_request {
    enum gsim_figure_format format;
    bool is_double; /* two columns wide */
    int page; /* from 1; 0 means the first page as well */
    const char *output; /* a file name without a folder, in the folder where the script runs */
};

/* The text of a file of plots/; NULL if there is no such file. A line "-- with OTHER.sql" in it
 * stands for the text of that file, since several need its tables. */
const char *gsim_figure_file(const char *name, struct gsim_arena *arena);
/* The built-in figure number `at`, in the order of names; false past the last figure. */
bool gsim_figure_at(int at, struct gsim_arena *arena, struct gsim_figure *out);
/* Finds a figure by name; an unknown name is a usage error with a suggestion. */
enum gsim_status gsim_figure_find(const char *name, struct gsim_arena *arena,
                                  struct gsim_figure *out, struct gsim_log *log);
/* Opens the database that the first operand names, for the runs that the options choose, with the
 * tables that figures share. `choice` has what no option says: is_list, is_report, configs, first.
 * *db is to be closed whatever comes of it. */
enum gsim_status gsim_figure_open(struct gsim_cli *cli, struct gsim_db_choice choice,
                                  struct gsim_db **db);
/* Writes the script of one page; *n_pages is the number of pages. GSIM_USAGE if the figure cannot
 * show that many runs, GSIM_BAD_INPUT if the chosen runs have no data for it. */
enum gsim_status gsim_figure_write(const struct gsim_figure *figure, struct gsim_db *db,
                                   const struct gsim_figure_request *request,
                                   struct gsim_arena *arena, FILE *out, int *n_pages,
                                   struct gsim_log *log);
/* Begins a script: the terminal, and the output. */
void gsim_figure_terminal(const struct gsim_figure_request *request, double height, FILE *out);
/* Copies a text for a figure: bytes that form no character are dropped, the middle of a text longer
 * than `most` characters is left out, and for TeX special characters are spelt out. Writes at most
 * GSIM_FIGURE_TEXT bytes. */
enum { GSIM_FIGURE_TEXT = 2048 };
void gsim_figure_text(char *out, const char *text, int most, enum gsim_figure_format format);
/* Writes such a text into data, where gnuplot reads a backslash as an escape and a double quote as
 * the start of a string. */
void gsim_figure_put(const char *text, int most, enum gsim_figure_format format, FILE *out);

/* Whether the next statement makes a table, or its index, that all that follows shares. */
bool gsim_figure_is_shared(const char *sql);

/* --- figure_data.c: the data of a page ---------------------------------------- */

enum { GSIM_FIGURE_LINES = 8, GSIM_FIGURE_BARS = 24 }; /* that a page shows */

struct gsim_figure_writing {
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
/* Writes the rows of all statements; an error if the drawing would find nothing. */
enum gsim_status gsim_figure_write_data(struct gsim_figure_writing *w, struct gsim_db *db,
                                        struct gsim_log *log);

#endif
