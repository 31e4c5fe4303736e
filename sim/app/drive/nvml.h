/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of the driver's management library that `drive` uses, taken from the library at run
 * time. A call returns 0 for success. */
#ifndef GSIM_APP_NVML_H
#define GSIM_APP_NVML_H

#include "gsim/status.h"

enum {
    GSIM_NVML_NOT_FOUND = 6, /* NVML_ERROR_NOT_FOUND */
    GSIM_NVML_GPU_USE = 1 /* NVML_GPU_UTILIZATION_SAMPLES */
};

struct gsim_nvml_process { /* nvmlProcessInfo_v2_t */
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

/* nvmlSample_t: the share of the time since the sample before in which a kernel of any process ran,
 * in per cent; of the value the low half counts (NVML_VALUE_TYPE_UNSIGNED_INT). */
struct gsim_nvml_gpu_sample {
    unsigned long long time_us, percent;
};

/* GSIM_NVML_CALL(field, symbol, parameters) */
#define GSIM_NVML_CALLS                                                                            \
    GSIM_NVML_CALL(init, "nvmlInit_v2", (void))                                                    \
    GSIM_NVML_CALL(shutdown, "nvmlShutdown", (void))                                               \
    GSIM_NVML_CALL(count, "nvmlDeviceGetCount_v2", (unsigned *n))                                  \
    GSIM_NVML_CALL(device, "nvmlDeviceGetHandleByIndex_v2", (unsigned nth, void **device))         \
    GSIM_NVML_CALL(name, "nvmlDeviceGetName", (void *device, char *name, unsigned size))           \
    GSIM_NVML_CALL(uuid, "nvmlDeviceGetUUID", (void *device, char *uuid, unsigned size))           \
    GSIM_NVML_CALL(processes, "nvmlDeviceGetComputeRunningProcesses_v3",                           \
                   (void *device, unsigned *n, struct gsim_nvml_process *list))                    \
    GSIM_NVML_CALL(gpu_use, "nvmlDeviceGetSamples",                                                \
                   (void *device, int type, unsigned long long since_us, unsigned *value_type,     \
                    unsigned *n, struct gsim_nvml_gpu_sample *list))

struct gsim_nvml {
#define GSIM_NVML_CALL(field, symbol, parameters) int(*field) parameters;
    GSIM_NVML_CALLS
#undef GSIM_NVML_CALL
    void *library;
};

enum gsim_status gsim_nvml_open(struct gsim_nvml *nvml, struct gsim_log *log);
void gsim_nvml_close(struct gsim_nvml *nvml);

#endif
