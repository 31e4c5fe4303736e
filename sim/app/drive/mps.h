/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NVIDIA's multi-process service, for a policy that shares GPUs through it: the control process is
 * started before the first job, as a group that the guard knows, and ended after the last. */
#ifndef GSIM_APP_MPS_H
#define GSIM_APP_MPS_H

#include "sim/app/drive/driven.h"
#include "sim/app/drive/process.h"

struct gsim_mps {
    struct gsim_job_process control; /* pid 0: there is none */
    char folder[64]; /* of its pipes; "": there is none */
};

/* Why this machine has no such service; NULL: it has. */
const char *gsim_mps_refusal(void);
/* Makes the folder of its pipes. */
enum gsim_status gsim_mps_open(struct gsim_mps *mps, struct gsim_log *log);
/* Starts it for the run's GPUs, and waits until it takes clients. */
enum gsim_status gsim_mps_start(struct gsim_mps *mps, const struct gsim_executor *executor,
                                const struct gsim_guard *guard);
/* Removes the folder, if there is one. */
void gsim_mps_clean(const void *mps);
/* Ends it, for its jobs have ended. */
void gsim_mps_end(struct gsim_mps *mps, const struct gsim_guard *guard);

#endif
