/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a job could have, and what it costs. A configuration is a number of GPUs of one kind of
 * node: powers of two on one node, or whole nodes (Sia, section 3.3). */
#include "policies/adaptdl/sia.h"

#include "policies/lib/real.h"

static const double most_cost = 3000;

/* --- how fast a job would learn --------------------------------------------------------------- */

static double known_goodput(struct sia *sia, uint32_t learners, uint32_t number, bool is_spread,
                            uint32_t gpus) {
    return pollux_learn_speed(&sia->learners[learners], number, is_spread, gpus) *
           sia_learner(sia, learners, number)->fair_goodput;
}

/* The speed of a job on a type of GPU on which it has not run: its speed on a type on which it has,
 * times how much faster one GPU of that type is with the largest batch. */
static double learner_goodput(struct sia *sia, uint32_t learners, uint32_t number, bool is_spread,
                              uint32_t gpus) {
    const struct pollux_job *here = sia_learner(sia, learners, number);
    if (here->is_known)
        return known_goodput(sia, learners, number, is_spread, gpus);
    for (uint32_t other = 0; other < sia->n_learners; other++) {
        const struct pollux_job *there = sia_learner(sia, other, number);
        if (there->is_known)
            return known_goodput(sia, other, number, is_spread, gpus) * here->largest_per_s /
                   there->largest_per_s;
    }
    return 1;
}

/* A job that does not learn by a table: its speed there. */
static double own_speed(struct gsim_ctx *ctx, const struct sia *sia, uint32_t number,
                        const struct sia_kind *kind, uint32_t gpus) {
    struct gsim_where where = {.type = kind->type,
                               .gpus = gpus,
                               .nodes = gpus / kind->node_gpus + (gpus % kind->node_gpus != 0)};
    struct gsim_rate rate = gsim_ask_rate(ctx, sia->adaptdl.job[number].slot, &where);
    return gsim_real_of(rate.pace_q32, -32);
}

static uint32_t lesser(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The GPUs over which the job's batch, or the largest that it may have, can be spread. */
static uint32_t most_parts(const struct sia *sia, const struct gsim_learning *limits) {
    uint32_t batch = sia->adapts == SIA_ADAPTS_BATCH ? limits->max_batch : limits->own_batch;
    uint32_t most = batch / limits->min_local;
    return limits->most_gpus > 0 ? lesser(most, limits->most_gpus) : most;
}

/* A rigid job with more GPUs than its batch has parts is on them as its trace says; what it learned
 * says nothing of them. */
static bool is_beyond_batch(struct sia *sia, uint32_t number, const struct sia_kind *kind,
                            uint32_t gpus) {
    const struct gsim_learning *limits = &sia_learner(sia, kind->learners, number)->learner.limits;
    return sia->job[number].is_rigid && gpus > most_parts(sia, limits);
}

static double goodput(struct gsim_ctx *ctx, struct sia *sia, uint32_t number,
                      const struct sia_kind *kind, uint32_t gpus) {
    if (!sia_learner(sia, kind->learners, number)->is_learner ||
        is_beyond_batch(sia, number, kind, gpus))
        return own_speed(ctx, sia, number, kind, gpus);
    return learner_goodput(sia, kind->learners, number, gpus > kind->node_gpus, gpus);
}

/* --- configurations --------------------------------------------------------------------------- */

/* Twice as many GPUs as it has measured with on any type, and no more than its batch has parts. */
static uint32_t most_gpus(struct sia *sia, uint32_t number, const struct sia_kind *kind) {
    const struct gsim_learning *limits = &sia_learner(sia, kind->learners, number)->learner.limits;
    uint32_t widest = 0;
    for (uint32_t i = 0; i < sia->n_learners; i++) {
        uint32_t measured = sia_learner(sia, i, number)->widest;
        widest = measured > widest ? measured : widest;
    }
    uint32_t most = lesser(widest > 0 ? 2 * widest : 1, sia->widest);
    most = lesser(most, most_parts(sia, limits));
    return most > 0 ? most : 1;
}

static bool add(struct gsim_ctx *ctx, struct sia *sia, uint32_t kind, uint32_t gpus, double value) {
    enum { FIRST = 256 };
    if (sia->n_choices == sia->room_choices) {
        uint32_t more = sia->room_choices ? 2 * sia->room_choices : FIRST;
        sia->choice =
            gsim_arena_grow(ctx->arena, sia->choice, sia->room_choices * sizeof *sia->choice,
                            more * sizeof *sia->choice);
        sia->value = gsim_arena_grow(ctx->arena, sia->value, sia->room_choices * sizeof *sia->value,
                                     more * sizeof *sia->value);
        sia->power_of = gsim_arena_grow_raw(ctx->arena, sia->power_of, more * sizeof(double));
        sia->room_choices = sia->choice && sia->value && sia->power_of ? more : 0;
    }
    if (sia->room_choices == 0)
        return false;
    sia->choice[sia->n_choices] = (struct gsim_choice){.kind = kind, .units = gpus};
    sia->value[sia->n_choices++] = value;
    return true;
}

/* The next wider configuration. */
static uint32_t wider(const struct sia_kind *kind, uint32_t gpus) {
    if (gpus >= kind->node_gpus)
        return gpus + kind->node_gpus;
    return 2 * gpus < kind->node_gpus ? 2 * gpus : kind->node_gpus;
}

/* Whether the job can run on that kind of nodes at all. */
static bool can_run(struct gsim_ctx *ctx, struct sia *sia, uint32_t number,
                    const struct sia_kind *kind) {
    const struct pollux_job *there = sia_learner(sia, kind->learners, number);
    uint32_t gpus = sia->job[number].is_rigid ? sia->adaptdl.job[number].gpus : 1;
    if (gpus > kind->node_gpus * kind->n_nodes)
        return false;
    return there->is_learner ? there->largest_per_s > 0
                             : own_speed(ctx, sia, number, kind, gpus) > 0;
}

bool sia_fits(struct gsim_ctx *ctx, struct sia *sia, uint32_t number) {
    bool fits = false;
    for (uint32_t k = 0; k < sia->n_kinds; k++)
        fits |= can_run(ctx, sia, number, &sia->kind[k]);
    return fits;
}

/* The only configuration of a rigid job on that kind; of one that does not learn, its speed there
 * also says whether it can run. */
static bool list_rigid(struct gsim_ctx *ctx, struct sia *sia, uint32_t number, uint32_t k) {
    const struct sia_kind *kind = &sia->kind[k];
    uint32_t gpus = sia->adaptdl.job[number].gpus;
    bool is_learner = sia_learner(sia, kind->learners, number)->is_learner;
    if (gpus > kind->node_gpus * kind->n_nodes || (is_learner && !can_run(ctx, sia, number, kind)))
        return true;
    double value = goodput(ctx, sia, number, kind, gpus);
    return (!is_learner && !(value > 0)) || add(ctx, sia, k, gpus, value);
}

static bool list(struct gsim_ctx *ctx, struct sia *sia, uint32_t number) {
    for (uint32_t k = 0; k < sia->n_kinds; k++) {
        const struct sia_kind *kind = &sia->kind[k];
        if (sia->job[number].is_rigid) {
            if (!list_rigid(ctx, sia, number, k))
                return false;
            continue;
        }
        if (!can_run(ctx, sia, number, kind))
            continue;
        uint32_t most = lesser(most_gpus(sia, number, kind), kind->node_gpus * kind->n_nodes);
        for (uint32_t gpus = 1; gpus <= most; gpus = wider(kind, gpus))
            if (!add(ctx, sia, k, gpus, goodput(ctx, sia, number, kind, gpus)))
                return false;
    }
    return true;
}

/* --- costs ------------------------------------------------------------------------------------ */

/* The part of its speed that is left to a job that changes its configuration, by how much of its
 * life it has spent on restarts. */
static double left_of(const struct sia_job *job, int64_t now_ns) {
    int64_t age_ns = now_ns - job->submit_ns;
    int64_t left_ns = age_ns - job->n_restarts * job->restart_ns;
    if (age_ns < job->restart_ns)
        return 1;
    return left_ns > 0 ? (double)left_ns / (double)(age_ns + job->restart_ns) : 0;
}

/* A choice costs a negative power of its speed beside the slowest one of its row. The powers of
 * all rows are found at once. */
static void find_powers(struct sia *sia) {
    for (uint32_t c = 0; c < sia->n_choices; c++)
        sia->power_of[c] = sia->value[c] > 0 ? sia->value[c] : 1;
    gsim_real_logs(sia->power_of, sia->n_choices);
    for (uint32_t c = 0; c < sia->n_choices; c++)
        sia->power_of[c] *= -sia->power;
    gsim_real_exps(sia->power_of, sia->n_choices);
}

/* As whole numbers; the program's are hundredths, rounded half to even, and of equal ones the one
 * that cost less before rounding decides. */
static int64_t cost_of(const struct sia *sia, uint32_t c) {
    enum { HUNDREDTH = SIA_COST_ONE / 100, TIE = 1 << 12 };
    double cost = sia->value[c] > 0 ? sia->power_of[c] : most_cost;
    cost = 100 * (cost < most_cost ? cost : most_cost);
    int64_t down = (int64_t)cost, near = down;
    if (!sia->is_reference)
        return (int64_t)(cost * HUNDREDTH);
    near += cost - (double)down > 0.5 || (cost - (double)down >= 0.5 && down % 2 != 0);
    return near * HUNDREDTH + (int64_t)((cost - (double)near + 1) * TIE);
}

static bool is_present(const struct sia *sia, uint32_t number, const struct gsim_choice *choice) {
    const struct adaptdl_job *place = &sia->adaptdl.job[number];
    return place->n_nodes == choice->units && sia->kind_of_node[place->node[0]] == choice->kind;
}

/* Finds how fast the choices of a row are beside its slowest one, in place of their values, without
 * those that have none. */
static void compare(const struct gsim_ctx *ctx, struct sia *sia, struct gsim_choice_row *row,
                    uint32_t number) {
    uint32_t kept = row->first;
    double least = 0, left = left_of(&sia->job[number], ctx->view->now_ns);
    for (uint32_t c = row->first; c < sia->n_choices; c++)
        if (sia->value[c] > 0 && (least <= 0 || sia->value[c] < least))
            least = sia->value[c];
    for (uint32_t c = row->first; c < sia->n_choices; c++) {
        struct gsim_choice choice = sia->choice[c];
        if (!(sia->value[c] > 0))
            continue;
        double speed = sia->value[c] / least;
        sia->choice[kept] = choice;
        sia->value[kept++] = is_present(sia, number, &choice) ? speed : speed * left;
    }
    row->n = kept - row->first;
    sia->n_choices = kept;
}

/* Sets the costs of all choices, and drops those that cost more than none. */
static void weigh(struct sia *sia, uint32_t n_rows) {
    uint32_t kept = 0;
    find_powers(sia);
    for (uint32_t r = 0; r < n_rows; r++) {
        struct gsim_choice_row *row = &sia->row[r];
        uint32_t from = row->first, to = from + row->n;
        row->first = kept;
        for (uint32_t c = from; c < to; c++) {
            struct gsim_choice choice = sia->choice[c];
            choice.cost = cost_of(sia, c);
            if (choice.cost <= sia->none_cost)
                sia->choice[kept++] = choice;
        }
        row->n = kept - row->first;
    }
    sia->n_choices = kept;
}

static bool reserve(struct gsim_ctx *ctx, struct sia *sia) {
    uint32_t n = sia->n_listed;
    if (n <= sia->room_rows)
        return true;
    sia->room_rows = 2 * n;
    sia->row = gsim_arena_array(ctx->arena, sia->room_rows, sizeof *sia->row);
    sia->number = gsim_arena_array(ctx->arena, sia->room_rows, sizeof *sia->number);
    return sia->row && sia->number;
}

bool sia_weigh(struct gsim_ctx *ctx, struct sia *sia) {
    const struct adaptdl *adaptdl = &sia->adaptdl;
    uint32_t n = 0;
    if (!reserve(ctx, sia))
        return false;
    sia->n_choices = 0;
    for (uint32_t i = 0; i < sia->n_listed; i++) {
        uint32_t number = sia->listed[i];
        if (adaptdl_is_on_its_way(ctx, &adaptdl->job[number]))
            continue;
        for (uint32_t l = 0; l < sia->n_learners; l++)
            if (!pollux_learn_fair(&sia->learners[l], number, 1))
                return false;
        sia->number[n] = number;
        sia->row[n] = (struct gsim_choice_row){sia->n_choices, 0, sia->none_cost};
        if (!list(ctx, sia, number))
            return false;
        compare(ctx, sia, &sia->row[n++], number);
    }
    weigh(sia, n);
    sia->knapsack.n_rows = n;
    sia->knapsack.row = sia->row;
    sia->knapsack.choice = sia->choice;
    return true;
}
