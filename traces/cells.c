/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/cells.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/text.h"
#include "gsim/units.h"
#include "sim/base/units.h"

const struct gsim_column_def gsim_columns[GSIM_COL_COUNT] = {
#define GSIM_COLUMN(symbol, name, kind, help)                                                      \
    [GSIM_COL_##symbol] = {name, GSIM_CELL_##kind, help, false},
#define GSIM_COLUMN_TO_COME(symbol, name, kind, help)                                              \
    [GSIM_COL_##symbol] = {name, GSIM_CELL_##kind, help, true},
#include "gsim/columns.def"
#undef GSIM_COLUMN
};

static const char class_names[] = "batch|production|opportunistic|realtime"; /* enum gsim_class */
static const char sync_names[] = "iteration|kernel|none"; /* enum gsim_sync */

bool gsim_cell_is_text(enum gsim_column column) {
    enum gsim_cell_kind kind = gsim_columns[column].kind;
    return kind == GSIM_CELL_NAME || kind == GSIM_CELL_CLASS || kind == GSIM_CELL_SYNC ||
           kind == GSIM_CELL_JOB;
}

const char *gsim_cell_form(enum gsim_cell_kind kind) {
    static const char *const forms[] = {
        [GSIM_CELL_COUNT] = "a whole number, 0 or more",
        [GSIM_CELL_MS] = "a time in milliseconds (a decimal number, 0 or more)",
        [GSIM_CELL_SECONDS] = "a time in seconds (a decimal number, 0 or more)",
        [GSIM_CELL_GIB] = "a size in GiB (a decimal number, 0 or more)",
        [GSIM_CELL_SHARE] = "a number of GPUs (1, 2, … or a fraction below 1)",
        [GSIM_CELL_MILLI] = "a decimal number, 0 or more",
        [GSIM_CELL_RATIO] = "a ratio (above 0, at most 1)",
        [GSIM_CELL_GBPS] = "a bandwidth in GB/s (a decimal number, 0 or more)",
        [GSIM_CELL_SIGNED] = "a whole number",
        [GSIM_CELL_SYNC] = "one of kernel, iteration, none",
        [GSIM_CELL_CLASS] = "one of production, opportunistic, realtime, batch",
        [GSIM_CELL_BOOL] = "one of 1, 0, yes, no, true, false",
        [GSIM_CELL_NAME] = "a name",
        [GSIM_CELL_JOB] = "the job_id of another job",
    };
    return forms[kind];
}

enum gsim_parse gsim_cell_seconds(const char *text, size_t length, int64_t *out) {
    static const int64_t rest[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                   10000,      1000,      100,      10,      1};
    const char *end = text + length;
    int64_t value = 0;
    if (length == 0 || length > 18)
        return gsim_parse_decimal(text, length, GSIM_NS_PER_S, out);
    const char *point = gsim_read_digits(text, &value), *at = point;
    if (*point == '.')
        at = gsim_read_digits(point + 1, &value);
    size_t whole = (size_t)(point - text), digits = at > point ? (size_t)(at - point) - 1 : 0;
    if (at != end || whole == 0 || end[-1] == '.' || digits > 9 || whole > 9)
        return gsim_parse_decimal(text, length, GSIM_NS_PER_S, out);
    *out = value * rest[digits];
    return GSIM_PARSE_OK;
}

static bool parse_scaled(const char *text, size_t length, int64_t scale, int64_t least,
                         int64_t most, int64_t *out) {
    return gsim_parse_decimal(text, length, scale, out) == GSIM_PARSE_OK && *out >= least &&
           *out <= most;
}

static bool parse_word(const char *text, const char *choices, int64_t *out) {
    *out = gsim_text_choice(text, choices);
    return *out >= 0;
}

static bool is_whole(const char *text, size_t length) {
    return length > 0 && strspn(text, "+-0123456789") == length;
}

bool gsim_cell_parse(struct gsim_builder *builder, enum gsim_column column, const char *text,
                     size_t length, int64_t *out) {
    const int64_t any = INT64_MAX;
    switch (gsim_columns[column].kind) {
    case GSIM_CELL_COUNT:
        return is_whole(text, length) && parse_scaled(text, length, 1, 0, any, out);
    case GSIM_CELL_MS:
        return parse_scaled(text, length, GSIM_NS_PER_MS, 0, any, out);
    case GSIM_CELL_SECONDS:
        return gsim_cell_seconds(text, length, out) == GSIM_PARSE_OK && *out >= 0;
    case GSIM_CELL_GIB:
        return parse_scaled(text, length, GSIM_GIB, 0, any, out);
    case GSIM_CELL_SHARE:
        return parse_scaled(text, length, GSIM_PPM, 1, GSIM_PPM, out);
    case GSIM_CELL_MILLI:
        return parse_scaled(text, length, 1000, 0, any, out);
    case GSIM_CELL_RATIO:
        return parse_scaled(text, length, GSIM_PPM, 1, GSIM_PPM, out);
    case GSIM_CELL_GBPS:
        return parse_scaled(text, length, 1000000000, 0, any, out);
    case GSIM_CELL_SIGNED:
        return is_whole(text, length) && parse_scaled(text, length, 1, -any, any, out);
    case GSIM_CELL_SYNC:
        return parse_word(text, sync_names, out);
    case GSIM_CELL_CLASS:
        return parse_word(text, class_names, out);
    case GSIM_CELL_BOOL:
        *out = gsim_text_choice(text, "0|1|no|yes|false|true");
        *out = *out < 0 ? -1 : *out & 1;
        return *out >= 0;
    case GSIM_CELL_NAME:
    case GSIM_CELL_JOB: /* a name until gsim_after_link */
        *out = gsim_build_intern(builder, column, text, length);
        return *out >= 0;
    }
    return false;
}

/* --- writing ---------------------------------------------------------------------------------- */

int gsim_cell_decimal(char *buffer, int64_t value, int64_t scale) {
    int n = snprintf(buffer, 32, "%s%lld", value < 0 && value / scale == 0 ? "-" : "",
                     (long long)(value / scale));
    int64_t rest = value % scale;
    if (rest < 0)
        rest = -rest;
    if (rest)
        buffer[n++] = '.';
    for (; rest; rest = (int64_t)((gsim_i128)rest * 10 % scale))
        buffer[n++] = (char)('0' + (int)((gsim_i128)rest * 10 / scale));
    buffer[n] = '\0';
    return n;
}

static void copy_choice(char *buffer, size_t size, const char *choices, int64_t position) {
    for (; position > 0; position--)
        choices = strchr(choices, '|') + 1;
    (void)snprintf(buffer, size, "%.*s", (int)strcspn(choices, "|"), choices);
}

void gsim_cell_format(const struct gsim_trace *trace, enum gsim_column column, int64_t value,
                      char *buffer, size_t size) {
    static const int64_t scales[] = {[GSIM_CELL_COUNT] = 1,
                                     [GSIM_CELL_MS] = GSIM_NS_PER_MS,
                                     [GSIM_CELL_SECONDS] = GSIM_NS_PER_S,
                                     [GSIM_CELL_GIB] = GSIM_GIB,
                                     [GSIM_CELL_SHARE] = GSIM_PPM,
                                     [GSIM_CELL_MILLI] = 1000,
                                     [GSIM_CELL_RATIO] = GSIM_PPM,
                                     [GSIM_CELL_GBPS] = 1000000000,
                                     [GSIM_CELL_SIGNED] = 1,
                                     [GSIM_CELL_BOOL] = 1};
    enum gsim_cell_kind kind = gsim_columns[column].kind;
    *buffer = '\0';
    if (value == -1 && kind != GSIM_CELL_SIGNED)
        return;
    if (kind == GSIM_CELL_NAME)
        (void)snprintf(buffer, size, "%s", trace->names[column].name[value]);
    else if (kind == GSIM_CELL_JOB)
        (void)snprintf(buffer, size, "%s", gsim_trace_id(trace, (uint32_t)value));
    else if (kind == GSIM_CELL_CLASS)
        copy_choice(buffer, size, class_names, value);
    else if (kind == GSIM_CELL_SYNC)
        copy_choice(buffer, size, sync_names, value);
    else
        gsim_cell_decimal(buffer, value, scales[kind]);
}

/* Counts the row as one that cannot be read. */
static void leave_out(struct gsim_builder *builder, int64_t line, const char *column,
                      const char *shown, const char *form) {
    char why[320];
    (void)snprintf(why, sizeof why, "the column '%.64s' has no %s%.160s", column,
                   strncmp(form, "a ", 2) == 0 ? "" : "value that is ",
                   strncmp(form, "a ", 2) == 0 ? form + 2 : form);
    builder->row.id[builder->row.id_length] = '\0';
    gsim_fates_add(&builder->fates, GSIM_FATE_BAD, line, builder->row.id, why, shown);
}

/* The form of a cell, or for a number that the clock does not reach what it is likely to be. */
static const char *form_for(const char *text, const char *form) {
    enum { TOO_MANY_DIGITS = 11 };
    bool is_long = strspn(text, "0123456789") >= TOO_MANY_DIGITS;
    if (!is_long || strcmp(form, gsim_cell_form(GSIM_CELL_SECONDS)) != 0)
        return form;
    return "a time in seconds (the clock ends before 1e10 s; are these milliseconds?)";
}

enum gsim_status gsim_cell_refuse(struct gsim_builder *builder, int64_t line, const char *column,
                                  const char *text, const char *form) {
    char shown[48];
    size_t n = 0;
    if (gsim_arena_has_failed(builder->arena)) /* for a name */
        return gsim_no_memory(builder->log, "reading a trace");
    for (; text[n] && n < sizeof shown - 4; n++) {
        bool is_control = (unsigned char)text[n] < 32 || text[n] == 127;
        shown[n] = is_control ? '?' : text[n];
    }
    shown[n] = '\0';
    form = form_for(text, form);
    if (builder->is_lenient) {
        leave_out(builder, line, column, shown, form);
        return GSIM_OK;
    }
    return gsim_fail(builder->log, GSIM_BAD_INPUT, builder->path, line,
                     "column '%s': '%s%s' is not %s", column, shown, text[n] ? "..." : "", form);
}
