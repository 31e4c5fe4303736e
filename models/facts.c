/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a result says about itself: the assumed constants that it was computed from, and whether it
 * lies outside what was held against measurements. */
#include "models/machine.h"

#include <string.h>

#include "models/suspend.h"

enum { VALIDATED_CONTEXTS = 8, VALIDATED_BESIDE = 2 };

/* Keys that moving memory was computed from. */
static const enum gsim_key migration_keys[] = {
    GSIM_KEY_MIGRATE_OUT,     GSIM_KEY_MIGRATE_IN,        GSIM_KEY_MIGRATE_BOTH,
    GSIM_KEY_MIGRATE_PLAN_NS, GSIM_KEY_PCIE_ALTERNATE_NS, GSIM_KEY_MIGRATE_TASK_PLAN_NS,
};
static const enum gsim_key fault_keys[] = {
    GSIM_KEY_UVM_FAULT_NS, GSIM_KEY_UVM_BLOCK_NS,   GSIM_KEY_UVM_BATCH_FAULT_NS,
    GSIM_KEY_UVM_COPY,     GSIM_KEY_UVM_CLEAN_COPY,
};

static const enum gsim_key host_keys[] = {GSIM_KEY_HOST_IN, GSIM_KEY_HOST_OUT, GSIM_KEY_HOST_BOTH,
                                          GSIM_KEY_HOST_NUMA_GPUS};

static bool has_faulted(const struct gsim_model *model) {
    return model->turns.has_managed[GSIM_MEMORY_UVM] || model->turns.has_managed[GSIM_MEMORY_LRU];
}

/* Copying what goes out under faults was measured nowhere; for these two it follows from published
 * results of the whole. */
static bool is_paging_known(const struct gsim_profile *profile) {
    return strcmp(profile->name, "rtx5080") == 0 || strcmp(profile->name, "p100") == 0 ||
           strcmp(profile->name, "ideal") == 0;
}

static bool is_migrating_known(const struct gsim_profile *profile) {
    return strcmp(profile->name, "rtx5080") == 0 || strcmp(profile->name, "h200") == 0 ||
           strcmp(profile->name, "ideal") == 0;
}

static bool is_validated(const struct gsim_profile *profile) {
    /* What was measured was measured on an H200; `ideal` is true by definition. */
    return strcmp(profile->name, "h200") == 0 || strcmp(profile->name, "ideal") == 0;
}

/* Locks that are held for so short a time that most of it goes into paging. */
static bool is_thrashing(const struct gsim_model *model) {
    for (uint32_t i = 0; i < model->turns.n_active; i++) {
        struct gsim_arbiter_stats stats =
            gsim_arbiter_stats(model->turns.of_gpu[model->turns.active[i]]);
        if (2 * stats.vain_slices > stats.slices)
            return true;
    }
    return false;
}

const char *gsim_facts_outside_validated(const struct gsim_model *model) {
    bool is_charged = model->has_loaded;
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++)
            is_charged |= model->is_charged[stop][keep];
    bool is_known = true, is_ideal = true, is_paging = true, is_migrating = true;
    for (uint16_t type = 0; type < model->setup.n_profiles; type++) {
        is_known &= is_validated(model->setup.profiles[type]);
        is_paging &= is_paging_known(model->setup.profiles[type]);
        is_migrating &= is_migrating_known(model->setup.profiles[type]);
        is_ideal &= strcmp(model->setup.profiles[type]->name, "ideal") == 0;
    }
    if (model->turns.most_members > VALIDATED_CONTEXTS && !is_ideal)
        return "time slices were validated with up to 4 contexts, and are trusted to 8";
    if (is_thrashing(model))
        return "thrashing: most quanta end before their pages are there; with a quantum no longer "
               "than paging in, real processes may make no progress at all";
    if (has_faulted(model) && !is_paging)
        return "eviction under faults was never measured; it was held against published results of "
               "an RTX 5080 and a P100 only";
    if (model->turns.has_managed[GSIM_MEMORY_PROACTIVE] && !is_migrating)
        return "proactive migration was validated on an H200 and an RTX 5080 only";
    if (model->turns.has_overflown && !is_ideal)
        return "kernels that work on the host's memory were held against plain copies by kernels "
               "only";
    if (model->turns.has_halted && !is_ideal)
        return "preemption of kernels was held against published ranges and orderings only";
    if (model->turns.has_vgpus && !is_ideal)
        return "vGPUs were held against the documented shares of their schedulers only";
    if (model->has_cut && !is_ideal)
        return "instances (MIG) were held against published tables only";
    if (model->turns.most_beside > VALIDATED_BESIDE && !is_ideal)
        return "sharing SMs was validated with two kernels beside each other";
    if (model->turns.most_beside > 1 && !is_known)
        return "sharing SMs was validated on an H200 only";
    if (model->turns.most_members > 1 && !is_known)
        return "time slices were validated on an H200 only";
    if (is_charged && !is_known)
        return "switching and loading costs were validated on an H200 only";
    if (model->has_shared && !is_ideal)
        return "processor sharing without switching costs is an idealisation";
    return NULL;
}

/* Marks the assumed keys of a profile that some charged stop was computed from. */
static void mark_assumed(const struct gsim_model *model, const struct gsim_profile *profile,
                         bool *is_used) {
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++) {
            if (!model->is_charged[stop][keep])
                continue;
            const enum gsim_key *key =
                gsim_suspend_keys((enum gsim_stop)stop, (enum gsim_keep)keep);
            for (; *key != GSIM_KEY_COUNT; key++)
                is_used[*key] |= profile->tag[*key] == GSIM_TAG_ASSUMED;
        }
    for (int key = 0; key < GSIM_KEY_COUNT; key++)
        is_used[key] |= (model->turns.has_key[key] || model->has_key[key]) &&
                        profile->tag[key] == GSIM_TAG_ASSUMED;
    for (size_t i = 0; has_faulted(model) && i < sizeof fault_keys / sizeof *fault_keys; i++)
        is_used[fault_keys[i]] |= profile->tag[fault_keys[i]] == GSIM_TAG_ASSUMED;
    bool has_migrated = model->turns.has_managed[GSIM_MEMORY_PROACTIVE];
    for (size_t i = 0; has_migrated && i < sizeof migration_keys / sizeof *migration_keys; i++)
        is_used[migration_keys[i]] |= profile->tag[migration_keys[i]] == GSIM_TAG_ASSUMED;
    bool is_host_used = model->crowding.was_host_limited || model->traffic.pcie.was_host_limited;
    for (size_t i = 0; is_host_used && i < sizeof host_keys / sizeof *host_keys; i++)
        is_used[host_keys[i]] |= profile->tag[host_keys[i]] == GSIM_TAG_ASSUMED;
    is_used[GSIM_KEY_NETWORK_BYTES_PER_S] |=
        model->traffic.has_crossed && profile->tag[GSIM_KEY_NETWORK_BYTES_PER_S] == GSIM_TAG_ASSUMED;
    if (model->has_loaded)
        is_used[GSIM_KEY_PCIE_H2D] |= profile->tag[GSIM_KEY_PCIE_H2D] == GSIM_TAG_ASSUMED;
}

const char *const *gsim_facts_assumed(const struct gsim_model *model) {
    uint32_t n = 0, most = (uint32_t)model->setup.n_profiles * GSIM_KEY_COUNT + 1;
    const char **list = gsim_arena_array(model->setup.arena, most, sizeof *list);
    for (uint16_t type = 0; list && type < model->setup.n_profiles; type++) {
        const struct gsim_profile *profile = model->setup.profiles[type];
        bool is_used[GSIM_KEY_COUNT] = {false};
        mark_assumed(model, profile, is_used);
        is_used[GSIM_KEY_SPEED_MILLI] &= type > 0; /* the first device is the one of reference */
        for (int key = 0; key < GSIM_KEY_COUNT; key++)
            if (is_used[key])
                list[n++] = gsim_arena_printf(model->setup.arena, "%s=%s (%s)",
                                              gsim_key_name((enum gsim_key)key), profile->text[key],
                                              profile->name);
    }
    return list;
}
