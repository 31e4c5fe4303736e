/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a CSV file with exact line numbers. The only user of libcsv. */
#ifndef GSIM_TRACES_CSV_H
#define GSIM_TRACES_CSV_H

#include <stdio.h>

#include "traces/input.h"

/* The callbacks of a format. Texts are NUL-terminated and valid during the call only. */
struct gsim_csv_user {
    void *arg;
    /* The header's fields; a status other than GSIM_OK ends the reading. */
    enum gsim_status (*header)(void *arg, const char *const *names, uint32_t n, int64_t line);
    void (*field)(void *arg, uint32_t column, const char *text, size_t length);
    /* Called after the fields of a row. A row with another number of fields than the header is
     * a misfit, and not handed over; n is 0 of a line with NUL bytes. */
    enum gsim_status (*row)(void *arg, int64_t line);
    /* Called for a row with n fields where the header has n_columns, in place of an error; the
     * first of its fields may have been handed over. NULL, or false: an error. */
    bool (*misfit)(void *arg, int64_t line, uint32_t n, uint32_t n_columns);
};

enum gsim_status gsim_csv_read(struct gsim_input *input, const struct gsim_csv_user *user,
                               struct gsim_arena *arena, struct gsim_log *log);

/* Like gsim_csv_read, for a file beside a trace. */
enum gsim_status gsim_csv_read_file(const char *path, const struct gsim_csv_user *user,
                                    struct gsim_arena *arena, struct gsim_log *log);

/* As gsim_csv_read_file, of a tool's output: lines that begin with `comment`, and not those with #,
 * are passed by. */
enum gsim_status gsim_csv_read_output(const char *path, char comment,
                                      const struct gsim_csv_user *user, struct gsim_arena *arena,
                                      struct gsim_log *log);

/* Writes a field. Quotes a text that the reader would cut, split or take for a comment. */
void gsim_csv_put(const char *text, FILE *out);

#endif
