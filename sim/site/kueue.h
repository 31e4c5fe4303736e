/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects of Kueue as kubectl prints them, of the API versions v1beta1 and v1beta2: quotas of
 * GPUs, cohorts, queueing strategies, preemption. What else an object asks for is kept as a list
 * of notes, each with the assumption that stands in. */
#ifndef GSIM_SITE_KUEUE_H
#define GSIM_SITE_KUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"
#include "gsim/status.h"

#define GSIM_KUEUE_NONE UINT32_MAX
#define GSIM_KUEUE_SEVERAL (UINT32_MAX - 1)

/* In all enumerations the first value is Kueue's default. */
enum gsim_kueue_preempt {
    GSIM_KUEUE_NEVER,
    GSIM_KUEUE_LOWER_PRIORITY,
    GSIM_KUEUE_LOWER_OR_NEWER_EQUAL,
    GSIM_KUEUE_ANY,
};

struct gsim_kueue_flavor {
    const char *name;
    const char **label; /* values of its nodeLabels */
    uint32_t n_labels;
};

/* GPUs of a flavor. */
struct gsim_kueue_quota {
    bool is_there; /* the object has the flavor */
    int64_t nominal;
    int64_t borrowing, lending; /* limits; -1: none */
};

/* A ClusterQueue or a Cohort. */
struct gsim_kueue_node {
    const char *name;
    uint32_t parent; /* its cohort; GSIM_KUEUE_NONE: none */
    const char *parent_name; /* "": none */
    struct gsim_kueue_quota *quota; /* by flavor */
    /* the rest is of a ClusterQueue */
    uint32_t *flavor; /* in the order in which they are tried */
    uint32_t n_flavors;
    bool is_strict; /* StrictFIFO */
    enum gsim_kueue_preempt within, reclaim; /* withinClusterQueue, reclaimWithinCohort */
    bool borrows_by_force; /* borrowWithinCohort: LowerPriority */
    int64_t threshold; /* its maxPriorityThreshold; INT64_MAX: none */
    bool next_rather_than_borrow, preempt_rather_than_next; /* flavorFungibility */
    int64_t line;
};

struct gsim_kueue_local {
    const char *name, *of_namespace; /* "": it has none */
    const char *queue_name;
    uint32_t queue;
    int64_t line;
};

struct gsim_kueue_note {
    const char *what, *assumed;
    int64_t line;
};

/* Nodes: ClusterQueues first, then cohorts. */
struct gsim_kueue {
    const char *path;
    struct gsim_kueue_flavor *flavor;
    struct gsim_kueue_node *node;
    struct gsim_kueue_local *local;
    struct gsim_kueue_note *note;
    uint32_t n_flavors, n_queues, n_nodes, n_locals, n_notes;
};

enum gsim_status gsim_kueue_read(const char *path, struct gsim_arena *arena, struct gsim_kueue *out,
                                 struct gsim_log *log);
/* The ClusterQueue of a LocalQueue ("name" or "namespace/name"), or of that name;
 * GSIM_KUEUE_NONE: there is none; GSIM_KUEUE_SEVERAL: LocalQueues of several namespaces have the
 * name, and not all are of one ClusterQueue. */
uint32_t gsim_kueue_queue(const struct gsim_kueue *kueue, const char *name);
/* Warns of each kind of note. */
void gsim_kueue_warn(const struct gsim_kueue *kueue, struct gsim_log *log);

#endif
