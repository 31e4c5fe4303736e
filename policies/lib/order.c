/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A decide sorts the queue and walks down it once, or walks down a line in rows, which passes over
 * jobs known to find no room. Where the head is found, vacancy.h says when it has room, and on
 * which GPUs: these are kept for it, as Slurm plans nodes, and a job behind it takes a place on
 * them only if it is over by then, or leaves the head its place beside it. */
#include "policies/lib/order.h"

#include <string.h>

#include "policies/lib/common.h"
#include "policies/lib/service.h"
#include "policies/lib/settings.h"
#include "policies/lib/time_limits.h"

static struct gsim_order_job *job_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

static bool plans(const struct gsim_order *order) {
    return order->kind == GSIM_ORDER_EASY || order->kind == GSIM_ORDER_FAIRSHARE;
}

static bool has_param(const struct gsim_ctx *ctx, const char *name) {
    for (const struct gsim_param_def *def = ctx->policy->params; def && def->type; def++)
        if (strcmp(def->name, name) == 0)
            return true;
    return false;
}

/* Whether jobs wait in rows. */
static bool has_rows(const struct gsim_order *order) {
    return order->most && (order->kind == GSIM_ORDER_BACKFILL || order->kind == GSIM_ORDER_EASY);
}

static enum gsim_status open(struct gsim_order *order, struct gsim_ctx *ctx) {
    const int64_t period_ns = 300 * GSIM_NS_PER_S; /* Slurm's PriorityCalcPeriod */
    enum gsim_status status = gsim_waiting_init(&order->line, ctx->arena, 1)
                                  ? GSIM_OK
                                  : gsim_no_memory(ctx->log, "opening the line");
    if (status == GSIM_OK && order->kind >= GSIM_ORDER_EASY)
        status = gsim_vacancy_init(&order->room, ctx);
    if (status == GSIM_OK && order->kind == GSIM_ORDER_FAIRSHARE)
        status = gsim_usage_init(&order->usage, ctx, "queue=fairshare",
                                 gsim_param(ctx->params, "queue_half_life"), period_ns);
    if (status == GSIM_OK && plans(order))
        gsim_time_limits_assume(ctx,
                                order->kind == GSIM_ORDER_EASY ? "queue=easy" : "queue=fairshare");
    return status;
}

void gsim_order_init(struct gsim_order *order, struct gsim_ctx *ctx) {
    order->head = GSIM_NO_SLOT;
    if (!has_param(ctx, "queue"))
        return;
    order->wants_few_nodes = gsim_settings_rule(ctx) == GSIM_RULE_CONSOLIDATE;
    order->kind = (enum gsim_order_kind)gsim_param(ctx->params, "queue");
    if (has_param(ctx, "queue_quantum"))
        order->quantum_ns = gsim_param(ctx->params, "queue_quantum");
    enum gsim_status status = open(order, ctx);
    if (status != GSIM_OK)
        ctx->status = status;
}

void gsim_order_append(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx,
                       gsim_slot slot) {
    if (!has_rows(order) || order->keeps_queue)
        gsim_queue_append(queue, ctx, slot);
    if (has_rows(order) &&
        !gsim_waiting_add(&order->line, ctx, slot, 0, 0, gsim_job_memory(ctx->view, slot)))
        gsim_common_no_memory(ctx);
}

gsim_slot gsim_order_first(const struct gsim_order *order, const struct gsim_queue *queue) {
    return has_rows(order) ? gsim_waiting_first(&order->line) : queue->first;
}

/* --- usage ------------------------------------------------------------------------------------ */

static void charge(struct gsim_order *order, const struct gsim_ctx *ctx, gsim_slot slot,
                   bool is_charged) {
    struct gsim_order_job *job = job_of(ctx, slot);
    if (order->kind != GSIM_ORDER_FAIRSHARE || job->is_charged == is_charged)
        return;
    job->is_charged = is_charged;
    gsim_usage_change(&order->usage, ctx, slot, is_charged ? 1 : -1);
}

void gsim_order_begin(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx) {
    const struct gsim_view *view = ctx->view;
    order->head = GSIM_NO_SLOT;
    for (uint32_t i = 0; i < view->changes.n_completed; i++)
        charge(order, ctx, view->changes.completed[i], false);
    for (uint32_t i = 0; i < view->changes.n_settled && order->kind == GSIM_ORDER_LAS; i++) {
        gsim_slot slot = view->changes.settled[i];
        if (!gsim_common_waits(view, slot))
            continue;
        if (order->forget)
            order->forget(ctx, slot);
        gsim_queue_append(queue, ctx, slot);
    }
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* Attained service. Of a gang it is the time that the gang has had its GPUs, as under las; of a job
 * on one GPU, which may share it, the GPU time that the job got there. */
static int64_t served_ns(const struct gsim_ctx *ctx, gsim_slot slot) {
    return ctx->view->jobs.gpus[slot] > 1 ? gsim_service_ns(ctx, slot)
                                          : gsim_attained_ns(ctx->view, slot);
}

static int64_t rank_of(struct gsim_order *order, const struct gsim_ctx *ctx, gsim_slot slot) {
    return order->kind == GSIM_ORDER_LAS
               ? served_ns(ctx, slot)
               : -(gsim_usage_factor_q32(&order->usage,
                                         gsim_usage_owner(&order->usage, ctx, slot)) >>
                   8); /* in the steps in which the policy fairshare weighs it */
}

/* Of equal ranks the first to arrive goes first under fairshare, and the first of the trace under
 * las, where no job has such a number. */
static bool goes_before(const struct gsim_ctx *ctx, gsim_slot a, gsim_slot b) {
    const struct gsim_order_job *left = job_of(ctx, a), *right = job_of(ctx, b);
    if (left->rank != right->rank)
        return left->rank < right->rank;
    if (left->came != right->came)
        return left->came < right->came;
    return gsim_nth(ctx->view, a) < gsim_nth(ctx->view, b);
}

/* Jobs that have come since the last sort stand behind those that it ordered. */
static void number(struct gsim_order *order, const struct gsim_queue *queue,
                   const struct gsim_ctx *ctx) {
    for (gsim_slot slot = queue->last; slot != GSIM_NO_SLOT && job_of(ctx, slot)->came == 0;
         slot = gsim_queue_before(ctx, slot))
        order->n_came++;
    uint64_t came = order->n_came;
    for (gsim_slot slot = queue->last; slot != GSIM_NO_SLOT && job_of(ctx, slot)->came == 0;
         slot = gsim_queue_before(ctx, slot))
        job_of(ctx, slot)->came = came--;
}

static void sort(struct gsim_order *order, struct gsim_queue *queue, const struct gsim_ctx *ctx) {
    if (order->kind < GSIM_ORDER_FAIRSHARE)
        return;
    if (order->kind == GSIM_ORDER_FAIRSHARE) {
        gsim_usage_look(&order->usage, ctx);
        number(order, queue, ctx);
    }
    for (gsim_slot slot = queue->first; slot != GSIM_NO_SLOT; slot = gsim_queue_after(ctx, slot))
        job_of(ctx, slot)->rank = rank_of(order, ctx, slot);
    gsim_queue_sort(queue, ctx, goes_before);
}

/* --- a reservation ---------------------------------------------------------------------------- */

/* A limit counts from when the job runs. */
static int64_t end_of(const struct gsim_ctx *ctx, gsim_slot slot, const void *of) {
    (void)of;
    const struct gsim_view *view = ctx->view;
    int64_t limit_ns = gsim_trace_get(view->trace, GSIM_COL_LIMIT_NS, view->jobs.index[slot]);
    bool runs = view->jobs.state[slot] == GSIM_RUNNING && limit_ns >= 0;
    int64_t end_ns =
        (runs ? view->jobs.changed_ns[slot] : view->now_ns) + gsim_time_limit_ns(ctx, slot);
    return end_ns > view->now_ns ? end_ns : view->now_ns;
}

/* A job that has no room even if all others leave gets no reservation, and holds no job back. */
static void reserve(struct gsim_order *order, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                    gsim_slot slot) {
    struct gsim_vacancy_search search = {.slot = slot,
                                         .wants_whole = order->wants_whole(ctx, slot),
                                         .wants_few_nodes = order->wants_few_nodes,
                                         .holds = order->holds,
                                         .key = end_of};
    int64_t n = gsim_vacancy_find(&order->room, ctx, plan, &search);
    if (n < 0)
        return;
    order->head = slot;
    order->head_is_whole = search.wants_whole;
    order->reserved_ns =
        n == 0 ? ctx->view->now_ns : gsim_vacancy_key(&order->room, (uint32_t)n - 1);
}

static bool is_over_by_then(const struct gsim_order *order, const struct gsim_ctx *ctx,
                            gsim_slot slot) {
    return ctx->view->now_ns + gsim_time_limit_ns(ctx, slot) <= order->reserved_ns;
}

bool gsim_order_allows(const struct gsim_order *order, const struct gsim_ctx *ctx, uint32_t gpu,
                       gsim_slot slot) {
    if (order->head == GSIM_NO_SLOT || order->head == slot || !order->room.gpu[gpu].is_kept ||
        is_over_by_then(order, ctx, slot))
        return true;
    return order->head_is_whole ? order->room.n_spare > 0
                                : order->holds(ctx, &order->room.gpu[gpu], gpu, slot);
}

/* The job stays beyond the reservation: it takes a spare GPU, or its place beside the head's. */
static void book(struct gsim_order *order, const struct gsim_ctx *ctx, const struct gsim_plan *plan,
                 gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    if (order->head_is_whole) {
        gsim_vacancy_spare(&order->room, plan, slot);
        return;
    }
    for (uint32_t u = 0; u < n; u++) {
        order->room.gpu[units[u].gpu].n_jobs++;
        order->room.gpu[units[u].gpu].mem_bytes += gsim_job_memory(ctx->view, slot);
    }
}

/* Whether a job with whole GPUs leaves the head its own. */
static bool is_harmless(const struct gsim_order *order, const struct gsim_ctx *ctx,
                        const struct gsim_plan *plan, gsim_slot slot) {
    uint32_t n = gsim_vacancy_kept(&order->room, plan, slot);
    return !order->wants_whole(ctx, slot) || n <= (order->head_is_whole ? order->room.n_spare : 0);
}

/* Places a job behind the head. */
static bool follow(struct gsim_order *order, struct gsim_ctx *ctx, struct gsim_plan *plan,
                   gsim_slot slot) {
    bool is_over = is_over_by_then(order, ctx, slot);
    uint32_t mark = gsim_plan_mark(plan);
    if (!is_over && order->places_for_good && order->wants_whole(ctx, slot))
        return false;
    if (!order->place(ctx, plan, slot))
        return false;
    if (is_over)
        return true;
    if (!is_harmless(order, ctx, plan, slot)) {
        gsim_plan_rollback(plan, mark);
        return false;
    }
    book(order, ctx, plan, slot);
    return true;
}

/* --- jobs that give way ----------------------------------------------------------------------- */

static bool is_leaving(const struct gsim_ctx *ctx, gsim_slot slot) {
    uint8_t state = ctx->view->jobs.state[slot];
    return state == GSIM_STOPPING || state == GSIM_SAVING;
}

/* Jobs that were stopped before leave first, then the one with the most service, if it is a quantum
 * ahead of the one that waits. */
static int64_t lead_of(const struct gsim_ctx *ctx, gsim_slot slot, const void *of) {
    const int64_t *least_ns = of;
    int64_t attained_ns = served_ns(ctx, slot);
    if (is_leaving(ctx, slot))
        return INT64_MIN;
    bool gives_way = ctx->view->jobs.state[slot] == GSIM_RUNNING && attained_ns >= *least_ns;
    return gives_way ? -attained_ns : GSIM_NEVER;
}

/* Stops jobs for this one. false: it has its GPUs to wait for, and no job may take them before. */
static bool push_out(struct gsim_order *order, struct gsim_ctx *ctx, struct gsim_plan *plan,
                     gsim_slot slot) {
    int64_t least_ns = job_of(ctx, slot)->rank + order->quantum_ns;
    struct gsim_vacancy_search search = {.slot = slot,
                                         .wants_whole = order->wants_whole(ctx, slot),
                                         .wants_few_nodes = order->wants_few_nodes,
                                         .leaves_last_first = true,
                                         .holds = order->holds,
                                         .key = lead_of,
                                         .of = &least_ns};
    int64_t n = gsim_vacancy_find(&order->room, ctx, plan, &search);
    struct gsim_preemption way = gsim_settings_preemption_auto(ctx, GSIM_KEEP_STORAGE);
    for (int64_t i = n - 1; i >= 0; i--) {
        gsim_slot victim = gsim_vacancy_leaver(&order->room, (uint32_t)i);
        uint32_t n_kept = gsim_vacancy_kept(&order->room, plan, victim);
        if (n_kept > 0 && search.wants_whole && n_kept <= order->room.n_spare)
            gsim_vacancy_spare(&order->room, plan, victim);
        else if (n_kept > 0 && !is_leaving(ctx, victim))
            (void)gsim_plan_preempt(plan, victim, way.stop, way.keep);
    }
    return n <= 0; /* 0: enough GPUs, on other nodes than placement= asks for */
}

/* Jobs share GPUs, so that none gains more service than time passes. */
static void wake(const struct gsim_order *order, const struct gsim_queue *queue,
                 const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    enum { LOOKS = 16 }; /* in a quantum, at the most */
    const struct gsim_view *view = ctx->view;
    int64_t in_ns = order->quantum_ns;
    if (queue->first == GSIM_NO_SLOT) {
        gsim_plan_wake(plan, GSIM_NEVER);
        return;
    }
    int64_t least_ns = job_of(ctx, queue->first)->rank + order->quantum_ns;
    for (uint32_t i = 0; i < view->jobs.n_active; i++) {
        gsim_slot slot = view->jobs.active[i];
        int64_t left_ns = least_ns - served_ns(ctx, slot);
        if (view->jobs.state[slot] == GSIM_RUNNING && left_ns > 0 && left_ns < in_ns)
            in_ns = left_ns;
    }
    int64_t grain_ns = order->quantum_ns / LOOKS + 1;
    gsim_plan_wake(plan, view->now_ns + (in_ns > grain_ns ? in_ns : grain_ns));
}

/* --- a decide --------------------------------------------------------------------------------- */

/* Whether jobs behind one that finds no room are looked at. */
static bool goes_on(struct gsim_order *order, struct gsim_ctx *ctx, struct gsim_plan *plan,
                    gsim_slot slot) {
    if (plans(order) && order->head == GSIM_NO_SLOT)
        reserve(order, ctx, plan, slot);
    if (order->kind == GSIM_ORDER_LAS)
        return push_out(order, ctx, plan, slot);
    return order->kind != GSIM_ORDER_FIFO;
}

static bool place(struct gsim_order *order, struct gsim_ctx *ctx, struct gsim_plan *plan,
                  gsim_slot slot) {
    return order->head == GSIM_NO_SLOT ? order->place(ctx, plan, slot)
                                       : follow(order, ctx, plan, slot);
}

static void leave_rows(struct gsim_order *order, struct gsim_queue *queue,
                       const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_waiting_remove(&order->line, slot);
    if (order->keeps_queue)
        gsim_queue_remove(queue, ctx, slot);
}

static void serve_rows(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx,
                       struct gsim_plan *plan) {
    struct gsim_waiting_rule rule = {.most = order->most, .of = ctx};
    gsim_slot slot;
    gsim_waiting_walk(&order->line, ctx, &rule);
    while ((slot = gsim_waiting_next(&order->line)) != GSIM_NO_SLOT)
        if (place(order, ctx, plan, slot))
            leave_rows(order, queue, ctx, slot);
        else
            (void)goes_on(order, ctx, plan, slot);
}

void gsim_order_serve(struct gsim_order *order, struct gsim_queue *queue, struct gsim_ctx *ctx,
                      struct gsim_plan *plan) {
    if (has_rows(order)) {
        serve_rows(order, queue, ctx, plan);
        return;
    }
    sort(order, queue, ctx);
    for (gsim_slot slot = queue->first, after; slot != GSIM_NO_SLOT; slot = after) {
        after = gsim_queue_after(ctx, slot);
        if (place(order, ctx, plan, slot)) {
            gsim_queue_remove(queue, ctx, slot);
            job_of(ctx, slot)->came = 0;
            charge(order, ctx, slot, true);
        } else if (!goes_on(order, ctx, plan, slot)) {
            break;
        }
    }
    if (order->kind == GSIM_ORDER_LAS)
        wake(order, queue, ctx, plan);
}

/* --- walks that pass over --------------------------------------------------------------------- */

static struct gsim_order_misfit misfit_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_view *view = ctx->view;
    return (struct gsim_order_misfit){
        view->jobs.gpus[slot], gsim_job_memory(view, slot),
        gsim_trace_get(view->trace, GSIM_COL_CPUS_MILLI, view->jobs.index[slot])};
}

static bool asks_no_less(const struct gsim_order_misfit *a, const struct gsim_order_misfit *b) {
    return a->gpus >= b->gpus && a->mem_bytes >= b->mem_bytes && a->cpus_milli >= b->cpus_milli;
}

bool gsim_order_is_misfit(const struct gsim_order_misfit misfits[2], const struct gsim_ctx *ctx,
                          gsim_slot slot) {
    struct gsim_order_misfit own = misfit_of(ctx, slot);
    const struct gsim_order_misfit *noted = &misfits[own.gpus > 1];
    return noted->gpus > 0 && asks_no_less(&own, noted);
}

void gsim_order_note_misfit(struct gsim_order_misfit misfits[2], const struct gsim_ctx *ctx,
                            gsim_slot slot) {
    struct gsim_order_misfit own = misfit_of(ctx, slot), *noted = &misfits[own.gpus > 1];
    if (noted->gpus == 0 || asks_no_less(noted, &own))
        *noted = own;
}
