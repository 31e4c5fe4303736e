/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A policy from outside that serves in order of arrival, and from the third arrival on does what
 * bad.how says. */
#include <gsim/lib.h>
#include <stdio.h>
#include <stdlib.h>

struct state {
    struct gsim_queue waiting;
    int64_t how, n;
};

enum {
    NONE,
    SEGV,
    ABORT,
    DIVIDE,
    LOOP,
    STACK,
    EXIT,
    PRINT,
    RULE,
    TWICE,
    PART,
    KIND,
    ORDER,
    WAY,
    KEEP,
    WIDE,
    STARVE,
    SILENT
};

static enum gsim_status open_bad(struct gsim_ctx *ctx) {
    struct state *s = ctx->state;
    gsim_queue_init(&s->waiting);
    s->how = gsim_param(ctx->params, "how");
    return GSIM_OK;
}

static volatile int zero, number = 1;

static int dig(int n) {
    volatile char hole[4096];
    hole[0] = (char)n;
    return dig(n + 1) + hole[0];
}

static void act(struct gsim_plan *plan, gsim_slot slot, int64_t how) {
    switch (how) {
    case SEGV:
        *(volatile int *)(uintptr_t)zero = 1;
        break;
    case ABORT:
        abort();
    case DIVIDE:
        number = number / zero;
        break;
    case LOOP:
        for (;;)
            zero = 0;
    case STACK:
        zero = dig(0);
        break;
    case EXIT:
        exit(0);
    case PRINT:
        printf("here is slot %u\n", slot);
        break;
    case RULE:
        (void)gsim_plan_preempt(plan, slot, GSIM_STOP_SAVE, GSIM_KEEP_STORAGE);
        break;
    default:
        break;
    }
}

/* In a way, or to a place, that there is not: it has no cost, and breaks a rule. */
static void stop(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, int64_t how) {
    enum gsim_stop way = how == WAY ? GSIM_STOP_COUNT : GSIM_STOP_SAVE;
    enum gsim_keep keep = how == KEEP ? GSIM_KEEP_COUNT : GSIM_KEEP_STORAGE;
    if (gsim_ask(ctx, slot, way, keep, NULL, 0).is_possible)
        abort();
    (void)gsim_plan_preempt(plan, slot, way, keep);
}

/* Verbs with what no job, GPU or word stands for, before the job is placed; a shape of more GPUs
 * than there are does not fit, and breaks no rule. */
static void misuse(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, int64_t how) {
    struct gsim_unit twice[] = {{.gpu = 3}, {.gpu = 3}};
    struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
    if (how == TWICE)
        (void)gsim_plan_place_on(plan, slot, twice, 2);
    if (how == PART)
        (void)gsim_plan_place_beside(plan, slot, twice, 1, (struct gsim_host){-1, 0});
    if (how == KIND)
        gsim_plan_watch(plan, slot, GSIM_WATCH_COUNT, 1);
    shape.rule = how == ORDER ? GSIM_RULE_COUNT : shape.rule;
    shape.gpus = how == WIDE ? UINT32_MAX : shape.gpus;
    if ((how == ORDER || how == WIDE) && gsim_plan_place(plan, slot, &shape))
        abort();
    if ((how == WAY || how == KEEP) && ctx->view->jobs.state[slot] == GSIM_QUEUED)
        for (uint32_t i = 0; i < ctx->view->jobs.n_active; i++)
            if (ctx->view->jobs.state[ctx->view->jobs.active[i]] == GSIM_RUNNING)
                stop(ctx, plan, ctx->view->jobs.active[i], how);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct state *s = ctx->state;
    gsim_queue_append(&s->waiting, ctx, slot);
    s->n++;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct state *s = ctx->state;
    int64_t how = s->n > 2 ? s->how : NONE;
    while (s->waiting.first != GSIM_NO_SLOT && how != STARVE) {
        gsim_slot slot = s->waiting.first;
        struct gsim_shape shape = gsim_shape_of(ctx->view, slot, GSIM_RULE_ANY);
        if (how == RULE)
            act(plan, slot, how);
        misuse(ctx, plan, slot, how);
        if (!gsim_plan_place(plan, slot, &shape))
            return;
        act(plan, slot, how);
        if (how == SILENT) {
            ctx->status = GSIM_FAILED;
            return;
        }
        gsim_queue_remove(&s->waiting, ctx, slot);
    }
}

static const struct gsim_param_def params[] = {
    {.name = "how",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "none",
     .choices = "none|segv|abort|divide|loop|stack|exit|print|rule|twice|part|kind|order|way|keep|"
                "wide|starve|silent",
     .help = "the bad deed"},
    {0}};

static const struct gsim_policy bad = {
    .name = "bad",
    .summary = "a bad policy",
    .paper = "none",
    .deviations = "none known",
    .params = params,
    .state_size = sizeof(struct state),
    .job_size = sizeof(struct gsim_queue_link),
    .open = open_bad,
    .on_arrival = on_arrival,
    .decide = decide,
};
GSIM_POLICY_EXPORT(bad)
