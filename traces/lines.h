/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a file with fields separated by a character and never quoted, as schedulers and their
 * logs write them. CSV with quotes and a header is traces/csv.h. */
#ifndef GSIM_TRACES_LINES_H
#define GSIM_TRACES_LINES_H

#include "traces/csv.h"
#include "traces/free_texts.h"

struct gsim_lines_form {
    char separator; /* ' ': any run of blanks */
    char comment; /* lines that begin with it are skipped; 0: only '#' */
    /* "A|B": columns of texts by users, which may have the separator in them; NULL: none */
    const char *free_texts;
    gsim_text_fits *fits; /* what may stand in which column; NULL: anything */
    const char *names; /* "a,b,c": the columns of a file without a header line; NULL: it has one */
};

enum gsim_status gsim_lines_read(struct gsim_input *input, const struct gsim_lines_form *form,
                                 const struct gsim_csv_user *user, struct gsim_arena *arena,
                                 struct gsim_log *log);
/* The number of fields of a line. */
uint32_t gsim_lines_count(const char *line, char separator);

#endif
