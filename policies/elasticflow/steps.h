/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A number of GPUs over time. */
#ifndef GSIM_POLICIES_ELASTICFLOW_STEPS_H
#define GSIM_POLICIES_ELASTICFLOW_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct elasticflow_step {
    int64_t time, gpus; /* from then until the next step */
};

struct elasticflow_steps {
    struct gsim_arena *arena;
    struct elasticflow_step *step; /* by time */
    uint32_t n, capacity;
    bool has_failed; /* there was no memory for a step */
};

/* The last step at or before a time; -1: none. */
int64_t elasticflow_steps_find(const struct elasticflow_steps *steps, int64_t time);
bool elasticflow_steps_have(const struct elasticflow_steps *steps, int64_t time);
void elasticflow_steps_set(struct elasticflow_steps *steps, int64_t time, int64_t gpus);
/* As set, behind all steps there are. */
static inline void elasticflow_steps_append(struct elasticflow_steps *steps, int64_t time,
                                            int64_t gpus) {
    if (steps->n < steps->capacity)
        steps->step[steps->n++] = (struct elasticflow_step){time, gpus};
    else
        elasticflow_steps_set(steps, time, gpus);
}
/* As set, where there is no step at that time yet. */
void elasticflow_steps_add(struct elasticflow_steps *steps, int64_t time, int64_t gpus);
/* Drops steps that change nothing. */
void elasticflow_steps_merge(struct elasticflow_steps *steps);
void elasticflow_steps_copy(struct elasticflow_steps *to, const struct elasticflow_steps *from);
/* The free GPUs as they would be without a plan that ends then: both added up to its end. Before
 * the first step of free all GPUs are. Steps that change nothing are left out. */
void elasticflow_steps_give_back(struct elasticflow_steps *to, const struct elasticflow_steps *free,
                                 const struct elasticflow_steps *plan, int64_t end, int64_t n_gpus);
/* The free GPUs without those that a plan has until its end; fewer than 0 where there are not as
 * many. */
void elasticflow_steps_take(struct elasticflow_steps *to, const struct elasticflow_steps *free,
                            const struct elasticflow_steps *plan, int64_t end);
/* GPUs times time up to `end`. */
int64_t elasticflow_steps_area(const struct elasticflow_steps *steps, int64_t end);

#endif
