/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells of the optional columns: their kinds, and how they are read and written. */
#ifndef GSIM_TRACES_CELLS_H
#define GSIM_TRACES_CELLS_H

#include "sim/base/units.h"
#include "traces/build.h"

enum gsim_cell_kind {
    GSIM_CELL_COUNT,
    GSIM_CELL_MS,
    GSIM_CELL_SECONDS,
    GSIM_CELL_GIB,
    GSIM_CELL_SHARE,
    GSIM_CELL_MILLI,
    GSIM_CELL_RATIO,
    GSIM_CELL_GBPS,
    GSIM_CELL_SIGNED,
    GSIM_CELL_SYNC,
    GSIM_CELL_CLASS,
    GSIM_CELL_BOOL,
    GSIM_CELL_NAME,
    GSIM_CELL_JOB, /* another job of the trace, by its position */
};

struct gsim_column_def {
    const char *name;
    enum gsim_cell_kind kind;
    const char *help;
    bool is_to_come; /* nothing that is built in uses the column */
};
extern const struct gsim_column_def gsim_columns[GSIM_COL_COUNT];

/* Whether cells of the column stand for texts. */
bool gsim_cell_is_text(enum gsim_column column);
/* The form of a cell of that kind, for messages: "a time in seconds (...)". */
const char *gsim_cell_form(enum gsim_cell_kind kind);
/* Parses a cell; names are interned in the builder. false: the text does not fit the kind. */
bool gsim_cell_parse(struct gsim_builder *builder, enum gsim_column column, const char *text,
                     size_t length, int64_t *out);
/* Writes the cell as a user would type it; buffer holds GSIM_MAX_FIELD_BYTES. Empty for -1. */
void gsim_cell_format(const struct gsim_trace *trace, enum gsim_column column, int64_t value,
                      char *buffer, size_t size);
/* Parses a decimal of 0 or more with up to 9 decimals, times 10^9: the fast path for times. text
 * ends with a NUL. */
enum gsim_parse gsim_cell_seconds(const char *text, size_t length, int64_t *out);
/* Writes value / scale as an exact decimal without trailing zeros; scale is a power of ten or of
 * two. */
int gsim_cell_decimal(char *buffer, int64_t value, int64_t scale);
/* Records "line: column 'x': 'text' is not form", with the text shortened and printable; of a
 * lenient builder counts the row as one that cannot be read. */
enum gsim_status gsim_cell_refuse(struct gsim_builder *builder, int64_t line, const char *column,
                                  const char *text, const char *form);

#endif
