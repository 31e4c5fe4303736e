/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics of a comparison. Over replications: Johnson's t of logarithms, for times and
 * paired ratios of times, and of paired differences. Over a single run: Student's t over the means
 * of a few long batches of jobs, if the run is long compared with the number of jobs over which
 * completion times are correlated (dependence.h); else there are no intervals. A single run gives
 * no interval of a quantile. Over shaken traces: the range, and the number of traces in which the
 * order of two policies holds. */
#include <math.h>

#include "sim/app/compare/compare.h"
#include "sim/study/dependence.h"

struct units {
    const struct gsim_compare *c;
    size_t n;
    double *mean_s, *p99_s; /* by contender and unit */
    /* by contender and unit; unknown over batches of jobs */
    double *latency_s[GSIM_LATENCY_COUNT];
    double *paired; /* scratch, by unit */
    struct gsim_interval of_run[GSIM_MAX_COMPARED]; /* over batches of jobs: of the mean */
    bool is_known[GSIM_MAX_COMPARED]; /* false: the contender's run is too short */
};

const char *const gsim_measure_names[GSIM_MEASURE_COUNT] = {"mean JCT", "p99 latency"};

double gsim_measure_of(const struct gsim_summary *summary, enum gsim_measure measure) {
    return measure == GSIM_MEASURE_JCT ? summary->jct_mean_s : summary->latency_p99_s;
}

/* --- units ------------------------------------------------------------------------------------ */

static bool reserve(struct units *u) {
    struct gsim_arena *arena = u->c->cli->arena;
    size_t cells = (size_t)u->c->setup->n_contenders * u->n;
    u->mean_s = gsim_arena_array(arena, cells, sizeof(double));
    u->p99_s = gsim_arena_array(arena, cells, sizeof(double));
    u->paired = gsim_arena_array(arena, u->n, sizeof(double));
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++) {
        u->latency_s[l] = gsim_arena_array(arena, cells, sizeof(double));
        if (!u->latency_s[l])
            return false;
    }
    return u->mean_s && u->p99_s && u->paired;
}

static void take_replications(struct units *u) {
    for (int i = 0; i < u->c->setup->n_contenders; i++) {
        u->is_known[i] = true;
        for (size_t r = 0; r < u->n; r++) {
            const struct gsim_summary *s = gsim_compare_summary(u->c, i, u->c->first_rep + (int)r);
            size_t cell = (size_t)i * u->n + r;
            u->mean_s[cell] = s->jct_mean_s;
            u->p99_s[cell] = s->jct_p99_s;
            for (int l = 0; l < GSIM_LATENCY_COUNT; l++)
                u->latency_s[l][cell] = gsim_latency_of(s, (enum gsim_latency)l);
        }
    }
}

/* --- one run ---------------------------------------------------------------------------------- */

static bool has_ended(const struct gsim_compare *c, struct gsim_window_jobs jobs) {
    for (int i = 0; i < c->setup->n_contenders; i++) {
        const struct gsim_result *result = &gsim_compare_at(c, i, 0)->result;
        for (uint32_t k = jobs.first; k < jobs.end; k++)
            if (result->jobs.end_ns[gsim_trace_arrival(result->trace, k)] < 0)
                return false;
    }
    return true;
}

/* Arrivals of one trace after the other: the gaps between them, and the work of the jobs. Behind
 * the first trace a trace's first job is left out, which has no gap before it. */
struct arrivals {
    double *gap_s, *work_s;
    size_t n; /* jobs; gaps are one fewer */
};

static void add_arrivals(struct arrivals *a, const struct gsim_trace *trace,
                         struct gsim_window_jobs jobs) {
    int64_t last_ns = 0;
    for (uint32_t k = jobs.first; k < jobs.end; k++) {
        uint32_t job = gsim_trace_arrival(trace, k);
        if (k > jobs.first)
            a->gap_s[a->n - 1] = (double)(trace->submit_ns[job] - last_ns) / 1e9;
        if (k > jobs.first || a->n == 0)
            a->work_s[a->n++] = gsim_work_of_job_s(trace, job);
        last_ns = trace->submit_ns[job];
    }
}

/* What the jobs of the first traces say of the queue that they make, and how many a trace has at
 * least. false: no memory. */
static bool find_dependence(const struct gsim_compare *c, int n_traces, uint32_t *n_least,
                            struct gsim_dependence *out) {
    size_t n_most = 1;
    for (int r = 0; r < n_traces; r++)
        n_most += c->traces[r].n_jobs;
    struct arrivals a = {.gap_s = gsim_arena_array(c->cli->arena, n_most, sizeof(double)),
                         .work_s = gsim_arena_array(c->cli->arena, n_most, sizeof(double))};
    if (!a.gap_s || !a.work_s)
        return false;
    *n_least = UINT32_MAX;
    for (int r = 0; r < n_traces; r++) {
        struct gsim_window_jobs jobs = gsim_window_find(&c->setup->window, &c->traces[r]);
        if (jobs.end - jobs.first < *n_least)
            *n_least = jobs.end - jobs.first;
        add_arrivals(&a, &c->traces[r], jobs);
    }
    *out = gsim_dependence_of(a.gap_s, a.work_s, a.n, gsim_compare_capacity(c));
    return true;
}

static bool take_batches(struct units *u, struct gsim_window_jobs jobs,
                         const struct gsim_dependence *queue) {
    size_t n = jobs.end - jobs.first;
    double *jct_s = gsim_arena_array(u->c->cli->arena, n, sizeof *jct_s);
    double *alone_s = gsim_arena_array(u->c->cli->arena, n, sizeof *alone_s);
    for (int i = 0; jct_s && alone_s && i < u->c->setup->n_contenders; i++) {
        const struct gsim_result *result = &gsim_compare_at(u->c, i, 0)->result;
        for (size_t k = 0; k < n; k++) {
            uint32_t job = gsim_trace_arrival(result->trace, jobs.first + (uint32_t)k);
            alone_s[k] = (double)result->trace->service_ns[job] / 1e9;
            jct_s[k] = (double)(result->jobs.end_ns[job] - result->trace->submit_ns[job]) / 1e9;
        }
        u->of_run[i] = gsim_interval_of_run(jct_s, alone_s, n, queue);
        u->is_known[i] = !isnan(u->of_run[i].low);
        gsim_batch_means(jct_s, n, u->mean_s + (size_t)i * u->n);
    }
    return jct_s && alone_s;
}

/* The reason why the jobs of one run give no intervals; NULL: they give some. */
static const char *too_short(const struct gsim_compare *c, struct gsim_window_jobs jobs,
                             const struct gsim_dependence *queue) {
    unsigned n = jobs.end - jobs.first;
    if (c->first_rep)
        return "one shaken or resampled trace shows no spread";
    if (!has_ended(c, jobs))
        return "jobs did not finish";
    if (n < 2 * GSIM_BATCHES)
        return gsim_arena_printf(c->cli->arena, "%u jobs are too few", n);
    if (queue->load >= 1)
        return "more work arrives than the GPUs can do, or all of it at once: there is no mean "
               "that a longer trace would have";
    if (isinf(queue->memory))
        return gsim_arena_printf(c->cli->arena,
                                 "at a load of %.2g, %u jobs leave open whether the GPUs can do "
                                 "all the work in the long run",
                                 queue->load, n);
    if (!gsim_is_enough(n, queue->memory))
        return gsim_arena_printf(c->cli->arena,
                                 "at this load completion times may remember %.0f jobs, and %u "
                                 "jobs are not %d times as many",
                                 queue->memory, n, GSIM_BATCHES);
    return NULL;
}

/* Normally distributed values have the interval of Student's t, and others nearly so where they are
 * more than 25 times the square of their skewness (Cochran, Sampling Techniques, 1977, section
 * 2.15). Means of runs that are short for their memory are about as skewed as an exponential
 * distribution, which has a skewness of 2. */
enum { ENOUGH_SKEWED = 25 * 2 * 2 };

/* The reason why intervals over replications may miss more often than they say; NULL: there is
 * none. false: no memory. */
static bool find_skewed(const struct gsim_compare *c, const char **why) {
    struct gsim_dependence queue;
    uint32_t n;
    if (c->n_reps >= ENOUGH_SKEWED)
        return true;
    if (!find_dependence(c, c->n_reps, &n, &queue))
        return false;
    if (gsim_is_enough(n, queue.memory))
        return true;
    struct gsim_arena *arena = c->cli->arena;
    bool is_seen = queue.memory < (double)n * c->n_reps; /* else the runs cannot tell what it is */
    const char *where =
        is_seen ? gsim_arena_printf(arena, "where completion times may remember %.0f", queue.memory)
                : gsim_arena_printf(arena, "at a load of %.2g", queue.load);
    *why = where ? gsim_arena_printf(arena,
                                     "runs of %u jobs are short %s: their means are skewed, and "
                                     "intervals over %d of them may miss more often than one time "
                                     "in 20",
                                     n, where, c->n_reps)
                 : NULL;
    return *why != NULL;
}

/* --- statistics of each policy ---------------------------------------------------------------- */

static double mean_of(const struct gsim_compare *c, int contender, enum gsim_measure measure) {
    double sum = 0;
    for (int r = 0; r < c->n_reps; r++)
        sum += gsim_measure_of(gsim_compare_summary(c, contender, c->first_rep + r), measure);
    return sum / c->n_reps;
}

static double p99_of(const struct gsim_compare *c, int contender) {
    double sum = 0;
    for (int r = 0; r < c->n_reps; r++)
        sum += gsim_compare_summary(c, contender, c->first_rep + r)->jct_p99_s;
    return sum / c->n_reps;
}

static struct gsim_interval unknown(double mean) {
    return (struct gsim_interval){mean, (double)NAN, (double)NAN};
}

static struct gsim_interval range_of(const double *values, size_t n, double mean) {
    struct gsim_interval range = {mean, values[0], values[0]};
    for (size_t i = 1; i < n; i++) {
        range.low = fmin(range.low, values[i]);
        range.high = fmax(range.high, values[i]);
    }
    return range;
}

/* Stores one contender's value minus another's in u->paired, unit by unit. */
static void pair(const struct units *u, const double *values, int contender, int other) {
    for (size_t i = 0; i < u->n; i++)
        u->paired[i] = values[(size_t)contender * u->n + i] - values[(size_t)other * u->n + i];
}

/* The p value of "no difference" of one contender's mean to another's, before it is adjusted; NaN:
 * there is none. */
static double p_of(const struct units *u, const double *values, int contender, int other,
                   enum gsim_units units) {
    const double *mine = values + (size_t)contender * u->n, *its = values + (size_t)other * u->n;
    bool is_tested = contender != other && units != GSIM_UNITS_CHANGED && u->is_known[contender] &&
                     u->is_known[other];
    return is_tested ? gsim_t_ratio_p(mine, its, u->n) : (double)NAN;
}

/* The ratio of one contender's mean to another's; `times` is how often Holm's procedure took its
 * p, so that interval and adjusted p say one thing. */
static struct gsim_interval ratio_of(const struct units *u, const double *values, int contender,
                                     int other, enum gsim_units units, double times) {
    const double *mine = values + (size_t)contender * u->n, *its = values + (size_t)other * u->n;
    if (contender == other)
        return (struct gsim_interval){1, 1, 1};
    if (units != GSIM_UNITS_CHANGED)
        return gsim_t_ratio(mine, its, u->n, times);
    for (size_t i = 0; i < u->n; i++)
        u->paired[i] = mine[i] / its[i];
    return range_of(u->paired, u->n, (double)NAN);
}

static int count_below(const struct units *u, const double *values, int lower, int other) {
    int n = 0;
    for (size_t i = 0; i < u->n; i++)
        n += values[(size_t)lower * u->n + i] < values[(size_t)other * u->n + i];
    return n;
}

/* Computes the latencies of a contender's requests over replications or shaken traces. */
static void describe_latency(const struct units *u, bool is_shaken, int contender,
                             struct gsim_latencies *out) {
    for (int l = 0; l < GSIM_LATENCY_COUNT; l++) {
        const double *values = u->latency_s[l] + (size_t)contender * u->n;
        double mean = 0;
        for (size_t i = 0; i < u->n; i++)
            mean += values[i] / (double)u->n;
        out->of_s[l] = isnan(mean) ? unknown(mean)
                       : is_shaken ? range_of(values, u->n, mean)
                                   : gsim_t_log_interval(values, u->n);
        out->none_why = isnan(mean) ? "there are traces without a request" : NULL;
    }
}

/* Computes the latencies of the requests of one run, also where its jobs give no intervals. */
static bool describe_requests(const struct gsim_compare *c, struct gsim_comparison *out) {
    bool is_fine = true;
    for (int i = 0; i < c->setup->n_contenders && is_fine; i++)
        is_fine = gsim_latencies_of_run(&gsim_compare_at(c, i, c->first_rep)->result, c->cli->arena,
                                        &out->policy[i].latency);
    return is_fine;
}

/* Adds a contender's intervals around the means that rank_all and begin have computed. */
static void describe(const struct units *u, enum gsim_units units, int contender, double times,
                     struct gsim_compared *out) {
    const double *means = u->mean_s + (size_t)contender * u->n;
    const double *p99s = u->p99_s + (size_t)contender * u->n;
    bool is_shaken = units == GSIM_UNITS_CHANGED;
    double mean = out->mean_s.mean, p99 = out->p99_s.mean, ratio = out->ratio.mean;
    out->mean_s = is_shaken                     ? range_of(means, u->n, mean)
                  : units == GSIM_UNITS_BATCHES ? u->of_run[contender]
                                                : gsim_t_log_interval(means, u->n);
    if (units != GSIM_UNITS_BATCHES)
        describe_latency(u, is_shaken, contender, &out->latency);
    if (units != GSIM_UNITS_BATCHES)
        out->p99_s = is_shaken ? range_of(p99s, u->n, p99) : gsim_t_log_interval(p99s, u->n);
    if (!u->is_known[0])
        return;
    double difference = out->difference_s.mean;
    pair(u, u->mean_s, contender, 0);
    out->difference_s =
        is_shaken ? range_of(u->paired, u->n, difference) : gsim_t_interval(u->paired, u->n, times);
    out->ratio = ratio_of(u, u->mean_s, contender, 0, units, times);
    out->mean_s.mean = mean; /* the mean of all jobs, also of those outside the batches */
    out->difference_s.mean = difference;
    out->ratio.mean = ratio;
    out->n_below = is_shaken ? count_below(u, u->mean_s, contender, 0) : 0;
}

/* The lowest of those in the ranking, without one of them; -1: there is no other. */
static int lowest(const struct gsim_compare_ranking *r, int n, int without) {
    int best = -1;
    for (int i = 0; i < n; i++)
        if (r->is_in[i] && i != without && (best < 0 || r->value[i] < r->value[best]))
            best = i;
    return best;
}

static void rank_all(const struct gsim_compare *c, enum gsim_measure measure, bool is_blind,
                     struct gsim_compare_ranking *out) {
    int n = c->setup->n_contenders;
    *out = (struct gsim_compare_ranking){.is_there = true};
    for (int i = 0; i < n; i++) {
        out->value[i] = mean_of(c, i, measure);
        out->is_in[i] = !is_blind || !gsim_compare_knows_durations(c, i);
        out->is_there &= !isnan(out->value[i]);
    }
    out->best = lowest(out, n, -1);
    out->second = lowest(out, n, out->best);
    out->is_there &= out->best >= 0;
    for (int i = 0; i < n && out->best >= 0; i++) {
        out->to_best[i] = unknown(out->value[i] / out->value[out->best]);
        out->p[i] = (double)NAN;
    }
}

/* Tests every contender of a ranking against its best one. */
static bool test_ranking(const struct units *u, enum gsim_units units, const double *values,
                         struct gsim_compare_ranking *out) {
    double times[GSIM_MAX_COMPARED];
    int n = u->c->setup->n_contenders;
    if (!out->is_there || !u->is_known[out->best])
        return true;
    for (int i = 0; i < n; i++)
        out->p[i] = out->is_in[i] ? p_of(u, values, i, out->best, units) : (double)NAN;
    if (!gsim_holm(out->p, times, (size_t)n))
        return false;
    for (int i = 0; i < n; i++) {
        if (!out->is_in[i] || !u->is_known[i])
            continue;
        double ratio = out->to_best[i].mean;
        out->to_best[i] = ratio_of(u, values, i, out->best, units, times[i]);
        out->to_best[i].mean = ratio;
        out->n_above[i] = count_below(u, values, out->best, i);
    }
    return true;
}

/* Tests every contender against the first one, which the table is about. */
static bool test_first(const struct units *u, struct gsim_comparison *out) {
    double p[GSIM_MAX_COMPARED], times[GSIM_MAX_COMPARED];
    int n = u->c->setup->n_contenders;
    for (int i = 0; i < n; i++)
        p[i] = p_of(u, u->mean_s, i, 0, out->units);
    if (!gsim_holm(p, times, (size_t)n))
        return false;
    for (int i = 0; i < n; i++) {
        out->policy[i].p = p[i];
        if (u->is_known[i])
            describe(u, out->units, i, times[i], &out->policy[i]);
    }
    return true;
}

static bool test_measure(const struct units *u, const double *values, enum gsim_measure measure,
                         struct gsim_comparison *out) {
    return test_ranking(u, out->units, values, &out->ranking[measure]) &&
           test_ranking(u, out->units, values, &out->blind[measure]);
}

static bool test_all(const struct units *u, struct gsim_comparison *out) {
    /* batches of jobs give no statistics of latencies */
    bool is_run = out->units == GSIM_UNITS_BATCHES;
    return test_first(u, out) && test_measure(u, u->mean_s, GSIM_MEASURE_JCT, out) &&
           (is_run || test_measure(u, u->latency_s[GSIM_LATENCY_P99], GSIM_MEASURE_LATENCY, out));
}

static void begin(const struct gsim_compare *c, struct gsim_comparison *out) {
    *out = (struct gsim_comparison){.n_units = c->n_reps};
    for (int m = 0; m < GSIM_MEASURE_COUNT; m++) {
        rank_all(c, (enum gsim_measure)m, false, &out->ranking[m]);
        rank_all(c, (enum gsim_measure)m, true, &out->blind[m]);
    }
    const double *mean_s = out->ranking[GSIM_MEASURE_JCT].value;
    for (int i = 0; i < c->setup->n_contenders; i++)
        out->policy[i] = (struct gsim_compared){.mean_s = unknown(mean_s[i]),
                                                .p99_s = unknown(p99_of(c, i)),
                                                .ratio = unknown(mean_s[i] / mean_s[0]),
                                                .difference_s = unknown(mean_s[i] - mean_s[0]),
                                                .p = (double)NAN};
}

/* Takes the batches of one run, if the run is long enough. */
static bool take_run(struct units *u, struct gsim_comparison *out) {
    struct gsim_window_jobs jobs = gsim_window_find(&u->c->setup->window, &u->c->traces[0]);
    struct gsim_dependence queue;
    uint32_t n;
    if (!find_dependence(u->c, 1, &n, &queue))
        return false;
    out->none_why = too_short(u->c, jobs, &queue);
    out->units = out->none_why ? GSIM_UNITS_NONE : GSIM_UNITS_BATCHES;
    u->n = GSIM_BATCHES;
    return out->none_why || (reserve(u) && take_batches(u, jobs, &queue));
}

static const char *units_name(const struct gsim_compare *c, enum gsim_units units) {
    static const char *const names[] = {"", "batches of jobs", "replications", "shaken traces"};
    return units == GSIM_UNITS_CHANGED && c->setup->resampling.block_ns ? "resampled traces"
                                                                        : names[units];
}

enum gsim_status gsim_compare_statistics(const struct gsim_compare *c,
                                         struct gsim_comparison *out) {
    struct units u = {.c = c, .n = (size_t)c->n_reps};
    bool is_fine;
    begin(c, out);
    if (c->n_reps == 1) {
        is_fine = take_run(&u, out) && describe_requests(c, out);
        out->n_units = out->none_why ? 1 : GSIM_BATCHES;
    } else {
        out->units = c->first_rep ? GSIM_UNITS_CHANGED : GSIM_UNITS_REPS;
        is_fine = reserve(&u) && (c->first_rep || find_skewed(c, &out->skewed_why));
        if (is_fine)
            take_replications(&u);
    }
    out->over = units_name(c, out->units);
    if (!is_fine || (!out->none_why && !test_all(&u, out)))
        return gsim_no_memory(c->cli->log, "computing statistics");
    return GSIM_OK;
}
