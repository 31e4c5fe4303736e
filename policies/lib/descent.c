/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/descent.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "policies/lib/line_search.h"
#include "policies/lib/real.h"

enum { N = GSIM_DESCENT_MOST, PAIRS = 10, MOST_DESCENTS = 15000, MOST_STEPS = 20 };
static const double flat = 1e-5, little_fall = 1e7 * DBL_EPSILON;

struct point {
    double x[N], slope[N], value;
};

/* The curvature as far as it is known: the last moves, and how the slopes changed by them. */
struct memory {
    double move[PAIRS][N], bend[PAIRS][N];
    uint32_t n_pairs;
    double scale;
    double curve[N][N];
};

static double along(const struct gsim_descent *d, const double *a, const double *b) {
    double sum = 0;
    for (uint32_t i = 0; i < d->n; i++)
        sum += a[i] * b[i];
    return sum;
}

static double within(const struct gsim_descent *d, uint32_t i, double x) {
    return x < d->low[i] ? d->low[i] : x > d->high[i] ? d->high[i] : x;
}

/* --- curvature ------------------------------------------------------------------------------- */

static void curve_times(const struct gsim_descent *d, const struct memory *m, const double *v,
                        double *out) {
    for (uint32_t i = 0; i < d->n; i++)
        out[i] = along(d, m->curve[i], v);
}

/* The matrix of the pairs, from the oldest to the newest, on a multiple of unity. */
static void make_curve(const struct gsim_descent *d, struct memory *m) {
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->n; k++)
            m->curve[i][k] = i == k ? m->scale : 0;
    for (uint32_t p = 0; p < m->n_pairs; p++) {
        const double *s = m->move[p], *y = m->bend[p];
        double curved[N];
        curve_times(d, m, s, curved);
        double whole = along(d, s, curved), turned = along(d, y, s);
        for (uint32_t i = 0; i < d->n; i++)
            for (uint32_t k = 0; k < d->n; k++)
                m->curve[i][k] += y[i] * y[k] / turned - curved[i] * curved[k] / whole;
    }
}

static void forget(const struct gsim_descent *d, struct memory *m) {
    m->n_pairs = 0;
    m->scale = 1;
    make_curve(d, m);
}

static void learn(const struct gsim_descent *d, struct memory *m, const struct point *from,
                  const struct point *to, double fall) {
    double move[N], bend[N];
    for (uint32_t i = 0; i < d->n; i++) {
        move[i] = to->x[i] - from->x[i];
        bend[i] = to->slope[i] - from->slope[i];
    }
    double turned = along(d, move, bend);
    if (!(turned > DBL_EPSILON * fall))
        return;
    if (m->n_pairs == PAIRS) {
        memmove(m->move, m->move + 1, (PAIRS - 1) * sizeof *m->move);
        memmove(m->bend, m->bend + 1, (PAIRS - 1) * sizeof *m->bend);
        m->n_pairs--;
    }
    memcpy(m->move[m->n_pairs], move, sizeof move);
    memcpy(m->bend[m->n_pairs++], bend, sizeof bend);
    m->scale = along(d, bend, bend) / turned;
    make_curve(d, m);
}

/* --- where the model of the curvature is least ----------------------------------------------- */

/* The first least point on the way down that is bent at the bounds; is_free: away from them. */
static void bent_way(const struct gsim_descent *d, const struct memory *m, const struct point *at,
                     double *to, bool *is_free) {
    double way[N] = {0}, until[N], gone = 0, moved[N] = {0}, curved[N];
    memcpy(to, at->x, N * sizeof *to);
    for (uint32_t i = 0; i < d->n; i++) {
        double slope = at->slope[i];
        bool is_stuck = d->low[i] >= d->high[i] || (at->x[i] <= d->low[i] && slope >= 0) ||
                        (at->x[i] >= d->high[i] && slope <= 0);
        double end = slope > 0 ? d->low[i] : d->high[i];
        is_free[i] = !is_stuck;
        way[i] = is_stuck ? 0 : -slope;
        until[i] =
            way[i] == 0 || end >= DBL_MAX || end <= -DBL_MAX ? DBL_MAX : (end - at->x[i]) / way[i];
    }
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < d->n; i++)
            first = until[i] < until[first] ? i : first;
        curve_times(d, m, way, curved);
        double fall = along(d, way, at->slope) + along(d, moved, curved);
        double turn = along(d, way, curved), more = turn > 0 ? -fall / turn : 0;
        bool is_last = until[first] >= DBL_MAX || more < until[first] - gone;
        double step = is_last ? (more > 0 ? more : 0) : until[first] - gone;
        for (uint32_t i = 0; i < d->n; i++)
            moved[i] += step * way[i];
        if (is_last)
            break;
        gone = until[first];
        to[first] = way[first] > 0 ? d->high[first] : d->low[first];
        moved[first] = to[first] - at->x[first];
        way[first] = 0;
        until[first] = DBL_MAX;
        is_free[first] = false;
    }
    for (uint32_t i = 0; i < d->n; i++)
        to[i] = is_free[i] ? within(d, i, at->x[i] + moved[i]) : to[i];
}

/* Solves the rows and columns that are free; the others stay 0. */
static void solve(const struct gsim_descent *d, const struct memory *m, const bool *is_free,
                  double *right) {
    double row[N][N];
    memcpy(row, m->curve, sizeof row);
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = 0; k < d->n; k++)
            if (!is_free[i] || !is_free[k])
                row[i][k] = i == k;
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t k = i + 1; k < d->n; k++) {
            double part = row[k][i] / row[i][i];
            for (uint32_t c = i; c < d->n; c++)
                row[k][c] -= part * row[i][c];
            right[k] -= part * right[i];
        }
    for (uint32_t i = d->n; i-- > 0;) {
        for (uint32_t c = i + 1; c < d->n; c++)
            right[i] -= row[i][c] * right[c];
        right[i] /= row[i][i];
    }
}

/* From there to the least point among the free numbers, put back within the bounds; where that does
 * not lead down, as far as the bounds allow. */
static void free_way(const struct gsim_descent *d, const struct memory *m, const struct point *at,
                     double *to, const bool *is_free) {
    double moved[N], way[N], put[N], down = 0, part = 1;
    for (uint32_t i = 0; i < d->n; i++)
        moved[i] = to[i] - at->x[i];
    curve_times(d, m, moved, way);
    for (uint32_t i = 0; i < d->n; i++)
        way[i] = is_free[i] ? -(at->slope[i] + way[i]) : 0;
    solve(d, m, is_free, way);
    bool is_put = false;
    for (uint32_t i = 0; i < d->n; i++) {
        put[i] = is_free[i] ? within(d, i, to[i] + way[i]) : to[i];
        is_put |= is_free[i] && put[i] != to[i] + way[i];
        down += (put[i] - at->x[i]) * at->slope[i];
    }
    for (uint32_t i = 0; i < d->n && is_put && down > 0; i++) {
        double end = way[i] < 0 ? d->low[i] - to[i] : d->high[i] - to[i];
        if (is_free[i] && way[i] != 0 && end / way[i] < part)
            part = end / way[i];
    }
    for (uint32_t i = 0; i < d->n; i++)
        to[i] = is_put && down > 0 ? within(d, i, to[i] + part * way[i]) : put[i];
}

/* --- steps ----------------------------------------------------------------------------------- */

static double furthest(const struct gsim_descent *d, const struct point *at, const double *way) {
    double most = 1e10;
    for (uint32_t i = 0; i < d->n; i++) {
        double end = way[i] < 0 ? d->low[i] : d->high[i];
        bool has_end = way[i] != 0 && end < DBL_MAX && end > -DBL_MAX;
        if (has_end && (end - at->x[i]) / way[i] < most)
            most = (end - at->x[i]) / way[i];
    }
    return most > 1 ? most : 1;
}

/* false: nothing was found in the steps that are allowed. */
static bool go(const struct gsim_descent *d, const struct point *at, const double *aim,
               bool is_first, struct point *to) {
    struct gsim_line_search line;
    double way[N];
    for (uint32_t i = 0; i < d->n; i++)
        way[i] = aim[i] - at->x[i];
    double slope = along(d, way, at->slope), length = gsim_real_root(along(d, way, way));
    double step = is_first && length > 1 ? 1 / length : 1;
    if (!(slope < 0))
        return false;
    gsim_line_begin(&line, at->value, slope, step, is_first ? 1 : furthest(d, at, way));
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        for (uint32_t i = 0; i < d->n; i++)
            to->x[i] = step == 1 ? aim[i] : within(d, i, at->x[i] + step * way[i]);
        to->value = d->value(d->arg, to->x, to->slope);
        struct gsim_line_point tried = {step, to->value, along(d, way, to->slope)};
        if (gsim_line_look(&line, tried, &step))
            return true;
    }
    return false;
}

static bool is_flat(const struct gsim_descent *d, const struct point *at) {
    for (uint32_t i = 0; i < d->n; i++) {
        double move = within(d, i, at->x[i] - at->slope[i]) - at->x[i];
        if (move > flat || move < -flat)
            return false;
    }
    return true;
}

void gsim_descend(const struct gsim_descent *d, double *x) {
    struct point at = {.value = 0}, to = {.value = 0};
    struct memory m = {.n_pairs = 0};
    for (uint32_t i = 0; i < d->n; i++)
        at.x[i] = within(d, i, x[i]);
    at.value = d->value(d->arg, at.x, at.slope);
    forget(d, &m);
    for (int n = 0, tries = 0; tries < MOST_DESCENTS && !is_flat(d, &at); tries++) {
        double aim[N];
        bool is_free[N];
        bent_way(d, &m, &at, aim, is_free);
        if (m.n_pairs > 0)
            free_way(d, &m, &at, aim, is_free);
        if (!go(d, &at, aim, n == 0, &to)) {
            if (m.n_pairs == 0)
                break;
            forget(d, &m);
            continue;
        }
        n++;
        double fell = at.value - to.value, most = at.value > to.value ? at.value : to.value,
               fall = 0;
        for (uint32_t i = 0; i < d->n; i++)
            fall -= at.slope[i] * (to.x[i] - at.x[i]);
        learn(d, &m, &at, &to, fall);
        at = to;
        if (fell <= little_fall * (most > 1 ? most : 1))
            break;
    }
    memcpy(x, at.x, d->n * sizeof *x);
}
