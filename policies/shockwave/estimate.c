/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates of jobs that change their batch size: how long they still take, and when they would
 * end with an equal part of the cluster. */
#include "policies/lib/real.h"
#include "policies/lib/rounds.h"
#include "policies/shockwave/state.h"
#include "sim/base/units.h"

static double s_of(int64_t ns) {
    return (double)ns / (double)GSIM_NS_PER_S;
}

struct estimate {
    double done, all; /* epochs */
    double epoch_s; /* of those so far, on average */
    double had_s; /* all of those so far */
    double left_s;
};

/* The epochs that a mode is expected to have, of all: each mode has an equal part beforehand, and
 * each epoch that was seen, the one under way included, counts beside it (a Dirichlet
 * distribution). */
static double expected_of(const struct gsim_modes *modes, uint32_t m, const struct estimate *o,
                          double begun) {
    double seen = (double)modes->mode[m].made_ppm / GSIM_PPM + (m == modes->at ? begun : 0);
    double expected = o->all * (o->all / modes->n + seen) / (o->all + o->done + begun);
    return expected >= seen ? expected - seen : 0;
}

/* How fast the job is in a round, of its speed in the trace: a round may give it any GPUs. */
static double pace_of(const struct gsim_ctx *ctx, gsim_slot slot) {
    const struct shockwave *s = ctx->state;
    double pace = gsim_rounds_paces(ctx, slot, ctx->view->jobs.gpus[slot], s->is_one_type).mean;
    return pace > 0 ? pace : 1;
}

/* A job without phases is one epoch, of a length that is known. */
static struct estimate known_of(const struct gsim_ctx *ctx, gsim_slot slot, double pace) {
    double had_s = s_of(gsim_attained_ns(ctx->view, slot)) / pace;
    double left_s = s_of(gsim_remaining_ns(ctx->view, slot)) / pace, all_s = had_s + left_s;
    return (struct estimate){.done = all_s > 0 ? had_s / all_s : 0,
                             .all = 1,
                             .epoch_s = all_s > 0 ? all_s : s_of(1),
                             .had_s = had_s,
                             .left_s = left_s};
}

/* Only jobs with epochs, or in phases, have other paces later on. */
static struct estimate estimate_of(const struct gsim_ctx *ctx, struct shockwave_job *job) {
    struct gsim_modes modes;
    double pace = job->pace > 0 ? job->pace : pace_of(ctx, job->slot);
    bool is_known = job->pace > 0 || !gsim_ask_modes(ctx, job->slot, &modes);
    if (is_known && !ctx->view->trace->goodput)
        job->pace = pace;
    if (is_known)
        return known_of(ctx, job->slot, pace);
    struct estimate o = {.done = (double)modes.made_ppm / GSIM_PPM,
                         .all = (double)modes.epochs_ppm / GSIM_PPM};
    int64_t part_ppm = modes.made_ppm % GSIM_PPM;
    double begun = (double)(GSIM_PPM - part_ppm) / GSIM_PPM, epochs = 0, spent_s = 0, sum_s = 0;
    for (uint32_t m = 0; m < modes.n; m++) {
        double epoch_s = s_of(modes.mode[m].epoch_ns) / pace,
               expected = expected_of(&modes, m, &o, begun);
        double made = (double)modes.mode[m].made_ppm / GSIM_PPM;
        o.had_s += made * epoch_s;
        spent_s += (made + (m == modes.at ? begun : 0)) * epoch_s;
        epochs += expected;
        sum_s += expected * epoch_s;
    }
    double left = o.all - o.done;
    o.epoch_s = spent_s / (o.done + begun);
    o.left_s = epochs > 0 ? sum_s / epochs * left : left * o.epoch_s;
    return o;
}

/* That of a known job that has no GPUs stays, and the logarithms that follow from it; it may lose
 * what it has done where a node fails that holds it. */
static void estimate_again(const struct gsim_ctx *ctx, struct shockwave_job *job) {
    uint32_t n_failures = ctx->view->cluster.n_failures;
    if (job->is_estimated && !job->is_holder && job->n_failures == n_failures)
        return;
    struct estimate o = estimate_of(ctx, job);
    job->is_estimated = job->pace > 0 && !job->is_holder;
    job->n_failures = n_failures;
    job->had_s = o.had_s;
    job->future = (struct gsim_future_job){
        .gpus = job->gpus, .done = o.done, .all = o.all, .epoch_s = o.epoch_s, .left_s = o.left_s};
    job->is_measured = false;
}

double shockwave_since_origin_s(const struct shockwave *s, int64_t at_ns) {
    return s_of(at_ns - s->origin_ns);
}

/* --- fair ends -------------------------------------------------------------------------------- */

/* Notes when the job would end with an equal part from its arrival on. */
static void note_fair(const struct shockwave *s, struct shockwave_job *job, double fair_s) {
    if (!job->has_fair)
        job->first_round = s->round;
    else
        job->fair_sum += job->fair_s * (double)(s->round - job->last_round);
    job->fair_s = fair_s;
    job->last_round = s->round;
    job->has_fair = true;
}

/* The mean over rounds so far, of which the last estimate has a tenth besides. */
static double mean_fair_s(const struct shockwave *s, const struct shockwave_job *job) {
    const double momentum = 0.9;
    double rounds = (double)(s->round - job->first_round);
    double sum = job->fair_sum + job->fair_s * (double)(s->round - job->last_round);
    double mean = rounds > 0 ? sum / rounds : job->fair_s;
    return momentum * mean + (1 - momentum) * job->fair_s;
}

static double equal_part(const struct shockwave *s) {
    return s->n_active > s->n_gpus ? (double)s->n_gpus / s->n_active : 1;
}

/* --- what the plan asks ----------------------------------------------------------------------- */

/* A job that has exactly its equal part ends exactly when it may: less than the clock tells apart
 * is not late, so that rounding does not decide. */
static const double clock_s = 1.0 / (double)GSIM_NS_PER_S;

void shockwave_look_ahead(struct gsim_ctx *ctx, struct shockwave *s) {
    double part = equal_part(s), now_s = shockwave_since_origin_s(s, ctx->view->now_ns);
    double round_s = s_of(s->round_ns);
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        estimate_again(ctx, job);
        if (!s->is_counted)
            note_fair(s, job, job->submit_s + (job->had_s + job->future.left_s) / part);
        job->mean_fair_s = mean_fair_s(s, job);
        double spare_s = job->mean_fair_s - (now_s + s->n_rounds * round_s);
        job->future.most_left_s = spare_s * part + clock_s;
        job->future.weight = 1;
        job->future.is_bound = false;
        s->future.job[i] = &job->future;
    }
    s->is_counted = true;
}

/* How late a job is, in whole billionths of the fair time: jobs that are equally late weigh as much
 * as each other, so that rounding does not decide between them either. */
static double lateness(double end_s, double fair_s) {
    const double steps = 1e9;
    double ratio = end_s / fair_s;
    return ratio < (double)INT32_MAX ? (double)(int64_t)(ratio * steps + 0.5) / steps : ratio;
}

/* When the job would end with an equal part of the cluster from now on. */
static double end_s(const struct shockwave *s, const struct shockwave_job *job) {
    return s->plan_now_s + job->future.left_s / s->plan_part;
}

static bool is_late(const struct shockwave_job *job, double end) {
    return job->mean_fair_s > 0 && end > job->mean_fair_s + clock_s;
}

/* A job that is almost done weighs most, so that it ends. */
static double power_of(const struct shockwave *s, bool is_almost) {
    const double most_power = 100;
    return is_almost ? most_power : s->lambda;
}

static bool is_almost(const struct shockwave *s, const struct shockwave_job *job) {
    return job->future.left_s < s_of(s->round_ns);
}

/* Weighs those of some jobs of the plan of which only a bound is known. */
static void weigh(void *of, uint32_t from, uint32_t to) {
    struct shockwave *s = of;
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        if (!job->future.is_bound)
            continue;
        double end = end_s(s, job);
        job->future.weight = 1;
        if (!is_late(job, end))
            continue;
        s->late[n] = lateness(end, job->mean_fair_s);
        s->late_job[n++] = job;
    }
    gsim_real_logs(s->late, n);
    for (uint32_t i = 0; i < n; i++)
        s->late[i] *= power_of(s, is_almost(s, s->late_job[i]));
    gsim_real_exps(s->late, n);
    for (uint32_t i = 0; i < n; i++)
        s->late_job[i]->future.weight = s->late[i];
}

/* What no job weighs more than that is so late, of those that are almost done and of the others;
 * 0: too late for a bound. A bound is found where it is first asked for. */
static double most_weight(struct shockwave *s, double late, bool almost) {
    const double pieces = SHOCKWAVE_PIECES, rounding_part = 1e-9;
    double piece = (late - 1) * pieces;
    if (piece >= (double)SHOCKWAVE_BOUNDS - 1)
        return 0;
    uint32_t at = (uint32_t)piece + 1;
    double *most = &s->most_weight[almost][at];
    if (*most <= 0) {
        double log = gsim_real_log(1 + at / pieces + rounding_part);
        *most = gsim_real_exp(power_of(s, almost) * log) * (1 + rounding_part);
    }
    return *most;
}

/* Whether there is a bound. */
static bool bound(struct shockwave *s, struct shockwave_job *job) {
    double end = end_s(s, job);
    double most = is_late(job, end) ? most_weight(s, end / job->mean_fair_s, is_almost(s, job)) : 1;
    if (most > 0 && !job->is_measured)
        gsim_future_measure(&s->future, &job->future);
    job->is_measured |= most > 0;
    job->future.weight = most;
    return most > 0;
}

/* Where a plan has rounds for many of its jobs, it adds up the utilities of all, and needs all
 * weights. */
enum { LONG = 32 };

void shockwave_weigh(struct gsim_ctx *ctx, struct shockwave *s) {
    bool is_long = s->n_active > LONG * s->planned.n;
    s->plan_part = equal_part(s);
    s->plan_now_s = shockwave_since_origin_s(s, ctx->view->now_ns);
    s->future.weigh = weigh;
    s->future.of = s;
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        job->future.is_bound = true;
        if (!is_long || bound(s, job))
            continue;
        weigh(s, i, i + 1);
        job->future.is_bound = false;
    }
    if (is_long)
        return;
    weigh(s, 0, s->n_active);
    for (uint32_t i = 0; i < s->n_active; i++)
        s->job[s->active[i]].future.is_bound = false;
}
