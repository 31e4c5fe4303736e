/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/app/setup/devices.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

struct device {
    struct device *next;
    const char *name; /* name or path, as the run gave it */
    struct gsim_profile profile;
};

struct gsim_devices {
    struct gsim_arena *arena; /* holds this struct as well */
    pthread_mutex_t lock;
    struct device *first;
};

struct gsim_devices *gsim_devices_new(void) {
    struct gsim_arena *arena = gsim_arena_new();
    struct gsim_devices *devices = arena ? gsim_arena_alloc(arena, sizeof *devices) : NULL;
    if (!devices) {
        gsim_arena_free(arena);
        return NULL;
    }
    devices->arena = arena;
    (void)pthread_mutex_init(&devices->lock, NULL);
    return devices;
}

void gsim_devices_free(struct gsim_devices *devices) {
    if (!devices)
        return;
    (void)pthread_mutex_destroy(&devices->lock);
    gsim_arena_free(devices->arena);
}

static enum gsim_status load(struct gsim_devices *devices, const char *name,
                             const struct device **out, struct gsim_log *log) {
    struct device *device = gsim_arena_alloc(devices->arena, sizeof *device);
    const char *own = gsim_arena_strdup(devices->arena, name);
    if (!device || !own)
        return gsim_no_memory(log, "reading a device");
    enum gsim_status status = gsim_profile_load(own, devices->arena, &device->profile, log);
    /* a failed read is not stored, so the next caller gets the error as well */
    if (status != GSIM_OK)
        return status;
    device->name = own;
    device->next = devices->first;
    devices->first = device;
    *out = device;
    return GSIM_OK;
}

enum gsim_status gsim_devices_take(struct gsim_devices *devices, const char *name_or_path,
                                   const struct gsim_profile **out, struct gsim_log *log) {
    enum gsim_status status = GSIM_OK;
    (void)pthread_mutex_lock(&devices->lock);
    const struct device *device = devices->first;
    while (device && strcmp(device->name, name_or_path) != 0)
        device = device->next;
    if (!device)
        status = load(devices, name_or_path, &device, log);
    (void)pthread_mutex_unlock(&devices->lock);
    *out = status == GSIM_OK ? &device->profile : NULL;
    return status;
}

/* --- products --------------------------------------------------------------------------------- */

/* A product's name without its maker, which old drivers leave out. */
static const char *without_maker(const char *name) {
    static const char maker[] = "NVIDIA ";
    return strncasecmp(name, maker, sizeof maker - 1) == 0 ? name + sizeof maker - 1 : name;
}

bool gsim_product_is(const char *gpu, const char *products) {
    const char *own = without_maker(gpu);
    while (products && *products) {
        const char *name = without_maker(products);
        size_t n = strcspn(name, ",");
        if (strlen(own) == n && strncasecmp(own, name, n) == 0)
            return true;
        products = name + n;
        products += strspn(products, ", ");
    }
    return false;
}

enum gsim_status gsim_product_device(const char *gpu, struct gsim_arena *arena, const char **device,
                                     struct gsim_log *log) {
    enum { MOST_DEVICES = 256 };
    char names[MOST_DEVICES][48];
    int n = gsim_profile_names(names, MOST_DEVICES);
    *device = NULL;
    for (int i = 0; i < n && !*device; i++) {
        struct gsim_profile profile;
        enum gsim_status status = gsim_profile_load(names[i], arena, &profile, log);
        if (status != GSIM_OK)
            return status;
        if (gsim_product_is(gpu, profile.products))
            *device = profile.name;
    }
    return GSIM_OK;
}
