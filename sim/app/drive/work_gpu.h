/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a workload that runs on GPUs, through the driver's own library. */
#ifndef GSIM_APP_WORK_GPU_H
#define GSIM_APP_WORK_GPU_H

#include <stdbool.h>
#include <stdint.h>

/* No GPU does as many steps in a ms, by far: a driver that answers at once would run into the end
 * of numbers. */
#define GSIM_WORK_MOST_STEPS INT64_C(1000000000)

struct gsim_work_gpus;

struct gsim_work_memory {
    int64_t bytes; /* to take; none if it is not above 0 */
    int64_t touched_bytes; /* of these, from the first on: touched once in an iteration */
    bool is_managed; /* the driver pages it on demand */
};

/* Opens the first n GPUs that the process sees, and takes that memory on each. Kernels fill sm_ppm
 * of a whole GPU's SMs (0: of those that the process sees). Where it sees fewer, as in a part of a
 * GPU, the work is spread over these. Errors go to standard error. NULL: it cannot be done. */
struct gsim_work_gpus *gsim_work_gpus_open(uint32_t n, const struct gsim_work_memory *memory,
                                           uint32_t sms, int64_t sm_ppm);
/* An iteration on each GPU: that many steps in kernels of `most` steps or less, which touch the
 * memory in order, each its part; returns when all are done. */
bool gsim_work_gpus_burn(struct gsim_work_gpus *gpus, int64_t steps, int64_t most);
void gsim_work_gpus_close(struct gsim_work_gpus *gpus);

/* What jobs without a command need to know of a GPU. */
struct gsim_work_speed {
    /* That it does in a ms alone, for kernels of about a ms, measured for 1.2 s; 0: no kernel ran,
     * and the reason went to standard error. */
    int64_t steps_per_ms;
    uint32_t sms;
    bool has_managed; /* its driver pages managed memory */
};

/* Looks at the GPU that CUDA_VISIBLE_DEVICES names so, in a process of its own. Nothing is measured
 * where the steps are given (above 0). */
struct gsim_work_speed gsim_work_look(const char *visible, int64_t given_steps);

#endif
