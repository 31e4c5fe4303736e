/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of an empirical distribution. Without a column's name the file has a value per line, and
 * its first line may be a heading. */
#include "traces/values.h"

#include <math.h>
#include <string.h>

#include "sim/base/decimal.h"
#include "traces/csv.h"

struct values {
    const char *column;
    const char *path;
    struct gsim_arena *arena;
    struct gsim_log *log;
    uint32_t at; /* the column's position */
    double *value;
    uint32_t n, capacity;
    bool is_bad;
    char bad[48];
};

static bool parse(const char *text, double *out) {
    char *end;
    *out = gsim_decimal_read(text, &end);
    return end != text && !*end && isfinite(*out) && *out >= 0;
}

static bool add(struct values *v, double value) {
    if (v->n == v->capacity) {
        uint32_t capacity = v->capacity ? v->capacity * 2 : 1024;
        double *grown = capacity > v->capacity
                            ? gsim_arena_grow_raw(v->arena, v->value, capacity * sizeof *grown)
                            : NULL;
        if (!grown)
            return false;
        v->value = grown;
        v->capacity = capacity;
    }
    v->value[v->n++] = value;
    return true;
}

static enum gsim_status on_header(void *arg, const char *const *names, uint32_t n, int64_t line) {
    struct values *v = arg;
    double first;
    if (!v->column && n == 1)
        return !parse(names[0], &first) || add(v, first) ? GSIM_OK
                                                         : gsim_no_memory(v->log, "reading values");
    for (uint32_t i = 0; v->column && i < n; i++)
        if (strcmp(names[i], v->column) == 0) {
            v->at = i;
            return GSIM_OK;
        }
    if (!v->column)
        return gsim_fail(v->log, GSIM_BAD_INPUT, v->path, line,
                         "%u columns; name the column of the values with column =", n);
    return gsim_fail(v->log, GSIM_BAD_INPUT, v->path, line, "no column '%s'", v->column);
}

static void on_field(void *arg, uint32_t column, const char *text, size_t length) {
    struct values *v = arg;
    double value;
    if (column != v->at || (parse(text, &value) && add(v, value)))
        return;
    v->is_bad = true;
    size_t n = length < sizeof v->bad - 1 ? length : sizeof v->bad - 1;
    memcpy(v->bad, text, n);
    v->bad[n] = '\0';
}

static enum gsim_status on_row(void *arg, int64_t line) {
    struct values *v = arg;
    if (v->is_bad)
        return gsim_fail(v->log, GSIM_BAD_INPUT, v->path, line,
                         "'%s' is not a value (a decimal number, 0 or more)", v->bad);
    return GSIM_OK;
}

enum gsim_status gsim_values_read(const char *path, const char *column, struct gsim_arena *arena,
                                  const double **out, uint32_t *n, struct gsim_log *log) {
    struct values values = {.column = column, .path = path, .arena = arena, .log = log};
    struct gsim_csv_user user = {&values, on_header, on_field, on_row, NULL};
    enum gsim_status status = gsim_csv_read_file(path, &user, arena, log);
    if (status == GSIM_OK && values.n == 0)
        status = gsim_fail(log, GSIM_BAD_INPUT, path, 0, "no values");
    *out = values.value;
    *n = values.n;
    return status;
}
