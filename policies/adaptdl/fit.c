/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nearest model is what a descent within bounds ends at, from where Pollux' program begins.
 * Where steps are matched nearly the distance has kinks, at which the descent may stop short: which
 * model a job has then depends on the course of the descent, which therefore is that of the
 * program. */
#include "policies/adaptdl/fit.h"

#include <float.h>
#include <string.h>

#include "policies/lib/descent.h"
#include "policies/lib/real.h"

enum { N = POLLUX_NUMBERS };
static const double tiny = 1e-8;

struct point {
    const double *x;
    double *slope, value;
};

struct steps {
    const struct pollux_step *step;
    const struct pollux_logs *logs;
    uint32_t n;
};

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double past_two(uint32_t gpus) {
    return larger((double)gpus - 2, tiny);
}

double pollux_tells_s(const struct pollux_model *model, bool is_spread, uint32_t gpus) {
    const double *x = model->number;
    if (gpus == 1)
        return tiny + tiny * tiny;
    uint32_t base = is_spread ? POLLUX_NODES_BASE : POLLUX_NODE_BASE;
    return x[base] + x[base + 1] * past_two(gpus);
}

/* --- the distance of a model from the steps -------------------------------------------------- */

/* The logarithm of the time of a step, and its slopes. */
static double log_step(const struct pollux_step *step, const double *x, double log_sums,
                       double *slope) {
    bool is_spread = step->nodes > 1;
    struct pollux_model model;
    memcpy(model.number, x, sizeof model.number);
    double tells = pollux_tells_s(&model, is_spread, step->gpus), overlap = x[POLLUX_OVERLAP];
    double log_tells = gsim_real_log(tells);
    double first = larger(log_sums, log_tells);
    double sums = gsim_real_exp(overlap * (log_sums - first));
    double told = gsim_real_exp(overlap * (log_tells - first));
    double value = first + gsim_real_log(sums + told) / overlap;
    double part = sums / (sums + told), sums_s = x[0] + x[1] * step->local;
    memset(slope, 0, N * sizeof *slope);
    slope[POLLUX_SUMS_BASE] = part / sums_s;
    slope[POLLUX_SUMS_EACH] = part / sums_s * step->local;
    slope[POLLUX_OVERLAP] = (part * log_sums + (1 - part) * log_tells - value) / overlap;
    uint32_t base = is_spread ? POLLUX_NODES_BASE : POLLUX_NODE_BASE;
    if (step->gpus > 1) {
        slope[base] = (1 - part) / tells;
        slope[base + 1] = (1 - part) / tells * past_two(step->gpus);
    }
    return value;
}

/* The pull: it keeps overlap near 1, and the cost of each further GPU small beside its base. */
static void pull(struct point *at) {
    double over = at->x[POLLUX_OVERLAP] - 1;
    at->value += 1e-3 * over * over;
    at->slope[POLLUX_OVERLAP] += 2e-3 * over;
    for (uint32_t base = POLLUX_NODES_BASE; base <= POLLUX_NODE_BASE; base += 2) {
        double ratio = at->x[base + 1] / at->x[base];
        at->value += 1e-2 * ratio * ratio;
        at->slope[base + 1] += 2e-2 * ratio / at->x[base];
        at->slope[base] -= 2e-2 * ratio * ratio / at->x[base];
    }
}

static double measure(const void *arg, const double *x, double *slope_out) {
    const struct steps *d = arg;
    struct point point = {x, slope_out, 0}, *at = &point;
    double squares[2] = {0, 0}, slopes[2][N] = {{0}};
    for (uint32_t i = 0; i < d->n; i++) {
        double sums_s = at->x[0] + at->x[1] * d->step[i].local, slope[N];
        double log_sums = gsim_real_log(sums_s), off = log_sums - d->logs[i].sums;
        squares[0] += off * off;
        slopes[0][POLLUX_SUMS_BASE] += off / sums_s;
        slopes[0][POLLUX_SUMS_EACH] += off / sums_s * d->step[i].local;
        off = log_step(&d->step[i], at->x, log_sums, slope) - d->logs[i].step;
        squares[1] += off * off;
        for (uint32_t k = 0; k < N; k++)
            slopes[1][k] += off * slope[k];
    }
    memset(at->slope, 0, N * sizeof *at->slope);
    for (uint32_t e = 0; e < 2; e++) {
        double root = gsim_real_root(squares[e] / d->n);
        at->value += root;
        for (uint32_t k = 0; k < N && root > 0; k++)
            at->slope[k] += slopes[e][k] / d->n / root;
    }
    pull(at);
    return at->value;
}

/* --- what the steps do not say --------------------------------------------------------------- */

static void fix(struct gsim_descent *d, double *x, uint32_t k, double value) {
    x[k] = d->low[k] = d->high[k] = value;
}

struct pollux_model pollux_fit(const struct pollux_step *steps, uint32_t n,
                               struct pollux_logs *room) {
    struct steps all = {steps, room, n};
    struct gsim_descent d = {.n = N, .value = measure, .arg = &all};
    struct pollux_model model = {{0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001}};
    double *x = model.number;
    bool has_nodes = false, has_node = false, has_three = false, has_locals = false;
    double sums = 0;
    for (uint32_t i = 0; i < n; i++) {
        room[i] =
            (struct pollux_logs){gsim_real_log(steps[i].sums_s), gsim_real_log(steps[i].step_s)};
        has_nodes |= steps[i].nodes > 1;
        has_node |= steps[i].nodes == 1 && steps[i].gpus > 1;
        has_three |= steps[i].gpus > 2;
        has_locals |= steps[i].local != steps[0].local;
        sums += steps[i].sums_s;
    }
    for (uint32_t k = 0; k < N; k++) {
        d.low[k] = k == POLLUX_OVERLAP ? 1 : tiny;
        d.high[k] = k == POLLUX_OVERLAP ? 10 : DBL_MAX;
    }
    if (!has_locals)
        fix(&d, x, POLLUX_SUMS_BASE, sums / n / 2);
    for (uint32_t k = POLLUX_NODES_BASE; k <= POLLUX_NODE_EACH; k++) {
        bool is_each = k == POLLUX_NODES_EACH || k == POLLUX_NODE_EACH;
        bool is_seen = k < POLLUX_NODE_BASE ? has_nodes : has_node;
        if (!is_seen || (is_each && !has_three))
            fix(&d, x, k, tiny);
    }
    gsim_descend(&d, x);
    for (uint32_t k = 0; k < 2 && !has_nodes; k++)
        x[POLLUX_NODES_BASE + k] = larger(x[POLLUX_NODES_BASE + k], x[POLLUX_NODE_BASE + k] * 1.1);
    return model;
}
