/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a page of HTML. Every text of the database is escaped. */
#ifndef GSIM_APP_HTML_H
#define GSIM_APP_HTML_H

#include <stdio.h>

#include "sim/app/results/db_figure.h"

/* Writes a text; bytes that form no character become the replacement character. */
void gsim_html_put(FILE *out, const char *text);
/* Writes the rows of the first statement as a table below its title; nothing if there is no row. */
enum gsim_status gsim_html_table(FILE *out, struct gsim_db *db, const char *title, const char **sql,
                                 struct gsim_log *log);

/* Rows of sentences: the command that they are of, or NULL, and the sentences, one a line. */
struct gsim_html_sentences {
    FILE *out;
    const char *title; /* NULL: they stand without one */
    struct gsim_arena *arena;
    int64_t n_rows;
    bool is_list; /* points of a list, in place of paragraphs */
};
/* A gsim_db_row; arg is a gsim_html_sentences. */
void gsim_html_sentences_row(void *arg, const struct gsim_db_value *values, int n);

#endif
