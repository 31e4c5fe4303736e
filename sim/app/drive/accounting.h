/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU time of jobs, as the driver counts it. Of each GPU it keeps, for some seconds, in which share
 * of each fifth of a second kernels ran. While one job has the GPU, that is the job's, whatever
 * becomes of its processes. Where several have it, the driver is asked which share was each
 * process's; what a process does in the second before its end may be missed then. Both are asked
 * about once a second, and when a job has ended. That needs no rights where processes of all users
 * may be seen; where the driver does not tell, the reason is kept. */
#ifndef GSIM_APP_ACCOUNTING_H
#define GSIM_APP_ACCOUNTING_H

#include <sys/types.h>

#include "sim/app/drive/gpus.h"
#include "sim/app/drive/nvml.h"

/* Jobs that have a GPU: the number of one, or these. */
enum { GSIM_HELD_BY_NONE = -1, GSIM_HELD_BY_SEVERAL = -2 };

struct gsim_holding {
    int64_t job;
    unsigned long long since_us;
};

struct gsim_accounted_gpu {
    void *device;
    unsigned long long until_us; /* the GPU's own samples are counted */
    unsigned long long by_process_us; /* until when those of processes are */
    struct gsim_holding *holding; /* since the time that was counted last */
    uint32_t n, capacity;
};

struct gsim_accounting {
    struct gsim_nvml nvml;
    struct gsim_accounted_gpu gpu[GSIM_DRIVE_GPUS];
    uint32_t n;
    int64_t next_ns; /* of the wall: when to ask again */
    char no_usage[96]; /* why the driver does not tell; empty: it does */
};

/* What to do with GPU time: of a job, or of a process. */
struct gsim_accounting_takers {
    void (*of_job)(void *arg, int64_t job, int64_t gpu_ns);
    void (*of_process)(void *arg, pid_t pid, int64_t gpu_ns);
    void *arg;
};

void gsim_accounting_open(struct gsim_accounting *accounting, const uint32_t *numbers, uint32_t n);
/* From now on that job has the GPU, or none, or several have it. */
void gsim_accounting_hold(struct gsim_accounting *accounting, uint32_t nth, int64_t job);
/* Asks now, or, unless it is due, if a second has passed. */
void gsim_accounting_ask(struct gsim_accounting *accounting, int64_t now_ns, bool is_due,
                         const struct gsim_accounting_takers *takers);
void gsim_accounting_close(struct gsim_accounting *accounting);

#endif
