/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an observer is told adds up to what the result says: at no time are more GPUs in use than
 * there are, nor fewer than none, and their use over time is the GPU time that jobs held. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sim/study/occupancy.h"
#include "sim/base/rng.h"
#include "sim/base/sort.h"
#include "tests/support/runner.h"

struct watch {
    struct gsim_observer observer;
    struct gsim_occupancy occupancy;
    struct gsim_arena *arena;
    int64_t since_ns;
    gsim_i128 busy_ppm_ns;
};

static void begin(void *arg, const struct gsim_scene *scene) {
    struct watch *watch = arg;
    gsim_occupancy_begin(&watch->occupancy, scene, watch->arena);
}

static void pass(struct watch *watch, int64_t now_ns) {
    int64_t busy_ppm = watch->occupancy.busy_ppm;
    assert_in_range(busy_ppm, 0, (int64_t)watch->occupancy.scene.n_gpus * GSIM_PPM);
    watch->busy_ppm_ns += (gsim_i128)busy_ppm * (now_ns - watch->since_ns);
    watch->since_ns = now_ns;
}

static void change(void *arg, const struct gsim_change *change) {
    struct watch *watch = arg;
    if (change->now_ns > watch->since_ns)
        pass(watch, change->now_ns);
    gsim_occupancy_apply(&watch->occupancy, change);
}

static void end(void *arg, int64_t now_ns) {
    pass(arg, now_ns);
}

/* Shares of GPUs, gangs, and jobs that last from a nanosecond to minutes. */
static struct gsim_trace mixed(uint64_t seed, struct gsim_arena *arena) {
    enum { JOBS = 30 };
    gsl_rng *rng = gsim_rng_stream(seed, 0, "mixed");
    struct gsim_trace trace = {.path = "random", .n_jobs = JOBS, .id_text = ""};
    int64_t *submit_ns = gsim_arena_array(arena, JOBS, sizeof *submit_ns);
    int64_t *service_ns = gsim_arena_array(arena, JOBS, sizeof *service_ns);
    int64_t *share_ppm = gsim_arena_array(arena, JOBS, sizeof *share_ppm);
    uint32_t *gpus = gsim_arena_array(arena, JOBS, sizeof *gpus);
    uint32_t *order = gsim_arena_array(arena, JOBS, sizeof *order);
    trace.id_at = gsim_arena_array(arena, JOBS, sizeof *trace.id_at);
    for (int i = 0; i < JOBS; i++) {
        bool is_part = gsl_rng_uniform_int(rng, 3) == 0;
        submit_ns[i] = (int64_t)gsl_rng_uniform_int(rng, 600) * GSIM_NS_PER_S;
        service_ns[i] =
            i % 7 ? (int64_t)gsl_rng_uniform_int(rng, 900) * GSIM_NS_PER_S + i : 1 + i % 2;
        share_ppm[i] = is_part ? 100000 * (1 + (int64_t)gsl_rng_uniform_int(rng, 9)) : GSIM_PPM;
        gpus[i] = is_part ? 1 : 1 + (uint32_t)gsl_rng_uniform_int(rng, 3);
    }
    assert_true(gsim_sort_order(submit_ns, order, JOBS));
    trace.submit_ns = submit_ns;
    trace.service_ns = service_ns;
    trace.gpus = gpus;
    trace.order = order;
    trace.column[GSIM_COL_SHARE_PPM] = share_ppm;
    gsl_rng_free(rng);
    return trace;
}

static void watch_run(uint64_t seed, const char *policy, const char *const *sets,
                      const char *device) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace = mixed(seed, arena);
    struct watch watch = {.arena = arena};
    watch.observer =
        (struct gsim_observer){.arg = &watch, .begin = begin, .change = change, .end = end};
    struct test_run run = {.trace = &trace,
                           .policy = policy,
                           .device = device,
                           .sets = sets,
                           .nodes = 1 + (uint32_t)(seed % 2),
                           .gpus_per_node = 3,
                           .observer = &watch.observer};
    struct gsim_result result = test_run(&run, arena);
    double held = result.summary.gpu_busy * result.summary.makespan_s * run.nodes * 3;
    double watched = (double)watch.busy_ppm_ns / 1e15;
    if (fabs(held - watched) > 1e-9 * (1 + held))
        fail_msg("%s, seed %d: %.9f GPU seconds were seen, %.9f held", policy, (int)seed, watched,
                 held);
    gsim_arena_free(arena);
}

static void test_use_is_what_is_held(void **state) {
    static const char *const grow[] = {"packing=on", "grow=on", "grow_after=30s", NULL};
    static const char *const slices[] = {"slice=30s", "packing=on", "migration=off", NULL};
    enum { SEEDS = 30 / TEST_FEWER };
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        watch_run(seed, "gandiva", grow, seed % 4 < 2 ? "h200" : "ideal");
        watch_run(seed, "gandiva", slices, "rtx3080");
        watch_run(seed, "srtf", NULL, "h200");
        watch_run(seed, "timeslice", NULL, "ideal");
        watch_run(seed, "backfill", NULL, "ideal");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_use_is_what_is_held)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
