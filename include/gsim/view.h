/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The world as a policy sees it: columns of jobs, recent changes, the cluster. Durations are
 * hidden, except from oracles. */
#ifndef GSIM_VIEW_H
#define GSIM_VIEW_H

#include <stddef.h>

#include "gsim/job.h"
#include "gsim/trace.h"

/* Whether an idle whole GPU may lack the memory that a job of the trace asks for. */
enum gsim_room {
    GSIM_ROOM_SCARCE = 0, /* it may lack the memory */
    GSIM_ROOM_BUT_FOR_PAUSED, /* only where paused jobs left memory on it */
    GSIM_ROOM_AMPLE, /* never: hosts have room for all memory that does not fit */
};

struct gsim_core; /* the run; opaque here */

/* Jobs, by slot; slots without a job have state GSIM_FREE. */
struct gsim_view_jobs {
    uint32_t n_slots; /* every slot is below this */
    uint32_t n_active;
    const gsim_slot *active; /* the active slots, in no particular order (fixed by the inputs) */
    const uint32_t *index; /* position in the trace */
    /* By index: the position in the order of submission, of equal times by row; NULL: rows are in
     * that order. A job that comes after others has one once it is submitted. See gsim_nth. */
    const uint32_t *nth_of;
    const int64_t *submit_ns;
    const uint32_t *gpus;
    const uint32_t *share_ppm;
    const uint8_t *state; /* enum gsim_state */
    const int64_t *changed_ns; /* when the state began */
    const struct gsim_progress *progress;
    /* True durations, or estimates where the trace has them (estimate_s): NULL unless the policy is
     * an oracle, or copies Tiresias' simulator: its loop foresees ends. */
    const int64_t *service_ns;
};

/* Jobs that changed since the policy's last decide. Slots of completed jobs stay readable until
 * this decide ends. The transition of a job ends with the job RUNNING, PAUSED, HELD or QUEUED; its
 * state is another one where the job completed since, or its node failed. */
struct gsim_view_changes {
    const gsim_slot *arrived;
    uint32_t n_arrived;
    const gsim_slot *completed;
    uint32_t n_completed;
    const gsim_slot *settled; /* jobs with a transition that ended */
    uint32_t n_settled;
};

/* Nodes and their GPUs. */
struct gsim_view_cluster {
    uint32_t n_nodes;
    uint32_t n_gpus;
    uint32_t widest_node; /* GPUs of the largest node */
    uint32_t n_idle_gpus; /* GPUs wholly free after the transitions under way */
    uint32_t n_failures; /* failures of nodes so far */
    uint32_t n_repairs; /* nodes that have come back from a failure: capacity that no job freed */
    const bool *node_is_down; /* by node */
    const uint32_t *node_of_gpu;
    const uint32_t *node_first_gpu; /* n_nodes + 1 entries */
    const uint64_t *idle_gpus; /* bits by node, see gsim_gpu_is_idle */
    uint32_t node_words;
    enum gsim_room room; /* does not change in a run */
    /* By GPU. */
    const int64_t *hbm_bytes;
    const int64_t *mem_used; /* reserved, where the trace gives memory */
    const bool *is_arranged; /* shared: the GPU cannot be had whole until it is given back */
    const uint32_t *clients; /* jobs placed on it while it is arranged */
    const uint32_t *client_limit; /* the most clients that its arrangement allows */
    const uint16_t *type; /* equal numbers are equal devices */
};

/* One divisible pool in place of nodes: placements name no GPUs. */
struct gsim_view_pool {
    bool is_used;
    int64_t free_ppm, free_cpus_milli;
};

/* The world as a policy sees it. Pointers may move between hooks, so a policy reads them through
 * the view each time. */
struct gsim_view {
    int64_t now_ns;
    struct gsim_view_jobs jobs;
    struct gsim_view_changes changes;
    struct gsim_view_cluster cluster;
    struct gsim_view_pool pool;
    /* Static attributes of jobs, by jobs.index[slot]. Its durations (service_ns) are NULL. */
    const struct gsim_trace *trace;
    struct gsim_core *core; /* for questions that no column answers */
};

/* Whether the GPU is wholly free after the transitions under way. */
static inline bool gsim_gpu_is_idle(const struct gsim_view *view, uint32_t gpu) {
    uint32_t node = view->cluster.node_of_gpu[gpu], nth = gpu - view->cluster.node_first_gpu[node];
    return view->cluster.idle_gpus[(size_t)node * view->cluster.node_words + nth / 64] >>
               (nth % 64) &
           1;
}

/* How many GPUs of the node are idle. */
static inline uint32_t gsim_node_idle_gpus(const struct gsim_view *view, uint32_t node) {
    const uint64_t *words = &view->cluster.idle_gpus[(size_t)node * view->cluster.node_words];
    uint32_t n = 0;
    for (uint32_t w = 0; w < view->cluster.node_words; w++)
        n += words[w] ? (uint32_t)__builtin_popcountll(words[w]) : 0; /* under load few have any */
    return n;
}

/* The job's position in the order of submission: the tie breaker. */
static inline uint32_t gsim_nth(const struct gsim_view *view, gsim_slot slot) {
    uint32_t job = view->jobs.index[slot];
    return view->jobs.nth_of ? view->jobs.nth_of[job] : job;
}

/* Has the model write the job's progress up to now. */
void gsim_tell_progress(struct gsim_core *core, gsim_slot slot);

static inline int64_t gsim_attained_ns(const struct gsim_view *view, gsim_slot slot) {
    if (view->jobs.progress[slot].is_untold && view->jobs.progress[slot].since_ns < view->now_ns)
        gsim_tell_progress(view->core, slot);
    return gsim_progress_ns(&view->jobs.progress[slot], view->now_ns);
}

/* Memory that a job takes on each GPU, with its context where that counts; 0: unknown. */
int64_t gsim_job_memory(const struct gsim_view *view, gsim_slot slot);

/* Time that a job has run, including waits for pages; for a job that failed, the part it has
 * kept. */
int64_t gsim_ran_ns(const struct gsim_view *view, gsim_slot slot);

/* Oracles only. A job that has outlived its estimate, or a process its row's duration (gsim drive),
 * has nothing left. */
static inline int64_t gsim_remaining_ns(const struct gsim_view *view, gsim_slot slot) {
    int64_t left_ns = view->jobs.service_ns[slot] - gsim_attained_ns(view, slot);
    return left_ns > 0 ? left_ns : 0;
}

/* The shape of a job as the trace asks for it. */
struct gsim_shape gsim_shape_of(const struct gsim_view *view, gsim_slot job, enum gsim_rule rule);

#endif
