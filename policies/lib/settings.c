/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The effects of the parameters of settings.h: the managers of memory, the placement rule, and the
 * way in which a running job gives way. */
#include "policies/lib/settings.h"

#include <string.h>

#include "sim/api/compat.h"
#include "sim/base/hints.h"

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
            return gsim_fail(
                ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, job),
                "column 'mem_gib': memory= moves memory, and the trace does not give the memory of "
                "job '%s'; give it with --assume mem_gib=SIZE, or choose memory=resident",
                gsim_trace_id(trace, job));
    return GSIM_OK;
}

enum gsim_status gsim_settings_manage(struct gsim_ctx *ctx, const struct gsim_arrangement *how) {
    if (ctx->reference != GSIM_REFERENCE_NONE)
        return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                         "memory=: the simulators of reference= do not model memory");
    struct gsim_arrangement *devices = gsim_arena_alloc(ctx->arena, sizeof *devices);
    if (!devices)
        return gsim_no_memory(ctx->log, "opening a policy");
    *devices = *how;
    devices->lanes = &exclusive;
    devices->n_lanes = 1;
    ctx->devices = devices;
    return check_sizes(ctx);
}

enum gsim_status gsim_settings_open_memory(struct gsim_ctx *ctx) {
    /* The choices are in the order of the managers. Memory of a job that is alone on its GPU is
     * predicted without fault: there is no other job's memory to confuse it with. */
    struct gsim_arrangement how = {
        .memory = (enum gsim_memory)gsim_param(ctx->params, "memory"),
        .migration = {.pipeline = true, .early_start = true, .predict_by_template = true}};
    return how.memory ? gsim_settings_manage(ctx, &how) : GSIM_OK;
}

/* --- placement and preemption ----------------------------------------------------------------- */

bool gsim_settings_make_whole(const struct gsim_ctx *ctx, struct gsim_plan *plan, uint32_t gpu) {
    static const struct gsim_arrangement whole = {.lanes = &exclusive, .n_lanes = 1};
    struct gsim_unit unit = {.gpu = gpu};
    return gsim_plan_arrange(plan, &unit, 1, ctx->devices ? ctx->devices : &whole);
}

enum gsim_rule gsim_settings_rule(const struct gsim_ctx *ctx) {
    static const enum gsim_rule by_choice[] = {
        GSIM_RULE_CONSOLIDATE, GSIM_RULE_ANY,      GSIM_RULE_SPREAD, GSIM_RULE_FULLEST,
        GSIM_RULE_SKEW,        GSIM_RULE_AFFINITY, GSIM_RULE_RANDOM};
    enum gsim_rule rule = gsim_compat_of(ctx->reference)->rule;
    if (rule != GSIM_RULE_COUNT)
        return rule;
    rule = by_choice[gsim_param(ctx->params, "placement")];
    if (rule == GSIM_RULE_SKEW && !ctx->view->trace->column[GSIM_COL_MODEL])
        return GSIM_RULE_CONSOLIDATE;
    return rule;
}

/* Consolidated also where the model is unknown. */
GSIM_APART static enum gsim_rule rule_by_skew(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_trace_skew(ctx->view->trace, ctx->view->jobs.index[slot]) == 0
               ? GSIM_RULE_ANY
               : GSIM_RULE_CONSOLIDATE;
}

enum gsim_rule gsim_settings_rule_of(const struct gsim_ctx *ctx, gsim_slot slot,
                                     enum gsim_rule rule) {
    return gsim_mostly(rule != GSIM_RULE_SKEW) ? rule : rule_by_skew(ctx, slot);
}

enum { AUTO, SUSPEND = 2, RESTART = 3, PAGING = 6 };

static int64_t auto_choice(const struct gsim_ctx *ctx, enum gsim_keep own) {
    return ctx->devices ? PAGING : own == GSIM_KEEP_HOST ? SUSPEND : RESTART;
}

static struct gsim_preemption way_of(int64_t choice) {
    static const struct gsim_preemption by_choice[] = {
        {GSIM_STOP_SAVE, GSIM_KEEP_STORAGE}, /* auto stands for one of the others */
        {GSIM_STOP_KERNEL, GSIM_KEEP_RESIDENT}, /* pause */
        {GSIM_STOP_ITERATION, GSIM_KEEP_HOST}, /* suspend */
        {GSIM_STOP_ITERATION, GSIM_KEEP_STORAGE}, /* restart */
        {GSIM_STOP_SAVE, GSIM_KEEP_DISCARD}, /* discard */
        {GSIM_STOP_KERNEL, GSIM_KEEP_IMAGE}, /* checkpoint: the driver's, at any kernel's end */
        {GSIM_STOP_KERNEL, GSIM_KEEP_PAGEABLE}, /* paging: the host stops, others push it out */
        {GSIM_STOP_ITERATION, GSIM_KEEP_RESIDENT}, /* pause-iteration: the program stands still */
    };
    return by_choice[choice];
}

struct gsim_preemption gsim_settings_preemption_auto(const struct gsim_ctx *ctx,
                                                     enum gsim_keep own) {
    return way_of(auto_choice(ctx, own));
}

struct gsim_preemption gsim_settings_preemption(struct gsim_ctx *ctx, enum gsim_keep own) {
    /* reference simulators know no boundaries and no memory */
    if (ctx->reference != GSIM_REFERENCE_NONE)
        return way_of(AUTO);
    int64_t choice = gsim_param(ctx->params, "preempt");
    if (choice == AUTO)
        choice = auto_choice(ctx, own);
    if (choice == PAGING && !ctx->devices)
        ctx->status =
            gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                      "preempt=paging leaves a job's memory to a manager, and memory=resident "
                      "has none; add --set memory=uvm, lru or proactive, or choose "
                      "preempt=suspend or restart");
    return way_of(choice);
}

/* The core finds GPUs for a move by way of the host alone. */
bool gsim_settings_move(struct gsim_plan *plan, gsim_slot slot, const struct gsim_shape *shape,
                        struct gsim_preemption way) {
    uint32_t mark = gsim_plan_mark(plan);
    const struct gsim_unit *units;
    if (!gsim_plan_move(plan, slot, shape))
        return false;
    if (way.keep != GSIM_KEEP_STORAGE && way.keep != GSIM_KEEP_IMAGE &&
        way.keep != GSIM_KEEP_DISCARD)
        return true;
    uint32_t n_units = gsim_plan_units(plan, slot, &units);
    struct gsim_unit *own = gsim_arena_array(gsim_plan_scratch(plan), n_units, sizeof *own);
    if (own)
        memcpy(own, units, n_units * sizeof *own);
    gsim_plan_rollback(plan, mark);
    return own && gsim_plan_move_on(plan, slot, own, n_units, way.stop, way.keep);
}

bool gsim_settings_place(const struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot,
                         enum gsim_rule rule) {
    struct gsim_shape shape =
        gsim_shape_of(ctx->view, slot, gsim_settings_rule_of(ctx, slot, rule));
    shape.keeps_rate = gsim_compat_of(ctx->reference)->keeps_rate;
    return gsim_plan_place(plan, slot, &shape);
}
