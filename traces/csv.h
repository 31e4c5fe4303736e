/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a CSV file with exact line numbers. The only user of libcsv. */
#ifndef GSIM_TRACES_CSV_H
#define GSIM_TRACES_CSV_H

#include <stdio.h>

#include "traces/input.h"

/* What a format does with a file. Texts are NUL-terminated and valid during the call only. */
struct gsim_csv_user {
    void *arg;
    /* The header's fields; a status other than GSIM_OK ends the reading. */
    enum gsim_status (*header)(void *arg, const char *const *names, uint32_t n, int64_t line);
    void (*field)(void *arg, uint32_t column, const char *text, size_t length);
    /* After the fields of a row. A row with another number of fields than the header is reported
     * by the reader and not handed over. */
    enum gsim_status (*row)(void *arg, int64_t line);
};

enum gsim_status gsim_csv_read(struct gsim_input *input, const struct gsim_csv_user *user,
                               struct gsim_arena *arena, struct gsim_log *log);

/* The same of a file that lies beside a trace. */
enum gsim_status gsim_csv_read_file(const char *path, const struct gsim_csv_user *user,
                                    struct gsim_arena *arena, struct gsim_log *log);

/* Writes a field. A text that the reader would cut, split or take for a comment is quoted. */
void gsim_csv_put(const char *text, FILE *out);

#endif
