/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop of the public Tiresias simulator (reference=tiresias). */
#ifndef GSIM_POLICIES_TIRESIAS_DLAS_H
#define GSIM_POLICIES_TIRESIAS_DLAS_H

#include "policies/lib/gittins.h"
#include "policies/lib/queue.h"
#include "sim/base/index.h"

#define GSIM_DLAS_QUEUES 65 /* a list of limits has at most 64 */

/* The loop's record of a job; the start of the policy's per-job state. */
struct gsim_dlas_job {
    struct gsim_queue_link link; /* while it waits */
    int64_t executed_ns, pending_ns; /* since its last promotion, up to since_ns */
    int64_t since_ns; /* begin of its current run or wait */
    int64_t key; /* the order within a queue: by key, instant of arrival, position */
    int64_t position;
    uint32_t instant, arrival;
    uint32_t size; /* index of its gang size */
    uint8_t queue;
    bool is_running, is_over;
};

/* A queue: the running jobs, in the order in which they were chosen, the jobs demoted into it in
 * this event, and the waiting jobs, in a line for each gang size. */
struct gsim_dlas_queue {
    gsim_slot *running, *moved;
    uint32_t n_running, n_moved;
    struct gsim_queue *waiting; /* by size */
};

/* Settings first; the rest is the loop's own. Zeroed, settings filled, then gsim_dlas_open. */
struct gsim_dlas {
    const int64_t *limits; /* between queues, in seconds (or GPU seconds) */
    uint32_t n_queues; /* one more than limits */
    bool is_gpu_time;
    int64_t knob_ppm; /* promote after waiting for the service times this; 0: never */
    const struct gsim_history *history; /* NULL: least attained service */

    const int64_t *index; /* of the history's samples */
    struct gsim_dlas_queue queue[GSIM_DLAS_QUEUES];
    uint32_t *sizes; /* the gang sizes in use */
    uint32_t n_sizes, sizes_capacity;
    gsim_slot *chosen; /* scratch: jobs that run in a queue after this event */
    gsim_slot *preempted, *started; /* of one event */
    uint32_t n_preempted, n_started;
    struct gsim_index starving; /* waiting jobs by the time of their promotion */
    struct gsim_index promoted; /* in this event, by arrival */
    struct gsim_index ending; /* running jobs by the time of their end */
    gsim_slot *attached; /* jobs that were to end with the next arrival at the last look */
    uint32_t n_attached;
    int64_t arrived_ns; /* time of the last arrival */
    uint32_t n_arrived, n_instants;
    int64_t front, back; /* positions before and behind all waiting jobs */
    bool has_event, has_left;
};

enum gsim_status gsim_dlas_open(struct gsim_dlas *dlas, struct gsim_ctx *ctx);
void gsim_dlas_arrived(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_dlas_completed(struct gsim_dlas *dlas, struct gsim_ctx *ctx, gsim_slot slot);
void gsim_dlas_woken(struct gsim_dlas *dlas);
void gsim_dlas_decide(struct gsim_dlas *dlas, struct gsim_ctx *ctx, struct gsim_plan *plan);

#endif
