/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of device types: values that Gavel's solver returned, and what each objective promises.
 * Gavel's 92 optima (stanford-futuredata/gavel @ c4fa400, rerun with ECOS) are read where they lie
 * beside the project; a few small ones, with the speeds of their jobs from
 * scheduler/simulation_throughputs.json (MIT), are here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies/lib/shares.h"
#include "sim/base/random.h"
#include "tests/support/runner.h"

enum { MOST_JOBS = 400, TYPES = 3 };

struct fixture {
    struct gsim_shares shares;
    struct gsim_share_job job[MOST_JOBS];
    struct gsim_share_entry entry[MOST_JOBS];
};

static int open_fixture(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    f->shares.lp.arena = gsim_arena_new();
    f->shares.job = f->job;
    f->shares.entry = f->entry;
    f->shares.n_types = TYPES;
    return f->shares.lp.arena ? 0 : -1;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    gsim_arena_free(f->shares.lp.arena);
    free(f);
    return 0;
}

static void begin(struct fixture *f, double a, double b, double c) {
    f->shares.n_jobs = f->shares.n_entries = 0;
    f->shares.entity = NULL;
    f->shares.gpus[0] = a;
    f->shares.gpus[1] = b;
    f->shares.gpus[2] = c;
}

static struct gsim_share_job *add(struct fixture *f, double gpus, double weight,
                                  const double *per_s) {
    uint32_t n = f->shares.n_jobs++;
    assert_true(n < MOST_JOBS);
    f->shares.n_entries = f->shares.n_jobs;
    f->job[n] = (struct gsim_share_job){.gpus = gpus, .weight = weight, .count = 1};
    f->entry[n] = (struct gsim_share_entry){.job = {n, GSIM_SHARE_ALONE}};
    memcpy(f->entry[n].per_s[0], per_s, TYPES * sizeof *per_s);
    return &f->job[n];
}

static void add_pair(struct fixture *f, uint32_t a, uint32_t b, const double *of_a,
                     const double *of_b) {
    struct gsim_share_entry *entry = &f->entry[f->shares.n_entries++];
    *entry = (struct gsim_share_entry){.job = {a, b}};
    memcpy(entry->per_s[0], of_a, TYPES * sizeof *of_a);
    memcpy(entry->per_s[1], of_b, TYPES * sizeof *of_b);
}

static void expect_close(double value, double expected, double most) {
    double off = (value - expected) / (expected != 0 ? expected : 1);
    if (off > most || off < -most)
        fail_msg("%.12g is not %.12g", value, expected);
}

/* The job's speed by its shares. */
static double speed_of(const struct fixture *f, uint32_t job) {
    double speed = 0;
    for (uint32_t e = 0; e < f->shares.n_entries; e++)
        for (int m = 0; m < 2; m++)
            for (uint32_t type = 0; type < TYPES && f->entry[e].job[m] == job; type++)
                speed += f->entry[e].per_s[m][type] * f->entry[e].share[type];
    return speed;
}

/* No job has more than its time, and no type more GPUs than it has. */
static void expect_fits(const struct fixture *f) {
    const double most = 1e-6;
    double gpus[TYPES] = {0}, time[MOST_JOBS] = {0};
    for (uint32_t e = 0; e < f->shares.n_entries; e++)
        for (uint32_t type = 0; type < TYPES; type++) {
            const struct gsim_share_entry *entry = &f->entry[e];
            const struct gsim_share_job *job = &f->job[entry->job[0]];
            assert_true(entry->share[type] >= 0 && entry->share[type] <= 1);
            gpus[type] += entry->share[type] * job->count * job->gpus;
            time[entry->job[0]] += entry->share[type];
            if (entry->job[1] != GSIM_SHARE_ALONE)
                time[entry->job[1]] += entry->share[type];
        }
    for (uint32_t type = 0; type < TYPES; type++)
        assert_true(gpus[type] <= f->shares.gpus[type] * (1 + most));
    for (uint32_t job = 0; job < f->shares.n_jobs; job++)
        assert_true(time[job] <= 1 + most);
}

/* --- Gavel's optima --------------------------------------------------------------------------- */

static const double ones[TYPES] = {1, 1, 1};

static void expect_optimum(struct fixture *f, const char *policy, double expected) {
    bool is_sum = strcmp(policy, "max_sum_throughput_perf") == 0;
    enum gsim_lp_end end =
        is_sum ? gsim_shares_max_sum(&f->shares) : gsim_shares_max_min(&f->shares);
    if (end != GSIM_LP_OPTIMAL)
        fail_msg("%s: %s", policy, gsim_lp_end_text(end));
    expect_fits(f);
    expect_close(f->shares.value, expected, 1e-6);
}

/* Rows 71 77 84 86 89 90 92 94 95 of max_min_fairness.trace on 8:16:24 at 54359.4 s, and the rows
 * 71 79 82 84 88 89 90 92 94 95: v100, p100, k80 in steps per second. */
struct small {
    double gpus, per_s[TYPES];
};

static const struct small
    some[] = {{4, {14.17451716526748, 8.774055121555529, 2.8653897227567016}},
              {4, {69.95051765177759, 45.35074002546124, 6.98169990398197}},
              {1, {4.394774823323071, 2.6194694075770055, 0.6190282202246573}},
              {4, {69.95051765177759, 45.35074002546124, 6.98169990398197}},
              {2, {15.882848624471642, 14.228807697629525, 1.673815653100855}},
              {2, {4.2230145549692715, 2.8808978271495276, 0.0}},
              {4, {69.95051765177759, 45.35074002546124, 6.98169990398197}},
              {1, {17.994906225052176, 11.675499943575447, 1.8065297880422846}},
              {1, {45.23737155222392, 35.76638325549232, 11.49965208600937}}},
    others[] = {{4, {14.17451716526748, 8.774055121555529, 2.8653897227567016}},
                {2, {2.8852436298687203, 2.941399294868527, 0.8491945073883904}},
                {1, {5.44610521981264, 3.0735350560514787, 0.9815827061299781}},
                {1, {4.394774823323071, 2.6194694075770055, 0.6190282202246573}},
                {2, {2.8852436298687203, 2.941399294868527, 0.8491945073883904}},
                {2, {15.882848624471642, 14.228807697629525, 1.673815653100855}},
                {2, {4.2230145549692715, 2.8808978271495276, 0.0}},
                {4, {69.95051765177759, 45.35074002546124, 6.98169990398197}},
                {1, {17.994906225052176, 11.675499943575447, 1.8065297880422846}},
                {1, {45.23737155222392, 35.76638325549232, 11.49965208600937}}};

static void test_small_optima(void **state) {
    struct fixture *f = *state;
    begin(f, 8, 16, 24);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        add(f, some[i].gpus, 1, some[i].per_s);
    expect_optimum(f, "max_min_fairness_perf", 1.79431384);
    begin(f, 8, 16, 24);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add(f, others[i].gpus, 1, others[i].per_s);
    expect_optimum(f, "max_sum_throughput_perf", 174.790235);
    begin(f, 12, 12, 12);
    add(f, 4, 1, ones);
    add(f, 4, 1, ones);
    expect_optimum(f, "max_min_fairness", 4);
}

/* What ECOS 2.0.10 returned for the first of these, in Gavel's program: v100, p100, k80. */
static void test_the_shares_of_ecos(void **state) {
    struct fixture *f = *state;
    static const double expected[][TYPES] = {
        {0.1712442994695236, 0.33224810821626177, 0.3235047462478074},
        {0.16838049172987643, 0.32853096179905833, 0.32907545506959274},
        {0.73743287527157586, 0.13864261216148088, 0.071973596337781401},
        {0.16838049172987643, 0.32853096179905833, 0.32907545506959274},
        {0.27360036867217752, 0.36010412632782263, 0.22153202289859916},
        {0.27625654770550262, 0.33257340427995297, 0.2324529395433037},
        {0.16838049172987643, 0.32853096179905833, 0.32907545506959274},
        {0.71321809666835312, 0.15964348678426962, 0.073448678912269735},
        {0.99999999999618638, 2.1836826928711e-12, 3.167185763850014e-12}};
    f->shares.is_as_gavel = true;
    begin(f, 8, 16, 24);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        add(f, some[i].gpus, 1, some[i].per_s);
    assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
    for (uint32_t job = 0; job < f->shares.n_jobs; job++)
        for (uint32_t type = 0; type < TYPES; type++)
            expect_close(1 + f->entry[job].share[type], 1 + expected[job][type], 1e-9);
}

#define ELASTIC "../shared/validation/elastic/"

struct speeds {
    char device[8], model[64];
    unsigned gpus;
    double per_s;
};

struct tables {
    struct speeds speeds[1024];
    size_t n;
    char trace[128]; /* the trace that is read */
    struct {
        char model[64];
        double gpus, weight;
    } row[512];
};

static void read_speeds(struct tables *t) {
    FILE *file = fopen(ELASTIC "tables/gavel_solo.csv", "r");
    char line[512];
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct speeds *s = &t->speeds[t->n];
        if (sscanf(line, "%7[^,],%63[^,],%u,%lf", s->device, s->model, &s->gpus, &s->per_s) == 4)
            t->n++;
    }
    assert_int_equal(fclose(file), 0);
    assert_true(t->n > 100);
}

static void read_trace(struct tables *t, const char *name) {
    char path[256], line[1024];
    (void)snprintf(path, sizeof path, ELASTIC "traces/%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t n = 0; fgets(line, sizeof line, file); n++) {
        const char *at = line;
        size_t length = strcspn(line, "\t");
        memcpy(t->row[n].model, line, length);
        t->row[n].model[length] = '\0';
        for (int field = 0; field < 6; field++)
            at = strchr(at, '\t') + 1;
        assert_int_equal(sscanf(at, "%lf\t%lf", &t->row[n].gpus, &t->row[n].weight), 2);
    }
    assert_int_equal(fclose(file), 0);
    (void)snprintf(t->trace, sizeof t->trace, "%s", name);
}

static double speed_in(const struct tables *t, const char *device, const char *model, double gpus) {
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->speeds[i].device, device) == 0 && strcmp(t->speeds[i].model, model) == 0 &&
            t->speeds[i].gpus == (unsigned)gpus)
            return t->speeds[i].per_s;
    fail_msg("no speed of %s on %g %s", model, gpus, device);
    return 0;
}

static void check_row(struct fixture *f, struct tables *t, char *line) {
    static const char *const devices[TYPES] = {"v100", "p100", "k80"};
    char trace[128], policy[64];
    double gpus[TYPES], optimum;
    int jobs;
    assert_int_equal(sscanf(line, "%127[^,],%lf:%lf:%lf,%63[^,],%*[^,],%*[^,],%lf,%*[^,],%n", trace,
                            &gpus[0], &gpus[1], &gpus[2], policy, &optimum, &jobs),
                     6);
    if (strcmp(t->trace, trace) != 0)
        read_trace(t, trace);
    bool sees_speed = strstr(policy, "_perf") != NULL;
    begin(f, gpus[0], gpus[1], gpus[2]);
    for (char *at = line + jobs; *at >= '0' && *at <= '9'; at += *at == ' ') {
        double per_s[TYPES];
        long row = strtol(at, &at, 10);
        for (int d = 0; d < TYPES; d++)
            per_s[d] = speed_in(t, devices[d], t->row[row].model, t->row[row].gpus);
        add(f, t->row[row].gpus, t->row[row].weight, sees_speed ? per_s : ones);
    }
    expect_optimum(f, policy, optimum);
}

static void test_gavel_optima(void **state) {
    struct fixture *f = *state;
    FILE *file = fopen(ELASTIC "visible/gavel_lp.csv", "r");
    char line[8192];
    int n = 0;
    if (!file) {
        print_message("# skipped: no " ELASTIC "\n");
        skip();
    }
    struct tables *t = calloc(1, sizeof *t);
    assert_non_null(t);
    read_speeds(t);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, "gavel/", 6) == 0 && n++ % TEST_FEWER == 0)
            check_row(f, t, line);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(n, 92);
    free(t);
}

/* --- what objectives promise ------------------------------------------------------------------ */

/* With the shares each job ends in this time. */
static void expect_ends_by(const struct fixture *f, double time_s) {
    for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
        double per_s = 0;
        for (uint32_t type = 0; type < f->shares.n_types; type++)
            per_s += f->entry[job].per_s[0][type] * f->entry[job].share[type];
        assert_true(f->job[job].left <= per_s * time_s * (1 + 1e-6));
    }
}

/* Two jobs of 10 and 30 steps on a GPU of 1 step a second and one of 2: together 3 steps a second
 * can go to both as long as each has one GPU at a time. The second job's 30 steps take 15 s at
 * least, in which the slow GPU makes the other's 10. */
static void test_makespan(void **state) {
    struct fixture *f = *state;
    begin(f, 1, 1, 0);
    add(f, 1, 1, (double[]){1, 2, 0})->left = 10;
    add(f, 1, 1, (double[]){1, 2, 0})->left = 30;
    assert_int_equal(gsim_shares_makespan(&f->shares, false), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 15, 1e-9);
    expect_close(f->entry[1].share[1], 1, 1e-6);
    expect_ends_by(f, 15);
    f->job[0].left = 25; /* 55 steps at 3 a second */
    assert_int_equal(gsim_shares_makespan(&f->shares, false), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 55.0 / 3, 1e-9);
    expect_ends_by(f, 55.0 / 3);
    expect_fits(f);
}

/* The times that Gavel's program tries are 100 s and a part of 999 900 s, halved again and again, until
 * the last two are 5 % apart: the shortest in which jobs of 15 s can end is then the 18th half, and
 * in which jobs of 1500 s can, 1503.66 s. */
static void test_makespan_as_tried(void **state) {
    struct fixture *f = *state;
    begin(f, 1, 1, 0);
    add(f, 1, 1, (double[]){1, 2, 0})->left = 10;
    add(f, 1, 1, (double[]){1, 2, 0})->left = 30;
    assert_int_equal(gsim_shares_makespan(&f->shares, true), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 100 + 999900.0 / (1 << 18), 1e-12);
    expect_ends_by(f, f->shares.value);
    f->job[0].left = 1000;
    f->job[1].left = 3000;
    assert_int_equal(gsim_shares_makespan(&f->shares, true), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 100 + 999900.0 * 23 / (1 << 14), 1e-12);
    expect_ends_by(f, f->shares.value);
    expect_fits(f);
}

/* One GPU for two jobs of 100 s, of which one came 100 s ago and would have taken 200 s with half of
 * the GPU, the other just came and would take 200 s: the first needs (100 + 100 / x) / 300, the second
 * 100 / (1 - x) / 200. Both are rho at x = 1 / 2 (1 + 2 / (rho 3 - 1) ...): x = 1 / (3 rho - 1),
 * 1 - x = 1 / (2 rho), so that 6 rho^2 - 7 rho + 1 = 0 and rho = 1. */
static void test_finish_time_fairness(void **state) {
    struct fixture *f = *state;
    begin(f, 1, 0, 0);
    struct gsim_share_job *first = add(f, 1, 1, (double[]){1, 0, 0});
    *first = (struct gsim_share_job){
        .gpus = 1, .weight = 1, .count = 1, .left = 100, .age_s = 100, .alone_s = 300};
    *add(f, 1, 1, (double[]){1, 0, 0}) =
        (struct gsim_share_job){.gpus = 1, .weight = 1, .count = 1, .left = 100, .alone_s = 200};
    assert_int_equal(gsim_shares_finish_time(&f->shares), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 1, 1e-8);
    expect_close(f->entry[0].share[0], 0.5, 1e-6);
}

static double draw(struct gsim_random *random, int64_t least, int64_t most) {
    return (double)(least + (int64_t)gsim_random_below(random, (uint64_t)(most - least + 1)));
}

static void draw_jobs(struct fixture *f, struct gsim_random *random) {
    uint32_t n = (uint32_t)draw(random, 1, 12);
    double size[TYPES]; /* one after the other: compilers differ in the order of arguments */
    for (int type = 0; type < TYPES; type++)
        size[type] = draw(random, 2, 6);
    begin(f, size[0], size[1], size[2]);
    for (uint32_t i = 0; i < n; i++) {
        double per_s[TYPES];
        for (int type = 0; type < TYPES; type++)
            per_s[type] = draw(random, type > 0 ? 0 : 1, 40) / 7;
        struct gsim_share_job *job = add(f, draw(random, 1, 2), 1, per_s);
        job->weight = draw(random, 1, 3);
        job->left = draw(random, 1, 10000);
        job->age_s = draw(random, 0, 2000);
        job->alone_s = job->age_s + job->left * draw(random, 1, 9);
    }
}

/* The job that is worst off has rho, and with a rho a millionth smaller the demands cannot be met:
 * a programme of their largest common part falls short. */
static void test_finish_time_fairness_is_least(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 1, 0, "shares");
    for (int i = 0; i < 200 / TEST_FEWER; i++) {
        draw_jobs(f, &random);
        assert_int_equal(gsim_shares_finish_time(&f->shares), GSIM_LP_OPTIMAL);
        expect_fits(f);
        double rho = f->shares.value, worst = 0;
        for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
            const struct gsim_share_job *j = &f->job[job];
            double own = (j->age_s + j->left / speed_of(f, job)) / j->alone_s;
            worst = own > worst ? own : worst;
        }
        expect_close(worst, rho, 1e-6);
        for (uint32_t job = 0; job < f->shares.n_jobs; job++) { /* as steps of a makespan of 1 s */
            struct gsim_share_job *j = &f->job[job];
            j->left /= rho * (1 - 1e-5) * j->alone_s - j->age_s;
        }
        bool is_at_limit = false; /* a job alone cannot be faster */
        for (uint32_t job = 0; job < f->shares.n_jobs; job++)
            is_at_limit |= f->job[job].left <= 0;
        if (is_at_limit)
            continue;
        assert_int_equal(gsim_shares_makespan(&f->shares, false), GSIM_LP_OPTIMAL);
        assert_true(f->shares.value > 1);
    }
}

/* Equal jobs may be counted as one: the values are those of the jobs one by one. */
static void test_equal_jobs_as_one(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 2, 0, "shares");
    for (int i = 0; i < 100 / TEST_FEWER; i++) {
        double one_by_one[3], as_one[3];
        draw_jobs(f, &random);
        uint32_t n = f->shares.n_jobs;
        for (uint32_t job = 0; job < n; job++)
            f->job[job].count = draw(&random, 1, 4);
        for (int round = 0; round < 2; round++) {
            double *values = round == 0 ? as_one : one_by_one;
            assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
            values[0] = f->shares.value;
            assert_int_equal(gsim_shares_max_sum(&f->shares), GSIM_LP_OPTIMAL);
            values[1] = f->shares.value;
            assert_int_equal(gsim_shares_makespan(&f->shares, false), GSIM_LP_OPTIMAL);
            values[2] = f->shares.value;
            expect_fits(f);
            for (uint32_t job = 0; job < n && round == 0; job++)
                for (; f->job[job].count > 1; f->job[job].count--)
                    *add(f, 0, 0, f->entry[job].per_s[0]) =
                        (struct gsim_share_job){.gpus = f->job[job].gpus,
                                                .weight = f->job[job].weight,
                                                .count = 1,
                                                .left = f->job[job].left};
        }
        for (int k = 0; k < 3; k++)
            expect_close(as_one[k], one_by_one[k], 1e-7);
    }
}

static void count_in(struct fixture *f, double steps) {
    for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
        f->job[job].left *= steps;
        for (int type = 0; type < TYPES; type++)
            f->entry[job].per_s[0][type] *= steps;
    }
}

/* Steps that are a 2^14th of others, or as much longer, change nothing but the numbers. */
static void test_finish_time_fairness_of_other_steps(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 7, 0, "shares");
    for (int i = 0; i < 100 / TEST_FEWER; i++) {
        const double steps[] = {1, 1 << 14, 1.0 / (1 << 28)};
        double rho[3];
        draw_jobs(f, &random);
        for (int k = 0; k < 3; k++) {
            count_in(f, steps[k]);
            assert_int_equal(gsim_shares_finish_time(&f->shares), GSIM_LP_OPTIMAL);
            expect_fits(f);
            rho[k] = f->shares.value;
        }
        expect_close(rho[1], rho[0], 1e-7);
        expect_close(rho[2], rho[0], 1e-7);
    }
}

static uint64_t sum_bytes(const struct fixture *f, uint64_t sum) {
    for (uint32_t e = 0; e < f->shares.n_entries; e++) {
        const unsigned char *bytes = (const unsigned char *)f->entry[e].share;
        for (size_t b = 0; b < TYPES * sizeof(double); b++)
            sum = (sum ^ bytes[b]) * 1099511628211u;
    }
    return sum;
}

/* The bytes of all shares: this number is one in every build, by gcc and clang, at any
 * optimisation. */
static void test_bytes(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    uint64_t sum = 14695981039346656037u;
    gsim_random_seed(&random, 4, 0, "shares");
    for (int i = 0; i < 20; i++) {
        draw_jobs(f, &random);
        assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
        sum = sum_bytes(f, sum);
        assert_int_equal(gsim_shares_finish_time(&f->shares), GSIM_LP_OPTIMAL);
        sum = sum_bytes(f, sum);
    }
    assert_int_equal(sum, 0x10d4c99e689502d5);
}

/* The level of a job in parts of the cluster. */
static double level_of(const struct fixture *f, uint32_t job) {
    double part = 0, gpus = 0;
    for (int type = 0; type < TYPES; type++) {
        part += f->entry[job].per_s[0][type] * f->shares.gpus[type];
        gpus += f->shares.gpus[type];
    }
    return speed_of(f, job) * f->job[job].gpus / (f->job[job].weight * part / gpus);
}

/* Water filling: the least level is that of max-min, and no job can be raised without lowering one
 * that is not above it: with every job that is as low or lower held to its level, a programme cannot
 * raise the job. */
static void test_water_filling(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 3, 0, "shares");
    for (int i = 0; i < 60 / TEST_FEWER; i++) {
        double level[MOST_JOBS];
        draw_jobs(f, &random);
        assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
        double least = f->shares.value;
        assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
        expect_fits(f);
        expect_close(f->shares.value, least, 1e-7);
        for (uint32_t job = 0; job < f->shares.n_jobs; job++)
            level[job] = level_of(f, job);
        struct gsim_lp *lp = &f->shares.lp; /* that of the last fill has room for all rows */
        for (uint32_t raised = 0; raised < f->shares.n_jobs; raised++) {
            uint32_t first = f->shares.n_jobs + TYPES, last = f->shares.n_entries * TYPES;
            lp->gain[last] = 0;
            for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
                bool is_held = level[job] <= level[raised] * (1 + 1e-7) && job != raised;
                lp->bound[first + job] = is_held ? speed_of(f, job) * (1 - 1e-9) : 0;
                gsim_lp_set(lp, first + job, last, 0);
                for (uint32_t type = 0; type < TYPES; type++) {
                    double per_s = f->entry[job].per_s[0][type];
                    gsim_lp_set(lp, first + job, job * TYPES + type, per_s);
                    lp->gain[job * TYPES + type] = job == raised ? per_s : 0;
                }
            }
            lp->upper[last] = 0;
            assert_int_equal(gsim_lp_solve(lp), GSIM_LP_OPTIMAL);
            double value = lp->value; /* without what the lower bounds of the held jobs are worth */
            for (uint32_t job = 0; job < f->shares.n_jobs; job++)
                value += lp->price[first + job] * 1e-9 * speed_of(f, job);
            expect_close(value, speed_of(f, raised), 1e-6);
        }
    }
}

/* Two owners of weights 1 and 3 share 2 GPUs, a half and one and a half: the first divides its half
 * among three jobs, 1/6 each; the second serves one after the other, so that the head of its queue
 * has a GPU of its own, the next one what is left of the owner's part, and those behind nothing. */
static void test_owners(void **state) {
    struct fixture *f = *state;
    static const struct gsim_share_entity owners[] = {{.weight = 1},
                                                      {.weight = 3, .is_fifo = true}};
    begin(f, 2, 0, 0);
    for (uint32_t i = 0; i < 7; i++)
        add(f, 1, 1, (double[]){1, 0, 0})->entity = i < 3 ? 0 : 1;
    f->shares.entity = owners;
    assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
    expect_fits(f);
    static const double expected[] = {1.0 / 6, 1.0 / 6, 1.0 / 6, 1, 0.5, 0, 0};
    for (uint32_t job = 0; job < 7; job++)
        expect_close(1 + f->entry[job].share[0], 1 + expected[job], 1e-6);
}

/* Pairs of jobs with equal gangs, at 0.4 to 0.9 of their speeds. */
static void draw_pairs(struct fixture *f, struct gsim_random *random) {
    for (uint32_t a = 0; a < f->shares.n_jobs; a++)
        for (uint32_t b = a + 1; b < f->shares.n_jobs; b++) {
            double of_a[TYPES], of_b[TYPES];
            if (f->job[a].gpus < f->job[b].gpus || f->job[a].gpus > f->job[b].gpus)
                continue;
            for (int type = 0; type < TYPES; type++) {
                double part_a = 0.4 + 0.1 * (double)gsim_random_below(random, 6);
                double part_b = 0.4 + 0.1 * (double)gsim_random_below(random, 6);
                of_a[type] = f->entry[a].per_s[0][type] * part_a;
                of_b[type] = f->entry[b].per_s[0][type] * part_b;
            }
            add_pair(f, a, b, of_a, of_b);
        }
}

/* Water filling with pairs, with owners: one that has all jobs changes nothing, and neither do as
 * many as there are jobs, each with the weight of its own. How fast jobs are is unique, however
 * they are paired. */
static void test_owners_of_pairs(void **state) {
    struct fixture *f = *state;
    struct gsim_random random;
    gsim_random_seed(&random, 8, 0, "shares");
    for (int i = 0; i < 60 / TEST_FEWER; i++) {
        double speed[MOST_JOBS];
        struct gsim_share_entity one = {.weight = 5}, each[MOST_JOBS];
        draw_jobs(f, &random);
        draw_pairs(f, &random);
        assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
        expect_fits(f);
        for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
            speed[job] = speed_of(f, job);
            each[job] = (struct gsim_share_entity){.weight = f->job[job].weight};
        }
        f->shares.entity = &one;
        assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
        expect_fits(f);
        for (uint32_t job = 0; job < f->shares.n_jobs; job++) {
            expect_close(speed_of(f, job), speed[job], 1e-6);
            f->job[job].entity = job;
        }
        f->shares.entity = each;
        assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
        expect_fits(f);
        for (uint32_t job = 0; job < f->shares.n_jobs; job++)
            expect_close(speed_of(f, job), speed[job], 1e-6);
    }
}

/* Two jobs on one GPU, each at 0.8 of its speed beside the other: both have 0.8, not 0.5. */
static void test_pairs(void **state) {
    struct fixture *f = *state;
    begin(f, 1, 0, 0);
    add(f, 1, 1, (double[]){10, 0, 0});
    add(f, 1, 1, (double[]){1, 0, 0});
    assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 0.5, 1e-9);
    add_pair(f, 0, 1, (double[]){8, 0, 0}, (double[]){0.8, 0, 0});
    assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 0.8, 1e-9);
    expect_close(f->entry[2].share[0], 1, 1e-9);
    expect_fits(f);
    assert_int_equal(gsim_shares_max_sum(&f->shares), GSIM_LP_OPTIMAL);
    expect_close(f->shares.value, 10, 1e-9);
}

static void test_jobs_that_run_nowhere(void **state) {
    struct fixture *f = *state;
    begin(f, 1, 1, 0);
    assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL); /* no job at all */
    add(f, 1, 1, (double[]){0, 0, 0})->left = 5;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(gsim_shares_max_min(&f->shares), GSIM_LP_OPTIMAL);
        assert_int_equal(gsim_shares_water_fill(&f->shares), GSIM_LP_OPTIMAL);
        assert_int_equal(gsim_shares_makespan(&f->shares, false), GSIM_LP_OPTIMAL);
        assert_int_equal(gsim_shares_finish_time(&f->shares), GSIM_LP_OPTIMAL);
        assert_int_equal(gsim_shares_max_sum(&f->shares), GSIM_LP_OPTIMAL);
        if (round == 0) {
            struct gsim_share_job *job = add(f, 1, 1, (double[]){1, 2, 0});
            job->left = 10;
            job->alone_s = 10;
        }
    }
    expect_close(f->shares.value, 2, 1e-9);
    expect_close(f->entry[1].share[1], 1, 1e-9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_small_optima),
        TEST(test_the_shares_of_ecos),
        TEST(test_bytes),
        TEST(test_gavel_optima),
        TEST(test_makespan),
        TEST(test_makespan_as_tried),
        TEST(test_finish_time_fairness),
        TEST(test_finish_time_fairness_is_least),
        TEST(test_finish_time_fairness_of_other_steps),
        TEST(test_equal_jobs_as_one),
        TEST(test_water_filling),
        TEST(test_owners),
        TEST(test_owners_of_pairs),
        TEST(test_pairs),
        TEST(test_jobs_that_run_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
