/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text in columns of a terminal: wrapped lines, and tables of a page (sim/app/manual/page.h). */
#ifndef GSIM_APP_PAGE_TABLE_H
#define GSIM_APP_PAGE_TABLE_H

#include <stdio.h>

#include "gsim/arena.h"

enum { GSIM_PAGE_COLUMNS = 80, GSIM_PAGE_CELLS = 12, GSIM_PAGE_ROWS = 512 };

/* Rows that are too many are left out; no page has so many. */
struct gsim_page_table {
    char *cell[GSIM_PAGE_ROWS][GSIM_PAGE_CELLS]; /* row 0 is the heading */
    int n_rows, n_cells;
};

/* Characters, not bytes. */
int gsim_page_width(const char *text);
/* Words up to that column; further lines begin at indent, where the first stands already. */
void gsim_page_wrap(FILE *out, const char *text, int indent, int columns);

/* A line "| a | b |" of Markdown; the line of dashes is passed over. */
void gsim_page_table_add(struct gsim_page_table *table, const char *line,
                         char *(*plain)(const char *text, struct gsim_arena *arena),
                         struct gsim_arena *arena);
/* Aligned; where that is too wide the widest column is wrapped, or each row becomes a paragraph. */
void gsim_page_table_print(FILE *out, const struct gsim_page_table *table);

#endif
