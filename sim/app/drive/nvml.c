/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/nvml.h"

#include <dlfcn.h>

#include "sim/base/symbol.h"

static const char library_name[] = "libnvidia-ml.so.1";

static const char *missing_call(struct gsim_nvml *nvml) {
#define GSIM_NVML_CALL(field, symbol, parameters)                                                  \
    if (!gsim_symbol(nvml->library, symbol, &nvml->field, sizeof nvml->field))                     \
        return symbol;
    GSIM_NVML_CALLS
#undef GSIM_NVML_CALL
    return NULL;
}

enum gsim_status gsim_nvml_open(struct gsim_nvml *nvml, struct gsim_log *log) {
    *nvml = (struct gsim_nvml){.library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL)};
    if (!nvml->library)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "no NVIDIA driver on this machine: %s; run it where the GPUs are, or try "
                         "--dry-run",
                         dlerror());
    const char *missing = missing_call(nvml);
    int error = missing ? 0 : nvml->init();
    if (!missing && error == 0)
        return GSIM_OK;
    (void)dlclose(nvml->library);
    nvml->library = NULL;
    return missing ? gsim_fail(log, GSIM_FAILED, NULL, 0, "%s has no %s: too old a driver",
                               library_name, missing)
                   : gsim_fail(log, GSIM_FAILED, NULL, 0,
                               "the driver shows no GPU: nvmlInit gives error %d", error);
}

void gsim_nvml_close(struct gsim_nvml *nvml) {
    if (!nvml->library)
        return;
    (void)nvml->shutdown();
    (void)dlclose(nvml->library);
    nvml->library = NULL;
}
