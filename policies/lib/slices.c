/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices of time for gangs on a cluster, which suspend and adaptive share (policies/lib/slices.h).
 * A decide costs the jobs that wait and fit, and the jobs that run and are due; a job that is due
 * but not needed is left alone. */
#include <assert.h>

#include "policies/lib/slices.h"
#include "policies/lib/common.h"
#include "policies/lib/homes.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
#include "policies/lib/taken.h"
#include "sim/base/index.h"

void gsim_slices_init(struct gsim_slices *slices, struct gsim_ctx *ctx) {
    slices->rule = gsim_settings_rule(ctx);
    slices->patience = gsim_param(ctx->params, "patience");
    slices->only_node = GSIM_NO_NODE;
    gsim_homes_init(&slices->homes, ctx);
    if (!gsim_reach_init(&slices->reach, ctx, slices->rule) ||
        !gsim_wish_lines_init(&slices->waiting, ctx, slices->rule))
        gsim_common_no_memory(ctx);
    gsim_index_init(&slices->running, ctx->arena);
    gsim_index_init(&slices->left, ctx->arena);
    gsim_due_init(&slices->due, ctx, slices->rank, slices->least_service_ns);
    if (!gsim_node_jobs_init(&slices->node_jobs, ctx) ||
        !gsim_prospects_init(&slices->prospects, ctx))
        gsim_common_no_memory(ctx);
    slices->looked_ns = INT64_MIN;
}

void gsim_slices_completed(struct gsim_slices *slices, gsim_slot slot) {
    gsim_index_remove(&slices->running, slot);
    gsim_due_remove(&slices->due, slot);
    gsim_node_jobs_remove(&slices->node_jobs, slot);
    gsim_wish_lines_remove(&slices->waiting, slot);
    gsim_index_remove(&slices->left, slot);
    gsim_homes_remove(&slices->homes, slot);
}

int64_t gsim_slices_end_ns(const struct gsim_slices *slices, gsim_slot slot) {
    if (!gsim_index_has(&slices->running, slot))
        return GSIM_NEVER;
    return gsim_index_key(&slices->running, slot) + slices->slice_ns;
}

void gsim_slices_wait(struct gsim_slices *slices, struct gsim_ctx *ctx, gsim_slot slot,
                      int64_t rank) {
    if (!gsim_wish_lines_add(&slices->waiting, ctx, slot, rank, ctx->view->jobs.gpus[slot]))
        gsim_common_no_memory(ctx);
    else
        gsim_homes_wait(&slices->homes, ctx, &slices->waiting, slot);
}

void gsim_slices_book(struct gsim_slices *slices, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        gsim_slices_wait(slices, ctx, view->changes.arrived[i],
                         slices->rank(ctx, view->changes.arrived[i]));
    for (uint32_t i = 0; i < view->changes.n_settled; i++) {
        gsim_slot slot = view->changes.settled[i];
        gsim_homes_remove(&slices->homes, slot);
        if (view->jobs.state[slot] != GSIM_PAUSED)
            gsim_index_remove(&slices->left, slot);
        if (slices->worth && gsim_common_waits(view, slot))
            gsim_homes_add(&slices->homes, ctx, slot);
        if (view->jobs.state[slot] == GSIM_RUNNING)
            gsim_common_insert(ctx, &slices->running, slot, view->jobs.changed_ns[slot]);
        else if (gsim_common_waits(view, slot))
            gsim_slices_wait(slices, ctx, slot, slices->rank(ctx, slot));
    }
}

/* --- placing ---------------------------------------------------------------------------------- */

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

static bool place(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    slices->mark = gsim_plan_mark(plan);
    slices->waits_for_home = false;
    slices->refused_node = GSIM_NO_NODE;
    return gsim_settings_place(ctx, plan, slot, slices->rule) && accepts(slices, ctx, plan, slot);
}

static bool is_due(const struct gsim_slices *slices, const struct gsim_ctx *ctx, gsim_slot slot) {
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
static bool is_behind_due(const struct gsim_slices *slices, gsim_slot slot) {
    return slices->has_looked && slices->least_service_ns &&
           gsim_wish_lines_rank(&slices->waiting, slot) > slices->last_due_rank;
}

/* Whether any job that is due may give way to this one. */
static bool has_victims(struct gsim_slices *slices, struct gsim_ctx *ctx, gsim_slot slot) {
    if (!slices->has_looked)
        look_at_due(slices, ctx);
    return !is_behind_due(slices, slot) && gsim_due_ask(&slices->due, ctx, slot);
}

/* Whether the GPUs of all jobs that would give way are enough. */
static bool could_fit(struct gsim_slices *slices, struct gsim_ctx *ctx,
                      const struct gsim_plan *plan, gsim_slot slot) {
    struct gsim_reach *reach = &slices->reach;
    struct gsim_due *due = &slices->due;
    if (!has_victims(slices, ctx, slot))
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
    return place(slices, ctx, plan, slot);
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
    return node != GSIM_NO_NODE && place(slices, ctx, plan, slot);
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
    uint32_t left = gsim_node_idle_gpus(ctx->view, there);
    for (uint32_t i = nodes->first_part[victim]; i != GSIM_NO_ID; i = nodes->part[i].next) {
        uint32_t node = nodes->part[i].node, idle = gsim_node_idle_gpus(ctx->view, node);
        bool is_before = idle >= need && (idle < left || (idle == left && node < there));
        if (node == there || node == slices->refused_home || is_before)
            return false;
    }
    return true;
}

/* Preempts jobs that are due, longest slice first, until the job fits. */
static bool clear_all(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      gsim_slot slot) {
    struct gsim_due *due = &slices->due;
    if (!gsim_due_find(due, ctx, slot))
        return false;
    gsim_eviction_begin(&slices->eviction);
    slices->reach.is_strict = counts_usable(slices, ctx);
    slices->refused_node = GSIM_NO_NODE;
    gsim_reach_begin(&slices->reach, ctx, slot);
    for (uint32_t i = 0; i < due->n_found; i++) {
        gsim_slot victim = gsim_due_nth(due, ctx, &slices->running, i);
        if (!gsim_clearing_yields(slices, ctx, plan, victim, slot))
            continue;
        gsim_reach_add(&slices->reach, ctx, plan, victim);
        if (!push_out(slices, ctx, plan, victim, slot))
            return false;
        if (!gsim_reach_is_enough(&slices->reach, ctx) || stays_refused(slices, ctx, victim, slot))
            continue;
        if (place(slices, ctx, plan, slot))
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

static bool force(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
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

/* --- the decide ------------------------------------------------------------------------------- */

/* Whether the job has waited too long for another job to pass it; as long as any job runs, room
 * will come. */
static bool is_impatient(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    int64_t waited_ns = ctx->view->now_ns - ctx->view->jobs.changed_ns[slot];
    return slices->patience > 0 && slices->running.n > 0 &&
           waited_ns / slices->patience >= slices->slice_ns;
}

/* The facts about jobs that cannot be placed, in one pass. */
struct pass {
    struct gsim_misfits misfits;
    /* no idle GPU may ever lack memory; then a job that waits for its home counts as a misfit */
    bool is_ample;
    bool is_told_apart; /* a gang that finds no room speaks for its line, and no other one */
    bool is_noted; /* a gang that lacks GPUs even by force speaks for its line */
    bool is_counted; /* a trial with too few idle GPUs fails, and changes nothing */
    int64_t unforced_rank; /* jobs of this rank are tried nevertheless; INT64_MIN: none */
    uint32_t
        most_idle; /* of the GPUs of any node; UINT32_MAX: not counted since a job was placed */
};

/* Jobs on the job's home give way to it first. */
static bool force_at_home(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                          gsim_slot slot) {
    slices->only_node = gsim_homes_of(ctx, slot);
    bool is_placed = slices->only_node != GSIM_NO_NODE && could_fit(slices, ctx, plan, slot) &&
                     force(slices, ctx, plan, slot);
    slices->only_node = GSIM_NO_NODE;
    return is_placed;
}

/* Also after force: the job may leave some of the GPUs that it took, and jobs that it pushed out
 * their memory. */
static void begin_placing(struct gsim_slices *slices, const struct gsim_ctx *ctx,
                          struct pass *pass) {
    pass->misfits = gsim_misfits_none(ctx->view, slices->rule, slices->left.n > 0);
    pass->is_told_apart =
        slices->waiting.is_by_wish && pass->misfits.is_size_by_wish && pass->is_noted;
    pass->is_counted = pass->misfits.is_size_by_wish &&
                       gsim_misfits_need_idle(ctx->view, slices->rule) &&
                       !gsim_misfits_trial_matters(slices->rule);
    pass->most_idle = UINT32_MAX;
    for (uint32_t l = 0; l < slices->waiting.n; l++)
        slices->waiting.line[l].unplaced = UINT32_MAX;
}

/* Of all lines the jobs from this place on are looked at next. */
static void look_from(struct gsim_slices *slices, int64_t rank, uint64_t nth) {
    for (uint32_t l = 0; l < slices->waiting.n; l++) {
        struct gsim_wish_line *line = &slices->waiting.line[l];
        line->at = gsim_index_seek(&line->jobs, rank, nth);
    }
}

static void begin_pass(struct gsim_slices *slices, const struct gsim_ctx *ctx, struct pass *pass) {
    pass->is_noted = !slices->waiting.is_by_wish || !gsim_misfits_trial_matters(slices->rule);
    begin_placing(slices, ctx, pass);
    pass->is_ample = gsim_misfits_none(ctx->view, slices->rule, true).is_size_all;
    pass->unforced_rank = INT64_MIN;
    for (uint32_t l = 0; l < slices->waiting.n; l++) {
        slices->waiting.line[l].at = gsim_index_first(&slices->waiting.line[l].jobs);
        slices->waiting.line[l].unforced = UINT32_MAX;
    }
}

/* The job speaks for those of its line that ask for no fewer GPUs. */
static void note_gang(struct gsim_slices *slices, const struct gsim_ctx *ctx, gsim_slot slot,
                      uint32_t *smallest) {
    if (!gsim_wish_lines_of(&slices->waiting, slot)->is_mixed &&
        ctx->view->jobs.gpus[slot] < *smallest)
        *smallest = ctx->view->jobs.gpus[slot];
}

/* The job lacks GPUs even by force: so do those behind it that ask for no fewer. Lines may have
 * gone by jobs of its rank. */
static void note_unforced(struct gsim_slices *slices, const struct gsim_ctx *ctx, struct pass *pass,
                          gsim_slot slot) {
    int64_t rank = gsim_wish_lines_rank(&slices->waiting, slot);
    if (pass->is_noted)
        note_gang(slices, ctx, slot, &gsim_wish_lines_of(&slices->waiting, slot)->unforced);
    if (!slices->is_first_of_rank || slices->is_first_of_rank(ctx, slot) ||
        pass->unforced_rank == rank)
        return;
    pass->unforced_rank = rank;
    if (slices->waiting.n > 1)
        look_from(slices, rank, gsim_nth(ctx->view, slot) + 1);
}

static bool is_unforced(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                        const struct pass *pass, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot] >= gsim_wish_lines_of(&slices->waiting, slot)->unforced &&
           gsim_wish_lines_rank(&slices->waiting, slot) != pass->unforced_rank;
}

static uint32_t most_idle(const struct gsim_view *view) {
    uint32_t most = 0;
    for (uint32_t node = 0; node < view->cluster.n_nodes; node++) {
        uint32_t idle = gsim_node_idle_gpus(view, node);
        most = idle > most ? idle : most;
    }
    return most;
}

/* Whether some node has enough idle GPUs: no job has to give way there, but memory may lack. */
static bool has_idle_node(const struct gsim_ctx *ctx, struct pass *pass, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    if (view->pool.is_used || view->cluster.n_idle_gpus < view->jobs.gpus[slot])
        return false;
    if (pass->most_idle == UINT32_MAX)
        pass->most_idle = most_idle(view);
    return pass->most_idle >= view->jobs.gpus[slot];
}

/* A job that lacks only memory, on enough GPUs, waits for the jobs paused there, and its failure
 * says nothing about others. */
static bool try_force(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      struct pass *pass, gsim_slot slot) {
    if (is_unforced(slices, ctx, pass, slot))
        return false;
    bool could = has_victims(slices, ctx, slot);
    if (could && slices->will_yield && force_at_home(slices, ctx, plan, slot)) {
        begin_placing(slices, ctx, pass);
        return true;
    }
    could = could && could_fit(slices, ctx, plan, slot);
    if (could && force(slices, ctx, plan, slot)) {
        begin_placing(slices, ctx, pass);
        return true;
    }
    if (pass->is_ample || (!could && !has_idle_node(ctx, pass, slot)))
        note_unforced(slices, ctx, pass, slot);
    return false;
}

static void note_misfit(struct gsim_slices *slices, const struct gsim_ctx *ctx, struct pass *pass,
                        gsim_slot slot) {
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    if (gpus < pass->misfits.smallest && (pass->is_ample || !slices->waits_for_home))
        pass->misfits.smallest = gpus;
    if (pass->is_told_apart && !slices->waits_for_home)
        note_gang(slices, ctx, slot, &gsim_wish_lines_of(&slices->waiting, slot)->unplaced);
}

static bool try_place(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      struct pass *pass, gsim_slot slot) {
    uint32_t gpus = ctx->view->jobs.gpus[slot];
    bool is_hopeless = (pass->misfits.is_size_all && gpus >= pass->misfits.smallest) ||
                       gpus >= gsim_wish_lines_of(&slices->waiting, slot)->unplaced ||
                       (pass->is_counted && gpus > ctx->view->cluster.n_idle_gpus);
    slices->waits_for_home = false;
    bool is_placed = !is_hopeless && place(slices, ctx, plan, slot);
    if (!is_placed)
        note_misfit(slices, ctx, pass, slot);
    return is_placed;
}

/* The first in line of the jobs at home on the node; GSIM_NO_SLOT: none of them goes before the
 * first of all, since that is not worth it. */
static gsim_slot first_at_home(struct gsim_slices *slices, const struct gsim_ctx *ctx,
                               uint32_t node) {
    gsim_slot first = gsim_wish_lines_first(&slices->waiting);
    gsim_slot best = gsim_homes_best(&slices->homes, ctx, &slices->waiting, node);
    if (best == GSIM_NO_SLOT)
        return best;
    int64_t behind = gsim_wish_lines_rank(&slices->waiting, best) -
                     gsim_wish_lines_rank(&slices->waiting, first);
    bool is_worth_it =
        behind <= slices->worth(ctx, best, gsim_homes_saves_ns(&slices->homes, ctx, best));
    return is_worth_it ? best : GSIM_NO_SLOT;
}

/* Jobs at home on this node go before the first in line, if that is worth it. */
static bool serve_home(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       uint32_t node) {
    gsim_slot best = first_at_home(slices, ctx, node);
    if (best == GSIM_NO_SLOT)
        return false;
    bool has_room = gsim_node_idle_gpus(ctx->view, node) >= ctx->view->jobs.gpus[best];
    slices->only_node = node;
    bool is_placed = (has_room && place(slices, ctx, plan, best)) || /* no job gives way */
                     (could_fit(slices, ctx, plan, best) && force(slices, ctx, plan, best));
    slices->only_node = GSIM_NO_NODE;
    if (is_placed)
        gsim_wish_lines_remove(&slices->waiting, best);
    return is_placed;
}

/* The job of the node alone with the longest slice, if that is over; else GSIM_NO_SLOT. */
static gsim_slot first_due_on(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                              const struct gsim_plan *plan, uint32_t node) {
    const struct gsim_node_jobs_part *part = slices->node_jobs.part;
    uint32_t i = slices->node_jobs.node[node].end[0];
    while (i != GSIM_NO_ID && gsim_homes_node(ctx, plan, part[i].slot) != node)
        i = part[i].beside[1];
    return i != GSIM_NO_ID && is_due(slices, ctx, part[i].slot) ? part[i].slot : GSIM_NO_SLOT;
}

/* Lines up nodes where a job goes before the first in line, the one with the longest slice first,
 * of nodes with shorter ones than that job has. */
static void line_up_homes(struct gsim_slices *slices, struct gsim_ctx *ctx,
                          const struct gsim_plan *plan, int64_t key, uint64_t tie) {
    struct gsim_homes *homes = &slices->homes;
    const struct gsim_index *running = &slices->running;
    while (homes->turns.n > 0)
        gsim_index_remove(&homes->turns, gsim_index_first(&homes->turns));
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++) {
        if (homes->first[node] == GSIM_NO_SLOT || homes->tried[node] == homes->n_tries ||
            first_at_home(slices, ctx, node) == GSIM_NO_SLOT)
            continue;
        gsim_slot victim = first_due_on(slices, ctx, plan, node);
        if (victim == GSIM_NO_SLOT)
            continue;
        int64_t own = gsim_index_key(running, victim);
        uint64_t own_tie = gsim_index_tie(running, victim);
        if ((own > key || (own == key && own_tie > tie)) &&
            !gsim_index_insert(&homes->turns, node, own, own_tie))
            gsim_common_no_memory(ctx);
    }
}

/* A wide gang that has waited long needs every job that is due. */
static bool serve_homes(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot first = gsim_wish_lines_first(&slices->waiting);
    struct gsim_homes *homes = &slices->homes;
    bool has_placed = false;
    if (!slices->worth || homes->n == 0 ||
        (ctx->view->jobs.gpus[first] > 1 && is_impatient(slices, ctx, first)))
        return false;
    homes->n_tries++;
    line_up_homes(slices, ctx, plan, INT64_MIN, 0);
    while (homes->turns.n > 0 && slices->waiting.n_jobs > 0) {
        uint32_t node = gsim_index_first(&homes->turns);
        int64_t key = gsim_index_key(&homes->turns, node);
        uint64_t tie = gsim_index_tie(&homes->turns, node);
        homes->tried[node] = homes->n_tries;
        gsim_index_remove(&homes->turns, node);
        if (!serve_home(slices, ctx, plan, node))
            continue;
        has_placed = true;
        if (slices->waiting.n_jobs > 0)
            line_up_homes(slices, ctx, plan, key, tie);
    }
    return has_placed;
}

/* Jobs of this width and more cannot be placed as they are. */
static uint32_t too_wide(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                         const struct pass *pass) {
    uint32_t smallest = pass->misfits.is_size_all ? pass->misfits.smallest : UINT32_MAX;
    uint32_t idle = ctx->view->cluster.n_idle_gpus;
    return gsim_misfits_need_idle(ctx->view, slices->rule) && idle < smallest ? idle + 1 : smallest;
}

/* The first job of the line from here on for which there is no telling yet whether it fits, or fits
 * by force. Where patience ends, each job is looked at. */
static uint32_t candidate(const struct gsim_slices *slices, const struct pass *pass,
                          const struct gsim_wish_line *line, uint32_t wide) {
    uint32_t unplaced = line->unplaced < wide ? line->unplaced : wide;
    uint32_t most = unplaced > line->unforced ? unplaced : line->unforced;
    bool is_tried =
        line->at != GSIM_NO_ID &&
        (slices->patience > 0 || gsim_index_key(&line->jobs, line->at) == pass->unforced_rank);
    return is_tried ? line->at : gsim_index_fitting(&line->jobs, line->at, (int64_t)most - 1);
}

/* The first of all lines. */
static gsim_slot next_candidate(struct gsim_slices *slices, const struct gsim_ctx *ctx,
                                const struct pass *pass) {
    struct gsim_wish_line *best = NULL;
    uint32_t wide = too_wide(slices, ctx, pass);
    for (uint32_t l = 0; l < slices->waiting.n; l++) {
        struct gsim_wish_line *line = &slices->waiting.line[l];
        line->at = candidate(slices, pass, line, wide);
        if (line->at != GSIM_NO_ID &&
            (!best || gsim_wish_lines_is_before(line, line->at, best, best->at)))
            best = line;
    }
    if (!best)
        return GSIM_NO_SLOT;
    gsim_slot slot = gsim_wish_lines_job(&slices->waiting, best, best->at);
    best->at = gsim_index_next(&best->jobs, best->at);
    return slot;
}

/* Whether no GPU is idle, and no job gives way to this one or any behind it. */
static bool is_over(const struct gsim_slices *slices, const struct gsim_ctx *ctx,
                    const struct pass *pass, gsim_slot slot) {
    if (!gsim_common_is_full(ctx->view))
        return false;
    return (pass->is_counted && is_behind_due(slices, slot)) ||
           (!slices->waiting.is_by_wish && slices->waiting.line->unforced == 1 &&
            is_unforced(slices, ctx, pass, slot));
}

/* The jobs behind the one that leaves are looked at again, for it may have left GPUs that it
 * freed. */
static void leave_pass(struct gsim_slices *slices, const struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t rank = gsim_wish_lines_rank(&slices->waiting, slot);
    gsim_wish_lines_remove(&slices->waiting, slot);
    look_from(slices, rank, gsim_nth(ctx->view, slot) + 1);
}

static bool serve_waiting(struct gsim_slices *slices, struct gsim_ctx *ctx,
                          struct gsim_plan *plan) {
    struct pass pass;
    begin_pass(slices, ctx, &pass);
    bool has_placed = false, has_tried_homes = false;
    gsim_slot slot;
    while ((slot = next_candidate(slices, ctx, &pass)) != GSIM_NO_SLOT &&
           !is_over(slices, ctx, &pass, slot)) {
        bool is_placed = try_place(slices, ctx, plan, &pass, slot);
        if (!is_placed && !has_tried_homes) {
            has_tried_homes = true;
            if (serve_homes(slices, ctx, plan)) {
                has_placed = true;
                begin_pass(slices, ctx, &pass);
                continue;
            }
        }
        if (is_placed || try_force(slices, ctx, plan, &pass, slot)) {
            has_placed = true;
            pass.most_idle = UINT32_MAX;
            leave_pass(slices, ctx, slot);
        } else if (is_impatient(slices, ctx, slot)) {
            break;
        }
    }
    return has_placed;
}

/* Jobs that have begun to run since the last decide stand on their nodes. */
static void book_nodes(struct gsim_slices *slices, struct gsim_ctx *ctx,
                       const struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    for (uint32_t i = 0; i < view->changes.n_settled && !view->pool.is_used; i++)
        if (gsim_index_has(&slices->running, view->changes.settled[i]) &&
            !gsim_node_jobs_add(&slices->node_jobs, ctx, plan, &slices->running,
                                view->changes.settled[i]))
            gsim_common_no_memory(ctx);
}

void gsim_slices_decide(struct gsim_slices *slices, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t now = ctx->view->now_ns, next_ns = GSIM_NEVER;
    book_nodes(slices, ctx, plan);
    slices->has_looked = false;
    slices->home_until_ns = GSIM_NEVER;
    bool has_placed = slices->waiting.n_jobs > 0 && serve_waiting(slices, ctx, plan);
    if (slices->waiting.n_jobs == 0)
        return;
    gsim_slot next = gsim_index_seek(&slices->running, now - slices->slice_ns + 1, 0);
    if (next != GSIM_NO_ID)
        next_ns = gsim_slices_end_ns(slices, next);
    gsim_slot first = gsim_index_first(&slices->running);
    /* A job that is due may yield when it has run for longer. */
    bool may_yield_later =
        slices->least_service_ns && first != GSIM_NO_ID && is_due(slices, ctx, first);
    if ((has_placed || may_yield_later) &&
        now + slices->slice_ns < next_ns) /* the placed job may run at once */
        next_ns = now + slices->slice_ns;
    if (slices->home_until_ns < next_ns)
        next_ns = slices->home_until_ns;
    if (next_ns != GSIM_NEVER)
        gsim_plan_wake(plan, next_ns);
}
