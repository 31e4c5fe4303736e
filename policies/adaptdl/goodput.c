/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/adaptdl/goodput.h"

#include "policies/lib/real.h"

/* The next whole number; what lies just above one counts as it. */
static uint32_t whole_up(double x) {
    double less = x - 1e-8;
    uint32_t down = less > 0 ? (uint32_t)less : 0;
    return down + (down < less);
}

/* Steps that sum are made where a GPU cannot hold its part at once, and on one GPU beyond the
 * smallest batch: of one step the variance of the gradient is not known. */
static struct gsim_batch divided(const struct gsim_learning *limits, uint32_t gpus, double each) {
    uint32_t steps = whole_up(each / limits->max_local);
    if (gpus == 1 && each > limits->init_batch + 1e-8 && steps < 2)
        steps = 2;
    steps = steps > 0 ? steps : 1;
    return (struct gsim_batch){whole_up(each / steps), steps - 1};
}

void pollux_batches_make(struct pollux_batches *batches, const struct gsim_learning *limits,
                         uint32_t gpus) {
    double least = (double)limits->min_local * gpus, most = limits->max_batch;
    least = least > limits->init_batch ? least : limits->init_batch;
    double ratio = gsim_real_log(most / least) / (POLLUX_SIZES - 1);
    for (uint32_t i = 0; i < POLLUX_SIZES; i++) {
        double all = i == 0                  ? least
                     : i == POLLUX_SIZES - 1 ? most
                                             : least * gsim_real_exp(ratio * i);
        struct gsim_batch batch = divided(limits, gpus, all / gpus);
        batches->batch[i] = batch;
        batches->in_all[i] = (double)gpus * batch.local * (batch.summed + 1);
    }
    batches->n = POLLUX_SIZES;
}

void pollux_batches_keep(struct pollux_batches *batches, const struct gsim_learning *limits,
                         uint32_t gpus) {
    struct gsim_batch batch = divided(limits, gpus, (double)limits->own_batch / gpus);
    batch = pollux_within(limits, gpus, batch);
    batches->batch[0] = batch;
    batches->in_all[0] = (double)gpus * batch.local * (batch.summed + 1);
    batches->n = 1;
}

static double goodput_of(const struct pollux_learner *learner, struct gsim_batch batch,
                         double in_all, double tells_s) {
    const double *x = learner->model.number;
    double sums_s = x[POLLUX_SUMS_BASE] + x[POLLUX_SUMS_EACH] * batch.local;
    double overlap = x[POLLUX_OVERLAP];
    double first = sums_s > tells_s ? sums_s : tells_s,
           second = sums_s > tells_s ? tells_s : sums_s;
    double part = gsim_real_exp(overlap * gsim_real_log(second / first));
    double step_s = first * gsim_real_exp(gsim_real_log(1 + part) / overlap);
    double scale = in_all / learner->limits.init_batch;
    double noise = learner->grad_var / scale + learner->grad_sqr;
    double gain = noise > 0 ? (learner->grad_var + learner->grad_sqr) / noise : 1;
    return in_all / (batch.summed * sums_s + step_s) * (gain / scale);
}

/* A job runs with some batch even where none is within the limits of a GPU: with the one that its
 * trace gives it, or the smallest. That one counts then, since a goodput of 0 would keep the job
 * from GPUs for ever. */
struct pollux_best pollux_best(const struct pollux_learner *learner,
                               const struct pollux_batches *batches, bool is_spread,
                               uint32_t gpus) {
    const struct gsim_learning *limits = &learner->limits;
    double tells_s = pollux_tells_s(&learner->model, is_spread, gpus);
    struct pollux_best best = {.goodput = 0};
    for (uint32_t i = 0; i < batches->n; i++) {
        struct gsim_batch batch = batches->batch[i];
        bool is_known = i > 0 && batch.local == batches->batch[i - 1].local &&
                        batch.summed == batches->batch[i - 1].summed;
        if (is_known || batch.local < limits->min_local || batch.local > limits->max_local)
            continue;
        double goodput = goodput_of(learner, batch, batches->in_all[i], tells_s);
        if (goodput > best.goodput)
            best = (struct pollux_best){goodput, batch};
    }
    if (best.goodput > 0)
        return best;
    best.batch = batches->batch[0];
    best.goodput = goodput_of(learner, best.batch, batches->in_all[0], tells_s);
    return best;
}

struct gsim_batch pollux_first_batch(const struct gsim_learning *limits, uint32_t gpus) {
    double all = (double)limits->min_local * gpus;
    all = all > limits->init_batch ? all : limits->init_batch;
    return divided(limits, gpus, whole_up(all / gpus));
}

struct gsim_batch pollux_within(const struct gsim_learning *limits, uint32_t gpus,
                                struct gsim_batch batch) {
    uint64_t most = limits->max_batch / ((uint64_t)gpus * (batch.summed + 1));
    batch.local = batch.local > most ? (uint32_t)most : batch.local;
    batch.local = batch.local > 0 ? batch.local : 1;
    return batch;
}
