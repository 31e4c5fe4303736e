/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The driver of a node's host, which the processes of jobs share while they start and end. A
 * start, or an end, has a part in which the driver works for one process at a time
 * (start.serial_ns, end.serial_ns): n processes that start at once are all ready when the driver
 * has done the parts of all, and the rest of their starts goes on side by side. The driver's
 * turns are short, so that it works for all of them at equal rates. Another part falls to the
 * first process on a GPU, which brings the GPU up (start.wake_ns), and to the last one
 * (end.sleep_ns). */
#ifndef GSIM_MODELS_JOBS_HOST_DRIVER_H
#define GSIM_MODELS_JOBS_HOST_DRIVER_H

#include "models/jobs/machine.h"

/* false: no memory. */
bool gsim_host_driver_init(struct gsim_model *model);
/* What the end of its process takes, and the start of another one there, with what runs there and
 * what the driver has to do now. */
int64_t gsim_host_driver_end_ns(const struct gsim_model *model, gsim_slot slot, int64_t all_ns,
                                int64_t now_ns);
int64_t gsim_host_driver_start_ns(const struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_unit *units, uint32_t n_units, int64_t all_ns,
                                  int64_t now_ns);
/* The job's next event, which comes at at_ns if process_ns of the time until then, in which its
 * process starts (before it RUNS) or ends, meet no other process. The job has a process on its
 * units once it is to RUN there. */
void gsim_host_driver_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                             int64_t process_ns, int64_t at_ns, int64_t now_ns);
/* It has none from now on. */
void gsim_host_driver_has_none(struct gsim_model *model, gsim_slot slot);
/* The driver has done its part. */
void gsim_host_driver_pass(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* The job is out of the run, or of its GPUs by a failure. */
void gsim_host_driver_forget(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

#endif
