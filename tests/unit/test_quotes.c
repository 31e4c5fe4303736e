/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What gsim_ask says of a stop after which a process ends and another one starts is what the stop
 * and the start then take, and what the keys of starts and ends say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gsim/policy.h"
#include "gsim/units.h"
#include "tests/support/runner.h"

#define MS GSIM_NS_PER_MS
#define S GSIM_NS_PER_S

/* The job that is asked about is job 0; the other one is there in some cases. */
enum { ASKED, OTHER };

struct asking {
    enum gsim_keep keep;
    uint32_t gpus; /* of the job */
    uint32_t back; /* the first GPU to which it comes back */
    uint32_t back_gpus; /* 0: as many as it had */
    int64_t load_bytes, rescale_ns; /* of the trace; rescale_ns 0: there is none */
    bool pauses_other; /* OTHER has a process on GPU 0, which stands still */
    int64_t save_ns, resume_ns; /* due */
    /* what became of it */
    struct gsim_quote quote;
    int64_t stopped_ns, clear_ns, runs_ns;
};

static struct asking *asking; /* of the run under way */

static void place(struct gsim_plan *plan, gsim_slot job, uint32_t first, uint32_t n) {
    struct gsim_unit units[2] = {{.gpu = first}, {.gpu = first + 1}};
    assert_true(gsim_plan_place_on(plan, job, units, n));
}

/* Stops the job, having asked what that takes; it comes to the end of its work's second. */
static void stop(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_unit units[2] = {{.gpu = asking->back}, {.gpu = asking->back + 1}};
    asking->quote =
        gsim_ask(ctx, ASKED, GSIM_STOP_ITERATION, asking->keep, units, asking->back_gpus);
    assert_true(asking->quote.is_possible);
    assert_true(gsim_plan_preempt(plan, ASKED, GSIM_STOP_ITERATION, asking->keep));
    asking->stopped_ns = ctx->view->now_ns;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    enum gsim_state state = view->jobs.state[ASKED];
    if (asking->pauses_other && view->now_ns == 0)
        place(plan, OTHER, 0, 1);
    if (asking->pauses_other && view->now_ns == 5 * S)
        assert_true(gsim_plan_preempt(plan, OTHER, GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT));
    if (view->now_ns >= 10 * S && asking->stopped_ns == 0 && state == GSIM_QUEUED)
        place(plan, ASKED, 0, asking->gpus);
    if (view->now_ns == 20 * S)
        stop(ctx, plan);
    if (asking->stopped_ns > 0 && asking->clear_ns == 0 && gsim_state_waits(state)) {
        asking->clear_ns = view->now_ns;
        place(plan, ASKED, asking->back, asking->back_gpus);
    }
    if (asking->clear_ns > 0 && asking->runs_ns == 0 && state == GSIM_RUNNING)
        asking->runs_ns = view->now_ns;
    int64_t next_ns = (view->now_ns / (5 * S) + 1) * 5 * S;
    if (next_ns <= 20 * S)
        gsim_plan_wake(plan, next_ns);
}

static void run(struct asking *ask) {
    static const char *const sets[] = {"start.first_ns=254ms",
                                       "start.serial_ns=138ms",
                                       "start.wake_ns=81ms",
                                       "restart.resume_ns=254ms",
                                       "restart.stop_ns=122ms",
                                       "context.destroy_ns=122ms",
                                       "end.serial_ns=64ms",
                                       "end.sleep_ns=37ms",
                                       "pcie.h2d_bytes_per_s=17179869184",
                                       NULL};
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_trace trace =
        test_trace(2, (const int64_t[]){0, 0}, (const int64_t[]){40 * S, 6 * S},
                   (const uint32_t[]){ask->gpus, 1}, arena);
    struct gsim_policy policy = {.name = "asking", .decide = decide};
    const int64_t rescale_ns[] = {ask->rescale_ns, -1};
    trace.column[GSIM_COL_ITERATIONS] = (const int64_t[]){40, 6};
    trace.column[GSIM_COL_MEM_BYTES] = (const int64_t[]){GSIM_GIB, GSIM_GIB};
    trace.column[GSIM_COL_LOAD_BYTES] = (const int64_t[]){ask->load_bytes, 0};
    if (ask->rescale_ns > 0)
        trace.column[GSIM_COL_RESCALE_NS] = rescale_ns;
    asking = ask;
    struct test_run options = {.trace = &trace,
                               .policy = "asking",
                               .custom = &policy,
                               .device = "h200",
                               .device_sets = sets,
                               .gpus_per_node = 2,
                               .until_ns = 30 * S};
    (void)test_run(&options, arena);
    gsim_arena_free(arena);
}

static void check(struct asking ask) {
    ask.back_gpus = ask.back_gpus > 0 ? ask.back_gpus : ask.gpus;
    run(&ask);
    assert_int_equal(ask.quote.save_ns, ask.save_ns);
    assert_int_equal(ask.quote.resume_ns, ask.resume_ns);
    assert_int_equal(ask.clear_ns - ask.stopped_ns, ask.quote.stop_ns + ask.quote.save_ns);
    assert_int_equal(ask.runs_ns - ask.clear_ns, ask.quote.resume_ns);
}

/* Alone: an end of 122 ms, and a start of 254 ms, on the GPU that it had and on another one. */
static void test_a_process_alone(void **state) {
    (void)state;
    for (uint32_t back = 0; back < 2; back++) {
        check((struct asking){.keep = GSIM_KEEP_STORAGE,
                              .gpus = 1,
                              .back = back,
                              .save_ns = 122 * MS,
                              .resume_ns = 254 * MS});
        check((struct asking){.keep = GSIM_KEEP_DISCARD,
                              .gpus = 1,
                              .back = back,
                              .save_ns = 122 * MS,
                              .resume_ns = 254 * MS});
    }
}

/* Beside another process, the GPU is up and stays up: 122 - 37 ms, and 254 - 81 ms. On the other
 * GPU there is none. */
static void test_a_process_beside_another(void **state) {
    (void)state;
    for (uint32_t back = 0; back < 2; back++)
        check((struct asking){.keep = GSIM_KEEP_STORAGE,
                              .gpus = 1,
                              .back = back,
                              .pauses_other = true,
                              .save_ns = 85 * MS,
                              .resume_ns = back == 0 ? 173 * MS : 254 * MS});
}

/* A gang's process ends and starts on one GPU after the other: the driver's part, 64 + 37 ms of an
 * end and 138 + 81 ms of a start, comes twice. */
static void test_a_process_of_a_gang(void **state) {
    (void)state;
    check((struct asking){
        .keep = GSIM_KEEP_STORAGE, .gpus = 2, .save_ns = 223 * MS, .resume_ns = 473 * MS});
    check((struct asking){
        .keep = GSIM_KEEP_DISCARD, .gpus = 2, .save_ns = 223 * MS, .resume_ns = 473 * MS});
}

/* A process that begins anew loads 8 GiB again, at 16 GiB a s, before it starts. The quote had no
 * such load. */
static void test_a_process_that_loads(void **state) {
    (void)state;
    check((struct asking){.keep = GSIM_KEEP_DISCARD,
                          .gpus = 1,
                          .load_bytes = 8 * GSIM_GIB,
                          .save_ns = 122 * MS,
                          .resume_ns = 754 * MS});
}

/* A job that goes on on other numbers of GPUs takes what its row says, starts included. The quote
 * took the wake of its GPU off, which another process had up, and the driver's part of a gang on. */
static void test_a_process_of_another_width(void **state) {
    (void)state;
    check((struct asking){.keep = GSIM_KEEP_STORAGE,
                          .gpus = 2,
                          .back_gpus = 1,
                          .pauses_other = true,
                          .rescale_ns = 3 * S,
                          .save_ns = 223 * MS,
                          .resume_ns = 3 * S});
    check((struct asking){.keep = GSIM_KEEP_STORAGE,
                          .gpus = 1,
                          .back_gpus = 2,
                          .rescale_ns = 3 * S,
                          .save_ns = 122 * MS,
                          .resume_ns = 3 * S});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_process_alone), cmocka_unit_test(test_a_process_beside_another),
        cmocka_unit_test(test_a_process_of_a_gang), cmocka_unit_test(test_a_process_that_loads),
        cmocka_unit_test(test_a_process_of_another_width)};
    return cmocka_run_group_tests_name("quotes", tests, NULL, NULL);
}
