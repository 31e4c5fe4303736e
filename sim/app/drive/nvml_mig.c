/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/nvml_mig.h"

#include <dlfcn.h>

#include "sim/base/symbol.h"

static const char *missing_mig_call(const struct gsim_nvml *nvml, struct gsim_nvml_mig *mig) {
#define GSIM_NVML_CALL(field, symbol, parameters)                                                  \
    if (!gsim_symbol(nvml->library, symbol, &mig->field, sizeof mig->field))                       \
        return symbol;
    GSIM_NVML_MIG_CALLS
#undef GSIM_NVML_CALL
    return NULL;
}

enum gsim_status gsim_nvml_mig_find(const struct gsim_nvml *nvml, struct gsim_nvml_mig *mig,
                                    struct gsim_log *log) {
    const char *missing = missing_mig_call(nvml, mig);
    return missing ? gsim_fail(log, GSIM_FAILED, NULL, 0,
                               "the driver's library has no %s: too old a driver to cut GPUs "
                               "into instances (MIG)",
                               missing)
                   : GSIM_OK;
}
