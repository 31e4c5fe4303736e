/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE
#include "sim/app/drive/cutting.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gsim/units.h"

enum {
    PROFILES = 32, /* more than the library knows of */
    PLACES = 64,
    SHARED_ENGINES = 0, /* NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED */
    ENABLED = 1, /* NVML_DEVICE_MIG_ENABLE */
    VERSION_SHIFT = 24 /* of a struct's version, above its size */
};

/* An instance is in use for as long as a process that was killed takes to end. */
#define FREE_NS (30 * GSIM_NS_PER_S)
#define TRY_NS (20 * GSIM_NS_PER_MS)

/* --- profiles --------------------------------------------------------------------------------- */

static bool ask_profile(const struct gsim_nvml_mig *calls, void *device, unsigned nth,
                        struct gsim_nvml_profile *profile) {
    *profile =
        (struct gsim_nvml_profile){.version = (unsigned)sizeof *profile | 2u << VERSION_SHIFT};
    return calls->profile(device, nth, profile) == 0;
}

/* "3g.71gb" is the driver's "MIG 3g.71gb". */
static bool has_name(const struct gsim_nvml_profile *profile, const char *name) {
    static const char before[] = "MIG ";
    const char *own = profile->name;
    return strcmp(strncmp(own, before, sizeof before - 1) == 0 ? own + sizeof before - 1 : own,
                  name) == 0;
}

static bool find_profile(const struct gsim_nvml_mig *calls, void *device, const char *name,
                         struct gsim_nvml_profile *profile) {
    for (unsigned nth = 0; nth < PROFILES; nth++)
        if (ask_profile(calls, device, nth, profile) && has_name(profile, name))
            return true;
    return false;
}

static bool find_place(const struct gsim_nvml_mig *calls, void *device, unsigned profile,
                       unsigned start, struct gsim_nvml_placement *place) {
    struct gsim_nvml_placement list[PLACES];
    unsigned n = PLACES;
    if (calls->placements(device, profile, list, &n) != 0)
        return false;
    for (unsigned i = 0; i < n && i < PLACES; i++)
        if (list[i].start == start) {
            *place = list[i];
            return true;
        }
    return false;
}

/* --- destroying ------------------------------------------------------------------------------- */

static void destroy_computes(const struct gsim_nvml_mig *calls, void *instance) {
    struct gsim_nvml_compute_profile profile;
    void *list[PLACES];
    for (unsigned nth = 0; nth < PROFILES; nth++) {
        unsigned n = PLACES;
        if (calls->compute_profile(instance, nth, SHARED_ENGINES, &profile) != 0 ||
            calls->compute_list(instance, profile.id, list, &n) != 0)
            continue;
        for (unsigned i = 0; i < n && i < PLACES; i++)
            (void)calls->compute_destroy(list[i]);
    }
}

/* The driver's error; 0: the instance is gone. */
static int destroy_instance(const struct gsim_nvml_mig *calls, void *instance) {
    const struct timespec nap = {.tv_nsec = TRY_NS};
    int error = GSIM_NVML_IN_USE;
    for (int64_t left_ns = FREE_NS; error == GSIM_NVML_IN_USE && left_ns > 0; left_ns -= TRY_NS) {
        destroy_computes(calls, instance);
        error = calls->destroy(instance);
        if (error == GSIM_NVML_IN_USE)
            (void)nanosleep(&nap, NULL);
    }
    return error;
}

static int destroy_made(const struct gsim_nvml_mig *calls, void *device, struct gsim_made made) {
    struct gsim_nvml_instance info;
    void *list[PLACES];
    unsigned n = PLACES;
    int error = calls->list(device, made.profile, list, &n);
    for (unsigned i = 0; error == 0 && i < n && i < PLACES; i++)
        if (calls->info(list[i], &info) == 0 && info.placement.start == made.start)
            error = destroy_instance(calls, list[i]);
    return error;
}

/* The first error; what could not be destroyed stays in the list. */
static int destroy_all(const struct gsim_nvml_mig *calls, void *device,
                       struct gsim_made_list *made) {
    int first = 0;
    uint32_t left = 0;
    for (uint32_t i = 0; i < made->n; i++) {
        int error = destroy_made(calls, device, made->at[i]);
        first = first == 0 ? error : first;
        if (error != 0)
            made->at[left++] = made->at[i];
    }
    made->n = left;
    return first;
}

/* --- making ----------------------------------------------------------------------------------- */

static enum gsim_status refuse_cut(uint32_t number, const char *name, const char *what, int error,
                                   struct gsim_log *log) {
    return error == GSIM_NVML_NO_PERMISSION
               ? gsim_fail(log, GSIM_FAILED, NULL, 0,
                           "GPU %u: making a MIG instance needs the rights of an administrator: "
                           "run gsim drive as root",
                           number)
               : gsim_fail(log, GSIM_FAILED, NULL, 0,
                           "GPU %u: the driver makes no MIG instance %s: %s gives error %d", number,
                           name, what, error);
}

/* The UUID of the device that programs see of the instance. */
static bool find_uuid(const struct gsim_cutting *cutting, void *device, unsigned instance,
                      char uuid[GSIM_NVML_UUID_BYTES]) {
    const struct gsim_nvml_mig *calls = &cutting->calls;
    unsigned most = 0, id;
    void *part;
    if (calls->most_devices(device, &most) != 0)
        return false;
    for (unsigned nth = 0; nth < most; nth++)
        if (calls->device_of(device, nth, &part) == 0 && calls->instance_of(part, &id) == 0 &&
            id == instance)
            return cutting->nvml.uuid(part, uuid, GSIM_NVML_UUID_BYTES) == 0;
    return false;
}

/* All of the instance computes for one process. */
static int make_compute(const struct gsim_nvml_mig *calls, void *instance) {
    struct gsim_nvml_compute_profile profile, largest = {0};
    void *compute;
    for (unsigned nth = 0; nth < PROFILES; nth++)
        if (calls->compute_profile(instance, nth, SHARED_ENGINES, &profile) == 0 &&
            profile.slices > largest.slices)
            largest = profile;
    return largest.slices > 0 ? calls->compute_create(instance, largest.id, &compute)
                              : GSIM_NVML_NOT_FOUND;
}

static enum gsim_status make_instance(struct gsim_cutting *cutting, uint32_t gpu, void *device,
                                      const struct gsim_mig_instance *wish, struct gsim_log *log) {
    const struct gsim_nvml_mig *calls = &cutting->calls;
    const char *name = cutting->mig->profile[wish->profile].name;
    struct gsim_made_list *made = &cutting->made[gpu];
    struct gsim_nvml_profile profile;
    struct gsim_nvml_placement place;
    struct gsim_nvml_instance info;
    uint32_t number = cutting->gpus[gpu], nth = made->n;
    void *instance;
    if (!find_profile(calls, device, name, &profile) ||
        !find_place(calls, device, profile.id, wish->start, &place))
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "GPU %u: the driver knows no MIG instance %s that begins at slice %u",
                         number, name, wish->start);
    made->at[made->n++] = (struct gsim_made){profile.id, wish->start}; /* before it is there */
    int error = calls->create(device, profile.id, &place, &instance);
    if (error != 0)
        return refuse_cut(number, name, "nvmlDeviceCreateGpuInstanceWithPlacement", error, log);
    error = make_compute(calls, instance);
    if (error != 0)
        return refuse_cut(number, name, "nvmlGpuInstanceCreateComputeInstance", error, log);
    error = calls->info(instance, &info);
    return error == 0 && find_uuid(cutting, device, info.id, cutting->cut[gpu].uuid[nth])
               ? GSIM_OK
               : refuse_cut(number, name, "the search for its UUID", error, log);
}

static enum gsim_status read_wishes(const struct gsim_cutting *cutting, const char *layout,
                                    struct gsim_mig_layout *wishes, struct gsim_log *log) {
    if (*layout)
        return gsim_mig_parse(cutting->mig, layout, wishes, log);
    *wishes = (struct gsim_mig_layout){.n = 1}; /* the largest profile, from the first slice on */
    return GSIM_OK;
}

enum gsim_status gsim_cutting_cut(struct gsim_cutting *cutting, uint32_t gpu, const char *layout,
                                  struct gsim_log *log) {
    struct gsim_cut_gpu *cut = &cutting->cut[gpu];
    struct gsim_mig_layout wishes;
    void *device;
    if (cut->is_cut && strcmp(cut->layout, layout) == 0)
        return GSIM_OK;
    cut->is_cut = false;
    int error = cutting->nvml.device(cutting->gpus[gpu], &device);
    if (error == 0)
        error = destroy_all(&cutting->calls, device, &cutting->made[gpu]);
    if (error != 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "GPU %u: its MIG instances cannot be destroyed (error %d)",
                         cutting->gpus[gpu], error);
    enum gsim_status status = read_wishes(cutting, layout, &wishes, log);
    for (int i = 0; status == GSIM_OK && i < wishes.n; i++)
        status = make_instance(cutting, gpu, device, &wishes.instance[i], log);
    cut->layout = gsim_arena_strdup(cutting->arena, layout);
    cut->is_cut = status == GSIM_OK && cut->layout;
    return status == GSIM_OK && !cut->layout ? gsim_no_memory(log, "cutting a GPU") : status;
}

const char *gsim_cutting_visible(struct gsim_cutting *cutting, struct gsim_unit unit,
                                 struct gsim_log *log) {
    if (unit.slot > 0)
        return cutting->cut[unit.gpu].uuid[unit.slot - 1];
    return gsim_cutting_cut(cutting, unit.gpu, "", log) == GSIM_OK ? cutting->cut[unit.gpu].uuid[0]
                                                                   : NULL;
}

/* --- before the run --------------------------------------------------------------------------- */

void gsim_cutting_hear(struct gsim_cutting *cutting, uint32_t gpu, const char *layout) {
    cutting->is_needed |= *layout != '\0';
    if (!cutting->first[gpu])
        cutting->first[gpu] = gsim_arena_strdup(cutting->arena, layout);
}

static unsigned count_instances(const struct gsim_nvml_mig *calls, void *device) {
    struct gsim_nvml_profile profile;
    void *list[PLACES];
    unsigned sum = 0;
    for (unsigned nth = 0; nth < PROFILES; nth++) {
        unsigned n = PLACES;
        if (ask_profile(calls, device, nth, &profile) &&
            calls->list(device, profile.id, list, &n) == 0)
            sum += n;
    }
    return sum;
}

static enum gsim_status check_gpu(const struct gsim_cutting *cutting, uint32_t number,
                                  struct gsim_log *log) {
    unsigned current = 0, pending;
    void *device;
    int error = cutting->nvml.device(number, &device);
    if (error == 0)
        error = cutting->calls.mode(device, &current, &pending);
    if (error == GSIM_NVML_NOT_SUPPORTED)
        return gsim_fail(log, GSIM_FAILED, NULL, 0, "GPU %u cannot be cut into instances (MIG)",
                         number);
    if (error != 0)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "the driver does not tell whether GPU %u is in MIG mode (error %d)",
                         number, error);
    if (current != ENABLED)
        return gsim_fail(log, GSIM_FAILED, NULL, 0,
                         "the policy cuts GPUs into instances, and GPU %u is not in MIG mode, "
                         "which gsim drive does not change: an administrator enables it by "
                         "'nvidia-smi -i %u -mig 1'",
                         number, number);
    unsigned n = count_instances(&cutting->calls, device);
    return n == 0
               ? GSIM_OK
               : gsim_fail(log, GSIM_FAILED, NULL, 0,
                           "GPU %u has %u MIG instance%s that this run did not make: 'nvidia-smi "
                           "mig -i %u -dci' and then 'nvidia-smi mig -i %u -dgi' destroy all of "
                           "a GPU",
                           number, n, n == 1 ? "" : "s", number, number);
}

static enum gsim_status open_calls_of_mig(struct gsim_cutting *cutting, struct gsim_log *log) {
    enum gsim_status status = gsim_nvml_open(&cutting->nvml, log);
    if (status == GSIM_OK)
        status = gsim_nvml_mig_find(&cutting->nvml, &cutting->calls, log);
    if (status != GSIM_OK)
        gsim_nvml_close(&cutting->nvml);
    return status;
}

enum gsim_status gsim_cutting_check(struct gsim_cutting *cutting, struct gsim_log *log) {
    enum gsim_status status = open_calls_of_mig(cutting, log);
    for (uint32_t gpu = 0; gpu < cutting->n_gpus && status == GSIM_OK; gpu++)
        status = check_gpu(cutting, cutting->gpus[gpu], log);
    gsim_nvml_close(&cutting->nvml);
    return status;
}

/* A driver that does not tell of the mode has none. */
static enum gsim_status check_whole(const struct gsim_cutting *cutting, uint32_t number,
                                    struct gsim_log *log) {
    unsigned current = 0, pending;
    void *device;
    if (cutting->nvml.device(number, &device) != 0 ||
        cutting->calls.mode(device, &current, &pending) != 0 || current != ENABLED)
        return GSIM_OK;
    return gsim_fail(log, GSIM_FAILED, NULL, 0,
                     "GPU %u is in MIG mode: programs see instances of it alone, and the policy "
                     "makes none; 'nvidia-smi -i %u -mig 0' ends the mode, and policy 'mig' uses "
                     "it",
                     number, number);
}

enum gsim_status gsim_cutting_check_whole(struct gsim_cutting *cutting, struct gsim_log *log) {
    struct gsim_log unheard = {0};
    enum gsim_status status = GSIM_OK;
    if (open_calls_of_mig(cutting, &unheard) != GSIM_OK)
        return GSIM_OK;
    for (uint32_t gpu = 0; gpu < cutting->n_gpus && status == GSIM_OK; gpu++)
        status = check_whole(cutting, cutting->gpus[gpu], log);
    gsim_nvml_close(&cutting->nvml);
    return status;
}

/* --- the run ---------------------------------------------------------------------------------- */

enum gsim_status gsim_cutting_prepare(struct gsim_cutting *cutting, struct gsim_log *log) {
    void *shared = mmap(NULL, cutting->n_gpus * sizeof *cutting->made, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return gsim_no_memory(log, "cutting GPUs");
    cutting->made = shared;
    return GSIM_OK;
}

enum gsim_status gsim_cutting_open(struct gsim_cutting *cutting, struct gsim_log *log) {
    enum gsim_status status = open_calls_of_mig(cutting, log);
    for (uint32_t gpu = 0; gpu < cutting->n_gpus && status == GSIM_OK; gpu++)
        if (cutting->first[gpu])
            status = gsim_cutting_cut(cutting, gpu, cutting->first[gpu], log);
    return status;
}

static void destroy_on_all(const struct gsim_cutting *cutting, const struct gsim_nvml *nvml,
                           const struct gsim_nvml_mig *calls) {
    void *device;
    for (uint32_t gpu = 0; gpu < cutting->n_gpus; gpu++)
        if (cutting->made[gpu].n > 0 && nvml->device(cutting->gpus[gpu], &device) == 0)
            (void)destroy_all(calls, device, &cutting->made[gpu]);
}

void gsim_cutting_close(struct gsim_cutting *cutting) {
    if (cutting->made && cutting->nvml.library)
        destroy_on_all(cutting, &cutting->nvml, &cutting->calls);
    gsim_nvml_close(&cutting->nvml);
    if (cutting->made)
        (void)munmap(cutting->made, cutting->n_gpus * sizeof *cutting->made);
    cutting->made = NULL;
}

void gsim_cutting_clean(const struct gsim_cutting *cutting) {
    struct gsim_nvml nvml;
    struct gsim_nvml_mig calls;
    struct gsim_log unheard = {0};
    bool is_any = false;
    for (uint32_t gpu = 0; cutting->made && gpu < cutting->n_gpus; gpu++)
        is_any |= cutting->made[gpu].n > 0;
    if (!is_any || gsim_nvml_open(&nvml, &unheard) != GSIM_OK)
        return;
    if (gsim_nvml_mig_find(&nvml, &calls, &unheard) == GSIM_OK)
        destroy_on_all(cutting, &nvml, &calls);
    gsim_nvml_close(&nvml);
}
