/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How jobs of slices get GPUs: those that are free, and those of jobs of which the slice is over,
 * which give way to them (policies/lib/slices.h). */
#include "policies/lib/slices.h"
#include "policies/lib/common.h"
#include "policies/lib/homes.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
#include "sim/base/index.h"

int64_t gsim_slices_end_ns(const struct gsim_slices *slices, gsim_slot slot) {
    if (!gsim_index_has(&slices->running, slot))
        return GSIM_NEVER;
    return gsim_index_key(&slices->running, slot) + slices->slice_ns;
}

/* GPUs of the node that are idle but for this job. */
static uint32_t idle_but_for(const struct gsim_ctx *ctx, uint32_t node,
                             const struct gsim_unit *units, uint32_t n_units) {
    uint32_t n = gsim_node_idle_gpus(ctx->view, node);
    for (uint32_t u = 0; u < n_units; u++)
        n += ctx->view->cluster.node_of_gpu[units[u].gpu] == node;
    return n;
}

/* Whether the job is better off where its memory lies, though it has to wait there. */
static bool is_worth_waiting(struct gsim_slices *slices, const struct gsim_ctx *ctx,
                             const struct gsim_plan *plan, gsim_slot slot) {
    uint32_t home = gsim_homes_of(ctx, slot);
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    if (home == GSIM_NO_NODE || gsim_homes_node(ctx, plan, slot) == home)
        return false;
    int64_t until_ns =
        ctx->view->jobs.changed_ns[slot] + gsim_homes_extra_ns(ctx, slot, units, n_units);
    if (until_ns <= ctx->view->now_ns)
        return false;
    uint32_t room = idle_but_for(ctx, home, units, n_units), need = ctx->view->jobs.gpus[slot];
    const struct gsim_node_jobs_part *part = slices->node_jobs.part;
    for (uint32_t i = slices->node_jobs.node[home].end[0];
         i != GSIM_NO_ID && gsim_slices_end_ns(slices, part[i].slot) < until_ns && room < need;
         i = part[i].beside[1])
        if (gsim_homes_node(ctx, plan, part[i].slot) == home &&
            slices->will_yield(ctx, part[i].slot, slot, until_ns))
            room += ctx->view->jobs.gpus[part[i].slot]; /* that job runs on until it gives way */
    if (room >= need && until_ns < slices->home_until_ns)
        slices->home_until_ns = until_ns;
    return room >= need;
}

/* Notes the node that the job would have had, where no job shares a GPU by the trace: it is the
 * fullest one with room for the whole gang. */
static void note_refused(struct gsim_slices *slices, const struct gsim_ctx *ctx,
                         const struct gsim_plan *plan, gsim_slot slot) {
    if (slices->rule != GSIM_RULE_CONSOLIDATE || !slices->reach.is_by_node ||
        ctx->view->trace->column[GSIM_COL_SHARE_PPM])
        return;
    slices->refused_node = gsim_homes_node(ctx, plan, slot);
    slices->refused_home = gsim_homes_of(ctx, slot);
}

/* Accepts the job's placement, unless the job had better wait for its home. A job for which the
 * jobs of its home alone give way goes home with all of its GPUs: else part of its memory would
 * cross the network, and going home is to save that. */
static bool accepts(struct gsim_slices *slices, const struct gsim_ctx *ctx, struct gsim_plan *plan,
                    gsim_slot slot) {
    bool is_home =
        slices->only_node == GSIM_NO_NODE || gsim_homes_node(ctx, plan, slot) == slices->only_node;
    slices->waits_for_home = slices->will_yield && is_worth_waiting(slices, ctx, plan, slot);
    if (is_home && !slices->waits_for_home)
        return true;
    if (slices->waits_for_home)
        note_refused(slices, ctx, plan, slot);
    gsim_plan_rollback(plan, slices->mark);
    return false;
}

bool gsim_slices_place(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    slices->mark = gsim_plan_mark(plan);
    slices->waits_for_home = false;
    slices->refused_node = GSIM_NO_NODE;
    return gsim_settings_place(ctx, plan, slot, slices->rule) && accepts(slices, ctx, plan, slot);
}

bool gsim_slices_is_due(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                        gsim_slot slot) {
    return gsim_slices_end_ns(slices, slot) <= ctx->view->now_ns;
}

/* Notes the jobs with slices that have ended since the last look. Within a decide no job becomes
 * due, and the ranks of jobs stay. */
static void look_at_due(struct gsim_slices *slices, struct gsim_ctx *ctx) {
    int64_t due_ns = ctx->view->now_ns - slices->slice_ns;
    gsim_slot slot = gsim_index_seek(&slices->running, slices->looked_ns + 1, 0);
    for (; slot != GSIM_NO_ID && gsim_index_key(&slices->running, slot) <= due_ns;
         slot = gsim_index_next(&slices->running, slot))
        if (!gsim_due_add(&slices->due, ctx, slot,
                          slices->urgency ? slices->urgency(ctx, slot) : 0))
            gsim_common_no_memory(ctx);
        else if (slices->reach.is_by_node)
            gsim_node_jobs_due(&slices->node_jobs, slot);
    slices->looked_ns = due_ns;
    slices->has_looked = true;
    gsim_due_forget(&slices->due);
    slices->last_due_rank = gsim_due_last_rank(&slices->due, ctx);
}

/* Whether a gang that a node of its own could hold needs one: where GPUs of the widest nodes lack
 * its memory, it may go to several narrower ones. Shares of GPUs need none that is idle. */
static bool counts_usable(const struct gsim_slices *slices, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    return slices->reach.is_by_node && !view->trace->column[GSIM_COL_SHARE_PPM] &&
           (gsim_misfits_none(view, slices->rule, false).is_size_by_wish ||
            view->cluster.n_gpus == view->cluster.n_nodes * view->cluster.widest_node);
}

/* Whether the victim yields GPUs that the job may use. */
static bool may_help(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                     const struct gsim_plan *plan, gsim_slot victim, gsim_slot slot) {
    return gsim_clearing_yields(slices, ctx, plan, victim, slot) &&
           (!slices->reach.has_wishes || gsim_reach_helps(ctx, plan, slot, victim));
}

/* Whether the job needs GPUs of one node, among nodes that are known. */
static bool asks_by_node(struct gsim_slices *slices, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    uint32_t widest = view->cluster.widest_node;
    if (slices->reach.is_by_node && gsim_ask_has_wishes(view)) {
        const struct gsim_reach_list *usable = gsim_reach_list(&slices->reach, ctx, slot);
        bool is_known = usable && counts_usable(slices, ctx) && gsim_ask_nodes(ctx, slot) <= 1;
        widest = is_known ? usable->widest : 0;
    }
    return slices->reach.is_by_node && view->jobs.gpus[slot] <= widest;
}

/* Whether the job, and each behind it in line, stands behind all jobs that are due: none of these
 * gives way to it. Known once this decide has looked at them. */
bool gsim_slices_is_behind_due(const struct gsim_slices *slices, gsim_slot slot) {
    return slices->has_looked && slices->least_service_ns &&
           gsim_wish_lines_rank(&slices->waiting, slot) > slices->last_due_rank;
}

/* Whether any job that is due may give way to this one. */
bool gsim_slices_has_victims(struct gsim_slices *slices, struct gsim_ctx *ctx, gsim_slot slot) {
    if (!slices->has_looked)
        look_at_due(slices, ctx);
    return !gsim_slices_is_behind_due(slices, slot) && gsim_due_ask(&slices->due, ctx, slot);
}

/* Whether the GPUs of all jobs that would give way are enough. */
bool gsim_slices_could_fit(struct gsim_slices *slices, struct gsim_ctx *ctx,
                           const struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_reach *reach = &slices->reach;
    struct gsim_due *due = &slices->due;
    if (!gsim_slices_has_victims(slices, ctx, slot))
        return false;
    if (asks_by_node(slices, ctx, slot))
        return gsim_clearing_find(slices, ctx, plan, slot);
    if (!gsim_due_find(due, ctx, slot))
        gsim_common_no_memory(ctx);
    reach->is_strict = counts_usable(slices, ctx);
    gsim_reach_begin(reach, ctx, slot);
    for (uint32_t i = 0; i < due->n_found && !gsim_reach_is_enough(reach, ctx); i++)
        if (may_help(slices, ctx, plan, due->found[i].slot, slot))
            gsim_reach_add(reach, ctx, plan, due->found[i].slot);
    return gsim_reach_is_enough(reach, ctx);
}

/* Whether the job goes to one node, where no other node plays a part in how jobs give way there. */
static bool goes_to_one_node(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                             gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    bool waits_for_none = !slices->will_yield || slices->only_node != GSIM_NO_NODE ||
                          gsim_homes_of(ctx, slot) == GSIM_NO_NODE;
    return slices->reach.is_by_node && slices->rule == GSIM_RULE_CONSOLIDATE && waits_for_none &&
           view->jobs.gpus[slot] <= view->cluster.widest_node &&
           !view->trace->column[GSIM_COL_SHARE_PPM];
}

/* The node that first has enough GPUs as jobs that are due give way, longest slice first, and how
 * many were asked by then; GSIM_NO_NODE: several nodes at once, or none. */
static uint32_t first_node(struct gsim_slices *slices, struct gsim_ctx *ctx,
                           const struct gsim_plan *plan, gsim_slot slot, uint32_t *n_asked) {
    slices->reach.is_strict = counts_usable(slices, ctx) && gsim_ask_nodes(ctx, slot) <= 1;
    gsim_reach_begin(&slices->reach, ctx, slot);
    for (uint32_t i = 0; i < slices->due.n_found; i++) {
        gsim_slot victim = gsim_due_nth(&slices->due, ctx, &slices->running, i);
        if (!gsim_clearing_yields(slices, ctx, plan, victim, slot))
            continue;
        gsim_reach_add(&slices->reach, ctx, plan, victim);
        *n_asked = i + 1;
        if (gsim_reach_is_enough(&slices->reach, ctx))
            return gsim_homes_node(ctx, plan, victim);
    }
    return GSIM_NO_NODE;
}

static bool push_out(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot victim, gsim_slot slot) {
    struct gsim_preemption way =
        slices->way ? slices->way(ctx, plan, victim, slot) : slices->preemption;
    return gsim_eviction_push_out(&slices->eviction, ctx, plan, victim, way);
}

/* Preempts the jobs on the node that was found. Where the job that makes room is on several nodes,
 * these are cleared at once, and none is the first. */
static bool clear_found(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                        gsim_slot slot) {
    const struct gsim_node_jobs *nodes = &slices->node_jobs;
    gsim_slot victim = GSIM_NO_SLOT;
    gsim_eviction_begin(&slices->eviction);
    if (gsim_homes_node(ctx, plan, slices->last_victim) == GSIM_NO_NODE)
        return false;
    for (uint32_t part = nodes->node[slices->cleared_node].end[0]; victim != slices->last_victim;
         part = nodes->part[part].beside[1]) {
        victim = nodes->part[part].slot;
        if (gsim_due_may_yield(&slices->due, victim) &&
            gsim_clearing_yields(slices, ctx, plan, victim, slot) &&
            !push_out(slices, ctx, plan, victim, slot))
            return false;
    }
    return gsim_slices_place(slices, ctx, plan, slot);
}

/* Preempts the jobs on this node alone, where the job that gives way last makes room: those on
 * other nodes would run on. */
static bool clear_node(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    if (asks_by_node(slices, ctx, slot))
        return clear_found(slices, ctx, plan, slot);
    if (!gsim_due_find(&slices->due, ctx, slot))
        return false;
    uint32_t n_asked = 0, node = first_node(slices, ctx, plan, slot, &n_asked);
    gsim_eviction_begin(&slices->eviction);
    for (uint32_t i = 0; i < n_asked && node != GSIM_NO_NODE; i++) {
        gsim_slot victim = gsim_due_nth(&slices->due, ctx, &slices->running, i);
        if (gsim_homes_has_units_on(ctx, plan, victim, node) &&
            gsim_clearing_yields(slices, ctx, plan, victim, slot) &&
            !push_out(slices, ctx, plan, victim, slot))
            return false;
    }
    return node != GSIM_NO_NODE && gsim_slices_place(slices, ctx, plan, slot);
}

/* Whether the job, which had better wait for its home than go to the node of its last trial, would
 * go to that node again now that the victim has given way: of nodes with room it takes the fullest,
 * and of these the first, so that only nodes of the victim can come before it. */
static bool stays_refused(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                          gsim_slot victim, gsim_slot slot) {
    const struct gsim_node_jobs *nodes = &slices->node_jobs;
    uint32_t there = slices->refused_node, need = ctx->view->jobs.gpus[slot];
    if (there == GSIM_NO_NODE)
        return false;
    uint32_t left = gsim_reach_idle(&slices->reach, ctx, there);
    for (uint32_t i = nodes->first_part[victim]; i != GSIM_NO_ID; i = nodes->part[i].next) {
        uint32_t node = nodes->part[i].node, idle = gsim_reach_idle(&slices->reach, ctx, node);
        bool is_before = idle >= need && (idle < left || (idle == left && node < there));
        if (node == there || node == slices->refused_home || is_before)
            return false;
    }
    return true;
}

/* Whether the job goes to the fullest node with enough idle GPUs, whatever runs on the others, and
 * may wait for its home instead. A trial pushes out jobs of two nodes, which saves nothing where no
 * more of them give way than two nodes may hold. */
static bool goes_to_fullest(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                            gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    return slices->will_yield && slices->due.n_found > 2 * view->cluster.widest_node &&
           slices->only_node == GSIM_NO_NODE && slices->reach.is_by_node &&
           slices->rule == GSIM_RULE_CONSOLIDATE &&
           view->jobs.gpus[slot] <= view->cluster.widest_node && gsim_ask_nodes(ctx, slot) <= 1 &&
           gsim_misfits_none(view, slices->rule, slices->left.n > 0).is_size_all &&
           gsim_homes_of(ctx, slot) != GSIM_NO_NODE;
}

/* A job that was pushed out stands on its nodes as long as the plan is tried. */
static bool stands_on(const struct gsim_node_jobs *nodes, gsim_slot slot, uint32_t node) {
    for (uint32_t i = nodes->first_part[slot]; i != GSIM_NO_ID; i = nodes->part[i].next)
        if (nodes->part[i].node == node)
            return true;
    return false;
}

/* Preempts the jobs of a node that would have given way by the time that the last one does, but for
 * those that stand on the other node, too. */
static bool clear_until(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                        gsim_slot slot, uint32_t node, uint32_t other, gsim_slot last) {
    const struct gsim_node_jobs *nodes = &slices->node_jobs;
    for (uint32_t part = nodes->node[node].end[0];
         part != GSIM_NO_ID &&
         !gsim_node_jobs_before(&slices->running, last, nodes->part[part].slot);
         part = nodes->part[part].beside[1]) {
        gsim_slot victim = nodes->part[part].slot;
        if (gsim_due_may_yield(&slices->due, victim) &&
            gsim_clearing_yields(slices, ctx, plan, victim, slot) &&
            !stands_on(nodes, victim, other) && !push_out(slices, ctx, plan, victim, slot))
            return false;
    }
    return true;
}

/* Whether the job had better wait for its home than go to the fullest node with room once all jobs
 * up to this one have given way. Those on the node and at home tell; the plan stays as it was. */
static bool is_refused(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot, gsim_slot last) {
    uint32_t mark = gsim_plan_mark(plan), home = gsim_homes_of(ctx, slot);
    uint32_t there = gsim_reach_fullest(&slices->reach, ctx);
    if (there == GSIM_NO_NODE || there == home)
        return false;
    gsim_eviction_begin(&slices->eviction);
    bool is_cleared = clear_until(slices, ctx, plan, slot, there, GSIM_NO_NODE, last) &&
                      clear_until(slices, ctx, plan, slot, home, there, last);
    slices->refused_node = GSIM_NO_NODE;
    bool is_placed = is_cleared && gsim_slices_place(slices, ctx, plan, slot);
    gsim_plan_rollback(plan, mark);
    return !is_placed && slices->refused_node == there;
}

/* The first of the jobs that are due, longest slice first, with which the job has room and does not
 * wait for its home; their number: there is none. */
static uint32_t first_accepted(struct gsim_slices *slices, struct gsim_ctx *ctx,
                               struct gsim_plan *plan, gsim_slot slot) {
    const struct gsim_due *due = &slices->due;
    uint32_t i = 0;
    slices->refused_node = GSIM_NO_NODE;
    gsim_reach_begin(&slices->reach, ctx, slot);
    for (; i < due->n_found; i++) {
        gsim_slot victim = gsim_due_nth(&slices->due, ctx, &slices->running, i);
        if (!gsim_clearing_yields(slices, ctx, plan, victim, slot))
            continue;
        gsim_reach_add(&slices->reach, ctx, plan, victim);
        if (gsim_reach_is_enough(&slices->reach, ctx) &&
            !stays_refused(slices, ctx, victim, slot) &&
            !is_refused(slices, ctx, plan, slot, victim))
            break;
    }
    return i;
}

/* Preempts jobs that are due, longest slice first, until the job fits. */
static bool clear_all(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    struct gsim_due *due = &slices->due;
    if (!gsim_due_find(due, ctx, slot))
        return false;
    slices->reach.is_strict = counts_usable(slices, ctx);
    uint32_t from =
        goes_to_fullest(slices, ctx, slot) ? first_accepted(slices, ctx, plan, slot) : 0;
    if (from == due->n_found)
        return false;
    gsim_eviction_begin(&slices->eviction);
    slices->refused_node = GSIM_NO_NODE;
    gsim_reach_begin(&slices->reach, ctx, slot);
    for (uint32_t i = 0; i < due->n_found; i++) {
        gsim_slot victim = gsim_due_nth(due, ctx, &slices->running, i);
        if (!gsim_clearing_yields(slices, ctx, plan, victim, slot))
            continue;
        gsim_reach_add(&slices->reach, ctx, plan, victim);
        if (!push_out(slices, ctx, plan, victim, slot))
            return false;
        if (i < from || !gsim_reach_is_enough(&slices->reach, ctx) ||
            stays_refused(slices, ctx, victim, slot))
            continue;
        if (gsim_slices_place(slices, ctx, plan, slot))
            return true;
    }
    return false;
}

static bool make_room(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    uint32_t mark = gsim_plan_mark(plan);
    if (goes_to_one_node(slices, ctx, slot)) {
        if (clear_node(slices, ctx, plan, slot))
            return true;
        gsim_plan_rollback(plan, mark);
    }
    return clear_all(slices, ctx, plan, slot);
}

/* The jobs that were pushed out are due no more. */
static void leave_due(struct gsim_slices *slices, struct gsim_ctx *ctx) {
    for (uint32_t v = 0; v < slices->eviction.n; v++) {
        const struct gsim_victim *victim = &slices->eviction.victims[v];
        enum gsim_keep keep = victim->way.keep;
        gsim_index_remove(&slices->running, victim->slot);
        gsim_due_remove(&slices->due, victim->slot);
        gsim_node_jobs_remove(&slices->node_jobs, victim->slot);
        if (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE)
            gsim_common_insert(ctx, &slices->left, victim->slot, 0);
    }
}

bool gsim_slices_force(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       gsim_slot slot) {
    uint32_t mark = gsim_plan_mark(plan);
    if (!make_room(slices, ctx, plan, slot)) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    gsim_eviction_spare(&slices->eviction, ctx, plan, slot, mark, &slices->mark);
    leave_due(slices, ctx);
    return true;
}
