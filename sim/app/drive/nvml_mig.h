/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The calls of the driver's management library that make and destroy instances of a GPU (MIG). A
 * call returns 0 for success. */
#ifndef GSIM_APP_NVML_MIG_H
#define GSIM_APP_NVML_MIG_H

#include "sim/app/drive/nvml.h"

enum {
    GSIM_NVML_NOT_SUPPORTED = 3, /* NVML_ERROR_NOT_SUPPORTED */
    GSIM_NVML_NO_PERMISSION = 4, /* NVML_ERROR_NO_PERMISSION */
    GSIM_NVML_IN_USE = 19, /* NVML_ERROR_IN_USE */
    GSIM_NVML_UUID_BYTES = 96 /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
};

struct gsim_nvml_profile { /* nvmlGpuInstanceProfileInfo_v2_t */
    unsigned version, id, is_p2p_supported, slices, instances, sms;
    unsigned copy_engines, decoders, encoders, jpeg_engines, optical_flow_engines;
    unsigned long long memory_mb;
    char name[96]; /* "MIG 3g.71gb" */
};

struct gsim_nvml_placement { /* nvmlGpuInstancePlacement_t */
    unsigned start, size; /* slices of the memory */
};

struct gsim_nvml_instance { /* nvmlGpuInstanceInfo_t */
    void *device;
    unsigned id, profile;
    struct gsim_nvml_placement placement;
};

/* The part of an instance that computes: nvmlComputeInstanceProfileInfo_t. */
struct gsim_nvml_compute_profile {
    unsigned id, slices, instances, sms;
    unsigned copy_engines, decoders, encoders, jpeg_engines, optical_flow_engines;
};

/* GSIM_NVML_CALL(field, symbol, parameters); of a profile, `nth` counts those that the library
 * knows, and `id` is the driver's number of it. */
#define GSIM_NVML_MIG_CALLS                                                                        \
    GSIM_NVML_CALL(mode, "nvmlDeviceGetMigMode",                                                   \
                   (void *device, unsigned *current, unsigned *pending))                           \
    GSIM_NVML_CALL(profile, "nvmlDeviceGetGpuInstanceProfileInfoV",                                \
                   (void *device, unsigned nth, struct gsim_nvml_profile *profile))                \
    GSIM_NVML_CALL(placements, "nvmlDeviceGetGpuInstancePossiblePlacements_v2",                    \
                   (void *device, unsigned id, struct gsim_nvml_placement *list, unsigned *n))     \
    GSIM_NVML_CALL(                                                                                \
        create, "nvmlDeviceCreateGpuInstanceWithPlacement",                                        \
        (void *device, unsigned id, const struct gsim_nvml_placement *placement, void **instance)) \
    GSIM_NVML_CALL(destroy, "nvmlGpuInstanceDestroy", (void *instance))                            \
    GSIM_NVML_CALL(list, "nvmlDeviceGetGpuInstances",                                              \
                   (void *device, unsigned id, void **instances, unsigned *n))                     \
    GSIM_NVML_CALL(info, "nvmlGpuInstanceGetInfo",                                                 \
                   (void *instance, struct gsim_nvml_instance *info))                              \
    GSIM_NVML_CALL(compute_profile, "nvmlGpuInstanceGetComputeInstanceProfileInfo",                \
                   (void *instance, unsigned nth, unsigned engines,                                \
                    struct gsim_nvml_compute_profile *profile))                                    \
    GSIM_NVML_CALL(compute_create, "nvmlGpuInstanceCreateComputeInstance",                         \
                   (void *instance, unsigned id, void **compute))                                  \
    GSIM_NVML_CALL(compute_list, "nvmlGpuInstanceGetComputeInstances",                             \
                   (void *instance, unsigned id, void **computes, unsigned *n))                    \
    GSIM_NVML_CALL(compute_destroy, "nvmlComputeInstanceDestroy", (void *compute))                 \
    GSIM_NVML_CALL(most_devices, "nvmlDeviceGetMaxMigDeviceCount", (void *device, unsigned *n))    \
    GSIM_NVML_CALL(device_of, "nvmlDeviceGetMigDeviceHandleByIndex",                               \
                   (void *device, unsigned nth, void **part))                                      \
    GSIM_NVML_CALL(instance_of, "nvmlDeviceGetGpuInstanceId", (void *part, unsigned *id))

struct gsim_nvml_mig {
#define GSIM_NVML_CALL(field, symbol, parameters) int(*field) parameters;
    GSIM_NVML_MIG_CALLS
#undef GSIM_NVML_CALL
};

/* Finds the calls in an open library. */
enum gsim_status gsim_nvml_mig_find(const struct gsim_nvml *nvml, struct gsim_nvml_mig *mig,
                                    struct gsim_log *log);

#endif
