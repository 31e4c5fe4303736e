/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One round of each part, by the wall clock. The kernels are in calibrate.ptx; rounds.c gathers the
 * rounds. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/calibrate/calibrate.h"
#include "sim/base/embedded.h"
#include "sim/base/sort.h"

enum { IN_A_ROW = 3, MIB = 1024 * 1024 };
#define GIB (1024.0 * MIB)

enum kernel { EMPTY, STAMP, WATCH, CHASE, COPY, KERNELS };

/* The state that all parts share: one context with its kernels, streams and buffers. */
struct bench {
    struct gsim_measurement *m;
    const struct gsim_cuda *cuda;
    void *module, *kernel[KERNELS];
    void *stream[2];
    unsigned char *host[2]; /* two pinned buffers of `big` bytes each */
    gsim_cuda_mem device[2]; /* two device buffers of `big` bytes each */
    size_t context_bytes; /* device memory that is in use right after a context is created */
    size_t big;
};

static double now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double median(double *values, int n) {
    return gsim_sort_f64(values, (size_t)n) ? values[n / 2] : (double)NAN;
}

/* --- launching -------------------------------------------------------------------------------- */

static int launch(const struct bench *b, enum kernel kernel, unsigned blocks, unsigned threads,
                  uint64_t p0, uint64_t p1, uint64_t p2) {
    void *parameters[] = {&p0, &p1, &p2};
    return b->cuda->launch(b->kernel[kernel], blocks, 1, 1, threads, 1, 1, 0, b->stream[0],
                           kernel == EMPTY ? NULL : parameters, NULL);
}

/* Time per kernel, either queued or each waited for. NaN when a call fails. */
static double launches_once_ns(const struct bench *b, int n, bool is_waited_for) {
    double begin = now_ns();
    int error = 0;
    for (int i = 0; i < n && error == 0; i++) {
        error = launch(b, EMPTY, 1, 1, 0, 0, 0);
        if (is_waited_for && error == 0)
            error = b->cuda->synchronize();
    }
    if (error == 0)
        error = b->cuda->synchronize();
    return error == 0 ? (now_ns() - begin) / n : (double)NAN;
}

/* The median of a few measurements in a row, which drops a disturbance of a single one. */
static double launches_ns(const struct bench *b, int n, bool is_waited_for) {
    double took[IN_A_ROW];
    for (int i = 0; i < IN_A_ROW; i++)
        took[i] = launches_once_ns(b, n, is_waited_for);
    return median(took, IN_A_ROW);
}

/* The time from the end of a queued kernel to the start of the next. */
static double between_ns(const struct bench *b) {
    enum { N = 256, LENGTH_NS = 30000 };
    uint64_t stamps[N][2];
    double gaps[N - 1];
    int error = 0;
    for (int i = 0; i < N && error == 0; i++)
        error = launch(b, STAMP, 1, 1, b->device[0] + (uint64_t)i * sizeof *stamps, LENGTH_NS, 0);
    if (error == 0)
        error = b->cuda->copy_out(stamps, b->device[0], sizeof stamps, b->stream[0]);
    if (error != 0 || b->cuda->synchronize() != 0)
        return (double)NAN;
    for (int i = 0; i + 1 < N; i++)
        gaps[i] = (double)(int64_t)(stamps[i + 1][0] - stamps[i][1]);
    return median(gaps, N - 1);
}

static void measure_launches(struct bench *b, size_t free_bytes) {
    (void)free_bytes;
    (void)launches_ns(b, 1000, false); /* a warm-up */
    gsim_measured_put(b->m, GSIM_KEY_LAUNCH_NS, launches_ns(b, 20000, false),
                      "20 000 empty kernels queued");
    gsim_measured_put(b->m, GSIM_KEY_LAUNCH_GAP_NS, launches_ns(b, 2000, true),
                      "2000 empty kernels, each waited for");
    gsim_measured_put(b->m, GSIM_KEY_LAUNCH_BETWEEN_NS, between_ns(b),
                      "256 queued kernels of 30 us by the GPU's clock, median");
}

/* --- copies ----------------------------------------------------------------------------------- */

enum copies { IN, OUT, BOTH, IN_WAITED_FOR, ALTERNATING };

static int copy_once(const struct bench *b, enum copies kind, size_t bytes, int i) {
    bool is_out = kind == OUT || (kind == ALTERNATING && i % 2);
    int error = is_out ? b->cuda->copy_out(b->host[1], b->device[1], bytes, b->stream[0])
                       : b->cuda->copy_in(b->device[0], b->host[0], bytes, b->stream[0]);
    if (kind == BOTH && error == 0)
        error = b->cuda->copy_out(b->host[1], b->device[1], bytes, b->stream[1]);
    if (kind == IN_WAITED_FOR && error == 0)
        error = b->cuda->synchronize();
    return error;
}

/* Time per copy, or per pair of copies: the median of a few measurements in a row. */
static double copy_ns(const struct bench *b, enum copies kind, size_t bytes, int n) {
    double took[IN_A_ROW];
    for (int time = 0; time < IN_A_ROW; time++) {
        int error = b->cuda->synchronize();
        double begin = now_ns();
        for (int i = 0; i < n && error == 0; i++)
            error = copy_once(b, kind, bytes, i);
        if (error == 0)
            error = b->cuda->synchronize();
        if (error != 0)
            return (double)NAN;
        took[time] = (now_ns() - begin) / n;
    }
    return median(took, IN_A_ROW);
}

static void measure_copies(struct bench *b, size_t free_bytes) {
    enum { SMALL = 4096, CHUNK = 2 * MIB, MANY = 2000 };
    size_t pair = b->big < 64u * MIB ? b->big : 64u * MIB;
    struct gsim_measurement *m = b->m;
    (void)free_bytes;
    (void)copy_ns(b, BOTH, b->big, 1); /* a first use of both engines and all pages */
    double in = (double)b->big / copy_ns(b, IN, b->big, 3) * 1e9;
    double out = (double)b->big / copy_ns(b, OUT, b->big, 3) * 1e9;
    double both = 2.0 * (double)pair / copy_ns(b, BOTH, pair, 16) * 1e9;
    gsim_measured_put(m, GSIM_KEY_PCIE_H2D, in, "copies of 1 GiB at most from pinned memory");
    gsim_measured_put(m, GSIM_KEY_PCIE_D2H, out, "copies of 1 GiB at most to pinned memory");
    gsim_measured_put(m, GSIM_KEY_PCIE_DUPLEX, both, "64 MiB each way at once");
    double small_in = copy_ns(b, IN, SMALL, MANY), small_out = copy_ns(b, OUT, SMALL, MANY);
    gsim_measured_put(m, GSIM_KEY_PCIE_H2D_COPY_NS, small_in - SMALL / in * 1e9,
                      "2000 queued copies of 4 KiB, less their bytes");
    gsim_measured_put(m, GSIM_KEY_PCIE_D2H_COPY_NS, small_out - SMALL / out * 1e9,
                      "2000 queued copies of 4 KiB, less their bytes");
    gsim_measured_put(m, GSIM_KEY_PCIE_DUPLEX_COPY_NS,
                      copy_ns(b, BOTH, SMALL, MANY) - 2 * SMALL / both * 1e9,
                      "2000 queued pairs of copies of 4 KiB, less their bytes");
    gsim_measured_put(m, GSIM_KEY_PCIE_SYNC_NS, copy_ns(b, IN_WAITED_FOR, SMALL, MANY) - small_in,
                      "copies of 4 KiB, each waited for, less queued ones");
    gsim_measured_put(
        m, GSIM_KEY_PCIE_ALTERNATE_NS,
        copy_ns(b, ALTERNATING, SMALL, MANY) - (small_in + small_out) / 2,
        "copies of 4 KiB in alternating directions on one stream, less those of one direction");
    gsim_measured_put(m, GSIM_KEY_MIGRATE_IN, CHUNK / copy_ns(b, IN, CHUNK, 256) * 1e9,
                      "256 queued copies of 2 MiB");
    gsim_measured_put(m, GSIM_KEY_MIGRATE_OUT, CHUNK / copy_ns(b, OUT, CHUNK, 256) * 1e9,
                      "256 queued copies of 2 MiB");
    gsim_measured_put(m, GSIM_KEY_MIGRATE_BOTH, 2.0 * CHUNK / copy_ns(b, BOTH, CHUNK, 256) * 1e9,
                      "256 queued pairs of copies of 2 MiB");
}

/* --- device memory ---------------------------------------------------------------------------- */

/* Bytes per second that a copy by this number of blocks reads and writes. */
static double bandwidth(const struct bench *b, unsigned blocks) {
    enum { THREADS = 1024, REPEATS = 3 };
    double begin = now_ns();
    int error = 0;
    for (int i = 0; i < REPEATS && error == 0; i++)
        error = launch(b, COPY, blocks, THREADS, b->device[1], b->device[0], b->big / 16);
    if (error != 0 || b->cuda->synchronize() != 0)
        return (double)NAN;
    return 2.0 * (double)b->big * REPEATS / (now_ns() - begin) * 1e9;
}

static void measure_memory(struct bench *b, size_t free_bytes) {
    static const unsigned parts[] = {32, 16, 8, 4,
                                     /* divisors of the number of SMs; three quarters and all
                                      * follow */
                                     2};
    enum { PARTS = sizeof parts / sizeof *parts };
    unsigned sms = (unsigned)gsim_cuda_attribute(b->cuda, GSIM_CUDA_SMS), before = 0;
    (void)free_bytes;
    (void)bandwidth(b, sms); /* a warm-up */
    for (unsigned i = 0; i < PARTS + 2; i++) {
        unsigned n = i < PARTS ? sms / parts[i] : i == PARTS ? sms * 3 / 4 : sms;
        if (n > before)
            gsim_measured_put_point(b->m, n, bandwidth(b, n), "a copy by one block an SM");
        before = n;
    }
    gsim_measured_put(b->m, GSIM_KEY_HBM_BYTES_PER_S, bandwidth(b, 2 * sms),
                      "a copy by two blocks an SM");
}

/* --- paging ----------------------------------------------------------------------------------- */

enum { PAGED = 512 * MIB, STRIDE = 2 * MIB, HOST = -1 /* CU_DEVICE_CPU */ };

/* Managed memory that the host has written. */
static gsim_cuda_mem managed(const struct bench *b) {
    gsim_cuda_mem mem = 0;
    if (b->cuda->mem_managed(&mem, PAGED, 1 /* visible to all streams */) != 0)
        return 0;
    memset((void *)(uintptr_t)mem, 1, PAGED);
    return mem;
}

static double prefetch_ns(const struct bench *b, gsim_cuda_mem mem, int to) {
    double begin = now_ns();
    int error = b->cuda->mem_prefetch(mem, PAGED, to, b->stream[0]);
    return error == 0 && b->cuda->synchronize() == 0 ? now_ns() - begin : (double)NAN;
}

static double lone_faults_ns(const struct bench *b, gsim_cuda_mem mem) {
    double begin = now_ns();
    int error = launch(b, CHASE, 1, 1, mem, STRIDE, PAGED / STRIDE);
    return error == 0 && b->cuda->synchronize() == 0 ? (now_ns() - begin) / ((double)PAGED / STRIDE)
                                                     : (double)NAN;
}

static void measure_paging(struct bench *b, size_t free_bytes) {
    (void)free_bytes;
    if (!gsim_cuda_attribute(b->cuda, GSIM_CUDA_MANAGED))
        return;
    gsim_cuda_mem mem = managed(b);
    gsim_measured_put(b->m, GSIM_KEY_UVM_FAULT_NS, mem ? lone_faults_ns(b, mem) : (double)NAN,
                      "256 reads 2 MiB apart, each after the one before, of pages on the host");
    if (mem)
        (void)b->cuda->mem_free(mem);
    mem = managed(b);
    gsim_measured_put(b->m, GSIM_KEY_UVM_PREFETCH_IN,
                      mem ? PAGED / prefetch_ns(b, mem, b->cuda->device) * 1e9 : (double)NAN,
                      "prefetch of 512 MiB");
    gsim_measured_put(b->m, GSIM_KEY_UVM_PREFETCH_OUT,
                      mem ? PAGED / prefetch_ns(b, mem, HOST) * 1e9 : (double)NAN,
                      "prefetch of 512 MiB");
    if (mem)
        (void)b->cuda->mem_free(mem);
}

/* --- contexts, allocations -------------------------------------------------------------------- */

static void measure_contexts(struct bench *b, size_t free_bytes) {
    void *context;
    (void)free_bytes;
    gsim_measured_put(b->m, GSIM_KEY_CONTEXT_BYTES, (double)b->context_bytes,
                      "memory that is not free once a process has a context");
    double begin = now_ns();
    if (b->cuda->context_create(&context, 0, b->cuda->device) != 0)
        return;
    gsim_measured_put(b->m, GSIM_KEY_CONTEXT_CREATE_NS, now_ns() - begin,
                      "a further one in a process");
    begin = now_ns();
    if (b->cuda->context_destroy(context) == 0)
        gsim_measured_put(b->m, GSIM_KEY_CONTEXT_DESTROY_NS, now_ns() - begin,
                          "a further one in a process");
}

static void measure_allocations(struct bench *b, size_t free_bytes) {
    size_t bytes = free_bytes / 4 / MIB * MIB;
    gsim_cuda_mem mem;
    void *host = NULL;
    if (b->cuda->mem_alloc(&mem, bytes) != 0)
        return;
    double begin = now_ns();
    if (b->cuda->mem_free(mem) == 0)
        gsim_measured_put(b->m, GSIM_KEY_SUSPEND_FREE_NS_PER_GIB,
                          (now_ns() - begin) / ((double)bytes / GIB),
                          "freeing a quarter of the memory in one piece");
    begin = now_ns();
    if (b->cuda->host_alloc(&host, 1024u * MIB, 0) != 0)
        return;
    gsim_measured_put(b->m, GSIM_KEY_SUSPEND_PIN_NS_PER_GIB, now_ns() - begin,
                      "allocating 1 GiB pinned");
    (void)b->cuda->host_free(host);
}

/* --- all of it -------------------------------------------------------------------------------- */

static void ask_device(struct gsim_measurement *m) {
    static const struct {
        enum gsim_key key;
        enum gsim_cuda_attribute attribute;
        int times;
    } facts[] = {
        {GSIM_KEY_SMS, GSIM_CUDA_SMS, 1},
        {GSIM_KEY_L2_BYTES, GSIM_CUDA_L2_BYTES, 1},
        {GSIM_KEY_SM_THREADS, GSIM_CUDA_SM_THREADS, 1},
        {GSIM_KEY_SM_BLOCK_THREADS, GSIM_CUDA_BLOCK_THREADS, 1},
        {GSIM_KEY_SM_SHARED_BYTES, GSIM_CUDA_SM_SHARED_BYTES, 1},
        {GSIM_KEY_SM_REGISTER_BYTES, GSIM_CUDA_SM_REGISTERS, 4},
    };
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        gsim_measured_say(m, facts[i].key,
                          (double)gsim_cuda_attribute(m->cuda, facts[i].attribute) * facts[i].times,
                          "said by the driver");
    if (m->cuda->device_mem(&bytes, m->cuda->device) == 0)
        gsim_measured_say(m, GSIM_KEY_HBM_BYTES, (double)bytes, "said by the driver");
}

static const char *ptx(void) {
    const struct gsim_embedded *file = gsim_embedded_find("sim/calibrate/calibrate.ptx");
    return file ? (const char *)file->bytes : NULL; /* a NUL follows the last byte */
}

static int open_bench(struct bench *b, size_t free_bytes) {
    static const char *const names[KERNELS] = {"empty", "stamp", "watch", "chase", "copy"};
    int error = b->cuda->module_load(&b->module, ptx());
    for (int i = 0; i < KERNELS && error == 0; i++)
        error = b->cuda->module_function(&b->kernel[i], b->module, names[i]);
    b->big = free_bytes / 8 < 1024u * MIB ? free_bytes / 8 / MIB * MIB : 1024u * MIB;
    for (int i = 0; i < 2 && error == 0; i++) {
        void *host = NULL;
        error = b->cuda->stream_create(&b->stream[i], 1 /* CU_STREAM_NON_BLOCKING */);
        if (error == 0)
            error = b->cuda->mem_alloc(&b->device[i], b->big);
        if (error == 0)
            error = b->cuda->host_alloc(&host, b->big, 0);
        b->host[i] = host;
    }
    return error;
}

static void close_bench(struct bench *b) {
    for (int i = 0; i < 2; i++) {
        if (b->host[i])
            (void)b->cuda->host_free(b->host[i]);
        if (b->device[i])
            (void)b->cuda->mem_free(b->device[i]);
        if (b->stream[i])
            (void)b->cuda->stream_destroy(b->stream[i]);
    }
    if (b->module)
        (void)b->cuda->module_unload(b->module);
}

/* Runs the work in a context of its own. */
static enum gsim_status in_context(struct gsim_measurement *m,
                                   void (*work)(struct bench *b, size_t free_bytes)) {
    struct bench b = {.m = m, .cuda = m->cuda};
    void *context = NULL;
    const char *name = NULL;
    size_t free_bytes = 0, bytes = 0;
    int error = m->cuda->context_create(&context, 0, m->cuda->device);
    if (error == 0)
        error = m->cuda->mem_info(&free_bytes, &bytes);
    b.context_bytes = bytes - free_bytes;
    if (error == 0)
        error = open_bench(&b, free_bytes);
    if (error == 0)
        work(&b, free_bytes);
    else if (m->cuda->error_name(error, &name) != 0 || !name)
        name = "?";
    close_bench(&b);
    if (context)
        (void)m->cuda->context_destroy(context);
    return error == 0 ? GSIM_OK
                      : gsim_fail(m->log, GSIM_FAILED, NULL, 0, "%s cannot be measured: %s (%d)",
                                  m->cuda->name, name, error);
}

/* Keeps the GPU busy for seconds, and prints the times on it and off it. */
static void watch_turns(struct bench *b, size_t free_bytes) {
    enum { LENGTH_NS = 500000000, TIMES = 6, MOST = 1000 };
    uint64_t turn[MOST + 1][3];
    (void)free_bytes;
    for (int i = 0; i < TIMES; i++) {
        if (launch(b, WATCH, 1, 1, b->device[0], LENGTH_NS, MOST) != 0 ||
            b->cuda->copy_out(turn, b->device[0], sizeof turn, b->stream[0]) != 0 ||
            b->cuda->synchronize() != 0)
            return;
        for (int k = 0; k < MOST && turn[k][0] != 0; k++)
            fprintf(b->m->turns, "%.0f %.0f\n", (double)(turn[k][1] - turn[k][0]),
                    (double)(turn[k][2] - turn[k][1]));
    }
}

enum gsim_status gsim_watch_turns(struct gsim_measurement *m) {
    return in_context(m, watch_turns);
}

/* Measures one round of each part that is not steady yet, in a context of its own with buffers of
 * its own: pinned memory lies elsewhere in each round. */
static void measure_round(struct bench *b, size_t free_bytes) {
    static void (*const parts[])(struct bench * b, size_t free_bytes) = {
        measure_launches,    measure_copies, measure_memory,
        measure_allocations, measure_paging, measure_contexts};
    b->m->is_steady = true;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        b->m->part = (int)part + 1; /* part 0 holds the facts that the driver states */
        if (b->m->n_rounds > 0 && gsim_part_is_steady(b->m, b->m->part))
            continue;
        parts[part](b, free_bytes);
        b->m->is_steady = false;
    }
}

enum gsim_status gsim_measure(struct gsim_measurement *m) {
    enum gsim_status status = GSIM_OK;
    ask_device(m);
    for (; m->n_rounds < GSIM_ROUNDS_MOST && status == GSIM_OK && !m->is_steady; m->n_rounds++)
        status = in_context(m, measure_round);
    gsim_measured_settle(m);
    return status;
}
