/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waves of a kernel's blocks: how many blocks end when, by the work that is left. */
#ifndef GSIM_MODELS_GPU_SM_WAVES_H
#define GSIM_MODELS_GPU_SM_WAVES_H

#include "models/gpu/sm_kernel.h"

/* Blocks that begin together end together, so a kernel goes on in waves; the last one has the
 * blocks that are left over. What memory does takes as long as its bytes, and the rest as long as a
 * wave (measured: experiments/waves). With fewer SMs than alone no block ends sooner than it would
 * alone: the kernel's time is by its part of the SMs, and its last wave has the rest of that. */
struct gsim_sm_waves {
    int64_t n, each, last; /* blocks of each wave, and of the last one */
    gsim_work last_work;
};

/* The part of this work that is done in the last wave: as in others, but within the kernel. */
static inline gsim_work gsim_sm_in_last_wave(const struct gsim_sm_kernel *kernel,
                                             const struct gsim_sm_waves *waves, gsim_work work) {
    int64_t places = kernel->places - (waves->n - 1) * waves->each;
    if (places <= 0)
        return 0;
    gsim_work rest = work * (gsim_work)places / (gsim_work)kernel->places;
    gsim_work even = work / (gsim_work)waves->n;
    return rest < even ? rest : even;
}

/* The work of these blocks that memory binds. */
static inline gsim_work gsim_sm_loads_of(const struct gsim_sm_kernel *kernel, int64_t blocks) {
    gsim_work loads = kernel->all * (gsim_work)kernel->memory_ppm / GSIM_PPM;
    if (blocks != kernel->blocks)
        loads = loads * (gsim_work)blocks / (gsim_work)kernel->blocks;
    return loads < gsim_sm_kernel_work(kernel) ? loads : gsim_sm_kernel_work(kernel);
}

static inline struct gsim_sm_waves gsim_sm_waves_of(const struct gsim_sm_kernel *kernel,
                                                    int64_t each) {
    struct gsim_sm_waves out = {.each = each};
    int64_t blocks = gsim_sm_kernel_blocks(kernel);
    out.n = (blocks + each - 1) / each;
    out.last = blocks - (out.n - 1) * each;
    out.last_work = gsim_sm_kernel_work(kernel);
    if (out.n == 1) /* most kernels are one wave */
        return out;
    gsim_work loads = gsim_sm_loads_of(kernel, blocks);
    out.last_work = gsim_sm_in_last_wave(kernel, &out, out.last_work - loads) +
                    loads * (gsim_work)out.last / (gsim_work)blocks;
    return out;
}

/* The work of each wave but the last. */
static inline gsim_work gsim_sm_work_of_wave(const struct gsim_sm_kernel *kernel,
                                             const struct gsim_sm_waves *waves) {
    gsim_work all = gsim_sm_kernel_work(kernel);
    return waves->n == 1 ? all : (all - waves->last_work) / (gsim_work)(waves->n - 1);
}

/* Rates are rounded down, by some parts in 2^32, so that blocks that end now may have a little
 * left: they have ended, as those of other kernels that end now. */
static inline gsim_work gsim_sm_work_left(const struct gsim_sm_kernel *kernel) {
    gsim_work little = kernel->all >> 24, half_a_block = kernel->all / (2 * kernel->blocks);
    gsim_work rest = kernel->left - (little < half_a_block ? little : half_a_block);
    return rest > 0 ? rest : kernel->left;
}

static inline int64_t gsim_sm_ended_in_waves(const struct gsim_sm_kernel *kernel, int64_t each) {
    struct gsim_sm_waves waves = gsim_sm_waves_of(kernel, each);
    gsim_work all = gsim_sm_kernel_work(kernel);
    gsim_work before = all - waves.last_work, rest = gsim_sm_work_left(kernel);
    if (rest <= waves.last_work || waves.n == 1)
        return (waves.n - 1) * each;
    int64_t n = (int64_t)((all - rest) * (gsim_work)(waves.n - 1) / before);
    return (n < waves.n - 2 ? n : waves.n - 2) * each;
}

/* Blocks that began at different times: by the work that is left. */
static inline int64_t gsim_sm_ended_by_work(const struct gsim_sm_kernel *kernel) {
    int64_t n = gsim_sm_kernel_blocks(kernel);
    gsim_work blocks = gsim_sm_work_left(kernel) * (gsim_work)n, all = gsim_sm_kernel_work(kernel);
    return n - (int64_t)((blocks + all - 1) / all);
}

static inline gsim_work gsim_sm_work_of_blocks(const struct gsim_sm_kernel *kernel,
                                               int64_t blocks) {
    return gsim_sm_kernel_work(kernel) * (gsim_work)blocks /
           (gsim_work)gsim_sm_kernel_blocks(kernel);
}

/* The blocks of a wave, where the kernel has this many until one has ended; 0: its blocks are not
 * in step, since it has had room for more or less of them meanwhile. */
static inline int64_t gsim_sm_step_of(struct gsim_sm_held *held, int64_t has) {
    if (held->step > 0 && held->step != held->pace)
        held->step = -1;
    return held->step > 0 ? held->step : held->step == 0 ? has : 0;
}

/* Blocks that run or have not begun. As long as the kernel has not done the work of as many blocks
 * as it has, or had when it ran alone, none of them has ended. */
static inline int64_t gsim_sm_blocks_to_be_there(const struct gsim_sm_kernel *kernel, int64_t has) {
    struct gsim_sm_held *held = kernel->held;
    int64_t each = gsim_sm_step_of(held, has);
    int64_t done = each > 0 ? gsim_sm_ended_in_waves(kernel, each) : gsim_sm_ended_by_work(kernel);
    if (done > 0 && done >= has && !held->some_ended) {
        held->some_ended = 1;
        held->step = has > 0 ? has : -1; /* without any, all have left their SMs meanwhile */
    }
    return gsim_sm_kernel_blocks(kernel) - (held->some_ended ? done : 0);
}

#endif
