/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPUs of this machine that a run is to use: asked of the driver's management library at run
 * time, free of other processes, and locked against another `gsim drive`. */
#ifndef GSIM_APP_GPUS_H
#define GSIM_APP_GPUS_H

#include "gsim/arena.h"
#include "gsim/status.h"

enum { GSIM_DRIVE_GPUS = 64 /* more GPUs than any machine has */ };

/* As cuDeviceGetUuid gives it. */
struct gsim_gpu_uuid {
    uint8_t bytes[16];
};

struct gsim_gpus {
    uint32_t number[GSIM_DRIVE_GPUS]; /* as nvidia-smi counts them */
    uint32_t n;
    const char *product; /* "NVIDIA H200"; NULL in a dry run */
    struct gsim_gpu_uuid *uuids; /* of all GPUs of the machine, by number */
    uint32_t n_uuids; /* 0: the driver does not tell them all, or there is none */
    /* locked files: one for each GPU, and one for the folder of logs */
    int lock[GSIM_DRIVE_GPUS + 1];
    uint32_t n_locks;
};

/* Reads "0,1" into numbers. */
enum gsim_status gsim_gpus_read(const char *text, struct gsim_gpus *gpus, struct gsim_log *log);
/* Finds the GPUs; without numbers, all of the machine. Refuses a machine without a driver, a
 * number that it does not have, GPUs of another run, of several products, and a GPU that other
 * processes use. They are locked until gsim_gpus_release, or until this process ends. */
enum gsim_status gsim_gpus_find(struct gsim_gpus *gpus, struct gsim_arena *arena,
                                struct gsim_log *log);
/* Locks a file, which another process must not hold: `what` is shared otherwise. */
enum gsim_status gsim_gpus_lock_file(struct gsim_gpus *gpus, const char *path, const char *what,
                                     struct gsim_log *log);
void gsim_gpus_release(struct gsim_gpus *gpus);

#endif
