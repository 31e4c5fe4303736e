/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/assume.h"

#include <string.h>

#include "sim/base/text.h"
#include "traces/cells.h"
#include "sim/base/units.h"

/* Parses a value as in a cell, or with a unit where the column has one. */
static bool parse(struct gsim_builder *b, enum gsim_column column, const char *text, int64_t *out) {
    if (gsim_cell_parse(b, column, text, strlen(text), out))
        return true;
    enum gsim_cell_kind kind = gsim_columns[column].kind;
    if (kind == GSIM_CELL_GIB)
        return gsim_parse_bytes(text, out) == GSIM_PARSE_OK && *out >= 0;
    if (kind == GSIM_CELL_SECONDS || kind == GSIM_CELL_MS)
        return gsim_parse_time(text, GSIM_NS_PER_S, out) == GSIM_PARSE_OK && *out >= 0;
    return false;
}

static enum gsim_status unknown(struct gsim_builder *b, const char *name) {
    const char *names[GSIM_COL_COUNT];
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        names[c] = gsim_columns[c].name;
    int close = gsim_text_near_miss(name, names, GSIM_COL_COUNT);
    if (close < 0)
        close = gsim_text_suggest(name, names, GSIM_COL_COUNT);
    return gsim_fail(b->log, GSIM_USAGE, NULL, 0, "--assume: a trace has no column '%s'%s%s%s",
                     name,
                     close >= 0 ? "; did you mean '" : "; 'gsim list formats native' shows them",
                     close >= 0 ? names[close] : "", close >= 0 ? "'?" : "");
}

static enum gsim_status read_one(struct gsim_builder *b, const char *text,
                                 struct gsim_assumption *out) {
    const char *equals = strchr(text, '=');
    if (!equals)
        return gsim_fail(b->log, GSIM_USAGE, NULL, 0,
                         "--assume: '%s' is not of the form column=value", text);
    const char *name = gsim_arena_strndup(b->arena, text, (size_t)(equals - text));
    if (!name)
        return gsim_no_memory(b->log, "reading --assume");
    for (int c = 0; c < GSIM_COL_COUNT; c++) {
        if (c == GSIM_COL_SHARE_PPM || strcmp(gsim_columns[c].name, name) != 0)
            continue; /* gpus: an empty cell means one GPU already */
        *out = (struct gsim_assumption){.column = (enum gsim_column)c, .text = text};
        if (parse(b, out->column, equals + 1, &out->value))
            return GSIM_OK;
        return gsim_fail(b->log, GSIM_USAGE, NULL, 0, "--assume %s: '%s' is not %s", name,
                         equals + 1, gsim_cell_form(gsim_columns[c].kind));
    }
    return unknown(b, name);
}

enum gsim_status gsim_assume_read(struct gsim_builder *builder,
                                  const struct gsim_trace_options *options,
                                  struct gsim_assumption *out, int *n) {
    *n = 0;
    for (const char *const *text = options ? options->assume : NULL; text && *text; text++) {
        if (*n == GSIM_COL_COUNT)
            return gsim_fail(builder->log, GSIM_USAGE, NULL, 0, "--assume: too many");
        enum gsim_status status = read_one(builder, *text, &out[*n]);
        if (status != GSIM_OK)
            return status;
        builder->has_column[out[(*n)++].column] = true;
    }
    return GSIM_OK;
}

void gsim_assume_fill(struct gsim_builder *builder, struct gsim_assumption *assumed, int n) {
    for (int i = 0; i < n; i++) {
        if (!gsim_row_is_empty(&builder->row, assumed[i].column))
            continue;
        builder->row.cell[assumed[i].column] = assumed[i].value;
        assumed[i].is_used = true;
    }
}
