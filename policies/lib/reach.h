/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a job could fit if certain jobs gave way, by counting GPUs: much cheaper than to push
 * them out in the plan, and to put them back. */
#ifndef GSIM_POLICIES_LIB_REACH_H
#define GSIM_POLICIES_LIB_REACH_H

#include "gsim/policy.h"

/* Lists of nodes that are remembered; jobs with further ones are looked at node by node. */
enum { GSIM_REACH_LISTS = 64 };

/* The nodes that jobs of a wish may use. */
struct gsim_reach_list {
    uint64_t wish; /* gsim_ask_wish of the job that it was made for */
    uint32_t like; /* the first list with these nodes, by number: itself, as a rule */
    uint32_t n, widest; /* GPUs of the largest of them */
    uint32_t *node;
    bool *has; /* by node */
};

/* Of the jobs with one list, seen from a job with another: how many hold a GPU that it may use. */
enum gsim_reach_meeting { GSIM_MEET_UNKNOWN, GSIM_MEET_NONE, GSIM_MEET_SOME, GSIM_MEET_ALL };

/* Zeroed at first. */
struct gsim_reach {
    bool is_by_node; /* gangs go to as few nodes as possible */
    bool is_strict; /* set by the policy: nodes that the job may not use count for nothing */
    struct gsim_reach_list *list;
    uint32_t n_lists;
    uint8_t meeting[GSIM_REACH_LISTS][GSIM_REACH_LISTS]; /* by the list that sees, then the other */
    /* by node: the GPUs that would be idle, valid if the node was met in this count */
    uint32_t *idle;
    uint64_t *met, n_counts;
    /* in this count: */
    uint64_t total, need;
    /* of a job that asks for several nodes; n_parts: 0 for the others. Each of its nodes gives
     * `part` GPUs, n_larger of them one more */
    uint32_t n_parts, part, n_larger;
    uint32_t n_for_part, n_for_larger; /* nodes with as many idle GPUs */
    bool has_wishes; /* it may be kept from GPUs, so that some jobs give way in vain */
    const struct gsim_reach_list *usable; /* the nodes that count; NULL: all */
    uint32_t widest; /* GPUs of the largest node that the waiting job may use */
    uint32_t most_on_node; /* of the nodes met */
    uint32_t n_whole; /* nodes that would be idle as a whole */
};

/* rule: of all placements. false: no memory. */
bool gsim_reach_init(struct gsim_reach *reach, const struct gsim_ctx *ctx, enum gsim_rule rule);
/* A number for the nodes that the job may use: jobs of one number may use the same nodes.
 * GSIM_REACH_LISTS: the nodes are not remembered. */
uint32_t gsim_reach_nodes_of(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot);
/* The nodes that the job may use; NULL: they are not remembered. */
const struct gsim_reach_list *gsim_reach_list(struct gsim_reach *reach, const struct gsim_ctx *ctx,
                                              gsim_slot slot);
/* How many jobs of the other number hold GPUs that the job of this one may use. */
enum gsim_reach_meeting gsim_reach_meet(struct gsim_reach *reach, uint32_t nodes, uint32_t other);
/* Notes what the waiting job needs, and which nodes count for it. */
void gsim_reach_ask(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot);
/* Whether the number of whole idle nodes decides for gangs that are wider than a node. */
bool gsim_reach_knows_whole(const struct gsim_ctx *ctx);
/* Begins a count for a waiting job that does not fit as it is. */
void gsim_reach_begin(struct gsim_reach *reach, const struct gsim_ctx *ctx, gsim_slot slot);
/* Whether the waiting job may run on a GPU that this job holds: a job of other partitions or types
 * of GPU gives way in vain. */
bool gsim_reach_helps(const struct gsim_ctx *ctx, const struct gsim_plan *plan, gsim_slot slot,
                      gsim_slot victim);
/* One more job would give way. */
void gsim_reach_add(struct gsim_reach *reach, const struct gsim_ctx *ctx,
                    const struct gsim_plan *plan, gsim_slot victim);
/* false: the waiting job cannot fit if these jobs alone give way. */
bool gsim_reach_is_enough(const struct gsim_reach *reach, const struct gsim_ctx *ctx);
/* The idle GPUs of a node once the jobs that were added have given way. */
uint32_t gsim_reach_idle(const struct gsim_reach *reach, const struct gsim_ctx *ctx, uint32_t node);
/* Of the nodes that then have enough for the waiting job the one with the fewest idle GPUs, and of
 * these the first; UINT32_MAX: none. */
uint32_t gsim_reach_fullest(const struct gsim_reach *reach, const struct gsim_ctx *ctx);
/* After a count of all jobs that give way, which was not enough: the smallest gang of the waiting
 * job's nodes that cannot fit either. It is no wider than the job. */
uint32_t gsim_reach_beyond(const struct gsim_reach *reach);

#endif
