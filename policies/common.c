/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parameters and queues that cluster policies share. */
#include "policies/common.h"

enum { PERCENT_PPM = GSIM_PPM / 100 };

/* --- memory ----------------------------------------------------------------------------------- */

static const struct gsim_lane exclusive = {.discipline = GSIM_DISCIPLINE_EXCLUSIVE};

static bool has_size(const struct gsim_trace *trace, uint32_t job) {
    return gsim_trace_get(trace, GSIM_COL_MEM_BYTES, job) >= 0 ||
           gsim_trace_get(trace, GSIM_COL_WORKING_SET_BYTES, job) >= 0;
}

static enum gsim_status check_sizes(const struct gsim_ctx *ctx) {
    const struct gsim_trace *trace = ctx->view->trace;
    for (uint32_t job = 0; job < trace->n_jobs; job++)
        if (!has_size(trace, job))
            return gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                             "column 'mem_gib': moving memory needs to know how much job '%s' has, "
                             "and the trace does not say; give it with --assume mem_gib=SIZE, or "
                             "choose memory=resident",
                             gsim_trace_id(trace, job));
    return GSIM_OK;
}

enum gsim_status gsim_common_manage(struct gsim_ctx *ctx, const struct gsim_arrangement *how) {
    if (ctx->reference != GSIM_REFERENCE_NONE)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "memory=: the simulators that reference= names know no memory");
    struct gsim_arrangement *devices = gsim_arena_alloc(ctx->arena, sizeof *devices);
    if (!devices)
        return gsim_no_memory(ctx->log, "opening a policy");
    *devices = *how;
    devices->lanes = &exclusive;
    devices->n_lanes = 1;
    ctx->devices = devices;
    return check_sizes(ctx);
}

enum gsim_status gsim_common_open_memory(struct gsim_ctx *ctx) {
    /* The choices are in the order of the managers. What is alone on its GPU is predicted without
     * fault: nobody else's memory is there to confuse it with. */
    struct gsim_arrangement how = {.memory = (enum gsim_memory)gsim_param(ctx->params, "memory"),
                                   .pipeline = true,
                                   .early_start = true,
                                   .predict_by_template = true};
    return how.memory ? gsim_common_manage(ctx, &how) : GSIM_OK;
}

/* --- placement and preemption ----------------------------------------------------------------- */

bool gsim_common_make_whole(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    static const struct gsim_arrangement whole = {.lanes = &exclusive, .n_lanes = 1};
    struct gsim_unit unit = {.gpu = gpu};
    return gsim_plan_arrange(plan, &unit, 1, ctx->devices ? ctx->devices : &whole);
}

enum gsim_rule gsim_common_rule(const struct gsim_ctx *ctx) {
    static const enum gsim_rule by_choice[] = {
        GSIM_RULE_CONSOLIDATE, GSIM_RULE_ANY,      GSIM_RULE_SPREAD, GSIM_RULE_FULLEST,
        GSIM_RULE_SKEW,        GSIM_RULE_AFFINITY, GSIM_RULE_RANDOM};
    if (ctx->reference == GSIM_REFERENCE_TIRESIAS || ctx->reference == GSIM_REFERENCE_PAI)
        return GSIM_RULE_ANY;
    if (ctx->reference == GSIM_REFERENCE_HELIOS)
        return GSIM_RULE_FULLEST;
    enum gsim_rule rule = by_choice[gsim_param(ctx->params, "placement")];
    if (rule == GSIM_RULE_SKEW && !ctx->view->trace->column[GSIM_COL_MODEL])
        return GSIM_RULE_CONSOLIDATE;
    return rule;
}

enum gsim_rule gsim_common_rule_of(const struct gsim_ctx *ctx, gsim_slot slot,
                                   enum gsim_rule rule) {
    if (rule != GSIM_RULE_SKEW)
        return rule;
    /* consolidated also where the model is unknown */
    return gsim_trace_skew(ctx->view->trace, ctx->view->job[slot]) == 0 ? GSIM_RULE_ANY
                                                                        : GSIM_RULE_CONSOLIDATE;
}

struct gsim_preemption gsim_common_preemption(struct gsim_ctx *ctx, enum gsim_keep own) {
    static const struct gsim_preemption by_choice[] = {
        {GSIM_STOP_SAVE, GSIM_KEEP_STORAGE}, /* auto stands for one of the others */
        {GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT}, /* pause */
        {GSIM_STOP_ITERATION, GSIM_KEEP_HOST}, /* suspend */
        {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE}, /* restart */
        {GSIM_STOP_SAVE, GSIM_KEEP_DISCARD}, /* discard */
        {GSIM_STOP_KERNEL, GSIM_KEEP_IMAGE}, /* checkpoint: the driver's, at any kernel's end */
        {GSIM_STOP_KERNEL, GSIM_KEEP_PAGEABLE}, /* paging: the host stops, others push it out */
    };
    enum { AUTO, SUSPEND = 2, RESTART = 3, PAGING = 6 };
    if (ctx->reference != GSIM_REFERENCE_NONE) /* they know no boundaries and no memory */
        return by_choice[AUTO];
    int64_t choice = gsim_param(ctx->params, "preempt");
    if (choice == AUTO && ctx->devices)
        choice = PAGING;
    if (choice == AUTO)
        choice = own == GSIM_KEEP_HOST ? SUSPEND : RESTART;
    if (choice == PAGING && !ctx->devices)
        ctx->status =
            gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                      "preempt=paging leaves a job's memory to a manager, and memory=resident "
                      "has none; add --set memory=uvm, lru or proactive, or choose "
                      "preempt=suspend or restart");
    return by_choice[choice];
}

bool gsim_common_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                       enum gsim_rule rule) {
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, gsim_common_rule_of(ctx, slot, rule));
    shape.keeps_rate = ctx->reference == GSIM_REFERENCE_HELIOS; /* it ignores a gang's remainder */
    return gsim_plan_place(plan, slot, &shape);
}

int64_t gsim_common_share_unit(const struct gsim_trace *trace) {
    const int64_t *share_ppm = trace->column[GSIM_COL_SHARE_PPM];
    int64_t unit = GSIM_PPM / PERCENT_PPM;
    for (uint32_t job = 0; share_ppm && job < trace->n_jobs; job++)
        for (int64_t part = (gsim_trace_share(trace, job) + PERCENT_PPM - 1) / PERCENT_PPM;
             part > 0;) { /* Euclid's */
            int64_t rest = unit % part;
            unit = part;
            part = rest;
        }
    return unit * PERCENT_PPM;
}

int64_t gsim_common_times(int64_t a, int64_t b) {
    gsim_i128 product = (gsim_i128)a * b;
    return product > INT64_MAX ? INT64_MAX : (int64_t)product;
}

void gsim_common_no_memory(struct gsim_ctx *ctx) {
    if (ctx->log->n_errors == 0)
        ctx->status = gsim_no_memory(ctx->log, "ordering jobs");
}

void gsim_common_insert(struct gsim_ctx *ctx, struct gsim_index *index, gsim_slot slot,
                        int64_t key) {
    if (!gsim_index_insert(index, slot, key, ctx->view->job[slot]))
        gsim_common_no_memory(ctx);
}

void gsim_common_wake_first(struct gsim_plan *plan, const struct gsim_index *timed,
                            int64_t *set_ns) {
    gsim_slot first = gsim_index_first(timed);
    int64_t then_ns = first == GSIM_NO_ID ? GSIM_NEVER : gsim_index_key(timed, first);
    if (then_ns != *set_ns) /* else the timer is set already, or there is none */
        gsim_plan_wake(plan, then_ns);
    *set_ns = then_ns;
}

bool gsim_common_sees_use(const struct gsim_ctx *ctx) {
    const int64_t *const *column = ctx->view->trace->column;
    return column[GSIM_COL_GPU_NS] || column[GSIM_COL_HOST_NS] || column[GSIM_COL_HOST_GAP_NS] ||
           column[GSIM_COL_SM_PPM] || column[GSIM_COL_APP];
}

bool gsim_common_is_full(const struct gsim_view *view) {
    return view->n_idle_gpus == 0 && !view->is_pool && !view->trace->column[GSIM_COL_SHARE_PPM];
}

/* --- units that a plan gave ------------------------------------------------------------------- */

bool gsim_taken_reserve(struct gsim_taken *taken, struct gsim_ctx *ctx, uint32_t n) {
    if (n <= taken->capacity)
        return true;
    struct gsim_unit *grown = gsim_arena_array(ctx->arena, 2 * (size_t)n, sizeof *grown);
    if (!grown) {
        gsim_common_no_memory(ctx);
        return false;
    }
    taken->units = grown;
    taken->capacity = 2 * n;
    return true;
}

bool gsim_taken_note(struct gsim_taken *taken, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     gsim_slot slot) {
    const struct gsim_unit *units;
    uint32_t n = gsim_plan_units(plan, slot, &units);
    if (!gsim_taken_reserve(taken, ctx, n))
        return false;
    for (uint32_t u = 0; u < n; u++)
        taken->units[u] = units[u];
    taken->n = n;
    return n > 0;
}

bool gsim_taken_overlaps(const struct gsim_taken *taken, const struct gsim_plan *plan,
                         gsim_slot slot) {
    const struct gsim_unit *own;
    uint32_t n_own = gsim_plan_units(plan, slot, &own);
    for (uint32_t i = 0; i < n_own; i++)
        for (uint32_t u = 0; u < taken->n; u++)
            if (own[i].gpu == taken->units[u].gpu)
                return true;
    return false;
}

/* --- the queue -------------------------------------------------------------------------------- */

static struct gsim_link *link_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

void gsim_queue_init(struct gsim_queue *queue) {
    queue->first = queue->last = GSIM_NO_SLOT;
}

void gsim_queue_insert(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot before,
                       gsim_slot slot) {
    gsim_slot behind = before == GSIM_NO_SLOT ? queue->last : link_of(ctx, before)->before;
    *link_of(ctx, slot) = (struct gsim_link){behind, before};
    if (behind == GSIM_NO_SLOT)
        queue->first = slot;
    else
        link_of(ctx, behind)->after = slot;
    if (before == GSIM_NO_SLOT)
        queue->last = slot;
    else
        link_of(ctx, before)->before = slot;
}

void gsim_queue_append(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot) {
    gsim_queue_insert(queue, ctx, GSIM_NO_SLOT, slot);
}

void gsim_queue_append_arrived(struct gsim_queue *queue, const struct gsim_ctx *ctx) {
    for (uint32_t i = 0; i < ctx->view->n_arrived; i++)
        gsim_queue_append(queue, ctx, ctx->view->arrived[i]);
}

void gsim_queue_remove(struct gsim_queue *queue, const struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_link link = *link_of(ctx, slot);
    if (link.before == GSIM_NO_SLOT)
        queue->first = link.after;
    else
        link_of(ctx, link.before)->after = link.after;
    if (link.after == GSIM_NO_SLOT)
        queue->last = link.before;
    else
        link_of(ctx, link.after)->before = link.before;
}

/* --- misfits ---------------------------------------------------------------------------------- */

struct gsim_misfits gsim_misfits_none(const struct gsim_view *view, enum gsim_rule rule,
                                      bool keeps_paused) {
    const struct gsim_trace *trace = view->trace;
    bool has_memory =
        view->room == GSIM_ROOM_AMPLE || (view->room == GSIM_ROOM_BUT_FOR_PAUSED && !keeps_paused);
    return (struct gsim_misfits){
        .smallest = UINT32_MAX,
        .is_size_all = has_memory && !trace->column[GSIM_COL_CPUS_MILLI] &&
                       !trace->column[GSIM_COL_SHARE_PPM] && rule != GSIM_RULE_SKEW,
    };
}

bool gsim_misfits_place(struct gsim_misfits *misfits, const struct gsim_ctx *ctx,
                        struct gsim_plan *plan, gsim_slot slot, enum gsim_rule rule) {
    if (gsim_misfits_has(misfits, ctx->view, slot))
        return false;
    if (gsim_common_place(ctx, plan, slot, rule))
        return true;
    if (ctx->view->gpus[slot] < misfits->smallest)
        misfits->smallest = ctx->view->gpus[slot];
    return false;
}

/* --- the line --------------------------------------------------------------------------------- */

void gsim_line_init(struct gsim_line *line, const struct gsim_ctx *ctx, bool is_strict) {
    gsim_queue_init(&line->queue);
    line->rule = gsim_common_rule(ctx);
    line->is_strict = is_strict;
}

static inline bool place_of_line(const struct gsim_line *line, struct gsim_misfits *misfits,
                                 const struct gsim_ctx *ctx, struct gsim_plan *plan,
                                 gsim_slot slot) {
    return line->is_strict ? gsim_common_place(ctx, plan, slot, line->rule)
                           : gsim_misfits_place(misfits, ctx, plan, slot, line->rule);
}

/* Those that wait, when something was freed, or is back from repair: nothing else lets them fit. */
static void place_waiting(struct gsim_line *line, struct gsim_misfits *misfits,
                          const struct gsim_ctx *ctx, struct gsim_plan *plan) {
    gsim_slot after;
    for (gsim_slot slot = line->queue.first;
         slot != GSIM_NO_SLOT && !gsim_common_is_full(ctx->view); slot = after) {
        after = gsim_queue_after(ctx, slot);
        if (!line->is_strict && gsim_misfits_has(misfits, ctx->view, slot))
            continue; /* most of a long line */
        if (place_of_line(line, misfits, ctx, plan, slot))
            gsim_queue_remove(&line->queue, ctx, slot);
        else if (line->is_strict)
            return;
    }
}

/* Who is placed as soon as it comes never stands in the line. */
void gsim_line_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_line *line = ctx->state;
    const struct gsim_view *view = ctx->view;
    struct gsim_misfits misfits = {0};
    if (!line->is_strict)
        misfits = gsim_misfits_none(view, line->rule, false);
    if (view->n_completed > 0 || view->n_repairs != line->n_repairs)
        place_waiting(line, &misfits, ctx, plan);
    line->n_repairs = view->n_repairs;
    for (uint32_t i = 0; i < view->n_arrived; i++) {
        bool is_behind = line->is_strict && line->queue.first != GSIM_NO_SLOT;
        if (is_behind || gsim_common_is_full(view) ||
            !place_of_line(line, &misfits, ctx, plan, view->arrived[i]))
            gsim_queue_append(&line->queue, ctx, view->arrived[i]);
    }
}

/* --- rankings --------------------------------------------------------------------------------- */

void gsim_ranking_on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    struct gsim_ranking *ranking = ctx->state;
    gsim_ranked_completed(&ranking->ranked, slot);
}

void gsim_ranking_decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct gsim_ranking *ranking = ctx->state;
    if (ctx->reference == GSIM_REFERENCE_TIRESIAS)
        gsim_tiresias_decide(&ranking->tiresias, ctx, plan);
    else
        gsim_ranked_decide(&ranking->ranked, ctx, plan);
}
