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

/* Opens the first n GPUs that the process sees, and takes that memory on each (none if it is not
 * above 0). Errors go to standard error. NULL: it cannot be done. */
struct gsim_work_gpus *gsim_work_gpus_open(uint32_t n, int64_t mem_bytes, int64_t sm_ppm);
/* That many steps on each GPU, in kernels of `most` steps or less; returns when all are done. */
bool gsim_work_gpus_burn(struct gsim_work_gpus *gpus, int64_t steps, int64_t most);
void gsim_work_gpus_close(struct gsim_work_gpus *gpus);

/* Steps that a GPU does in a ms alone, for kernels of about a ms: measured for 1.2 s, in a
 * process of its own, on the GPU of that number. 0: it cannot be done; the reason went to standard
 * error. */
int64_t gsim_work_steps_per_ms(uint32_t gpu);

#endif
