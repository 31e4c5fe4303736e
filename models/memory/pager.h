/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of one GPU with contexts that may together need more than it has: how it is moved,
 * when, and how long a lane has to wait for that. Time is the lane's affair
 * (models/gpu/lane.h): the lane asks here at the beginning of each turn and of each iteration.
 *
 *   uvm        an iteration sweeps its working set; missing chunks fault in (models/memory/uvm.h),
 *              and the chunks that came to the GPU first go out
 *   lru        as uvm, but the chunks that were used longest ago go out
 *   proactive  at the beginning of a turn the memory that it is predicted to use is moved in, by
 *              the known timeline of the ring (models/memory/proactive.h); the rest faults. Where
 *              a program says in which order its kernels touch their memory, this is what the
 *              kernels that begin within the turn touch, else all that an iteration touches
 *
 * Under uvm and lru, a job that yields (TGS's opportunistic jobs) has its pages mapped: pages that
 * were pushed out stay on the host and are read from there, over the bus, in each iteration, until
 * only jobs that yield are left; then they are prefetched. First touches fault as those of other
 * jobs.
 *
 *   overflow   memory is resident up to a cap that each job has; the part beyond the cap of the
 *              memory that an iteration touches is made in pinned memory of the host, and read
 *              from there: it crosses the bus once each way, a part with each of the iteration's
 *              kernels, which are longer by that. No chunks, no faults
 *
 * An iteration touches its memory in order, evenly over its GPU time, or kernel by kernel as its
 * program says. The lane asks when a turn begins: then the chunks that the turn can reach before it
 * ends are touched, those that miss come in and others go out for them, and the turn waits for them
 * before it runs on. The contexts of a lane see each other's memory at the ends of turns only, so
 * within a turn the order of waits and kernels is of no account; a chunk that the end of the turn
 * cuts is charged to this turn, and the rest of its wait to the next. Where nothing can end the
 * turn, the whole sweep is one part; it is cut where it is when the owner of the GPU changes that
 * after all (gsim_pager_cut), as is one up to an end of the turn that newcomers may bring closer.
 *
 * Where the link is coherent (models/memory/remote.h), what a sweep misses is read on the host and
 * moves in behind the reads, under each manager; jobs that yield read over the bus as elsewhere.
 *
 * Which pages are written is known where a program says it of its kernels. Else pages count as
 * written when they are first used, and as read from then on. */
#ifndef GSIM_MODELS_MEMORY_PAGER_H
#define GSIM_MODELS_MEMORY_PAGER_H

#include <string.h>

#include "models/memory/proactive.h"
#include "models/memory/remote.h"
#include "models/memory/touch_order.h"
#include "models/roles.h"
#include "gsim/arrangement.h"
#include "gsim/cluster.h"

enum { GSIM_STORE_TURNS_MAX = 256 }; /* turns of a timeline: contexts of one GPU */

/* How fast memory moves on otherwise idle links. */
struct gsim_pager_rates {
    struct gsim_copy_rates migrate;
    int64_t copy_bytes_per_s; /* copies under faults */
    int64_t mapped_bytes_per_s, prefetch_bytes_per_s; /* of a job that yields */
    int64_t remote_bytes_per_s; /* reads over a coherent link */
};

/* Paging parameters of a GPU, shared by all copies of its state, and the scratch space of `uvm`. */
struct gsim_pager {
    enum gsim_memory manager;
    enum gsim_eviction eviction;
    uint32_t capacity; /* chunks that the GPU has room for */
    struct gsim_uvm uvm;
    struct gsim_proactive proactive;
    struct gsim_remote remote;
    int64_t mapped_bytes_per_s, prefetch_bytes_per_s; /* of a job that yields */
    int64_t plan_ns, plan_ns_per_task; /* proactive: time of a switch besides copying */
    int64_t first_touch_ppm; /* proactive: part of an iteration over which memory is touched */
    struct gsim_pager_rates
        alone; /* the rates above are shares of these (models/jobs/link_shares.h) */
    struct gsim_upcoming_scratch scratch; /* proactive: of one switch */
    uint64_t stamp; /* the last stamp given to a store */
};

void gsim_pager_init(struct gsim_pager *pager, const struct gsim_arrangement *arrangement,
                     const struct gsim_profile *profile, struct gsim_arena *arena);

/* Shares of the rates in, out, and both ways at once; copies that take turns in both directions
 * have the smaller of the first two. */
struct gsim_pager_shares {
    uint64_t q32[GSIM_HOST_WAYS];
};
static inline struct gsim_pager_shares gsim_pager_whole(void) {
    return (struct gsim_pager_shares){{GSIM_RATE_ONE, GSIM_RATE_ONE, GSIM_RATE_ONE}};
}
void gsim_pager_share(struct gsim_pager *pager, const struct gsim_pager_shares *shares);

GSIM_ROLES_BEGIN
/* Memory moved for a context. */
struct gsim_memory_use {
    int64_t faults, bytes_in, bytes_out;
    int64_t stall_ns; /* time that its lane waited, or is going to */
};
GSIM_ROLES_END
static inline void gsim_memory_use_add(struct gsim_memory_use *to,
                                       const struct gsim_memory_use *one, int64_t n) {
    gsim_sums_add(GSIM_ROLE(*to), (const int64_t *)one, n);
}

/* The part of a context's iteration that lies on the host, and the time that its kernels wait for
 * it. */
struct gsim_overflow {
    int64_t bytes, ns;
};

struct gsim_tenant_spec {
    uint32_t owner;
    int64_t used_bytes, allocated_bytes; /* touched by an iteration; in all */
    bool yields; /* its memory goes before that of all jobs that do not yield */
    /* of each iteration; the time is part of the context's GPU time */
    struct gsim_overflow overflow;
    /* the order in which an iteration touches these bytes, where a program gives it */
    const struct gsim_touch_order *order;
};

GSIM_ROLES_BEGIN
struct gsim_tenant_state {
    /* of the sweep under way, from the first on; untouched chunks below the iteration's progress
     * are passed by (the context came back to other memory) */
    uint32_t n_touched; /* chunks, or positions of the order of touches */
};
GSIM_ROLES_END

/* A sweep that was touched to its end, since nothing was to end the turn. Follows from the state of
 * the sweep's begin; where it moved memory, the store has what there was before. */
struct gsim_whole_sweep {
    bool is_on; /* it may be cut: until the sweep ends */
    uint32_t n_touched; /* before it */
    gsim_work done;
    int64_t was_stall_ns, stall_ns; /* the wait that was ahead then, and with that of the sweep */
    struct gsim_memory_use use, last; /* of the sweep; tenant->last before it */
};

/* A context's memory: the part that an iteration touches, and the rest that it has allocated. */
struct gsim_tenant {
    struct gsim_tenant_spec spec;
    uint32_t used, unused; /* buffers; GSIM_NO_BUFFER: none */
    struct gsim_tenant_state state;
    struct gsim_memory_use sum;
    struct gsim_memory_use last; /* the last wait for pages, and the bytes that it was for */
    struct gsim_whole_sweep whole;
};

GSIM_ROLES_BEGIN
struct gsim_store_times {
    int64_t link_free_ns; /* proactive: when the last migration ends */
};
GSIM_ROLES_END

/* Time and bytes of the last migration. */
struct gsim_store_last {
    int64_t ns, in, out;
};

/* The state of one GPU's memory. */
struct gsim_store {
    struct gsim_pager *pager; /* NULL: all memory is resident */
    struct gsim_residency residency;
    struct gsim_store_times times;
    struct gsim_store_last last;
    uint64_t stamp; /* copies with one stamp have equal contents */
    struct gsim_residency before; /* a whole sweep, and its stamp; 0: it moved nothing */
    uint64_t before_stamp;
};

/* Empties the store. pager NULL: all memory is resident. */
void gsim_pager_store_init(struct gsim_store *store, struct gsim_pager *pager,
                           struct gsim_arena *arena);
/* is_filled: the working set was brought here as a whole, as far as it fits; the copies are not
 * timed here. Returns false if there is no memory left; nothing is opened then. */
bool gsim_pager_open(struct gsim_store *store, struct gsim_tenant *tenant,
                     const struct gsim_tenant_spec *spec, bool is_filled);
void gsim_pager_close(struct gsim_store *store, struct gsim_tenant *tenant);
static inline bool gsim_pager_has_failed(const struct gsim_store *store) {
    return store->pager && store->residency.has_failed;
}
static inline bool gsim_pager_is_proactive(const struct gsim_store *store) {
    return store->pager && store->pager->manager == GSIM_MEMORY_PROACTIVE;
}

/* A turn of the timeline: the present one first. */
struct gsim_next_turn {
    struct gsim_tenant *tenant;
    int64_t run_ns, sweep_ns;
    /* used where the order of touches is known: how much of the sweep is done, and whether it is
     * the task's last one */
    int64_t done_ns;
    bool is_last;
};
struct gsim_store_move {
    int64_t begins_ns, ends_ns; /* of the copies */
    int64_t starts_ns; /* when the turn can run */
    int64_t bytes_in, bytes_out;
};
/* Proactive: moves memory for the first of these turns, which is about to begin, or was planned
 * before and goes on (is_planned), so that no planning is charged. */
struct gsim_store_move gsim_pager_switch(struct gsim_store *store,
                                         const struct gsim_next_turn *turns, uint32_t n_turns,
                                         bool is_planned, int64_t now_ns);
/* How far a context is in its sweep, and how long it may go on. */
struct gsim_pace {
    gsim_work done, all; /* GPU time of the sweep; all: 0 where it takes none */
    uint64_t rate_q32;
    int64_t stall_ns; /* the wait for pages that is still ahead */
    int64_t left_ns; /* until the turn ends; GSIM_NEVER: until the sweep does */
    bool can_be_cut; /* then, by gsim_pager_cut */
};
/* A part of a sweep, and the wait for its missing chunks. */
struct gsim_swept {
    uint32_t first, n; /* chunks, or positions of the order of touches */
    int64_t stall_ns;
};
/* A turn begins, or goes on past the chunks that it has touched: touches those that it can
 * reach. */
struct gsim_swept gsim_pager_sweep(struct gsim_store *store, struct gsim_tenant *tenant,
                                   const struct gsim_pace *pace);
/* Whether gsim_pager_sweep at this pace, and in turns that follow until the sweep ends or the store
 * changes, does nothing but say how far the sweep is: all chunks are there, and it has come as far
 * as this turn reaches. gsim_pager_pass says it after any number of such turns, by the pace of the
 * last one. At full rate, and without a wait. */
bool gsim_pager_passes(const struct gsim_store *store, const struct gsim_tenant *tenant,
                       const struct gsim_pace *pace);
void gsim_pager_pass(const struct gsim_store *store, struct gsim_tenant *tenant,
                     const struct gsim_pace *pace);
/* Whether sweeps change nothing and wait for nothing until contexts come or go: all chunks are
 * there, and are not moved ahead of turns. */
bool gsim_pager_rests(const struct gsim_store *store, const struct gsim_tenant *tenant);
/* Of memory that rests: a sweep that has just begun is over, and the next one has. */
static inline void gsim_tenant_sweep_again(struct gsim_tenant *tenant) {
    tenant->whole.last = tenant->last;
}
/* Touches the chunks of this part; returns the wait, of which left_ns are left of before. */
int64_t gsim_pager_sweep_part(struct gsim_store *store, struct gsim_tenant *tenant,
                              const struct gsim_swept *part, int64_t left_ns);
/* A whole sweep has come only as far as its pace says: what it touched past that is as before. The
 * wait that is ahead now, and for how long the context has run besides. */
struct gsim_cut {
    int64_t stall_ns, ran_ns;
};
struct gsim_cut gsim_pager_cut(struct gsim_store *store, struct gsim_tenant *tenant,
                               const struct gsim_pace *pace);
/* The progress up to which the chunks of a sweep of this GPU time are touched. */
gsim_work gsim_pager_reach(const struct gsim_store *store, const struct gsim_tenant *tenant,
                           gsim_work all);
/* Chunks that an even sweep has touched after that part of its GPU time, which is not 0. */
static inline uint32_t gsim_pager_even_chunks(uint32_t n_chunks, int64_t all_ns, int64_t done_ns) {
    return done_ns >= all_ns ? n_chunks : (uint32_t)gsim_muldiv_floor(done_ns, n_chunks, all_ns);
}
/* Chunks of a sweep, or positions of the order of touches. */
uint32_t gsim_pager_sweep_chunks(const struct gsim_store *store, const struct gsim_tenant *tenant);
/* A sweep that was at progress `was` goes on from progress `is` of `all`. Of a sweep in order the
 * memory that is there lies as it did around where the sweep is. */
void gsim_pager_sweep_elsewhere(struct gsim_store *store, struct gsim_tenant *tenant, gsim_work all,
                                gsim_work was, gsim_work is);
/* Whether the last chunk of the memory that an iteration touches has been touched before. */
static inline bool gsim_pager_has_been_filled(const struct gsim_store *store,
                                              const struct gsim_tenant *tenant) {
    return !store->pager || tenant->used == GSIM_NO_BUFFER ||
           gsim_residency_content(&store->residency, tenant->used,
                                  store->residency.buffers[tenant->used].n_chunks - 1) !=
               GSIM_UNTOUCHED;
}
/* Whether the sweep has chunks left to touch. */
bool gsim_pager_is_sweeping(const struct gsim_store *store, const struct gsim_tenant *tenant);
/* Whether the next chunk that a sweep in a known order touches is the first one of its kernel. */
bool gsim_pager_is_before_kernel(const struct gsim_store *store, const struct gsim_tenant *tenant);

/* The part of a migration that is still on its way, or of a wait with left_ns left. */
struct gsim_memory_use gsim_pager_coming(const struct gsim_store *store, int64_t now_ns);
struct gsim_memory_use gsim_tenant_coming(const struct gsim_tenant *tenant, int64_t left_ns);
/* The rest of a wait when copies go at another rate from now on. */
int64_t gsim_tenant_repace(struct gsim_tenant *tenant, int64_t left_ns, int64_t was_bytes_per_s,
                           int64_t bytes_per_s);
/* Whether the open buffers are together larger than the GPU. */
static inline bool gsim_pager_is_too_much(const struct gsim_store *store) {
    return store->pager && store->residency.n_open > store->residency.capacity;
}
/* Whether all chunks that an iteration of the context may touch are on the GPU. */
static inline bool gsim_pager_has_all(const struct gsim_store *store,
                                      const struct gsim_tenant *tenant) {
    const struct gsim_buffer *buffers = store->residency.buffers;
    return !store->pager || tenant->used == GSIM_NO_BUFFER ||
           buffers[tenant->used].n_resident == buffers[tenant->used].n_chunks;
}
/* Bytes of a context that are on the GPU. */
int64_t gsim_pager_resident_bytes(const struct gsim_store *store, const struct gsim_tenant *tenant);

void gsim_pager_copy(struct gsim_store *to, const struct gsim_store *from);
/* Whether both have the same future, as far as memory decides it. scratch is grown as needed. */
struct gsim_store_scratch {
    int64_t *numbers;
    size_t capacity;
};
bool gsim_pager_is_same(const struct gsim_store *a, int64_t a_now_ns, const struct gsim_store *b,
                        int64_t b_now_ns, struct gsim_store_scratch *scratch);
/* An iteration is over, and with it the sweep, or the next iteration goes on with the sweep
 * (is_swept false). */
void gsim_tenant_end_iteration(struct gsim_tenant *tenant, bool is_swept);
/* The overflow of this many bytes on the host: once there and once back. */
struct gsim_overflow gsim_overflow_of(int64_t bytes, const struct gsim_profile *profile);
/* by_ns passes in skipped periods. */
static inline void gsim_pager_skip(struct gsim_store *store, int64_t by_ns) {
    gsim_times_shift(GSIM_ROLE(store->times), by_ns);
}
static inline bool gsim_tenant_is_same(const struct gsim_tenant *a, const struct gsim_tenant *b) {
    return memcmp(&a->state, &b->state, sizeof a->state) == 0 && a->whole.is_on == b->whole.is_on &&
           (!a->whole.is_on ||
            (a->whole.done == b->whole.done && a->whole.was_stall_ns == b->whole.was_stall_ns));
}

#endif
