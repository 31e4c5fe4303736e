/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting jobs in rows: a decide walks down a long line in order of rank, and passes over whole
 * rows of jobs that are known not to start, instead of looking at each of them. */
#ifndef GSIM_POLICIES_LIB_WAITING_H
#define GSIM_POLICIES_LIB_WAITING_H

#include "gsim/policy.h"
#include "sim/base/index.h"

/* Jobs that ask for as many GPUs, of the nodes of one wish. */
struct gsim_waiting_kind {
    uint32_t gpus;
    uint64_t wish;
};

/* Jobs of one kind and one group (the policy's: an account, say): they differ in arrival and size
 * alone. A job that comes back may have units that it prefers, and is a row of its own. */
struct gsim_waiting_row {
    uint32_t group, kind;
    bool is_own; /* the row of a job that has come back */
    uint32_t n; /* waiting jobs */
    gsim_slot first; /* the first of them to arrive, while there are any */
    uint32_t at_active; /* where the row stands in gsim_waiting.active, while it has jobs */
    uint32_t next; /* another row of the group; of unused rows: another unused one */
    /* in the walk: */
    gsim_slot at; /* the job to be met next; GSIM_NO_SLOT: none */
    int64_t rank;
};

/* What a walk asks of the policy. */
struct gsim_waiting_rule {
    /* Lower goes first, equal ranks by arrival. In a row no job's rank is before that of a job that
     * arrived earlier. NULL: by arrival alone. */
    int64_t (*rank)(struct gsim_ctx *ctx, gsim_slot slot);
    /* Jobs of the row with a larger size than this are passed over; below 0: all of them are. May
     * only grow smaller, until gsim_waiting_anew. */
    int64_t (*most)(const void *of, const struct gsim_waiting_row *row);
    const void *of;
};

/* Zeroed, then gsim_waiting_init. */
struct gsim_waiting {
    struct gsim_index jobs; /* by row, then by arrival */
    struct gsim_waiting_kind *kind; /* those met so far; a kind keeps its number */
    uint32_t n_kinds, kinds_capacity;
    struct gsim_waiting_row *row;
    uint32_t n_rows, capacity;
    uint32_t *first_of_group;
    uint32_t unused; /* a row without a job, which another job may have for its own */
    uint32_t *active, n_active; /* the rows with jobs */
    uint64_t n_arrived;
    int64_t last_submit_ns;
    /* the walk */
    struct gsim_ctx *ctx;
    struct gsim_waiting_rule rule;
    uint32_t *heap, n_heap; /* rows by the next job of each */
    uint32_t current; /* the row that the walk has just met */
    int64_t last_rank; /* of the job that the walk has met last, and its arrival: */
    uint64_t last_arrival;
};

/* false: no memory. */
bool gsim_waiting_init(struct gsim_waiting *waiting, struct gsim_arena *arena, uint32_t n_groups);
/* The job's wish (gsim_ask_wish), where it binds jobs that are placed by this rule; else 0. */
uint64_t gsim_waiting_wish(const struct gsim_ctx *ctx, gsim_slot slot, enum gsim_rule rule);
/* The job arrives. size: by which the policy passes jobs of a row over, such as the time that the
 * job surely takes. false: no memory. */
bool gsim_waiting_add(struct gsim_waiting *waiting, const struct gsim_ctx *ctx, gsim_slot slot,
                      uint32_t group, uint64_t wish, int64_t size);
/* The number of a waiting job's kind. */
uint32_t gsim_waiting_kind_of(const struct gsim_waiting *waiting, gsim_slot slot);
/* The job is placed. */
void gsim_waiting_remove(struct gsim_waiting *waiting, gsim_slot slot);
/* The first job to arrive of those that wait; GSIM_NO_SLOT: none waits. */
gsim_slot gsim_waiting_first(const struct gsim_waiting *waiting);
/* Begins a walk. */
void gsim_waiting_walk(struct gsim_waiting *waiting, struct gsim_ctx *ctx,
                       const struct gsim_waiting_rule *rule);
/* The next job of the walk; GSIM_NO_SLOT: there is none. The job may be removed. */
gsim_slot gsim_waiting_next(struct gsim_waiting *waiting);
/* Whether no job is left behind the one met last, but for those that are passed over. */
bool gsim_waiting_is_last(struct gsim_waiting *waiting);
/* Jobs that were passed over may start after all: those that rank behind the job met last are met
 * again. */
void gsim_waiting_anew(struct gsim_waiting *waiting);

#endif
