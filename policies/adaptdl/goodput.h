/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a job would learn on a number of GPUs, as it has come to know itself, and with which
 * batch. */
#ifndef GSIM_POLICIES_ADAPTDL_GOODPUT_H
#define GSIM_POLICIES_ADAPTDL_GOODPUT_H

#include "gsim/policy.h"
#include "policies/adaptdl/fit.h"

enum { POLLUX_SIZES = 50 }; /* batches that are weighed */

/* The batches of an application on a number of GPUs. */
struct pollux_batches {
    uint32_t n;
    struct gsim_batch batch[POLLUX_SIZES];
    double in_all[POLLUX_SIZES];
};

struct pollux_learner {
    struct gsim_learning limits;
    struct pollux_model model;
    double grad_sqr, grad_var;
};

struct pollux_best {
    double goodput;
    struct gsim_batch batch;
};

/* The batches from the smallest to the largest in equal ratios. */
void pollux_batches_make(struct pollux_batches *batches, const struct gsim_learning *limits,
                         uint32_t gpus);
/* The batch that the trace gives, alone. */
void pollux_batches_keep(struct pollux_batches *batches, const struct gsim_learning *limits,
                         uint32_t gpus);
/* The batch with the most goodput; of batches with equal goodput the smallest. */
struct pollux_best pollux_best(const struct pollux_learner *learner,
                               const struct pollux_batches *batches, bool is_spread, uint32_t gpus);
/* The batch of a job that has measured no step yet. */
struct gsim_batch pollux_first_batch(const struct gsim_learning *limits, uint32_t gpus);
/* The batch, cut to what the application may have over all GPUs. */
struct gsim_batch pollux_within(const struct gsim_learning *limits, uint32_t gpus,
                                struct gsim_batch batch);

#endif
