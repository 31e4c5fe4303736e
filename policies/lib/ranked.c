/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass over ranked queues that sjf, srtf, srsf and las share.
 *
 * Between events only the ranks of running jobs change. Where they rise, those of one weight rise
 * alike, so an ordered index with the key "rank at time 0" stays sorted without being touched;
 * where they fall, an index of earlier ranks bounds them. A pass tries
 * waiting jobs from the best; a job that does not fit may push out running jobs of worse rank,
 * worst first; of these only jobs on units that it really takes are preempted. */
#include "policies/lib/ranked.h"

#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/settings.h"
#include "policies/lib/taken.h"
#include "sim/base/hints.h"

#include <assert.h>

void gsim_ranked_init(struct gsim_ranked *ranked, struct gsim_ctx *ctx) {
    ranked->rule = gsim_settings_rule(ctx);
    ranked->knows_nodes = gsim_ask_has_wishes(ctx->view) && !ctx->view->pool.is_used &&
                          !gsim_misfits_trial_matters(ranked->rule);
    if (!gsim_wish_lines_init(&ranked->waiting, ctx, ranked->rule) ||
        !gsim_reach_init(&ranked->reach, ctx, ranked->rule) ||
        !gsim_depths_init(&ranked->depths, ctx, &ranked->reach))
        gsim_common_no_memory(ctx);
    ranked->reach.is_strict = true;
}

static int64_t weight_of(const struct gsim_ranked *ranked, const struct gsim_ctx *ctx,
                         gsim_slot slot) {
    return ranked->weight ? ranked->weight(ctx, slot) : 1;
}

static void out_of_memory(struct gsim_ctx *ctx) {
    if (ctx->log->n_errors == 0)
        (void)gsim_no_memory(ctx->log, "ranking jobs");
}

/* NULL when there is no memory. */
GSIM_COLD static struct gsim_rank_group *add_group(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                                                   int64_t weight, uint32_t nodes) {
    struct gsim_rank_group *grown = gsim_arena_room(ctx->arena, ranked->group, ranked->n_groups,
                                                    &ranked->groups_capacity, sizeof *grown);
    if (!grown) {
        out_of_memory(ctx);
        return NULL;
    }
    ranked->group = grown;
    struct gsim_rank_group *group = &ranked->group[ranked->n_groups++];
    gsim_index_init(&group->running, ctx->arena);
    group->weight = weight;
    group->nodes = nodes;
    group->passed = GSIM_NO_SLOT;
    return group;
}

static uint32_t nodes_of(struct gsim_ranked *ranked, const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_rarely(ranked->knows_nodes) ? gsim_reach_nodes_of(&ranked->reach, ctx, slot) : 0;
}

static struct gsim_rank_group *group_of(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                                        gsim_slot slot) {
    int64_t weight = weight_of(ranked, ctx, slot);
    uint32_t nodes = nodes_of(ranked, ctx, slot);
    for (uint32_t g = 0; g < ranked->n_groups; g++)
        if (ranked->group[g].weight == weight && ranked->group[g].nodes == nodes)
            return &ranked->group[g];
    return add_group(ranked, ctx, weight, nodes);
}

/* The request of a job in the unit in which room is counted: shares of a pool, else whole GPUs. */
static int64_t need_of(const struct gsim_view *view, gsim_slot slot) {
    return view->pool.is_used ? (int64_t)view->jobs.gpus[slot] * view->jobs.share_ppm[slot]
                              : view->jobs.gpus[slot];
}

static void book_waiting(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot) {
    int64_t rank = gsim_common_times(ranked->value(ctx, slot), weight_of(ranked, ctx, slot));
    if (!gsim_wish_lines_add(&ranked->waiting, ctx, slot, rank, need_of(ctx->view, slot)))
        out_of_memory(ctx);
}

/* Whether keys are bounds: remaining work falls at any speed, by device and where jobs wait for
 * pages. */
static bool is_bound(const struct gsim_ranked *ranked) {
    return ranked->slope_sign < 0;
}

static int64_t slope(const struct gsim_ranked *ranked) {
    return is_bound(ranked) ? 0 : ranked->slope_sign;
}

/* Whether the order of running jobs of all weights stays as time passes, so that it can be kept. */
static bool has_depths(const struct gsim_ranked *ranked) {
    return ranked->is_preemptive && (slope(ranked) == 0 || !ranked->weight);
}

static void note_depth(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot,
                       int64_t key, int64_t weight) {
    if (has_depths(ranked) &&
        !gsim_depths_note(&ranked->depths, ctx, slot, gsim_common_times(key, weight)))
        out_of_memory(ctx);
}

static void book_running(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_rank_group *group = group_of(ranked, ctx, slot);
    int64_t key = ranked->value(ctx, slot) - slope(ranked) * ctx->view->now_ns;
    if (group && !gsim_index_insert(&group->running, slot, key, gsim_nth(ctx->view, slot)))
        out_of_memory(ctx);
    else if (group)
        note_depth(ranked, ctx, slot, key, group->weight);
}

static void forget_running(struct gsim_ranked *ranked, gsim_slot slot) {
    gsim_depths_forget(&ranked->depths, slot);
    for (uint32_t g = 0; g < ranked->n_groups; g++)
        gsim_index_remove(&ranked->group[g].running, slot);
}

void gsim_ranked_changed(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot) {
    if (gsim_wish_lines_has(&ranked->waiting, slot)) {
        gsim_wish_lines_remove(&ranked->waiting, slot);
        book_waiting(ranked, ctx, slot);
    } else if (ctx->view->jobs.state[slot] == GSIM_RUNNING) {
        forget_running(ranked, slot);
        book_running(ranked, ctx, slot);
    }
    ranked->needs_full_pass = true;
}

void gsim_ranked_completed(struct gsim_ranked *ranked, gsim_slot slot) {
    forget_running(ranked, slot);
    ranked->needs_full_pass = true;
}

static void book_settled(struct gsim_ranked *ranked, struct gsim_ctx *ctx, gsim_slot slot) {
    switch ((enum gsim_state)ctx->view->jobs.state[slot]) {
    case GSIM_RUNNING:
        if (!ranked->is_preemptive)
            break;
        book_running(ranked, ctx, slot);
        /* While the job was loading it could not be preempted: a waiting job may want to do so
         * now. */
        if (ctx->view->jobs.changed_ns[slot] > ranked->decided_ns)
            ranked->needs_full_pass = true;
        break;
    case GSIM_QUEUED:
    case GSIM_PAUSED:
    case GSIM_HELD:
        book_waiting(ranked, ctx, slot);
        ranked->needs_full_pass = true;
        break;
    default: /* done, or on its way to units again */
        break;
    }
}

/* --- ranks that change by themselves ---------------------------------------------------------- */

/* Most jobs keep their place and get their new keys there. The others are taken out, into the list
 * of victims, and inserted again. */
static void rerank_running(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                           struct gsim_rank_group *group) {
    struct gsim_index *running = &group->running;
    const uint32_t *job = ctx->view->jobs.index;
    gsim_slot slot = gsim_index_first(running), kept = GSIM_NO_SLOT, after;
    int64_t key = slot == GSIM_NO_ID ? 0 : ranked->value(ctx, slot), after_key = 0;
    gsim_eviction_begin(&ranked->eviction);
    for (; slot != GSIM_NO_ID; slot = after, key = after_key) {
        after = gsim_index_next(running, slot);
        after_key = after == GSIM_NO_ID ? INT64_MAX : ranked->value(ctx, after);
        int64_t kept_key = kept == GSIM_NO_SLOT ? INT64_MIN : gsim_index_key(running, kept);
        bool is_low = key < kept_key || (key == kept_key && job[slot] < job[kept]);
        bool is_high = key > after_key && after_key > kept_key;
        bool is_out = is_low || is_high ||
                      (key == after_key && after != GSIM_NO_ID && job[slot] > job[after]);
        if (is_out && !gsim_eviction_note(&ranked->eviction, ctx, slot, ranked->preemption))
            return;
        if (is_out) {
            gsim_index_remove(running, slot);
        } else {
            gsim_index_set_key(running, slot, key);
            note_depth(ranked, ctx, slot, key, group->weight);
            kept = slot;
        }
    }
    for (uint32_t v = 0; v < ranked->eviction.n; v++)
        book_running(ranked, ctx, ranked->eviction.victims[v].slot);
}

/* A job that moves backwards is met twice, and stays. */
static void rerank_waiting(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                           const struct gsim_wish_line *line) {
    uint32_t after, id = gsim_index_first(&line->jobs);
    for (; id != GSIM_NO_ID; id = after) {
        gsim_slot slot = gsim_wish_lines_job(&ranked->waiting, line, id);
        int64_t rank = gsim_common_times(ranked->value(ctx, slot), weight_of(ranked, ctx, slot));
        after = gsim_index_next(&line->jobs, id);
        if (rank == gsim_index_key(&line->jobs, id))
            continue;
        gsim_wish_lines_remove(&ranked->waiting, slot);
        book_waiting(ranked, ctx, slot);
    }
}

void gsim_ranked_rerank(struct gsim_ranked *ranked, struct gsim_ctx *ctx, bool is_all) {
    for (uint32_t g = 0; g < ranked->n_groups; g++)
        rerank_running(ranked, ctx, &ranked->group[g]);
    for (uint32_t l = 0; is_all && l < ranked->waiting.n; l++)
        rerank_waiting(ranked, ctx, &ranked->waiting.line[l]);
    ranked->needs_full_pass = true;
}

/* --- victims ---------------------------------------------------------------------------------- */

/* The last job of a group that has not been passed over. */
static gsim_slot last_left(const struct gsim_rank_group *group) {
    return group->passed == GSIM_NO_SLOT ? gsim_index_last(&group->running)
                                         : gsim_index_prev(&group->running, group->passed);
}

/* The worst job of a group: the last by its bound that is still last by its present value. */
static gsim_slot last_of(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                         struct gsim_rank_group *group) {
    gsim_slot last = last_left(group);
    while (last != GSIM_NO_SLOT && is_bound(ranked)) {
        int64_t value = ranked->value(ctx, last);
        if (value == gsim_index_key(&group->running, last))
            break;
        gsim_index_remove(&group->running, last);
        gsim_common_insert(ctx, &group->running, last, value);
        note_depth(ranked, ctx, last, value, group->weight);
        last = last_left(group);
    }
    return last;
}

/* The nodes on which a victim has to be; ANYWHERE: on any. */
#define ANYWHERE UINT32_MAX

/* The worst running job that may be on these nodes and its rank, of equal ones the last in the
 * trace; GSIM_NO_SLOT when none runs. */
static gsim_slot worst_running(struct gsim_ranked *ranked, struct gsim_ctx *ctx, uint32_t nodes,
                               int64_t *rank) {
    const uint32_t *job = ctx->view->jobs.index;
    gsim_slot worst = GSIM_NO_SLOT;
    for (uint32_t g = 0; g < ranked->n_groups; g++) {
        struct gsim_rank_group *group = &ranked->group[g];
        if (nodes != ANYWHERE &&
            gsim_reach_meet(&ranked->reach, nodes, group->nodes) == GSIM_MEET_NONE)
            continue;
        gsim_slot last = last_of(ranked, ctx, group);
        if (last == GSIM_NO_SLOT)
            continue;
        int64_t value = gsim_index_key(&group->running, last) + slope(ranked) * ctx->view->now_ns;
        int64_t group_rank = gsim_common_times(value, group->weight);
        if (worst == GSIM_NO_SLOT || group_rank > *rank ||
            (group_rank == *rank && job[last] > job[worst])) {
            worst = last;
            *rank = group_rank;
        }
    }
    return worst;
}

/* Whether a victim of this rank gives way to the waiting job: its rank is far enough behind. */
static bool gives_way(const struct gsim_ranked *ranked, const struct gsim_ctx *ctx,
                      gsim_slot victim, int64_t victim_rank, gsim_slot slot, int64_t rank) {
    const uint32_t *job = ctx->view->jobs.index;
    if (victim_rank != rank + ranked->slack_rank)
        return victim_rank > rank + ranked->slack_rank;
    return ranked->breaks_ties && job[victim] > job[slot];
}

/* The worst running job, if its rank is so far behind the waiting job's that it gives way. */
static gsim_slot worst_for(struct gsim_ranked *ranked, struct gsim_ctx *ctx, uint32_t nodes,
                           gsim_slot slot, int64_t rank) {
    int64_t worst_rank = 0;
    gsim_slot worst = worst_running(ranked, ctx, nodes, &worst_rank);
    return worst != GSIM_NO_SLOT && gives_way(ranked, ctx, worst, worst_rank, slot, rank)
               ? worst
               : GSIM_NO_SLOT;
}

/* The nodes that the waiting job may use, where running jobs may be on others. */
static uint32_t sought_nodes(struct gsim_ranked *ranked, const struct gsim_ctx *ctx,
                             gsim_slot slot) {
    return ranked->knows_nodes ? nodes_of(ranked, ctx, slot) : ANYWHERE;
}

/* How many jobs of the group are worth pushing out for a job that seeks these nodes. */
static enum gsim_reach_meeting meet(struct gsim_ranked *ranked, uint32_t nodes,
                                    const struct gsim_rank_group *group) {
    return nodes == ANYWHERE ? GSIM_MEET_ALL : gsim_reach_meet(&ranked->reach, nodes, group->nodes);
}

/* Counts the jobs of a group that would give way, worst first, until they are enough. Of equal
 * ranks some might not, but all are counted. */
static bool is_enough_of(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                         const struct gsim_plan *plan, const struct gsim_rank_group *group,
                         enum gsim_reach_meeting meeting, gsim_slot waiting, int64_t rank) {
    int64_t shift = slope(ranked) * ctx->view->now_ns;
    gsim_slot slot = gsim_index_last(&group->running);
    for (; slot != GSIM_NO_ID && !gsim_reach_is_enough(&ranked->reach, ctx);
         slot = gsim_index_prev(&group->running, slot)) {
        int64_t value = gsim_index_key(&group->running, slot) + shift;
        if (gsim_common_times(value, group->weight) < rank + ranked->slack_rank)
            break;
        if (meeting == GSIM_MEET_ALL || gsim_reach_helps(ctx, plan, waiting, slot))
            gsim_reach_add(&ranked->reach, ctx, plan, slot);
    }
    return gsim_reach_is_enough(&ranked->reach, ctx);
}

/* Whether the GPUs of all jobs that would give way are enough. Where keys are bounds, no job is
 * worse than its key. */
static bool count_of(struct gsim_ranked *ranked, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     uint32_t nodes, gsim_slot slot, int64_t rank) {
    gsim_reach_begin(&ranked->reach, ctx, slot);
    for (uint32_t g = 0; g < ranked->n_groups; g++) {
        enum gsim_reach_meeting meeting = meet(ranked, nodes, &ranked->group[g]);
        if (meeting != GSIM_MEET_NONE &&
            is_enough_of(ranked, ctx, plan, &ranked->group[g], meeting, slot, rank))
            return true;
    }
    return false;
}

static bool could_fit(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                      const struct gsim_plan *plan, uint32_t nodes, gsim_slot slot, int64_t rank) {
    int64_t depth = rank + ranked->slack_rank - slope(ranked) * ctx->view->now_ns;
    enum gsim_depths_answer answer =
        has_depths(ranked)
            ? gsim_depths_ask(&ranked->depths, ctx, plan, &ranked->reach, slot, depth)
            : GSIM_DEPTHS_TO_COUNT;
    return answer == GSIM_DEPTHS_TO_COUNT ? count_of(ranked, ctx, plan, nodes, slot, rank)
                                          : answer == GSIM_DEPTHS_ENOUGH;
}

static void leave_out(struct gsim_ranked *ranked, gsim_slot victim) {
    for (uint32_t g = 0; g < ranked->n_groups; g++)
        if (gsim_index_has(&ranked->group[g].running, victim))
            ranked->group[g].passed = victim;
}

static void look_at_all_again(struct gsim_ranked *ranked) {
    for (uint32_t g = 0; g < ranked->n_groups; g++)
        ranked->group[g].passed = GSIM_NO_SLOT;
}

/* Preempts a worse job, or notes one that would give way in vain, which runs on in its place among
 * the others and is spared. */
static bool push_out_one(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan,
                         gsim_slot victim, bool is_near) {
    if (!is_near) {
        leave_out(ranked, victim);
        return gsim_eviction_note(&ranked->eviction, ctx, victim, ranked->preemption);
    }
    gsim_reach_add(&ranked->reach, ctx, plan, victim);
    if (!gsim_eviction_push_out(&ranked->eviction, ctx, plan, victim, ranked->preemption))
        return false;
    forget_running(ranked, victim);
    return true;
}

/* Preempts worse jobs, worst first, until the waiting job fits. */
static bool push_out(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     uint32_t nodes, gsim_slot slot, int64_t rank) {
    gsim_eviction_begin(&ranked->eviction);
    gsim_reach_begin(&ranked->reach, ctx, slot);
    for (;;) {
        gsim_slot victim = worst_for(ranked, ctx, nodes, slot, rank);
        if (victim == GSIM_NO_SLOT)
            return false;
        bool is_near = nodes == ANYWHERE || gsim_reach_helps(ctx, plan, slot, victim);
        if (!push_out_one(ranked, ctx, plan, victim, is_near))
            return false;
        if (is_near && gsim_reach_is_enough(&ranked->reach, ctx) &&
            gsim_settings_place(ctx, plan, slot, ranked->rule))
            return true;
    }
}

/* Victims from the first on run on, those that were passed over where they are. */
static void book_again(struct gsim_ranked *ranked, struct gsim_ctx *ctx, uint32_t first,
                       uint32_t n) {
    for (uint32_t v = first; v < first + n; v++) {
        gsim_slot victim = ranked->eviction.victims[v].slot;
        if (!gsim_index_has(&group_of(ranked, ctx, victim)->running, victim))
            book_running(ranked, ctx, victim);
    }
}

static bool place_by_force(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan,
                           gsim_slot slot, int64_t rank) {
    uint32_t mark = gsim_plan_mark(plan), nodes = sought_nodes(ranked, ctx, slot);
    if (!could_fit(ranked, ctx, plan, nodes, slot, rank))
        return false;
    gsim_depths_changed(&ranked->depths);
    bool is_placed = push_out(ranked, ctx, plan, nodes, slot, rank);
    look_at_all_again(ranked);
    if (is_placed) {
        gsim_eviction_spare(&ranked->eviction, ctx, plan, slot, mark, &mark);
        book_again(ranked, ctx, ranked->eviction.n, ranked->eviction.n_spared);
    } else {
        gsim_plan_rollback(plan, mark);
        book_again(ranked, ctx, 0, ranked->eviction.n);
    }
    return is_placed;
}

/* --- the pass --------------------------------------------------------------------------------- */

struct pass {
    struct gsim_ranked *ranked;
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    struct gsim_misfits misfits;
    uint32_t smallest_unforced; /* the smallest gang that even force did not place */
    bool is_by_wish; /* lines note which gangs of their wish found no room */
    bool is_force_over; /* no job from here on could push out any running job */
};

/* Whether this waiting job could push out any running job. If it could not, no later job could:
 * ranks only grow worse in a pass, and fewer jobs run. */
static bool may_force(struct pass *p, gsim_slot slot, int64_t rank) {
    uint32_t gpus = p->ctx->view->jobs.gpus[slot];
    if (p->is_force_over || gpus >= p->smallest_unforced ||
        gpus >= gsim_wish_lines_of(&p->ranked->waiting, slot)->unforced)
        return false;
    p->is_force_over = worst_for(p->ranked, p->ctx, ANYWHERE, slot, rank) == GSIM_NO_SLOT;
    return !p->is_force_over;
}

/* Whether a gang speaks for those of its line that are no narrower. */
static bool speaks_for_line(const struct pass *p, const struct gsim_wish_line *line) {
    return p->is_by_wish && !line->is_mixed;
}

/* Places the job unless it is known not to fit. */
static bool try_place(struct pass *p, gsim_slot slot) {
    struct gsim_wish_line *line = gsim_wish_lines_of(&p->ranked->waiting, slot);
    if (p->ctx->view->jobs.gpus[slot] >= line->unplaced)
        return false;
    if (gsim_misfits_place(&p->misfits, p->ctx, p->plan, slot, p->ranked->rule)) {
        gsim_depths_changed(&p->ranked->depths);
        return true;
    }
    if (speaks_for_line(p, line))
        line->unplaced = p->ctx->view->jobs.gpus[slot];
    return false;
}

/* The job may leave a part of the GPUs that it freed: of each line the jobs that stand behind it
 * are looked at again. */
static void note_forced(struct pass *p, int64_t rank, uint64_t nth) {
    struct gsim_wish_lines *waiting = &p->ranked->waiting;
    p->misfits.smallest = UINT32_MAX;
    for (uint32_t l = 0; l < waiting->n; l++) {
        struct gsim_wish_line *line = &waiting->line[l];
        line->unplaced = UINT32_MAX;
        if (p->is_by_wish)
            line->at = gsim_index_seek(&line->jobs, rank, nth);
    }
}

/* Even force did not place the job, nor any gang of its line that needs more than the jobs that
 * would give way leave: of the jobs behind it, with worse ranks, no others do. */
static void note_unforced(struct pass *p, gsim_slot slot) {
    struct gsim_wish_line *line = gsim_wish_lines_of(&p->ranked->waiting, slot);
    uint32_t gpus = gsim_reach_beyond(&p->ranked->reach);
    if (p->misfits.is_size_all && gpus < p->smallest_unforced)
        p->smallest_unforced = gpus;
    if (speaks_for_line(p, line) && gpus < line->unforced)
        line->unforced = gpus;
}

/* For a waiting job that found no room. */
static void try_by_force(struct pass *p, gsim_slot slot) {
    int64_t rank = gsim_wish_lines_rank(&p->ranked->waiting, slot);
    if (!may_force(p, slot, rank))
        return;
    if (place_by_force(p->ranked, p->ctx, p->plan, slot, rank)) {
        gsim_wish_lines_remove(&p->ranked->waiting, slot);
        note_forced(p, rank, gsim_nth(p->ctx->view, slot));
    } else
        note_unforced(p, slot);
}

static void try_job(struct pass *p, gsim_slot slot) {
    if (try_place(p, slot))
        gsim_wish_lines_remove(&p->ranked->waiting, slot);
    else
        try_by_force(p, slot);
}

/* Whether no job behind this one can be placed: no GPU is idle, and no running job is worse. */
static bool is_over(const struct pass *p, gsim_slot slot) {
    if (!gsim_common_is_full(p->ctx->view) && !(p->misfits.is_size_all && p->misfits.smallest == 1))
        return false;
    int64_t rank = gsim_wish_lines_rank(&p->ranked->waiting, slot);
    return p->is_force_over || worst_for(p->ranked, p->ctx, ANYWHERE, slot, rank) == GSIM_NO_SLOT;
}

/* The most GPUs (or shares of a pool) with which a job could still be placed. */
static int64_t room(const struct pass *p) {
    const struct gsim_view *view = p->ctx->view;
    if (view->pool.is_used)
        return view->pool.free_ppm;
    if (!p->misfits.is_size_all)
        return INT64_MAX;
    return p->misfits.smallest <= view->cluster.n_idle_gpus ? p->misfits.smallest - 1
                                                            : view->cluster.n_idle_gpus;
}

/* The most GPUs of a job for which there is no telling yet whether it fits, or fits by force. */
static int64_t most_by_force(const struct pass *p) {
    uint32_t most =
        p->misfits.smallest > p->smallest_unforced ? p->misfits.smallest : p->smallest_unforced;
    return p->misfits.is_size_all && !p->ctx->view->pool.is_used ? (int64_t)most - 1 : INT64_MAX;
}

/* The first member of the line from here on that is to be tried; jobs that need more than the room
 * are skipped at no cost. */
static uint32_t candidate(const struct pass *p, const struct gsim_wish_line *line) {
    const struct gsim_wish_lines *waiting = &p->ranked->waiting;
    bool is_room_all = p->is_force_over || line->unplaced > line->unforced;
    uint32_t gang = is_room_all ? line->unplaced : line->unforced;
    int64_t most = p->is_force_over ? room(p) : most_by_force(p);
    most = p->is_by_wish && gang <= most ? (int64_t)gang - 1 : most;
    uint32_t id = gsim_index_fitting(&line->jobs, line->at, most);
    while (p->is_force_over && id != GSIM_NO_ID &&
           gsim_misfits_has(&p->misfits, p->ctx->view, gsim_wish_lines_job(waiting, line, id))) {
        id = gsim_index_next(&line->jobs, id);
        if (id != GSIM_NO_ID && gsim_index_size(&line->jobs, id) > most)
            id = gsim_index_fitting(&line->jobs, id, most);
    }
    return id;
}

/* The first job of all lines that is to be tried, by rank. */
static gsim_slot next_candidate(const struct pass *p) {
    const struct gsim_wish_lines *waiting = &p->ranked->waiting;
    struct gsim_wish_line *best = NULL;
    for (uint32_t l = 0; l < waiting->n; l++) {
        struct gsim_wish_line *line = &waiting->line[l];
        line->at = candidate(p, line);
        if (line->at != GSIM_NO_ID &&
            (!best || gsim_wish_lines_is_before(line, line->at, best, best->at)))
            best = line;
    }
    if (!best)
        return GSIM_NO_SLOT;
    gsim_slot slot = gsim_wish_lines_job(waiting, best, best->at);
    best->at = gsim_index_next(&best->jobs, best->at);
    return slot;
}

static void pass_over_all(struct pass *p) {
    struct gsim_wish_lines *waiting = &p->ranked->waiting;
    for (uint32_t l = 0; l < waiting->n; l++)
        waiting->line[l].at = gsim_index_first(&waiting->line[l].jobs);
    for (gsim_slot slot = next_candidate(p); slot != GSIM_NO_SLOT && !is_over(p, slot);
         slot = next_candidate(p))
        try_job(p, slot);
}

/* Tries arrivals only: for the others nothing has improved since they were last tried. */
static void pass_over_arrivals(struct pass *p) {
    const struct gsim_view *view = p->ctx->view;
    if (view->changes.n_arrived > 1) { /* several: in order of rank, among all */
        pass_over_all(p);
        return;
    }
    for (uint32_t i = 0; i < view->changes.n_arrived; i++)
        try_job(p, view->changes.arrived[i]);
}

static void begin_pass(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan,
                       struct pass *p) {
    enum gsim_keep keep = ranked->preemption.keep;
    bool keeps_paused =
        ranked->is_preemptive && (keep == GSIM_KEEP_RESIDENT || keep == GSIM_KEEP_PAGEABLE);
    gsim_depths_changed(&ranked->depths);
    p->ranked = ranked;
    p->ctx = ctx;
    p->plan = plan;
    p->misfits = gsim_misfits_none(ctx->view, ranked->rule, keeps_paused);
    p->smallest_unforced = UINT32_MAX;
    p->is_force_over = !ranked->is_preemptive;
    p->is_by_wish = ranked->waiting.is_by_wish && p->misfits.is_size_by_wish &&
                    !gsim_misfits_trial_matters(ranked->rule);
    for (uint32_t l = 0; l < ranked->waiting.n; l++)
        ranked->waiting.line[l].unplaced = ranked->waiting.line[l].unforced = UINT32_MAX;
}

static bool is_for_all(const struct gsim_ranked *ranked, const struct gsim_view *view) {
    return ranked->needs_full_pass || view->cluster.n_repairs != ranked->n_repairs;
}

GSIM_APART static void pass_over(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                                 struct gsim_plan *plan) {
    struct pass pass;
    begin_pass(ranked, ctx, plan, &pass);
    if (is_for_all(ranked, ctx->view))
        pass_over_all(&pass);
    else
        pass_over_arrivals(&pass);
}

/* Whether the pass is over one job that has just arrived, and has no other beside it. */
static bool is_over_one(const struct gsim_ranked *ranked, const struct gsim_view *view) {
    return ranked->waiting.n_jobs == 0 && !ranked->waiting.is_by_wish &&
           view->changes.n_arrived == 1 && !is_for_all(ranked, view);
}

/* Mostly the job finds room, and need not be booked as one that waits. */
GSIM_APART static void pass_over_one(struct gsim_ranked *ranked, struct gsim_ctx *ctx,
                                     struct gsim_plan *plan, gsim_slot slot) {
    struct pass pass;
    begin_pass(ranked, ctx, plan, &pass);
    if (gsim_misfits_place(&pass.misfits, ctx, plan, slot, ranked->rule))
        return;
    book_waiting(ranked, ctx, slot);
    if (gsim_wish_lines_has(&ranked->waiting, slot))
        try_by_force(&pass, slot);
}

/* A node that failed has lost the memory of jobs that wait, and with it what they had done since
 * their last checkpoints. */
GSIM_APART static void rebook_waiting(struct gsim_ranked *ranked, struct gsim_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++) {
        gsim_slot slot = ctx->view->jobs.active[i];
        if (!gsim_wish_lines_has(&ranked->waiting, slot))
            continue;
        gsim_wish_lines_remove(&ranked->waiting, slot);
        book_waiting(ranked, ctx, slot);
    }
    ranked->n_failures = ctx->view->cluster.n_failures;
    ranked->needs_full_pass = true;
}

void gsim_ranked_decide(struct gsim_ranked *ranked, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    const struct gsim_view *view = ctx->view;
    if (gsim_rarely(view->cluster.n_failures != ranked->n_failures))
        rebook_waiting(ranked, ctx);
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        book_settled(ranked, ctx, view->changes.settled[i]);
    bool is_one = is_over_one(ranked, view);
    for (uint32_t i = 0; i < view->changes.n_arrived && !is_one; i++)
        book_waiting(ranked, ctx, view->changes.arrived[i]);
    if (ctx->status != GSIM_OK || gsim_arena_has_failed(ctx->arena))
        return;
    if (is_one)
        pass_over_one(ranked, ctx, plan, view->changes.arrived[0]);
    else if (ranked->waiting.n_jobs > 0)
        pass_over(ranked, ctx, plan);
    ranked->needs_full_pass = false;
    ranked->n_repairs = view->cluster.n_repairs;
    ranked->decided_ns = view->now_ns;
}
