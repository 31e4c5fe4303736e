/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only the two values beside a quantile's place are looked up: sorting all values for it would cost
 * more than simulating some jobs. */
#include "sim/core/stats.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

enum { FEW = 1000 };

double gsim_quantile_sorted(const double *sorted, size_t n, double p) {
    return n ? gsl_stats_quantile_from_sorted_data(sorted, 1, n, p) : (double)NAN;
}

static size_t nearest_place(size_t n, double p) {
    return (size_t)(p * (double)(n - 1));
}

void gsim_quantile_places(size_t n, const double *p, size_t n_p, size_t *at) {
    assert(2 * n_p <= GSIM_MAX_PICKS);
    for (size_t k = 0; n && k < n_p; k++) {
        at[2 * k] = nearest_place(n, p[k]);
        at[2 * k + 1] = at[2 * k] + (at[2 * k] < n - 1);
    }
}

void gsim_quantiles_between(const double *pairs, size_t n, const double *p, double *quantiles,
                            size_t n_p) {
    for (size_t k = 0; k < n_p; k++) {
        double into = n ? p[k] * (double)(n - 1) - (double)nearest_place(n, p[k]) : 0;
        quantiles[k] = gsim_quantile_sorted(&pairs[2 * k], n ? 2 : 0, into);
    }
}

bool gsim_quantiles(const double *values, size_t n, const double *p, double *quantiles,
                    size_t n_p) {
    size_t at[GSIM_MAX_PICKS];
    double pairs[GSIM_MAX_PICKS];
    gsim_quantile_places(n, p, n_p, at);
    if (n && !gsim_pick_f64(values, n, at, pairs, 2 * n_p))
        return false;
    gsim_quantiles_between(pairs, n, p, quantiles, n_p);
    return true;
}

void gsim_quantiles_s(int64_t *times_ns, size_t n, const double *p, double *quantiles, size_t n_p) {
    size_t at[GSIM_MAX_PICKS] = {0}, n_at = n ? 2 * n_p : 0;
    double pairs[GSIM_MAX_PICKS];
    gsim_quantile_places(n, p, n_p, at);
    gsim_pick_i64(times_ns, n, at, n_at);
    for (size_t k = 0; k < n_at; k++)
        pairs[k] = (double)times_ns[at[k]] / 1e9;
    gsim_quantiles_between(pairs, n, p, quantiles, n_p);
}

/* --- values that come one by one -------------------------------------------------------------- */

bool gsim_tail_open(struct gsim_tail *tail, struct gsim_arena *arena, size_t n_most,
                    double lowest_p) {
    size_t n_needed = n_most ? n_most - nearest_place(n_most, lowest_p) + 1 : 1;
    size_t capacity = 4 * n_needed + FEW; /* a cut is then rare, and leaves a quarter */
    if (capacity > n_most)
        capacity = n_most + 1; /* no cut is needed */
    *tail =
        (struct gsim_tail){.floor = -(double)INFINITY, .n_needed = n_needed, .capacity = capacity};
    tail->kept = gsim_arena_grow(arena, NULL, 0, capacity * sizeof *tail->kept);
    return tail->kept != NULL;
}

/* Moves the largest values to the front and drops the others. */
static void cut(struct gsim_tail *tail) {
    size_t at = tail->n_kept - tail->n_needed;
    gsim_pick_i64(tail->kept, tail->n_kept, &at, 1);
    tail->floor = gsim_key_to_f64(tail->kept[at]);
    memmove(tail->kept, tail->kept + at, tail->n_needed * sizeof *tail->kept);
    tail->n_kept = tail->n_needed;
}

void gsim_tail_keep(struct gsim_tail *tail, double value) {
    tail->kept[tail->n_kept++] = gsim_key_of_f64(value);
    if (tail->n_kept == tail->capacity)
        cut(tail);
}

void gsim_tail_quantiles(struct gsim_tail *tail, size_t n, const double *p, double *quantiles,
                         size_t n_p) {
    size_t at[GSIM_MAX_PICKS] = {0}, n_at = n ? 2 * n_p : 0;
    double pairs[GSIM_MAX_PICKS];
    gsim_quantile_places(n, p, n_p, at);
    for (size_t k = 0; k < n_at; k++) {
        assert(n - at[k] <= tail->n_needed);
        at[k] -= n - tail->n_kept;
    }
    gsim_pick_i64(tail->kept, tail->n_kept, at, n_at);
    for (size_t k = 0; k < n_at; k++)
        pairs[k] = gsim_key_to_f64(tail->kept[at[k]]);
    gsim_quantiles_between(pairs, n, p, quantiles, n_p);
}
