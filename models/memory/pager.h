/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of one GPU whose contexts may together need more than it has: who moves it, when, and
 * how long a lane has to wait for that. Time is the lane's affair (models/gpu/rotation.h): it asks here
 * at the beginning of a turn and of each iteration.
 *
 *   uvm        an iteration sweeps its working set; what is missing faults in (models/memory/uvm.h), and
 *              what came to the GPU first goes out
 *   lru        the same, but what was used longest ago goes out
 *   proactive  at the beginning of a turn what it is predicted to use is moved in, by the known
 *              timeline of the ring (models/memory/proactive.h); what was not predicted faults
 *
 * Under uvm and lru, who yields (TGS's opportunistic jobs) has its pages mapped: what others pushed
 * out stays on the host and is read from there, over the bus, in each iteration, until nobody is
 * left who does not yield; then it is prefetched. First touches fault as everybody's.
 *
 *   overflow   everything is resident up to a cap that each job has; what an iteration touches beyond is
 *              made in pinned memory of the host, and read from there: once over the bus each way, a part by each of its
 *              kernels, which are longer by that. No chunks, no faults
 *
 * What an iteration misses is found when it begins, all at once, and waited for before its first
 * kernel; the wait itself can be interrupted by the end of the turn like a kernel. So a chunk is
 * charged once an iteration, however the turns of a rotation cut it. What is written is not known:
 * pages count as written when they are first used, and as read from then on. */
#ifndef GSIM_MODELS_MEMORY_PAGER_H
#define GSIM_MODELS_MEMORY_PAGER_H

#include "models/memory/proactive.h"
#include "models/roles.h"
#include "models/memory/uvm.h"
#include "gsim/arrangement.h"

enum { GSIM_STORE_TURNS_MAX = 256 }; /* of a timeline: contexts of one GPU */

/* How fast memory moves on links that are idle otherwise. */
struct gsim_pager_rates {
    struct gsim_copy_rates migrate;
    int64_t copy_bytes_per_s; /* under faults */
    int64_t mapped_bytes_per_s, prefetch_bytes_per_s; /* of a job that yields */
};

/* How it is done; the same for all states of a GPU, but for the scratch space of `uvm`. */
struct gsim_pager {
    enum gsim_memory manager;
    enum gsim_eviction eviction;
    uint32_t capacity; /* chunks that the GPU has room for */
    struct gsim_uvm uvm;
    struct gsim_proactive proactive;
    int64_t mapped_bytes_per_s, prefetch_bytes_per_s; /* of a job that yields */
    int64_t plan_ns, plan_ns_per_task; /* proactive: what a switch takes besides copying */
    struct gsim_pager_rates
        alone; /* what is used is a share of these (models/jobs/link_shares.h) */
    uint64_t stamp; /* the last one given to a store */
};

void gsim_pager_init(struct gsim_pager *pager, const struct gsim_arrangement *arrangement,
                     const struct gsim_profile *profile, struct gsim_arena *arena);

/* Shares of the rates in, out, and both ways at once; what takes turns has the smaller one of the first
 * two. */
struct gsim_pager_shares {
    uint64_t q32[GSIM_HOST_WAYS];
};
struct gsim_pager_shares gsim_pager_whole(void);
void gsim_pager_share(struct gsim_pager *pager, const struct gsim_pager_shares *shares);

GSIM_ROLES_BEGIN
/* What moving memory has done for a context. */
struct gsim_memory_use {
    int64_t faults, bytes_in, bytes_out;
    int64_t stall_ns; /* that its lane waited, or is going to */
};
GSIM_ROLES_END
void gsim_memory_use_add(struct gsim_memory_use *to, const struct gsim_memory_use *one, int64_t n);

/* What of a context's iteration lies on the host, and the time that its kernels wait for it. */
struct gsim_overflow {
    int64_t bytes, ns;
};

struct gsim_tenant_spec {
    uint32_t owner;
    int64_t used_bytes, allocated_bytes; /* touched by an iteration; in all */
    bool yields; /* its memory goes before that of all who do not */
    struct gsim_overflow overflow; /* of each iteration; its context has the time of it */
};

GSIM_ROLES_BEGIN
struct gsim_tenant_state {
    bool is_swept; /* the iteration under way has found what it misses */
};
GSIM_ROLES_END

/* A context's memory: what it touches in an iteration, and what else it has allocated. */
struct gsim_tenant {
    struct gsim_tenant_spec spec;
    uint32_t used, unused; /* buffers; GSIM_NO_BUFFER: none */
    struct gsim_tenant_state state;
    struct gsim_memory_use sum;
    struct gsim_memory_use last; /* what the last wait for pages was for */
};

GSIM_ROLES_BEGIN
struct gsim_store_times {
    int64_t link_free_ns; /* proactive: the last migration ends */
};
GSIM_ROLES_END

/* The state of one GPU's memory. */
struct gsim_store {
    struct gsim_pager *pager; /* NULL: everything is resident */
    struct gsim_residency residency;
    struct gsim_store_times times;
    int64_t last_ns, last_in, last_out; /* how long it took, and what it moved */
    uint64_t stamp; /* copies with the same one hold the same */
};

/* Empties it. pager NULL: everything is resident. */
void gsim_store_init(struct gsim_store *store, struct gsim_pager *pager, struct gsim_arena *arena);
/* false: no memory; nothing is opened. */
bool gsim_store_open(struct gsim_store *store, struct gsim_tenant *tenant,
                     const struct gsim_tenant_spec *spec);
void gsim_store_close(struct gsim_store *store, struct gsim_tenant *tenant);
/* What it touches is brought back as a whole, as far as it fits; the copies are not timed here. */
void gsim_store_fill(struct gsim_store *store, const struct gsim_tenant *tenant);
static inline bool gsim_store_has_failed(const struct gsim_store *store) {
    return store->pager && store->residency.has_failed;
}
static inline bool gsim_store_is_proactive(const struct gsim_store *store) {
    return store->pager && store->pager->manager == GSIM_MEMORY_PROACTIVE;
}

/* Whose turn it is, and who comes after. */
struct gsim_next_turn {
    struct gsim_tenant *tenant;
    int64_t run_ns, sweep_ns;
};
struct gsim_store_move {
    int64_t begins_ns, ends_ns; /* of the copies */
    int64_t starts_ns; /* from when on the turn can run */
    int64_t bytes_in, bytes_out;
};
/* Proactive: moves memory for the first of these turns, which is about to begin. */
struct gsim_store_move gsim_store_switch(struct gsim_store *store,
                                         const struct gsim_next_turn *turns, uint32_t n_turns,
                                         int64_t now_ns);
/* An iteration begins, or goes on: how long it waits for pages that it has not waited for yet. */
int64_t gsim_store_sweep(struct gsim_store *store, struct gsim_tenant *tenant);

/* What of a migration is still on its way, or of a wait of which so much is left. */
struct gsim_memory_use gsim_store_coming(const struct gsim_store *store, int64_t now_ns);
struct gsim_memory_use gsim_tenant_coming(const struct gsim_tenant *tenant, int64_t left_ns);
/* What is left of a wait when copies go at another rate from now on. */
int64_t gsim_tenant_repace(struct gsim_tenant *tenant, int64_t left_ns, int64_t was_bytes_per_s,
                           int64_t bytes_per_s);
/* Whether the jobs there have more together than the GPU. */
bool gsim_store_is_too_much(const struct gsim_store *store);
/* Bytes of a context that are on the GPU. */
int64_t gsim_store_resident_bytes(const struct gsim_store *store, const struct gsim_tenant *tenant);

void gsim_store_copy(struct gsim_store *to, const struct gsim_store *from);
/* Whether the future is the same, as far as memory decides it. scratch is grown as needed. */
struct gsim_store_scratch {
    int64_t *numbers;
    size_t capacity;
};
bool gsim_store_is_same(const struct gsim_store *a, int64_t a_now_ns, const struct gsim_store *b,
                        int64_t b_now_ns, struct gsim_store_scratch *scratch);
/* An iteration is over; the next one touches everything again, or goes on with this one's sweep. */
void gsim_tenant_end_iteration(struct gsim_tenant *tenant, bool is_swept);
/* Of so many bytes on the host: once there and once back. */
struct gsim_overflow gsim_overflow_of(int64_t bytes, const struct gsim_profile *profile);
/* So much time passes in periods that are skipped. */
void gsim_store_skip(struct gsim_store *store, int64_t by_ns);
bool gsim_tenant_is_same(const struct gsim_tenant *a, const struct gsim_tenant *b);

#endif
