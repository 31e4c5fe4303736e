/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs alone: how long one takes, which host, clock and kernels make it take as long as a row says,
 * and what rows may say of jobs with programs. */
#define _XOPEN_SOURCE 700
#include "tests/support/programs.h"

/* --- alone ------------------------------------------------------------------------------------ */

static int64_t alone_us(struct fixture *f, const char *text, int64_t iterations) {
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program = program_on(f, &profile, text);
    struct gsim_context context = gsim_program_context(program, &profile, 0, 0, iterations);
    return gsim_program_alone_ns(&context) / US;
}

#define TWO                                                                                        \
    HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,20,h200,,,,,,\nlaunch,k,,,,,,,5,,\n"                  \
         "launch,l,,,,,,,3,,\nhost,gap,,2,,,,,,,\n"

/* Launched at 5 and 8 us, the kernels end at 15 and 35 us. With a wait after each iteration the next
 * begins 2 us later: 37 us each. With a wait after two, the second's host begins at 10 us, its
 * kernels follow at once and end at 65 us: 67 us for two; a third alone takes 37 us. Without waits
 * the GPU is busy from 5 us on, and the end of the host is 2 us after that of the last kernel. */
static void what_a_program_takes_alone(void **state) {
    struct fixture *f = *state;
    assert_int_equal(alone_us(f, TWO "sync,iteration,1,,,,,,,,\n", 10), 370);
    assert_int_equal(alone_us(f, TWO "sync,iteration,2,,,,,,,,\n", 2), 67);
    assert_int_equal(alone_us(f, TWO "sync,iteration,2,,,,,,,,\n", 2001), 67 * 1000 + 37);
    assert_int_equal(alone_us(f, TWO "sync,none,,,,,,,,,\n", 100), 5 + 30 * 100 + 2);
    assert_int_equal(alone_us(f, TWO "sync,none,,,,,,,,,\n", 100000), 5 + 30 * 100000 + 2);
}

/* The host waits at 6 us for the first kernel, which ends at 15 us, and launches the second 3 us
 * later: 18 to 38 us. */
static void a_wait_within_an_iteration(void **state) {
    struct fixture *f = *state;
    static const char text[] =
        HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,20,h200,,,,,,\nlaunch,k,,,,,,,5,,\n"
             "wait,device,,,,,,,1,,\nlaunch,l,,,,,,,3,,\nhost,gap,,2,,,,,,,\n";
    assert_int_equal(alone_us(f, text, 1), 40);
    assert_int_equal(alone_us(f, text, 50), 40 * 50);
}

/* Launches at 6 and 9 us; the GPU is done at 36, and the host at 11. The wait of the next iteration, at
 * 12, is for the kernel that ends at 36, so that iterations are 1 us less than 36 apart. The host is
 * done 2 us after the last kernel. The event stands behind launches of the iteration before. */
static void a_wait_is_for_the_iteration_before_too(void **state) {
    struct fixture *f = *state;
#define LATER "launch,k,,,,,,,5,,\nlaunch,l,,,,,,,3,,\nhost,gap,,2,,,,,,,\nsync,none,,,,,,,,,\n"
    static const char text[] =
        HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,20,h200,,,,,,\nwait,device,,,,,,,1,,\n" LATER;
    static const char event[] = HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,20,h200,,,,,,\n"
                                     "record,e,,,,,,,0.5,,\nwait,e,,,,,,,0.5,,\n" LATER;
    assert_int_equal(alone_us(f, text, 1), 38);
    assert_int_equal(alone_us(f, text, 50), 38 + 35 * 49);
    assert_int_equal(alone_us(f, event, 50), 38 + 35 * 49);
}

/* A queue of one: the launch of the second kernel returns when the first has ended, 15 us, and that
 * of the next iteration's first when the second has, 35 us. That one is due 2 + 5 us after the
 * second's launch, 22 us, so that the GPU never waits. */
static void a_full_queue_holds_the_host_up(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    profile.value[GSIM_KEY_LAUNCH_QUEUE] = 1;
    const struct gsim_program *program = program_on(f, &profile, TWO "sync,none,,,,,,,,,\n");
    struct gsim_context context = gsim_program_context(program, &profile, 0, 0, 3);
    assert_int_equal(gsim_program_alone_ns(&context), (5 + 3 * 30 + 2) * US);
    context.spec.host_ns = 10 * program->host_ns; /* 100 us an iteration: 80 to the second launch */
    assert_int_equal(gsim_program_alone_ns(&context), (2 * 100 + 80 + 20 + 20) * US);
}

/* --- rows ------------------------------------------------------------------------------------- */

static struct gsim_context fitted(struct fixture *f, const char *text, int64_t n, int64_t each_us,
                                  int64_t host_us) {
    struct gsim_profile profile = h200(f);
    struct gsim_context context =
        gsim_program_context(program_on(f, &profile, text), &profile, 0, 0, n);
    int64_t time_ns = each_us * US * n;
    int64_t alone_ns = gsim_program_fit(&context, time_ns, host_us * US);
    assert_true(alone_ns <= time_ns && alone_ns > time_ns - 2 * n);
    return context;
}

#define SLOW                                                                                       \
    HEAD "kernel,k,,10,h200,,,,,,\nkernel,l,,20,h200,,,,,,\nlaunch,k,,,,,,,50,,\n"                 \
         "launch,l,,,,,,,30,,\nhost,gap,,20,,,,,,,\nsync,iteration,,,,,,,,,\n"

/* The profiled host launches at 50 and 80 us of 100: an iteration takes 50 + 30 + 20 us + 20 of the
 * last kernel. Measured at 60 us: with a factor x, 80 x + 20 + 20 x = 60, x = 0.4. At 35 us 5 of the
 * 30 us of the GPU are left: 50 x + 30 + 20 x = 35, x = 1 / 14, where the second launch, at 30 x
 * after the first, is no hindrance. At 140 us the host is as slow as profiled, and iterations are 20
 * us further apart than it makes them. */
static void the_time_alone_tells_the_host(void **state) {
    struct fixture *f = *state;
    struct gsim_context context = fitted(f, SLOW, 1000, 60, 0);
    assert_in_range(context.spec.host_ns, 39999, 40000);
    assert_int_equal(context.spec.pace_ns, 0);
    context = fitted(f, SLOW, 1000, 35, 0);
    assert_in_range(context.spec.host_ns, 100000 / 14 - 2, 100000 / 14 + 2);
    assert_int_equal(context.spec.gpu_ns, 30 * US);
    context = fitted(f, SLOW, 1000, 140, 0);
    assert_int_equal(context.spec.host_ns, 100 * US);
    assert_in_range(context.spec.pace_ns, 139990, 140100);
    context = fitted(f, SLOW, 1000, 140, 40);
    assert_int_equal(context.spec.host_ns, 40 * US);
    context = fitted(f, SLOW, 1000, 20, 0); /* its kernels are shorter */
    assert_in_range(context.spec.gpu_ns, 19998, 20000);
}

/* The calls of a host are whole nanoseconds each, so that as it gets longer an iteration of SLOW may be
 * longer by one for each of its three calls at once, and no host gives some times. The nearest one
 * below is the host of such a row, and not the one of the profile, with which an iteration takes 120 us. */
static void a_time_that_no_host_gives(void **state) {
    struct fixture *f = *state;
    struct gsim_profile profile = h200(f);
    const struct gsim_program *program = program_on(f, &profile, SLOW);
    int n_missed = 0;
    for (int64_t time_ns = 45000; time_ns < 45200; time_ns++) {
        struct gsim_context context = gsim_program_context(program, &profile, 0, 0, 1);
        int64_t alone_ns = gsim_program_fit(&context, time_ns, 0);
        assert_true(alone_ns <= time_ns && alone_ns > time_ns - 3);
        assert_int_equal(gsim_program_alone_ns(&context), alone_ns);
        n_missed += alone_ns < time_ns;
    }
    assert_true(n_missed > 0);
}

#define MUCH_POWER                                                                                 \
    "kind,name,time_us,device,host_us,joules\nenergy,iteration,,,,%s\nkernel,k,30,h200,,\n"        \
    "launch,k,,,50,\nhost,gap,,,50,\nsync,iteration,,,,\n"

/* The host launches after 50 us of 100 and waits for 30 us of the GPU. Measured at 60 us it has 30 us
 * of its own, if the GPU is as fast as in the profile. 0.0252 J in 30 us are 840 W where 560 are left:
 * with an exponent of energy of 1.95 they are within the limit in t with (30 / t)^1.95 = t / 45, 34.42 us.
 * So the GPU takes as much of an iteration, whatever its host does, and no more than the row's time. */
static void the_energy_tells_the_clock(void **state) {
    struct fixture *f = *state;
    char text[512];
    snprintf(text, sizeof text, MUCH_POWER, "0.0168");
    assert_int_equal(fitted(f, text, 1000, 60, 0).spec.pace_ns, 0);
    snprintf(text, sizeof text, MUCH_POWER, "0.0252");
    assert_in_range(fitted(f, text, 1000, 60, 0).spec.pace_ns, 34415, 34425);
    assert_in_range(fitted(f, text, 1000, 60, 0).spec.host_ns, 29990, 30000);
    assert_in_range(fitted(f, text, 1000, 32, 0).spec.pace_ns, 31900, 32100);
}

/* The host of SLOW takes 40 us of 100 without the profiler. An iteration of 60 us needs such a host, 35 us
 * a faster one, and 80 us one of 60: 80 x + 20 + 20 x = 80. At 140 us no host is slow enough, so its GPU
 * is, and its host is as it is; what a row says goes before the file. */
static void a_file_tells_the_host(void **state) {
    struct fixture *f = *state;
    static const char text[] = SLOW "host,launch,,40,,,,,,,\n";
    assert_in_range(fitted(f, text, 1000, 60, 0).spec.host_ns, 39999, 40000);
    assert_in_range(fitted(f, text, 1000, 35, 0).spec.host_ns, 100000 / 14 - 2, 100000 / 14 + 2);
    assert_in_range(fitted(f, text, 1000, 80, 0).spec.host_ns, 59999, 60000);
    assert_int_equal(fitted(f, text, 1000, 140, 0).spec.host_ns, 40 * US);
    assert_in_range(fitted(f, text, 1000, 140, 0).spec.pace_ns, 139990, 140100);
    assert_int_equal(fitted(f, text, 1000, 140, 30).spec.host_ns, 30 * US);
    struct gsim_profile profile = h200(f);
    assert_int_equal(
        gsim_program_context(program_on(f, &profile, text), &profile, 0, 0, 1).spec.host_ns,
        40 * US);
}

static const struct gsim_trace *resolve(struct fixture *f, const char *rows) {
    static const struct gsim_trace *out;
    struct gsim_profile *profile = gsim_arena_alloc(f->arena, sizeof *profile);
    const struct gsim_profile **profiles = gsim_arena_alloc(f->arena, sizeof *profiles);
    *profile = h200(f);
    profiles[0] = profile;
    struct gsim_cluster_spec cluster = {.profiles = profiles, .n_profiles = 1};
    put(f, rows, strlen(rows));
    assert_int_equal(read_put(f), GSIM_OK);
    enum gsim_status status = gsim_apps_resolve(&f->trace, &cluster, f->arena, &out, &f->log);
    return status == GSIM_OK ? out : NULL;
}

static void a_row_and_its_program(void **state) {
    struct fixture *f = *state;
    const struct gsim_trace *t =
        resolve(f, "job_id,submit_s,iterations,app,duration_s\n"
                   "a,0,100,h200-gemm-chain,\nb,0,,h200-gemm-chain,10\nc,0,7,hotspot,\n");
    assert_non_null(t);
    assert_non_null(t->programs[t->column[GSIM_COL_APP][0]]);
    assert_null(t->programs[t->column[GSIM_COL_APP][2]]);
    /* 9.914 ms of kernels, and the host before the first of four iterations and after the last */
    assert_in_range(t->service_ns[0], 991 * GSIM_NS_PER_MS, 995 * GSIM_NS_PER_MS);
    assert_in_range(t->column[GSIM_COL_ITERATIONS][1], 1000, 1009);
    static const struct {
        const char *columns, *cells, *error;
    } wrong[] = {{"iterations,sync", "5,none", "what sync would say"},
                 {"iterations,host_gap_ms", "5,1", "what host_gap_ms would say"},
                 {"iterations,kernels", "5,7", "what kernels would say"},
                 {"iterations,host_ms", "5,1e9", "host_ms is of one iteration: ten days at most"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "job_id,submit_s,app,%s\na,0,h200-gemm-chain,%s\n",
                       wrong[i].columns, wrong[i].cells);
        assert_null(resolve(f, text));
        assert_true(f->log.n_errors == 1 && strstr(f->log.errors[0].text, wrong[i].error));
    }
}

/* 9.914 ms of kernels in an iteration of 9 ms. */
static void a_time_that_its_kernels_do_not_fit_is_said(void **state) {
    struct fixture *f = *state;
    assert_non_null(resolve(f, "job_id,submit_s,iterations,app,duration_s\n"
                               "a,0,100,h200-gemm-chain,1\nb,0,100,h200-gemm-chain,0.9\n"));
    assert_int_equal(f->log.n_warnings, 1);
    assert_non_null(strstr(f->log.warnings[0].text, "3: job 'b': duration_s leaves an iteration "
                                                    "9000 us, and the kernels"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(what_a_program_takes_alone),
        TEST(a_wait_within_an_iteration),
        TEST(a_wait_is_for_the_iteration_before_too),
        TEST(a_full_queue_holds_the_host_up),
        TEST(the_time_alone_tells_the_host),
        TEST(a_time_that_no_host_gives),
        TEST(the_energy_tells_the_clock),
        TEST(a_file_tells_the_host),
        TEST(a_row_and_its_program),
        TEST(a_time_that_its_kernels_do_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
