/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cluster policies over GPUs whose memory is managed (memory=): a job may have more than there is, a
 * gang pages like one of its members, and what is paused stays until somebody pushes it out. */
#define _XOPEN_SOURCE 700
#include "tests/support/trace_file.h"

#include <stdlib.h>

#include "tests/support/runner.h"

static const char header[] = "job_id,submit_s,iterations,gpu_ms,gpus,mem_gib\n";

static struct gsim_result run(struct fixture *f, const char *rows, struct test_run how) {
    char text[640];
    (void)snprintf(text, sizeof text, "%s%s", header, rows);
    if (read_text(f, text) != GSIM_OK)
        fail_msg("%s", f->log.errors[0].text);
    how.trace = &f->trace;
    how.device = how.device ? how.device : "h200";
    return test_run(&how, f->arena);
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Alone, one of 200 GiB on a GPU of 140 pages as it does where contexts take turns. */
static void test_larger_than_its_gpu(void **state) {
    static const char *const managers[] = {"memory=uvm", "memory=lru", "memory=proactive"};
    static const char *const policies[] = {"fifo",    "srtf",    "las",     "tiresias",
                                           "gandiva", "suspend", "gang_rr", "adaptive"};
    for (size_t m = 0; m < 3; m++) {
        struct gsim_result alone =
            run(*state, "a,0,20,100,1,200\n",
                (struct test_run){.policy = "uvm", .sets = WITH(managers[m])});
        assert_true(alone.jobs.end_ns[0] > 10 * 2 * GSIM_NS_PER_S);
        for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
            struct gsim_result result =
                run(*state, "a,0,20,100,1,200\n",
                    (struct test_run){.policy = policies[p], .sets = WITH(managers[m])});
            assert_int_equal(result.jobs.end_ns[0], alone.jobs.end_ns[0]);
            assert_int_equal(result.jobs.bytes_in[0], alone.jobs.bytes_in[0]);
        }
    }
}

/* Members are alike: the gang takes as long as one of them, and moves as much on each GPU. */
static void test_a_gang_pages(void **state) {
    struct test_run how = {.policy = "fifo", .gpus_per_node = 2, .sets = WITH("memory=uvm")};
    struct gsim_result one = run(*state, "a,0,20,100,1,200\n", how);
    int64_t end_ns = one.jobs.end_ns[0], bytes = one.jobs.bytes_in[0];
    struct gsim_result gang = run(*state, "a,0,20,100,2,200\n", how);
    assert_int_equal(gang.jobs.end_ns[0], end_ns);
    assert_int_equal(gang.jobs.bytes_in[0], 2 * bytes);
}

/* a, of 10 GiB, has run on the first GPU and b, of 100, on the second, when the gang takes both for its
 * one iteration. There is room for it beside a and none beside b, whose GPU makes it wait as long as a
 * single job waits behind b. b misses what went out; a misses nothing. */
static void test_a_gang_is_as_slow_as_its_slowest_gpu(void **state) {
    struct test_run how = {.policy = "suspend", .sets = WITH("mechanism=paging", "quantum=16s")};
    struct gsim_result one = run(*state, "b,0,5,4000,1,100\ng,0,1,4000,1,100\n", how);
    int64_t end_ns = one.jobs.end_ns[1], out = one.jobs.bytes_out[1];
    assert_true(end_ns > 20 * GSIM_NS_PER_S && out > 0);
    how.gpus_per_node = 2;
    struct gsim_result gang =
        run(*state, "a,0,5,4000,1,10\nb,0,5,4000,1,100\ng,0,1,4000,2,100\n", how);
    assert_int_equal(gang.jobs.end_ns[2], end_ns);
    assert_int_equal(gang.jobs.bytes_out[2], out);
    assert_int_equal(gang.jobs.bytes_in[0], 0);
    assert_int_equal(gang.jobs.bytes_in[1], out);
}

/* The same the other way round: the gang is paused for b, which needs 60 GiB of what it has on the
 * second GPU, and misses that when it goes on. */
static void test_a_paused_gang_misses_what_went_on_any_gpu(void **state) {
    struct test_run how = {
        .policy = "suspend", .gpus_per_node = 2, .sets = WITH("mechanism=paging", "quantum=4s")};
    struct gsim_result result =
        run(*state, "g,0,3,4000,2,100\na,0,1,4000,1,10\nb,0,1,4000,1,100\n", how);
    assert_int_equal(result.jobs.bytes_out[1], 0);
    assert_true(result.jobs.bytes_out[2] > 0);
    assert_int_equal(result.jobs.bytes_in[0], result.jobs.bytes_out[2]);
}

/* Three jobs of 10 s that together fit: quanta of 4 s, nothing ever moves, and what is paused is as
 * if it had stayed resident. a 0-4, b 4-8, c 8-16 (at 12 nobody has had less), a 16-20, b 20-26, which
 * is its end, a 26-28, c 28-30. */
static void test_what_fits_stays(void **state) {
    const char *rows = "a,0,100,100,1,40\nb,0,100,100,1,40\nc,0,100,100,1,40\n";
    struct test_run how = {
        .policy = "suspend", .device = "ideal", .sets = WITH("mechanism=paging", "quantum=4s")};
    struct gsim_result paged = run(*state, rows, how);
    static const int64_t end_s[] = {28, 26, 30}, preemptions[] = {2, 1, 1};
    for (uint32_t job = 0; job < 3; job++) {
        assert_int_equal(paged.jobs.end_ns[job], end_s[job] * GSIM_NS_PER_S);
        assert_int_equal(paged.jobs.preemptions[job], preemptions[job]);
    }
    assert_true(paged.summary.bytes_in + paged.summary.bytes_out == 0);
}

/* a and b, 100 GiB each in 140: b finds 40 of room, and its pages push out 60 of a's, which a misses
 * when b has ended. */
static void test_what_does_not_fit_is_pushed_out(void **state) {
    const char *rows = "a,0,5,4000,1,100\nb,0,1,4000,1,100\n";
    struct test_run how = {.policy = "suspend", .sets = WITH("mechanism=paging", "quantum=16s")};
    struct gsim_result result = run(*state, rows, how);
    int64_t room = INT64_C(150109880320) / (2 * GSIM_MIB) * (2 * GSIM_MIB);
    assert_int_equal(result.jobs.preemptions[0], 1);
    assert_int_equal(result.jobs.bytes_in[1], 0);
    assert_int_equal(result.jobs.bytes_out[1], 200 * GSIM_GIB - room);
    assert_int_equal(result.jobs.bytes_in[0], 200 * GSIM_GIB - room);
}

/* Who has ended leaves nothing behind: c finds the GPU as if it had been alone in the trace. */
static void test_what_ends_leaves_nothing(void **state) {
    const char *rows = "a,0,50,1000,1,100\nb,0,50,1000,1,100\nc,600,20,100,1,140\n";
    struct test_run how = {.policy = "suspend", .sets = WITH("mechanism=paging", "quantum=20s")};
    int64_t alone_ns = run(*state, "c,600,20,100,1,140\n", how).jobs.end_ns[0];
    struct gsim_result result = run(*state, rows, how);
    assert_true(result.jobs.bytes_in[0] > 0);
    assert_true(result.jobs.end_ns[0] < 600 * GSIM_NS_PER_S);
    /* but for the switch from whoever was there */
    assert_in_range(result.jobs.end_ns[2] - alone_ns, 0, GSIM_NS_PER_MS);
}

/* An iteration of 100 ms that sweeps 200 GiB on 140 waits for 60 at least, which is more than a second
 * at 64 GB/s: in 10 s less than 1 s of work is done. */
#define PAGES "a,0,100,100,1,200\n"

/* At 10 s a would have nothing left at full speed, and has more than 9 s; b has 2 s. c, of 1 s, takes
 * the GPU of a; d waits all the time, so that the policy looks at who runs at 1 s. */
static void test_who_has_most_left_is_known_while_it_pages(void **state) {
    struct test_run how = {.policy = "srtf", .gpus_per_node = 2, .sets = WITH("memory=uvm")};
    const char *rows = PAGES "b,0,120,100,1,10\nc,10,10,100,1,10\nd,1,1000,100,1,10\n";
    struct gsim_result result = run(*state, rows, how);
    assert_int_equal(result.summary.preemptions, 1);
    assert_int_equal(result.jobs.preemptions[0], 1);
    assert_int_equal(result.jobs.start_ns[2], 10 * GSIM_NS_PER_S);
}

/* a falls into the second queue when it has had its GPU for 10 s, whatever it got done, and b takes
 * over, which came at 1 s. */
static void test_service_is_time_while_it_pages(void **state) {
    struct test_run how = {.policy = "tiresias", .sets = WITH("memory=uvm", "queues=10")};
    struct gsim_result result = run(*state, PAGES "b,1,10,100,1,10\n", how);
    assert_int_equal(result.summary.preemptions, 1);
    assert_int_equal(result.jobs.start_ns[1], 10 * GSIM_NS_PER_S);
}

/* a is a quantum of 5 s ahead of b at 5 s. b, of 6 s, is never a quantum ahead of the 5 s that a has
 * had, though it got hardly anything done. */
static void test_attained_service_is_time_while_it_pages(void **state) {
    struct test_run how = {.policy = "las", .sets = WITH("memory=uvm", "quantum=5s")};
    struct gsim_result result = run(*state, PAGES "b,1,60,100,1,10\n", how);
    assert_int_equal(result.summary.preemptions, 1);
    assert_int_equal(result.jobs.start_ns[1], 5 * GSIM_NS_PER_S);
}

/* A job of 24 GiB on a GH200 cut down to 16 that moves nothing out: each iteration after the first reads
 * 8 GiB where they are, 8 589 934 592 bytes at 342 GB/s in 25 116 768 ns, and waits for nothing else. */
static void test_a_coherent_link_is_read_at_its_rate(void **state) {
    struct test_run how = {.policy = "uvm",
                           .device = "gh200",
                           .hbm_bytes = 16 * GSIM_GIB,
                           .device_sets = WITH("uvm.remote_evicts=off")};
    struct gsim_result two = run(*state, "a,0,2,200,1,24\n", how);
    int64_t two_ns = two.jobs.end_ns[0];
    struct gsim_result three = run(*state, "a,0,3,200,1,24\n", how);
    int64_t iteration_ns = 200 * GSIM_NS_PER_MS;
    assert_int_equal(three.jobs.end_ns[0] - two_ns, iteration_ns + 25116768);
    assert_true(three.summary.bytes_in == 3 * 8 * GSIM_GIB);
    assert_true(three.summary.bytes_out == 0);
}

static void test_the_column_is_asked_for(void **state) {
    struct fixture *f = *state;
    struct gsim_result result;
    assert_int_equal(read_text(f, "job_id,submit_s,duration_s\na,0,10\n"), GSIM_OK);
    struct test_run how = {.trace = &f->trace, .policy = "tiresias", .sets = WITH("memory=uvm")};
    assert_int_equal(test_try(&how, f->arena, &result, &f->log), GSIM_BAD_INPUT);
    assert_non_null(strstr(f->log.errors[0].text, "mem_gib"));
}

/* Parts of one GPU run beside each other at its full rate: a's 30 GiB come in while b and c come and go,
 * and each takes as long as alone, but for a quantum, in which lanes do not see each other's memory. */
static void test_parts_page_beside_each_other(void **state) {
    static const char *const managers[] = {"memory=uvm", "memory=lru"};
    enum { QUANTUM_NS = 2080000 }; /* slice.quantum_ns of an H200 */
    static const char *const rows[] = {"a,0,3,10,0.25,30\n", "b,0.25,1,90,0.25,9\n",
                                       "c,0.95,5,10,0.1,9\n"};
    char all[128];
    (void)snprintf(all, sizeof all, "%s%s%s", rows[0], rows[1], rows[2]);
    for (size_t m = 0; m < 2; m++) {
        struct test_run how = {.policy = "fifo", .sets = WITH(managers[m])};
        int64_t took_ns[3];
        for (size_t i = 0; i < 3; i++) {
            struct gsim_result alone = run(*state, rows[i], how);
            took_ns[i] = alone.jobs.end_ns[0] - alone.jobs.start_ns[0];
        }
        struct gsim_result result = run(*state, all, how);
        for (size_t i = 0; i < 3; i++)
            assert_true(llabs(result.jobs.end_ns[i] - result.jobs.start_ns[i] - took_ns[i]) <
                        QUANTUM_NS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_parts_page_beside_each_other),
        TEST(test_a_gang_is_as_slow_as_its_slowest_gpu),
        TEST(test_a_paused_gang_misses_what_went_on_any_gpu),
        TEST(test_larger_than_its_gpu),
        TEST(test_a_gang_pages),
        TEST(test_what_fits_stays),
        TEST(test_what_does_not_fit_is_pushed_out),
        TEST(test_what_ends_leaves_nothing),
        TEST(test_who_has_most_left_is_known_while_it_pages),
        TEST(test_service_is_time_while_it_pages),
        TEST(test_attained_service_is_time_while_it_pages),
        TEST(test_a_coherent_link_is_read_at_its_rate),
        TEST(test_the_column_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
