/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/calibrate/cuda.h"
#include "sim/base/symbol.h"

#include <dlfcn.h>
#include <string.h>

static const char library[] = "libcuda.so.1";

static const char *missing_call(struct gsim_cuda *cuda) {
#define GSIM_CUDA_CALL(field, symbol, parameters)                                                  \
    if (!gsim_symbol(cuda->library, symbol, &cuda->field, sizeof cuda->field))                     \
        return symbol;
    GSIM_CUDA_CALLS
#undef GSIM_CUDA_CALL
    return NULL;
}

static enum gsim_status find_device(struct gsim_cuda *cuda, struct gsim_log *log) {
    const char *name = "?";
    int error = cuda->init(0);
    if (error == 0)
        error = cuda->device_get(&cuda->device, 0);
    if (error == 0)
        error = cuda->device_name(cuda->name, (int)sizeof cuda->name, cuda->device);
    if (error == 0)
        return cuda->driver_version(&cuda->driver) == 0
                   ? GSIM_OK
                   : gsim_fail(log, GSIM_FAILED, NULL, 0, "the driver does not tell its version");
    if (cuda->error_name(error, &name) != 0)
        name = "?";
    return gsim_fail(log, GSIM_FAILED, NULL, 0, "the driver shows no GPU: %s (%d)", name, error);
}

enum gsim_status gsim_cuda_open(struct gsim_cuda *cuda, struct gsim_log *log) {
    *cuda = (struct gsim_cuda){.library = dlopen(library, RTLD_NOW | RTLD_LOCAL)};
    if (!cuda->library)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "no NVIDIA driver on this machine: %s; run it where the GPU is",
                         dlerror());
    const char *missing = missing_call(cuda);
    enum gsim_status status = missing
                                  ? gsim_fail(log, GSIM_FAILED, NULL, 0,
                                              "%s has no %s: too old a driver", library, missing)
                                  : find_device(cuda, log);
    if (status != GSIM_OK)
        gsim_cuda_close(cuda);
    return status;
}

void gsim_cuda_close(struct gsim_cuda *cuda) {
    if (cuda->library)
        (void)dlclose(cuda->library);
    cuda->library = NULL;
}

int gsim_cuda_attribute(const struct gsim_cuda *cuda, enum gsim_cuda_attribute attribute) {
    int value = 0;
    return cuda->device_attribute(&value, (int)attribute, cuda->device) == 0 ? value : 0;
}
