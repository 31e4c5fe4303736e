/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "models/memory/pager.h"

#include "sim/base/hints.h"

/* --- opening ---------------------------------------------------------------------------------- */

static enum gsim_eviction eviction_of(const struct gsim_arrangement *arrangement) {
    if (arrangement->memory == GSIM_MEMORY_PROACTIVE)
        return arrangement->migration.evicts_lru ? GSIM_EVICT_LRU : GSIM_EVICT_BELADY;
    return arrangement->memory == GSIM_MEMORY_LRU ? GSIM_EVICT_LRU : GSIM_EVICT_ALLOCATION;
}

void gsim_pager_init(struct gsim_pager *pager, const struct gsim_arrangement *arrangement,
                     const struct gsim_profile *profile, struct gsim_arena *arena) {
    *pager = (struct gsim_pager){.manager = arrangement->memory,
                                 .eviction = eviction_of(arrangement),
                                 .proactive = gsim_proactive_default(profile),
                                 .remote = gsim_remote_of(profile)};
    pager->proactive.is_pipelined = arrangement->migration.pipeline;
    pager->proactive.has_early_start = arrangement->migration.early_start;
    pager->proactive.predicts_allocations = !arrangement->migration.predict_by_template;
    pager->proactive.false_negative_ppm = arrangement->migration.missed_ppm;
    pager->proactive.false_positive_ppm = arrangement->migration.spare_ppm;
    pager->mapped_bytes_per_s = profile->value[GSIM_KEY_PCIE_H2D];
    pager->prefetch_bytes_per_s = profile->value[GSIM_KEY_UVM_PREFETCH_IN];
    pager->plan_ns = profile->value[GSIM_KEY_MIGRATE_PLAN_NS];
    pager->plan_ns_per_task = profile->value[GSIM_KEY_MIGRATE_TASK_PLAN_NS];
    pager->first_touch_ppm = profile->value[GSIM_KEY_JOB_FIRST_TOUCH_PPM];
    gsim_uvm_init(&pager->uvm, profile, arena);
    int64_t chunks = profile->value[GSIM_KEY_HBM_BYTES] / pager->uvm.chunk_bytes;
    pager->capacity = chunks < UINT32_MAX ? (uint32_t)chunks : UINT32_MAX;
    pager->alone = (struct gsim_pager_rates){.migrate = pager->proactive.rates,
                                             .copy_bytes_per_s = pager->uvm.copy_bytes_per_s,
                                             .mapped_bytes_per_s = pager->mapped_bytes_per_s,
                                             .prefetch_bytes_per_s = pager->prefetch_bytes_per_s,
                                             .remote_bytes_per_s = pager->remote.bytes_per_s};
}

static int64_t shared(int64_t bytes_per_s, uint64_t share_q32) {
    if (bytes_per_s == INT64_MAX || share_q32 == GSIM_RATE_ONE)
        return bytes_per_s;
    int64_t left = (int64_t)((gsim_u128)bytes_per_s * share_q32 >> 32);
    return left > 0 ? left : 1;
}

void gsim_pager_share(struct gsim_pager *pager, const struct gsim_pager_shares *shares) {
    const struct gsim_pager_rates *alone = &pager->alone;
    struct gsim_copy_rates *migrate = &pager->proactive.rates;
    uint64_t in = shares->q32[GSIM_HOST_IN], out = shares->q32[GSIM_HOST_OUT];
    uint64_t least = in < out ? in : out;
    migrate->bytes_per_s[GSIM_H2D] = shared(alone->migrate.bytes_per_s[GSIM_H2D], in);
    migrate->bytes_per_s[GSIM_D2H] = shared(alone->migrate.bytes_per_s[GSIM_D2H], out);
    migrate->both_bytes_per_s =
        shared(alone->migrate.both_bytes_per_s, shares->q32[GSIM_HOST_BOTH]);
    pager->uvm.copy_bytes_per_s = shared(alone->copy_bytes_per_s, least);
    pager->mapped_bytes_per_s = shared(alone->mapped_bytes_per_s, least);
    pager->prefetch_bytes_per_s = shared(alone->prefetch_bytes_per_s, least);
    pager->remote.bytes_per_s = shared(alone->remote_bytes_per_s, in);
}

GSIM_ROLE_ASSERT(struct gsim_memory_use);
GSIM_ROLE_ASSERT(struct gsim_store_times);

/* The contents of the store are about to change: a new stamp. */
static void note_change(struct gsim_store *store) {
    store->stamp = ++store->pager->stamp;
}

void gsim_pager_store_init(struct gsim_store *store, struct gsim_pager *pager,
                           struct gsim_arena *arena) {
    *store = (struct gsim_store){.pager = pager};
    if (!pager)
        return;
    gsim_residency_init(&store->residency, pager->capacity, pager->eviction, arena);
    note_change(store);
}

static uint32_t open_buffer(struct gsim_store *store, const struct gsim_tenant_spec *spec,
                            uint32_t n_chunks) {
    if (n_chunks == 0)
        return GSIM_NO_BUFFER;
    uint32_t buffer = gsim_residency_open(&store->residency, spec->owner, n_chunks);
    if (buffer != GSIM_NO_BUFFER && spec->yields)
        gsim_residency_yield(&store->residency, buffer);
    return buffer;
}

static void fill(struct gsim_store *store, const struct gsim_tenant *tenant) {
    if (tenant->used == GSIM_NO_BUFFER)
        return;
    struct gsim_range all = gsim_range_whole(&store->residency, tenant->used);
    if (store->pager->eviction == GSIM_EVICT_BELADY) /* its turn is the next */
        gsim_residency_set_next_use(&store->residency, tenant->used, INT64_MIN);
    gsim_residency_write_host(&store->residency, all);
    (void)gsim_residency_access(&store->residency, all, false);
}

bool gsim_pager_open(struct gsim_store *store, struct gsim_tenant *tenant,
                     const struct gsim_tenant_spec *spec, bool is_filled) {
    *tenant = (struct gsim_tenant){.spec = *spec, .used = GSIM_NO_BUFFER, .unused = GSIM_NO_BUFFER};
    if (!store->pager)
        return true;
    note_change(store);
    store->before_stamp = 0; /* whole sweeps are cut before a newcomer comes */
    int64_t chunk_bytes = store->pager->uvm.chunk_bytes;
    uint32_t n_used = gsim_chunks_of(spec->used_bytes, chunk_bytes);
    uint32_t n_all = gsim_chunks_of(spec->allocated_bytes, chunk_bytes);
    tenant->used = open_buffer(store, spec, n_used);
    tenant->unused = open_buffer(store, spec, n_all > n_used ? n_all - n_used : 0);
    if (is_filled && !store->residency.has_failed)
        fill(store, tenant);
    return !store->residency.has_failed;
}

void gsim_pager_close(struct gsim_store *store, struct gsim_tenant *tenant) {
    if (!store->pager)
        return;
    note_change(store);
    gsim_residency_close(&store->residency, tenant->used);
    gsim_residency_close(&store->residency, tenant->unused);
    if (store->before_stamp != 0) {
        gsim_residency_close(&store->before, tenant->used);
        gsim_residency_close(&store->before, tenant->unused);
        store->before_stamp = ++store->pager->stamp;
    }
    tenant->used = tenant->unused = GSIM_NO_BUFFER;
}

/* --- moving ----------------------------------------------------------------------------------- */

static uint32_t range_of(const struct gsim_residency *residency, uint32_t buffer,
                         struct gsim_range *out) {
    if (buffer == GSIM_NO_BUFFER)
        return 0;
    *out = gsim_range_whole(residency, buffer);
    return 1;
}

/* Where the order of touches is known, in the order's own time. */
static struct gsim_upcoming upcoming_of(const struct gsim_next_turn *next) {
    const struct gsim_touch_order *order = next->tenant->spec.order;
    if (next->tenant->used == GSIM_NO_BUFFER || next->sweep_ns <= 0)
        return (struct gsim_upcoming){0};
    int64_t run_ns = gsim_muldiv_floor(next->run_ns, order->all_ns, next->sweep_ns);
    return (struct gsim_upcoming){
        .order = order,
        .iteration_ns = next->sweep_ns,
        .ahead = {.done_ns = gsim_muldiv_floor(next->done_ns, order->all_ns, next->sweep_ns),
                  .run_ns = run_ns > 0 ? run_ns : 1,
                  .is_last = next->is_last}};
}

/* A newcomer may have ended the last turn before what it was to touch. */
static void touch_from(struct gsim_tenant *tenant, const struct gsim_upcoming *upcoming) {
    uint32_t n_touched = tenant->state.n_touched;
    int64_t done_ns = upcoming->ahead.done_ns;
    if (n_touched > 0 && gsim_touch_order_ns(upcoming->order, n_touched - 1) > done_ns)
        tenant->state.n_touched = gsim_touch_order_after(upcoming->order, done_ns);
}

struct gsim_store_move gsim_pager_switch(struct gsim_store *store,
                                         const struct gsim_next_turn *turns, uint32_t n_turns,
                                         bool is_planned, int64_t now_ns) {
    if (n_turns > 1 && !is_planned)
        now_ns += store->pager->plan_ns + n_turns * store->pager->plan_ns_per_task;
    note_change(store);
    const struct gsim_residency *residency = &store->residency;
    struct gsim_turn timeline[GSIM_STORE_TURNS_MAX];
    struct gsim_range used[GSIM_STORE_TURNS_MAX], unused[GSIM_STORE_TURNS_MAX];
    for (uint32_t i = 0; i < n_turns; i++) {
        timeline[i] =
            (struct gsim_turn){.used = &used[i],
                               .n_used = range_of(residency, turns[i].tenant->used, &used[i]),
                               .unused = &unused[i],
                               .n_unused = range_of(residency, turns[i].tenant->unused, &unused[i]),
                               .run_ns = turns[i].run_ns,
                               .sweep_ns = gsim_muldiv_floor(
                                   turns[i].sweep_ns, store->pager->first_touch_ppm, GSIM_PPM)};
        if (gsim_rarely(turns[i].tenant->spec.order != NULL)) {
            timeline[i].upcoming = upcoming_of(&turns[i]);
            if (i == 0) /* the turn that begins */
                touch_from(turns[i].tenant, &timeline[i].upcoming);
        }
    }
    struct gsim_migration moved = gsim_proactive_switch(&store->pager->proactive, &store->residency,
                                                        timeline, n_turns, &store->pager->scratch);
    int64_t begins_ns = now_ns > store->times.link_free_ns ? now_ns : store->times.link_free_ns;
    int64_t starts_ns = moved.bytes_in + moved.bytes_out > 0 ? begins_ns + moved.start_ns : now_ns;
    if (moved.bytes_in + moved.bytes_out > 0)
        store->times.link_free_ns = begins_ns + moved.ns;
    store->last.ns = moved.ns;
    store->last.in = moved.bytes_in;
    store->last.out = moved.bytes_out;
    struct gsim_tenant *tenant = turns[0].tenant;
    tenant->sum.bytes_in += moved.bytes_in;
    tenant->sum.bytes_out += moved.bytes_out;
    tenant->sum.stall_ns += starts_ns - now_ns;
    return (struct gsim_store_move){.begins_ns = begins_ns,
                                    .ends_ns = begins_ns + moved.ns,
                                    .starts_ns = starts_ns,
                                    .bytes_in = moved.bytes_in,
                                    .bytes_out = moved.bytes_out};
}

/* Whether writes count: memory goes out without a copy where the host has one. */
static bool counts_writes(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    return tenant->spec.order && !store->pager->uvm.copies_clean;
}

/* Where all chunks are resident, their age does not count and they are written already, touching
 * them changes nothing. */
static bool is_all_there(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    const struct gsim_buffer *about = &store->residency.buffers[tenant->used];
    return store->pager->eviction != GSIM_EVICT_LRU && about->n_resident == about->n_chunks &&
           (gsim_mostly(!counts_writes(store, tenant)) || about->n_dirty == about->n_chunks);
}

bool gsim_pager_rests(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    return !store->pager || (!gsim_pager_is_proactive(store) &&
                             (tenant->used == GSIM_NO_BUFFER || is_all_there(store, tenant)));
}

/* Sweeps a range of a job that yields: chunks on the host are prefetched if there is room for them
 * and all jobs yield, else they are read where they are. */
static int64_t sweep_mapped(struct gsim_store *store, struct gsim_range left,
                            struct gsim_touches how, struct gsim_paging *paging) {
    struct gsim_residency *residency = &store->residency;
    const struct gsim_pager *pager = store->pager;
    int64_t prefetched = 0, mapped = 0; /* chunks */
    bool is_free = gsim_residency_all_yield(residency), is_fine = true;
    while (left.n > 0 && is_fine) {
        enum gsim_content content;
        struct gsim_range part = left;
        part.n = gsim_residency_alike(residency, left, &content);
        uint32_t room = is_free ? gsim_residency_free(residency) : 0;
        if (content == GSIM_ON_HOST && room > 0) {
            part.n = part.n < room ? part.n : room;
            prefetched += gsim_residency_populate(residency, part).in;
            if (how.is_write)
                (void)gsim_residency_touch(residency, part, true);
        } else if (content == GSIM_ON_HOST) {
            mapped += part.n;
        } else {
            is_fine = gsim_uvm_access(&store->pager->uvm, residency, part, how, paging);
        }
        left.first += part.n;
        left.n -= part.n;
    }
    residency->has_failed |= !is_fine;
    int64_t chunk_bytes = pager->uvm.chunk_bytes, ns = gsim_uvm_ns(&pager->uvm, paging);
    paging->bytes_in += (prefetched + mapped) * chunk_bytes;
    return ns +
           gsim_muldiv_ceil(prefetched * chunk_bytes, GSIM_NS_PER_S, pager->prefetch_bytes_per_s) +
           gsim_muldiv_ceil(mapped * chunk_bytes, GSIM_NS_PER_S, pager->mapped_bytes_per_s);
}

static int64_t sweep_faulting(struct gsim_store *store, struct gsim_range range,
                              struct gsim_touches how, struct gsim_paging *paging) {
    struct gsim_uvm *uvm = &store->pager->uvm;
    if (!gsim_uvm_access(uvm, &store->residency, range, how, paging))
        store->residency.has_failed = true;
    return gsim_uvm_ns(uvm, paging);
}

/* Sweeps a range over a coherent link. */
static int64_t sweep_remote(struct gsim_store *store, struct gsim_range range,
                            struct gsim_touches how, struct gsim_paging *paging) {
    struct gsim_pager *pager = store->pager;
    struct gsim_remote_bytes bytes = {0};
    if (!gsim_remote_access(&pager->remote, &pager->uvm, &store->residency, range, how, paging,
                            &bytes))
        store->residency.has_failed = true;
    int64_t faulted_ns = gsim_uvm_ns(&pager->uvm, paging);
    paging->bytes_in += bytes.read + bytes.in;
    paging->bytes_out += bytes.out;
    return faulted_ns + gsim_remote_ns(&pager->remote, &pager->proactive.rates, &bytes);
}

static bool is_mapped(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    return tenant->spec.yields && !gsim_pager_is_proactive(store);
}

/* The wait of chunks that are touched now; counted as long as it lasts. */
static int64_t touch_range(struct gsim_store *store, struct gsim_tenant *tenant,
                           struct gsim_range range, bool is_written, struct gsim_memory_use *use) {
    struct gsim_paging paging = {0};
    struct gsim_touches how = {.is_write = is_written && counts_writes(store, tenant)};
    int64_t stall_ns = is_mapped(store, tenant)     ? sweep_mapped(store, range, how, &paging)
                       : store->pager->remote.is_on ? sweep_remote(store, range, how, &paging)
                                                    : sweep_faulting(store, range, how, &paging);
    gsim_memory_use_add(
        use, &(struct gsim_memory_use){paging.faults, paging.bytes_in, paging.bytes_out, stall_ns},
        1);
    return stall_ns;
}

/* --- parts of a sweep ------------------------------------------------------------------------- */

/* A sweep that is brought forward: how much of the turn is left at its next chunk. */
struct sweep {
    struct gsim_range to_come; /* positions, where the order of touches is known */
    uint32_t n_chunks;
    const struct gsim_touch_order *order; /* NULL: evenly over all_ns */
    bool is_written; /* the next chunks, by the program */
    int64_t all_ns;
    uint64_t rate_q32;
    int64_t left_ns;
};

/* The progress at which a chunk is touched, to the nanosecond. */
static gsim_work touched_at(const struct sweep *sweep, uint32_t chunk) {
    if (gsim_rarely(sweep->order != NULL))
        return gsim_work_of_ns(gsim_muldiv_floor(gsim_touch_order_ns(sweep->order, chunk),
                                                 sweep->all_ns, sweep->order->all_ns));
    return gsim_work_of_ns(gsim_muldiv_floor(sweep->all_ns, chunk, sweep->n_chunks));
}

/* The first chunk that is not touched at this progress. */
static uint32_t after_progress(const struct sweep *sweep, gsim_work done) {
    int64_t done_ns = gsim_work_to_ns(done);
    if (done_ns >= sweep->all_ns)
        return sweep->all_ns > 0 ? sweep->n_chunks : 0;
    if (gsim_rarely(sweep->order != NULL))
        return gsim_touch_order_after(
            sweep->order, gsim_muldiv_floor(done_ns, sweep->order->all_ns, sweep->all_ns));
    return gsim_pager_even_chunks(sweep->n_chunks, sweep->all_ns, done_ns);
}

static int64_t run_ns(const struct sweep *sweep, uint32_t n) {
    uint32_t first = sweep->to_come.first;
    return gsim_work_time(touched_at(sweep, first + n) - touched_at(sweep, first), sweep->rate_q32);
}

/* The first chunk that is due at this progress or later: one that is due as a turn ends is touched
 * in the next turn. */
static uint32_t due_by(const struct sweep *sweep, gsim_work reached) {
    uint32_t last = after_progress(sweep, reached);
    uint32_t end = touched_at(sweep, last) < reached ? last + 1 : last;
    return end < sweep->n_chunks ? end : sweep->n_chunks;
}

/* Chunks that are touched before the turn ends where all are there, as one that misses is. */
static uint32_t within_reach(const struct sweep *sweep) {
    gsim_work reached =
        touched_at(sweep, sweep->to_come.first) + gsim_work_done(sweep->rate_q32, sweep->left_ns);
    uint32_t first = sweep->to_come.first, end = due_by(sweep, reached);
    uint32_t n = end > first ? end - first : 1;
    return n < sweep->to_come.n ? n : sweep->to_come.n;
}

/* A chunk that is read on the host, moves in, and pushes another out. */
static int64_t remote_chunk_ns(const struct gsim_pager *pager) {
    int64_t chunk_bytes = pager->uvm.chunk_bytes;
    struct gsim_remote_bytes bytes = {chunk_bytes, chunk_bytes, chunk_bytes};
    return gsim_remote_ns(&pager->remote, &pager->proactive.rates, &bytes);
}

/* The longest time of a missing chunk of this content. */
static int64_t most_chunk_ns(struct gsim_store *store, const struct gsim_tenant *tenant,
                             enum gsim_content content) {
    struct gsim_uvm *uvm = &store->pager->uvm;
    if (store->pager->remote.is_on && content == GSIM_ON_HOST && !is_mapped(store, tenant))
        return remote_chunk_ns(store->pager);
    struct gsim_paging paging = {.bytes_out = uvm->chunk_bytes};
    store->residency.has_failed |= !gsim_uvm_run(uvm, 1, (struct gsim_touches){0}, &paging);
    int64_t slowest = store->pager->mapped_bytes_per_s, ns = gsim_uvm_ns(uvm, &paging);
    if (store->pager->prefetch_bytes_per_s < slowest)
        slowest = store->pager->prefetch_bytes_per_s;
    int64_t read_ns = gsim_muldiv_ceil(uvm->chunk_bytes, GSIM_NS_PER_S, slowest);
    return is_mapped(store, tenant) && read_ns > ns ? read_ns : ns;
}

/* The next chunks of a sweep that lie one behind another. */
static struct gsim_range chunks_to_come(struct sweep *sweep) {
    struct gsim_range chunks = sweep->to_come;
    if (gsim_mostly(!sweep->order))
        return chunks;
    const struct gsim_touch_part *part = gsim_touch_order_at(sweep->order, chunks.first);
    uint32_t passed = chunks.first - part->at, left = part->n - passed;
    chunks.first = part->first + passed;
    chunks.n = left < chunks.n ? left : chunks.n;
    sweep->is_written = part->is_written;
    return chunks;
}

/* The next chunks that are alike, as far as the turn reaches; the last of them may end past it. */
static struct gsim_range next_part(struct gsim_store *store, const struct gsim_tenant *tenant,
                                   struct sweep *sweep) {
    enum gsim_content content;
    struct gsim_range part = chunks_to_come(sweep);
    part.n = gsim_residency_alike(&store->residency, part, &content);
    uint32_t reach = within_reach(sweep);
    if (content < GSIM_CLEAN) {
        int64_t chunk_ns = most_chunk_ns(store, tenant, content) + run_ns(sweep, 1);
        int64_t fit = chunk_ns > 0 ? (sweep->left_ns + chunk_ns - 1) / chunk_ns : reach;
        reach = fit < (int64_t)reach ? (uint32_t)fit : reach;
    }
    part.n = reach < part.n ? reach : part.n;
    return part;
}

/* The chunks that the turn reaches; GSIM_NEVER: all. */
static int64_t touch_within(struct gsim_store *store, struct gsim_tenant *tenant,
                            struct sweep *sweep, struct gsim_memory_use *use) {
    int64_t stall_ns = 0;
    while (sweep->to_come.n > 0 && sweep->left_ns > 0 && !store->residency.has_failed) {
        struct gsim_range part =
            sweep->left_ns == GSIM_NEVER ? chunks_to_come(sweep) : next_part(store, tenant, sweep);
        int64_t one_ns = touch_range(store, tenant, part, sweep->is_written, use);
        stall_ns += one_ns;
        if (sweep->left_ns != GSIM_NEVER)
            sweep->left_ns -= one_ns + run_ns(sweep, part.n);
        sweep->to_come.first += part.n;
        sweep->to_come.n -= part.n;
    }
    return stall_ns;
}

/* A wait of which left_ns are left goes on with the wait for more. */
static void wait_for(struct gsim_tenant *tenant, const struct gsim_memory_use *use,
                     int64_t left_ns) {
    struct gsim_memory_use coming = gsim_tenant_coming(tenant, left_ns);
    gsim_memory_use_add(&tenant->sum, use, 1);
    tenant->last = *use;
    tenant->last.bytes_in += coming.bytes_in;
    tenant->last.bytes_out += coming.bytes_out;
    tenant->last.stall_ns += left_ns;
}

uint32_t gsim_pager_sweep_chunks(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    if (gsim_rarely(tenant->spec.order != NULL))
        return tenant->spec.order->n;
    return tenant->used == GSIM_NO_BUFFER ? 0 : store->residency.buffers[tenant->used].n_chunks;
}

bool gsim_pager_is_sweeping(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    return store->pager && tenant->state.n_touched < gsim_pager_sweep_chunks(store, tenant);
}

bool gsim_pager_is_before_kernel(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    if (!gsim_pager_is_sweeping(store, tenant) || !tenant->spec.order)
        return false;
    uint32_t position = tenant->state.n_touched;
    const struct gsim_touch_part *part = gsim_touch_order_at(tenant->spec.order, position);
    return part->before == 0 && part->at == position;
}

gsim_work gsim_pager_reach(const struct gsim_store *store, const struct gsim_tenant *tenant,
                           gsim_work all) {
    struct sweep sweep = {.n_chunks = gsim_pager_sweep_chunks(store, tenant),
                          .order = tenant->spec.order,
                          .all_ns = gsim_work_to_ns(all)};
    return touched_at(&sweep, tenant->state.n_touched);
}

static struct sweep begin_sweep(const struct gsim_store *store, const struct gsim_tenant *tenant,
                                const struct gsim_pace *pace) {
    struct sweep sweep = {.to_come = gsim_range_whole(&store->residency, tenant->used),
                          .n_chunks = gsim_pager_sweep_chunks(store, tenant),
                          .order = tenant->spec.order,
                          .all_ns = gsim_work_to_ns(pace->all),
                          .rate_q32 = pace->rate_q32,
                          .left_ns = pace->all == 0 ? GSIM_NEVER : pace->left_ns};
    uint32_t passed = after_progress(&sweep, pace->done);
    sweep.to_come.first = tenant->state.n_touched > passed ? tenant->state.n_touched : passed;
    sweep.to_come.n = sweep.n_chunks - sweep.to_come.first;
    if (sweep.left_ns == GSIM_NEVER)
        return sweep;
    gsim_work before = touched_at(&sweep, sweep.to_come.first) - pace->done;
    sweep.left_ns -= pace->stall_ns + (before > 0 ? gsim_work_time(before, pace->rate_q32) : 0);
    return sweep;
}

/* A turn that ends with the kernel in which its time is up, as newcomers make that less. */
static bool may_become_shorter(const struct gsim_store *store, const struct gsim_tenant *tenant) {
    return gsim_rarely(tenant->spec.order != NULL) && gsim_pager_is_proactive(store);
}

/* Keeps what a cut needs. */
static void begin_whole(struct gsim_store *store, struct gsim_tenant *tenant,
                        const struct gsim_pace *pace, bool moves) {
    bool is_whole =
        pace->can_be_cut && (pace->left_ns == GSIM_NEVER || may_become_shorter(store, tenant));
    tenant->whole = (struct gsim_whole_sweep){.is_on = is_whole,
                                              .n_touched = tenant->state.n_touched,
                                              .done = pace->done,
                                              .was_stall_ns = pace->stall_ns,
                                              .last = tenant->last};
    store->before_stamp = is_whole && moves ? store->stamp : 0;
    if (gsim_mostly(store->before_stamp == 0))
        return;
    store->before.arena = store->residency.arena;
    (void)gsim_residency_copy(&store->before, &store->residency); /* a failure is noted there */
    store->residency.has_failed |= store->before.has_failed;
}

struct gsim_swept gsim_pager_sweep(struct gsim_store *store, struct gsim_tenant *tenant,
                                   const struct gsim_pace *pace) {
    if (!gsim_pager_is_sweeping(store, tenant))
        return (struct gsim_swept){0};
    struct sweep sweep = begin_sweep(store, tenant, pace);
    struct gsim_swept swept = {.first = sweep.to_come.first};
    struct gsim_memory_use use = {0};
    bool is_all = is_all_there(store, tenant);
    begin_whole(store, tenant, pace, !is_all);
    if (is_all) {
        uint32_t n = sweep.to_come.n;
        if (sweep.left_ns != GSIM_NEVER)
            n = sweep.left_ns > 0 ? within_reach(&sweep) : 0;
        sweep.to_come.first += n;
    } else {
        note_change(store);
        swept.stall_ns = touch_within(store, tenant, &sweep, &use);
    }
    tenant->state.n_touched = sweep.to_come.first;
    swept.n = sweep.to_come.first - swept.first;
    wait_for(tenant, &use, pace->stall_ns);
    tenant->whole.use = use;
    tenant->whole.stall_ns = pace->stall_ns + swept.stall_ns;
    return swept;
}

static uint32_t due_in_turn(const struct gsim_store *store, const struct gsim_tenant *tenant,
                            const struct gsim_pace *pace) {
    struct sweep sweep = {.n_chunks = gsim_pager_sweep_chunks(store, tenant),
                          .all_ns = gsim_work_to_ns(pace->all)};
    return due_by(&sweep, pace->done + gsim_work_of_ns(pace->left_ns));
}

bool gsim_pager_passes(const struct gsim_store *store, const struct gsim_tenant *tenant,
                       const struct gsim_pace *pace) {
    return !tenant->spec.order && store->before_stamp == 0 && is_all_there(store, tenant) &&
           tenant->state.n_touched >= due_in_turn(store, tenant, pace);
}

void gsim_pager_pass(const struct gsim_store *store, struct gsim_tenant *tenant,
                     const struct gsim_pace *pace) {
    uint32_t due = due_in_turn(store, tenant, pace);
    if (due > tenant->state.n_touched)
        tenant->state.n_touched = due;
    tenant->last = (struct gsim_memory_use){0};
    tenant->whole.is_on = false;
}

/* The sweep is made again from its begin, for as long as it took. */
static struct gsim_cut sweep_again(struct gsim_store *store, struct gsim_tenant *tenant,
                                   const struct gsim_pace *pace) {
    struct gsim_whole_sweep whole = tenant->whole;
    int64_t ran_ns = gsim_work_time(pace->done - whole.done, pace->rate_q32);
    int64_t took_ns = whole.stall_ns - pace->stall_ns + ran_ns;
    struct gsim_residency swept = store->residency;
    store->residency = store->before;
    store->before = swept;
    note_change(store);
    gsim_memory_use_add(&tenant->sum, &whole.use, -1);
    tenant->last = whole.last;
    tenant->state.n_touched = whole.n_touched;
    struct gsim_pace again = {.done = whole.done,
                              .all = pace->all,
                              .rate_q32 = pace->rate_q32,
                              .stall_ns = whole.was_stall_ns,
                              .left_ns = took_ns};
    int64_t wait_ns = whole.was_stall_ns + gsim_pager_sweep(store, tenant, &again).stall_ns;
    int64_t more_ns = took_ns - wait_ns - ran_ns;
    return (struct gsim_cut){.stall_ns = wait_ns > took_ns ? wait_ns - took_ns : 0,
                             .ran_ns = more_ns > 0 ? more_ns : 0};
}

/* What a sweep that moved nothing has touched by now, also where its turn ends in this instant. */
static uint32_t touched_by(const struct gsim_store *store, const struct gsim_tenant *tenant,
                           const struct gsim_pace *pace) {
    struct sweep sweep = {.n_chunks = gsim_pager_sweep_chunks(store, tenant),
                          .order = tenant->spec.order,
                          .all_ns = gsim_work_to_ns(pace->all)};
    uint32_t due = due_by(&sweep, pace->done), before = tenant->whole.n_touched;
    return due > before ? due : before;
}

struct gsim_cut gsim_pager_cut(struct gsim_store *store, struct gsim_tenant *tenant,
                               const struct gsim_pace *pace) {
    struct gsim_cut cut = {.stall_ns = pace->stall_ns};
    bool is_within = tenant->whole.is_on && pace->all > 0 && pace->done >= tenant->whole.done;
    if (is_within && store->before_stamp != 0)
        cut = sweep_again(store, tenant, pace);
    else if (is_within)
        tenant->state.n_touched = touched_by(store, tenant, pace);
    tenant->whole.is_on = false;
    return cut;
}

int64_t gsim_pager_sweep_part(struct gsim_store *store, struct gsim_tenant *tenant,
                              const struct gsim_swept *part, int64_t left_ns) {
    tenant->state.n_touched = part->first + part->n;
    if (!store->pager || part->n == 0 || is_all_there(store, tenant))
        return 0;
    struct gsim_memory_use use = {0};
    note_change(store);
    int64_t stall_ns = touch_range(
        store, tenant, (struct gsim_range){tenant->used, part->first, part->n}, false, &use);
    wait_for(tenant, &use, left_ns);
    return stall_ns;
}

struct gsim_memory_use gsim_tenant_coming(const struct gsim_tenant *tenant, int64_t left_ns) {
    const struct gsim_memory_use *last = &tenant->last;
    int64_t ns = left_ns < last->stall_ns ? left_ns : last->stall_ns;
    if (ns <= 0)
        return (struct gsim_memory_use){0};
    return (struct gsim_memory_use){
        .bytes_in = gsim_muldiv_floor(last->bytes_in, ns, last->stall_ns),
        .bytes_out = gsim_muldiv_floor(last->bytes_out, ns, last->stall_ns)};
}

int64_t gsim_tenant_repace(struct gsim_tenant *tenant, int64_t left_ns, int64_t was_bytes_per_s,
                           int64_t bytes_per_s) {
    struct gsim_memory_use *last = &tenant->last;
    int64_t bytes = last->bytes_in + last->bytes_out;
    if (left_ns <= 0 || left_ns > last->stall_ns || bytes == 0 || was_bytes_per_s == INT64_MAX)
        return left_ns;
    int64_t all_ns = last->stall_ns + gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, bytes_per_s) -
                     gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, was_bytes_per_s);
    all_ns = all_ns > 0 ? all_ns : 1;
    int64_t now_left_ns = gsim_muldiv_ceil(left_ns, all_ns, last->stall_ns);
    tenant->sum.stall_ns += now_left_ns - left_ns;
    tenant->whole.stall_ns += now_left_ns - left_ns;
    tenant->whole.use.stall_ns += now_left_ns - left_ns;
    last->stall_ns = all_ns;
    return now_left_ns;
}

struct gsim_memory_use gsim_pager_coming(const struct gsim_store *store, int64_t now_ns) {
    int64_t ns = store->times.link_free_ns - now_ns;
    ns = ns < store->last.ns ? ns : store->last.ns;
    if (!gsim_pager_is_proactive(store) || ns <= 0)
        return (struct gsim_memory_use){0};
    return (struct gsim_memory_use){
        .bytes_in = gsim_muldiv_floor(store->last.in, ns, store->last.ns),
        .bytes_out = gsim_muldiv_floor(store->last.out, ns, store->last.ns)};
}

/* --- overflow --------------------------------------------------------------------------------- */

static int64_t crossing_ns(int64_t bytes, int64_t bytes_per_s) {
    return bytes_per_s == INT64_MAX ? 0 : gsim_muldiv_ceil(bytes, GSIM_NS_PER_S, bytes_per_s);
}

struct gsim_overflow gsim_overflow_of(int64_t bytes, const struct gsim_profile *profile) {
    return (struct gsim_overflow){bytes, crossing_ns(bytes, profile->value[GSIM_KEY_PCIE_D2H]) +
                                             crossing_ns(bytes, profile->value[GSIM_KEY_PCIE_H2D])};
}

void gsim_tenant_end_iteration(struct gsim_tenant *tenant, bool is_swept) {
    if (is_swept) {
        tenant->state.n_touched = 0;
        tenant->whole.is_on = false;
    }
    tenant->sum.bytes_out += tenant->spec.overflow.bytes;
    tenant->sum.bytes_in += tenant->spec.overflow.bytes;
    tenant->sum.stall_ns += tenant->spec.overflow.ns;
}
