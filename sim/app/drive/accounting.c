/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/accounting.h"

#include <stdio.h>
#include <time.h>

#include "gsim/units.h"

enum { MOST_SAMPLES = 1024, PERCENT = 100 };
#define ASK_NS GSIM_NS_PER_S

static void give_up(struct gsim_accounting *accounting, const char *call, int error) {
    (void)snprintf(accounting->no_usage, sizeof accounting->no_usage, "%s: error %d of the driver",
                   call, error);
}

/* By the clock of the samples. */
static unsigned long long clock_us(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

void gsim_accounting_open(struct gsim_accounting *accounting, const uint32_t *numbers, uint32_t n) {
    struct gsim_log unheard = {0}; /* the GPUs were found through the library before */
    *accounting = (struct gsim_accounting){.n = n};
    if (gsim_nvml_open(&accounting->nvml, &unheard) != GSIM_OK) {
        (void)snprintf(accounting->no_usage, sizeof accounting->no_usage,
                       "its library is not there");
        return;
    }
    for (uint32_t i = 0; i < n && !*accounting->no_usage; i++) {
        int error = accounting->nvml.device(numbers[i], &accounting->device[i]);
        accounting->since_us[i] = clock_us();
        if (error != 0)
            give_up(accounting, "nvmlDeviceGetHandleByIndex", error);
    }
}

static bool has_later(const struct gsim_nvml_sample *list, unsigned n,
                      const struct gsim_nvml_sample *sample) {
    for (unsigned i = 0; i < n; i++)
        if (list[i].pid == sample->pid && list[i].time_us > sample->time_us)
            return true;
    return false;
}

/* The latest sample of each process counts, for the time since the one before. */
static void take_samples(const struct gsim_nvml_sample *list, unsigned n,
                         unsigned long long since_us, gsim_accounting_take *take, void *arg) {
    for (unsigned i = 0; i < n; i++) {
        const struct gsim_nvml_sample *sample = &list[i];
        if (sample->time_us <= since_us || sample->sm_percent > PERCENT ||
            has_later(list, n, sample))
            continue;
        int64_t passed_ns = (int64_t)(sample->time_us - since_us) * GSIM_NS_PER_US;
        take(arg, (pid_t)sample->pid, passed_ns * sample->sm_percent / PERCENT);
    }
}

static void ask_gpu(struct gsim_accounting *accounting, uint32_t nth, gsim_accounting_take *take,
                    void *arg) {
    struct gsim_nvml_sample list[MOST_SAMPLES];
    unsigned n = MOST_SAMPLES;
    unsigned long long now_us = clock_us(), latest_us = 0;
    int error = accounting->nvml.use(accounting->device[nth], list, &n, accounting->since_us[nth]);
    if (error != 0 && error != GSIM_NVML_NOT_FOUND) {
        give_up(accounting, "nvmlDeviceGetProcessUtilization", error);
        return;
    }
    n = error == 0 ? n : 0;
    for (unsigned i = 0; i < n; i++)
        latest_us = list[i].time_us > latest_us ? list[i].time_us : latest_us;
    take_samples(list, n, accounting->since_us[nth], take, arg);
    accounting->since_us[nth] = latest_us > accounting->since_us[nth] ? latest_us : now_us;
}

void gsim_accounting_ask(struct gsim_accounting *accounting, int64_t now_ns,
                         gsim_accounting_take *take, void *arg) {
    if (*accounting->no_usage || now_ns < accounting->next_ns)
        return;
    accounting->next_ns = now_ns + ASK_NS;
    for (uint32_t i = 0; i < accounting->n && !*accounting->no_usage; i++)
        ask_gpu(accounting, i, take, arg);
}

void gsim_accounting_close(struct gsim_accounting *accounting) {
    gsim_nvml_close(&accounting->nvml);
}
