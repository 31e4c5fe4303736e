/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goodput as data: how fast applications learn, by GPUs, nodes and batch size (Qiao et al.,
 * "Pollux", OSDI 2021). Read from a table (traces/goodput.h). A job's work is its epochs, each of
 * which is a phase: the progress of an epoch over the goodput is the time that it takes.
 *
 * Goodput is the gain of a step over its time. The time of a step is linear in the local batch
 * between the rows of a placement, and that of the nearest row beyond them. A placement without
 * rows has those by nodes and GPUs; without these too, the rows with the nearest number of GPUs,
 * then of nodes, hold. Rows of steps and limits may name a device. The gain follows from the
 * gradient's square and variance in the epoch, which are linear in the batch between its rows.
 *
 * The file computes with doubles, of which only + - * / and comparisons are asked; what leaves it
 * for a run is a time in ns, or a speed as digits and an exponent of two. */
#ifndef GSIM_API_GOODPUT_H
#define GSIM_API_GOODPUT_H

#include "sim/api/phases.h"

struct gsim_app_limits {
    const char *name;
    uint32_t max_batch; /* over all GPUs */
    uint32_t most_gpus; /* over which a batch can be spread; 0: no limit of its own */
    uint32_t init_batch; /* the smallest one with rows */
    uint32_t n_epochs;
    uint32_t node_gpus; /* GPUs of the fullest node of any placement */
    uint32_t first_size, n_sizes; /* its batch sizes with rows of epochs */
    bool is_given; /* by a row of its own */
};

/* An application on a device. */
struct gsim_app_there {
    uint32_t min_local, max_local; /* on each GPU, in a step; 0: no row says so */
    uint32_t first_step, n_steps; /* its groups of rows; none: it cannot run there */
};

/* Seconds of a step, and the part of them that replicas spend on telling each other. */
struct gsim_step {
    double step_s, sync_s;
};

struct gsim_step_row {
    uint32_t app, device;
    uint64_t place; /* GPUs by node as digits, the smallest rotation; 0: any of that many */
    uint32_t nodes, gpus, local;
    struct gsim_step step;
};

/* Rows of one placement, or of one number of nodes and GPUs, by rising batch. */
struct gsim_step_group {
    uint32_t first, n;
};

struct gsim_epoch_row {
    uint32_t app, batch, epoch;
    double progress, grad_sqr, grad_var;
    double iterations; /* by the end of the epoch; 0: not known */
};

struct gsim_goodput {
    const char *path;
    struct gsim_app_limits *app;
    uint32_t n_apps;
    /* The devices that rows name, from 1 on; 0 is any other: NULL. */
    const char **device;
    uint32_t n_devices; /* with 0 */
    struct gsim_app_there *there; /* by app * n_devices + device */
    const struct gsim_step_row *steps; /* by application, device, placement, nodes, GPUs, batch */
    const struct gsim_step_group *group;
    const struct gsim_epoch_row *epochs; /* by application, batch, epoch */
    const uint32_t *size; /* the first row of each batch size */
    struct gsim_phases *phases;
    uint32_t n_phases, phases_capacity;
};

/* A job's GPUs of a device by node, in the order in which it holds them. */
enum { GSIM_MOST_SPREAD = 64 };
struct gsim_spread {
    uint32_t device;
    uint32_t n; /* nodes */
    uint32_t gpus[GSIM_MOST_SPREAD];
};

/* The number as 53 bits and a power of two; 0, or too small to have all bits: no digits. */
struct gsim_tempo gsim_tempo_near(double value);

/* The application of a job; GSIM_NO_KIND: the trace has no table, or the table not its model. */
uint32_t gsim_goodput_of_job(const struct gsim_trace *trace, uint32_t job);
uint32_t gsim_goodput_app(const struct gsim_goodput *goodput, const char *name);
/* The number of a device; 0: no row names it. */
uint32_t gsim_goodput_device(const struct gsim_goodput *goodput, const char *name);
/* What the table says of the application there: by rows that name the device, else by those that
 * name none. */
const struct gsim_app_there *gsim_goodput_there(const struct gsim_goodput *goodput, uint32_t app,
                                                uint32_t device);
/* The first device on which the application can run. */
uint32_t gsim_goodput_first(const struct gsim_goodput *goodput, uint32_t app);
/* That many GPUs of a device on nodes of `node_gpus`, as few as possible. */
struct gsim_spread gsim_goodput_packed(uint32_t device, uint32_t gpus, uint32_t node_gpus);
/* Iterations per second there, with at least that many steps that only sum gradients. */
struct gsim_tempo gsim_goodput_tempo(const struct gsim_goodput *goodput,
                                     const struct gsim_phases *phases,
                                     const struct gsim_spread *spread, uint32_t least_summed);
/* The most GPUs of a device over which the batch of such jobs can be spread. */
uint32_t gsim_goodput_most_gpus(const struct gsim_goodput *goodput,
                                const struct gsim_phases *phases, uint32_t device);
/* Iterations from the end of a phase to the end of the job; -1: the table does not say. */
int64_t gsim_goodput_iterations_after(const struct gsim_goodput *goodput,
                                      const struct gsim_phases *phases, uint32_t phase);
/* The speed in a phase there, in work of its phases, as Q64.64; 0: it cannot run there. */
gsim_u128 gsim_goodput_pace_q64(const struct gsim_goodput *goodput,
                                const struct gsim_phases *phases, uint32_t phase,
                                const struct gsim_spread *spread, struct gsim_batch batch);
/* Limits of the job there, and what it measures in a phase; no GPUs: the limits alone. */
void gsim_goodput_learning(const struct gsim_goodput *goodput, const struct gsim_phases *phases,
                           uint32_t phase, const struct gsim_spread *spread,
                           struct gsim_batch batch, struct gsim_learning *out);
/* The phases of jobs of that kind, made when the first is asked for; NULL: no memory. end_ns is
 * NULL where a phase ends past the end of the clock. */
const struct gsim_phases *gsim_goodput_make(struct gsim_goodput *goodput, struct gsim_arena *arena,
                                            uint32_t app, uint32_t gpus, uint32_t batch);
/* The phases of a job that were made when the trace was read; NULL: it has none. */
const struct gsim_phases *gsim_goodput_phases(const struct gsim_trace *trace, uint32_t job);

#endif
