/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A libnvidia-ml.so.1 without a GPU, for drive.sh: FAKE_GPUS of them, all of which are FAKE_GPU;
 * process 4711 uses the one of number FAKE_BUSY, and the one of number FAKE_OTHER is another
 * product. Kernels run for FAKE_USE per cent of the time on each GPU; FAKE_NO_USE is the error
 * with which that is not told. FAKE_MIG is a file for the instances of GPUs in MIG mode, so that all processes see
 * them, and its end in .log tells what was made and destroyed; without it no GPU is in that mode. FAKE_MIG_ERROR is
 * what making one gives; an instance is in use for as long as the file FAKE_MIG_BUSY is there. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
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
    unsigned part = (unsigned)((uintptr_t)device >> 32);
    if (part > 0) {
        (void)snprintf(uuid, size, "MIG-%u-%u", (unsigned)(uintptr_t)device, part - 1);
        return 0;
    }
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

/* --- instances: those of an H100, in a file with a line for each ------------------------------ */

enum { INVALID = 2, NOT_FOUND = 6, IN_USE = 19, NO_ROOM = 23, MOST = 64, SLICES = 8 };

struct mig_profile {
    unsigned version, id, p2p, slices, instances, sms, engines[5];
    unsigned long long memory_mb;
    char name[96];
};
struct placement {
    unsigned start, size;
};
static const struct known {
    const char *name;
    unsigned id, computes, size, starts; /* starts: as bits */
} known[] = {{"MIG 1g.10gb", 19, 1, 1, 0x7f}, {"MIG 2g.20gb", 14, 2, 2, 0x15}, {"MIG 3g.40gb", 9, 3, 4, 0x11},
             {"MIG 4g.40gb", 5, 4, 4, 0x01},  {"MIG 7g.80gb", 0, 7, 8, 0x01},  {"MIG 1g.20gb", 15, 1, 2, 0x55}};
enum { KNOWN = sizeof known / sizeof *known };

/* As the driver has it: an id is free again when its instance is gone. */
struct instance {
    unsigned gpu, id, profile, start;
    int has_compute;
};
static struct instance instances[MOST];
static int n_instances;

static void load(void) {
    FILE *file = fopen(getenv("FAKE_MIG"), "r");
    struct instance *at = instances;
    n_instances = 0;
    while (file && n_instances < MOST &&
           fscanf(file, "%u %u %u %u %d", &at->gpu, &at->id, &at->profile, &at->start, &at->has_compute) == 5)
        n_instances++, at++;
    if (file)
        fclose(file);
}
static void store(const char *what, const struct instance *one) {
    char path[512];
    (void)snprintf(path, sizeof path, "%s.new", getenv("FAKE_MIG"));
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < n_instances; i++)
        fprintf(file, "%u %u %u %u %d\n", instances[i].gpu, instances[i].id, instances[i].profile, instances[i].start,
                instances[i].has_compute);
    if (file)
        fclose(file);
    (void)rename(path, getenv("FAKE_MIG")); /* at no time is the file half written */
    (void)snprintf(path, sizeof path, "%s.log", getenv("FAKE_MIG"));
    file = fopen(path, "a");
    if (file) {
        fprintf(file, "%s %u %u at %u\n", what, one->gpu, one->profile, one->start);
        fclose(file);
    }
}
static const struct known *of_id(unsigned id) {
    for (int i = 0; i < KNOWN; i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}
static unsigned slices_of(unsigned profile, unsigned start) {
    return ((1u << of_id(profile)->size) - 1) << start;
}
/* A handle is the GPU and the id of the instance. */
static void *handle(const struct instance *one) {
    return (void *)((uintptr_t)(one->id + 1) << 32 | one->gpu);
}
static struct instance *instance_of(void *of) {
    load();
    for (int i = 0; i < n_instances; i++)
        if (handle(&instances[i]) == of)
            return &instances[i];
    return NULL;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending) {
    (void)device;
    *current = *pending = getenv("FAKE_MIG") != NULL;
    return 0;
}
int nvmlDeviceGetGpuInstanceProfileInfoV(void *device, unsigned nth, struct mig_profile *profile) {
    (void)device;
    if (nth >= KNOWN || profile->version != (sizeof *profile | 2u << 24))
        return INVALID;
    profile->id = known[nth].id;
    (void)snprintf(profile->name, sizeof profile->name, "%s", known[nth].name);
    return 0;
}
int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void *device, unsigned id, struct placement *list, unsigned *n) {
    const struct known *profile = of_id(id);
    (void)device;
    *n = 0;
    for (unsigned start = 0; profile && start < SLICES; start++)
        if (profile->starts >> start & 1)
            list[(*n)++] = (struct placement){start, profile->size};
    return profile ? 0 : INVALID;
}
int nvmlDeviceCreateGpuInstanceWithPlacement(void *device, unsigned id, const struct placement *at, void **made) {
    struct instance one = {.gpu = (unsigned)(uintptr_t)device, .profile = id, .start = at->start};
    unsigned taken = 0, ids = 0;
    if (number("FAKE_MIG_ERROR") > 0)
        return number("FAKE_MIG_ERROR");
    load();
    for (int i = 0; i < n_instances; i++)
        if (instances[i].gpu == one.gpu) {
            taken |= slices_of(instances[i].profile, instances[i].start);
            ids |= 1u << instances[i].id;
        }
    if (!of_id(id) || at->size != of_id(id)->size || !(of_id(id)->starts >> at->start & 1))
        return INVALID;
    if (taken & slices_of(id, at->start))
        return NO_ROOM;
    while (ids >> one.id & 1)
        one.id++;
    instances[n_instances++] = one;
    store("made", &one);
    *made = handle(&one);
    return 0;
}
int nvmlDeviceGetGpuInstances(void *device, unsigned id, void **list, unsigned *n) {
    *n = 0;
    load();
    for (int i = 0; i < n_instances; i++)
        if (instances[i].gpu == (unsigned)(uintptr_t)device && instances[i].profile == id)
            list[(*n)++] = handle(&instances[i]);
    return 0;
}
struct instance_info {
    void *device;
    unsigned id, profile;
    struct placement at;
};
int nvmlGpuInstanceGetInfo(void *of, struct instance_info *info) {
    struct instance *one = instance_of(of);
    if (!one)
        return NOT_FOUND;
    *info = (struct instance_info){.id = one->id, .profile = one->profile, .at = {one->start, of_id(one->profile)->size}};
    return 0;
}
/* Only what computes for all of an instance can be asked for, and it goes before the instance. */
int nvmlGpuInstanceGetComputeInstanceProfileInfo(void *of, unsigned nth, unsigned engines, unsigned *info) {
    struct instance *one = instance_of(of);
    unsigned most = one ? of_id(one->profile)->computes : 0;
    if (nth >= 8 || engines != 0 || nth + 1 > most)
        return INVALID;
    info[0] = 100 + nth;
    info[1] = nth + 1;
    return 0;
}
int nvmlGpuInstanceCreateComputeInstance(void *of, unsigned id, void **compute) {
    struct instance *one = instance_of(of);
    if (!one || id != 99 + of_id(one->profile)->computes)
        return INVALID;
    one->has_compute = 1;
    store("computes", one);
    *compute = of;
    return 0;
}
int nvmlGpuInstanceGetComputeInstances(void *of, unsigned id, void **list, unsigned *n) {
    struct instance *one = instance_of(of);
    *n = one && one->has_compute && id == 99 + of_id(one->profile)->computes;
    list[0] = of;
    return one ? 0 : NOT_FOUND;
}
int nvmlComputeInstanceDestroy(void *compute) {
    struct instance *one = instance_of(compute);
    FILE *busy = getenv("FAKE_MIG_BUSY") ? fopen(getenv("FAKE_MIG_BUSY"), "r") : NULL;
    if (busy)
        fclose(busy);
    if (busy || !one)
        return busy ? IN_USE : NOT_FOUND;
    one->has_compute = 0;
    store("computes no longer", one);
    return 0;
}
int nvmlGpuInstanceDestroy(void *of) {
    struct instance *one = instance_of(of);
    if (!one || one->has_compute)
        return one ? IN_USE : NOT_FOUND;
    struct instance gone = *one;
    *one = instances[--n_instances];
    store("destroyed", &gone);
    return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *n) {
    (void)device;
    *n = 7;
    return 0;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned nth, void **part) {
    load();
    for (int i = 0; i < n_instances; i++)
        if (instances[i].gpu == (unsigned)(uintptr_t)device && instances[i].has_compute && instances[i].id == nth) {
            *part = handle(&instances[i]);
            return 0;
        }
    return NOT_FOUND;
}
int nvmlDeviceGetGpuInstanceId(void *part, unsigned *id) {
    *id = (unsigned)((uintptr_t)part >> 32) - 1;
    return 0;
}
