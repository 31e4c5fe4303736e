/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Demand paging: what a batch brings, that the closed form of a sweep is the sum of its batches, and
 * what a working set larger than memory does under the order of allocation. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "models/memory/remote.h"
#include "models/memory/uvm.h"

enum { CHUNK = 2 << 20, LEAF = 64 << 10, PAGE = 4096 };

struct fixture {
    struct gsim_arena *arena;
    struct gsim_profile profile;
    struct gsim_uvm uvm;
};

static int begin(void **state) {
    static struct fixture f;
    static struct gsim_log log;
    f.arena = gsim_arena_new();
    assert_int_equal(gsim_profile_load("h200", f.arena, &f.profile, &log), GSIM_OK);
    gsim_uvm_init(&f.uvm, &f.profile, f.arena);
    *state = &f;
    return 0;
}

static int end(void **state) {
    gsim_arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static struct gsim_paging run(struct fixture *f, uint32_t n, struct gsim_touches how) {
    struct gsim_paging sum = {0};
    assert_true(gsim_uvm_run(&f->uvm, n, how, &sum));
    return sum;
}

static void expect(struct gsim_paging sum, int64_t batches, int64_t blocks, int64_t faults,
                   int64_t bytes) {
    assert_int_equal(sum.batches, batches);
    assert_int_equal(sum.blocks, blocks);
    assert_int_equal(sum.faults, faults);
    assert_int_equal(sum.bytes_in, bytes);
}

/* 256 pages of 4 KiB are 16 of a chunk's 32 big pages: 50 %, not enough to grow. */
static void test_batches_of_a_sweep(void **state) {
    struct fixture *f = *state;
    expect(run(f, 1, (struct gsim_touches){0}), 2, 2, 512, CHUNK);
    expect(run(f, 100, (struct gsim_touches){0}), 200, 200, 51200, INT64_C(100) * CHUNK);
    /* touched once per big page, a batch has 8 chunks in it */
    expect(run(f, 20, (struct gsim_touches){.page_bytes = LEAF}), 3, 20, 640, INT64_C(20) * CHUNK);
    /* touched once per chunk, a big page of each comes */
    expect(run(f, 300, (struct gsim_touches){.page_bytes = CHUNK}), 2, 300, 300,
           INT64_C(300) * LEAF);
}

/* One fault at a time, in order. Pages 0 and 1 come alone; with 2, three of four are there: all four
 * come. 4 makes five of eight, 8 nine of sixteen, 16 seventeen of all 32: six faults for a chunk.
 * When half is enough, page 0 brings 1, and those 2 and 3, but a fault grows once: to the largest
 * region dense with what was there and what faults. So 0 (with 1), 2, 4, 8, 16. */
static struct gsim_paging lone_faults(struct fixture *f, int64_t density_ppm) {
    gsim_uvm_init(&f->uvm, &f->profile, f->arena); /* it remembers what it has run */
    f->uvm.batch_faults = 1;
    f->uvm.density_ppm = density_ppm;
    return run(f, 1, (struct gsim_touches){.page_bytes = LEAF});
}

static void test_the_density_tree(void **state) {
    struct fixture *f = *state;
    expect(lone_faults(f, 510000), 6, 6, 6, CHUNK);
    expect(lone_faults(f, 490000), 5, 5, 5, CHUNK);
    expect(lone_faults(f, 1000000), 32, 32, 32, CHUNK);
    expect(run(f, 1, (struct gsim_touches){.page_bytes = LEAF}), 32, 32, 32, CHUNK); /* again */
}

static void test_a_lone_fault_is_what_was_measured(void **state) {
    struct fixture *f = *state;
    struct gsim_paging one = run(f, 1, (struct gsim_touches){.page_bytes = CHUNK});
    assert_int_equal(gsim_uvm_ns(&f->uvm, &one), f->profile.value[GSIM_KEY_UVM_FAULT_NS]);
}

static void test_the_closed_form_is_the_sum_of_batches(void **state) {
    struct fixture *f = *state;
    static const int64_t page[] = {PAGE, 3 * PAGE, LEAF, 5 * LEAF, CHUNK};
    static const int64_t faults[] = {1, 7, 100, 256, 1000};
    static const int64_t density[] = {100000, 490000, 510000, 900000};
    for (int i = 0; i < 5 * 5 * 4; i++)
        for (uint32_t n = 1; n < 60; n += 1 + n / 8) {
            struct gsim_touches how = {.page_bytes = page[i % 5]};
            f->uvm.batch_faults = faults[i / 5 % 5];
            f->uvm.density_ppm = density[i / 25];
            struct gsim_paging plain = {0};
            assert_true(gsim_uvm_run_plainly(&f->uvm, n, how, &plain));
            expect(run(f, n, how), plain.batches, plain.blocks, plain.faults, plain.bytes_in);
        }
}

static void test_scattered_touches_meet_every_page(void **state) {
    struct fixture *f = *state;
    for (uint32_t n = 1; n < 40; n += 3) {
        struct gsim_paging sum = run(f, n, (struct gsim_touches){.is_scattered = true});
        assert_int_equal(sum.bytes_in, (int64_t)n * CHUNK);
        f->uvm.density_ppm = 1000000; /* nothing grows: each page or its big page faults */
        struct gsim_touches big = {.page_bytes = LEAF, .is_scattered = true};
        assert_int_equal(run(f, n, big).faults, 32 * n);
        f->uvm.density_ppm = 510000;
    }
}

static struct gsim_residency open_memory(struct fixture *f, uint32_t capacity, uint32_t n_buffers,
                                         uint32_t n_chunks) {
    struct gsim_residency r;
    gsim_residency_init(&r, capacity, GSIM_EVICT_ALLOCATION, f->arena);
    for (uint32_t b = 0; b < n_buffers; b++) {
        assert_int_equal(gsim_residency_open(&r, b, n_chunks), b);
        gsim_residency_write_host(&r, gsim_range_whole(&r, b));
    }
    return r;
}

static struct gsim_paging sweep(struct fixture *f, struct gsim_residency *r, uint32_t buffer,
                                bool is_write) {
    struct gsim_paging sum = {0};
    struct gsim_touches how = {.is_write = is_write};
    assert_true(gsim_uvm_access(&f->uvm, r, gsim_range_whole(r, buffer), how, &sum));
    return sum;
}

static void test_what_fits_comes_once(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r = open_memory(f, 100, 1, 100);
    expect(sweep(f, &r, 0, false), 200, 200, 51200, INT64_C(100) * CHUNK);
    struct gsim_paging again = sweep(f, &r, 0, true);
    expect(again, 0, 0, 0, 0);
    assert_int_equal(again.moved.hits, 100);
    assert_int_equal(again.bytes_out, 0);
    /* 30 go, the sweep brings them back */
    (void)gsim_residency_evict_range(&r, (struct gsim_range){0, 40, 30});
    expect(sweep(f, &r, 0, false), 60, 60, 15360, INT64_C(30) * CHUNK);
}

/* More than memory: every chunk misses, in each sweep, and each takes another one's place. */
static void test_sweeps_larger_than_memory_miss_everything(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r = open_memory(f, 120, 2, 80);
    (void)sweep(f, &r, 0, false);
    (void)sweep(f, &r, 1, false);
    struct gsim_paging first = {0};
    for (uint32_t i = 0; i < 20; i++) {
        struct gsim_paging sum = sweep(f, &r, i % 2, false);
        expect(sum, 160, 160, 80 * 512, INT64_C(80) * CHUNK);
        assert_int_equal(sum.bytes_out, INT64_C(80) * CHUNK); /* clean chunks are copied, too */
        if (i == 0)
            first = sum;
        assert_int_equal(gsim_uvm_ns(&f->uvm, &sum), gsim_uvm_ns(&f->uvm, &first));
    }
    f->uvm.copies_clean = false;
    assert_int_equal(sweep(f, &r, 0, false).bytes_out, 0);
    (void)sweep(f, &r, 1, true);
    assert_int_equal(sweep(f, &r, 0, false).bytes_out, INT64_C(40) * CHUNK); /* 40 were dirty */
}

static void test_first_touches_bring_nothing(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r;
    gsim_residency_init(&r, 10, GSIM_EVICT_ALLOCATION, f->arena);
    assert_int_equal(gsim_residency_open(&r, 0, 8), 0);
    struct gsim_paging sum = sweep(f, &r, 0, false);
    expect(sum, 16, 16, 8 * 512, 0);
    assert_int_equal(sum.moved.zeroed, 8);
}

static void test_ideal_pages_for_nothing(void **state) {
    struct fixture *f = *state;
    static struct gsim_log log;
    assert_int_equal(gsim_profile_load("ideal", f->arena, &f->profile, &log), GSIM_OK);
    gsim_uvm_init(&f->uvm, &f->profile, f->arena);
    struct gsim_paging sum = run(f, 50, (struct gsim_touches){0});
    assert_int_equal(gsim_uvm_ns(&f->uvm, &sum), 0);
}

/* --- over a coherent link --------------------------------------------------------------------- */

/* A GH200 that has this room, with a buffer of so many chunks. */
static struct gsim_remote open_coherent(struct fixture *f, struct gsim_residency *r,
                                        uint32_t capacity, uint32_t n_chunks) {
    static struct gsim_log log;
    assert_int_equal(gsim_profile_load("gh200", f->arena, &f->profile, &log), GSIM_OK);
    gsim_uvm_init(&f->uvm, &f->profile, f->arena);
    gsim_residency_init(r, capacity, GSIM_EVICT_ALLOCATION, f->arena);
    assert_int_equal(gsim_residency_open(r, 0, n_chunks), 0);
    struct gsim_remote remote = gsim_remote_of(&f->profile);
    assert_true(remote.is_on && remote.evicts);
    return remote;
}

/* Sweeps a buffer over the link, and says what it sent in chunks. */
static struct gsim_remote_bytes cross(struct fixture *f, const struct gsim_remote *remote,
                                      struct gsim_residency *r, uint32_t buffer,
                                      struct gsim_paging *faulted) {
    struct gsim_remote_bytes sum = {0};
    *faulted = (struct gsim_paging){0};
    assert_true(gsim_remote_access(remote, &f->uvm, r, gsim_range_whole(r, buffer),
                                   (struct gsim_touches){0}, faulted, &sum));
    return (struct gsim_remote_bytes){sum.read / CHUNK, sum.in / CHUNK, sum.out / CHUNK};
}

static void expect_sent(struct gsim_remote_bytes sent, int64_t read, int64_t in, int64_t out) {
    assert_int_equal(sent.read, read);
    assert_int_equal(sent.in, in);
    assert_int_equal(sent.out, out);
}

/* Of 16 chunks on a GPU with room for 10, the first touch pushes six out. From then on each chunk is
 * on the host when the sweep comes to it, since the one that came first goes: 16 are read, move in,
 * and push out 16. */
static void test_managed_memory_moves_behind_its_reads(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r;
    struct gsim_paging faulted;
    struct gsim_remote remote = open_coherent(f, &r, 10, 16);
    expect_sent(cross(f, &remote, &r, 0, &faulted), 0, 0, 0);
    assert_int_equal(faulted.moved.zeroed, 16);
    assert_int_equal(faulted.bytes_out, INT64_C(6) * CHUNK);
    for (int i = 0; i < 3; i++) {
        expect_sent(cross(f, &remote, &r, 0, &faulted), 16, 16, 16);
        assert_int_equal(faulted.faults, 0);
    }
}

/* Where nothing makes room, the first touch of what the GPU has no room for is on the host, which is
 * read there in each sweep; when another buffer of six goes, four chunks move in, once. */
static void test_system_memory_moves_where_there_is_room(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r;
    struct gsim_paging faulted;
    struct gsim_remote remote = open_coherent(f, &r, 10, 6);
    remote.evicts = false;
    expect_sent(cross(f, &remote, &r, 0, &faulted), 0, 0, 0);
    assert_int_equal(gsim_residency_open(&r, 1, 8), 1);
    expect_sent(cross(f, &remote, &r, 1, &faulted), 4, 0, 0);
    assert_int_equal(faulted.moved.zeroed, 4);
    expect_sent(cross(f, &remote, &r, 1, &faulted), 4, 0, 0);
    gsim_residency_close(&r, 0);
    expect_sent(cross(f, &remote, &r, 1, &faulted), 4, 4, 0);
    expect_sent(cross(f, &remote, &r, 1, &faulted), 0, 0, 0);
}

/* 16 chunks are 33 554 432 bytes: read at 342 GB/s in 98 113 ns, moved in at 375 in 89 479, out at 297 in
 * 112 978. Inwards that is 187 592 ns, and all of it at the 660.555 GB/s of both ways 152 392. */
static void test_a_coherent_link_carries_reads_and_copies(void **state) {
    struct fixture *f = *state;
    struct gsim_residency r;
    struct gsim_remote remote = open_coherent(f, &r, 10, 16);
    struct gsim_copy_rates rates = gsim_copy_rates_migrate(&f->profile);
    int64_t bytes = INT64_C(16) * CHUNK;
    assert_int_equal(gsim_remote_ns(&remote, &rates, &(struct gsim_remote_bytes){bytes, 0, 0}),
                     98113);
    assert_int_equal(
        gsim_remote_ns(&remote, &rates, &(struct gsim_remote_bytes){bytes, bytes, bytes}),
        98113 + 89479);
    assert_int_equal(gsim_remote_ns(&remote, &rates, &(struct gsim_remote_bytes){0, 0, bytes}),
                     112978);
    rates.both_bytes_per_s = INT64_C(450000000000); /* three times 33 554 432 bytes at this rate */
    assert_int_equal(
        gsim_remote_ns(&remote, &rates, &(struct gsim_remote_bytes){bytes, bytes, bytes}), 223697);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_batches_of_a_sweep, begin, end),
        cmocka_unit_test_setup_teardown(test_the_density_tree, begin, end),
        cmocka_unit_test_setup_teardown(test_a_lone_fault_is_what_was_measured, begin, end),
        cmocka_unit_test_setup_teardown(test_the_closed_form_is_the_sum_of_batches, begin, end),
        cmocka_unit_test_setup_teardown(test_scattered_touches_meet_every_page, begin, end),
        cmocka_unit_test_setup_teardown(test_what_fits_comes_once, begin, end),
        cmocka_unit_test_setup_teardown(test_sweeps_larger_than_memory_miss_everything, begin, end),
        cmocka_unit_test_setup_teardown(test_first_touches_bring_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_ideal_pages_for_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_managed_memory_moves_behind_its_reads, begin, end),
        cmocka_unit_test_setup_teardown(test_system_memory_moves_where_there_is_room, begin, end),
        cmocka_unit_test_setup_teardown(test_a_coherent_link_carries_reads_and_copies, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
