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

/* That of a known job that has had no GPUs stays; one that has had some may lose what it has done,
 * where a node fails that holds it. */
static struct estimate estimate_again(const struct gsim_ctx *ctx, struct shockwave_job *job) {
    if (job->is_estimated && !job->is_holder)
        return (struct estimate){job->done, 1, job->epoch_s, job->had_s, job->left_s};
    struct estimate o = estimate_of(ctx, job);
    job->is_estimated = job->pace > 0 && !job->is_holder && o.had_s <= 0;
    job->done = o.done;
    job->epoch_s = o.epoch_s;
    job->had_s = o.had_s;
    return o;
}

static double since_origin_s(const struct shockwave *s, int64_t at_ns) {
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
    double part = equal_part(s), now_s = since_origin_s(s, ctx->view->now_ns);
    double round_s = s_of(s->round_ns);
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        struct estimate o = estimate_again(ctx, job);
        if (!s->is_counted) {
            double submit_s = since_origin_s(s, ctx->view->jobs.submit_ns[job->slot]);
            note_fair(s, job, submit_s + (o.had_s + o.left_s) / part);
        }
        double spare_s = mean_fair_s(s, job) - (now_s + s->n_rounds * round_s);
        job->left_s = o.left_s;
        job->weight = 1;
        s->future.job[i] = (struct gsim_future_job){.gpus = job->gpus,
                                                    .done = o.done,
                                                    .all = o.all,
                                                    .epoch_s = o.epoch_s,
                                                    .left_s = o.left_s,
                                                    .most_left_s = spare_s * part + clock_s,
                                                    .weight = 1};
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

void shockwave_weigh(struct gsim_ctx *ctx, struct shockwave *s) {
    const double most_power = 100, almost_s = s_of(s->round_ns);
    double part = equal_part(s), now_s = since_origin_s(s, ctx->view->now_ns);
    for (uint32_t i = 0; i < s->n_active; i++) {
        struct shockwave_job *job = &s->job[s->active[i]];
        double fair_s = mean_fair_s(s, job);
        double end_s = now_s + job->left_s / part;
        double power = job->left_s < almost_s ? most_power : s->lambda;
        if (fair_s > 0 && end_s > fair_s + clock_s)
            job->weight = gsim_real_exp(power * gsim_real_log(lateness(end_s, fair_s)));
        s->future.job[i].weight = job->weight;
    }
}
