/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generated traces: reproducible, distributed as asked for, and the samples byte for byte. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>

#include "sim/base/rng.h"
#include "tests/support/trace_file.h"
#include "traces/distribution.h"
#include "traces/generate.h"
#include "traces/spec.h"
#include "traces/spec_read.h"
#include "traces/values.h"

static const struct gsim_spec *spec_of(struct fixture *f, const char *text,
                                       enum gsim_status expected) {
    const struct gsim_spec *spec = NULL;
    put(f, text, strlen(text));
    f->log = (struct gsim_log){0};
    assert_int_equal(gsim_spec_read(f->path, NULL, f->arena, &spec, &f->log), expected);
    return spec;
}

static struct gsim_trace generate(struct fixture *f, const char *text, uint64_t seed,
                                  uint64_t replication) {
    struct gsim_trace trace;
    const struct gsim_spec *spec = spec_of(f, text, GSIM_OK);
    assert_int_equal(gsim_trace_generate(spec, seed, replication, f->arena, &trace, &f->log),
                     GSIM_OK);
    return trace;
}

#define BASE                                                                                       \
    "[trace]\njobs = 2000\n[arrival]\nprocess = poisson\nrate = 0.5\n"                             \
    "[duration]\ndistribution = lognormal\nmu = 2\nsigma = 1\n"

static void test_generation_is_reproducible(void **state) {
    struct fixture *f = *state;
    struct gsim_trace a = generate(f, BASE, 7, 0), b = generate(f, BASE, 7, 0);
    expect_same(&a, &b);
    struct gsim_trace c = generate(f, BASE, 8, 0), d = generate(f, BASE, 7, 1);
    assert_true(a.submit_ns[0] != c.submit_ns[0]);
    assert_true(a.submit_ns[0] != d.submit_ns[0]);
    for (uint32_t i = 0; i < a.n_jobs; i++) {
        assert_int_equal(a.submit_ns[i] % 1000, 0); /* whole microseconds */
        assert_int_equal(a.service_ns[i] % 1000, 0);
    }
}

static void test_a_new_quantity_changes_no_other(void **state) {
    struct fixture *f = *state;
    struct gsim_trace a = generate(f, BASE, 7, 0);
    struct gsim_trace b = generate(f,
                                   BASE "[gpus]\nchoice = 1, 2\n[mem_gib]\n"
                                        "distribution = uniform\nlo = 1\nhi = 9\n",
                                   7, 0);
    assert_memory_equal(a.submit_ns, b.submit_ns, a.n_jobs * sizeof *a.submit_ns);
    assert_memory_equal(a.service_ns, b.service_ns, a.n_jobs * sizeof *a.service_ns);
    assert_non_null(b.gpus);
}

/* Poisson at 0.5 a second: 2000 jobs take 4000 s, standard deviation sqrt(2000) / 0.5 = 89 s.
 * The lognormal's mean: exp(2.5) = 12.18, its standard deviation 12.18 sqrt(e - 1) = 15.97, that of
 * a mean of 2000 0.357. Five of those each. */
static void test_generated_moments(void **state) {
    struct fixture *f = *state;
    struct gsim_trace t = generate(f, BASE, 1, 0);
    double sum = 0;
    for (uint32_t i = 0; i < t.n_jobs; i++)
        sum += (double)t.service_ns[i] / 1e9;
    assert_true(fabs((double)t.submit_ns[t.n_jobs - 1] / 1e9 - 4000) < 5 * 89);
    assert_true(fabs(sum / t.n_jobs - exp(2.5)) < 5 * 0.357);
}

/* Load 0.8 of 4 GPUs by jobs of 10 s on 1 or 3 GPUs: mean 20 GPU-s, so a job each 20 / 3.2 =
 * 6.25 s, always, since deterministic gaps have no spread. */
static void test_a_load_becomes_a_rate(void **state) {
    struct fixture *f = *state;
    struct gsim_trace t = generate(f,
                                   "[trace]\njobs = 3\n[arrival]\nprocess = deterministic\n"
                                   "load = 0.8\ngpus = 4\n"
                                   "[duration]\ndistribution = deterministic\nvalue = 10\n"
                                   "[gpus]\nchoice = 1, 3\nweights = 2, 2\n",
                                   1, 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(t.submit_ns[i], (i + 1) * INT64_C(6250000000));
}

/* Every mean against the average of 200 000 draws; the tolerance is five standard errors, whose
 * standard deviation is taken from the draws. */
/* Keys beside the file: a load takes the place of the file's rate, and twice the load halves all
 * times; a key that the file lacks is added. */
static void test_keys_take_the_place_of_the_files(void **state) {
    struct fixture *f = *state;
    static const char *const once[] = {"arrival.load=0.4", "arrival.gpus=4", "trace.jobs=20", NULL};
    static const char *const twice[] = {"arrival.load=0.8", "arrival.gpus=4", "trace.jobs=20",
                                        NULL};
    static const char *const bad[] = {"load=0.8", NULL};
    const struct gsim_spec *spec = NULL;
    struct gsim_trace a, b;
    put(f, BASE, strlen(BASE));
    assert_int_equal(gsim_spec_read(f->path, once, f->arena, &spec, &f->log), GSIM_OK);
    assert_int_equal(gsim_trace_generate(spec, 1, 0, f->arena, &a, &f->log), GSIM_OK);
    assert_int_equal(gsim_spec_read(f->path, twice, f->arena, &spec, &f->log), GSIM_OK);
    assert_int_equal(gsim_trace_generate(spec, 1, 0, f->arena, &b, &f->log), GSIM_OK);
    assert_int_equal(a.n_jobs, 20);
    assert_int_equal(b.n_jobs, 20);
    for (uint32_t job = 0; job < 20; job++) /* each gap is rounded to microseconds */
        assert_true(llabs(a.submit_ns[job] - 2 * b.submit_ns[job]) <= 2000 * (job + 1));
    assert_int_equal(gsim_spec_read(f->path, bad, f->arena, &spec, &f->log), GSIM_USAGE);
    assert_non_null(strstr(f->log.errors[0].text, "SECTION.KEY=VALUE"));
}

static void test_means_are_those_of_the_draws(void **state) {
    (void)state;
    static const double value[] = {1, 5}, cumulative[] = {0.25, 1};
    static const struct gsim_dist dists[] = {
        {.kind = GSIM_DIST_DETERMINISTIC, .param = {3}},
        {.kind = GSIM_DIST_UNIFORM, .param = {2, 5}},
        {.kind = GSIM_DIST_EXPONENTIAL, .param = {7}},
        {.kind = GSIM_DIST_LOGNORMAL, .param = {1, 0.5}},
        {.kind = GSIM_DIST_WEIBULL, .param = {2, 0.7}},
        {.kind = GSIM_DIST_PARETO, .param = {2, 3.5}},
        {.kind = GSIM_DIST_BOUNDED_PARETO, .param = {1, 1000, 1.3}},
        {.kind = GSIM_DIST_BOUNDED_PARETO, .param = {1, 1000, 1}},
        {.kind = GSIM_DIST_CHOICE, .value = value, .cumulative = cumulative, .n = 2},
        {.kind = GSIM_DIST_EMPIRICAL, .value = value, .n = 2},
    };
    enum { N = 200000 };
    gsl_rng *rng = gsim_rng_stream(1, 0, "means");
    assert_non_null(rng);
    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        double sum = 0, squares = 0;
        for (int k = 0; k < N; k++) {
            double x = gsim_dist_draw(&dists[i], rng);
            sum += x;
            squares += x * x;
        }
        double mean = sum / N, deviation = sqrt(fabs(squares / N - mean * mean) / N);
        assert_true(fabs(mean - gsim_dist_mean(&dists[i])) <= 5 * deviation + 1e-9);
    }
    gsl_rng_free(rng);
}

static void test_specs_that_do_not_do(void **state) {
    struct fixture *f = *state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"[trace]\njobs = 5\n", " no section [arrival]"},
        {"[trace]\njobs = none\n",
         "2: key 'jobs': 'none' is not a whole number from 1 to 100000000"},
        {"[trace]\njobs = 0\n", "2: key 'jobs': '0' is not a whole number from 1 to 100000000"},
        {BASE "[gpus]\nchoice = 1, 2\nmin = -1\n",
         "12: key 'min': '-1' is not a number of at least 0"},
        {BASE "[durations]\nmu = 1\n", "11: no section [durations]; did you mean [duration]?"},
        {BASE "[gpus]\nchoise = 1, 2\n", "11: [gpus] has no key 'choise'; did you mean 'choice'?"},
        {BASE "[gpus]\nchoice = 1, 2\nweights = 1\n", "12: key 'weights': '1' is not one weight"},
        {BASE "[gpus]\nchoice = 1, x\n", "11: key 'choice': '1, x' is not a list of numbers"},
        {BASE "[gpus]\ndistribution = wiebull\n", "11: no distribution is called 'wiebull'; did "
                                                  "you mean 'weibull'?"},
        {BASE "[gpus]\ndistribution = uniform\nlo = 1\n", "11: 'uniform' needs the key hi"},
        {BASE "[gpus]\ndistribution = uniform\nlo = 3\nhi = 1\n", "11: 'uniform' needs 0 <= lo"},
        {BASE "[gpus]\ndistribution = uniform\nlo = 1\nhi = 2\nmu = 3\n",
         "14: 'uniform' has no parameter 'mu'"},
        {BASE "[class]\nchoice = gold\n", "11: key 'choice': 'gold' is not one of production"},
        {BASE "[class]\ndistribution = uniform\nlo = 1\nhi = 2\n", "11: [class] needs choice ="},
        {"[trace]\njobs = 5\n[arrival]\nprocess = poisson\nload = 1\ngpus = 1\n[duration]\n"
         "distribution = pareto\nscale = 1\nalpha = 1\n",
         "5: load = needs durations and gpus with an exact finite mean"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)spec_of(f, cases[i].text, GSIM_BAD_INPUT);
        expect_error(f, cases[i].expected);
    }
}

/* Without weights a kind is as likely as the other: 1000 of 2000, standard deviation 22.4. What a
 * kind has of its own goes before the common section. */
static void test_kinds_of_jobs(void **state) {
    struct fixture *f = *state;
    struct gsim_trace t = generate(f,
                                   "[trace]\njobs = 2000\nkinds = a, b\n[arrival]\n"
                                   "process = poisson\nrate = 1\n[b/duration]\n"
                                   "distribution = deterministic\nvalue = 2\n[duration]\n"
                                   "distribution = deterministic\nvalue = 1\n[b/class]\n"
                                   "choice = realtime\n[limit_s]\ndistribution = deterministic\n"
                                   "value = 3\ntimes = duration\n",
                                   1, 0);
    int n_b = 0;
    for (uint32_t i = 0; i < t.n_jobs; i++) {
        bool is_b = t.service_ns[i] == 2 * S;
        n_b += is_b;
        assert_int_equal(t.service_ns[i], is_b ? 2 * S : S);
        assert_int_equal(gsim_trace_get(&t, GSIM_COL_CLASS, i), is_b ? GSIM_CLASS_REALTIME : -1);
        assert_int_equal(gsim_trace_get(&t, GSIM_COL_LIMIT_NS, i), 3 * t.service_ns[i]);
    }
    assert_true(n_b > 1000 - 5 * 22.4 && n_b < 1000 + 5 * 22.4);
}

static void test_kinds_in_turn(void **state) {
    struct fixture *f = *state;
    struct gsim_trace t = generate(f,
                                   "[trace]\njobs = 7\nkinds = a, b, c\nkind_weights = turn\n"
                                   "[arrival]\nprocess = poisson\nrate = 1\n"
                                   "[a/duration]\nchoice = 1\n[b/duration]\nchoice = 2\n"
                                   "[c/duration]\nchoice = 3\n",
                                   1, 0);
    for (uint32_t i = 0; i < t.n_jobs; i++)
        assert_int_equal(t.service_ns[i], (1 + i % 3) * S);
}

/* [arrival] is how jobs come, [ask/arrival] how requests of theirs do. */
static void test_open_loop_jobs(void **state) {
    struct fixture *f = *state;
    struct gsim_trace t = generate(f,
                                   "[trace]\njobs = 2\nkinds = ask, train\nkind_weights = turn\n"
                                   "[arrival]\nprocess = deterministic\nvalue = 5\n"
                                   "[gpu_ms]\nchoice = 2\n[ask/requests]\nchoice = 30\n"
                                   "[ask/period_ms]\nchoice = 40\n[ask/arrival]\n"
                                   "choice = poisson\n[train/iterations]\nchoice = 1000\n",
                                   1, 0);
    assert_int_equal(t.submit_ns[0], 5 * S);
    assert_int_equal(t.column[GSIM_COL_REQUESTS][0], 30);
    assert_int_equal(t.service_ns[0], 0); /* as when read: only a model can tell */
    assert_string_equal(t.names[GSIM_COL_ARRIVAL].name[t.column[GSIM_COL_ARRIVAL][0]], "poisson");
    assert_int_equal(t.column[GSIM_COL_REQUESTS][1], -1);
    assert_int_equal(t.service_ns[1], 2 * S);
}

static void test_empirical_values(void **state) {
    struct fixture *f = *state;
    const double *value;
    uint32_t n;
    static const char *const files[] = {"121\n7.5\n", "duration\r\n121\r\n7.5\r\n",
                                        "id,d\na,121\nb,7.5\n"};
    for (int i = 0; i < 3; i++) {
        put(f, files[i], strlen(files[i]));
        assert_int_equal(
            gsim_values_read(f->path, i == 2 ? "d" : NULL, f->arena, &value, &n, &f->log), GSIM_OK);
        assert_int_equal(n, 2);
        assert_true(value[0] == 121 && value[1] == 7.5);
    }
    put(f, "1\nx\n", 4);
    assert_int_equal(gsim_values_read(f->path, NULL, f->arena, &value, &n, &f->log),
                     GSIM_BAD_INPUT);
    expect_error(f, "2: 'x' is not a value");
}

/* --- files beside the tests ------------------------------------------------------------------- */

static char *slurp(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *n = fread(text, 1, 1 << 20, file);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void expect_sample(struct fixture *f, const char *name) {
    char spec_path[96], csv_path[96];
    (void)snprintf(spec_path, sizeof spec_path, "traces/samples/%s.ini", name);
    (void)snprintf(csv_path, sizeof csv_path, "traces/samples/%s.csv", name);
    const struct gsim_spec *spec;
    assert_int_equal(gsim_spec_read(spec_path, NULL, f->arena, &spec, &f->log), GSIM_OK);
    uint64_t seed = spec->seed;
    assert_int_equal(gsim_trace_generate(spec, seed, 0, f->arena, &f->trace, &f->log), GSIM_OK);
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(gsim_generate_write(spec, seed, 0, "", &f->trace, file, &f->log), GSIM_OK);
    assert_int_equal(fclose(file), 0);
    size_t n, n_expected;
    char *text = slurp(f->path, &n), *expected = slurp(csv_path, &n_expected);
    assert_non_null(text);
    assert_non_null(expected);
    assert_int_equal(n, n_expected);
    assert_memory_equal(text, expected, n);
    free(text);
    free(expected);
    struct gsim_trace generated = f->trace;
    assert_int_equal(read_put(f), GSIM_OK);
    assert_int_equal(f->log.n_warnings, 0);
    expect_same(&generated, &f->trace);
}

static void test_samples_are_what_their_specs_give(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"bursty",     "cluster",  "fractions",
                                        "heavy_tail", "memory",   "realtime",
                                        "small_lab",  "training", "users"};
    if (access("traces/samples/cluster.ini", R_OK) != 0) {
        print_message("not run from the repository's root: no samples\n");
        skip();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect_sample(f, names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_generation_is_reproducible),
        TEST(test_a_new_quantity_changes_no_other),
        TEST(test_generated_moments),
        TEST(test_a_load_becomes_a_rate),
        TEST(test_keys_take_the_place_of_the_files),
        TEST(test_means_are_those_of_the_draws),
        TEST(test_specs_that_do_not_do),
        TEST(test_kinds_of_jobs),
        TEST(test_kinds_in_turn),
        TEST(test_open_loop_jobs),
        TEST(test_empirical_values),
        TEST(test_samples_are_what_their_specs_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
