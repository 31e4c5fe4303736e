/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU time of processes, as the driver counts it: about once a second it is asked which share of
 * the time since it was last asked kernels of each process ran. That needs no rights where
 * processes of all users may be seen; where the driver does not tell, the reason is kept. What a
 * process does in the second before its end may be missed. */
#ifndef GSIM_APP_ACCOUNTING_H
#define GSIM_APP_ACCOUNTING_H

#include <sys/types.h>

#include "sim/app/drive/gpus.h"
#include "sim/app/drive/nvml.h"

struct gsim_accounting {
    struct gsim_nvml nvml;
    void *device[GSIM_DRIVE_GPUS];
    unsigned long long since_us[GSIM_DRIVE_GPUS]; /* until when each GPU's samples are taken */
    uint32_t n;
    int64_t next_ns; /* of the wall: when to ask again */
    char no_usage[96]; /* why the driver does not tell; empty: it does */
};

/* Called for each process that has used a GPU since the last call. */
typedef void gsim_accounting_take(void *arg, pid_t pid, int64_t gpu_ns);

void gsim_accounting_open(struct gsim_accounting *accounting, const uint32_t *numbers, uint32_t n);
/* Asks, if a second has passed. */
void gsim_accounting_ask(struct gsim_accounting *accounting, int64_t now_ns,
                         gsim_accounting_take *take, void *arg);
void gsim_accounting_close(struct gsim_accounting *accounting);

#endif
