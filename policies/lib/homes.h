/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waiting jobs with all their memory on one node, by node. */
#ifndef GSIM_POLICIES_LIB_HOMES_H
#define GSIM_POLICIES_LIB_HOMES_H

#include "gsim/policy.h"
#include "policies/lib/wish_lines.h"
#include "sim/base/index.h"

#define GSIM_NO_NODE UINT32_MAX
struct gsim_home {
    gsim_slot before, after;
    uint32_t node;
    bool is_in, is_asked;
    int64_t saves_ns; /* valid once is_asked */
};
struct gsim_homes {
    struct gsim_arena *arena;
    gsim_slot *first; /* by node */
    gsim_slot *best; /* by node: the first in line, if is_known and as long as it waits */
    bool *is_known;
    struct gsim_home *of; /* by slot */
    uint32_t n, capacity; /* n: jobs with a home */
    uint64_t *tried, n_tries; /* by node: the last try in which it was looked at */
    struct gsim_index turns; /* nodes to be looked at in this try, in their order */
};
void gsim_homes_init(struct gsim_homes *homes, struct gsim_ctx *ctx);
void gsim_homes_add(struct gsim_homes *homes, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_homes_remove(struct gsim_homes *homes, gsim_slot slot);
/* A job has been put in line, at its rank. */
void gsim_homes_wait(struct gsim_homes *homes, const struct gsim_ctx *ctx,
                     const struct gsim_wish_lines *waiting, gsim_slot slot);
/* The first in line of the jobs at home on the node; GSIM_NO_SLOT: none. */
gsim_slot gsim_homes_best(struct gsim_homes *homes, const struct gsim_ctx *ctx,
                          const struct gsim_wish_lines *waiting, uint32_t node);
/* The one node that a job has all its units on; else GSIM_NO_NODE. */
uint32_t gsim_homes_node(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot);
/* Whether a job has any of its units on this node. */
bool gsim_homes_has_units_on(const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                             gsim_slot slot, uint32_t node);
/* How much sooner such a job is back at home than elsewhere, by quotes. */
int64_t gsim_homes_saves_ns(struct gsim_homes *homes, const struct gsim_ctx *ctx, gsim_slot slot);

/* The one node where the memory of a waiting job lies, if bringing it to another node takes time;
 * else GSIM_NO_NODE. */
uint32_t gsim_homes_of(const struct gsim_ctx *ctx, gsim_slot slot);
/* How much longer it takes to bring the job to these units than to where its memory lies. */
int64_t gsim_homes_extra_ns(const struct gsim_ctx *ctx, gsim_slot slot,
                            const struct gsim_unit *units, uint32_t n_units);

#endif
