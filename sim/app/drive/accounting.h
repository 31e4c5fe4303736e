/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU time of jobs, as the driver counts it. Of each GPU it keeps, for some seconds, in which share
 * of each fifth of a second kernels ran. While one job has the GPU, that is the job's, whatever
 * becomes of its processes. While several have it, no call of the driver tells them apart: it has
 * shares by process (nvmlDeviceGetProcessUtilization), but gives each fifth of a second whole to
 * one of the processes, and under MPS to the server. The driver is asked about once a second, and
 * when a job has ended. That needs no rights; where the driver does not tell, the reason is
 * kept. */
#ifndef GSIM_APP_ACCOUNTING_H
#define GSIM_APP_ACCOUNTING_H

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
    unsigned long long until_us; /* its samples are counted */
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

/* What to do with the GPU time of a job. */
struct gsim_accounting_taker {
    void (*take)(void *arg, int64_t job, int64_t gpu_ns);
    void *arg;
};

void gsim_accounting_open(struct gsim_accounting *accounting, const uint32_t *numbers, uint32_t n);
/* From now on that job has the GPU, or none, or several have it. */
void gsim_accounting_hold(struct gsim_accounting *accounting, uint32_t nth, int64_t job);
/* Asks now, or, unless it is due, if a second has passed. */
void gsim_accounting_ask(struct gsim_accounting *accounting, int64_t now_ns, bool is_due,
                         const struct gsim_accounting_taker *taker);
void gsim_accounting_close(struct gsim_accounting *accounting);

#endif
