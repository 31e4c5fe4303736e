/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of lucid share: its jobs, the profiler's GPUs, and what jobs have shown so far. */
#ifndef GSIM_POLICIES_LUCID_LUCID_H
#define GSIM_POLICIES_LUCID_LUCID_H

#include "policies/lib/sharing.h"
#include "sim/api/rates.h"
#include "sim/base/index.h"

enum lucid_stage { LUCID_NEW = 0, LUCID_PROFILED, LUCID_LEAVING, LUCID_IN_LINE, LUCID_RUNS };

struct lucid_job {
    struct gsim_sharing_job sharing; /* first */
    enum lucid_stage stage;
    bool is_due; /* it has been profiled for as long as a job may be */
    int64_t key; /* estimated time * GPUs: the least goes first */
    int64_t use_ppm; /* the part of its time with kernels on its GPU; below 0: not measured */
    uint32_t kind; /* of the table of pairs; GSIM_NO_KIND: it has no row */
    /* its speeds beside the first jobs that were measured, summed up, and how many these are */
    int64_t sum_ppm, n_counted;
};

/* Whether jobs share, as binder= says. */
enum lucid_binding { LUCID_BIND_AUTO, LUCID_BIND_ON, LUCID_BIND_OFF };

/* How long the jobs of a user, or of all, took that are done. */
struct lucid_past {
    int64_t sum_ms, n;
};

/* A job, by its number in the trace, and what it took if it has ended. A failed job comes again. */
struct lucid_end {
    int64_t took_ms;
    bool is_noted;
    bool is_measured; /* it counts among those that were */
};

enum {
    LUCID_PARTS = 101, /* of a GPU's time, in whole per cents */
    LUCID_CLASSES = 3, /* by what a job does to others */
};

struct lucid {
    struct gsim_sharing sharing; /* first; its queue is empty */
    struct gsim_index line; /* jobs that wait to run, by their keys */
    struct gsim_index fresh; /* jobs that wait for the profiler, the fewest GPUs first */
    uint32_t n_due; /* jobs that may have been profiled for as long as they may be */
    gsim_slot due; /* the last of them */
    uint32_t n_main; /* GPUs from this one on are the profiler's */
    uint32_t widest_main; /* of them on one node */
    int64_t profile_ns;
    bool keeps; /* what a job does while it is profiled counts */
    gsim_slot *host; /* by GPU: the job that was first to share it; GSIM_NO_SLOT: none */
    gsim_slot *guest; /* by GPU with two sharers: the job that came second */
    uint32_t *n_sharers; /* by GPU */
    /* In this decide, by class: the most that a job may ask for in memory and still find a host;
     * below 0: there is none for its class. */
    int64_t room_bytes[LUCID_CLASSES];
    /* Jobs in line that may share, by the part of their time with kernels, rounded down. */
    uint32_t n_by_use[LUCID_PARTS];
    struct lucid_job least_use; /* a job with as little as these, at most */
    uint32_t lowest_class; /* of these in this decide, or below */
    struct gsim_unit *unit; /* room for the GPUs of a gang */
    bool *is_taken; /* by node, while such GPUs are looked for */
    uint64_t used[LUCID_PARTS]; /* jobs by the part of their time with kernels */
    int64_t n_measured; /* jobs */
    uint8_t last_used[LUCID_PARTS]; /* by the measurement's number: that part of the last ones */
    struct lucid_past all, *user;
    struct lucid_end *end;
    /* by a table of pairs (--rates, rows beside another model); NULL: by the use of the GPU */
    const struct gsim_rates *pairs;
    uint32_t device; /* the table's, of the cluster's first GPU */
    uint32_t *n_of_kind; /* measured jobs by the table's model */
    /* the binder */
    enum lucid_binding binder;
    bool shares; /* now */
    int64_t *arrived_ns; /* of all jobs so far */
    uint32_t n_arrived, room_arrived, first_recent;
    int64_t next_look_ns, look_ns, window_ns;
    uint32_t most_score;
    int64_t tiny_ppm, medium_ppm;
};

static inline struct lucid_job *lucid_job(const struct gsim_ctx *ctx, gsim_slot slot) {
    return gsim_job_state(ctx, slot);
}

/* Whether the job can have GPUs from `first` up to `end` at all, by their number and memory. */
bool lucid_has_room(const struct gsim_ctx *ctx, gsim_slot slot, uint32_t first, uint32_t end);
/* Finds idle GPUs from `first` up to `end` on as few nodes as there can be, and places the job on
 * them alone; a job of one GPU so that another may join it where `is_open`. */
bool lucid_place(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot, uint32_t first,
                 uint32_t end, bool is_open);

/* A job has been profiled, or has run: notes its use of the GPU. */
void lucid_measure(struct gsim_ctx *ctx, gsim_slot slot);
/* 0, 1 or 2: how much the job and others slow each other on a GPU; 100: not measured. */
uint32_t lucid_score(const struct lucid *lucid, struct lucid_job *job);
/* What the size of a job in line is: the memory that it asks for, or more than there is where it
 * never shares. */
int64_t lucid_asks_to_share(const struct gsim_ctx *ctx, gsim_slot slot);
/* The job comes to the line (1), or leaves it (-1). */
void lucid_count_waiting(struct lucid *lucid, const struct lucid_job *job, int by);
/* Before jobs are packed: looks which GPUs are free for one sharer more. */
void lucid_find_hosts(struct gsim_ctx *ctx);
/* No job in line that asks for more memory finds a host. */
int64_t lucid_widest_room(const struct lucid *lucid);
/* Places the job beside one that has a GPU for itself; false: there is no such, or it does not
 * suit. Jobs are asked about in the order of their keys. */
bool lucid_pack(struct gsim_ctx *ctx, struct gsim_plan *plan, gsim_slot slot);
/* A job arrives (false: no memory); whether jobs share at present follows from how many arrive. */
bool lucid_binder_arrival(const struct gsim_ctx *ctx, struct lucid *lucid);
void lucid_binder_look(struct lucid *lucid, int64_t now_ns);

#endif
