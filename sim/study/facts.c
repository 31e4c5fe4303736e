/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/study/facts.h"

#include <math.h>

#include "gsim/units.h"
#include "sim/base/sort.h"
#include "sim/core/stats.h"
#include "sim/study/stats.h"

const struct gsim_fact_def gsim_fact_defs[GSIM_FACT_COUNT] = {
#define GSIM_FACT(symbol, name, unit, help) {name, unit, help},
#include "sim/study/facts.def"
#undef GSIM_FACT
};

enum { HOURS = 24, DAYS = 7 };
static const double DAY_S = 86400, HOUR_S = 3600;

/* A trace in the order of arrival. */
struct sequence {
    size_t n;
    double *since_s, *duration_s, *gpus;
    int64_t *owner; /* its user, or else its virtual cluster; -1: neither */
};

static bool take(const struct gsim_trace *trace, struct gsim_arena *arena, struct sequence *s) {
    enum gsim_column owner = trace->column[GSIM_COL_USER] ? GSIM_COL_USER : GSIM_COL_VC;
    s->n = trace->n_jobs;
    s->since_s = gsim_arena_array(arena, s->n + 1, sizeof *s->since_s);
    s->duration_s = gsim_arena_array(arena, s->n + 1, sizeof *s->duration_s);
    s->gpus = gsim_arena_array(arena, s->n + 1, sizeof *s->gpus);
    s->owner = gsim_arena_array(arena, s->n + 1, sizeof *s->owner);
    if (!s->since_s || !s->duration_s || !s->gpus || !s->owner)
        return false;
    int64_t first_ns = trace->submit_ns[gsim_trace_arrival(trace, 0)];
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t job = gsim_trace_arrival(trace, i);
        s->since_s[i] = (double)(trace->submit_ns[job] - first_ns) / 1e9;
        s->duration_s[i] = (double)trace->service_ns[job] / 1e9;
        s->gpus[i] =
            gsim_trace_gpus(trace, job) * ((double)gsim_trace_share(trace, job) / GSIM_PPM);
        s->owner[i] = gsim_trace_get(trace, owner, job);
    }
    return true;
}

/* --- numbers of a list ------------------------------------------------------------------------ */

static double variance_of(const double *x, size_t n) {
    double mean = gsim_mean_of(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)n;
}

static double correlation(const double *x, const double *y, size_t n) {
    double mx = gsim_mean_of(x, n), my = gsim_mean_of(y, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mx) * (y[i] - my);
    return sum / (double)n / sqrt(variance_of(x, n) * variance_of(y, n));
}

static bool is_constant(const double *x, size_t n) {
    size_t i = 1;
    while (i < n && x[i] == x[0])
        i++;
    return i >= n;
}

/* Of the whole list's mean and variance. The variance of equal values is what their mean was
 * rounded by, and with it they would seem to be correlated. */
void gsim_autocorrelations(const double *x, size_t n, size_t n_lags, double *out) {
    double mean = gsim_mean_of(x, n), variance = variance_of(x, n);
    bool has_none = is_constant(x, n);
    for (size_t lag = 1; lag <= n_lags; lag++) {
        double sum = 0;
        for (size_t i = 0; i + lag < n; i++)
            sum += (x[i] - mean) * (x[i + lag] - mean);
        out[lag - 1] = has_none ? (double)NAN : sum / (double)n / variance;
    }
}

/* Ranks from 0; equal values share the mean of their ranks. */
static double *ranks_of(const double *x, size_t n, struct gsim_arena *arena) {
    int64_t *key = gsim_arena_array(arena, n + 1, sizeof *key);
    uint32_t *order = gsim_arena_array(arena, n + 1, sizeof *order);
    double *rank = gsim_arena_array(arena, n + 1, sizeof *rank);
    if (!key || !order || !rank)
        return NULL;
    for (size_t i = 0; i < n; i++)
        key[i] = (int64_t)(x[i] * 1e6);
    if (!gsim_sort_order(key, order, n))
        return NULL;
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && key[order[j]] == key[order[i]]; j++) {
        }
        for (size_t k = i; k < j; k++)
            rank[order[k]] = (double)(i + j - 1) / 2;
    }
    return rank;
}

void gsim_cycle_rates(const double *since_s, size_t n, double part_s, size_t n_parts,
                      double *rate) {
    double span = since_s[n - 1] / part_s;
    for (size_t k = 0; k < n_parts; k++)
        rate[k] = 0;
    for (size_t i = 0; i < n && since_s[i] < since_s[n - 1]; i++)
        rate[(size_t)(since_s[i] / part_s) % n_parts]++;
    for (size_t k = 0; k < n_parts; k++) {
        double there = 0;
        for (double part = (double)k; part < span; part += (double)n_parts)
            there += fmin(1, span - part);
        rate[k] = there > 0 ? rate[k] / there : (double)NAN;
    }
}

static double quietest_to_busiest(const double *since_s, size_t n, double part_s, size_t n_parts) {
    double rate[HOURS], least = INFINITY, most = 0;
    gsim_cycle_rates(since_s, n, part_s, n_parts, rate);
    for (size_t k = 0; k < n_parts; k++) {
        least = fmin(least, rate[k]);
        most = fmax(most, rate[k]);
    }
    return least > 0 ? most / least : (double)NAN;
}

/* --- facts ------------------------------------------------------------------------------------ */

/* Arrivals by the hour: bursts, of which the part of an hour at the end says nothing, and cycles of
 * a day and a week. A trace shorter than a cycle has no such cycle. */
static bool describe_hours(const struct sequence *s, struct gsim_arena *arena, double *value) {
    double span_s = s->since_s[s->n - 1];
    size_t n = (size_t)(span_s / HOUR_S);
    double *count = gsim_arena_array(arena, n + 1, sizeof *count);
    if (!count)
        return false;
    for (size_t i = 0; i < s->n; i++)
        count[(size_t)(s->since_s[i] / HOUR_S)]++;
    if (n >= 2)
        value[GSIM_FACT_DISPERSION] = variance_of(count, n) / gsim_mean_of(count, n);
    if (span_s >= DAY_S)
        value[GSIM_FACT_DAY] = quietest_to_busiest(s->since_s, s->n, HOUR_S, HOURS);
    if (span_s >= DAYS * DAY_S)
        value[GSIM_FACT_WEEK] = quietest_to_busiest(s->since_s, s->n, DAY_S, DAYS);
    return true;
}

static bool describe_order(const struct sequence *s, struct gsim_arena *arena, double *value) {
    double *gap = gsim_arena_array(arena, s->n + 1, sizeof *gap);
    double *logarithm = gsim_arena_array(arena, s->n + 1, sizeof *logarithm);
    size_t n_same = 0;
    if (!gap || !logarithm)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        logarithm[i] = log(1 + s->duration_s[i]);
        if (i + 1 == s->n)
            break;
        gap[i] = s->since_s[i + 1] - s->since_s[i];
        n_same += s->owner[i] == s->owner[i + 1] && s->gpus[i] == s->gpus[i + 1];
    }
    gsim_autocorrelations(logarithm, s->n, 1, &value[GSIM_FACT_LAG1]);
    value[GSIM_FACT_GAP_CV] = sqrt(variance_of(gap, s->n - 1)) / gsim_mean_of(gap, s->n - 1);
    if (s->owner[0] >= 0)
        value[GSIM_FACT_SAME_USER] = 100 * (double)n_same / (double)(s->n - 1);
    return true;
}

static bool describe_sizes(const struct sequence *s, struct gsim_arena *arena, double *value) {
    static const double p[] = {0.1, 0.5, 0.9, 0.99};
    double work = 0, wide = 0, single = 0, widest = 0;
    for (size_t i = 0; i < s->n; i++) {
        work += s->duration_s[i] * s->gpus[i];
        wide += s->gpus[i] >= 8 ? s->duration_s[i] * s->gpus[i] : 0;
        single += s->gpus[i] <= 1;
        widest = fmax(widest, s->gpus[i]);
    }
    double span_s = s->since_s[s->n - 1];
    value[GSIM_FACT_GPU_HOURS] = work / HOUR_S;
    value[GSIM_FACT_GPUS_NEEDED] = span_s > 0 ? work / span_s : (double)NAN;
    value[GSIM_FACT_WIDEST] = widest;
    value[GSIM_FACT_SINGLE] = 100 * single / (double)s->n;
    value[GSIM_FACT_WIDE_WORK] = work > 0 ? 100 * wide / work : (double)NAN;
    value[GSIM_FACT_DURATION_MEAN] = gsim_mean_of(s->duration_s, s->n);
    value[GSIM_FACT_DURATION_CV] =
        sqrt(variance_of(s->duration_s, s->n)) / gsim_mean_of(s->duration_s, s->n);
    double *a = ranks_of(s->gpus, s->n, arena), *b = ranks_of(s->duration_s, s->n, arena);
    if (!a || !b)
        return false;
    value[GSIM_FACT_SPEARMAN] = correlation(a, b, s->n);
    return gsim_quantiles(s->duration_s, s->n, p, &value[GSIM_FACT_DURATION_P10], 4);
}

bool gsim_facts_of(const struct gsim_trace *trace, struct gsim_arena *arena, double *value) {
    struct sequence s;
    for (int i = 0; i < GSIM_FACT_COUNT; i++)
        value[i] = (double)NAN;
    value[GSIM_FACT_JOBS] = trace->n_jobs;
    if (trace->column[GSIM_COL_USER])
        value[GSIM_FACT_USERS] = trace->names[GSIM_COL_USER].n;
    if (trace->column[GSIM_COL_VC])
        value[GSIM_FACT_VCS] = trace->names[GSIM_COL_VC].n;
    if (trace->n_jobs == 0)
        return true;
    if (!take(trace, arena, &s))
        return false;
    value[GSIM_FACT_SPAN] = s.since_s[s.n - 1] / DAY_S;
    return describe_sizes(&s, arena, value) &&
           (s.n < 2 || (describe_order(&s, arena, value) && describe_hours(&s, arena, value)));
}
