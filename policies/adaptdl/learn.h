/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of Pollux learn how fast they are: each step on other GPUs or with another batch than before
 * is kept, and the model of the job's times is made anew. */
#ifndef GSIM_POLICIES_ADAPTDL_LEARN_H
#define GSIM_POLICIES_ADAPTDL_LEARN_H

#include "policies/adaptdl/goodput.h"
#include "policies/adaptdl/state.h"

struct pollux_job {
    bool is_learner; /* the job learns by a table */
    bool is_known; /* the job has measured a step */
    bool has_started, is_ended_epoch;
    bool wants_batch; /* the batch is to be set */
    bool keeps_batch; /* the batch stays the one that the trace gives */
    uint32_t n_restarts, widest, fair; /* widest: the most GPUs of a step so far */
    int64_t submit_ns, attained_ns, ran_ns; /* ran: when the job measured last */
    struct pollux_learner learner;
    struct pollux_step *steps;
    uint32_t n_steps, room;
    double fair_goodput;
    double largest_per_s; /* samples on one GPU with the largest batch that fits there */
    double *speed[2]; /* of a learner: on one node, on several, by GPUs; below 0: not asked yet */
    uint32_t n_speeds;
};

struct pollux_app {
    struct pollux_batches **batches; /* by GPUs */
};

struct pollux_jobs {
    struct gsim_arena *arena;
    struct pollux_job *job; /* by number */
    struct pollux_app *app;
    uint32_t n_apps, n_gpus;
    struct pollux_batches kept; /* room: of a job that keeps its batch */
    struct pollux_logs *logs; /* room */
    uint32_t n_logs;
};

bool pollux_learn_open(struct pollux_jobs *jobs, const struct gsim_ctx *ctx);
/* A job comes. false: no memory. */
bool pollux_learn_begin(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                        gsim_slot slot);
/* Looks at what a running job has measured since the last time. false: no memory. */
bool pollux_learn_look(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                       gsim_slot slot);
/* Sets the share by which speeds are counted, and forgets the speeds of before. false: no
 * memory. */
bool pollux_learn_fair(struct pollux_jobs *jobs, uint32_t number, uint32_t fair);
/* How much faster the job is on that number of GPUs than on its fair share; 0: no memory. */
double pollux_learn_speed(struct pollux_jobs *jobs, uint32_t number, bool is_spread, uint32_t gpus);
/* The batch with which the job learns most on that number of GPUs; false: no memory. */
bool pollux_learn_batch(struct pollux_jobs *jobs, uint32_t number, bool is_spread, uint32_t gpus,
                        struct gsim_batch *out);
/* A running job measures at ticks and at the ends of its epochs, and wants its batch anew. false:
 * no memory. */
bool pollux_learn_visit(struct pollux_jobs *jobs, const struct gsim_ctx *ctx, uint32_t number,
                        gsim_slot slot, bool is_tick);
/* Sets the batch of a job that wants it on the GPUs that it has; where an application allows no
 * more than a number of GPUs, the batch of the trace stays. false: no memory. */
bool pollux_learn_tune(struct pollux_jobs *jobs, struct gsim_plan *plan, uint32_t number,
                       const struct adaptdl_job *place);

#endif
