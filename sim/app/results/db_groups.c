/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aggregates that group rows by a small number themselves, in the order in which rows come: GROUP
 * BY sorts all of them, which of a million jobs takes longer than all else.
 *   sums_by(k, a, b, ...)     of whole numbers: by k the sum of each column, and how many there are
 *   quantile_by(k, x, p)      by k the quantile of x
 *   quartiles_by(k, x)        by k the least x that one, two and three quarters do not exceed
 *   cell_of(groups, k, i)     what one of these has for k, from 0 on: the i-th sum, behind all sums
 *                             the i-th count, or the quantile; NULL: no row with that k
 * Rows without k do not count, nor cells that are NULL; a k that is no small number is an error.
 * Sums are exact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gsim/units.h"
#include "sim/app/results/db_private.h"
#include "sim/base/sort.h"
#include "sim/core/stats.h"

enum { MOST_COLUMNS = 6, MOST_KEYS = 1 << 24 };

struct group {
    gsim_i128 sum[MOST_COLUMNS];
    int64_t n[MOST_COLUMNS];
    double *x; /* of quantiles */
    sqlite3_uint64 n_x, capacity;
};

struct groups {
    struct group *of;
    sqlite3_int64 n, capacity;
    int n_columns;
    double p;
    bool has_failed;
};

static bool reach(struct groups *groups, sqlite3_int64 key) {
    if (key >= groups->capacity) {
        sqlite3_int64 capacity = 2 * key + 16;
        /* SQLite's own memory is aligned for 64 bits alone */
        struct group *of = realloc(groups->of, (size_t)capacity * sizeof *groups->of);
        if (!of)
            return false;
        memset(of + groups->capacity, 0,
               (size_t)(capacity - groups->capacity) * sizeof *groups->of);
        groups->of = of;
        groups->capacity = capacity;
    }
    groups->n = key >= groups->n ? key + 1 : groups->n;
    return true;
}

/* The group of a row; NULL: the row has none, or the statement ends with an error. */
static struct group *group_of(sqlite3_context *context, struct groups *groups, sqlite3_value *at) {
    sqlite3_int64 key = sqlite3_value_int64(at);
    if (!groups || groups->has_failed || sqlite3_value_type(at) == SQLITE_NULL)
        return NULL;
    bool is_small = key >= 0 && key < MOST_KEYS;
    groups->has_failed = !is_small || !reach(groups, key);
    if (!is_small)
        sqlite3_result_error(context, "the number of a group is below 0, or too large", -1);
    else if (groups->has_failed)
        sqlite3_result_error_nomem(context);
    return groups->has_failed ? NULL : &groups->of[key];
}

static void take_sums(sqlite3_context *context, int argc, sqlite3_value **argv) {
    struct groups *groups = sqlite3_aggregate_context(context, sizeof *groups);
    if (argc < 2 || argc - 1 > MOST_COLUMNS) {
        sqlite3_result_error(context, "sums_by takes a group and up to six columns", -1);
        return;
    }
    struct group *group = group_of(context, groups, argv[0]);
    for (int i = 0; group && i + 1 < argc; i++) {
        groups->n_columns = argc - 1;
        if (sqlite3_value_type(argv[i + 1]) == SQLITE_NULL)
            continue;
        group->sum[i] += sqlite3_value_int64(argv[i + 1]);
        group->n[i]++;
    }
}

static void take_value(sqlite3_context *context, int argc, sqlite3_value **argv) {
    struct groups *groups = sqlite3_aggregate_context(context, sizeof *groups);
    if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    struct group *group = group_of(context, groups, argv[0]);
    if (!group)
        return;
    groups->p = argc > 2 ? sqlite3_value_double(argv[2]) : 0;
    if (group->n_x == group->capacity) {
        group->capacity = 2 * group->capacity + 16;
        double *x = sqlite3_realloc64(group->x, group->capacity * sizeof *x);
        groups->has_failed = !x;
        if (!x)
            return;
        group->x = x;
    }
    group->x[group->n_x++] = sqlite3_value_double(argv[1]);
}

/* --- results: by key a row of cells, behind their number -------------------------------------- */

typedef int fill_cells(const struct groups *groups, const struct group *group, double *cells);

static int fill_sums(const struct groups *groups, const struct group *group, double *cells) {
    for (int i = 0; cells && i < groups->n_columns; i++) {
        cells[i] = group->n[i] > 0 ? (double)group->sum[i] : (double)NAN;
        cells[groups->n_columns + i] = (double)group->n[i];
    }
    return 2 * groups->n_columns;
}

static int fill_quantile(const struct groups *groups, const struct group *group, double *cells) {
    if (cells)
        cells[0] = (double)NAN;
    if (cells && group->n_x > 0)
        (void)gsim_quantiles(group->x, (size_t)group->n_x, &groups->p, cells, 1);
    return 1;
}

static int fill_quartiles(const struct groups *groups, const struct group *group, double *cells) {
    (void)groups;
    bool is_sorted = cells && group->n_x > 0 && gsim_sort_f64(group->x, (size_t)group->n_x);
    for (sqlite3_uint64 k = 1; cells && k <= 3; k++)
        cells[k - 1] = is_sorted ? group->x[(group->n_x * k + 3) / 4 - 1] : (double)NAN;
    return 3;
}

static void finish_groups(sqlite3_context *context) {
    struct groups *groups = sqlite3_aggregate_context(context, 0);
    fill_cells *const *fill = sqlite3_user_data(context);
    if (!groups)
        return;
    int width = (*fill)(groups, NULL, NULL);
    sqlite3_uint64 n = 1 + (sqlite3_uint64)groups->n * (sqlite3_uint64)width;
    double *cells = groups->has_failed ? NULL : sqlite3_malloc64(n * sizeof *cells);
    if (cells)
        cells[0] = width;
    for (sqlite3_int64 key = 0; cells && key < groups->n; key++)
        (void)(*fill)(groups, &groups->of[key], cells + 1 + key * width);
    for (sqlite3_int64 key = 0; key < groups->n; key++)
        sqlite3_free(groups->of[key].x);
    free(groups->of);
    if (cells)
        sqlite3_result_blob64(context, cells, n * sizeof *cells, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

static void cell_of(sqlite3_context *context, int argc, sqlite3_value **argv) {
    const char *cells = sqlite3_value_blob(argv[0]);
    sqlite3_int64 key = sqlite3_value_int64(argv[1]), i = sqlite3_value_int64(argv[2]);
    sqlite3_int64 n = cells ? sqlite3_value_bytes(argv[0]) / (sqlite3_int64)sizeof(double) : 0;
    double width = 0, value;
    (void)argc;
    if (n == 0 || key < 0 || key >= MOST_KEYS || sqlite3_value_type(argv[1]) == SQLITE_NULL)
        return;
    memcpy(&width, cells, sizeof width);
    sqlite3_int64 at = 1 + key * (sqlite3_int64)width + i;
    if (i < 0 || i >= (sqlite3_int64)width || at >= n)
        return;
    memcpy(&value, cells + (size_t)at * sizeof value, sizeof value);
    sqlite3_result_double(context, value); /* NaN is NULL */
}

bool gsim_db_add_groups(struct gsim_db *db) {
    static fill_cells *const sums = fill_sums, *const quantile = fill_quantile,
                             *const quartiles = fill_quartiles;
    static const struct {
        const char *name;
        int n_arguments;
        void (*take)(sqlite3_context *, int, sqlite3_value **);
        fill_cells *const *fill;
    } aggregates[] = {{"sums_by", -1, take_sums, &sums},
                      {"quantile_by", 3, take_value, &quantile},
                      {"quartiles_by", 2, take_value, &quartiles}};
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    bool is_fine = sqlite3_create_function(db->handle, "cell_of", 3, flags, NULL, cell_of, NULL,
                                           NULL) == SQLITE_OK;
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
        is_fine = is_fine &&
                  sqlite3_create_function(db->handle, aggregates[i].name, aggregates[i].n_arguments,
                                          flags, (void *)(uintptr_t)aggregates[i].fill, NULL,
                                          aggregates[i].take, finish_groups) == SQLITE_OK;
    return is_fine;
}
