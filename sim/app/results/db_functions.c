/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What SQL of figures can say beyond the functions of SQLite: quantities with units, quantiles and
 * intervals of samples, curves, numbers for human readers. */
#include "sim/app/results/db_figure.h"
#include "sim/app/results/db_private.h"
#include "sim/study/output.h"
#include "sim/study/stats.h"
#include "sim/base/sort.h"
#include "sim/base/units.h"
#include "sim/core/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* quantity('8') = 8, quantity('20GiB') = 20 * 2^30, quantity('30s') = 30, quantity('fifo') NULL */
static void quantity(sqlite3_context *context, int argc, sqlite3_value **argv) {
    (void)argc;
    int type = sqlite3_value_type(argv[0]);
    const char *text = (const char *)sqlite3_value_text(argv[0]);
    int64_t value;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
        sqlite3_result_double(context, sqlite3_value_double(argv[0]));
    else if (!text)
        sqlite3_result_null(context);
    else if (gsim_parse_decimal(text, strlen(text), GSIM_PPM, &value) == GSIM_PARSE_OK ||
             gsim_parse_ppm(text, &value) == GSIM_PARSE_OK)
        sqlite3_result_double(context, (double)value / (double)GSIM_PPM);
    else if (gsim_parse_bytes(text, &value) == GSIM_PARSE_OK ||
             gsim_parse_rate(text, &value) == GSIM_PARSE_OK)
        sqlite3_result_double(context, (double)value);
    else if (gsim_parse_time(text, GSIM_NS_PER_S, &value) == GSIM_PARSE_OK)
        sqlite3_result_double(context, (double)value / 1e9);
    else
        sqlite3_result_null(context);
}

/* Aggregates over rows of one or two numbers; rows with a NULL do not count.
 *   low_end(x), high_end(x)            the ends of the 95 % interval of the mean
 *   low_bar(x, c), high_bar(x, c)      likewise; where c is not 0 in a row, the least and most x
 *   ratio_low(x, y), ratio_high(x, y)  likewise of the ratio of two means over the same units
 *   p_of(x, y)                         the p value of "x and y have one mean"
 *   quantile_of(x, p)
 *   quartile_of(x, k)                  the least x that k quarters of the rows do not exceed
 *   curve_of(x, points, last)          sorted rows for a drawn curve, by curve_x and curve_rank
 * The numbers are those of gsim compare; fewer than two rows have no interval, which is NULL. */
struct sample {
    double *first, *second;
    sqlite3_uint64 n, capacity, n_without; /* rows that count, and those with a NULL */
    sqlite3_int64 points, last; /* of a curve */
    bool has_failed;
};

static bool make_room(struct sample *sample) {
    if (sample->n < sample->capacity)
        return true;
    sqlite3_uint64 capacity = sample->capacity ? 2 * sample->capacity : 64;
    double *first = sqlite3_realloc64(sample->first, capacity * sizeof *first);
    sample->first = first ? first : sample->first;
    double *second = first ? sqlite3_realloc64(sample->second, capacity * sizeof *second) : NULL;
    sample->second = second ? second : sample->second;
    sample->has_failed = !second;
    sample->capacity = second ? capacity : sample->capacity;
    return second != NULL;
}

static void take_row(sqlite3_context *context, int argc, sqlite3_value **argv) {
    struct sample *sample = sqlite3_aggregate_context(context, sizeof *sample);
    if (!sample || sample->has_failed)
        return;
    for (int i = 0; i < argc; i++)
        if (sqlite3_value_type(argv[i]) == SQLITE_NULL) {
            sample->n_without++;
            return;
        }
    if (!make_room(sample))
        return;
    sample->first[sample->n] = sqlite3_value_double(argv[0]);
    sample->second[sample->n++] = argc > 1 ? sqlite3_value_double(argv[1]) : 0;
}

typedef double statistic(const struct sample *sample);

/* Returns the statistic of the rows; NULL where it is no number. */
static void finish_rows(sqlite3_context *context) {
    struct sample *sample = sqlite3_aggregate_context(context, 0);
    statistic *const *of = sqlite3_user_data(context);
    if (!sample)
        return;
    double value = sample->has_failed || sample->n == 0 ? (double)NAN : (*of)(sample);
    if (sample->has_failed)
        sqlite3_result_error_nomem(context);
    else if (isfinite(value))
        sqlite3_result_double(context, value);
    sqlite3_free(sample->first);
    sqlite3_free(sample->second);
}

static double low_end(const struct sample *s) {
    return gsim_t_log_interval(s->first, (size_t)s->n).low;
}

static double high_end(const struct sample *s) {
    return gsim_t_log_interval(s->first, (size_t)s->n).high;
}

/* Whether some row is of a shaken or resampled copy: its spread is no chance of the mean. */
static bool has_copies(const struct sample *s) {
    for (sqlite3_uint64 i = 0; i < s->n; i++)
        if (s->second[i] != 0)
            return true;
    return false;
}

/* The least (sign 1) or the most (-1) of several rows. */
static double extreme(const struct sample *s, int sign) {
    double end = s->first[0];
    for (sqlite3_uint64 i = 1; i < s->n; i++)
        end = sign * s->first[i] < sign * end ? s->first[i] : end;
    return s->n > 1 ? end : (double)NAN;
}

static double low_bar(const struct sample *s) {
    return has_copies(s) ? extreme(s, 1) : low_end(s);
}

static double high_bar(const struct sample *s) {
    return has_copies(s) ? extreme(s, -1) : high_end(s);
}

static double ratio_low(const struct sample *s) {
    return gsim_t_ratio(s->first, s->second, (size_t)s->n, 1).low;
}

static double ratio_high(const struct sample *s) {
    return gsim_t_ratio(s->first, s->second, (size_t)s->n, 1).high;
}

/* Runs that never differ, say of work that no policy changes, give no p: there is nothing to
 * test. */
static double p_of(const struct sample *s) {
    bool is_equal = true;
    for (sqlite3_uint64 i = 0; i < s->n; i++)
        is_equal = is_equal && s->first[i] == s->second[i];
    return is_equal ? (double)NAN : gsim_t_ratio_p(s->first, s->second, (size_t)s->n);
}

static double quantile_of(const struct sample *s) {
    double value = (double)NAN;
    (void)gsim_quantiles(s->first, (size_t)s->n, s->second, &value, 1);
    return value;
}

static double quartile_of(const struct sample *s) {
    sqlite3_uint64 rank = (s->n * (sqlite3_uint64)s->second[0] + 3) / 4;
    return rank > 0 && rank <= s->n && gsim_sort_f64(s->first, (size_t)s->n) ? s->first[rank - 1]
                                                                             : (double)NAN;
}

/* A row of a curve: its x, and how many rows are not above it. */
struct point {
    double x, rank;
};

static void take_curve(sqlite3_context *context, int argc, sqlite3_value **argv) {
    struct sample *sample = sqlite3_aggregate_context(context, sizeof *sample);
    if (!sample)
        return;
    sample->points = sqlite3_value_int64(argv[1]);
    sample->last = sqlite3_value_int64(argv[2]);
    take_row(context, argc > 1, argv);
}

/* Of n rows the first is drawn, about as many as there are points, and the last ones. Rows without
 * an x lie behind all others, and are not drawn. */
static bool is_drawn(const struct sample *s, sqlite3_int64 rank) {
    sqlite3_int64 n = (sqlite3_int64)(s->n + s->n_without);
    return rank == 1 || rank > n - s->last || rank * s->points / n > (rank - 1) * s->points / n;
}

static void put_curve(sqlite3_context *context, const struct sample *s) {
    sqlite3_uint64 n = 0, most = (sqlite3_uint64)(s->points + s->last + 1);
    struct point *curve = sqlite3_malloc64(most * sizeof *curve);
    if (!curve || !gsim_sort_f64(s->first, (size_t)s->n)) {
        sqlite3_free(curve);
        sqlite3_result_error_nomem(context);
        return;
    }
    for (sqlite3_uint64 i = 0; i < s->n && n < most; i++)
        if (is_drawn(s, (sqlite3_int64)i + 1))
            curve[n++] = (struct point){s->first[i], (double)(i + 1)};
    sqlite3_result_blob64(context, curve, n * sizeof *curve, sqlite3_free);
}

static void finish_curve(sqlite3_context *context) {
    struct sample *sample = sqlite3_aggregate_context(context, 0);
    if (!sample)
        return;
    if (sample->has_failed)
        sqlite3_result_error_nomem(context);
    else if (sample->points > 0 && sample->last > 0)
        put_curve(context, sample);
    sqlite3_free(sample->first);
    sqlite3_free(sample->second);
}

/* curve_x(curve, i), curve_rank(curve, i): of its point i, from 0; NULL behind the last one. */
static void point_of(sqlite3_context *context, int argc, sqlite3_value **argv) {
    struct point point;
    const char *points = sqlite3_value_blob(argv[0]);
    sqlite3_int64 i = argc > 1 ? sqlite3_value_int64(argv[1]) : -1;
    if (!points || i < 0 || i >= sqlite3_value_bytes(argv[0]) / (sqlite3_int64)sizeof point)
        return;
    memcpy(&point, points + (size_t)i * sizeof point, sizeof point);
    sqlite3_result_double(context, sqlite3_user_data(context) ? point.rank : point.x);
}

static bool add_curves(struct gsim_db *db) {
    static const char is_rank;
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    return sqlite3_create_function(db->handle, "curve_of", 3, flags, NULL, NULL, take_curve,
                                   finish_curve) == SQLITE_OK &&
           sqlite3_create_function(db->handle, "curve_x", 2, flags, NULL, point_of, NULL, NULL) ==
               SQLITE_OK &&
           sqlite3_create_function(db->handle, "curve_rank", 2, flags, (void *)(uintptr_t)&is_rank,
                                   point_of, NULL, NULL) == SQLITE_OK;
}

/* humane(5400) = '1.5 h' */
static void humane(sqlite3_context *context, int argc, sqlite3_value **argv) {
    char text[40];
    (void)argc;
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    int n = gsim_format_humane(text, sqlite3_value_double(argv[0]));
    sqlite3_result_text(context, text, n, SQLITE_TRANSIENT);
}

/* fixed(85.25, 1) = '85.2', as other commands write it: SQLite's printf rounds halves up (85.3). */
static void fixed(sqlite3_context *context, int argc, sqlite3_value **argv) {
    enum { MOST_DIGITS = 9 };
    char text[350]; /* the largest double has 309 digits before the point */
    (void)argc;
    int digits = sqlite3_value_int(argv[1]);
    if (sqlite3_value_type(argv[0]) == SQLITE_NULL || digits < 0 || digits > MOST_DIGITS)
        return;
    int n = snprintf(text, sizeof text, "%.*f", digits, sqlite3_value_double(argv[0]));
    sqlite3_result_text(context, text, n, SQLITE_TRANSIENT);
}

double gsim_db_most(const char *field) {
    static const char *const parts[] = {"gpu_busy",    "gpu_down", "fragmented",
                                        "idle_wanted", "skipped",  "jain"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i], field) == 0)
            return 1;
    return HUGE_VAL;
}

/* most_of('jain') = 1, most_of('jct_mean_s') = Inf */
static void most_of(sqlite3_context *context, int argc, sqlite3_value **argv) {
    const char *field = (const char *)sqlite3_value_text(argv[0]);
    (void)argc;
    sqlite3_result_double(context, field ? gsim_db_most(field) : HUGE_VAL);
}

/* gives_whole_gpus('fifo') = 1: no job is beside another one on its GPU under this policy, so that
 * GPUs do no more than they are held. Others are 0, and so are policies from outside. */
static void gives_whole_gpus(sqlite3_context *context, int argc, sqlite3_value **argv) {
    const char *name = (const char *)sqlite3_value_text(argv[0]);
    struct gsim_log unheard = {0};
    const struct gsim_policy *policy = name ? gsim_policies_find(name, &unheard) : NULL;
    (void)argc;
    sqlite3_result_int(context, policy && !policy->shares_gpus && !policy->names_gpus);
}

bool gsim_db_add_functions(struct gsim_db *db) {
    static const struct {
        const char *name;
        int n_arguments;
        statistic *of;
    } aggregates[] = {{"low_end", 1, low_end},
                      {"high_end", 1, high_end},
                      {"low_bar", 2, low_bar},
                      {"high_bar", 2, high_bar},
                      {"ratio_low", 2, ratio_low},
                      {"ratio_high", 2, ratio_high},
                      {"quantile_of", 2, quantile_of},
                      {"quartile_of", 2, quartile_of},
                      {"p_of", 2, p_of}};
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    bool is_fine =
        add_curves(db) && gsim_db_add_groups(db) &&
        sqlite3_create_function(db->handle, "quantity", 1, flags, NULL, quantity, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function(db->handle, "humane", 1, flags, NULL, humane, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function(db->handle, "fixed", 2, flags, NULL, fixed, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function(db->handle, "most_of", 1, flags, NULL, most_of, NULL, NULL) ==
            SQLITE_OK &&
        sqlite3_create_function(db->handle, "gives_whole_gpus", 1, flags, NULL, gives_whole_gpus,
                                NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
        is_fine = is_fine &&
                  sqlite3_create_function(db->handle, aggregates[i].name, aggregates[i].n_arguments,
                                          flags, (void *)(uintptr_t)&aggregates[i].of, NULL,
                                          take_row, finish_rows) == SQLITE_OK;
    return is_fine;
}
