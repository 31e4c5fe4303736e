/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY backfilling (Lifka, "The ANL/IBM SP scheduling system", 1995) over any placement rule.
 *
 * The time at which the head will fit is found by trying: in a plan that is rolled back, jobs end
 * one after the other, by their limits, until the head can be placed. That is its reservation.
 * Whether a later job delays it is found by another trial: with that job placed, does the head
 * still fit then? So "uses none of the reserved units" needs no notion of its own, whatever the
 * placement rule.
 *
 * Jobs that this very plan has placed count as running from now on, and so does a job that is still
 * loading. A job that is past its limit counts as ending now, with all others that are. */
#include "policies/lib/easy.h"

#include "policies/lib/common.h"
#include "policies/lib/misfits.h"
#include "policies/lib/reach.h"
#include "policies/lib/settings.h"
#include "policies/lib/skip.h"

#include <assert.h>

/* A job that the plan under way has placed. */
struct gsim_easy_placed {
    gsim_slot slot;
    int64_t end_ns;
    uint32_t first_unit, n_units; /* in easy->units; none in a pool */
};

/* A job of some kind was last found to have no room when that many changes had freed GPUs, and to
 * keep the head from its reservation in that state of the units. Where GPUs are all that can be
 * missing, the next job of this kind has no room either until GPUs are freed: jobs that start take
 * more of them. It would get those units, too, as long as nothing is placed, and keep the head from
 * them as well; a job that is placed may turn it to other units. */
struct gsim_easy_failed {
    uint64_t no_room, no_reservation;
};

/* One pass; what all its steps need. */
struct pass {
    struct gsim_easy *easy;
    struct gsim_ctx *ctx;
    struct gsim_plan *plan;
    uint32_t start; /* the plan before the pass */
    struct gsim_misfits hopeless; /* gangs that do not fit even if all others have ended */
    gsim_slot head; /* GSIM_NO_SLOT: every job so far has been placed, or holds no job back */
    int64_t reserved_ns; /* when the head starts at the latest */
    /* Jobs may not run everywhere, and a trial of the head does not change what the next one
     * finds: jobs on nodes that the head may not use are left out of its trials. */
    bool is_apart;
};

/* Room to remember trials of all kinds of waiting jobs. Nothing is remembered where a trial matters
 * to the next one. */
static bool reserve_failed(struct gsim_easy *easy, struct gsim_arena *arena) {
    if (easy->failed_capacity >= easy->waiting.n_kinds || gsim_misfits_trial_matters(easy->rule))
        return true;
    uint32_t was = easy->failed_capacity, capacity = easy->waiting.kinds_capacity;
    struct gsim_easy_failed *failed =
        gsim_arena_grow(arena, easy->failed, was * sizeof *failed, capacity * sizeof *failed);
    if (!failed)
        return false;
    easy->failed = failed;
    easy->failed_capacity = capacity;
    return true;
}

enum gsim_status gsim_easy_init(struct gsim_easy *easy, struct gsim_ctx *ctx, const char *policy,
                                uint32_t n_groups, bool plans) {
    easy->rule = gsim_settings_rule(ctx);
    easy->plans = plans;
    easy->n_states = easy->n_freed = 1;
    easy->head = GSIM_NO_SLOT;
    easy->reach.is_strict = true;
    if (!gsim_waiting_init(&easy->waiting, ctx->arena, n_groups) ||
        (plans && !gsim_reach_init(&easy->reach, ctx, easy->rule)))
        return gsim_no_memory(ctx->log, "backfilling");
    return gsim_time_limits_init(&easy->limits, ctx, policy, plans);
}

/* --- remembering what the plan has placed ---------------------------------------------------- */

static bool reserve_placed(struct gsim_easy *easy, struct gsim_arena *arena) {
    struct gsim_easy_placed *placed = gsim_arena_room(arena, easy->placed, easy->n_placed,
                                                      &easy->placed_capacity, sizeof *placed);
    easy->placed = placed ? placed : easy->placed;
    return placed != NULL;
}

static bool reserve_units(struct gsim_easy *easy, struct gsim_arena *arena, uint32_t n) {
    if (n <= easy->units_capacity)
        return true;
    struct gsim_unit *units =
        gsim_arena_grow_raw(arena, easy->units, 2 * (size_t)n * sizeof *units);
    if (!units)
        return false;
    easy->units = units;
    easy->units_capacity = 2 * n;
    return true;
}

static bool remember(const struct pass *p, gsim_slot slot) {
    struct gsim_easy *easy = p->easy;
    const struct gsim_unit *units;
    uint32_t n_units = gsim_plan_units(p->plan, slot, &units);
    if (!reserve_placed(easy, p->ctx->arena) ||
        !reserve_units(easy, p->ctx->arena, easy->n_units + n_units)) {
        (void)gsim_no_memory(p->ctx->log, "backfilling");
        return false;
    }
    for (uint32_t u = 0; u < n_units; u++)
        easy->units[easy->n_units + u] = units[u];
    easy->placed[easy->n_placed++] =
        (struct gsim_easy_placed){.slot = slot,
                                  .end_ns = p->ctx->view->now_ns + gsim_time_limit_ns(p->ctx, slot),
                                  .first_unit = easy->n_units,
                                  .n_units = n_units};
    easy->n_units += n_units;
    return true;
}

static void forget_last(struct gsim_easy *easy) {
    easy->n_units = easy->placed[--easy->n_placed].first_unit;
}

/* Places jobs that end after end_ns again, on their old units. */
static void place_again(const struct pass *p, int64_t end_ns) {
    const struct gsim_easy *easy = p->easy;
    for (uint32_t i = 0; i < easy->n_placed; i++) {
        const struct gsim_easy_placed *placed = &easy->placed[i];
        if (placed->end_ns <= end_ns)
            continue;
        bool is_back = placed->n_units
                           ? gsim_plan_place_on(p->plan, placed->slot,
                                                &easy->units[placed->first_unit], placed->n_units)
                           : gsim_settings_place(p->ctx, p->plan, placed->slot, easy->rule);
        assert(is_back);
        (void)is_back;
    }
}

/* --- trials ----------------------------------------------------------------------------------- */

/* The position of a trial in the order of ends: the next running job, and the next job that is on
 * its way to its GPUs. */
struct cursor {
    gsim_slot running, coming;
};

static struct cursor first_end(const struct pass *p) {
    return (struct cursor){gsim_index_first(&p->easy->limits.ending),
                           gsim_index_first(&p->easy->limits.coming)};
}

/* A limit begins when the job runs: now at the soonest. */
static int64_t coming_end_ns(const struct pass *p, gsim_slot slot) {
    return slot == GSIM_NO_ID
               ? GSIM_NEVER
               : p->ctx->view->now_ns + gsim_index_key(&p->easy->limits.coming, slot);
}

static int64_t running_end_ns(const struct pass *p, gsim_slot slot) {
    return slot == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(&p->easy->limits.ending, slot);
}

static int64_t next_end_ns(const struct pass *p, const struct cursor *at) {
    int64_t running_ns = running_end_ns(p, at->running), coming_ns = coming_end_ns(p, at->coming);
    return running_ns < coming_ns ? running_ns : coming_ns;
}

/* Whether a job that holds GPUs in the plan plays a part in trials of the head. */
static bool is_near(const struct pass *p, gsim_slot head, gsim_slot slot) {
    return !p->is_apart || gsim_reach_helps(p->ctx, p->plan, head, slot);
}

/* Returns whether this makes a difference to the head. */
static bool end_next(const struct pass *p, gsim_slot head, struct cursor *at) {
    bool runs = running_end_ns(p, at->running) <= coming_end_ns(p, at->coming);
    gsim_slot slot = runs ? at->running : at->coming;
    if (runs)
        at->running = gsim_index_next(&p->easy->limits.ending, slot);
    else
        at->coming = gsim_index_next(&p->easy->limits.coming, slot);
    if (!is_near(p, head, slot))
        return false;
    (void)gsim_plan_suppose_over(p->plan, slot);
    return true;
}

/* Imagines the world of the head when all limits up to end_ns have passed; returns the position of
 * the next end. */
static struct cursor imagine(const struct pass *p, gsim_slot head, int64_t end_ns) {
    gsim_plan_rollback(p->plan, p->start);
    struct cursor at = first_end(p);
    while (next_end_ns(p, &at) <= end_ns)
        (void)end_next(p, head, &at);
    place_again(p, end_ns);
    return at;
}

static void back_to_now(const struct pass *p) {
    gsim_plan_rollback(p->plan, p->start);
    place_again(p, INT64_MIN);
}

static int64_t next_placed_end(const struct gsim_easy *easy, int64_t after_ns) {
    int64_t next = GSIM_NEVER;
    for (uint32_t i = 0; i < easy->n_placed; i++)
        if (easy->placed[i].end_ns > after_ns && easy->placed[i].end_ns < next)
            next = easy->placed[i].end_ns;
    return next;
}

static bool head_fits(const struct pass *p, gsim_slot head) {
    const struct gsim_view *view = p->ctx->view;
    if (view->jobs.share_ppm[head] == GSIM_PPM && view->cluster.n_idle_gpus < view->jobs.gpus[head])
        return false;
    return gsim_settings_place(p->ctx, p->plan, head, p->easy->rule);
}

/* Whether a count of GPUs tells of most ends that the head does not fit yet: a trial of the head
 * changes nothing for the next one, and the head is a gang of whole GPUs. */
static bool counts(const struct pass *p, gsim_slot head) {
    const struct gsim_view *view = p->ctx->view;
    return p->easy->failed && !view->pool.is_used && view->jobs.share_ppm[head] == GSIM_PPM;
}

static void begin_count(const struct pass *p, gsim_slot head) {
    if (counts(p, head))
        gsim_reach_begin(&p->easy->reach, p->ctx, head);
}

/* One more job ends; whether the head may fit by that. */
static bool end_counted(const struct pass *p, gsim_slot head, struct cursor *at) {
    struct gsim_reach *reach = &p->easy->reach;
    bool runs = running_end_ns(p, at->running) <= coming_end_ns(p, at->coming);
    if (counts(p, head) && is_near(p, head, runs ? at->running : at->coming))
        gsim_reach_add(reach, p->ctx, p->plan, runs ? at->running : at->coming);
    return end_next(p, head, at) && (!counts(p, head) || gsim_reach_is_enough(reach, p->ctx));
}

/* The earliest end at which the head, which does not fit now, fits; GSIM_NEVER when it does not fit
 * even if all jobs have ended. */
static int64_t find_end(const struct pass *p, gsim_slot head) {
    struct cursor at = first_end(p);
    int64_t end_ns = INT64_MIN, placed_ns = next_placed_end(p->easy, end_ns);
    bool is_found = false;
    begin_count(p, head);
    while (!is_found) {
        int64_t next_ns = next_end_ns(p, &at);
        if (next_ns == GSIM_NEVER && placed_ns == GSIM_NEVER)
            break;
        if (next_ns < placed_ns) {
            end_ns = next_ns;
            is_found = end_counted(p, head, &at) && head_fits(p, head);
        } else { /* jobs of this plan can only be left out from the start */
            end_ns = placed_ns;
            at = imagine(p, head, end_ns);
            placed_ns = next_placed_end(p->easy, end_ns);
            is_found = head_fits(p, head);
            begin_count(p, head);
        }
    }
    back_to_now(p);
    return is_found ? end_ns : GSIM_NEVER;
}

/* Whether the head has the reservation that it had: since then no job ended, and those that started
 * behind the head do not delay it. */
static bool is_still_reserved(const struct pass *p, gsim_slot head) {
    return head == p->easy->head && p->easy->n_placed == 0 && p->easy->failed &&
           p->hopeless.is_size_by_wish;
}

/* When the head starts at the latest; GSIM_NEVER: it has no reservation. */
static int64_t reserve(const struct pass *p, gsim_slot head) {
    struct gsim_easy *easy = p->easy;
    bool is_still = is_still_reserved(p, head);
    int64_t now_ns = p->ctx->view->now_ns;
    int64_t end_ns = is_still ? easy->head_end_ns : find_end(p, head);
    int64_t reserved_ns = end_ns > now_ns ? end_ns : now_ns;
    if (!is_still || reserved_ns != easy->head_reserved_ns)
        easy->n_states++;
    easy->head = end_ns == GSIM_NEVER ? GSIM_NO_SLOT : head;
    easy->head_end_ns = end_ns;
    easy->head_reserved_ns = reserved_ns;
    return reserved_ns;
}

/* The head can still start when it was to, with the job that was placed last. */
static bool is_harmless(const struct pass *p) {
    if (!is_near(p, p->head, p->easy->placed[p->easy->n_placed - 1].slot))
        return true;
    (void)imagine(p, p->head, p->reserved_ns);
    bool fits = head_fits(p, p->head);
    if (!fits)
        forget_last(p->easy);
    back_to_now(p);
    return fits;
}

/* The failed trial that speaks for jobs of this kind; NULL: none does, as of jobs that come back,
 * which may have units that they prefer. What memory a job needs is not known when a policy is
 * opened: it is looked at in each pass. */
static struct gsim_easy_failed *failed_of(const struct pass *p, uint32_t kind, bool comes_back) {
    return p->easy->failed && p->hopeless.is_size_by_wish && !comes_back ? &p->easy->failed[kind]
                                                                         : NULL;
}

static bool give_up(const struct pass *p, uint32_t mark) {
    forget_last(p->easy);
    gsim_plan_rollback(p->plan, mark);
    return false;
}

/* Starts a job behind the head if the head can still start when it was to. */
static bool backfill(struct pass *p, gsim_slot slot) {
    struct gsim_easy *easy = p->easy;
    const struct gsim_view *view = p->ctx->view;
    struct gsim_easy_failed none = {0},
                            *alike = failed_of(p, gsim_waiting_kind_of(&easy->waiting, slot),
                                               view->jobs.state[slot] != GSIM_QUEUED),
                            *failed = alike ? alike : &none;
    uint32_t mark = gsim_plan_mark(p->plan);
    if (!gsim_settings_place(p->ctx, p->plan, slot, easy->rule)) {
        failed->no_room = easy->n_freed;
        return false;
    }
    if (!remember(p, slot)) {
        gsim_plan_rollback(p->plan, mark);
        return false;
    }
    bool is_over_by_then = easy->placed[easy->n_placed - 1].end_ns <= p->reserved_ns;
    if (!is_over_by_then && failed->no_reservation == easy->n_states)
        return give_up(p, mark);
    if (!is_over_by_then && !is_harmless(p)) {
        failed->no_reservation = easy->n_states;
        return false;
    }
    easy->n_states++;
    return true;
}

/* Jobs of a kind that was found to have no room, or to keep the head from its reservation, are
 * passed over, but for those that are over by then. */
static int64_t longest_ns(const void *of, const struct gsim_waiting_row *row) {
    enum { NONE = -1 };
    const struct pass *p = of;
    if (p->head == GSIM_NO_SLOT)
        return gsim_misfits_has_width(&p->hopeless, p->ctx->view,
                                      p->easy->waiting.kind[row->kind].gpus)
                   ? NONE
                   : INT64_MAX;
    const struct gsim_easy_failed *failed = failed_of(p, row->kind, row->is_own);
    if (!failed)
        return INT64_MAX;
    if (failed->no_room == p->easy->n_freed)
        return NONE;
    return failed->no_reservation == p->easy->n_states ? p->reserved_ns - p->ctx->view->now_ns
                                                       : INT64_MAX;
}

/* Places a job before the head, unless it is known to have no room. */
static bool place_leading(struct pass *p, gsim_slot slot) {
    struct gsim_easy *easy = p->easy;
    struct gsim_easy_failed *alike = failed_of(p, gsim_waiting_kind_of(&easy->waiting, slot),
                                               p->ctx->view->jobs.state[slot] != GSIM_QUEUED);
    if (alike && alike->no_room == easy->n_freed)
        return false;
    if (gsim_settings_place(p->ctx, p->plan, slot, easy->rule))
        return true;
    if (alike)
        alike->no_room = easy->n_freed;
    return false;
}

/* A job before the head. The first job with a reservation is the head; a job that would not fit
 * even if all others ended, since a node is down, holds no job back. */
static void lead(struct pass *p, gsim_slot slot) {
    struct gsim_easy *easy = p->easy;
    uint32_t gpus = p->ctx->view->jobs.gpus[slot];
    if (gsim_misfits_has(&p->hopeless, p->ctx->view, slot))
        return;
    if (place_leading(p, slot)) {
        easy->head = GSIM_NO_SLOT; /* that job may delay it */
        if (remember(p, slot))
            gsim_waiting_remove(&easy->waiting, slot);
        return;
    }
    if (gsim_waiting_is_last(&easy->waiting))
        return; /* there is no job to hold back */
    p->reserved_ns = reserve(p, slot);
    if (p->reserved_ns != GSIM_NEVER)
        p->head = slot;
    else if (gpus < p->hopeless.smallest)
        p->hopeless.smallest = gpus;
}

/* A job behind the head. */
static void follow(struct pass *p, gsim_slot slot) {
    if (!backfill(p, slot))
        return;
    gsim_waiting_remove(&p->easy->waiting, slot);
    gsim_waiting_anew(&p->easy->waiting);
}

/* Whether a job of the row finds no room, without regard to the order of jobs. */
static bool has_no_room(const struct pass *p, const struct gsim_waiting_row *row) {
    struct gsim_easy_failed *failed = failed_of(p, row->kind, row->is_own);
    if (!failed)
        return false;
    if (failed->no_room == p->easy->n_freed)
        return true;
    uint32_t mark = gsim_plan_mark(p->plan);
    bool is_placed = gsim_settings_place(p->ctx, p->plan, row->first, p->easy->rule);
    gsim_plan_rollback(p->plan, mark);
    if (!is_placed)
        failed->no_room = p->easy->n_freed;
    return !is_placed;
}

/* Whether no job that waits has room: then no order of them makes one start. */
static bool is_in_vain(const struct pass *p) {
    const struct gsim_waiting *waiting = &p->easy->waiting;
    bool has_room = false;
    for (uint32_t i = 0; i < waiting->n_active && !has_room; i++)
        has_room = !has_no_room(p, &waiting->row[waiting->active[i]]);
    return !has_room;
}

void gsim_easy_pass(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    int64_t (*rank)(struct gsim_ctx *ctx, gsim_slot slot)) {
    struct pass p = {.easy = easy,
                     .ctx = ctx,
                     .plan = plan,
                     .start = gsim_plan_mark(plan),
                     .hopeless = gsim_misfits_none(ctx->view, easy->rule, false),
                     .is_apart = easy->failed && gsim_ask_has_wishes_under(ctx->view, easy->rule),
                     .head = GSIM_NO_SLOT,
                     .reserved_ns = GSIM_NEVER};
    struct gsim_waiting_rule rule = {.rank = rank, .most = longest_ns, .of = &p};
    if (is_in_vain(&p))
        return;
    gsim_waiting_walk(&easy->waiting, ctx, &rule);
    while (!gsim_common_is_full(ctx->view) && ctx->log->n_errors == 0) {
        gsim_slot slot = gsim_waiting_next(&easy->waiting);
        if (slot == GSIM_NO_SLOT)
            return;
        if (p.head == GSIM_NO_SLOT)
            lead(&p, slot);
        else
            follow(&p, slot);
    }
}

/* --- without reservations --------------------------------------------------------------------- */

void gsim_easy_pass_without(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                            int64_t (*rank)(struct gsim_ctx *ctx, gsim_slot slot), bool is_strict) {
    struct gsim_skip skip;
    struct pass p = {.easy = easy, .ctx = ctx, .plan = plan};
    struct gsim_waiting_rule rule = {.rank = rank, .most = gsim_skip_most, .of = &skip};
    gsim_skip_begin(&skip, ctx->view, &easy->waiting, easy->rule);
    gsim_waiting_walk(&easy->waiting, ctx, &rule);
    while (!gsim_common_is_full(ctx->view) && ctx->log->n_errors == 0) {
        gsim_slot slot = gsim_waiting_next(&easy->waiting);
        if (slot == GSIM_NO_SLOT)
            return;
        bool is_placed = gsim_skip_place(&skip, ctx, plan, slot);
        if (is_placed && remember(&p, slot))
            gsim_waiting_remove(&easy->waiting, slot);
        if (!is_placed && is_strict)
            return;
    }
}

/* --- the queue -------------------------------------------------------------------------------- */

void gsim_easy_arrived(struct gsim_easy *easy, struct gsim_ctx *ctx, gsim_slot slot,
                       uint32_t group) {
    int64_t least_ns = easy->plans ? gsim_time_limit_least_ns(ctx, slot) : 0;
    uint64_t wish = gsim_waiting_wish(ctx, slot, easy->rule);
    if (!gsim_waiting_add(&easy->waiting, ctx, slot, group, wish, least_ns) ||
        (easy->plans && !reserve_failed(easy, ctx->arena)))
        gsim_common_no_memory(ctx);
}

void gsim_easy_completed(struct gsim_easy *easy, gsim_slot slot) {
    gsim_time_limits_completed(&easy->limits, slot);
}

gsim_slot gsim_easy_placed(const struct gsim_easy *easy, uint32_t i) {
    return easy->placed[i].slot;
}

/* Whether a job that the last decide placed runs, and ends when its plan had it end. */
static bool is_as_planned(const struct gsim_easy *easy, const struct gsim_easy_placed *placed) {
    const struct gsim_index *ending = &easy->limits.ending;
    return !gsim_index_has(ending, placed->slot) ||
           gsim_index_key(ending, placed->slot) == placed->end_ns;
}

/* Whether the job, which has ended, may have held GPUs that the head may use. */
static bool was_near(struct gsim_easy *easy, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (easy->head == GSIM_NO_SLOT || !gsim_ask_has_wishes_under(ctx->view, easy->rule))
        return true;
    uint32_t own = gsim_reach_nodes_of(&easy->reach, ctx, slot);
    return gsim_reach_meet(&easy->reach, gsim_reach_nodes_of(&easy->reach, ctx, easy->head), own) !=
           GSIM_MEET_NONE;
}

/* Forgets what the changes since the last decide make untrue: what found no room, and the
 * reservation of the last head. The ends of jobs that load, or of which a plan ends some, move. */
static void forget(struct gsim_easy *easy, const struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    uint32_t n_outages = view->cluster.n_failures + view->cluster.n_repairs;
    bool is_other = n_outages != easy->n_outages || easy->limits.coming.n > 0 || easy->limits.kills;
    for (uint32_t i = 0; i < view->changes.n_settled; i++)
        is_other |= view->jobs.state[view->changes.settled[i]] != GSIM_RUNNING &&
                    view->jobs.state[view->changes.settled[i]] != GSIM_DONE;
    if (is_other || view->changes.n_completed > 0) {
        easy->n_freed++;
        easy->n_states++;
    }
    for (uint32_t i = 0; i < easy->n_placed; i++)
        is_other |= !is_as_planned(easy, &easy->placed[i]);
    for (uint32_t i = 0; i < view->changes.n_completed && !is_other && easy->head != GSIM_NO_SLOT;
         i++)
        is_other = was_near(easy, ctx, view->changes.completed[i]);
    if (is_other)
        easy->head = GSIM_NO_SLOT;
    easy->n_outages = n_outages;
}

void gsim_easy_decide(struct gsim_easy *easy, struct gsim_ctx *ctx, struct gsim_plan *plan,
                      void (*place_waiting)(struct gsim_ctx *ctx, struct gsim_plan *plan)) {
    gsim_time_limits_begin(&easy->limits, ctx, plan);
    if (easy->plans)
        forget(easy, ctx);
    easy->n_placed = easy->n_units = 0;
    if (easy->waiting.jobs.n > 0 && !gsim_common_is_full(ctx->view))
        place_waiting(ctx, plan);
    for (uint32_t i = 0; i < easy->n_placed; i++)
        gsim_time_limits_placed(&easy->limits, ctx, easy->placed[i].slot);
    gsim_time_limits_wake(&easy->limits, ctx, plan);
}
