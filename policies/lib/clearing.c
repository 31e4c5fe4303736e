/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A gang of one node needs the node that has enough GPUs first as jobs that are due give way,
 * longest slice first. A policy may have to ask quotes whether a job gives way, so that few jobs
 * are asked: those that come first, and those of nodes that could have room before the one that
 * was found. */
#include "policies/lib/slices.h"

#include "policies/lib/common.h"

bool gsim_clearing_yields(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                          const struct gsim_plan *plan, gsim_slot victim, gsim_slot slot) {
    if (slices->only_node != GSIM_NO_NODE &&
        gsim_homes_node(ctx, plan, victim) != slices->only_node)
        return false;
    return !slices->yields || slices->yields(ctx, plan, victim, slot);
}

/* The search for the node that first has enough GPUs as jobs that are due give way, longest slice
 * first. */
struct clearing {
    struct gsim_slices *slices;
    struct gsim_ctx *ctx;
    const struct gsim_plan *plan;
    gsim_slot slot; /* the job that needs GPUs */
    const struct gsim_reach_list *usable; /* the nodes that it may use; NULL: all */
    uint32_t need;
    uint32_t node; /* GSIM_NO_NODE: none yet */
    gsim_slot last; /* the job that makes room there; valid if there is a node */
};

static bool slice_is_over(const struct clearing *clearing, gsim_slot slot) {
    const struct gsim_slices *slices = clearing->slices;
    return gsim_index_key(&slices->running, slot) + slices->slice_ns <= clearing->ctx->view->now_ns;
}

static bool gives_way(const struct clearing *clearing, gsim_slot victim) {
    const struct gsim_slices *slices = clearing->slices;
    return gsim_due_may_yield(&slices->due, victim) &&
           gsim_clearing_yields(slices, clearing->ctx, clearing->plan, victim, clearing->slot);
}

/* Whether the node would have room before the node that was found, if all of its jobs gave way. */
static bool could_be_before(const struct clearing *clearing, const struct gsim_node_jobs_node *node,
                            uint32_t room) {
    const struct gsim_slices *slices = clearing->slices;
    const struct gsim_node_jobs_part *part = slices->node_jobs.part;
    if (clearing->node == GSIM_NO_NODE)
        return true;
    for (uint32_t i = node->end[0]; i != GSIM_NO_ID && part[i].is_due; i = part[i].beside[1]) {
        room += part[i].gpus;
        if (room >= clearing->need)
            return gsim_node_jobs_before(&slices->running, part[i].slot, clearing->last);
    }
    return false;
}

/* Whether the node has room before the node that was found, which it takes the place of then. A
 * node is left as soon as too many of its jobs stay. */
static void try_node(void *of, uint32_t node) {
    struct clearing *clearing = of;
    const struct gsim_slices *slices = clearing->slices;
    const struct gsim_node_jobs_node *own = &slices->node_jobs.node[node];
    const struct gsim_node_jobs_part *part = slices->node_jobs.part;
    if (clearing->usable && !clearing->usable->has[node])
        return;
    uint32_t room = gsim_node_idle_gpus(clearing->ctx->view, node), most = room + own->gpus;
    if (!could_be_before(clearing, own, room))
        return;
    for (uint32_t i = own->end[0]; i != GSIM_NO_ID && part[i].is_due && most >= clearing->need;
         i = part[i].beside[1]) {
        gsim_slot victim = part[i].slot;
        if (clearing->node != GSIM_NO_NODE &&
            !gsim_node_jobs_before(&slices->running, victim, clearing->last))
            return;
        bool stays = !gives_way(clearing, victim);
        room += stays ? 0 : part[i].gpus;
        most -= stays ? part[i].gpus : 0;
        if (!stays && room >= clearing->need) {
            clearing->node = node;
            clearing->last = victim;
            return;
        }
    }
}

/* A job of one GPU goes to that of the first job that gives way. */
static void try_first(struct clearing *clearing) {
    const struct gsim_slices *slices = clearing->slices;
    for (gsim_slot victim = gsim_index_first(&slices->running);
         victim != GSIM_NO_ID && slice_is_over(clearing, victim);
         victim = gsim_index_next(&slices->running, victim))
        if (gives_way(clearing, victim) &&
            (!clearing->usable ||
             gsim_reach_helps(clearing->ctx, clearing->plan, clearing->slot, victim))) {
            clearing->node = gsim_node_jobs_first(&slices->node_jobs, victim);
            clearing->last = victim;
            return;
        }
}

/* The nodes that have enough by the job that gave way last. */
struct cleared {
    const struct clearing *clearing;
    uint32_t n, node;
};

static void note_cleared(void *of, uint32_t node) {
    struct cleared *cleared = of;
    const struct gsim_reach_list *usable = cleared->clearing->usable;
    if (usable && !usable->has[node])
        return;
    cleared->n++;
    cleared->node = node;
}

/* Lets jobs give way one by one until a node has enough, which is soon where most of them do.
 * false: more jobs stay than give way, by more than a node holds, or one job clears several nodes:
 * this does not tell which node it is. */
static bool try_in_turn(struct clearing *clearing) {
    struct gsim_slices *slices = clearing->slices;
    struct cleared cleared = {.clearing = clearing};
    int64_t most = clearing->ctx->view->cluster.widest_node; /* jobs that may stay */
    gsim_node_jobs_begin_sum(&slices->node_jobs);
    for (gsim_slot victim = gsim_index_first(&slices->running);
         victim != GSIM_NO_ID && slice_is_over(clearing, victim) && most >= 0;
         victim = gsim_index_next(&slices->running, victim)) {
        bool stays = !gives_way(clearing, victim);
        most += stays ? -1 : 1;
        if (!stays)
            gsim_node_jobs_sum(&slices->node_jobs, clearing->ctx, victim, clearing->need,
                               note_cleared, &cleared);
        if (cleared.n == 0)
            continue;
        clearing->node = cleared.n == 1 ? cleared.node : GSIM_NO_NODE;
        clearing->last = victim;
        return cleared.n == 1;
    }
    return most >= 0;
}

/* Adds up the jobs that give way by node: of jobs that need few GPUs of a node most nodes come into
 * question by their number alone. */
static void try_yielding(struct clearing *clearing) {
    struct gsim_slices *slices = clearing->slices;
    struct gsim_due *due = &slices->due;
    if (!gsim_due_find(due, clearing->ctx, clearing->slot))
        gsim_common_no_memory(clearing->ctx);
    gsim_node_jobs_begin_sum(&slices->node_jobs);
    for (uint32_t i = 0; i < due->n_found; i++)
        if (gsim_clearing_yields(slices, clearing->ctx, clearing->plan, due->found[i].slot,
                                 clearing->slot))
            gsim_node_jobs_sum(&slices->node_jobs, clearing->ctx, due->found[i].slot,
                               clearing->need, try_node, clearing);
}

/* Of jobs that need more than half of a node few nodes come into question by their number. */
static void try_all(struct clearing *clearing) {
    struct gsim_slices *slices = clearing->slices;
    if (2 * clearing->need > clearing->ctx->view->cluster.widest_node)
        gsim_node_jobs_each(&slices->node_jobs, clearing->ctx, clearing->need, try_node, clearing);
    else if (!try_in_turn(clearing))
        try_yielding(clearing);
}

/* A gang asks all nodes, or those alone that no search in vain speaks for. */
static void try_gang(struct clearing *clearing) {
    struct gsim_slices *slices = clearing->slices;
    const struct gsim_ctx *ctx = clearing->ctx;
    bool is_used = slices->prospects.is_used;
    bool is_known =
        is_used && gsim_prospects_ask(&slices->prospects, ctx, &slices->due, &slices->node_jobs,
                                      clearing->need, try_node, clearing);
    if (!is_known)
        try_all(clearing);
    if (is_used && clearing->node == GSIM_NO_NODE)
        gsim_prospects_note(&slices->prospects, ctx, &slices->due, &slices->node_jobs,
                            clearing->need, is_known);
}

bool gsim_clearing_find(struct gsim_slices *slices, struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, gsim_slot slot) {
    struct clearing clearing = {.slices = slices,
                                .ctx = ctx,
                                .plan = plan,
                                .slot = slot,
                                .usable = gsim_ask_has_wishes(ctx->view)
                                              ? gsim_reach_list(&slices->reach, ctx, slot)
                                              : NULL,
                                .need = ctx->view->jobs.gpus[slot],
                                .node = GSIM_NO_NODE};
    if (slices->only_node != GSIM_NO_NODE)
        try_node(&clearing, slices->only_node);
    else if (clearing.need == 1)
        try_first(&clearing);
    else
        try_gang(&clearing);
    slices->cleared_node = clearing.node;
    slices->last_victim = clearing.last;
    return clearing.node != GSIM_NO_NODE;
}
