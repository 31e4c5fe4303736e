/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure a comparison is. Over replications: Student's t for means and their paired differences,
 * the bootstrap for ratios and the p99. Over a single run: the bootstrap throughout, of blocks of
 * consecutive jobs, since jobs that met in one queue are not independent; blocks have n^(1/3) jobs,
 * the order that is best for a mean (Kuensch 1989; Hall, Horowitz, Jing 1995). That says how much
 * the jobs of this trace vary, not how much traces do. */
#include <math.h>
#include <string.h>

#include "sim/app/compare.h"
#include "sim/app/output.h"
#include "sim/base/sort.h"

enum { LEAST_UNITS = 10 }; /* of blocks: below that, percentiles mean nothing */

/* The jobs of a single run that count, sorted by JCT. */
struct sorted_jobs {
    double *jct_s;
    uint32_t *unit;
    size_t n;
};

struct units {
    const struct gsim_compare *c;
    size_t n;
    double *sum_s, *count; /* by contender and unit: mean JCT = sum / count */
    double *p99_s; /* over replications: each one's */
    struct sorted_jobs *jobs; /* over blocks, by contender */
    double *mean_draws, *p99_draws; /* by contender and resample */
    double *paired; /* scratch, by unit */
};

/* --- units ------------------------------------------------------------------------------------ */

static bool reserve(struct units *u) {
    struct gsim_arena *arena = u->c->cli->arena;
    size_t n_contenders = (size_t)u->c->setup->n_contenders, cells = n_contenders * u->n;
    u->sum_s = gsim_arena_array(arena, cells, sizeof(double));
    u->count = gsim_arena_array(arena, cells, sizeof(double));
    u->p99_s = gsim_arena_array(arena, cells, sizeof(double));
    u->jobs = gsim_arena_array(arena, n_contenders, sizeof *u->jobs);
    u->mean_draws = gsim_arena_array(arena, n_contenders * GSIM_RESAMPLES, sizeof(double));
    u->p99_draws = gsim_arena_array(arena, n_contenders * GSIM_RESAMPLES, sizeof(double));
    u->paired = gsim_arena_array(arena, u->n, sizeof(double));
    return u->paired && u->sum_s && u->count && u->p99_s && u->jobs && u->mean_draws &&
           u->p99_draws;
}

static void take_replications(struct units *u) {
    for (int i = 0; i < u->c->setup->n_contenders; i++)
        for (size_t r = 0; r < u->n; r++) {
            const struct gsim_summary *s =
                &gsim_compare_at(u->c, i, u->c->first_rep + (int)r)->trimmed;
            size_t cell = (size_t)i * u->n + r;
            u->sum_s[cell] = s->jct_mean_s;
            u->count[cell] = 1;
            u->p99_s[cell] = s->jct_p99_s;
        }
}

static bool take_jobs(struct units *u, int contender, size_t block_jobs, uint32_t n_skipped) {
    const struct gsim_result *result = &gsim_compare_at(u->c, contender, 0)->result;
    struct gsim_arena *arena = u->c->cli->arena;
    struct sorted_jobs *jobs = &u->jobs[contender];
    size_t n = result->jobs.n - n_skipped;
    int64_t *jct_ns = gsim_arena_array(arena, n, sizeof *jct_ns);
    uint32_t *unit = gsim_arena_array(arena, n, sizeof *unit);
    uint32_t *order = gsim_arena_array(arena, n, sizeof *order);
    jobs->jct_s = gsim_arena_array(arena, n, sizeof *jobs->jct_s);
    jobs->unit = gsim_arena_array(arena, n, sizeof *jobs->unit);
    if (!jct_ns || !unit || !order || !jobs->jct_s || !jobs->unit)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t job = gsim_arrival(result->trace, n_skipped + (uint32_t)i);
        size_t block = i / block_jobs < u->n ? i / block_jobs : u->n - 1;
        if (result->jobs.end_ns[job] < 0)
            continue;
        jct_ns[jobs->n] = result->jobs.end_ns[job] - result->trace->submit_ns[job];
        unit[jobs->n] = (uint32_t)block;
        u->sum_s[(size_t)contender * u->n + block] += (double)jct_ns[jobs->n] / 1e9;
        u->count[(size_t)contender * u->n + block]++;
        jobs->n++;
    }
    if (!gsim_sort_order(jct_ns, order, jobs->n))
        return false;
    for (size_t i = 0; i < jobs->n; i++) {
        jobs->jct_s[i] = (double)jct_ns[order[i]] / 1e9;
        jobs->unit[i] = unit[order[i]];
    }
    return true;
}

/* --- resampling ------------------------------------------------------------------------------- */

static double drawn_mean(const struct units *u, int contender, const uint32_t *weight) {
    const double *sum = u->sum_s + (size_t)contender * u->n, *count = u->count + (sum - u->sum_s);
    double total = 0, n = 0;
    for (size_t i = 0; i < u->n; i++) {
        total += weight[i] * sum[i];
        n += weight[i] * count[i];
    }
    return total / n; /* NaN when nothing was drawn that had finished */
}

/* The quantile (n - 1) p of the jobs of the drawn blocks, from the top since p is high. */
static double drawn_p99_of_jobs(const struct sorted_jobs *jobs, const uint32_t *weight) {
    int64_t n = 0, n_above = 0;
    for (size_t i = 0; i < jobs->n; i++)
        n += weight[jobs->unit[i]];
    if (n == 0)
        return (double)NAN;
    double at = (double)(n - 1) * 0.99;
    int64_t low = (int64_t)at;
    double high_value = (double)NAN;
    for (size_t i = jobs->n; i-- > 0;) {
        n_above += weight[jobs->unit[i]];
        if (isnan(high_value) && n_above >= n - 1 - low && n_above > 0)
            high_value = jobs->jct_s[i];
        if (n_above >= n - low)
            return jobs->jct_s[i] + (at - (double)low) * (high_value - jobs->jct_s[i]);
    }
    return high_value;
}

static double drawn_p99(const struct units *u, int contender, const uint32_t *weight) {
    const double *p99 = u->p99_s + (size_t)contender * u->n;
    double total = 0;
    if (u->jobs[contender].jct_s)
        return drawn_p99_of_jobs(&u->jobs[contender], weight);
    for (size_t i = 0; i < u->n; i++)
        total += weight[i] * p99[i];
    return total / (double)u->n;
}

static bool resample(struct units *u) {
    struct gsim_bootstrap b;
    bool is_fine = gsim_bootstrap_begin(&b, u->n, (uint64_t)u->c->setup->seed);
    for (int k = 0; is_fine && k < GSIM_RESAMPLES; k++) {
        gsim_bootstrap_draw(&b);
        for (int i = 0; i < u->c->setup->n_contenders; i++) {
            u->mean_draws[i * GSIM_RESAMPLES + k] = drawn_mean(u, i, b.weight);
            u->p99_draws[i * GSIM_RESAMPLES + k] = drawn_p99(u, i, b.weight);
        }
    }
    gsim_bootstrap_end(&b);
    return is_fine;
}

/* --- what it says ----------------------------------------------------------------------------- */

static double mean_of(const struct gsim_compare *c, int contender) {
    double sum = 0;
    for (int r = 0; r < c->n_reps; r++)
        sum += gsim_compare_at(c, contender, c->first_rep + r)->trimmed.jct_mean_s;
    return sum / c->n_reps;
}

static double p99_of(const struct gsim_compare *c, int contender) {
    double sum = 0;
    for (int r = 0; r < c->n_reps; r++)
        sum += gsim_compare_at(c, contender, c->first_rep + r)->trimmed.jct_p99_s;
    return sum / c->n_reps;
}

/* Mean JCT of the contender minus the other's, replication by replication. */
static void pair(const struct units *u, int contender, int other) {
    for (size_t r = 0; r < u->n; r++)
        u->paired[r] = u->sum_s[(size_t)contender * u->n + r] - u->sum_s[(size_t)other * u->n + r];
}

/* The contender against another: the ratio of their means, and p of "they are alike". */
static bool against(const struct units *u, int contender, int other, struct gsim_interval *ratio,
                    double *p) {
    double draws[GSIM_RESAMPLES];
    for (int k = 0; k < GSIM_RESAMPLES; k++)
        draws[k] = u->mean_draws[contender * GSIM_RESAMPLES + k] /
                   u->mean_draws[other * GSIM_RESAMPLES + k];
    bool is_fine =
        gsim_bootstrap_interval(draws, mean_of(u->c, contender) / mean_of(u->c, other), ratio);
    *p = gsim_bootstrap_p(draws, 1);
    if (!u->jobs[contender].jct_s) {
        pair(u, contender, other);
        *p = gsim_t_p(u->paired, u->n);
    }
    return is_fine;
}

static bool describe(const struct units *u, int contender, struct gsim_compared *out) {
    const double *mine = u->sum_s + (size_t)contender * u->n;
    double *draws = u->mean_draws + (size_t)contender * GSIM_RESAMPLES;
    double differences[GSIM_RESAMPLES];
    bool is_fine = gsim_bootstrap_interval(u->p99_draws + (size_t)contender * GSIM_RESAMPLES,
                                           p99_of(u->c, contender), &out->p99_s);
    if (u->jobs[contender].jct_s) {
        double sorted[GSIM_RESAMPLES];
        memcpy(sorted, draws, sizeof sorted);
        for (int k = 0; k < GSIM_RESAMPLES; k++)
            differences[k] = draws[k] - u->mean_draws[k];
        return is_fine && gsim_bootstrap_interval(sorted, mean_of(u->c, contender), &out->mean_s) &&
               gsim_bootstrap_interval(differences, mean_of(u->c, contender) - mean_of(u->c, 0),
                                       &out->difference_s);
    }
    pair(u, contender, 0);
    out->mean_s = gsim_t_interval(mine, u->n);
    out->difference_s = gsim_t_interval(u->paired, u->n);
    return is_fine;
}

static bool test_all(const struct units *u, struct gsim_comparison *out) {
    double p[GSIM_MAX_COMPARED], p_to_best[GSIM_MAX_COMPARED];
    int n = u->c->setup->n_contenders;
    bool is_fine = true;
    for (int i = 0; i < n && is_fine; i++) {
        struct gsim_compared *about = &out->policy[i];
        is_fine = describe(u, i, about) && against(u, i, 0, &about->ratio, &p[i]) &&
                  against(u, i, out->best, &about->to_best, &p_to_best[i]);
    }
    p[0] = (double)NAN; /* against itself */
    p_to_best[out->best] = (double)NAN;
    is_fine = is_fine && gsim_holm(p, (size_t)n) && gsim_holm(p_to_best, (size_t)n);
    for (int i = 0; i < n && is_fine; i++) {
        out->policy[i].p = p[i];
        out->policy[i].p_to_best = p_to_best[i];
    }
    return is_fine;
}

static void rank(const struct gsim_compare *c, struct gsim_comparison *out) {
    int n = c->setup->n_contenders;
    out->best = 0;
    out->second = -1;
    for (int i = 1; i < n; i++)
        if (mean_of(c, i) < mean_of(c, out->best))
            out->best = i;
    for (int i = 0; i < n; i++)
        if (i != out->best && (out->second < 0 || mean_of(c, i) < mean_of(c, out->second)))
            out->second = i;
    for (int i = 0; i < n; i++)
        out->policy[i] = (struct gsim_compared){.mean_s.mean = mean_of(c, i),
                                                .p99_s.mean = p99_of(c, i),
                                                .ratio.mean = mean_of(c, i) / mean_of(c, 0),
                                                .p = (double)NAN};
}

enum gsim_status gsim_compare_statistics(const struct gsim_compare *c,
                                         struct gsim_comparison *out) {
    struct units u = {.c = c, .n = (size_t)c->n_reps};
    const struct gsim_trace *trace = &c->traces[0];
    uint32_t n_skipped = gsim_warmup_jobs(&c->warmup, trace);
    *out = (struct gsim_comparison){.is_over_reps = c->n_reps > 1, .block_jobs = 1};
    rank(c, out);
    if (!out->is_over_reps) {
        size_t n = trace->n_jobs - n_skipped;
        while (out->block_jobs * out->block_jobs * out->block_jobs < n)
            out->block_jobs++;
        u.n = n / out->block_jobs;
    }
    out->n_units = u.n;
    if (!out->is_over_reps && u.n < LEAST_UNITS)
        return GSIM_OK;
    bool is_fine = reserve(&u);
    if (is_fine && out->is_over_reps)
        take_replications(&u);
    for (int i = 0; i < c->setup->n_contenders && is_fine && !out->is_over_reps; i++)
        is_fine = take_jobs(&u, i, out->block_jobs, n_skipped);
    if (!is_fine || !resample(&u) || !test_all(&u, out))
        return gsim_no_memory(c->cli->log, "computing statistics");
    out->has_intervals = true;
    return GSIM_OK;
}

/* --- as text ---------------------------------------------------------------------------------- */

static void put_interval(FILE *out, const struct gsim_interval *i) {
    char mean[40], low[40], high[40], all[128];
    gsim_format_humane(mean, i->mean);
    gsim_format_humane(low, i->low);
    gsim_format_humane(high, i->high);
    (void)snprintf(all, sizeof all, "%s [%s, %s]", mean, low, high);
    fprintf(out, " %30s", all);
}

void gsim_format_p(char *buffer, double p) {
    if (isnan(p))
        (void)snprintf(buffer, 16, "-");
    else if (p < 0.0001)
        (void)snprintf(buffer, 16, "< 0.0001");
    else
        (void)snprintf(buffer, 16, "%.2g", p);
}

void gsim_compare_write_intervals(const struct gsim_compare *c, const struct gsim_comparison *s,
                                  FILE *out) {
    if (!s->has_intervals)
        return;
    if (s->is_over_reps)
        fprintf(out,
                "\n95 %% intervals over %zu %s (Student's t, paired differences; bootstrap for p99 "
                "and ratios; p by Holm):\n",
                s->n_units, c->first_rep ? "shaken traces" : "replications");
    else
        fprintf(
            out,
            "\n95 %% intervals over the jobs of this trace (bootstrap of %zu blocks of %zu; p by "
            "Holm):\n",
            s->n_units, s->block_jobs);
    fprintf(out, "%-14s %30s %30s %30s %24s %9s\n", "policy", "JCT mean", "p99", "difference",
            "ratio", "p");
    for (int i = 0; i < c->setup->n_contenders; i++) {
        const struct gsim_compared *about = &s->policy[i];
        char p[16], ratio[64];
        fprintf(out, "%-14s", c->setup->contender[i].policy->name);
        put_interval(out, &about->mean_s);
        put_interval(out, &about->p99_s);
        gsim_format_p(p, about->p);
        (void)snprintf(ratio, sizeof ratio, "%.3f [%.3f, %.3f]", about->ratio.mean,
                       about->ratio.low, about->ratio.high);
        if (i > 0) {
            put_interval(out, &about->difference_s);
            fprintf(out, " %24s %9s", ratio, p);
        }
        fputc('\n', out);
    }
}
