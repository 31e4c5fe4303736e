/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What AntMan and TGS take for degradation of a guaranteed job: time by request or by iteration, not
 * how many of them a window happened to see. A guest beside a service whose requests come at random, and
 * beside a training that pauses for seconds. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "tests/support/runner.h"

struct throttler {
    const char *policy;
    double latency; /* over alone, at most */
    double given; /* to the guest beside the service, at least */
};
static const struct throttler throttlers[] = {{"antman", 1.05, 0.007}, {"tgs", 1.1, 0.03}};
enum { THROTTLERS = sizeof throttlers / sizeof *throttlers };

/* The first is guaranteed; of the guest's 500 s of GPU time more is left than fits beside it. */
#define COLUMNS                                                                                    \
    "job_id,submit_s,iterations,gpu_ms,host_ms,host_gap_ms,kernels,blocks,requests,period_ms,"     \
    "arrival,class\n"
#define GUEST "o,0,5000,100,,,1000,4000,,,,opportunistic\n"
/* 20 requests a second of 50 kernels of 0.1 ms: a tenth of a GPU. */
#define SERVICE COLUMNS "s,0,,0.1,,,50,4000,12000,50,poisson,production\n"
/* 4 s an iteration: the GPU is used for 2, and for nothing in the other 2. */
#define PAUSING COLUMNS "s,0,200,2000,2000,2000,200,4000,,,,production\n"

struct outcome {
    double end_s; /* of the guaranteed job */
    double latency_s; /* mean, of requests */
    double given; /* of that time, what the guest got */
};

static struct outcome play(struct fixture *f, const char *text, const char *policy,
                           const char *tolerance) {
    const char *const sets[] = {tolerance, NULL};
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    struct test_run run = {.trace = &f->trace, .policy = policy, .device = "h200", .sets = sets};
    struct gsim_result result = test_run(&run, f->arena);
    double end_s = (double)result.jobs.end_ns[0] / 1e9;
    struct outcome outcome = {.end_s = end_s, .latency_s = result.summary.latency_mean_s};
    if (f->trace.n_jobs > 1) /* alone afterwards, it did in that time what was left */
        outcome.given = (500 - ((double)result.jobs.end_ns[1] / 1e9 - end_s)) / end_s;
    print_message("# %-10s %-14s ends at %.1f s, latency %.3f ms, guest %.2f %%\n", policy,
                  tolerance ? tolerance : "", outcome.end_s, 1e3 * outcome.latency_s,
                  100 * outcome.given);
    return outcome;
}

/* Time slices alone more than double the latency. A cap lets a guest run during requests as much as
 * between them, and each of its kernels there costs two switches besides, so it gets less than requests
 * may lose. Taken for degradation, the randomness of arrivals (7 to 10 % of a window) would leave it
 * 0.2 %. */
static void test_a_guest_beside_a_service(void **state) {
    struct outcome alone = play(*state, SERVICE, "exclusive", NULL);
    struct outcome slices = play(*state, SERVICE GUEST, "timeslice", NULL);
    assert_true(slices.latency_s > 2 * alone.latency_s && slices.given > 0.8);
    for (int i = 0; i < THROTTLERS; i++) {
        struct outcome strict = play(*state, SERVICE GUEST, throttlers[i].policy, NULL);
        struct outcome lax = play(*state, SERVICE GUEST, throttlers[i].policy, "tolerance=30%");
        assert_true(strict.latency_s < throttlers[i].latency * alone.latency_s);
        assert_true(strict.given > throttlers[i].given);
        assert_true(lax.given > 5 * strict.given && lax.given < slices.given);
        assert_true(lax.latency_s > strict.latency_s && lax.latency_s < slices.latency_s);
    }
}

/* A report of TGS sees 2 to 3 s of work and a window of AntMan 4 to 6: a rate would vary by a fifth, and
 * the guest get 0.2 %. */
static void test_a_guest_beside_long_pauses(void **state) {
    for (int i = 0; i < THROTTLERS; i++) {
        struct outcome strict = play(*state, PAUSING GUEST, throttlers[i].policy, NULL);
        struct outcome lax = play(*state, PAUSING GUEST, throttlers[i].policy, "tolerance=30%");
        assert_true(strict.end_s < 1.04 * 800 && strict.given > 0.03);
        assert_true(lax.end_s > 1.2 * 800 && lax.given > 5 * strict.given);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_a_guest_beside_a_service),
        TEST(test_a_guest_beside_long_pauses),
    };
    return cmocka_run_group_tests_name("how guaranteed jobs get on", tests, NULL, NULL);
}
