/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spec of a ClusterQueue or a Cohort, and notes for settings that no model has. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/site/kueue_read.h"

/* --- lists, errors, notes --------------------------------------------------------------------- */

void *gsim_kueue_add(struct gsim_kueue_reading *r, void **list, uint32_t *n, size_t size) {
    char *grown = gsim_arena_grow(r->arena, *list, *n * size, (*n + 1u) * size);
    if (!grown) {
        r->status = gsim_no_memory(r->log, "reading objects of Kueue");
        return NULL;
    }
    *list = grown;
    return grown + (*n)++ * size;
}

void gsim_kueue_refuse(struct gsim_kueue_reading *r, const struct gsim_yaml *at, const char *format,
                       ...) {
    char text[GSIM_LOG_TEXT];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (r->status == GSIM_OK)
        r->status = gsim_fail(r->log, GSIM_BAD_INPUT, r->out->path, at->line, "column %d: %s",
                              at->column, text);
}

void gsim_kueue_note(struct gsim_kueue_reading *r, const struct gsim_yaml *at, const char *what,
                     const char *assumed) {
    for (uint32_t i = 0; i < r->out->n_notes; i++)
        if (strcmp(r->out->note[i].what, what) == 0)
            return;
    struct gsim_kueue_note *note =
        gsim_kueue_add(r, (void **)&r->out->note, &r->out->n_notes, sizeof *note);
    if (note)
        *note = (struct gsim_kueue_note){.what = what, .assumed = assumed, .line = at->line};
}

void gsim_kueue_warn(const struct gsim_kueue *kueue, struct gsim_log *log) {
    for (uint32_t i = 0; i < kueue->n_notes; i++)
        gsim_warn(log, kueue->path, kueue->note[i].line, "not modelled: %.64s (assumed: %s)",
                  kueue->note[i].what, kueue->note[i].assumed);
}

void gsim_kueue_look(struct gsim_kueue_reading *r, const struct gsim_yaml *spec,
                     const char *const *keys, int n) {
    for (const struct gsim_yaml *one = spec ? spec->first : NULL; one; one = one->next) {
        bool is_known = false;
        for (int k = 0; k < n && one->key; k++)
            is_known |= strcmp(one->key, keys[k]) == 0;
        int near = is_known || !one->key ? -1 : gsim_text_near_miss(one->key, keys, n);
        if (near >= 0)
            gsim_kueue_refuse(r, one, "'%.64s' is no key of this object; did you mean '%s'?",
                              one->key, keys[near]);
        else if (!is_known && one->key)
            gsim_kueue_note(r, one, one->key, "the key has no effect");
    }
}

/* --- quotas ----------------------------------------------------------------------------------- */

uint32_t gsim_kueue_flavor_called(const struct gsim_kueue *kueue, const char *name) {
    for (uint32_t f = 0; f < kueue->n_flavors; f++)
        if (strcmp(kueue->flavor[f].name, name) == 0)
            return f;
    return GSIM_KUEUE_NONE;
}

static bool is_gpu(const char *resource) {
    size_t n = strlen(resource);
    return strcmp(resource, "gpu") == 0 || (n > 4 && strcmp(resource + n - 4, "/gpu") == 0);
}

const struct gsim_yaml *gsim_kueue_gpu_of(const struct gsim_yaml *flavor) {
    const struct gsim_yaml *resources = gsim_yaml_get(flavor, "resources");
    for (const struct gsim_yaml *one = resources ? resources->first : NULL; one; one = one->next)
        if (is_gpu(gsim_yaml_text(one, "name")))
            return one;
    return NULL;
}

/* A quantity of GPUs is a whole number; fallback: where the key is missing or null. */
static int64_t count_of(struct gsim_kueue_reading *r, const struct gsim_yaml *quota,
                        const char *key, int64_t fallback) {
    enum { MOST_DIGITS = 9 };
    const char *text = gsim_yaml_text(quota, key);
    size_t n = strspn(text, "0123456789");
    int64_t value = 0;
    if (!*text)
        return fallback;
    if (text[n] != '\0' || n > MOST_DIGITS) {
        gsim_kueue_refuse(r, gsim_yaml_get(quota, key),
                          "%s: '%.64s' is not a whole number of GPUs below 10^9", key, text);
        return fallback;
    }
    for (size_t i = 0; i < n; i++)
        value = 10 * value + (text[i] - '0');
    return value;
}

static void note_others(struct gsim_kueue_reading *r, const struct gsim_yaml *flavor) {
    const struct gsim_yaml *resources = gsim_yaml_get(flavor, "resources");
    for (const struct gsim_yaml *one = resources ? resources->first : NULL; one; one = one->next)
        if (!is_gpu(gsim_yaml_text(one, "name")))
            gsim_kueue_note(r, one, "quotas of CPUs, memory and other resources",
                            "quotas of GPUs alone bind");
}

static void take_quota(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                       const struct gsim_yaml *flavor) {
    static const char *const keys[] = {"name", "nominalQuota", "borrowingLimit", "lendingLimit"};
    const struct gsim_yaml *gpu = gsim_kueue_gpu_of(flavor);
    note_others(r, flavor);
    if (!gpu)
        return;
    uint32_t f = gsim_kueue_flavor_called(r->out, gsim_yaml_text(flavor, "name"));
    gsim_kueue_look(r, gpu, keys, 4);
    if (f == GSIM_KUEUE_NONE || node->quota[f].is_there) {
        gsim_kueue_refuse(r, flavor, "flavor '%.64s' stands twice", gsim_yaml_text(flavor, "name"));
        return;
    }
    node->quota[f] = (struct gsim_kueue_quota){.is_there = true,
                                               .nominal = count_of(r, gpu, "nominalQuota", 0),
                                               .borrowing = count_of(r, gpu, "borrowingLimit", -1),
                                               .lending = count_of(r, gpu, "lendingLimit", -1)};
    node->flavor[node->n_flavors++] = f;
}

static void take_quotas(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                        const struct gsim_yaml *spec) {
    const struct gsim_yaml *groups = gsim_yaml_get(spec, "resourceGroups");
    for (const struct gsim_yaml *g = groups ? groups->first : NULL; g; g = g->next) {
        const struct gsim_yaml *flavors = gsim_yaml_get(g, "flavors");
        for (const struct gsim_yaml *f = flavors ? flavors->first : NULL; f && r->status == GSIM_OK;
             f = f->next)
            take_quota(r, node, f);
    }
}

/* --- settings --------------------------------------------------------------------------------- */

/* The position of a setting's value among the choices; 0, its default, where it is missing. */
static int choice_of(struct gsim_kueue_reading *r, const struct gsim_yaml *of, const char *key,
                     const char *choices) {
    const char *text = gsim_yaml_text(of, key);
    int choice = *text ? gsim_text_choice(text, choices) : 0;
    if (choice < 0)
        gsim_kueue_refuse(r, gsim_yaml_get(of, key), "%s: '%.64s' is not one of %s", key, text,
                          choices);
    return choice < 0 ? 0 : choice;
}

void gsim_kueue_stop_policy(struct gsim_kueue_reading *r, const struct gsim_yaml *spec) {
    if (choice_of(r, spec, "stopPolicy", "None|Hold|HoldAndDrain") > 0)
        gsim_kueue_note(r, gsim_yaml_get(spec, "stopPolicy"), "stopPolicy",
                        "None: the queue admits, since a dump says how it stands today");
}

static int64_t threshold_of(struct gsim_kueue_reading *r, const struct gsim_yaml *borrow) {
    const char *text = gsim_yaml_text(borrow, "maxPriorityThreshold");
    char *end;
    if (!*text)
        return INT64_MAX;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value > INT32_MAX || value < INT32_MIN)
        gsim_kueue_refuse(r, gsim_yaml_get(borrow, "maxPriorityThreshold"),
                          "maxPriorityThreshold: '%.64s' is not a priority; accepted: a whole "
                          "number from -2147483648 to 2147483647",
                          text);
    return value;
}

static void take_preemption(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                            const struct gsim_yaml *spec) {
    static const char *const keys[] = {"withinClusterQueue", "reclaimWithinCohort",
                                       "borrowWithinCohort"};
    static const enum gsim_kueue_preempt reclaim[] = {GSIM_KUEUE_NEVER, GSIM_KUEUE_LOWER_PRIORITY,
                                                      GSIM_KUEUE_ANY};
    const struct gsim_yaml *preemption = gsim_yaml_get(spec, "preemption");
    const struct gsim_yaml *borrow = gsim_yaml_get(preemption, "borrowWithinCohort");
    gsim_kueue_look(r, preemption, keys, 3);
    node->within = (enum gsim_kueue_preempt)choice_of(
        r, preemption, "withinClusterQueue", "Never|LowerPriority|LowerOrNewerEqualPriority");
    node->reclaim =
        reclaim[choice_of(r, preemption, "reclaimWithinCohort", "Never|LowerPriority|Any")];
    node->borrows_by_force = choice_of(r, borrow, "policy", "Never|LowerPriority") > 0;
    node->threshold = threshold_of(r, borrow);
}

/* v1beta2 has one name, MayStopSearch, for what v1beta1 calls Borrow and Preempt. */
static void take_fungibility(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                             const struct gsim_yaml *spec) {
    const struct gsim_yaml *fungibility = gsim_yaml_get(spec, "flavorFungibility");
    node->next_rather_than_borrow =
        choice_of(r, fungibility, "whenCanBorrow", "Borrow|MayStopSearch|TryNextFlavor") == 2;
    node->preempt_rather_than_next =
        choice_of(r, fungibility, "whenCanPreempt", "TryNextFlavor|Preempt|MayStopSearch") > 0;
}

static void note_settings(struct gsim_kueue_reading *r, const struct gsim_yaml *spec) {
    static const struct {
        const char *key, *assumed;
    } notes[] = {
        {"fairSharing", "classic admission and preemption, without shares"},
        {"admissionChecks", "they admit at once"},
        {"admissionChecksStrategy", "they admit at once"},
        {"admissionScope", "jobs of a queue go by priority, then by arrival"},
    };
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (gsim_yaml_get(spec, notes[i].key))
            gsim_kueue_note(r, gsim_yaml_get(spec, notes[i].key), notes[i].key, notes[i].assumed);
}

void gsim_kueue_take_node(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                          const struct gsim_yaml *object, bool is_queue) {
    static const char *const keys[] = {
        "resourceGroups", "cohort",           "cohortName",        "parent",
        "parentName",     "fairSharing",      "queueingStrategy",  "preemption",
        "stopPolicy",     "admissionChecks",  "flavorFungibility", "admissionChecksStrategy",
        "admissionScope", "namespaceSelector"};
    const struct gsim_yaml *spec = gsim_yaml_get(object, "spec");
    node->line = object->line;
    gsim_kueue_look(r, spec, keys, sizeof keys / sizeof *keys);
    note_settings(r, spec);
    take_quotas(r, node, spec);
    const char *old = gsim_yaml_text(spec, is_queue ? "cohort" : "parent");
    node->parent_name = *old ? old : gsim_yaml_text(spec, is_queue ? "cohortName" : "parentName");
    if (!is_queue)
        return;
    node->is_strict = choice_of(r, spec, "queueingStrategy", "BestEffortFIFO|StrictFIFO") > 0;
    gsim_kueue_stop_policy(r, spec);
    take_preemption(r, node, spec);
    take_fungibility(r, node, spec);
    if (node->n_flavors == 0)
        gsim_kueue_note(r, object, "a ClusterQueue without a quota of GPUs",
                        "its jobs wait for ever");
}
