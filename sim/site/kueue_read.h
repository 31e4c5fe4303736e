/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of Kueue's objects, for the files of this folder: what its parts share. */
#ifndef GSIM_SITE_KUEUE_READ_H
#define GSIM_SITE_KUEUE_READ_H

#include <stddef.h>

#include "sim/site/kueue.h"
#include "sim/site/yaml.h"

struct gsim_kueue_reading {
    struct gsim_kueue *out;
    struct gsim_arena *arena;
    struct gsim_log *log;
    enum gsim_status status;
    const struct gsim_yaml **object;
    uint32_t n_objects;
};

/* Grows a list by one zeroed entry; NULL: no memory, which the status says. */
void *gsim_kueue_add(struct gsim_kueue_reading *r, void **list, uint32_t *n, size_t size);
/* An error at a place of the file. */
__attribute__((format(printf, 3, 4))) void gsim_kueue_refuse(struct gsim_kueue_reading *r,
                                                             const struct gsim_yaml *at,
                                                             const char *format, ...);
/* One note for each kind, whatever its number. */
void gsim_kueue_note(struct gsim_kueue_reading *r, const struct gsim_yaml *at, const char *what,
                     const char *assumed);
/* Refuses keys that nearly equal one of these; other keys are noted as without effect. */
void gsim_kueue_look(struct gsim_kueue_reading *r, const struct gsim_yaml *spec,
                     const char *const *keys, int n);
void gsim_kueue_stop_policy(struct gsim_kueue_reading *r, const struct gsim_yaml *spec);
/* The quota of GPUs among the resources of a flavor; NULL: it has none. */
const struct gsim_yaml *gsim_kueue_gpu_of(const struct gsim_yaml *flavor);
uint32_t gsim_kueue_flavor_called(const struct gsim_kueue *kueue, const char *name);
/* Takes the spec of a ClusterQueue or a Cohort. */
void gsim_kueue_take_node(struct gsim_kueue_reading *r, struct gsim_kueue_node *node,
                          const struct gsim_yaml *object, bool is_queue);

#endif
