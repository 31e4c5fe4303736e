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

static enum gsim_column column_of(const char *name, size_t length) {
    for (int c = 0; c < GSIM_COL_COUNT; c++)
        if (strncmp(gsim_columns[c].name, name, length) == 0 && !gsim_columns[c].name[length])
            return (enum gsim_column)c;
    return GSIM_COL_COUNT;
}

/* "{vc}". Columns of names alone: values of others have units and limits of their own. */
static enum gsim_status read_source(struct gsim_builder *b, const char *value,
                                    struct gsim_assumption *out) {
    size_t length = strlen(value);
    const char *name = gsim_columns[out->column].name;
    if (*value != '{' || value[length - 1] != '}')
        return gsim_fail(b->log, GSIM_USAGE, NULL, 0, "--assume %s: '%s' is not %s", name, value,
                         gsim_cell_form(gsim_columns[out->column].kind));
    out->source = column_of(value + 1, length - 2);
    bool is_name = out->source != GSIM_COL_COUNT &&
                   gsim_columns[out->source].kind == GSIM_CELL_NAME &&
                   gsim_columns[out->column].kind == GSIM_CELL_NAME;
    if (!is_name || out->source == out->column)
        return gsim_fail(b->log, GSIM_USAGE, NULL, 0,
                         "--assume %s: '%s' is not another column of names, such as {vc}; nor has "
                         "a column of other values one",
                         name, value);
    return GSIM_OK;
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
        *out = (struct gsim_assumption){
            .column = (enum gsim_column)c, .text = text, .source = GSIM_COL_COUNT};
        if (equals[1] != '{' && parse(b, out->column, equals + 1, &out->value))
            return GSIM_OK;
        return read_source(b, equals + 1, out);
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

/* The job's own name in the other column, as a name of this one; -1: it has none, or there is no
 * memory. */
static int64_t name_there(struct gsim_builder *b, const struct gsim_assumption *assumed) {
    int64_t there = b->row.cell[assumed->source];
    if (there < 0)
        return -1;
    const char *name = b->names[assumed->source].name[there];
    return gsim_build_intern(b, assumed->column, name, strlen(name));
}

bool gsim_assume_fill(struct gsim_builder *builder, struct gsim_assumption *assumed, int n) {
    for (int i = 0; i < n; i++) {
        if (!gsim_row_is_empty(&builder->row, assumed[i].column))
            continue;
        bool is_value = assumed[i].source == GSIM_COL_COUNT;
        int64_t value = is_value ? assumed[i].value : name_there(builder, &assumed[i]);
        if (!is_value && value < 0 && builder->row.cell[assumed[i].source] >= 0)
            return false;
        builder->row.cell[assumed[i].column] = value;
        assumed[i].is_used |= is_value || value >= 0;
    }
    return true;
}

enum gsim_status gsim_assume_check(struct gsim_builder *builder,
                                   const struct gsim_assumption *assumed, int n) {
    for (int i = 0; i < n; i++)
        if (assumed[i].source != GSIM_COL_COUNT && !builder->is_used[assumed[i].source])
            return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, 0,
                             "--assume %s: no job has a %s", assumed[i].text,
                             gsim_columns[assumed[i].source].name);
    return GSIM_OK;
}
