/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AlloX (Le et al., "AlloX: Compute Allocation in Hybrid Clusters", EuroSys 2020), as Gavel has it:
 * jobs of one GPU. Jobs that wait are assigned to places in the queues of the free GPUs, so that
 * their mean time to the end is least: a job at place k from the end of a queue delays k jobs by
 * its own time. The first of each queue gets the GPU, and keeps it to its end.
 *
 * AlloX has no rule for gangs. Shockwave's authors ran it with gangs on their cluster
 * (uw-mad-dash/shockwave, scheduler/policies/allox.py): a gang is queued as a job of one GPU, has
 * one part in g of the time where it is the first, and is queued anew beside that, since only a
 * job with all of its time keeps a GPU.
 *
 * queued= is the alpha of the paper, a part of the jobs that wait: the others are not considered,
 * so that short jobs do not pass them for ever. The paper takes those that have had least, both
 * programs those that came first, and as many as there are free GPUs at least. Gavel's runs have
 * alpha 1, Shockwave's 0.2 (get_policy in scheduler/utils.py of each). */
#include "policies/gavel/allox.h"
#include "policies/gavel/optimum.h"
#include "policies/lib/assignment.h"
#include "sim/base/units.h"

struct allox {
    const struct gsim_ctx *ctx;
    const struct gavel *gavel;
    uint32_t *entry; /* of a row */
    uint32_t *type; /* of a free GPU */
    double *age_s; /* of a row */
    double *takes_s; /* of a row by type; below 0: it does not run there */
    uint32_t *column_of, *first; /* of a row; the row that a free GPU serves first */
    uint32_t n_rows, n_free;
};

static bool has_gpu(const struct gavel *gavel, const struct gsim_round_entry *entry) {
    bool has = false;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        has |= entry->of[type].share >= 1;
    return has;
}

static void learn_costs(struct allox *x) {
    const struct gavel *gavel = x->gavel;
    for (uint32_t row = 0; row < x->n_rows; row++) {
        uint32_t number = gavel->rounds.entry[x->entry[row]].member[0];
        const struct gavel_job *job = &gavel->job[number];
        double left = gavel_left(x->ctx, gavel, job);
        x->age_s[row] = gavel_age_s(x->ctx, gavel, number);
        for (uint32_t type = 0; type < gavel->n_types; type++)
            x->takes_s[(size_t)row * gavel->n_types + type] =
                job->per_s[type] > 0 ? left / job->per_s[type] : -1;
    }
}

/* The GPUs that no job has, in the order of their devices' names. */
static void find_free(struct allox *x) {
    const struct gavel *gavel = x->gavel;
    for (uint32_t t = 0; t < gavel->n_types; t++) {
        uint32_t type = gavel->by_name[t], n = gavel->n_gpus[type];
        for (uint32_t e = 0; e < gavel->rounds.n; e++)
            n -= gavel->rounds.entry[e].of[type].share >= 1;
        for (; n > 0; n--)
            x->type[x->n_free++] = type;
    }
    for (uint32_t e = 0; e < gavel->rounds.n; e++)
        if (!has_gpu(gavel, &gavel->rounds.entry[e]))
            x->entry[x->n_rows++] = e;
}

/* Only the first of the jobs that wait are queued: entries are in the order of arrival. */
static void leave_out_late(struct allox *x) {
    uint32_t queued = (uint32_t)((uint64_t)x->n_rows * x->gavel->queued_ppm / GSIM_PPM);
    queued = queued > x->n_free ? queued : x->n_free;
    x->n_rows = queued < x->n_rows ? queued : x->n_rows;
}

/* The row with the place farthest from the end is the first of its queue. */
static void give_gpus(struct allox *x, struct gsim_round_entry *entry) {
    for (uint32_t gpu = 0; gpu < x->n_free; gpu++)
        x->first[gpu] = GSIM_NO_MEMBER;
    for (uint32_t row = 0; row < x->n_rows; row++) {
        uint32_t *first = &x->first[x->column_of[row] % x->n_free];
        if (*first == GSIM_NO_MEMBER || x->column_of[row] > x->column_of[*first])
            *first = row;
    }
    for (uint32_t gpu = 0; gpu < x->n_free; gpu++)
        if (x->first[gpu] != GSIM_NO_MEMBER) {
            struct gsim_round_entry *e = &entry[x->entry[x->first[gpu]]];
            e->of[x->type[gpu]].share = e->per_s[0][x->type[gpu]] > 0 ? 1.0 / e->gpus : 0;
        }
}

bool gavel_queue(struct gsim_ctx *ctx, struct gavel *gavel) {
    struct allox x = {.ctx = ctx, .gavel = gavel};
    size_t n_gpus = 0, n = gavel->rounds.n;
    for (uint32_t type = 0; type < gavel->n_types; type++)
        n_gpus += gavel->n_gpus[type];
    uint32_t *lists = gsim_arena_grow(ctx->arena, NULL, 0, 2 * (n + n_gpus) * sizeof *lists);
    x.age_s = gsim_arena_grow(ctx->arena, NULL, 0, n * (1 + gavel->n_types) * sizeof *x.age_s);
    if (lists && x.age_s) {
        x.takes_s = x.age_s + n;
        x.entry = lists;
        x.column_of = lists + n;
        x.type = lists + 2 * n;
        x.first = x.type + n_gpus;
        find_free(&x);
        leave_out_late(&x);
        learn_costs(&x);
    }
    struct gsim_assignment assignment = {.n_rows = x.n_rows,
                                         .n_queues = x.n_free,
                                         .n_types = gavel->n_types,
                                         .type = x.type,
                                         .takes = x.takes_s,
                                         .own = x.age_s,
                                         .column_of = x.column_of};
    bool is_ok = lists && x.age_s &&
                 (x.n_free == 0 || x.n_rows == 0 || gsim_assign(&assignment, ctx->arena));
    if (!is_ok)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
    else if (x.n_free > 0)
        give_gpus(&x, gavel->rounds.entry);
    gsim_arena_drop(ctx->arena, lists);
    gsim_arena_drop(ctx->arena, x.age_s);
    return is_ok;
}
