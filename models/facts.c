/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a result says about itself: the assumed constants that it was computed from, and whether it
 * lies outside what was held against measurements. */
#include "models/machine.h"

#include <string.h>

#include "models/suspend.h"

enum { VALIDATED_CONTEXTS = 8, VALIDATED_BESIDE = 2 };

static bool is_validated(const struct gsim_profile *profile) {
    /* What was measured was measured on an H200; `ideal` is true by definition. */
    return strcmp(profile->name, "h200") == 0 || strcmp(profile->name, "ideal") == 0;
}

const char *gsim_facts_outside_validated(const struct gsim_model *model) {
    bool is_charged = model->has_loaded;
    for (int stop = 0; stop < GSIM_STOP_COUNT; stop++)
        for (int keep = 0; keep < GSIM_KEEP_COUNT; keep++)
            is_charged |= model->is_charged[stop][keep];
    bool is_known = true, is_ideal = true;
    for (uint16_t type = 0; type < model->setup.n_profiles; type++) {
        is_known &= is_validated(model->setup.profiles[type]);
        is_ideal &= strcmp(model->setup.profiles[type]->name, "ideal") == 0;
    }
    if (model->turns.most_members > VALIDATED_CONTEXTS && !is_ideal)
        return "time slices were validated with up to 4 contexts, and are trusted to 8";
    if (model->turns.has_halted && !is_ideal)
        return "preemption of kernels was held against published ranges and orderings only";
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
