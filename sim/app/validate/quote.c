/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quotes: values that models give without a run, for rows of gsim validate with an experiment that
 * is no job: a copy, a sweep of pages, tasks that take turns in too little memory, two kernels side
 * by side. */
#include <stdlib.h>
#include <string.h>

#include "models/links/host_memory.h"
#include "models/memory/pager.h"
#include "models/memory/proactive.h"
#include "models/gpu/space.h"
#include "models/jobs/suspension.h"
#include "models/memory/uvm.h"
#include "sim/app/validate/validate.h"
#include "sim/core/cluster.h"
#include "sim/base/text.h"

struct quoting {
    const struct gsim_call *call;
    const struct gsim_profile *profile;
    struct gsim_arena *arena;
};

static double number(const struct quoting *q, int at) {
    return strtod(q->call->argument[at], NULL);
}

static int64_t bytes(const struct quoting *q, int at) {
    return (int64_t)number(q, at);
}

static int choice(const struct quoting *q, int at, const char *choices) {
    return gsim_text_choice(q->call->argument[at], choices);
}

/* key(NAME): a number of the profile, in the key's unit. */
static bool key(const struct quoting *q, double *out) {
    for (int k = 0; k < GSIM_KEY_COUNT; k++)
        if (strcmp(gsim_key_name((enum gsim_key)k), q->call->argument[0]) == 0) {
            *out = (double)q->profile->value[k];
            return true;
        }
    return false;
}

/* copy_us(h2d|d2h|duplex|h2d_sync BYTES): one queued copy of pinned memory, or one each way. */
static bool copy_us(const struct quoting *q, double *out) {
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(q->profile, false);
    int64_t n = bytes(q, 1), ns = 0;
    switch (choice(q, 0, "h2d|d2h|duplex|h2d_sync")) {
    case 0:
        ns = gsim_copy_ns(&rates, GSIM_H2D, n, n);
        break;
    case 1:
        ns = gsim_copy_ns(&rates, GSIM_D2H, n, n);
        break;
    case 2:
        ns = gsim_copy_both_ns(&rates, GSIM_H2D, n, n);
        break;
    case 3:
        ns = gsim_copy_ns(&rates, GSIM_H2D, n, n) + rates.sync_ns;
        break;
    default:
        return false;
    }
    *out = (double)ns / 1e3;
    return true;
}

/* prefetch_ms(h2d|d2h BYTES): managed memory that is moved before it is touched. */
static bool prefetch_ms(const struct quoting *q, double *out) {
    struct gsim_copy_rates rates = gsim_copy_rates_prefetch(q->profile);
    int direction = choice(q, 0, "h2d|d2h");
    if (direction < 0)
        return false;
    *out = (double)gsim_copy_ns(&rates, (enum gsim_direction)direction, bytes(q, 1), 0) / 1e6;
    return true;
}

/* overflow_ms(BYTES): kernels write this amount of the host's memory and read it again. */
static bool overflow_ms(const struct quoting *q, double *out) {
    *out = (double)gsim_overflow_of(bytes(q, 0), q->profile).ns / 1e6;
    return true;
}

/* touch_ms(BYTES PAGE ascending|scattered): managed memory on the host, of which the device touches
 * one byte of each PAGE. */
static bool touch_ms(const struct quoting *q, double *out) {
    struct gsim_uvm uvm;
    struct gsim_paging sum = {0};
    struct gsim_touches how = {.page_bytes = bytes(q, 1),
                               .is_scattered = choice(q, 2, "ascending|scattered") == 1};
    gsim_uvm_init(&uvm, q->profile, q->arena);
    if (choice(q, 2, "ascending|scattered") < 0 ||
        !gsim_uvm_run(&uvm, gsim_chunks_of(bytes(q, 0), uvm.chunk_bytes), how, &sum))
        return false;
    *out = (double)gsim_uvm_ns(&uvm, &sum) / 1e6;
    return true;
}

/* --- tasks that take turns in too little memory ----------------------------------------------- */

enum { MOST_TASKS = 16, ROTATIONS = 60 };

/* sweep_paging_ms(TASKS BYTES), sweep_batches(TASKS BYTES): each turn sweeps one task's memory by
 * faults while the driver evicts; a turn in the steady state. */
static bool sweep(const struct quoting *q, struct gsim_uvm *uvm, struct gsim_paging *turn) {
    struct gsim_residency memory;
    uint32_t n_tasks = (uint32_t)number(q, 0);
    if (n_tasks < 1 || n_tasks > MOST_TASKS)
        return false;
    gsim_uvm_init(uvm, q->profile, q->arena);
    uint32_t n = gsim_chunks_of(bytes(q, 1), uvm->chunk_bytes);
    int64_t room = q->profile->value[GSIM_KEY_HBM_BYTES] / uvm->chunk_bytes;
    gsim_residency_init(&memory, (uint32_t)room, GSIM_EVICT_ALLOCATION, q->arena);
    for (uint32_t at = 0; at < 3 * n_tasks; at++) {
        if (at < n_tasks)
            gsim_residency_write_host(
                &memory, (struct gsim_range){gsim_residency_open(&memory, at, n), 0, n});
        *turn = (struct gsim_paging){0};
        if (!gsim_uvm_access(uvm, &memory, gsim_range_whole(&memory, at % n_tasks),
                             (struct gsim_touches){0}, turn))
            return false;
    }
    return true;
}

static bool sweep_paging_ms(const struct quoting *q, double *out) {
    struct gsim_uvm uvm;
    struct gsim_paging turn = {0};
    bool is_known = sweep(q, &uvm, &turn);
    *out = is_known ? (double)gsim_uvm_ns(&uvm, &turn) / 1e6 : 0;
    return is_known;
}

static bool sweep_batches(const struct quoting *q, double *out) {
    struct gsim_uvm uvm;
    struct gsim_paging turn = {0};
    bool is_known = sweep(q, &uvm, &turn);
    *out = (double)turn.batches;
    return is_known;
}

struct round {
    struct gsim_residency memory;
    struct gsim_range used[MOST_TASKS];
    uint32_t n_tasks;
    bool is_dirty;
};

static struct gsim_migration switch_to(struct round *r, const struct gsim_proactive *how,
                                       uint32_t at) {
    struct gsim_turn turns[MOST_TASKS];
    for (uint32_t i = 0; i < r->n_tasks; i++)
        turns[i] = (struct gsim_turn){
            .used = &r->used[(at + i) % r->n_tasks], .n_used = 1, .run_ns = GSIM_NS_PER_MS};
    struct gsim_migration moved = gsim_proactive_switch(how, &r->memory, turns, r->n_tasks, NULL);
    (void)gsim_residency_touch(&r->memory, r->used[at % r->n_tasks], r->is_dirty);
    return moved;
}

/* Rotates TASKS WORKING_SET_GIB BUDGET_GIB belady|lru pipe|serial dirty|clean, and sums up *n
 * switches after two rounds. Clean chunks are dropped. */
static bool rotate(const struct quoting *q, struct gsim_migration *sum, uint32_t *n) {
    struct round r = {.n_tasks = (uint32_t)number(q, 0),
                      .is_dirty = choice(q, 5, "dirty|clean") == 0};
    struct gsim_proactive how = gsim_proactive_default(q->profile);
    uint32_t chunks = gsim_chunks_of((int64_t)(number(q, 1) * (double)GSIM_GIB), how.chunk_bytes);
    int64_t room = (int64_t)(number(q, 2) * (double)GSIM_GIB) / how.chunk_bytes;
    if (r.n_tasks < 2 || r.n_tasks > MOST_TASKS)
        return false;
    how.copies_clean = how.has_early_start = false;
    how.is_pipelined = choice(q, 4, "pipe|serial") == 0;
    gsim_residency_init(&r.memory, (uint32_t)room,
                        choice(q, 3, "belady|lru") == 0 ? GSIM_EVICT_BELADY : GSIM_EVICT_LRU,
                        q->arena);
    for (uint32_t i = 0; i < r.n_tasks; i++) {
        r.used[i] = (struct gsim_range){gsim_residency_open(&r.memory, i, chunks), 0, chunks};
        gsim_residency_write_host(&r.memory, r.used[i]);
    }
    *n = ROTATIONS * (r.n_tasks - 1); /* Belady's choice repeats after N (N - 1) switches */
    for (uint32_t at = 0; at < 2 * r.n_tasks + *n; at++) {
        struct gsim_migration one = switch_to(&r, &how, at);
        bool is_counted = at >= 2 * r.n_tasks;
        sum->bytes_in += is_counted ? one.bytes_in : 0;
        sum->bytes_out += is_counted ? one.bytes_out : 0;
        sum->ns += is_counted ? one.ns : 0;
    }
    return true;
}

static bool switch_round(const struct quoting *q, double *ms, double *in_gib, double *out_gib) {
    struct gsim_migration sum = {0};
    uint32_t n = 1;
    bool is_known = rotate(q, &sum, &n);
    *ms = (double)sum.ns / n / 1e6;
    *in_gib = (double)sum.bytes_in / n / (double)GSIM_GIB;
    *out_gib = (double)sum.bytes_out / n / (double)GSIM_GIB;
    return is_known;
}

static bool switch_ms(const struct quoting *q, double *out) {
    double in_gib, out_gib;
    return switch_round(q, out, &in_gib, &out_gib);
}

static bool switch_in_gib(const struct quoting *q, double *out) {
    double ms, out_gib;
    return switch_round(q, &ms, out, &out_gib);
}

static bool switch_out_gib(const struct quoting *q, double *out) {
    double ms, in_gib;
    return switch_round(q, &ms, &in_gib, out);
}

/* migrate_gb_per_s(in|out|both|serial): proactive migration of 1 GiB, or of 1 GiB each way, on an
 * idle link. */
static bool migrate_gb_per_s(const struct quoting *q, double *out) {
    struct gsim_copy_rates rates = gsim_copy_rates_migrate(q->profile);
    int64_t chunk = q->profile->value[GSIM_KEY_UVM_CHUNK_BYTES], ns = 0;
    int64_t alternate_ns = q->profile->value[GSIM_KEY_PCIE_ALTERNATE_NS];
    int way = choice(q, 0, "in|out|both|serial");
    if (way < 0)
        return false;
    if (way < 2)
        ns = gsim_copy_ns(&rates, way == 0 ? GSIM_H2D : GSIM_D2H, GSIM_GIB, chunk);
    else if (way == 2)
        ns = gsim_copy_duplex_ns(&rates, GSIM_GIB, GSIM_GIB, chunk);
    else
        ns = gsim_copy_serial_ns(&rates, GSIM_GIB, GSIM_GIB, chunk, alternate_ns);
    *out = (double)GSIM_GIB * (way < 2 ? 1 : 2) / (double)ns;
    return true;
}

/* The ns until the last of several copies ends that begin at once: `size` bytes on each GPU of a
 * host, in each direction with a set bit. 0: no memory. */
static int64_t host_ns(const struct quoting *q, uint32_t n_gpus, int64_t size, unsigned ways) {
    struct gsim_host_memory domains;
    struct gsim_link link;
    struct gsim_transfer_done done = {0};
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(q->profile, false);
    const struct gsim_model_setup setup = {
        .arena = q->arena,
        .n_gpus = n_gpus,
        .profiles = &q->profile,
        .n_profiles = 1,
        .type_of_gpu = gsim_arena_array(q->arena, n_gpus, sizeof(uint16_t)),
        .wiring = {.node_of_gpu = gsim_arena_array(q->arena, n_gpus, sizeof(uint32_t)),
                   .n_nodes = 1}};
    if (!setup.type_of_gpu || !setup.wiring.node_of_gpu ||
        !gsim_host_memory_init(&domains, &setup) ||
        !gsim_link_init(&link, n_gpus, NULL, NULL, q->arena) ||
        (domains.is_bottleneck && !gsim_link_share_hosts(&link, &domains.hosts, domains.is_given)))
        return 0;
    for (uint32_t gpu = 0; gpu < n_gpus; gpu++)
        for (enum gsim_direction d = GSIM_H2D; d < GSIM_DIRECTIONS; d++) {
            struct gsim_transfer copy = {.gpu = gpu,
                                         .direction = d,
                                         .bytes = size,
                                         .cost = gsim_copy_cost(&rates, d, size, 0)};
            if (ways >> d & 1 && gsim_link_submit(&link, &copy, 0) == GSIM_LINK_NONE)
                return 0;
        }
    while (gsim_link_pop(&link, GSIM_NEVER - 1, &done))
        continue;
    return done.end_ns;
}

/* host_gb_per_s(in|out|both GPUS): the rate that this number of GPUs of one NUMA domain reaches
 * together. */
static bool host_gb_per_s(const struct quoting *q, double *out) {
    int way = choice(q, 0, "in|out|both");
    int64_t n_gpus = bytes(q, 1);
    if (way < 0 || n_gpus < 1 || n_gpus > GSIM_MAX_GPUS_PER_NODE)
        return false;
    int64_t ns = host_ns(q, (uint32_t)n_gpus, GSIM_GIB, way == 2 ? 3u : 1u << way);
    *out = (double)GSIM_GIB * (double)n_gpus * (way == 2 ? 2 : 1) / (double)ns;
    return ns > 0;
}

/* --- whole jobs, and bandwidth ---------------------------------------------------------------- */

static bool suspension(const struct quoting *q, enum gsim_keep *keep,
                       struct gsim_suspension_cost *cost) {
    int how = choice(q, 0, "host|image");
    *keep = how == 0 ? GSIM_KEEP_HOST : GSIM_KEEP_IMAGE;
    *cost = gsim_suspension_cost(q->profile, GSIM_STOP_ITERATION, *keep,
                                 (int64_t)(number(q, 1) * (double)GSIM_GIB), false);
    return how >= 0;
}

/* suspend_ms(host|image GIB), resume_ms(host|image GIB): a whole job, on an idle link. */
static bool suspend_ms(const struct quoting *q, double *out) {
    enum gsim_keep keep;
    struct gsim_suspension_cost cost;
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(q->profile, true);
    bool is_known = suspension(q, &keep, &cost);
    *out = (double)(cost.save_ns + gsim_copy_ns(&rates, GSIM_D2H, cost.bytes_out, 0)) / 1e6;
    return is_known;
}

static bool resume_ms(const struct quoting *q, double *out) {
    enum gsim_keep keep;
    struct gsim_suspension_cost cost;
    struct gsim_copy_rates rates = gsim_copy_rates_pinned(q->profile, true);
    bool is_known = suspension(q, &keep, &cost);
    *out = (double)(cost.resume_ns + gsim_copy_ns(&rates, GSIM_H2D, cost.bytes_in, 0)) / 1e6;
    return is_known;
}

/* bandwidth_gb_per_s(SMS): the rate at which copies on this number of SMs use memory. */
static bool bandwidth_gb_per_s(const struct quoting *q, double *out) {
    struct gsim_space space = gsim_space_of_device(q->profile);
    *out = (double)gsim_space_bandwidth(&space, bytes(q, 0) * GSIM_SM) / 1e9;
    return true;
}

/* --- quotes by name --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int n_arguments;
    bool (*quote)(const struct quoting *q, double *out);
} quotes[] = {
    {"key", 1, key},
    {"copy_us", 2, copy_us},
    {"prefetch_ms", 2, prefetch_ms},
    {"overflow_ms", 1, overflow_ms},
    {"touch_ms", 3, touch_ms},
    {"sweep_paging_ms", 2, sweep_paging_ms},
    {"sweep_batches", 2, sweep_batches},
    {"switch_ms", 6, switch_ms},
    {"switch_in_gib", 6, switch_in_gib},
    {"switch_out_gib", 6, switch_out_gib},
    {"migrate_gb_per_s", 1, migrate_gb_per_s},
    {"host_gb_per_s", 2, host_gb_per_s},
    {"suspend_ms", 2, suspend_ms},
    {"resume_ms", 2, resume_ms},
    {"bandwidth_gb_per_s", 1, bandwidth_gb_per_s},
};

enum gsim_status gsim_validate_quote(const struct gsim_call *call,
                                     const struct gsim_profile *profile, struct gsim_arena *arena,
                                     bool *is_quote, double *out, struct gsim_log *log) {
    struct quoting q = {.call = call, .profile = profile, .arena = arena};
    *is_quote = false;
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        if (strcmp(quotes[i].name, call->name) != 0)
            continue;
        *is_quote = true;
        if (call->n_arguments == quotes[i].n_arguments && quotes[i].quote(&q, out))
            return GSIM_OK;
        return gsim_fail(log, GSIM_BAD_INPUT, NULL, 0, "%s: these are not its %d arguments",
                         call->name, quotes[i].n_arguments);
    }
    return GSIM_OK;
}
