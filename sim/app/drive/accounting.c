/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "sim/app/drive/accounting.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gsim/units.h"

enum { MOST_SAMPLES = 1024, PERCENT = 100 };
#define ASK_NS GSIM_NS_PER_S
/* A sample is of a second at most (nvmlDeviceGetUtilizationRates: of 1/6 s to 1 s). */
#define SAMPLE_US 1000000ULL

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
                       "the library of the driver is not there");
        return;
    }
    for (uint32_t i = 0; i < n && !*accounting->no_usage; i++) {
        struct gsim_accounted_gpu *gpu = &accounting->gpu[i];
        int error = accounting->nvml.device(numbers[i], &gpu->device);
        gpu->until_us = clock_us();
        if (error != 0)
            give_up(accounting, "nvmlDeviceGetHandleByIndex", error);
    }
}

/* --- jobs that have a GPU --------------------------------------------------------------------- */

static void hold(struct gsim_accounted_gpu *gpu, int64_t job) {
    uint32_t capacity = gpu->capacity ? 2 * gpu->capacity : 16;
    struct gsim_holding *more =
        gpu->n == gpu->capacity ? realloc(gpu->holding, capacity * sizeof *more) : gpu->holding;
    if (!more)
        return; /* the time stays with the job before */
    gpu->capacity = gpu->n == gpu->capacity ? capacity : gpu->capacity;
    gpu->holding = more;
    gpu->holding[gpu->n++] = (struct gsim_holding){job, clock_us()};
}

void gsim_accounting_hold(struct gsim_accounting *accounting, uint32_t nth, int64_t job) {
    struct gsim_accounted_gpu *gpu = &accounting->gpu[nth];
    int64_t now = gpu->n > 0 ? gpu->holding[gpu->n - 1].job : GSIM_HELD_BY_NONE;
    if (now != job)
        hold(gpu, job);
}

/* How much of that time the i-th of the jobs in the list had the GPU. */
static unsigned long long overlap_us(const struct gsim_accounted_gpu *gpu, uint32_t i,
                                     unsigned long long from_us, unsigned long long to_us) {
    unsigned long long begin_us = gpu->holding[i].since_us;
    unsigned long long end_us = i + 1 < gpu->n ? gpu->holding[i + 1].since_us : to_us;
    begin_us = begin_us > from_us ? begin_us : from_us;
    end_us = end_us < to_us ? end_us : to_us;
    return end_us > begin_us ? end_us - begin_us : 0;
}

static bool is_held_by_one(const struct gsim_accounted_gpu *gpu) {
    for (uint32_t i = 0; i < gpu->n; i++)
        if (gpu->holding[i].job >= 0)
            return true;
    return false;
}

/* Leaves out what was over when all was counted. */
static void forget(struct gsim_accounted_gpu *gpu) {
    uint32_t n_over = 0;
    while (n_over + 1 < gpu->n && gpu->holding[n_over + 1].since_us <= gpu->until_us)
        n_over++;
    gpu->n -= n_over;
    for (uint32_t i = 0; i < gpu->n; i++)
        gpu->holding[i] = gpu->holding[i + n_over];
}

static int64_t part_ns(unsigned long long us, unsigned long long percent) {
    return (int64_t)(us * GSIM_NS_PER_US * percent / PERCENT);
}

/* --- samples ---------------------------------------------------------------------------------- */

static void take_gpu_sample(struct gsim_accounted_gpu *gpu,
                            const struct gsim_nvml_gpu_sample *sample,
                            const struct gsim_accounting_taker *taker) {
    unsigned long long from_us = gpu->until_us, percent = sample->percent & UINT32_MAX;
    if (sample->time_us <= from_us || percent > PERCENT)
        return;
    if (from_us + SAMPLE_US < sample->time_us)
        from_us = sample->time_us - SAMPLE_US;
    for (uint32_t i = 0; i < gpu->n; i++)
        if (gpu->holding[i].job >= 0)
            taker->take(taker->arg, gpu->holding[i].job,
                        part_ns(overlap_us(gpu, i, from_us, sample->time_us), percent));
    gpu->until_us = sample->time_us;
}

static void ask_of_gpu(struct gsim_accounting *accounting, struct gsim_accounted_gpu *gpu,
                       const struct gsim_accounting_taker *taker) {
    struct gsim_nvml_gpu_sample list[MOST_SAMPLES];
    unsigned n = MOST_SAMPLES, value_type;
    int error = accounting->nvml.gpu_use(gpu->device, GSIM_NVML_GPU_USE, gpu->until_us, &value_type,
                                         &n, list);
    if (error != 0 && error != GSIM_NVML_NOT_FOUND)
        give_up(accounting, "nvmlDeviceGetSamples", error);
    for (unsigned i = 0; error == 0 && i < n; i++)
        take_gpu_sample(gpu, &list[i], taker);
}

/* --- all GPUs --------------------------------------------------------------------------------- */

static void ask_gpu(struct gsim_accounting *accounting, struct gsim_accounted_gpu *gpu,
                    const struct gsim_accounting_taker *taker) {
    if (is_held_by_one(gpu))
        ask_of_gpu(accounting, gpu, taker);
    else
        gpu->until_us = clock_us();
    forget(gpu);
}

void gsim_accounting_ask(struct gsim_accounting *accounting, int64_t now_ns, bool is_due,
                         const struct gsim_accounting_taker *taker) {
    if (*accounting->no_usage || (!is_due && now_ns < accounting->next_ns))
        return;
    accounting->next_ns = now_ns + ASK_NS;
    for (uint32_t i = 0; i < accounting->n && !*accounting->no_usage; i++)
        ask_gpu(accounting, &accounting->gpu[i], taker);
}

void gsim_accounting_close(struct gsim_accounting *accounting) {
    for (uint32_t i = 0; i < accounting->n; i++)
        free(accounting->gpu[i].holding);
    gsim_nvml_close(&accounting->nvml);
}
