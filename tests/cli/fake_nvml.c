/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libnvidia-ml.so.1 without a GPU, for drive.sh: FAKE_GPUS of them, all of which are FAKE_GPU;
 * process 4711 uses the one of number FAKE_BUSY, and the one of number FAKE_OTHER is another
 * product. Kernels run for FAKE_USE per cent of the time on each GPU; FAKE_NO_USE is the error
 * with which that is not told. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};

static int number(const char *variable) {
    const char *text = getenv(variable);
    return text ? atoi(text) : -1;
}

int nvmlInit_v2(void) {
    return 0;
}
int nvmlShutdown(void) {
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned *n) {
    *n = (unsigned)number("FAKE_GPUS");
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned nth, void **device) {
    *device = (void *)(uintptr_t)nth;
    return 0;
}
int nvmlDeviceGetName(void *device, char *name, unsigned size) {
    int is_other = (int)(uintptr_t)device == number("FAKE_OTHER");
    (void)snprintf(name, size, "%s", is_other ? "Tesla T4" : "NVIDIA H100 80GB HBM3");
    return 0;
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) {
    (void)snprintf(uuid, size, "GPU-%08x-fafa-fafa-fafa-fafafafafafa", (unsigned)(uintptr_t)device);
    return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *n, struct process *list) {
    int is_busy = (int)(uintptr_t)device == number("FAKE_BUSY");
    if (is_busy)
        list[0].pid = 4711;
    *n = is_busy ? 1 : 0;
    return 0;
}

static unsigned long long now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

struct gpu_sample {
    unsigned long long time_us, percent;
};

/* A sample each fifth of a second of the clock, as an H200 has them. */
int nvmlDeviceGetSamples(void *device, int type, unsigned long long since_us, unsigned *value_type,
                         unsigned *n, struct gpu_sample *list) {
    const unsigned long long apart_us = 200000;
    unsigned most = *n;
    (void)device;
    *n = *value_type = 0;
    if (number("FAKE_NO_USE") > 0)
        return number("FAKE_NO_USE");
    for (unsigned long long at_us = (since_us / apart_us + 1) * apart_us;
         type == 1 && at_us <= now_us() && *n < most; at_us += apart_us)
        list[(*n)++] = (struct gpu_sample){at_us, (unsigned long long)number("FAKE_USE")};
    return *n > 0 ? 0 : 6; /* NVML_ERROR_NOT_FOUND */
}
