/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults, batches and the density tree. Within a run of missing chunks, faults are taken in the
 * order of touches, skipping pages that an earlier batch brought. In an ordered sweep the end of a
 * chunk and the end of a batch fall together again and again; from such a point on the batches
 * repeat, which is the closed form. */
#include "models/memory/uvm.h"

#include <assert.h>
#include <string.h>

#include "gsim/units.h"

enum { MOST_LEAVES = 64 };

void gsim_uvm_init(struct gsim_uvm *uvm, const struct gsim_profile *profile,
                   struct gsim_arena *arena) {
    const int64_t *value = profile->value;
    int64_t chunk_bytes = value[GSIM_KEY_UVM_CHUNK_BYTES];
    int64_t smallest = (chunk_bytes + MOST_LEAVES - 1) / MOST_LEAVES;
    int64_t leaf_bytes = value[GSIM_KEY_UVM_BIG_PAGE_BYTES];
    leaf_bytes = leaf_bytes > smallest ? leaf_bytes : smallest;
    *uvm = (struct gsim_uvm){.arena = arena,
                             .chunk_bytes = chunk_bytes,
                             .leaf_bytes = leaf_bytes < chunk_bytes ? leaf_bytes : chunk_bytes,
                             .page_bytes = value[GSIM_KEY_UVM_PAGE_BYTES],
                             .density_ppm = value[GSIM_KEY_UVM_DENSITY_PPM],
                             .batch_faults = value[GSIM_KEY_UVM_BATCH_FAULTS],
                             .block_ns = value[GSIM_KEY_UVM_BLOCK_NS],
                             .fault_ns = value[GSIM_KEY_UVM_BATCH_FAULT_NS],
                             .copy_bytes_per_s = value[GSIM_KEY_UVM_COPY],
                             .copies_clean = value[GSIM_KEY_UVM_CLEAN_COPY] != 0};
    struct gsim_paging lone = {
        .blocks = 1, .faults = 1, .bytes_in = value[GSIM_KEY_UVM_BIG_PAGE_BYTES]};
    int64_t fixed_ns = value[GSIM_KEY_UVM_FAULT_NS] - gsim_uvm_ns(uvm, &lone);
    uvm->batch_ns = fixed_ns > 0 ? fixed_ns : 0;
}

int64_t gsim_uvm_ns(const struct gsim_uvm *uvm, const struct gsim_paging *paging) {
    int64_t ns = paging->batches * uvm->batch_ns + paging->blocks * uvm->block_ns +
                 paging->faults * uvm->fault_ns;
    if (uvm->copy_bytes_per_s == INT64_MAX)
        return ns;
    return ns + gsim_muldiv_ceil(paging->bytes_in + paging->bytes_out, GSIM_NS_PER_S,
                                 uvm->copy_bytes_per_s);
}

/* --- the density tree ------------------------------------------------------------------------- */

static uint64_t region(int first, int n) {
    return (n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1) << first;
}

static int n_leaves(const struct gsim_uvm *uvm) {
    return (int)((uvm->chunk_bytes + uvm->leaf_bytes - 1) / uvm->leaf_bytes);
}

/* The largest sub-region around a leaf that is dense enough, or the leaf. Of a region at the end of
 * a chunk that is no power of two, the leaves that there are count. */
static uint64_t grown(const struct gsim_uvm *uvm, uint64_t occupied, int leaf) {
    int leaves = n_leaves(uvm);
    uint64_t best = region(leaf, 1);
    for (int size = 2; size / 2 < leaves; size *= 2) {
        int first = leaf / size * size;
        int n = first + size <= leaves ? size : leaves - first;
        uint64_t candidate = region(first, n);
        if (__builtin_popcountll(occupied & candidate) * GSIM_PPM > uvm->density_ppm * n)
            best = candidate;
    }
    return best;
}

static uint64_t brought(const struct gsim_uvm *uvm, uint64_t present, uint64_t faulting) {
    uint64_t all = present | faulting;
    for (int leaf = 0; leaf < n_leaves(uvm); leaf++)
        if (faulting >> leaf & 1)
            all |= grown(uvm, present | faulting, leaf);
    return all;
}

/* --- batches ---------------------------------------------------------------------------------- */

/* A run being paged in. */
struct run {
    struct gsim_uvm *uvm;
    uint32_t n_chunks;
    int64_t page_bytes, pages_per_chunk, n_pages, stride;
    int64_t at; /* touches done */
    struct gsim_paging *sum;
};

static bool reserve_chunks(struct gsim_uvm *uvm, uint32_t n_chunks) {
    if (n_chunks > uvm->capacity) {
        size_t before = uvm->capacity * sizeof(uint64_t), size = n_chunks * sizeof(uint64_t);
        uint64_t *present = gsim_arena_grow(uvm->arena, uvm->present, before, size);
        if (!present)
            return false;
        uvm->present = present;
        uint64_t *faulting = gsim_arena_grow(uvm->arena, uvm->faulting, before, size);
        if (!faulting)
            return false;
        uvm->faulting = faulting;
        uvm->capacity = n_chunks;
    }
    memset(uvm->present, 0, n_chunks * sizeof *uvm->present);
    memset(uvm->faulting, 0, n_chunks * sizeof *uvm->faulting);
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Faults of threads that all wait at once arrive in no order. A step of n / golden ratio that meets
 * every page once stands for such an order: neighbours in time are far apart, evenly. */
static int64_t scattered_stride(int64_t n_pages) {
    int64_t stride = gsim_muldiv_floor(n_pages, 618034, 1000000) | 1;
    while (common_divisor(stride, n_pages) != 1)
        stride += 2;
    return stride % n_pages;
}

static struct run begin_run(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                            struct gsim_paging *sum) {
    int64_t page_bytes = how.page_bytes > 0 ? how.page_bytes : uvm->page_bytes;
    int64_t per_chunk = page_bytes < uvm->chunk_bytes ? uvm->chunk_bytes / page_bytes : 1;
    struct run run = {.uvm = uvm,
                      .n_chunks = n_chunks,
                      .page_bytes = page_bytes < uvm->chunk_bytes ? page_bytes : uvm->chunk_bytes,
                      .pages_per_chunk = per_chunk,
                      .n_pages = per_chunk * n_chunks,
                      .stride = 1,
                      .sum = sum};
    if (how.is_scattered && run.n_pages > 2)
        run.stride = scattered_stride(run.n_pages);
    return run;
}

/* Serves the faults that were collected, in the chunks from `first` to `last`. */
static void serve(struct run *run, uint32_t first, uint32_t last) {
    struct gsim_uvm *uvm = run->uvm;
    run->sum->batches++;
    for (uint32_t chunk = first; chunk <= last; chunk++) {
        if (!uvm->faulting[chunk])
            continue;
        uint64_t all = brought(uvm, uvm->present[chunk], uvm->faulting[chunk]);
        run->sum->blocks++;
        for (int leaf = 0; leaf < n_leaves(uvm); leaf++)
            if ((all & ~uvm->present[chunk]) >> leaf & 1) {
                int64_t rest = uvm->chunk_bytes - leaf * uvm->leaf_bytes;
                run->sum->bytes_in += rest < uvm->leaf_bytes ? rest : uvm->leaf_bytes;
            }
        uvm->present[chunk] = all;
        uvm->faulting[chunk] = 0;
    }
}

/* Goes on to the end of a batch, or of the run when no further touch faults. */
static void one_batch(struct run *run) {
    struct gsim_uvm *uvm = run->uvm;
    int64_t n_faults = 0;
    uint32_t first = UINT32_MAX, last = 0;
    for (; run->at < run->n_pages && n_faults < uvm->batch_faults; run->at++) {
        int64_t page = run->at;
        if (run->stride > 1)
            page = (int64_t)((gsim_i128)run->at * run->stride % run->n_pages);
        uint32_t chunk = (uint32_t)(page / run->pages_per_chunk);
        int64_t offset = page % run->pages_per_chunk * run->page_bytes;
        uint64_t leaf = UINT64_C(1) << offset / uvm->leaf_bytes;
        if (uvm->present[chunk] & leaf)
            continue;
        uvm->faulting[chunk] |= leaf;
        n_faults++;
        first = chunk < first ? chunk : first;
        last = chunk > last ? chunk : last;
    }
    if (n_faults == 0)
        return;
    run->sum->faults += n_faults;
    serve(run, first, last);
}

/* Passes touches of resident pages, to the next fault. */
static void skip_present(struct run *run) {
    for (; run->at < run->n_pages; run->at++) {
        int64_t offset = run->at % run->pages_per_chunk * run->page_bytes;
        uint64_t present = run->uvm->present[run->at / run->pages_per_chunk];
        if (!(present >> offset / run->uvm->leaf_bytes & 1))
            return;
    }
}

bool gsim_uvm_run_plainly(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                          struct gsim_paging *out) {
    if (!reserve_chunks(uvm, n_chunks))
        return false;
    struct run run = begin_run(uvm, n_chunks, how, out);
    while (run.at < run.n_pages)
        one_batch(&run);
    return true;
}

static void add_times(struct gsim_paging *sum, const struct gsim_paging *one, int64_t times) {
    sum->batches += one->batches * times;
    sum->blocks += one->blocks * times;
    sum->faults += one->faults * times;
    sum->bytes_in += one->bytes_in * times;
}

static bool find_run(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                     struct gsim_paging *out) {
    if (how.is_scattered)
        return gsim_uvm_run_plainly(uvm, n_chunks, how, out);
    /* A batch and a chunk end together after batch_faults chunks at the latest, when no region
     * grows; a region that grows ends at a chunk's end. */
    uint32_t most = n_chunks;
    if (uvm->batch_faults < (int64_t)n_chunks)
        most = (uint32_t)uvm->batch_faults;
    if (!reserve_chunks(uvm, most))
        return false;
    struct gsim_paging period = {0};
    struct run run = begin_run(uvm, most, how, &period);
    while (run.at < run.n_pages) {
        one_batch(&run);
        skip_present(&run);
        if (run.at % run.pages_per_chunk == 0)
            break;
    }
    uint32_t n = (uint32_t)(run.at / run.pages_per_chunk);
    if (run.at % run.pages_per_chunk != 0 || n_chunks / n < 2)
        return gsim_uvm_run_plainly(uvm, n_chunks, how, out);
    add_times(out, &period, n_chunks / n);
    return n_chunks % n == 0 || gsim_uvm_run_plainly(uvm, n_chunks % n, how, out);
}

bool gsim_uvm_run(struct gsim_uvm *uvm, uint32_t n_chunks, struct gsim_touches how,
                  struct gsim_paging *out) {
    struct gsim_uvm_known *known = &uvm->known[n_chunks % GSIM_UVM_KNOWN];
    struct gsim_paging run = {0};
    if (n_chunks == 0)
        return true;
    if (known->n_chunks != n_chunks || known->page_bytes != how.page_bytes ||
        known->is_scattered != how.is_scattered) {
        if (!find_run(uvm, n_chunks, how, &run))
            return false;
        *known = (struct gsim_uvm_known){n_chunks,   how.is_scattered, how.page_bytes, run.batches,
                                         run.blocks, run.faults,       run.bytes_in};
    }
    run = (struct gsim_paging){.batches = known->batches,
                               .blocks = known->blocks,
                               .faults = known->faults,
                               .bytes_in = known->bytes_in};
    add_times(out, &run, 1);
    return true;
}

/* --- the manager ------------------------------------------------------------------------------ */

/* A run of missing chunks of one kind. */
struct missing {
    uint32_t n_chunks;
    bool is_untouched;
};

static bool page_in(struct gsim_uvm *uvm, struct missing *missing, struct gsim_touches how,
                    struct gsim_paging *out) {
    int64_t bytes_before = out->bytes_in;
    bool is_fine = missing->n_chunks == 0 || gsim_uvm_run(uvm, missing->n_chunks, how, out);
    if (missing->is_untouched) /* zero-filled on the device */
        out->bytes_in = bytes_before;
    missing->n_chunks = 0;
    return is_fine;
}

static void add_moved(struct gsim_uvm *uvm, const struct gsim_moved *moved,
                      struct gsim_paging *out) {
    out->moved.hits += moved->hits;
    out->moved.in += moved->in;
    out->moved.zeroed += moved->zeroed;
    out->moved.out_dirty += moved->out_dirty;
    out->moved.out_clean += moved->out_clean;
    int64_t copied = moved->out_dirty + (uvm->copies_clean ? moved->out_clean : 0);
    out->bytes_out += copied * uvm->chunk_bytes;
}

bool gsim_uvm_access(struct gsim_uvm *uvm, struct gsim_residency *residency,
                     struct gsim_range range, struct gsim_touches how, struct gsim_paging *out) {
    struct missing missing = {0};
    for (;;) {
        struct gsim_moved moved = {0};
        uint32_t n = gsim_residency_step(residency, range, how.is_write, &moved);
        bool is_same_run = moved.hits == 0 && (moved.zeroed > 0) == missing.is_untouched;
        if ((n == 0 || !is_same_run) && !page_in(uvm, &missing, how, out))
            return false;
        if (n == 0)
            return !residency->has_failed;
        missing.is_untouched = moved.zeroed > 0;
        missing.n_chunks += moved.hits == 0 ? n : 0;
        add_moved(uvm, &moved, out);
        range.first += n;
        range.n -= n;
    }
}
