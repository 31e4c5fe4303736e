/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job as policies, models and observers see it: its handle, its states, how it stops and what it
 * keeps, what it asks for, and what it has done. */
#ifndef GSIM_JOB_H
#define GSIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/units.h"

/* An active job's handle: small and dense, stable from the job's arrival until the decide that
 * follows its completion, then given to another job. Columns of the view are indexed by it. */
typedef uint32_t gsim_slot;
#define GSIM_NO_SLOT UINT32_MAX

/* Where work runs: a GPU by its number in the cluster, and a MIG instance on it (0: the whole
 * GPU). */
struct gsim_unit {
    uint32_t gpu;
    uint16_t slot;
};

/* The states of a job. Stopping and starting take time, so they are states. */
enum gsim_state {
    GSIM_FREE = 0, /* the slot holds no job */
    GSIM_QUEUED, /* arrived, never started, or started and its progress discarded */
    GSIM_STARTING, /* units are reserved; the job waits until they are clear, then loads */
    GSIM_RUNNING,
    GSIM_STOPPING, /* the job runs on to the boundary that the stop names */
    GSIM_SAVING, /* off the SMs, state on its way out of HBM */
    GSIM_PAUSED, /* off the SMs, state still in HBM (keep = resident or pageable) */
    GSIM_HELD, /* state on the host or on storage */
    /* units are reserved; the job waits until they are clear, then its state comes back */
    GSIM_RESUMING,
    GSIM_DONE,
    GSIM_STATE_COUNT
};

/* Whether jobs in this state could be placed. */
static inline bool gsim_state_waits(enum gsim_state state) {
    enum { WAITING = 1 << GSIM_QUEUED | 1 << GSIM_PAUSED | 1 << GSIM_HELD };
    return WAITING >> state & 1;
}

/* Where a preempted job stops. */
enum gsim_stop {
    GSIM_STOP_KERNEL = 0, /* end of the running kernel */
    GSIM_STOP_ITERATION, /* end of the running iteration */
    GSIM_STOP_BLOCK, /* end of the running thread blocks */
    GSIM_STOP_SAVE, /* at once, SM state saved */
    GSIM_STOP_FLUSH, /* at once, the running kernel's progress is lost (idempotent only) */
    GSIM_STOP_INCREMENTAL, /* at the next compiler checkpoint */
    GSIM_STOP_CHEAPEST, /* per SM the cheapest of save, drain, flush under a bound */
    GSIM_STOP_SWITCH, /* at the end of a slice, by the driver's switch of contexts */
    GSIM_STOP_COUNT
};

/* What a preempted job keeps, and where. */
enum gsim_keep {
    GSIM_KEEP_RESIDENT = 0, /* a pause: memory stays in HBM */
    GSIM_KEEP_PAGEABLE, /* other jobs may page its memory out */
    GSIM_KEEP_HOST, /* copied to host memory */
    GSIM_KEEP_STORAGE, /* checkpointed; the job restarts from the checkpoint */
    /* the driver's checkpoint: the process's device state as an image on the host */
    GSIM_KEEP_IMAGE,
    GSIM_KEEP_DISCARD, /* progress is lost */
    /* The core puts these in place of HOST and IMAGE where the host has no room; no policy asks for
     * them. */
    GSIM_KEEP_SPILT, /* copied out, and written to the node's storage */
    GSIM_KEEP_IMAGE_SPILT, /* an image on the node's storage */
    GSIM_KEEP_COUNT
};

enum gsim_class {
    GSIM_CLASS_BATCH = 0,
    GSIM_CLASS_PRODUCTION,
    GSIM_CLASS_OPPORTUNISTIC,
    GSIM_CLASS_REALTIME,
    GSIM_CLASS_COUNT
};

enum gsim_watch_kind {
    GSIM_WATCH_ATTAINED = 0, /* threshold: attained service in ns */
    /* threshold: time the job has run, in ns; counted by the core, not by the model */
    GSIM_WATCH_RAN,
    /* each end of an epoch of a job that learns by a table (--goodput); any threshold from 0 on */
    GSIM_WATCH_EPOCHS,
    GSIM_WATCH_COUNT
};

/* Work done by a job. The model writes it; the rate holds from since_ns on. */
struct gsim_progress {
    gsim_work done;
    uint64_t rate_q32;
    int64_t since_ns;
    bool is_untold; /* work since since_ns is not in `done` until the model is asked */
};

static inline int64_t gsim_progress_ns(const struct gsim_progress *progress, int64_t now_ns) {
    return gsim_work_to_ns(progress->done +
                           gsim_work_done(progress->rate_q32, now_ns - progress->since_ns));
}

/* How the units of a gang are chosen. */
enum gsim_rule {
    GSIM_RULE_CONSOLIDATE = 0, /* fewest nodes: one node when the gang fits one, else whole nodes
                                  and the remainder on one; best fit; never more scattered */
    GSIM_RULE_ANY, /* any free GPUs, fullest nodes first */
    GSIM_RULE_SPREAD, /* emptiest nodes first, one GPU of each in turn */
    /* Helios: a gang of up to a node takes the fullest node that fits; a larger gang takes whole
     * nodes, its remainder is ignored */
    GSIM_RULE_FULLEST,
    /* Gandiva: nodes that run gangs of this size, then empty nodes, then as CONSOLIDATE */
    GSIM_RULE_AFFINITY,
    GSIM_RULE_RANDOM, /* nodes in a random order, by the run's seed */
    GSIM_RULE_SKEW, /* resolved by policies job by job: CONSOLIDATE or ANY */
    GSIM_RULE_COUNT
};

/* A request for units that the core resolves through its free-capacity buckets. */
struct gsim_shape {
    uint32_t gpus; /* whole GPUs, or 1 with a share below one */
    uint32_t share_ppm; /* of each GPU; GSIM_PPM for whole GPUs */
    int64_t cpus_milli; /* of the whole gang; 0: not asked for */
    enum gsim_rule rule;
    uint32_t within; /* a node's number + 1: all units are on that node; 0: on any */
    bool keeps_rate; /* with fewer GPUs than the job asks for it is as fast (helios) */
};

/* The cost of an action on an idle machine. */
struct gsim_quote {
    int64_t stop_ns; /* until the job is off the SMs */
    int64_t save_ns; /* from then until its units are clear */
    int64_t resume_ns; /* until the job runs again on the units named */
    int64_t lost_ns; /* service that must be done again */
    int64_t bytes_out;
    int64_t bytes_in;
    bool is_possible; /* false: the model does not support it, or a size that it needs is unknown */
    const char *missing; /* the trace column that the model would need, or NULL */
};

/* CPUs and memory of a host, or the part of them that comes with one GPU of a job. */
struct gsim_host {
    int64_t cpus_milli, mem_bytes;
};

/* A place where a job might run: a number of GPUs of one device type (the number that
 * view.cluster.type has), on a number of nodes. */
struct gsim_where {
    uint16_t type;
    uint32_t gpus;
    uint32_t nodes; /* 0: as few as hold them among the nodes that the policy sees */
    /* that comes with each GPU; 0 of both: the part of its node that falls to each GPU there */
    struct gsim_host host;
    /* Of a job that learns by a table (--goodput): the least number of steps of an iteration
     * that only sum gradients; 0: as its batch size needs. */
    uint32_t least_summed;
    /* The job that would share these GPUs, by its slot + 1; 0: none. */
    gsim_slot beside;
};

/* How fast a job would run. */
struct gsim_rate {
    /* Service per time, as it would be charged; 0: by the table it cannot run so, and is not to be
     * placed there. */
    uint64_t pace_q32;
    /* Iterations per second by the table of speeds (--rates), or by that of goodput (--goodput):
     * digits * 2^exponent; 0: the table has no row, and the job runs by its own columns. */
    uint64_t digits;
    int32_t exponent;
    /* The least of the host beside each GPU with which the table has it fastest on these GPUs;
     * 0 of both: its speed does not depend on the host. */
    struct gsim_host wants;
    /* By the table of goodput: the most GPUs over which the job's batch can be spread; and, for
     * oracles only, the iterations from the end of the epoch under way to the job's end. -1: not
     * known. */
    uint32_t most_gpus;
    int64_t iterations_after_epoch;
    /* A GPU there has less memory than the job takes, which is not managed: all else is 0. */
    bool lacks_memory;
};

/* A number as digits * 2^exponent; 0: no digits. */
struct gsim_number {
    uint64_t digits;
    int32_t exponent;
};

/* The batch of a GPU in a step, and the steps that only add to the sum of gradients before the step
 * that shares it. */
struct gsim_batch {
    uint32_t local, summed;
};

/* A job that learns by a table (--goodput): the batches that it may have, and what it measured
 * last, as far as a real job could: not how long it will take. */
struct gsim_learning {
    uint32_t app; /* jobs of one application have equal numbers */
    uint32_t init_batch, max_batch; /* over all GPUs */
    uint32_t min_local, max_local; /* on each GPU, in a step */
    uint32_t most_gpus; /* over which a batch may be spread; 0: no limit of its own */
    uint32_t own_batch; /* that the trace gives it */
    /* On the GPUs that it runs on now, or ran on last (0: it never ran); in the epoch under way, or
     * in the one before where nothing of it is done yet. */
    uint32_t gpus, nodes;
    struct gsim_batch batch;
    struct gsim_number step_s, sync_s; /* of a step; the part of it that replicas wait */
    struct gsim_number grad_sqr, grad_var;
};

/* A model by which a job in phases (column phases) runs at times: its batch size, as a rule. */
struct gsim_mode {
    uint32_t model; /* in the table of speeds; equal numbers are equal rows */
    int64_t epoch_iterations;
    int64_t epoch_ns; /* alone, on as many GPUs as the job asks for, of the first device */
    int64_t made_ppm; /* epochs made in it so far, in millionths */
};

/* What a scheduler may know of a job in phases: how many epochs it makes, which modes it will have
 * and how fast each is, and how often it has had each; not when it changes. */
enum { GSIM_MOST_MODES = 16 };
struct gsim_modes {
    uint32_t n, at; /* at: the mode under way */
    int64_t epochs_ppm, made_ppm; /* of all epochs, in millionths */
    struct gsim_mode mode[GSIM_MOST_MODES]; /* by their first phase */
};

/* The cost of sharing to a job so far. */
struct gsim_costs {
    int64_t bytes_in, bytes_out;
    int64_t faults;
    int64_t stall_ns; /* time on the GPU waiting for pages, or for memory on the host */
};

/* Counters of a job, from which policies derive rates. */
struct gsim_counters {
    int64_t work_ns; /* service done */
    int64_t kernels; /* -1 where the trace does not say */
    int64_t blocks;
    int64_t iterations;
    int64_t busy_ns; /* time with kernels on the device */
    /* Time that the work took: of an iteration from its launch to the launch of the next, of a
     * request without the wait for the next request. The job's service where it does not take
     * turns. */
    int64_t taken_ns;
    /* Attained service times gang size; of what was done on another number of GPUs, the time that
     * it took there, alone, times the GPUs held. */
    int64_t gpu_time_ns;
    struct gsim_costs costs;
};

#endif
