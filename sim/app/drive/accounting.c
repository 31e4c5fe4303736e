/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/drive/accounting.h"

#include <stdio.h>
#include <string.h>

#include "gsim/units.h"

enum { MOST_SAMPLES = 1024, PERCENT = 100 };
#define ASK_NS GSIM_NS_PER_S

static void give_up(struct gsim_accounting *usage, const char *call, int error) {
    (void)snprintf(usage->no_usage, sizeof usage->no_usage, "%s: error %d of the driver", call,
                   error);
}

void gsim_accounting_open(struct gsim_accounting *usage, const uint32_t *numbers, uint32_t n) {
    struct gsim_log unheard = {0}; /* the GPUs were found through the library before */
    *usage = (struct gsim_accounting){.n = n};
    if (gsim_nvml_open(&usage->nvml, &unheard) != GSIM_OK) {
        (void)snprintf(usage->no_usage, sizeof usage->no_usage, "its library is not there");
        return;
    }
    for (uint32_t i = 0; i < n && !*usage->no_usage; i++) {
        int error = usage->nvml.device(numbers[i], &usage->device[i]);
        if (error != 0)
            give_up(usage, "nvmlDeviceGetHandleByIndex", error);
    }
}

/* The first sample of a GPU says since when the next one counts. */
static void ask_gpu(struct gsim_accounting *usage, uint32_t nth, gsim_accounting_take *take,
                    void *arg) {
    struct gsim_nvml_sample list[MOST_SAMPLES];
    unsigned n = MOST_SAMPLES;
    unsigned long long since_us = usage->since_us[nth], latest_us = since_us;
    int error = usage->nvml.use(usage->device[nth], list, &n, since_us);
    if (error == GSIM_NVML_NOT_FOUND)
        return;
    if (error != 0) {
        give_up(usage, "nvmlDeviceGetProcessUtilization", error);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        latest_us = list[i].time_us > latest_us ? list[i].time_us : latest_us;
    for (unsigned i = 0; i < n && since_us > 0; i++)
        if (list[i].time_us > since_us && list[i].sm_percent <= PERCENT)
            take(arg, (pid_t)list[i].pid,
                 (int64_t)(list[i].time_us - since_us) * GSIM_NS_PER_US * list[i].sm_percent /
                     PERCENT);
    usage->since_us[nth] = latest_us;
}

void gsim_accounting_ask(struct gsim_accounting *usage, int64_t now_ns, gsim_accounting_take *take,
                         void *arg) {
    if (*usage->no_usage || now_ns < usage->next_ns)
        return;
    usage->next_ns = now_ns + ASK_NS;
    for (uint32_t i = 0; i < usage->n && !*usage->no_usage; i++)
        ask_gpu(usage, i, take, arg);
}

void gsim_accounting_close(struct gsim_accounting *usage) {
    gsim_nvml_close(&usage->nvml);
}
