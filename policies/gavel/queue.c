/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served: jobs in the order of their arrival take GPUs of the type on which they
 * are fastest, until one finds none. Without speeds a job takes a random type, and keeps it to its
 * end. With packing the next jobs join those that have GPUs, until one finds no partner. */
#include <string.h>

#include "policies/gavel/packing.h"
#include "policies/gavel/queue.h"

/* What two jobs have to make beside each other, as parts of what they make alone: Gavel's program,
 * scheduler/policies/fifo.py, packing_threshold. */
static const double least_packed = 1.5;

struct queue {
    struct gsim_ctx *ctx;
    struct gavel *gavel;
    int64_t left[GSIM_ROUND_TYPES]; /* GPUs; the program gives more than there are */
    uint32_t *waiting, n_waiting, next;
    /* Entries of single jobs in the order in which they got GPUs; GSIM_NO_MEMBER: paired since. */
    uint32_t *served, n_served;
};

static struct gsim_round_entry *entry_of(const struct queue *q, uint32_t number) {
    return &q->gavel->rounds.entry[q->gavel->job[number].entry];
}

static void serve(struct queue *q, uint32_t number, uint32_t type) {
    struct gsim_round_entry *entry = entry_of(q, number);
    entry->of[type].share = 1;
    q->left[type] -= entry->gpus;
    q->served[q->n_served++] = number;
}

static bool has_any(const struct queue *q) {
    bool has = false;
    for (uint32_t type = 0; type < q->gavel->n_types; type++)
        has |= q->left[type] > 0;
    return has;
}

/* --- by speed --------------------------------------------------------------------------------- */

/* The type with GPUs for the job on which it is fastest; GAVEL_NO_TYPE: none. The program looks at
 * types without speed as well, and gives the job none of them. */
static uint32_t best_type(const struct queue *q, const struct gavel_job *job) {
    uint32_t best = GAVEL_NO_TYPE;
    for (uint32_t t = 0; t < q->gavel->n_types; t++) {
        uint32_t type = q->gavel->by_name[t];
        bool runs = job->per_s[type] > 0 || q->gavel->is_reference;
        if (q->left[type] >= job->gpus && runs &&
            (best == GAVEL_NO_TYPE || job->per_s[type] > job->per_s[best]))
            best = type;
    }
    return best;
}

static void serve_fastest(struct queue *q) {
    while (q->next < q->n_waiting && has_any(q)) {
        uint32_t number = q->waiting[q->next], best = best_type(q, &q->gavel->job[number]);
        if (best == GAVEL_NO_TYPE) {
            q->next += q->gavel->is_reference; /* the program forgets it this time */
            return;
        }
        if (q->gavel->job[number].per_s[best] > 0)
            serve(q, number, best);
        q->next++;
    }
}

/* --- pairs ------------------------------------------------------------------------------------ */

static uint32_t type_of(const struct gavel *gavel, const struct gsim_round_entry *entry) {
    uint32_t type = 0;
    while (type < gavel->n_types && entry->of[type].share < 1)
        type++;
    return type;
}

/* The served job beside which the next job loses least; n_served: none. */
static uint32_t best_partner(const struct queue *q, uint32_t number) {
    uint32_t best = q->n_served;
    double most = least_packed;
    for (uint32_t i = 0; i < q->n_served; i++) {
        const struct gsim_round_entry *pair =
            q->served[i] == GSIM_NO_MEMBER ? NULL : gavel_pair(q->gavel, q->served[i], number);
        if (!pair)
            continue;
        double packed = gavel_packed(q->gavel, pair, type_of(q->gavel, entry_of(q, q->served[i])));
        if (packed <= most)
            continue;
        most = packed;
        best = i;
    }
    return best;
}

static void serve_pairs(struct queue *q) {
    for (; q->next < q->n_waiting; q->next++) {
        uint32_t number = q->waiting[q->next], with = best_partner(q, number);
        if (with == q->n_served)
            return;
        struct gsim_round_entry *alone = entry_of(q, q->served[with]);
        uint32_t type = type_of(q->gavel, alone);
        alone->of[type].share = 0;
        gavel_pair(q->gavel, q->served[with], number)->of[type].share = 1;
        q->served[with] = GSIM_NO_MEMBER;
    }
}

/* --- without speeds --------------------------------------------------------------------------- */

/* A job keeps its type, and the program looks neither at how many GPUs there are of it in all, nor
 * for another type where the job has no speed on that one. */
static void refuse_place(const struct queue *q, uint32_t number, uint32_t type) {
    const struct gsim_trace *trace = q->ctx->view->trace;
    const char *name = gsim_ask_device(q->ctx, (uint16_t)type);
    if (q->ctx->status != GSIM_OK)
        return;
    bool runs = q->gavel->job[number].per_s[type] > 0;
    q->ctx->status = gsim_fail(
        q->ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
        "job '%s' would wait for ever: it asks for %u GPUs, and the program of reference=gavel, "
        "fifo without speeds, gives it type '%s' alone, which has %lld%s; run it with "
        "sees_speed=on, or without reference=gavel",
        gsim_trace_id(trace, number), q->gavel->job[number].gpus, name ? name : "",
        (long long)q->gavel->n_gpus[type], runs ? "" : ", and on which its speed is 0");
}

static void fix(struct queue *q, uint32_t number, uint32_t type) {
    q->gavel->job[number].fixed_type = type + 1;
    if (q->gavel->job[number].gpus > q->gavel->n_gpus[type])
        refuse_place(q, number, type);
    serve(q, number, type);
}

/* Jobs keep their types. In the program the first job of the queue takes the place of one that is
 * gone, if it has speed there and its gang finds as many GPUs before later jobs have theirs. */
static void keep_types(struct queue *q) {
    struct gavel *gavel = q->gavel;
    for (uint32_t number = 0; number < q->ctx->view->trace->n_jobs; number++) {
        struct gavel_job *job = &gavel->job[number];
        uint32_t type = job->fixed_type - 1;
        if (job->fixed_type == 0)
            continue;
        if (job->is_active && !job->is_new) {
            serve(q, number, type);
            continue;
        }
        if (job->is_active)
            continue;
        job->fixed_type = 0;
        if (!gavel->is_reference || q->next == q->n_waiting)
            continue;
        uint32_t next = q->waiting[q->next];
        struct gavel_job *first = &gavel->job[next];
        first->is_new = q->left[type] >= first->gpus && first->per_s[type] > 0;
        if (!first->is_new)
            continue;
        fix(q, next, type);
        q->next++;
    }
}

static void drop_type(uint32_t *open, uint32_t *n, uint32_t at) {
    memmove(&open[at], &open[at + 1], (*n - at - 1) * sizeof *open);
    --*n;
}

/* A random type of those with GPUs. The program (stanford-futuredata/gavel, scheduler/policies/
 * fifo.py) draws one that fits, and then gives the job the last by name of those that have been
 * free, fit or not; when that one is full, the drawn type is the one that counts as full. A job
 * without speed there waits for the next time. */
static void serve_anywhere(struct queue *q) {
    struct gavel *gavel = q->gavel;
    uint32_t open[GSIM_ROUND_TYPES], n = 0;
    for (uint32_t t = 0; t < gavel->n_types; t++)
        if (q->left[gavel->by_name[t]] > 0)
            open[n++] = gavel->by_name[t];
    while (q->next < q->n_waiting && n > 0) {
        uint32_t number = q->waiting[q->next], at[GSIM_ROUND_TYPES], n_fit = 0;
        for (uint32_t i = 0; i < n; i++)
            if (q->left[open[i]] >= gavel->job[number].gpus &&
                (gavel->is_reference || gavel->job[number].per_s[open[i]] > 0))
                at[n_fit++] = i;
        if (n_fit == 0)
            return;
        uint32_t drawn = at[gsim_python_below(&gavel->draws, n_fit)];
        uint32_t type = gavel->is_reference ? open[n - 1] : open[drawn];
        q->next++;
        if (!(gavel->job[number].per_s[type] > 0))
            continue;
        fix(q, number, type);
        if (q->left[type] == 0)
            drop_type(open, &n, drawn);
    }
}

/* With all GPUs free and no more to come, jobs without a type never get one. */
static void refuse_idle(struct queue *q) {
    const struct gavel *gavel = q->gavel;
    if (q->n_served == 0 && q->n_waiting > 0 && gavel->n_ever == q->ctx->view->trace->n_jobs)
        refuse_place(q, q->waiting[0], gavel->by_name[gavel->n_types - 1]);
}

/* --- all -------------------------------------------------------------------------------------- */

static void line_up(struct queue *q) {
    struct gavel *gavel = q->gavel;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        q->left[type] = gavel->n_gpus[type];
    for (uint32_t i = 0; i < gavel->rounds.n; i++)
        gsim_rounds_unshare(&gavel->rounds, &gavel->rounds.entry[i]);
    for (uint32_t i = 0; i < gavel->n_live; i++) {
        struct gavel_job *job = &gavel->job[gavel->live[i]];
        job->is_new = false;
        if (gavel->knows_speed || job->fixed_type == 0)
            q->waiting[q->n_waiting++] = gavel->live[i];
    }
}

bool gavel_serve(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct queue q = {.ctx = ctx, .gavel = gavel};
    size_t n = gavel->n_live;
    q.waiting = gsim_arena_grow(ctx->arena, NULL, 0, (2 * n + 1) * sizeof *q.waiting);
    if (!q.waiting) {
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
        return false;
    }
    q.served = q.waiting + n;
    line_up(&q);
    if (gavel->knows_speed) {
        serve_fastest(&q);
        if (gavel->has_packing)
            serve_pairs(&q);
    } else {
        keep_types(&q);
        serve_anywhere(&q);
        refuse_idle(&q);
    }
    gsim_arena_drop(ctx->arena, q.waiting);
    return true;
}
