/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares that are best for an objective (policies/lib/shares.h). Jobs with equal speeds, gangs and
 * weights (with packing also of one model) count as one in objectives that do not look at how far
 * they are: the programme is as large as the number of kinds of jobs, not of jobs. With packing
 * pairs have columns too, those of two kinds in one. */
#include <string.h>

#include "policies/gavel/optimum.h"
#include "policies/gavel/users.h"
#include "policies/lib/shares.h"
#include "sim/base/units.h"

_Static_assert((int)GSIM_SHARE_TYPES == (int)GSIM_ROUND_TYPES, "both have room for all types");

/* Jobs that are equal for the programme. */
struct kind {
    double per_s[GSIM_ROUND_TYPES], gpus, weight;
    int64_t model; /* with packing: models that are as fast alone differ beside others */
    uint32_t user; /* where users share the cluster */
    uint32_t group; /* this time; GSIM_NO_MEMBER: none yet */
};

struct gavel_optimum {
    struct gsim_shares shares;
    struct gsim_share_job *job;
    struct gsim_share_entry *entry;
    uint32_t *group_of; /* by entry of the rounds */
    uint32_t capacity;
    uint32_t *pair_of; /* by two groups: the entry of their pairs; GSIM_NO_MEMBER: none yet */
    struct kind *kind;
    uint32_t n_kinds, kinds_capacity;
};

enum gsim_status gavel_open_optimum(struct gsim_ctx *ctx, struct gavel *gavel) {
    gavel->optimum = gsim_arena_alloc(ctx->arena, sizeof *gavel->optimum);
    if (!gavel->optimum)
        return gsim_no_memory(ctx->log, "opening gavel");
    gavel->optimum->shares.lp.arena = ctx->arena;
    gavel->optimum->shares.n_types = gavel->n_types;
    gavel->optimum->shares.is_as_gavel = gavel->is_reference;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        gavel->optimum->shares.gpus[type] = gavel->n_gpus[type];
    return GSIM_OK;
}

/* --- kinds ------------------------------------------------------------------------------------ */

static bool is_kind(const struct kind *kind, const struct gavel_job *job) {
    return kind->gpus == job->gpus && kind->weight == job->weight && kind->user == job->user &&
           kind->model == job->model && memcmp(kind->per_s, job->per_s, sizeof kind->per_s) == 0;
}

/* The number of the job's kind; GSIM_NO_MEMBER: no memory. */
static uint32_t kind_of(struct gsim_ctx *ctx, struct gavel_optimum *o,
                        const struct gavel_job *job) {
    for (uint32_t k = 0; k < o->n_kinds; k++)
        if (is_kind(&o->kind[k], job))
            return k;
    struct kind *grown =
        gsim_arena_room(ctx->arena, o->kind, o->n_kinds, &o->kinds_capacity, sizeof *grown);
    if (!grown)
        return GSIM_NO_MEMBER;
    o->kind = grown;
    struct kind *kind = &o->kind[o->n_kinds++];
    *kind = (struct kind){
        .gpus = job->gpus, .weight = job->weight, .model = job->model, .user = job->user};
    memcpy(kind->per_s, job->per_s, sizeof kind->per_s);
    return o->n_kinds - 1;
}

static bool needs_times(const struct gavel *gavel) {
    return gavel->objective == GAVEL_MAKESPAN || gavel->objective == GAVEL_FINISH_TIME ||
           gavel->objective == GAVEL_ALLOX;
}

bool gavel_counts_iterations(const struct gavel *gavel) {
    return needs_times(gavel) || gavel->objective == GAVEL_MAX_SUM;
}

/* By which the table has speeds beside others. Of jobs in phases that is a number of the table, and
 * of others one of the trace. */
static int64_t model_of(const struct gsim_ctx *ctx, const struct gavel_job *job, uint32_t number) {
    struct gsim_modes modes;
    if (job->epoch_iterations > 0 && gsim_ask_modes(ctx, job->slot, &modes))
        return INT64_C(1) << 32 | modes.mode[modes.at].model;
    return gsim_trace_get(ctx->view->trace, GSIM_COL_MODEL, number);
}

void gavel_learn_kind(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t number) {
    const struct gsim_trace *trace = ctx->view->trace;
    struct gavel_job *job = &gavel->job[number];
    int64_t weight_milli = gsim_trace_get(trace, GSIM_COL_WEIGHT_MILLI, number);
    job->weight = weight_milli < 0 ? 1 : (double)weight_milli / 1000;
    job->user = gavel->user ? gavel_user_of(ctx, number) : 0;
    job->model = gavel->has_packing ? model_of(ctx, job, number) : 0;
    job->kind = kind_of(ctx, gavel->optimum, job);
    if (job->kind == GSIM_NO_MEMBER)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    if (needs_times(gavel) && gsim_ask_service_ns(ctx, job->slot, job->iterations) <= 0)
        ctx->status =
            gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
                      "gavel: this objective counts iterations: job '%s' has none, or "
                      "no length of one",
                      gsim_trace_id(trace, number));
}

/* Whether equal jobs count as one kind. With users=fifo they do not: the first job of a user is
 * served before the next. */
static bool has_kinds(const struct gavel *gavel) {
    if (gavel->users == GAVEL_USERS_FIFO)
        return false;
    return gavel->objective == GAVEL_MAX_MIN || gavel->objective == GAVEL_WATER_FILLING ||
           gavel->objective == GAVEL_MAX_SUM;
}

/* --- the programme ---------------------------------------------------------------------------- */

static bool grow(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_optimum *o = gavel->optimum;
    uint32_t n = gavel->rounds.n, more = 2 * n;
    if (n <= o->capacity)
        return true;
    void *job = gsim_arena_grow_raw(ctx->arena, o->job, more * sizeof *o->job);
    o->job = job ? job : o->job;
    void *entry = job ? gsim_arena_grow_raw(ctx->arena, o->entry, more * sizeof *o->entry) : NULL;
    o->entry = entry ? entry : o->entry;
    void *group =
        entry ? gsim_arena_grow_raw(ctx->arena, o->group_of, more * sizeof *o->group_of) : NULL;
    o->group_of = group ? group : o->group_of;
    o->capacity = group ? more : o->capacity;
    return group != NULL;
}

double gavel_left(const struct gsim_ctx *ctx, const struct gavel *gavel,
                  const struct gavel_job *job) {
    if (gavel->is_reference || !needs_times(gavel))
        return (double)(job->iterations - job->done);
    struct gsim_modes modes;
    if (job->epoch_iterations > 0 && gsim_ask_modes(ctx, job->slot, &modes))
        return (double)(modes.epochs_ppm - modes.made_ppm) / GSIM_PPM *
               (double)job->epoch_iterations;
    double all_ns = (double)gsim_ask_service_ns(ctx, job->slot, job->iterations);
    double done = (double)gsim_attained_ns(ctx->view, job->slot) / all_ns;
    return (double)job->iterations * (done < 1 ? 1 - done : 0);
}

double gavel_age_s(const struct gsim_ctx *ctx, const struct gavel *gavel, uint32_t number) {
    return gavel->now_s - (double)ctx->view->trace->submit_ns[number] / (double)GSIM_NS_PER_S;
}

/* An objective that does not know how fast devices are takes a job to be as fast on all of them as
 * on the first on which it runs: its iterations left are set beside seconds. Max-min has only
 * ratios of one job's speeds, where the program of the reference takes 1. */
static double alike_per_s(const struct gavel *gavel, const struct gavel_job *job) {
    if (gavel->objective == GAVEL_MAX_MIN || gavel->objective == GAVEL_WATER_FILLING)
        return 1;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        if (job->per_s[type] > 0)
            return job->per_s[type];
    return 0;
}

/* Steps per second with a part of the cluster like that of each other job. */
static double isolated_per_s(const struct gavel *gavel, const struct gavel_job *job) {
    double sum = 0, per_s = 0, alike = alike_per_s(gavel, job);
    for (uint32_t t = 0; t < gavel->n_types; t++) {
        uint32_t type = gavel->by_name[t];
        double share = (double)gavel->n_gpus[type] / gavel->n_live / job->gpus;
        sum += share;
        per_s += share * (gavel->knows_speed ? job->per_s[type] : alike);
    }
    return per_s / (sum > 1 ? sum : 1);
}

/* How long the job takes with such a part, as it was and is. */
static double alone_s(const struct gsim_ctx *ctx, const struct gavel *gavel,
                      struct gavel_job *job) {
    double left = gavel_left(ctx, gavel, job);
    if (job->alone_per_s > 0)
        job->alone_s += (job->left_before - left) / job->alone_per_s;
    job->left_before = left;
    job->alone_per_s = isolated_per_s(gavel, job);
    return job->alone_per_s > 0 ? job->alone_s + left / job->alone_per_s : 0;
}

/* The speeds that the objective sees: none where the gang never fits. The reference takes all types
 * for equal also where the job does not run. */
static void set_speeds(const struct gavel *gavel, const struct gavel_job *job, const double *own,
                       double *per_s) {
    double alike = alike_per_s(gavel, job);
    for (uint32_t type = 0; type < gavel->n_types; type++) {
        per_s[type] = own[type];
        if (!gavel->knows_speed)
            per_s[type] = gavel->is_reference || per_s[type] > 0 ? alike : 0;
        if (!gavel->is_reference && gavel->n_gpus[type] < job->gpus)
            per_s[type] = 0;
    }
}

static void add_group(struct gsim_ctx *ctx, struct gavel *gavel, uint32_t e) {
    struct gavel_optimum *o = gavel->optimum;
    uint32_t number = gavel->rounds.entry[e].member[0], group = o->shares.n_jobs++;
    struct gavel_job *job = &gavel->job[number];
    o->job[group] = (struct gsim_share_job){.gpus = job->gpus,
                                            .weight = job->weight,
                                            .count = 1,
                                            .left = gavel_left(ctx, gavel, job),
                                            .age_s = gavel_age_s(ctx, gavel, number),
                                            .entity = job->user};
    if (gavel->objective == GAVEL_FINISH_TIME)
        o->job[group].alone_s = alone_s(ctx, gavel, job);
    o->entry[group] = (struct gsim_share_entry){.job = {group, GSIM_SHARE_ALONE}};
    set_speeds(gavel, job, job->per_s, o->entry[group].per_s[0]);
    o->group_of[e] = group;
}

static void build_jobs(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_optimum *o = gavel->optimum;
    o->shares.n_jobs = 0;
    for (uint32_t k = 0; k < o->n_kinds; k++)
        o->kind[k].group = GSIM_NO_MEMBER;
    for (uint32_t i = 0; i < gavel->n_live; i++) {
        const struct gavel_job *job = &gavel->job[gavel->live[i]];
        struct kind *kind = &o->kind[job->kind];
        if (has_kinds(gavel) && kind->group != GSIM_NO_MEMBER) {
            o->group_of[job->entry] = kind->group;
            o->job[kind->group].count++;
            continue;
        }
        add_group(ctx, gavel, job->entry);
        kind->group = o->group_of[job->entry];
    }
    o->shares.n_entries = o->shares.n_jobs;
}

/* Pairs of jobs of two groups are one entry, in which the lower group comes first. */
static void allow_pair(struct gavel *gavel, uint32_t e) {
    struct gavel_optimum *o = gavel->optimum;
    const struct gsim_round_entry *pair = &gavel->rounds.entry[e];
    const struct gavel_job *first = gavel_member(gavel, pair, 0);
    const struct gavel_job *second = gavel_member(gavel, pair, 1);
    uint32_t a = o->group_of[first->entry], b = o->group_of[second->entry];
    bool is_turned = a > b;
    uint32_t *at =
        &o->pair_of[(size_t)(is_turned ? b : a) * o->shares.n_jobs + (is_turned ? a : b)];
    if (*at == GSIM_NO_MEMBER) {
        struct gsim_share_entry *entry = &o->entry[ *at = o->shares.n_entries++];
        *entry = (struct gsim_share_entry){.job = {is_turned ? b : a, is_turned ? a : b}};
        set_speeds(gavel, first, pair->per_s[0], entry->per_s[is_turned]);
        set_speeds(gavel, second, pair->per_s[1], entry->per_s[!is_turned]);
    }
    o->group_of[e] = *at;
}

static bool build_pairs(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_optimum *o = gavel->optimum;
    size_t cells = (size_t)o->shares.n_jobs * o->shares.n_jobs;
    o->pair_of = gsim_arena_grow(ctx->arena, NULL, 0, (cells + 1) * sizeof *o->pair_of);
    if (!o->pair_of)
        return false;
    for (size_t i = 0; i < cells; i++)
        o->pair_of[i] = GSIM_NO_MEMBER;
    for (uint32_t e = 0; e < gavel->rounds.n; e++)
        if (gavel_is_pair(&gavel->rounds.entry[e]))
            allow_pair(gavel, e);
    gsim_arena_drop(ctx->arena, o->pair_of);
    return true;
}

static bool build(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_optimum *o = gavel->optimum;
    build_jobs(ctx, gavel);
    bool is_built = !gavel->has_packing || build_pairs(ctx, gavel);
    o->shares.job = o->job;
    o->shares.entity = gavel->user;
    o->shares.entry = o->entry;
    return is_built;
}

static enum gsim_lp_end solve(const struct gavel *gavel) {
    struct gsim_shares *shares = &gavel->optimum->shares;
    switch (gavel->objective) {
    case GAVEL_WATER_FILLING:
        return gsim_shares_water_fill(shares);
    case GAVEL_MAX_SUM:
        return gsim_shares_max_sum(shares);
    case GAVEL_MAKESPAN:
        return gsim_shares_makespan(shares, gavel->ends_as_tried);
    case GAVEL_FINISH_TIME:
        return gsim_shares_finish_time(shares);
    default:
        return gsim_shares_max_min(shares);
    }
}

bool gavel_optimise(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct gavel_optimum *o = gavel->optimum;
    if (!grow(ctx, gavel) || !build(ctx, gavel)) {
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
        return false;
    }
    enum gsim_lp_end end = solve(gavel);
    if (end != GSIM_LP_OPTIMAL) {
        ctx->status = gsim_fail(ctx->log, GSIM_FAILED, NULL, 0,
                                "gavel: the programme of the shares at %.6f s: %s", gavel->now_s,
                                gsim_lp_end_text(end));
        return false;
    }
    for (uint32_t e = 0; e < gavel->rounds.n; e++)
        for (uint32_t type = 0; type < gavel->n_types; type++)
            gavel->rounds.entry[e].of[type].share = o->entry[o->group_of[e]].share[type];
    return true;
}
