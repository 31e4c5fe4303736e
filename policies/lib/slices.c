/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices of time for gangs on a cluster, which suspend and adaptive share (policies/lib/slices.h).
 * A decide costs the jobs that wait and fit, and the jobs that run and are due; a job that is due
 * but not needed is left alone. */

#include "policies/lib/slices.h"
#include "policies/lib/common.h"
#include "policies/lib/homes.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
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
    bool is_placed = slices->only_node != GSIM_NO_NODE &&
                     gsim_slices_could_fit(slices, ctx, plan, slot) &&
                     gsim_slices_force(slices, ctx, plan, slot);
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
    bool could = gsim_slices_has_victims(slices, ctx, slot);
    if (could && slices->will_yield && force_at_home(slices, ctx, plan, slot)) {
        begin_placing(slices, ctx, pass);
        return true;
    }
    could = could && gsim_slices_could_fit(slices, ctx, plan, slot);
    if (could && gsim_slices_force(slices, ctx, plan, slot)) {
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
    bool is_placed = !is_hopeless && gsim_slices_place(slices, ctx, plan, slot);
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
    bool is_placed =
        (has_room && gsim_slices_place(slices, ctx, plan, best)) || /* no job gives way */
        (gsim_slices_could_fit(slices, ctx, plan, best) &&
         gsim_slices_force(slices, ctx, plan, best));
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
    return i != GSIM_NO_ID && gsim_slices_is_due(slices, ctx, part[i].slot) ? part[i].slot
                                                                            : GSIM_NO_SLOT;
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
    return (pass->is_counted && gsim_slices_is_behind_due(slices, slot)) ||
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
        slices->least_service_ns && first != GSIM_NO_ID && gsim_slices_is_due(slices, ctx, first);
    if ((has_placed || may_yield_later) &&
        now + slices->slice_ns < next_ns) /* the placed job may run at once */
        next_ns = now + slices->slice_ns;
    if (slices->home_until_ns < next_ns)
        next_ns = slices->home_until_ns;
    if (next_ns != GSIM_NEVER)
        gsim_plan_wake(plan, next_ns);
}
