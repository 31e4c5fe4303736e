/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/adaptdl/learn.h"

#include "policies/lib/real.h"

bool pollux_learn_open(struct pollux_jobs *jobs, const struct gsim_ctx *ctx) {
    jobs->arena = ctx->arena;
    jobs->n_gpus = ctx->view->cluster.n_gpus;
    jobs->job = gsim_arena_array(ctx->arena, ctx->view->trace->n_jobs, sizeof *jobs->job);
    return jobs->job;
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool know_app(struct pollux_jobs *jobs, uint32_t app) {
    if (app >= jobs->n_apps) {
        struct pollux_app *grown = gsim_arena_grow(
            jobs->arena, jobs->app, jobs->n_apps * sizeof *grown, (app + 1) * sizeof *grown);
        if (!grown)
            return false;
        for (uint32_t i = jobs->n_apps; i <= app; i++)
            grown[i] = (struct pollux_app){0};
        jobs->app = grown;
        jobs->n_apps = app + 1;
    }
    if (!jobs->app[app].batches)
        jobs->app[app].batches =
            gsim_arena_array(jobs->arena, jobs->n_gpus + 1, sizeof *jobs->app[app].batches);
    return jobs->app[app].batches;
}

bool pollux_learn_begin(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                        gsim_slot slot) {
    struct pollux_job *job = &jobs->job[number];
    *job = (struct pollux_job){.submit_ns = ctx->view->now_ns};
    job->is_learner = gsim_ask_learning(ctx, slot, &job->learner.limits);
    if (!job->is_learner)
        return true;
    job->n_speeds = jobs->n_gpus + 1;
    for (uint32_t i = 0; i < 2; i++)
        job->speed[i] = gsim_arena_array(jobs->arena, job->n_speeds, sizeof *job->speed[i]);
    return job->speed[0] && job->speed[1] && know_app(jobs, job->learner.limits.app);
}

static bool is_seen(const struct pollux_job *job, const struct gsim_learning *seen) {
    for (uint32_t i = 0; i < job->n_steps; i++)
        if (job->steps[i].nodes == seen->nodes && job->steps[i].gpus == seen->gpus &&
            job->steps[i].local == seen->batch.local)
            return true;
    return false;
}

static bool reserve(struct pollux_jobs *jobs, struct pollux_job *job) {
    enum { FIRST = 16 };
    if (job->n_steps == job->room) {
        uint32_t more = job->room ? 2 * job->room : FIRST;
        job->steps = gsim_arena_grow(jobs->arena, job->steps, job->room * sizeof *job->steps,
                                     more * sizeof *job->steps);
        job->room = job->steps ? more : 0;
    }
    if (job->room > jobs->n_logs) {
        jobs->logs = gsim_arena_array(jobs->arena, job->room, sizeof *jobs->logs);
        jobs->n_logs = jobs->logs ? job->room : 0;
    }
    return job->steps && jobs->logs;
}

static double real(struct gsim_number number) {
    return number.digits > 0 ? gsim_real_of(number.digits, number.exponent) : 0;
}

bool pollux_learn_look(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                       gsim_slot slot) {
    struct pollux_job *job = &jobs->job[number];
    struct gsim_learning seen;
    int64_t ran_ns = gsim_ran_ns(ctx->view, slot);
    if (!job->is_learner || ran_ns <= job->ran_ns || !gsim_ask_learning(ctx, slot, &seen) ||
        seen.gpus == 0)
        return true;
    job->ran_ns = ran_ns;
    job->learner.grad_sqr = real(seen.grad_sqr);
    job->learner.grad_var = real(seen.grad_var);
    job->is_known = true;
    if (is_seen(job, &seen))
        return true;
    if (!reserve(jobs, job))
        return false;
    double step_s = real(seen.step_s), sums_s = step_s - real(seen.sync_s);
    job->steps[job->n_steps++] = (struct pollux_step){seen.nodes, seen.gpus, seen.batch.local,
                                                      sums_s > 1e-8 ? sums_s : 1e-8, step_s};
    job->widest = seen.gpus > job->widest ? seen.gpus : job->widest;
    job->learner.model = pollux_fit(job->steps, job->n_steps, jobs->logs);
    return true;
}

/* --- what follows ----------------------------------------------------------------------------- */

static const struct pollux_batches *batches_of(struct pollux_jobs *jobs,
                                               const struct pollux_job *job, uint32_t gpus) {
    const struct gsim_learning *limits = &job->learner.limits;
    if (job->keeps_batch) {
        pollux_batches_keep(&jobs->kept, limits, gpus);
        return &jobs->kept;
    }
    struct pollux_batches **slot = &jobs->app[limits->app].batches[gpus];
    if (!*slot && (*slot = gsim_arena_alloc(jobs->arena, sizeof **slot)))
        pollux_batches_make(*slot, limits, gpus);
    return *slot;
}

bool pollux_learn_fair(struct pollux_jobs *jobs, uint32_t number, uint32_t fair) {
    struct pollux_job *job = &jobs->job[number];
    job->fair = fair;
    for (uint32_t i = 0; i < job->n_speeds; i++)
        job->speed[0][i] = job->speed[1][i] = -1;
    if (!job->is_known)
        return true;
    const struct pollux_batches *batches = batches_of(jobs, job, fair);
    job->fair_goodput = batches ? pollux_best(&job->learner, batches, false, fair).goodput : 0;
    return batches;
}

double pollux_learn_speed(struct pollux_jobs *jobs, uint32_t number, bool is_spread,
                          uint32_t gpus) {
    struct pollux_job *job = &jobs->job[number];
    if (!job->is_known)
        return (double)gpus / job->fair;
    double *speed = &job->speed[is_spread][gpus];
    if (*speed < 0) {
        const struct pollux_batches *batches = batches_of(jobs, job, gpus);
        *speed = batches ? pollux_best(&job->learner, batches, is_spread, gpus).goodput /
                               job->fair_goodput
                         : 0;
    }
    return *speed;
}

bool pollux_learn_batch(struct pollux_jobs *jobs, uint32_t number, bool is_spread, uint32_t gpus,
                        struct gsim_batch *out) {
    struct pollux_job *job = &jobs->job[number];
    const struct gsim_learning *limits = &job->learner.limits;
    *out = pollux_first_batch(limits, gpus);
    if (job->is_known) {
        const struct pollux_batches *batches = batches_of(jobs, job, gpus);
        if (!batches)
            return false;
        *out = pollux_best(&job->learner, batches, is_spread, gpus).batch;
    }
    *out = pollux_within(limits, gpus, *out);
    return true;
}

/* --- at ticks and ends of epochs -------------------------------------------------------------- */

bool pollux_learn_visit(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                        gsim_slot slot, bool is_tick) {
    struct pollux_job *job = &jobs->job[number];
    bool is_due = is_tick || job->is_ended_epoch;
    job->is_ended_epoch = false;
    if (!is_due || ctx->view->jobs.state[slot] != GSIM_RUNNING)
        return true;
    job->wants_batch = true;
    return pollux_learn_look(jobs, ctx, number, slot);
}

static bool is_spread(const struct adaptdl_job *place) {
    return place->n_nodes > 0 && place->node[0] != place->node[place->n_nodes - 1];
}

bool pollux_learn_tune(struct pollux_jobs *jobs, struct gsim_plan *plan, uint32_t number,
                       const struct adaptdl_job *place) {
    struct pollux_job *job = &jobs->job[number];
    struct gsim_batch batch;
    bool keeps = job->keeps_batch || job->learner.limits.most_gpus > 0;
    bool wants = job->wants_batch && job->is_learner && place->n_nodes > 0 && !keeps;
    job->wants_batch = false;
    if (!wants)
        return true;
    if (!pollux_learn_batch(jobs, number, is_spread(place), place->n_nodes, &batch))
        return false;
    (void)gsim_plan_batch(plan, place->slot, batch);
    gsim_plan_watch(plan, place->slot, GSIM_WATCH_EPOCHS, 0);
    return true;
}
