/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `kubectl get pods,jobs,events -o json` says of pods, and of the objects that own them. */
#ifndef GSIM_TRACES_KUBE_H
#define GSIM_TRACES_KUBE_H

#include "traces/input.h"

/* Times in seconds since 1970; -1: the object does not have it. Texts are "" then. */
struct gsim_kube_pod {
    const char *name, *place; /* of the namespace */
    const char *owner; /* the job that it is a pod of; "": it is one alone */
    const char *queue, *node, *gpu_type, *phase;
    int64_t line;
    int64_t created_s, scheduled_s, ended_s, limit_s, priority;
    int64_t gpus, cpus_milli, mem_bytes;
    int64_t n_restarts;
    const char *wrong; /* why the pod cannot be read; NULL: it can */
    bool has_priority, has_other_gpus; /* other_gpus: instances, or shares */
};

/* An object that owns pods, or a Workload of Kueue. */
struct gsim_kube_owner {
    const char *name, *place, *queue;
    int64_t created_s, limit_s;
};

/* An object that becomes no row: an event, or one that is neither pod nor owner. */
struct gsim_kube_other {
    int64_t line;
    bool is_event;
    bool is_used; /* a pod has its time from the event */
};

struct gsim_kube {
    struct gsim_kube_pod *pod;
    struct gsim_kube_owner *owner;
    struct gsim_kube_other *other;
    uint32_t n_pods, n_owners, n_others;
    int64_t latest_s; /* of all times that were looked at: the file was written then, or later */
};

/* Reads the objects. A time or an amount that cannot be read makes its pod wrong, not the file. */
enum gsim_status gsim_kube_read(struct gsim_input *input, struct gsim_arena *arena,
                                struct gsim_kube *out, struct gsim_log *log);

#endif
