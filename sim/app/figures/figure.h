/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures: plots/NAME.sql asks, plots/NAME.gp draws. A script for gnuplot is made of the style they
 * share, the data, and the drawing; it needs nothing else, so that it can be kept and changed.
 *
 * The lines that open a .sql say what the figure shows, what it `needs:`, and what limits it:
 *     lines     at most 8 series a page, which is as many as can be told apart
 *     bars      at most 24 rows a page
 *     one run
 *     any
 * Each statement that asks for rows is a block $data1, $data2, ... of numbers and texts between tabs,
 * which is there when it found some; a drawing that can do without one asks exists('rows2') first.
 * Columns `series` and `label` cut it into indexes with the label as header; series1 and rows1 count
 * them. A statement with columns var_NAME sets variables; var_height is the height in inches.
 *
 * What is too much for a page goes on on the next: series and bars by themselves, alike many on each,
 * and a figure that cuts itself up says by var_pages how many there are. Statements see the table
 * `sheet` (page, first, last, is_double), a row: the page, its series, and whether it is two columns
 * wide. Axes are of all pages.
 *
 * Texts come from users: job names, policies, files. They stand in data and in single quotes only,
 * with what gnuplot or TeX would read as something else taken out, and the terminals do not
 * interpret any. */
#ifndef GSIM_APP_FIGURE_H
#define GSIM_APP_FIGURE_H

#include <stdio.h>

#include "sim/app/cli/cli.h"
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
    int page; /* from 1; 0 is the first too */
    const char *output; /* a plain file name, in the folder where the script is run */
};

/* The text of a file of plots/; NULL when there is none. */
const char *gsim_figure_file(const char *name, struct gsim_arena *arena);
/* The built-in figure at that place, in the order of names; false past the last. */
bool gsim_figure_at(int at, struct gsim_arena *arena, struct gsim_figure *out);
/* By name; a usage error with a suggestion when there is none. */
enum gsim_status gsim_figure_find(const char *name, struct gsim_arena *arena,
                                  struct gsim_figure *out, struct gsim_log *log);
/* Opens the database that the first operand names, for the runs that the options choose, with the tables
 * that figures share. *db is to be closed whatever comes of it. */
enum gsim_status gsim_figure_open(struct gsim_cli *cli, struct gsim_db **db);
/* The script of one page, and how many there are. GSIM_USAGE when the chosen runs are too many for
 * it, GSIM_BAD_INPUT when they have nothing to show. */
enum gsim_status gsim_figure_write(const struct gsim_figure *figure, struct gsim_db *db,
                                   const struct gsim_figure_request *request,
                                   struct gsim_arena *arena, FILE *out, int *n_pages,
                                   struct gsim_log *log);
/* A text without what is no character, its middle left out when it is longer than `most` characters,
 * with what TeX would interpret written out where the format is TeX. Writes at most GSIM_FIGURE_TEXT
 * bytes. */
enum { GSIM_FIGURE_TEXT = 2048 };
void gsim_figure_text(char *out, const char *text, int most, enum gsim_figure_format format);

#endif
