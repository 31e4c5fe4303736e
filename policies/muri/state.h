/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of muri share: its jobs, and the packings in which they run. Times are seconds. */
#ifndef GSIM_POLICIES_MURI_STATE_H
#define GSIM_POLICIES_MURI_STATE_H

#include "policies/lib/settings.h"
#include "sim/api/interleave.h"

/* In the order of the parameter's choices. */
enum muri_rule {
    MURI_S = 0,
    MURI_L,
    MURI_IN_ORDER,
    MURI_SHORTEST,
    MURI_SHORTEST_GPU,
    MURI_QUEUES,
    MURI_THEMIS,
    MURI_ANTMAN
};

enum { MURI_PACKED = GSIM_INTERLEAVE_MOST, MURI_N_QUEUES = 3, MURI_KNOWN = 1 << 16 };
#define MURI_NONE UINT32_MAX

enum muri_use {
    MURI_FREE = 0,
    MURI_TAKEN, /* by a packing */
    MURI_OUTDATED /* by a job that is to leave it */
};

/* A job, by its number in the trace. */
struct muri_job {
    gsim_slot slot;
    bool is_here; /* it has arrived, and has not ended */
    bool is_active; /* the simulator's loop has seen the job arrive, and not yet end */
    bool runs; /* the last decision gives it GPUs */
    bool is_exclusive; /* the trace does not give its stages */
    bool is_guest; /* opportunistic */
    uint32_t gpus, queue, packing;
    double submit, iteration; /* an iteration alone */
    double current; /* an iteration in its packing */
    double left; /* iterations */
    double remaining, executed, since, overhead, own_overhead;
    double rank, second; /* the least first */
    struct gsim_stages stages;
    /* the units that the job has or had last; those that it is to have; `gpus` of each */
    struct gsim_unit *units, *wanted;
    bool is_placed; /* it has its units, or is on its way to them */
    bool has_wanted;
    bool is_touched, is_noted; /* in lists of its line (line.c) */
    uint32_t width, place; /* its line, and its place there */
    uint32_t came; /* its number among those that have come with this event, from 1 on */
};

/* Jobs of one width on one set of GPUs. */
struct muri_packing {
    uint32_t n, gpus;
    uint32_t job[MURI_PACKED];
    double rank; /* the rank of its first job in the order */
    double time; /* how long an iteration of each of its jobs takes */
    bool is_granted; /* it has GPUs */
};

struct muri_packings {
    uint32_t n;
    struct muri_packing *list; /* room for as many as there are jobs */
};

/* GPUs that are free in a count that begins with an empty cluster, by node. */
struct muri_room {
    const struct gsim_view_cluster *cluster;
    uint32_t *free;
    /* By GPUs of a gang of up to a node: no node before this one has room. */
    uint32_t *from;
    uint32_t first_taken, end_taken; /* the nodes between which the last gang got its GPUs */
};

/* How long an iteration of a packing of these jobs takes; those that it has not are MURI_NONE. */
struct muri_time {
    uint32_t job[MURI_PACKED];
    double time;
};

struct muri_loop;
struct muri_themis;
struct muri_antman;
struct muri_lines;

struct muri {
    struct muri_job *job;
    uint32_t n_jobs;
    uint32_t *order, n_order; /* the active jobs, as the last decision sorted them */
    uint32_t *line, n_line; /* these in the order in which they are served */
    uint32_t *scratch; /* as long as the trace */
    struct {
        uint32_t *job, n;
    } queue[MURI_N_QUEUES]; /* MURI_QUEUES */
    struct muri_packings packings; /* of the last decision */
    struct muri_time *known; /* MURI_KNOWN packings that were looked at lately, by their jobs */
    struct muri_room room;
    uint8_t *use; /* by GPU: enum muri_use */
    uint32_t n_gpus;
    enum muri_rule rule;
    /* how much longer an iteration of 2, 3, ... jobs takes than the stages say */
    double slower[MURI_PACKED + 1];
    double tolerance; /* of the matching */
    double limit[MURI_N_QUEUES - 1]; /* executed GPU time at which a job leaves a queue */
    bool is_reference, is_arranged, is_due, is_out_of_memory;
    uint32_t n_failures, n_repairs; /* of nodes, seen so far */
    bool is_at_rest; /* no job was on its way to or from GPUs after the last decide */
    bool is_stuck; /* a job was to leave GPUs, and could not yet */
    bool is_scattered; /* gangs got GPUs wherever they were free */
    bool has_returned; /* a job has come again since */
    bool is_lined; /* the lines have all jobs, and the order is not kept */
    bool is_calm; /* and each job had GPUs to itself: room and owner say which are free */
    uint32_t n_dead; /* jobs of the order that have ended */
    uint32_t n_exclusive;
    uint32_t n_up_gpus; /* on nodes that were up in the last whole decision */
    uint64_t n_lost_gpus; /* the most that can be free while a gang finds no room */
    uint64_t n_held_gpus; /* while it is calm */
    uint32_t *ended, n_ended; /* jobs that have completed since the last decide */
    struct gsim_preemption way;
    struct muri_loop *loop;
    struct muri_themis *themis;
    struct muri_antman *antman;
    struct muri_lines *lines; /* NULL: none */
    struct gsim_arena *scratch_arena; /* of the decide under way */
};

static inline bool muri_has_queues(const struct muri *muri) {
    return muri->rule == MURI_QUEUES;
}

static inline bool muri_packs(const struct muri *muri) {
    return muri->rule <= MURI_IN_ORDER;
}

#endif
