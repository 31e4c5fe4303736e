/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in columns of a terminal: wrapped lines, and tables of a page (sim/app/manual/page.h). */
#ifndef GSIM_APP_PAGE_TABLE_H
#define GSIM_APP_PAGE_TABLE_H

#include <stdio.h>

#include "gsim/arena.h"

enum { GSIM_PAGE_COLUMNS = 80, GSIM_PAGE_CELLS = 12, GSIM_PAGE_ROWS = 512 };

/* A table of a page. Rows beyond GSIM_PAGE_ROWS are dropped; no page has that many. */
struct gsim_page_table {
    char *cell[GSIM_PAGE_ROWS][GSIM_PAGE_CELLS]; /* row 0 is the heading */
    int n_rows, n_cells;
};

/* The width of a text in characters, not bytes. */
int gsim_page_width(const char *text);
/* Prints words up to the column; the first line is at `indent` already, further lines begin
 * there. */
void gsim_page_wrap(FILE *out, const char *text, int indent, int columns);

/* Adds a line "| a | b |" of Markdown; the line of dashes is skipped. */
void gsim_page_table_add(struct gsim_page_table *table, const char *line,
                         char *(*plain)(const char *text, struct gsim_arena *arena),
                         struct gsim_arena *arena);
/* Prints the table aligned. If it is too wide, its widest column is wrapped, or each row becomes a
 * paragraph. */
void gsim_page_table_print(FILE *out, const struct gsim_page_table *table);

#endif
