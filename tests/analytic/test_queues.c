/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Queueing theory on the ideal device: the mean time in system of whole simulations against exact
 * formulas. Ten seeds are named in advance; the bias must be below three standard errors, and the
 * standard error at most half a per cent of the mean, so that a wrong model cannot hide in noise.
 * Builds with sanitizers, many times slower, simulate a tenth of the jobs: there the same code is
 * looked at by the sanitizers, and the standard error may be larger by the root of ten. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "tests/support/runner.h"

enum { SEEDS = 10, JOBS = 300000 / TEST_FEWER_REPEATED };
static const uint64_t seeds[SEEDS] = {11, 23, 37, 41, 59, 67, 73, 83, 97, 101};

#define MEAN_SERVICE_S 100.0
#define LOGNORMAL_SIGMA 0.75

/* Two exponentials: 0.9 of the jobs of mean 0.5, 0.1 of mean 5.5; together mean 1. With it FIFO,
 * SRPT and foreground-background have different means, which with one exponential two of them have
 * not. */
#define P_SHORT 0.9
#define MEAN_SHORT 0.5
#define MEAN_LONG 5.5

enum service { EXPONENTIAL, LOGNORMAL, TWO_EXPONENTIALS };

static double draw(gsl_rng *rng, enum service kind) {
    if (kind == EXPONENTIAL)
        return gsl_ran_exponential(rng, MEAN_SERVICE_S);
    if (kind == TWO_EXPONENTIALS)
        return gsl_ran_exponential(
            rng, MEAN_SERVICE_S * (gsl_ran_bernoulli(rng, P_SHORT) ? MEAN_SHORT : MEAN_LONG));
    double mu = log(MEAN_SERVICE_S) - LOGNORMAL_SIGMA * LOGNORMAL_SIGMA / 2;
    return gsl_ran_lognormal(rng, mu, LOGNORMAL_SIGMA);
}

static struct gsim_trace make_trace(uint64_t seed, double rate, enum service kind,
                                    struct gsim_arena *arena) {
    int64_t *submit_ns = gsim_arena_array(arena, JOBS, sizeof *submit_ns);
    int64_t *service_ns = gsim_arena_array(arena, JOBS, sizeof *service_ns);
    uint32_t *id_at = gsim_arena_array(arena, JOBS, sizeof *id_at);
    gsl_rng *arrivals = gsim_rng_stream(seed, 0, "arrival");
    gsl_rng *services = gsim_rng_stream(seed, 0, "duration");
    double now_s = 0;
    for (int i = 0; i < JOBS; i++) {
        now_s += gsl_ran_exponential(arrivals, 1 / rate);
        submit_ns[i] = (int64_t)(now_s * 1e9);
        service_ns[i] = (int64_t)(draw(services, kind) * 1e9);
    }
    gsl_rng_free(arrivals);
    gsl_rng_free(services);
    return (struct gsim_trace){.path = "theory",
                               .n_jobs = JOBS,
                               .id_text = "",
                               .id_at = id_at,
                               .submit_ns = submit_ns,
                               .service_ns = service_ns};
}

static void check(const char *what, const char *policy, uint32_t gpus, double load,
                  enum service kind, double exact_s) {
    double sum = 0, squares = 0;
    for (int i = 0; i < SEEDS; i++) {
        struct gsim_arena *arena = gsim_arena_new();
        struct gsim_trace trace = make_trace(seeds[i], load * gpus / MEAN_SERVICE_S, kind, arena);
        struct test_run run = {.trace = &trace, .policy = policy, .gpus_per_node = gpus};
        double mean = test_run(&run, arena).summary.jct_mean_s;
        sum += mean;
        squares += mean * mean;
        gsim_arena_free(arena);
    }
    double mean = sum / SEEDS;
    double error = sqrt((squares - sum * mean) / (SEEDS - 1) / SEEDS);
    print_message("# %s: %.3f s simulated, %.3f s exact, standard error %.3f s\n", what, mean,
                  exact_s, error);
    assert_true(error <= 0.005 * sqrt(TEST_FEWER_REPEATED) * mean);
    assert_true(fabs(mean - exact_s) < 3 * error);
}

/* The suite theory of `gsim validate` holds runs against the same numbers: those of its table that are
 * no formula are what is integrated here. */
static void expect_in_table(const char *scenario, double exact_s) {
    char line[256];
    FILE *table = fopen("experiments/validate/theory/queues.csv", "r");
    double value = 0;
    assert_non_null(table);
    while (fgets(line, sizeof line, table)) {
        const char *number = strstr(line, ",jct_mean_s,");
        size_t n = strlen(scenario);
        if (number && strncmp(line, scenario, n) == 0 && line[n] == ',')
            value = strtod(number + strlen(",jct_mean_s,"), NULL);
    }
    (void)fclose(table);
    if (!(fabs(value / exact_s - 1) < 1e-7))
        fail_msg("%s: %.7f in the table, %.7f by its formula", scenario, value, exact_s);
}

static void test_mm1(void **state) {
    (void)state;
    check("M/M/1, exclusive", "exclusive", 1, 0.6, EXPONENTIAL, MEAN_SERVICE_S / (1 - 0.6));
}

/* Erlang C. */
static void test_mmc(void **state) {
    (void)state;
    const int c = 4;
    const double load = 0.7, a = load * c;
    double term = 1, sum = 0;
    for (int k = 0; k < c; k++, term *= a / k)
        sum += term;
    double waiting = term / (1 - load) / (sum + term / (1 - load));
    double exact_s = MEAN_SERVICE_S + waiting * MEAN_SERVICE_S / (c * (1 - load));
    expect_in_table("mmc", exact_s);
    check("M/M/4, fifo", "fifo", 4, load, EXPONENTIAL, exact_s);
}

/* Pollaczek-Khinchine: the second moment of the lognormal is mean^2 exp(sigma^2). */
static void test_mg1(void **state) {
    (void)state;
    const double load = 0.6;
    double second = MEAN_SERVICE_S * MEAN_SERVICE_S * exp(LOGNORMAL_SIGMA * LOGNORMAL_SIGMA);
    double rate = load / MEAN_SERVICE_S;
    check("M/G/1, exclusive", "exclusive", 1, load, LOGNORMAL,
          MEAN_SERVICE_S + rate * second / (2 * (1 - load)));
}

/* --- exponential service of mean 1: closed forms of the partial moments -------------------------
 */

struct theory {
    double rate;
    gsl_integration_workspace *space;
};

static double load_below(double x, double rate) { /* rate * E[S; S <= x] */
    return rate * (1 - exp(-x) * (1 + x));
}

static double inverse_idle(double t, void *arg) {
    return 1 / (1 - load_below(t, ((struct theory *)arg)->rate));
}

/* Schrage and Miller (1966): waiting while larger work is done, then residence. */
static double srpt_of_size(double x, void *arg) {
    struct theory *theory = arg;
    gsl_function residence = {inverse_idle, theory};
    gsl_integration_workspace *space = gsl_integration_workspace_alloc(200);
    double stay, error;
    gsl_integration_qag(&residence, 0, x, 1e-10, 1e-9, 200, GSL_INTEG_GAUSS31, space, &stay,
                        &error);
    gsl_integration_workspace_free(space);
    double second = 2 - exp(-x) * (x * x + 2 * x + 2), idle = 1 - load_below(x, theory->rate);
    double wait = theory->rate * (second + x * x * exp(-x)) / (2 * idle * idle);
    return (wait + stay) * exp(-x);
}

/* Foreground-background: everybody counts for at most x. moment1 = E[min(S, x)], moment2 =
 * E[min(S, x)^2]. */
static double fb_response(double x, double rate, double moment1, double moment2) {
    double idle = 1 - rate * moment1;
    return rate * moment2 / 2 / (idle * idle) + x / idle;
}

static double fb_of_size(double x, void *arg) {
    double tail = exp(-x);
    return fb_response(x, ((struct theory *)arg)->rate, 1 - tail, 2 * (1 - tail * (1 + x))) * tail;
}

static double fb_of_two(double x, void *arg) {
    double a = exp(-x / MEAN_SHORT), b = exp(-x / MEAN_LONG);
    double p = P_SHORT, q = 1 - P_SHORT, m = MEAN_SHORT, n = MEAN_LONG;
    double moment1 = p * m * (1 - a) + q * n * (1 - b);
    double moment2 = 2 * (p * m * m * (1 - a * (1 + x / m)) + q * n * n * (1 - b * (1 + x / n)));
    double density = p * a / m + q * b / n;
    return fb_response(x, ((struct theory *)arg)->rate, moment1, moment2) * density;
}

static double mean_over_sizes(double (*of_size)(double, void *), double load) {
    struct theory theory = {.rate = load, .space = gsl_integration_workspace_alloc(1000)};
    gsl_function function = {of_size, &theory};
    double mean, error;
    gsl_integration_qagiu(&function, 0, 1e-9, 1e-8, 1000, theory.space, &mean, &error);
    gsl_integration_workspace_free(theory.space);
    return mean * MEAN_SERVICE_S;
}

static void test_srpt(void **state) {
    (void)state;
    expect_in_table("srpt", mean_over_sizes(srpt_of_size, 0.7));
    check("M/M/1, srtf", "srtf", 1, 0.7, EXPONENTIAL, mean_over_sizes(srpt_of_size, 0.7));
}

static void test_fb(void **state) {
    (void)state;
    expect_in_table("fb", mean_over_sizes(fb_of_size, 0.6));
    check("M/M/1, las", "las", 1, 0.6, EXPONENTIAL, mean_over_sizes(fb_of_size, 0.6));
}

static void test_fb_two(void **state) {
    (void)state;
    expect_in_table("fb2", mean_over_sizes(fb_of_two, 0.6));
    check("M/H2/1, las", "las", 1, 0.6, TWO_EXPONENTIALS, mean_over_sizes(fb_of_two, 0.6));
}

/* --- a closed queue: users who think, and one GPU -------------------------------------------- */

#define THINK_S 500.0
enum { USERS = 10 };

/* Jobs of a user follow each other; job i is of user i mod USERS. */
static struct gsim_trace make_closed(uint64_t seed, struct gsim_arena *arena) {
    struct gsim_trace trace = make_trace(seed, 1, EXPONENTIAL, arena);
    int64_t *after = gsim_arena_array(arena, JOBS, sizeof *after);
    int64_t *think_ns = gsim_arena_array(arena, JOBS, sizeof *think_ns);
    int64_t *submit_ns = gsim_arena_array(arena, JOBS, sizeof *submit_ns);
    gsl_rng *thoughts = gsim_rng_stream(seed, 0, "think");
    for (int i = 0; i < JOBS; i++) {
        think_ns[i] = (int64_t)(gsl_ran_exponential(thoughts, THINK_S) * 1e9);
        after[i] = i < USERS ? -1 : i - USERS;
        submit_ns[i] = i < USERS ? i : 0;
    }
    gsl_rng_free(thoughts);
    trace.submit_ns = submit_ns;
    trace.column[GSIM_COL_AFTER] = after;
    trace.column[GSIM_COL_THINK_NS] = think_ns;
    return trace;
}

/* The mean time in system of the jobs before the last tenth, in which some users are done. */
static double mean_of_closed(uint64_t seed, const char *policy) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = make_closed(seed, arena);
    struct test_run run = {.trace = &trace, .policy = policy, .gpus_per_node = 1};
    struct gsim_result result = test_run(&run, arena);
    double sum = 0;
    uint32_t n = JOBS / 10 * 9;
    for (uint32_t job = 0; job < n; job++) {
        if (job >= USERS) /* a think time after the end of the user's last job, to the nanosecond */
            assert_int_equal(result.trace->submit_ns[job],
                             result.jobs.end_ns[job - USERS] +
                                 trace.column[GSIM_COL_THINK_NS][job]);
        sum += (double)(result.jobs.end_ns[job] - result.trace->submit_ns[job]) / 1e9;
    }
    gsim_arena_free(arena);
    return sum / n;
}

/* Mean value analysis (Reiser and Lavenberg, 1980), exact for FIFO and for processor sharing with
 * exponential times. */
static void test_closed(void **state) {
    (void)state;
    double exact_s = 0, waiting = 0, sum = 0, squares = 0;
    for (int n = 1; n <= USERS; n++) {
        exact_s = MEAN_SERVICE_S * (1 + waiting);
        waiting = n / (exact_s + THINK_S) * exact_s;
    }
    for (int i = 0; i < SEEDS; i++) {
        double mean = mean_of_closed(seeds[i], "fifo");
        sum += mean;
        squares += mean * mean;
    }
    double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    if (fabs(mean - exact_s) > 3 * error || error > 0.005 * sqrt(TEST_FEWER_REPEATED) * exact_s)
        fail_msg("closed queue: %.3f s, %.3f s by mean value analysis, standard error %.3f s", mean,
                 exact_s, error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mm1),    cmocka_unit_test(test_mmc), cmocka_unit_test(test_mg1),
        cmocka_unit_test(test_srpt),   cmocka_unit_test(test_fb),  cmocka_unit_test(test_fb_two),
        cmocka_unit_test(test_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
