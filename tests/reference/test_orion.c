/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Orion (EuroSys 2024) says of itself, of the programs that were measured on an H200: a
 * high-priority client keeps the latency that it has alone, where plain sharing costs it some, and
 * best-effort clients fill what it leaves. No published figure can be held against it: the paper's
 * jobs ran on V100 and A100, and their kernels are not here. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include "sim/app/setup/apps.h"
#include "tests/support/runner.h"

/* A server and the time between two of its requests, so that its host keeps up. */
static const struct {
    const char *app;
    int period_ms;
} servers[] = {{"bert-infer", 25},
               {"dlrm-infer", 3},
               {"llama-prefill", 12},
               {"llama-decode", 8},
               {"mobilenet-infer", 20}};
static const char *const guests[] = {"bert-infer",     "dlrm-infer",       "gemm-chain",
                                     "gnn-train",      "gpt2-small-train", "llama-decode",
                                     "llama-prefill",  "lstm-train",       "mobilenet-infer",
                                     "resnet50-train", "unet-train",       "vit-train"};
enum {
    SERVERS = sizeof servers / sizeof *servers,
    GUESTS = sizeof guests / sizeof *guests,
    STEP = TEST_FEWER_REPEATED > 1
               ? 5
               : 1 /* of the pairs: each guest once, each server at least twice */
};

/* The 99th percentile of the server's latencies, and how much the guest has done of the time. */
struct outcome {
    double p99_s, guest_work;
};

static struct outcome play(struct fixture *f, const char *policy, const char *const *sets,
                           const char *rows) {
    struct gsim_profile profile;
    const struct gsim_profile *profiles[] = {&profile};
    struct gsim_cluster_spec cluster = {.profiles = profiles, .n_profiles = 1};
    const struct gsim_trace *trace;
    const char *text = gsim_arena_printf(
        f->arena, "job_id,submit_s,requests,period_ms,iterations,app,mem_gib,class\n%s", rows);
    assert_int_equal(read_text(f, text), GSIM_OK);
    assert_int_equal(gsim_profile_load("h200", f->arena, &profile, &f->log), GSIM_OK);
    assert_int_equal(gsim_apps_resolve(&f->trace, &cluster, f->arena, &trace, &f->log), GSIM_OK);
    struct test_run run = {
        .trace = trace, .policy = policy, .device = "h200", .sets = sets, .until_ns = S / 2};
    struct gsim_result result = test_run(&run, f->arena);
    return (struct outcome){result.summary.latency_p99_s, result.summary.gpu_work};
}

static const char *server(struct fixture *f, int number) {
    return gsim_arena_printf(f->arena, "a,0,1000,%d,,h200-%s,10,realtime\n",
                             servers[number].period_ms, servers[number].app);
}

static const char *both(struct fixture *f, int number, const char *guest) {
    return gsim_arena_printf(f->arena, "%sb,0,,,100000,h200-%s,10,\n", server(f, number), guest);
}

/* Of all pairs: hardly worse than under MPS, and within a fifth of the latency alone, since a kernel
 * that was launched just before a request runs out. Of the 55 pairs one is above MPS, by 2.0 %
 * (kernels of its guest that come while no request is under way are launched behind each other). Some of the pairs are far from that under MPS:
 * otherwise the bound would say nothing. */
static void test_latency_is_kept(void **state) {
    struct fixture *f = *state;
    int n = 0, n_worse = 0, n_far = 0;
    for (int a = 0; a < SERVERS; a++) {
        struct outcome alone = play(f, "mps", NULL, server(f, a));
        for (int b = 0; b < GUESTS; b++) {
            if (n++ % STEP != 0 || strcmp(guests[b], servers[a].app) == 0)
                continue;
            const char *rows = both(f, a, guests[b]);
            struct outcome shared = play(f, "mps", NULL, rows), own = play(f, "orion", NULL, rows);
            n_far += shared.p99_s > 1.2 * alone.p99_s;
            bool is_between = own.p99_s >= 0.9999 * alone.p99_s && own.p99_s <= 1.2 * alone.p99_s &&
                              own.p99_s <= 1.021 * shared.p99_s;
            bool is_used = own.guest_work > alone.guest_work + 0.1;
            if (!is_between || !is_used)
                print_message("# %s beside %s: %.3f ms alone, %.3f mps, %.3f orion; work %.3f\n",
                              servers[a].app, guests[b], 1e3 * alone.p99_s, 1e3 * shared.p99_s,
                              1e3 * own.p99_s, own.guest_work);
            n_worse += !is_between || !is_used;
        }
    }
    assert_int_equal(n_worse, 0);
    assert_true(STEP > 1 || n_far >= 3);
}

/* Without a high-priority job all kernels begin as they come: as under MPS. */
static void test_alone_best_effort_jobs_share_as_under_mps(void **state) {
    struct fixture *f = *state;
    const char *rows = "a,0,,,1000,h200-unet-train,10,\nb,0,,,1000,h200-gnn-train,10,\n";
    struct outcome mps = play(f, "mps", NULL, rows), orion = play(f, "orion", NULL, rows);
    assert_true(mps.guest_work <= orion.guest_work && mps.guest_work >= orion.guest_work);
}

/* A product that keeps all SMs for 1.65 ms begins beside a request only where it may need them. */
static void test_long_kernels_wait(void **state) {
    struct fixture *f = *state;
    static const char *const any[] = {"sms=133", NULL};
    const char *rows = both(f, 1, "gemm-chain");
    struct outcome strict = play(f, "orion", NULL, rows), lax = play(f, "orion", any, rows);
    assert_true(lax.p99_s > 2 * strict.p99_s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_latency_is_kept),
        TEST(test_alone_best_effort_jobs_share_as_under_mps),
        TEST(test_long_kernels_wait),
    };
    return cmocka_run_group_tests_name("orion, as its paper says", tests, NULL, NULL);
}
