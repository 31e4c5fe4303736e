/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of NVIDIA's driver API that measuring uses, taken from the driver's own library at run
 * time: gsim is built without CUDA, and every other command runs without a driver. A call returns 0
 * for success. */
#ifndef GSIM_CALIBRATE_CUDA_H
#define GSIM_CALIBRATE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

typedef uint64_t gsim_cuda_mem; /* an address on the device */

/* GSIM_CUDA_CALL(field, symbol of the library, parameters) */
#define GSIM_CUDA_CALLS                                                                            \
    GSIM_CUDA_CALL(init, "cuInit", (unsigned flags))                                               \
    GSIM_CUDA_CALL(driver_version, "cuDriverGetVersion", (int *version))                           \
    GSIM_CUDA_CALL(device_get, "cuDeviceGet", (int *device, int nth))                              \
    GSIM_CUDA_CALL(device_name, "cuDeviceGetName", (char *name, int size, int device))             \
    GSIM_CUDA_CALL(device_mem, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                \
    GSIM_CUDA_CALL(device_attribute, "cuDeviceGetAttribute",                                       \
                   (int *value, int attribute, int device))                                        \
    GSIM_CUDA_CALL(context_create, "cuCtxCreate_v2", (void **context, unsigned flags, int device)) \
    GSIM_CUDA_CALL(context_set, "cuCtxSetCurrent", (void *context))                                \
    GSIM_CUDA_CALL(context_destroy, "cuCtxDestroy_v2", (void *context))                            \
    GSIM_CUDA_CALL(synchronize, "cuCtxSynchronize", (void))                                        \
    GSIM_CUDA_CALL(mem_info, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * bytes))             \
    GSIM_CUDA_CALL(mem_alloc, "cuMemAlloc_v2", (gsim_cuda_mem * mem, size_t bytes))                \
    GSIM_CUDA_CALL(mem_free, "cuMemFree_v2", (gsim_cuda_mem mem))                                  \
    GSIM_CUDA_CALL(mem_managed, "cuMemAllocManaged",                                               \
                   (gsim_cuda_mem * mem, size_t bytes, unsigned flags))                            \
    GSIM_CUDA_CALL(mem_prefetch, "cuMemPrefetchAsync",                                             \
                   (gsim_cuda_mem mem, size_t bytes, int device, void *stream))                    \
    GSIM_CUDA_CALL(host_alloc, "cuMemHostAlloc", (void **mem, size_t bytes, unsigned flags))       \
    GSIM_CUDA_CALL(host_free, "cuMemFreeHost", (void *mem))                                        \
    GSIM_CUDA_CALL(stream_create, "cuStreamCreate", (void **stream, unsigned flags))               \
    GSIM_CUDA_CALL(stream_destroy, "cuStreamDestroy_v2", (void *stream))                           \
    GSIM_CUDA_CALL(copy_in, "cuMemcpyHtoDAsync_v2",                                                \
                   (gsim_cuda_mem to, const void *from, size_t bytes, void *stream))               \
    GSIM_CUDA_CALL(copy_out, "cuMemcpyDtoHAsync_v2",                                               \
                   (void *to, gsim_cuda_mem from, size_t bytes, void *stream))                     \
    GSIM_CUDA_CALL(module_load, "cuModuleLoadData", (void **module, const void *image))            \
    GSIM_CUDA_CALL(module_unload, "cuModuleUnload", (void *module))                                \
    GSIM_CUDA_CALL(module_function, "cuModuleGetFunction",                                         \
                   (void **function, void *module, const char *name))                              \
    GSIM_CUDA_CALL(function_set, "cuFuncSetAttribute", (void *function, int attribute, int value)) \
    GSIM_CUDA_CALL(launch, "cuLaunchKernel",                                                       \
                   (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,             \
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,   \
                    void *stream, void **parameters, void **extra))                                \
    GSIM_CUDA_CALL(error_name, "cuGetErrorName", (int error, const char **name))

struct gsim_cuda {
#define GSIM_CUDA_CALL(field, symbol, parameters) int(*field) parameters;
    GSIM_CUDA_CALLS
#undef GSIM_CUDA_CALL
    void *library;
    int device;
    char name[128]; /* "NVIDIA H200" */
    int driver; /* the CUDA version of the driver, 13000 for 13.0 */
};

/* Attributes of a device, as the driver numbers them. */
enum gsim_cuda_attribute {
    GSIM_CUDA_BLOCK_THREADS = 1,
    GSIM_CUDA_SMS = 16,
    GSIM_CUDA_L2_BYTES = 38,
    GSIM_CUDA_SM_THREADS = 39,
    GSIM_CUDA_SM_SHARED_BYTES = 81,
    GSIM_CUDA_SM_REGISTERS = 82,
    GSIM_CUDA_MANAGED = 83,
    GSIM_CUDA_BLOCK_SHARED_BYTES = 97,
};

/* Opens the first device that the driver shows. */
enum gsim_status gsim_cuda_open(struct gsim_cuda *cuda, struct gsim_log *log);
void gsim_cuda_close(struct gsim_cuda *cuda);
/* The value of an attribute; 0 if the driver does not know it. */
int gsim_cuda_attribute(const struct gsim_cuda *cuda, enum gsim_cuda_attribute attribute);

#endif
