/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pollux: GPUs and batches by goodput, what a job learns per time. Source: Qiao et al., "Pollux:
 * Co-adaptive Cluster Scheduling for Goodput-Optimized Deep Learning", OSDI 2021, and its simulator
 * (petuum/adaptdl, branch osdi21-artifact, simulator/pollux.py, goodput.py, speedup.py).
 *
 * A job knows nothing of itself at first: it counts as faster by each GPU, gets one, and has the
 * smallest batch. While it runs it measures its steps and the noise of its gradients; of these it
 * makes a model of the time of a step by nodes, GPUs and batch (fit.c), and at each tick, and at
 * the end of each epoch, takes the batch with the most goodput by the model (goodput.c). It may get
 * twice as many GPUs as it has measured with. Each tick a search (search.c) draws matrices of jobs
 * by nodes, and begins with the best ones of the last tick. The best matrix has the largest power
 * mean (exponent -1) of the jobs' speeds, each over its speed on a fair share; a job that changes
 * its GPUs counts less, the more of its life it has spent on restarts. No two jobs on several nodes
 * meet on one (interference=avoid).
 *
 * The search draws from the run's seed; the program draws from none. reference=pollux copies the
 * clock of the simulator, and that it reads the matrices of the last tick by the places of jobs in
 * a list with an order that changes, so that rows of some jobs go to others; else each job has its
 * own. */
#include "policies/adaptdl/learn.h"
#include "policies/adaptdl/search.h"
#include "policies/lib/one_type.h"

struct pollux {
    struct adaptdl adaptdl; /* first: what adaptdl_* functions see */
    struct pollux_jobs jobs;
    struct pollux_search search;
    struct pollux_problem problem;
    /* by row of the matrix: the jobs, their limits, how they are */
    uint32_t *row, *most;
    double *factor;
    struct pollux_cells base;
    uint32_t room_rows, most_gpus;
    uint32_t n_to_come; /* jobs of the trace */
};

static struct pollux *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

static void fail(struct gsim_ctx *ctx) {
    if (ctx->status == GSIM_OK)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
}

/* --- jobs come, measure and end --------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* The GPUs that a job could get, once it has measured with half of them. */
static uint32_t most_ever(const struct pollux *pollux, uint32_t number) {
    const struct pollux_job *job = &pollux->jobs.job[number];
    const struct gsim_learning *limits = &job->learner.limits;
    if (!job->is_learner)
        return least(pollux->adaptdl.job[number].gpus, pollux->most_gpus);
    uint32_t most = least(pollux->most_gpus, limits->max_batch / limits->min_local);
    return limits->most_gpus > 0 ? least(most, limits->most_gpus) : most;
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    uint32_t number = ctx->view->jobs.index[slot];
    adaptdl_arrive(ctx, slot);
    own(ctx)->n_to_come--;
    if (!pollux_learn_begin(&own(ctx)->jobs, ctx, number, slot))
        fail(ctx);
    else if (gsim_one_type_up_to(ctx, slot, most_ever(own(ctx), number)) &&
             !own(ctx)->jobs.job[number].is_learner)
        (void)gsim_runs_somewhere(ctx, slot, own(ctx)->adaptdl.job[number].gpus);
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    if (kind == GSIM_WATCH_EPOCHS)
        own(ctx)->jobs.job[ctx->view->jobs.index[slot]].is_ended_epoch = true;
}

/* Looks at jobs that run; each takes its batch anew. */
static void look(struct gsim_ctx *ctx, bool is_tick) {
    struct pollux *pollux = own(ctx);
    struct adaptdl *adaptdl = &pollux->adaptdl;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        uint32_t number = adaptdl->active[i];
        if (!pollux_learn_visit(&pollux->jobs, ctx, number, adaptdl->job[number].slot, is_tick))
            fail(ctx);
    }
}

static void set_batches(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct pollux *pollux = own(ctx);
    struct adaptdl *adaptdl = &pollux->adaptdl;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        uint32_t number = adaptdl->active[i];
        if (!pollux_learn_tune(&pollux->jobs, plan, number, &adaptdl->job[number]))
            fail(ctx);
    }
}

/* --- a tick ----------------------------------------------------------------------------------- */

static bool reserve(struct gsim_ctx *ctx, struct pollux *pollux) {
    uint32_t n = pollux->adaptdl.n_active;
    if (n <= pollux->room_rows)
        return true;
    pollux->room_rows = 2 * n;
    pollux->row = gsim_arena_array(ctx->arena, 2 * n, sizeof *pollux->row);
    pollux->most = gsim_arena_array(ctx->arena, 2 * n, sizeof *pollux->most);
    pollux->factor = gsim_arena_array(ctx->arena, 2 * n, sizeof *pollux->factor);
    if (!pollux->base.cell)
        pollux->base.cell =
            gsim_arena_array(ctx->arena, pollux->adaptdl.n_gpus, sizeof *pollux->base.cell);
    return pollux->row && pollux->most && pollux->factor && pollux->base.cell;
}

static bool is_behind(const struct pollux_job *a, const struct pollux_job *b) {
    return a->attained_ns != b->attained_ns ? a->attained_ns > b->attained_ns
                                            : a->submit_ns > b->submit_ns;
}

/* Rows begin with the job that has had the least; of equals the one that came first. */
static void sort_rows(struct pollux *pollux) {
    const struct adaptdl *adaptdl = &pollux->adaptdl;
    const struct pollux_job *jobs = pollux->jobs.job;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        uint32_t at = i, number = adaptdl->active[i];
        for (; at > 0 && is_behind(&jobs[pollux->row[at - 1]], &jobs[number]); at--)
            pollux->row[at] = pollux->row[at - 1];
        pollux->row[at] = number;
    }
}

static uint32_t most_of(const struct pollux *pollux, uint32_t number) {
    const struct pollux_job *job = &pollux->jobs.job[number];
    uint32_t most = most_ever(pollux, number);
    if (!job->is_learner)
        return most;
    return least(most, job->widest > 0 ? 2 * job->widest : 1);
}

static double factor_of(const struct pollux_job *job, int64_t now_ns, int64_t restart_ns) {
    int64_t age_ns = now_ns - job->submit_ns, left_ns = age_ns - job->n_restarts * restart_ns;
    return left_ns > 0 ? (double)left_ns / (double)(age_ns + restart_ns) : 0;
}

static double speed_of(void *arg, uint32_t row, bool is_spread, uint32_t gpus) {
    struct pollux *pollux = arg;
    return pollux_learn_speed(&pollux->jobs, pollux->row[row], is_spread, gpus);
}

/* Its nodes are listed in order, once for each GPU. */
static void note_row(struct pollux_cells *base, uint32_t row, const struct adaptdl_job *place) {
    for (uint32_t u = 0; u < place->n_nodes; u++)
        if (u > 0 && place->node[u] == place->node[u - 1])
            base->cell[base->n - 1].gpus++;
        else
            base->cell[base->n++] = (struct pollux_cell){row, place->node[u], 1};
}

static bool describe(struct gsim_ctx *ctx, struct pollux *pollux) {
    struct adaptdl *adaptdl = &pollux->adaptdl;
    uint32_t n = adaptdl->n_active;
    uint32_t fair = adaptdl->n_gpus / n + (adaptdl->n_gpus % n != 0);
    int64_t restart_ns = gsim_param(ctx->params, "restart");
    sort_rows(pollux);
    pollux->base.n = 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t number = pollux->row[j];
        note_row(&pollux->base, j, &adaptdl->job[number]);
        pollux->most[j] = most_of(pollux, number);
        pollux->factor[j] = factor_of(&pollux->jobs.job[number], ctx->view->now_ns, restart_ns);
        if (!pollux_learn_fair(&pollux->jobs, number, fair))
            return false;
    }
    pollux->problem.n_jobs = n;
    pollux->problem.job = pollux->row;
    pollux->problem.base = pollux->base;
    pollux->problem.most = pollux->most;
    pollux->problem.factor = pollux->factor;
    return true;
}

/* Gives a job the GPUs of its row. */
static bool take_row(struct gsim_ctx *ctx, struct pollux *pollux, uint32_t number,
                     const struct pollux_cell *row, uint32_t n) {
    struct adaptdl_job *place = &pollux->adaptdl.job[number];
    struct pollux_job *job = &pollux->jobs.job[number];
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < n; i++)
        gpus += row[i].gpus;
    if (gpus > 0 && !adaptdl_reserve(ctx, place, gpus))
        return false;
    place->is_changed = true;
    place->n_nodes = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t u = 0; u < row[i].gpus; u++)
            place->node[place->n_nodes++] = row[i].node;
    job->n_restarts += gpus > 0 && job->has_started;
    job->has_started |= gpus > 0;
    job->wants_batch = true;
    return true;
}

/* No job is to come, and each one runs as fast as it ever could, for good: a job that does not
 * learn, on all GPUs that it asks for. Any other matrix is worse, since a change costs, so that no
 * search from here on finds one, or is missed by a later one for its lots. */
static bool is_settled(const struct gsim_ctx *ctx, const struct pollux *pollux) {
    const struct adaptdl *adaptdl = &pollux->adaptdl;
    if (pollux->n_to_come > 0)
        return false;
    for (uint32_t i = 0; i < adaptdl->n_active; i++) {
        uint32_t number = adaptdl->active[i];
        const struct adaptdl_job *place = &adaptdl->job[number];
        uint32_t most = least(most_ever(pollux, number), adaptdl->n_gpus);
        if (pollux->jobs.job[number].is_learner || place->n_nodes < most ||
            ctx->view->jobs.state[place->slot] != GSIM_RUNNING)
            return false;
    }
    return true;
}

static bool take_rows(struct gsim_ctx *ctx, struct pollux *pollux,
                      const struct pollux_cells *best) {
    const struct pollux_cells *base = &pollux->base;
    for (uint32_t j = 0, is = 0, was = 0; j < pollux->adaptdl.n_active; j++) {
        uint32_t n = pollux_row(best, is, j), n_before = pollux_row(base, was, j);
        bool is_other = n != n_before || !pollux_are_equal(best->cell + is, base->cell + was, n);
        if (is_other && !take_row(ctx, pollux, pollux->row[j], best->cell + is, n))
            return false;
        is += n;
        was += n_before;
    }
    return true;
}

static bool give(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    struct pollux *pollux = own(ctx);
    if (adaptdl->n_active == 0)
        return true;
    if (is_settled(ctx, pollux)) {
        adaptdl->idle_until_ns = INT64_MAX;
        return true;
    }
    look(ctx, true);
    for (uint32_t i = 0; i < adaptdl->n_active; i++)
        pollux->jobs.job[adaptdl->active[i]].attained_ns +=
            adaptdl->interval_ns / GSIM_NS_PER_MS * adaptdl->job[adaptdl->active[i]].n_nodes;
    if (!reserve(ctx, pollux) || !describe(ctx, pollux))
        return false;
    const struct pollux_cells *best = pollux_search(&pollux->search, &pollux->problem);
    return best && take_rows(ctx, pollux, best);
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    look(ctx, false);
    adaptdl_decide(ctx, plan);
    if (ctx->status == GSIM_OK)
        set_batches(ctx, plan);
}

/* --- the table -------------------------------------------------------------------------------- */

static enum gsim_status open_pollux(struct gsim_ctx *ctx) {
    struct pollux *pollux = own(ctx);
    enum gsim_status status = adaptdl_open(ctx, &pollux->adaptdl);
    if (status != GSIM_OK)
        return status;
    if (!pollux_learn_open(&pollux->jobs, ctx))
        return gsim_no_memory(ctx->log, "opening pollux");
    for (uint32_t node = 0; node < ctx->view->cluster.n_nodes; node++)
        if (pollux->adaptdl.node_gpus[node] > UINT8_MAX)
            return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                             "pollux: a node has at most %d GPUs there", UINT8_MAX);
    adaptdl_note_table(ctx);
    pollux->n_to_come = ctx->view->trace->n_jobs;
    pollux->adaptdl.give = give;
    pollux->search.arena = ctx->arena;
    pollux->search.generations = (uint32_t)gsim_param(ctx->params, "generations");
    gsim_random_open(&pollux->search.random, ctx, "pollux");
    pollux->most_gpus = (uint32_t)gsim_param(ctx->params, "widest");
    pollux->problem =
        (struct pollux_problem){.n_nodes = ctx->view->cluster.n_nodes,
                                .n_gpus = pollux->adaptdl.n_gpus,
                                .node_gpus = pollux->adaptdl.node_gpus,
                                .most_nodes = (uint32_t)gsim_param(ctx->params, "nodes"),
                                .avoids = gsim_param(ctx->params, "interference") == 0,
                                .is_by_place = pollux->adaptdl.is_reference,
                                .speed = speed_of,
                                .arg = pollux};
    return GSIM_OK;
}

static const struct gsim_param_def params[] = {
    ADAPTDL_INTERVAL_PARAM,
    ADAPTDL_RESTART_PARAM,
    {.name = "widest",
     .type = GSIM_PARAM_INT,
     .fallback = "64",
     .min = 1,
     .max = 4096,
     .help = "GPUs of a job at most"},
    {.name = "nodes",
     .type = GSIM_PARAM_INT,
     .fallback = "16",
     .min = 1,
     .max = 4096,
     .help = "nodes of a job at most"},
    {.name = "interference",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "avoid",
     .choices = "avoid|allow",
     .help = "whether two jobs that have GPUs of several nodes may meet on one"},
    {.name = "generations",
     .type = GSIM_PARAM_INT,
     .fallback = "100",
     .min = 2,
     .max = 1000,
     .help = "generations of the search of a tick; fewer are faster, and find less (one only moves "
             "jobs about)"},
    GSIM_PREEMPT_PARAM_AS("restart, as in Pollux, whose jobs write a checkpoint"),
    {0}};

const struct gsim_policy gsim_policy_pollux = {
    .name = "pollux",
    .summary = "GPUs and batch sizes by goodput, on jobs that learn by a table",
    .paper = "Qiao et al., OSDI 2021",
    .deviations = "a job of no application counts as faster by each GPU up to those that it asks "
                  "for; clusters do not grow and shrink; a tick in which a job is still on its way "
                  "to its GPUs is passed over; jobs that are faster on some types of GPU are "
                  "refused; nodes that fail are refused",
    .names_gpus = true,
    .asks_speeds = true,
    .chooses_widths = true,
    .references = 1u << GSIM_REFERENCE_POLLUX,
    .params = params,
    .state_size = sizeof(struct pollux),
    .open = open_pollux,
    .on_arrival = on_arrival,
    .on_completion = adaptdl_complete,
    .on_watch = on_watch,
    .decide = decide,
};
