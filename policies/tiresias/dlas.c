/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of the public Tiresias simulator for `dlas`, `dlas-gpu` and `dlas-gpu-gittins`
 * (SymbioticLab/Tiresias, placement "count"), event for event, quirks included: jobs fall one queue
 * per event; the next jump of a running job divides by its GPUs a time that was not multiplied by
 * them, and so comes late; a job that was to end together with the next arrival ends then, even
 * when a jump before that preempts it.
 *
 * A queue there is one list that is allocated greedily and then parted stably, running jobs first.
 * Here the two parts are kept apart, and waiting jobs stand in one line for each gang size: the
 * next job is the first of the heads of lines that fit. An event costs the number of running jobs,
 * not of waiting jobs. */
#include "policies/tiresias/dlas.h"

#include "policies/lib/common.h"
#include "policies/lib/gittins.h"
#include "policies/lib/queue.h"
#include "policies/lib/settings.h"

static struct gsim_dlas_job *dlas_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

enum gsim_status gsim_dlas_open(struct gsim_dlas *dlas, struct gsim_ctx *ctx) {
    uint32_t n_gpus = ctx->view->cluster.n_gpus;
    bool ok = true;
    for (uint32_t q = 0; q < dlas->n_queues; q++) { /* each running job holds at least one GPU */
        struct gsim_dlas_queue *queue = &dlas->queue[q];
        queue->running = gsim_arena_array(ctx->arena, 2 * (size_t)n_gpus, sizeof(gsim_slot));
        queue->moved = gsim_arena_array(ctx->arena, n_gpus, sizeof(gsim_slot));
        ok = ok && queue->running && queue->moved;
    }
    dlas->chosen = gsim_arena_array(ctx->arena, 2 * (size_t)n_gpus, sizeof(gsim_slot));
    dlas->preempted = gsim_arena_array(ctx->arena, n_gpus, sizeof(gsim_slot));
    dlas->started = gsim_arena_array(ctx->arena, n_gpus, sizeof(gsim_slot));
    dlas->attached = gsim_arena_array(ctx->arena, n_gpus, sizeof(gsim_slot));
    if (dlas->history) {
        dlas->index = gsim_gittins_public(dlas->history, dlas->limits[0], ctx->arena);
        ok = ok && dlas->index;
    }
    gsim_index_init(&dlas->starving, ctx->arena);
    gsim_index_init(&dlas->promoted, ctx->arena);
    gsim_index_init(&dlas->ending, ctx->arena);
    ok = ok && dlas->chosen && dlas->preempted && dlas->started && dlas->attached;
    return ok ? GSIM_OK : gsim_no_memory(ctx->log, "opening tiresias");
}

/* --- waiting jobs ----------------------------------------------------------------------------- */

static bool add_size(struct gsim_dlas *d, struct gsim_ctx *ctx) {
    if (d->n_sizes == d->sizes_capacity) {
        uint32_t capacity = d->sizes_capacity ? d->sizes_capacity * 2 : 16;
        uint32_t *sizes = gsim_arena_grow_raw(ctx->arena, d->sizes, capacity * sizeof *sizes);
        if (!sizes)
            return false;
        d->sizes = sizes;
        for (uint32_t q = 0; q < d->n_queues; q++) {
            struct gsim_queue *waiting =
                gsim_arena_grow_raw(ctx->arena, d->queue[q].waiting, capacity * sizeof *waiting);
            if (!waiting)
                return false;
            d->queue[q].waiting = waiting;
        }
        d->sizes_capacity = capacity;
    }
    for (uint32_t q = 0; q < d->n_queues; q++)
        gsim_queue_init(&d->queue[q].waiting[d->n_sizes]);
    d->n_sizes++;
    return true;
}

/* The index of a gang size; a new size is added. */
static uint32_t size_of(struct gsim_dlas *d, struct gsim_ctx *ctx, uint32_t gpus) {
    for (uint32_t s = 0; s < d->n_sizes; s++)
        if (d->sizes[s] == gpus)
            return s;
    if (!add_size(d, ctx)) {
        gsim_common_no_memory(ctx);
        return 0;
    }
    d->sizes[d->n_sizes - 1] = gpus;
    return d->n_sizes - 1;
}

static bool is_before(const struct gsim_dlas_job *a, const struct gsim_dlas_job *b) {
    if (a->key != b->key)
        return a->key < b->key;
    if (a->instant != b->instant)
        return a->instant < b->instant;
    return a->position < b->position;
}

/* Without an index a newcomer stands first or last, so the walk ends at once. */
static void wait_in_line(struct gsim_dlas *d, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_dlas_job *job = dlas_job(ctx, slot);
    struct gsim_queue *line = &d->queue[job->queue].waiting[job->size];
    gsim_slot before = GSIM_NO_SLOT, behind = line->last;
    if (line->first != GSIM_NO_SLOT && is_before(job, dlas_job(ctx, line->first))) {
        before = line->first;
    } else {
        while (behind != GSIM_NO_SLOT && is_before(job, dlas_job(ctx, behind))) {
            before = behind;
            behind = gsim_queue_before(ctx, behind);
        }
    }
    gsim_queue_insert(line, ctx, before, slot);
}

static void leave_line(struct gsim_dlas *d, const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct gsim_dlas_job *job = dlas_job(ctx, slot);
    gsim_queue_remove(&d->queue[job->queue].waiting[job->size], ctx, slot);
    gsim_index_remove(&d->starving, slot);
}

/* --- service ---------------------------------------------------------------------------------- */

static int64_t executed_ns(const struct gsim_ctx *ctx, const struct gsim_dlas_job *job) {
    return job->executed_ns + (job->is_running ? ctx->view->now_ns - job->since_ns : 0);
}

/* Service compared with the limits, in whole seconds. */
static int64_t dlas_service_s(const struct gsim_dlas *d, const struct gsim_ctx *ctx,
                              gsim_slot slot) {
    int64_t executed_s = executed_ns(ctx, dlas_job(ctx, slot)) / GSIM_NS_PER_S;
    return d->is_gpu_time ? executed_s * ctx->view->jobs.gpus[slot] : executed_s;
}

static void rank(const struct gsim_dlas *d, const struct gsim_ctx *ctx, gsim_slot slot) {
    if (!d->history)
        return;
    uint32_t above = gsim_history_above(d->history, dlas_service_s(d, ctx, slot));
    dlas_job(ctx, slot)->key = above < d->history->n ? -d->index[above] : 0;
}

/* --- events ----------------------------------------------------------------------------------- */

void gsim_dlas_arrived(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_dlas_job *job = dlas_job(ctx, slot);
    int64_t now_ns = ctx->view->now_ns;
    dlas->n_instants += dlas->n_arrived == 0 || now_ns != dlas->arrived_ns;
    dlas->arrived_ns = now_ns;
    *job = (struct gsim_dlas_job){.since_ns = now_ns,
                                  .position = dlas->back++,
                                  .instant = dlas->history ? dlas->n_instants : 0,
                                  .arrival = dlas->n_arrived++,
                                  .size = size_of(dlas, ctx, ctx->view->jobs.gpus[slot])};
    dlas->has_event = true;
    if (dlas->n_sizes == 0)
        return; /* no memory */
    rank(dlas, ctx, slot);
    wait_in_line(dlas, ctx, slot);
}

void gsim_dlas_completed(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_dlas_job *job = dlas_job(ctx, slot);
    if (job->is_over) /* ended by this loop, in the event before */
        return;
    job->is_over = true;
    dlas->has_left = dlas->has_event = true;
    gsim_index_remove(&dlas->ending, slot);
}

void gsim_dlas_woken(struct gsim_dlas *dlas) {
    dlas->has_event = true;
}

/* Ends jobs that were to end with this arrival when the loop last looked, whatever happened to them
 * since. */
static void end_attached(struct gsim_dlas *d, const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    for (uint32_t i = 0; i < d->n_attached; i++) {
        gsim_slot slot = d->attached[i];
        struct gsim_dlas_job *job = dlas_job(ctx, slot);
        bool can_end =
            ctx->view->jobs.state[slot] == GSIM_RUNNING || gsim_common_waits(ctx->view, slot);
        if (job->is_over || !can_end)
            continue;
        if (!gsim_plan_end(plan, slot))
            return;
        job->is_over = d->has_left = true;
        gsim_index_remove(&d->ending, slot);
        if (!job->is_running)
            leave_line(d, ctx, slot);
    }
    d->n_attached = 0;
}

static void drop_left(struct gsim_dlas *d, const struct gsim_ctx *ctx) {
    for (uint32_t q = 0; q < d->n_queues && d->has_left; q++) {
        struct gsim_dlas_queue *queue = &d->queue[q];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < queue->n_running; i++)
            if (!dlas_job(ctx, queue->running[i])->is_over)
                queue->running[kept++] = queue->running[i];
        queue->n_running = kept;
    }
    d->has_left = false;
}

/* --- from queue to queue ---------------------------------------------------------------------- */

/* Inserts a job at its place by arrival. */
static void insert_by_arrival(const struct gsim_ctx *ctx, gsim_slot *list, uint32_t n,
                              gsim_slot slot) {
    for (; n > 0 && dlas_job(ctx, list[n - 1])->arrival > dlas_job(ctx, slot)->arrival; n--)
        list[n] = list[n - 1];
    list[n] = slot;
}

static void demote_from(struct gsim_dlas *d, const struct gsim_ctx *ctx, uint32_t q) {
    struct gsim_dlas_queue *queue = &d->queue[q], *next = &d->queue[q + 1];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < queue->n_running; i++) {
        gsim_slot slot = queue->running[i];
        if (dlas_service_s(d, ctx, slot) < d->limits[q]) {
            queue->running[kept++] = slot;
            continue;
        }
        dlas_job(ctx, slot)->queue++;
        dlas_job(ctx, slot)->position = INT64_MAX; /* behind all jobs that wait there */
        insert_by_arrival(ctx, next->moved, next->n_moved++, slot);
    }
    queue->n_running = kept;
}

/* Jobs that have waited long enough start again in the first queue, in order of arrival. */
static void promote_starved(struct gsim_dlas *d, struct gsim_ctx *ctx) {
    gsim_slot slot;
    while ((slot = gsim_index_first(&d->starving)) != GSIM_NO_ID &&
           gsim_index_key(&d->starving, slot) <= ctx->view->now_ns) {
        leave_line(d, ctx, slot);
        if (!gsim_index_insert(&d->promoted, slot, dlas_job(ctx, slot)->arrival, 0))
            gsim_common_no_memory(ctx);
    }
    while ((slot = gsim_index_first(&d->promoted)) != GSIM_NO_ID) {
        struct gsim_dlas_job *job = dlas_job(ctx, slot);
        gsim_index_remove(&d->promoted, slot);
        job->executed_ns = job->pending_ns = 0;
        job->queue = 0;
        job->position = d->back++;
        rank(d, ctx, slot);
        wait_in_line(d, ctx, slot);
    }
}

/* --- the jobs to run -------------------------------------------------------------------------- */

/* The first waiting job of a queue that fits. */
static gsim_slot first_fitting(const struct gsim_dlas *d, const struct gsim_ctx *ctx, uint32_t q,
                               int64_t left) {
    gsim_slot best = GSIM_NO_SLOT;
    for (uint32_t s = 0; s < d->n_sizes; s++) {
        gsim_slot slot = d->sizes[s] <= left ? d->queue[q].waiting[s].first : GSIM_NO_SLOT;
        if (slot != GSIM_NO_SLOT &&
            (best == GSIM_NO_SLOT || is_before(dlas_job(ctx, slot), dlas_job(ctx, best))))
            best = slot;
    }
    return best;
}

/* Merges the running jobs of a queue and the jobs demoted into it, in the queue's order. */
static void merge_running(struct gsim_dlas *d, const struct gsim_ctx *ctx, uint32_t q) {
    struct gsim_dlas_queue *queue = &d->queue[q];
    for (uint32_t i = 0; i < queue->n_moved; i++)
        queue->running[queue->n_running++] = queue->moved[i];
    queue->n_moved = 0;
    if (!d->history)
        return;
    for (uint32_t i = 0; i < queue->n_running; i++)
        rank(d, ctx, queue->running[i]);
    for (uint32_t i = 1; i < queue->n_running; i++) {
        gsim_slot slot = queue->running[i];
        uint32_t at = i;
        for (; at > 0 && is_before(dlas_job(ctx, slot), dlas_job(ctx, queue->running[at - 1]));
             at--)
            queue->running[at] = queue->running[at - 1];
        queue->running[at] = slot;
    }
}

/* Chooses greedily, in the queue's order, passing over jobs that do not fit. */
static void choose(struct gsim_dlas *d, const struct gsim_ctx *ctx, uint32_t q, int64_t *left) {
    struct gsim_dlas_queue *queue = &d->queue[q];
    uint32_t n = 0, at = 0;
    for (;;) {
        gsim_slot waiting = first_fitting(d, ctx, q, *left);
        gsim_slot slot = at < queue->n_running ? queue->running[at] : waiting;
        if (slot == GSIM_NO_SLOT)
            break;
        if (waiting != GSIM_NO_SLOT && is_before(dlas_job(ctx, waiting), dlas_job(ctx, slot)))
            slot = waiting;
        bool is_running = slot != waiting;
        at += is_running;
        /* a job in transition (never on an ideal device) keeps its GPUs */
        if (is_running && ctx->view->jobs.gpus[slot] > *left &&
            ctx->view->jobs.state[slot] == GSIM_RUNNING) {
            d->preempted[d->n_preempted++] = slot;
            continue;
        }
        if (!is_running) {
            leave_line(d, ctx, slot);
            d->started[d->n_started++] = slot;
        }
        dlas_job(ctx, slot)->position = INT64_MIN; /* from now on before all waiting jobs */
        *left -= ctx->view->jobs.gpus[slot];
        d->chosen[n++] = slot;
    }
    for (uint32_t i = 0; i < n; i++)
        queue->running[i] = d->chosen[i];
    queue->n_running = n;
}

/* --- stopping and starting -------------------------------------------------------------------- */

/* floor(service * knob) in whole seconds. */
static int64_t patience_ns(const struct gsim_dlas *d, const struct gsim_dlas_job *job) {
    int64_t executed_s = job->executed_ns / GSIM_NS_PER_S;
    return gsim_muldiv_floor(executed_s, d->knob_ppm, GSIM_PPM) * GSIM_NS_PER_S;
}

static void stop(struct gsim_dlas *d, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_dlas_job *job = dlas_job(ctx, slot);
    job->executed_ns = executed_ns(ctx, job);
    job->since_ns = ctx->view->now_ns;
    job->is_running = false;
    gsim_index_remove(&d->ending, slot);
    wait_in_line(d, ctx, slot);
    if (d->knob_ppm == 0 || job->queue == 0 || job->executed_ns == 0)
        return;
    int64_t due_ns = job->since_ns + patience_ns(d, job) - job->pending_ns;
    gsim_common_insert(ctx, &d->starving, slot, due_ns);
}

static void start(struct gsim_dlas *d, struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_dlas_job *job = dlas_job(ctx, slot);
    int64_t now_ns = ctx->view->now_ns;
    if (job->executed_ns > 0)
        job->pending_ns += now_ns - job->since_ns;
    job->since_ns = now_ns;
    job->is_running = true;
    gsim_common_insert(ctx, &d->ending, slot, now_ns + gsim_remaining_ns(ctx->view, slot));
}

/* Preempted jobs go before the waiting jobs, or behind them when they were demoted just now. */
static void carry_out(struct gsim_dlas *d, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_preemption how = gsim_settings_preemption(ctx, GSIM_KEEP_STORAGE);
    for (uint32_t i = d->n_preempted; i-- > 0;)
        if (dlas_job(ctx, d->preempted[i])->position == INT64_MIN)
            dlas_job(ctx, d->preempted[i])->position = --d->front;
    for (uint32_t i = 0; i < d->n_preempted; i++) {
        gsim_slot slot = d->preempted[i];
        if (dlas_job(ctx, slot)->position == INT64_MAX)
            dlas_job(ctx, slot)->position = d->back++;
        (void)gsim_plan_preempt(plan, slot, how.stop, how.keep);
        stop(d, ctx, slot);
    }
    for (uint32_t i = 0; i < d->n_started; i++) {
        if (gsim_common_waits(ctx->view, d->started[i]))
            (void)gsim_settings_place(ctx, plan, d->started[i], GSIM_RULE_ANY);
        start(d, ctx, d->started[i]);
    }
    d->n_preempted = d->n_started = 0;
}

/* --- the next event --------------------------------------------------------------------------- */

static int64_t next_fall_ns(const struct gsim_dlas *d, const struct gsim_ctx *ctx) {
    int64_t least_s = GSIM_NEVER / GSIM_NS_PER_S;
    for (uint32_t q = 0; q + 1 < d->n_queues; q++)
        for (uint32_t i = 0; i < d->queue[q].n_running; i++) {
            gsim_slot slot = d->queue[q].running[i];
            int64_t left_s = d->limits[q] - executed_ns(ctx, dlas_job(ctx, slot)) / GSIM_NS_PER_S;
            if (d->is_gpu_time)
                left_s /= ctx->view->jobs.gpus[slot];
            if (left_s < least_s)
                least_s = left_s;
        }
    if (least_s == GSIM_NEVER / GSIM_NS_PER_S)
        return GSIM_NEVER;
    return ctx->view->now_ns + (least_s > 0 ? least_s : 1) * GSIM_NS_PER_S;
}

static int64_t next_arrival_ns(const struct gsim_dlas *d, const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    if (d->n_arrived == trace->n_jobs)
        return GSIM_NEVER;
    return trace->submit_ns[trace->order ? trace->order[d->n_arrived] : d->n_arrived];
}

static void look_ahead(struct gsim_dlas *d, const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t jump_ns = next_fall_ns(d, ctx), arrival_ns = next_arrival_ns(d, ctx);
    gsim_slot starved = gsim_index_seek(&d->starving, ctx->view->now_ns + 1, 0);
    if (starved != GSIM_NO_ID && gsim_index_key(&d->starving, starved) < jump_ns)
        jump_ns = gsim_index_key(&d->starving, starved);
    gsim_plan_wake(plan, jump_ns);
    gsim_slot slot = gsim_index_first(&d->ending);
    if (slot == GSIM_NO_ID || gsim_index_key(&d->ending, slot) != arrival_ns)
        return;
    for (d->n_attached = 0; slot != GSIM_NO_ID && gsim_index_key(&d->ending, slot) == arrival_ns;
         slot = gsim_index_next(&d->ending, slot))
        d->attached[d->n_attached++] = slot;
}

void gsim_dlas_decide(struct gsim_dlas *dlas, struct gsim_ctx *ctx, struct gsim_plan *plan) {
    int64_t left = ctx->view->cluster.n_gpus;
    if (!dlas->has_event) /* a round that only this loop's own preemptions caused */
        return;
    dlas->has_event = false;
    if (ctx->view->changes.n_arrived > 0)
        end_attached(dlas, ctx, plan);
    drop_left(dlas, ctx);
    for (uint32_t q = 0; q + 1 < dlas->n_queues; q++)
        demote_from(dlas, ctx, q);
    promote_starved(dlas, ctx);
    for (uint32_t q = 0; q < dlas->n_queues; q++) {
        merge_running(dlas, ctx, q);
        choose(dlas, ctx, q, &left);
    }
    carry_out(dlas, ctx, plan);
    look_ahead(dlas, ctx, plan);
}
