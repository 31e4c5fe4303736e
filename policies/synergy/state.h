/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of synergy share: its jobs and servers. */
#ifndef GSIM_POLICIES_SYNERGY_STATE_H
#define GSIM_POLICIES_SYNERGY_STATE_H

#include "policies/lib/heap.h"
#include "policies/lib/settings.h"

/* In the order of the parameters' choices. */
enum synergy_mode { SYNERGY_TUNE = 0, SYNERGY_GREEDY, SYNERGY_FAIR };
enum synergy_order { SYNERGY_FIFO = 0, SYNERGY_SRTF, SYNERGY_LAS, SYNERGY_FTF };

/* A job, by its number in the trace. */
struct synergy_job {
    gsim_slot slot;
    bool is_active;
    bool is_placed; /* it has GPUs, or is on its way to them */
    bool is_chosen; /* the round gives it GPUs */
    bool is_at_end; /* it has made the round's iterations (reference) */
    bool is_urgent; /* it has waited for too long */
    bool is_queued; /* it stands in the queue */
    int64_t submit_ns;
    uint32_t gpus;
    struct gsim_host wants, fair; /* beside each GPU */
    double wants_per_s, fair_per_s; /* iterations with them; without a table any unit of work */
    double now_per_s; /* in the last round, or as much as it wants before that */
    int64_t iterations; /* -1: unknown */
    int64_t done, round_iterations; /* reference: made so far; in the round under way */
    int64_t last_ns; /* when it came, or when its last round ended */
    int64_t n_rounds;
    struct gsim_host each; /* what the round gives beside each GPU */
    uint32_t *node; /* where it gives it GPUs: `gpus` nodes, in rising order */
    struct gsim_unit *units; /* the GPUs that it has, or had last */
    struct gsim_host had; /* beside each of them */
    double key; /* its place in the order of the round; the least first */
};

/* What the round has not given out yet of a node. */
struct synergy_server {
    uint32_t gpus;
    struct gsim_host host;
    uint32_t n_jobs; /* of the round with GPUs here; their list begins at the node's first GPU */
};

struct synergy {
    struct synergy_job *job;
    struct synergy_server *server;
    uint32_t *listed; /* the servers' lists of jobs, by GPU */
    uint32_t *owner; /* by GPU: the job that the round gives it to; GSIM_NO_OWNER: none */
    /* By number: whether the job may have GPUs, or the last round gave it some; and all these jobs,
     * in the order of the active ones. */
    bool *may_be_busy;
    uint32_t *busy, n_busy;
    /* order=fifo: the jobs by the time at which they came, some of which have gone; the round has
     * looked at those before `next_queued` */
    uint32_t *queue, n_queue, n_gone, next_queued;
    void *ranked; /* room for the jobs with their ranks */
    struct gsim_heap line; /* those of them that are still in line */
    uint32_t *order; /* the jobs that are offered to the round, the first in line first */
    uint32_t n_order, n_offered;
    uint32_t *unplaced; /* jobs of the round that wait for their GPUs */
    uint32_t n_unplaced;
    uint32_t n_active;
    struct gsim_host fair; /* the part of a server that falls to each GPU; of unlike ones the
                              least */
    struct gsim_host server_host; /* of the widest node */
    uint32_t server_gpus;
    enum synergy_mode mode;
    enum synergy_order rule;
    bool is_reference, is_in_round, consolidates;
    struct gsim_preemption way;
    int64_t round_ns, first_ns, ends_ns;
};

#define GSIM_NO_OWNER UINT32_MAX

#endif
