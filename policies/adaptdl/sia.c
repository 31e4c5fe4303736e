/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sia: GPUs of several types by goodput, what a job learns per time. Source: Jayaram Subramanya et
 * al., "Sia: Heterogeneity-aware, goodput-optimized ML-cluster scheduling", SOSP 2023.
 *
 * Each tick a programme gives each job one configuration or none: a number of GPUs of one type,
 * powers of two on one node or whole nodes (sia_weigh.c). A configuration costs s^power, of s the
 * goodput there over the least one of the job; a job without GPUs costs `idle`. A configuration
 * that the job does not have counts less, the more of its life the job has spent on restarts. The
 * programme is a knapsack of choices (policies/lib/knapsack.h), and its optimum is exact. Jobs
 * measure and choose batches as under pollux (learn.c); of the time of a step there is a model for
 * each type of GPU, of the noise of gradients one (get_goodput_fn in job.py of Sia's simulator,
 * siasosp23/artifacts). On a type on which a job has not run, it is as fast by comparison as one
 * GPU with its largest batch, which Sia measures beforehand. A job may have twice as many GPUs as
 * it has measured with. adapts=gpus keeps the batch of the trace, and adapts=type also the number
 * of GPUs (rigid jobs); a job that does not learn by a table is rigid. A job that begins keeps its
 * GPUs until it runs.
 *
 * reference=sia copies the clock of Sia's simulator, its costs as hundredths, and the times that it
 * counts restarts as, by application. */
#include "policies/adaptdl/sia.h"

#include <string.h>

#include "policies/lib/real.h"

static struct sia *own(const struct gsim_ctx *ctx) {
    return ctx->state;
}

static void fail(struct gsim_ctx *ctx) {
    if (ctx->status == GSIM_OK)
        ctx->status = gsim_no_memory(ctx->log, "scheduling");
}

/* --- jobs come, measure and end --------------------------------------------------------------- */

/* What the simulator counts a restart as, by application (its sia.py). */
static int64_t reference_restart_ns(const struct gsim_trace *trace, uint32_t number) {
    static const struct {
        const char *app;
        int64_t takes_s;
    } restarts[] = {{"deepspeech2", 25}, {"yolov3", 45}, {"bert", 120}, {"imagenet", 250}};
    int64_t model = gsim_trace_get(trace, GSIM_COL_MODEL, number), takes_s = 30;
    for (size_t i = 0; i < sizeof restarts / sizeof *restarts && model >= 0; i++)
        if (strcmp(trace->names[GSIM_COL_MODEL].name[model], restarts[i].app) == 0)
            takes_s = restarts[i].takes_s;
    return takes_s * GSIM_NS_PER_S;
}

static bool begin_learning(struct gsim_ctx *ctx, struct sia *sia, uint32_t number, gsim_slot slot) {
    for (uint32_t l = 0; l < sia->n_learners; l++) {
        struct gsim_learning there;
        struct pollux_job *learner = sia_learner(sia, l, number);
        if (!pollux_learn_begin(&sia->learners[l], ctx, number, slot))
            return false;
        learner->keeps_batch = sia->adapts != SIA_ADAPTS_BATCH;
        sia->has_learners |= learner->is_learner;
        if (!gsim_ask_learning_on(ctx, slot, sia->type[l], &there))
            continue;
        learner->learner.limits = there;
        learner->largest_per_s =
            there.batch.local / gsim_real_of(there.step_s.digits, there.step_s.exponent);
    }
    return true;
}

/* A job for which no tick could find GPUs would wait for ever. */
static void check_job(struct gsim_ctx *ctx, struct sia *sia, uint32_t number) {
    const struct gsim_trace *trace = ctx->view->trace;
    if (ctx->status != GSIM_OK || sia_fits(ctx, sia, number))
        return;
    ctx->status = gsim_fail(ctx->log, GSIM_BAD_INPUT, trace->path, gsim_trace_line(trace, number),
                            "sia: job '%.64s' can run on no type of GPU alone: its %u GPUs are "
                            "more than there are of each, or --goodput has no steps of it there",
                            gsim_trace_id(trace, number), sia->adaptdl.job[number].gpus);
}

static void on_arrival(struct gsim_ctx *ctx, gsim_slot slot) {
    struct sia *sia = own(ctx);
    uint32_t number = ctx->view->jobs.index[slot];
    adaptdl_arrive(ctx, slot);
    if (!begin_learning(ctx, sia, number, slot))
        fail(ctx);
    sia->job[number] = (struct sia_job){
        .submit_ns = ctx->view->now_ns,
        .is_rigid = sia->adapts == SIA_ADAPTS_TYPE || !sia_learner(sia, 0, number)->is_learner,
        .restart_ns = sia->is_reference ? reference_restart_ns(ctx->view->trace, number)
                                        : gsim_param(ctx->params, "restart")};
    check_job(ctx, sia, number);
    if (!sia_line_up(ctx, sia, number))
        fail(ctx);
}

static void on_completion(struct gsim_ctx *ctx, gsim_slot slot) {
    sia_leave(own(ctx), ctx->view->jobs.index[slot]);
    adaptdl_complete(ctx, slot);
}

/* What the job learns by where it has its GPUs. */
static struct pollux_jobs *learners_of(struct sia *sia, uint32_t number) {
    const struct adaptdl_job *place = &sia->adaptdl.job[number];
    uint32_t kind = place->n_nodes > 0 ? sia->kind_of_node[place->node[0]] : 0;
    return &sia->learners[sia->kind[kind].learners];
}

static void on_watch(struct gsim_ctx *ctx, gsim_slot slot, enum gsim_watch_kind kind) {
    uint32_t number = ctx->view->jobs.index[slot];
    if (kind == GSIM_WATCH_EPOCHS)
        learners_of(own(ctx), number)->job[number].is_ended_epoch = true;
}

/* The noise of a job's gradients is the job's, on GPUs of whatever type it was measured last. */
static void share_noise(struct sia *sia, uint32_t number) {
    const struct pollux_learner *here = &learners_of(sia, number)->job[number].learner;
    for (uint32_t l = 0; l < sia->n_learners; l++) {
        struct pollux_learner *there = &sia_learner(sia, l, number)->learner;
        there->grad_sqr = here->grad_sqr;
        there->grad_var = here->grad_var;
    }
}

static void look(struct gsim_ctx *ctx, bool is_tick) {
    struct sia *sia = own(ctx);
    for (uint32_t i = 0; sia->has_learners && i < sia->adaptdl.n_active; i++) {
        uint32_t number = sia->adaptdl.active[i];
        struct pollux_jobs *learners = learners_of(sia, number);
        if (!pollux_learn_visit(learners, ctx, number, sia->adaptdl.job[number].slot, is_tick))
            fail(ctx);
        if (learners->job[number].is_known)
            share_noise(sia, number);
    }
}

static void set_batches(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    struct sia *sia = own(ctx);
    for (uint32_t i = 0; sia->has_learners && i < sia->adaptdl.n_active; i++) {
        uint32_t number = sia->adaptdl.active[i];
        if (!pollux_learn_tune(learners_of(sia, number), plan, number, &sia->adaptdl.job[number]))
            fail(ctx);
    }
}

/* --- a tick ----------------------------------------------------------------------------------- */

/* Jobs that are on their way keep what they have. */
static void set_capacities(const struct gsim_ctx *ctx, struct sia *sia) {
    struct adaptdl *adaptdl = &sia->adaptdl;
    for (uint32_t k = 0; k < sia->n_kinds; k++)
        sia->knapsack.capacity[k] = sia->kind[k].node_gpus * sia->kind[k].n_nodes;
    for (uint32_t i = 0; i < sia->n_shown; i++) {
        const struct adaptdl_job *place = &adaptdl->job[sia->shown[i]];
        if (adaptdl_is_on_its_way(ctx, place))
            sia->knapsack.capacity[sia->kind_of_node[place->node[0]]] -= place->n_nodes;
    }
}

/* Notes what the programme gives. */
static void take(struct sia *sia) {
    for (uint32_t r = 0; r < sia->knapsack.n_rows; r++) {
        struct sia_job *job = &sia->job[sia->number[r]];
        uint32_t chosen = sia->knapsack.chosen[r];
        job->gpus = 0;
        if (chosen == GSIM_NO_CHOICE)
            continue;
        job->kind = sia->choice[chosen].kind;
        job->gpus = sia->choice[chosen].units;
        sia_step_forth(sia, sia->number[r]);
    }
}

/* Counts restarts; jobs with other GPUs take a batch anew. */
static void count_changes(struct sia *sia) {
    struct adaptdl *adaptdl = &sia->adaptdl;
    for (uint32_t i = 0; i < sia->n_listed; i++) {
        uint32_t number = sia->listed[i];
        struct adaptdl_job *place = &adaptdl->job[number];
        struct sia_job *job = &sia->job[number];
        if (!place->is_changed || place->n_nodes == 0)
            continue;
        job->n_restarts += job->has_started;
        job->has_started = true;
        learners_of(sia, number)->job[number].wants_batch = true;
    }
}

static bool give(struct gsim_ctx *ctx, struct adaptdl *adaptdl) {
    struct sia *sia = own(ctx);
    sia->n_listed = adaptdl->n_visited = 0;
    if (adaptdl->n_active == 0)
        return true;
    look(ctx, true);
    set_capacities(ctx, sia);
    if (!sia_list(ctx, sia))
        return false;
    adaptdl->n_visited = sia->n_listed;
    if (!sia_weigh(ctx, sia) || !gsim_knapsack(&sia->knapsack))
        return false;
    if (!sia->knapsack.is_proven)
        ctx->assumed = "sia=programmes too large for a proof that their optimum was found";
    take(sia);
    adaptdl_free_all(ctx, adaptdl);
    if (!sia_place(ctx, sia))
        return false;
    count_changes(sia);
    return true;
}

static void decide(struct gsim_ctx *ctx, struct gsim_plan *plan) {
    look(ctx, false);
    adaptdl_decide(ctx, plan);
    if (ctx->status == GSIM_OK)
        set_batches(ctx, plan);
}

/* --- the table -------------------------------------------------------------------------------- */

static uint32_t find_learners(struct sia *sia, uint16_t type) {
    for (uint32_t l = 0; l < sia->n_learners; l++)
        if (sia->type[l] == type)
            return l;
    sia->type[sia->n_learners] = type;
    return sia->n_learners++;
}

static uint32_t find_kind(struct sia *sia, uint16_t type, uint32_t node_gpus) {
    for (uint32_t k = 0; k < sia->n_kinds; k++)
        if (sia->kind[k].type == type && sia->kind[k].node_gpus == node_gpus)
            return k;
    if (sia->n_kinds == GSIM_KNAPSACK_KINDS)
        return GSIM_KNAPSACK_KINDS;
    sia->kind[sia->n_kinds] = (struct sia_kind){
        .type = type, .node_gpus = node_gpus, .learners = find_learners(sia, type)};
    return sia->n_kinds++;
}

static enum gsim_status find_kinds(struct gsim_ctx *ctx, struct sia *sia) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    sia->kind_of_node = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *sia->kind_of_node);
    sia->could = gsim_arena_array(ctx->arena, cluster->n_nodes, sizeof *sia->could);
    if (!sia->kind_of_node || !sia->could)
        return gsim_no_memory(ctx->log, "opening sia");
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t kind = find_kind(sia, cluster->type[cluster->node_first_gpu[node]],
                                  sia->adaptdl.node_gpus[node]);
        if (kind == GSIM_KNAPSACK_KINDS)
            return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0,
                             "sia: nodes differ in their type of GPU or the number of them in more "
                             "than %d ways",
                             GSIM_KNAPSACK_KINDS);
        sia->kind_of_node[node] = kind;
        sia->kind[kind].n_nodes++;
        sia->knapsack.capacity[kind] += sia->adaptdl.node_gpus[node];
    }
    sia->knapsack.n_kinds = sia->n_kinds;
    if (gsim_knapsack_can(sia->knapsack.capacity, sia->n_kinds))
        return GSIM_OK;
    return gsim_fail(ctx->log, GSIM_USAGE, NULL, 0, "sia: the cluster has too many GPUs");
}

static enum gsim_status open_sia(struct gsim_ctx *ctx) {
    struct sia *sia = own(ctx);
    enum gsim_status status = adaptdl_open(ctx, &sia->adaptdl);
    status = status == GSIM_OK ? find_kinds(ctx, sia) : status;
    if (status != GSIM_OK)
        return status;
    adaptdl_note_table(ctx);
    sia->adaptdl.give = give;
    sia->adaptdl.passes_starters = true;
    sia->is_reference = ctx->reference == GSIM_REFERENCE_SIA;
    sia->adapts = (enum sia_adapts)gsim_param(ctx->params, "adapts");
    sia->widest = (uint32_t)gsim_param(ctx->params, "widest");
    sia->power = (double)gsim_param(ctx->params, "power") / GSIM_PPM;
    sia->none_cost = gsim_muldiv_floor(gsim_param(ctx->params, "idle"), SIA_COST_ONE, GSIM_PPM);
    sia->knapsack.arena = ctx->arena;
    sia->job = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *sia->job);
    sia->shown = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *sia->shown);
    sia->listed = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *sia->listed);
    sia->key = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *sia->key);
    sia->adaptdl.visited = sia->listed;
    sia_open_lines(sia);
    bool is_there = sia->job && sia->shown && sia->listed && sia->key;
    for (uint32_t l = 0; l < sia->n_learners; l++)
        is_there = pollux_learn_open(&sia->learners[l], ctx) && is_there;
    return is_there ? GSIM_OK : gsim_no_memory(ctx->log, "opening sia");
}

static const struct gsim_param_def params[] = {
    ADAPTDL_INTERVAL_PARAM,
    {.name = "adapts",
     .type = GSIM_PARAM_CHOICE,
     .fallback = "batch",
     .choices = "batch|gpus|type",
     .help = "what a job may have other than it asks for: batch: its batch, GPUs and their type; "
             "gpus: GPUs and their type; type: the type alone"},
    {.name = "power",
     .type = GSIM_PARAM_PPM,
     .fallback = "0.5",
     .min = 1,
     .max = 4 * GSIM_PPM,
     .help = "a job that is s times as fast costs s to the power of -power: the more, the less do "
             "fast jobs gain by more GPUs"},
    {.name = "idle",
     .type = GSIM_PARAM_PPM,
     .fallback = "1.1",
     .min = 1010000,
     .max = 100 * GSIM_PPM,
     .help = "what a job without GPUs costs; its slowest configuration costs 1"},
    ADAPTDL_RESTART_PARAM,
    {.name = "widest",
     .type = GSIM_PARAM_INT,
     .fallback = "64",
     .min = 1,
     .max = 4096,
     .help = "GPUs of a job at most, unless it asks for as many as it must have"},
    GSIM_PREEMPT_PARAM_AS("restart, as in Sia, whose jobs write a checkpoint"),
    {0}};

const struct gsim_policy gsim_policy_sia = {
    .name = "sia",
    .summary = "GPUs of several types and batch sizes by goodput, on jobs that learn by a table",
    .paper = "Jayaram Subramanya et al., SOSP 2023",
    .deviations = "all jobs adapt alike (adapts), but those of no application, which are rigid; "
                  "jobs of a hybrid parallelism are not modelled; nodes that fail are refused",
    .names_gpus = true,
    .asks_speeds = true,
    .chooses_widths = true,
    .references = 1u << GSIM_REFERENCE_SIA,
    .params = params,
    .state_size = sizeof(struct sia),
    .open = open_sia,
    .on_arrival = on_arrival,
    .on_completion = on_completion,
    .on_watch = on_watch,
    .decide = decide,
};
