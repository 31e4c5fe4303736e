/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values that policies, models, traces and sinks share. */
#ifndef GSIM_API_TYPES_H
#define GSIM_API_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/units.h"
#include "sim/base/wide.h"

/* An active job's handle: small and dense, stable from its arrival until the decide that follows
 * its completion, then given to another job. Columns of the view are indexed by it. */
typedef uint32_t gsim_slot;
#define GSIM_NO_SLOT UINT32_MAX

/* Where work runs: a GPU by its number in the cluster, and a MIG instance on it (0: the whole). */
struct gsim_unit {
    uint32_t gpu;
    uint16_t slot;
};

/* The states of a job. Stopping and starting take time, so they are states. */
enum gsim_state {
    GSIM_FREE = 0, /* the slot holds no job */
    GSIM_QUEUED, /* arrived, never started, or started and its progress discarded */
    GSIM_STARTING, /* units reserved; waits until they are clear, then loads */
    GSIM_RUNNING,
    GSIM_STOPPING, /* runs on to the boundary that the stop names */
    GSIM_SAVING, /* off the SMs, state on its way out of HBM */
    GSIM_PAUSED, /* off the SMs, state still in HBM (keep = resident or pageable) */
    GSIM_HELD, /* state on the host or on storage */
    GSIM_RESUMING, /* units reserved; waits until they are clear, then state comes back */
    GSIM_DONE,
    GSIM_STATE_COUNT
};

/* Where a preempted job stops. */
enum gsim_stop {
    GSIM_STOP_KERNEL = 0, /* end of the running kernel */
    GSIM_STOP_ITERATION, /* end of the running iteration */
    GSIM_STOP_BLOCK, /* end of the running thread blocks */
    GSIM_STOP_SAVE, /* at once, SM state saved */
    GSIM_STOP_FLUSH, /* at once, the running kernel's progress is lost (idempotent only) */
    GSIM_STOP_INCREMENTAL, /* at the next compiler checkpoint */
    GSIM_STOP_CHEAPEST, /* per SM the cheapest of save, drain, flush under a bound */
    GSIM_STOP_COUNT
};

/* What is kept of a preempted job, and where. */
enum gsim_keep {
    GSIM_KEEP_RESIDENT = 0, /* a pause: memory stays in HBM */
    GSIM_KEEP_PAGEABLE, /* memory may be paged out by others */
    GSIM_KEEP_HOST, /* copied to host memory */
    GSIM_KEEP_STORAGE, /* checkpointed, restarted from there */
    GSIM_KEEP_IMAGE, /* the driver's checkpoint: the process's device state as an image on the host */
    GSIM_KEEP_DISCARD, /* progress is lost */
    /* What the core makes of HOST and IMAGE where the host has no room; no policy asks for these. */
    GSIM_KEEP_SPILT, /* copied out, and written to the node's storage */
    GSIM_KEEP_IMAGE_SPILT, /* an image there */
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
    GSIM_WATCH_RAN, /* threshold: time that it has run, in ns; the core counts it, not the model */
    GSIM_WATCH_KERNEL, /* the next kernel boundary; threshold unused */
    GSIM_WATCH_ITERATION, /* the next iteration boundary; threshold unused */
    GSIM_WATCH_COUNT
};

/* Work done by a job. The model writes it; the rate holds from since_ns on. */
struct gsim_progress {
    gsim_work done;
    uint64_t rate_q32;
    int64_t since_ns;
    bool is_untold; /* what it did since then is not written here until the model is asked */
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
    GSIM_RULE_FULLEST, /* Helios: up to a node: the fullest that fits; more: whole nodes, the
                          remainder ignored */
    GSIM_RULE_AFFINITY, /* Gandiva: nodes where gangs of this size are, then empty ones, then as
                           consolidated */
    GSIM_RULE_RANDOM, /* nodes in a random order, by the run's seed */
    GSIM_RULE_SKEW, /* policies resolve it job by job: consolidated or any */
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

/* --- instances: parts of a GPU (MIG) --------------------------------------------------------- */

enum { GSIM_INSTANCES_MAX = 16 };

/* SMs, memory and bandwidth of its own. */
struct gsim_instance {
    const char *name; /* of its profile */
    int64_t mem_bytes; /* that jobs can use */
    uint32_t part_ppm; /* of the GPU, as it is cut: its slices of the memory */
};

/* What a layout cuts a GPU into: the i-th is the unit {gpu, i + 1}. */
struct gsim_partition {
    uint32_t n;
    struct gsim_instance instance[GSIM_INSTANCES_MAX];
};

/* --- arrangements: how units share, declaratively ------------------------------------------ */

enum gsim_discipline {
    GSIM_DISCIPLINE_EXCLUSIVE = 0, /* reservations only: what holds a unit runs at full rate */
    GSIM_DISCIPLINE_PS, /* ideal processor sharing, equal rates, no switch cost */
    GSIM_DISCIPLINE_RR, /* time slices over a ring of contexts */
    GSIM_DISCIPLINE_PRIORITY,
    GSIM_DISCIPLINE_BOUNDARY, /* whole iterations; the next one by priority */
    GSIM_DISCIPLINE_PADDING, /* REEF: by priority, and others fill the SMs left over */
    GSIM_DISCIPLINE_COUNT
};

enum gsim_memory {
    GSIM_MEMORY_RESIDENT = 0,
    GSIM_MEMORY_UVM,
    GSIM_MEMORY_LRU,
    GSIM_MEMORY_PROACTIVE,
    GSIM_MEMORY_LANES, /* resident but for what jobs of a lane use in turn; the policy sees that it fits */
    GSIM_MEMORY_OVERFLOW, /* resident up to each job's cap; what it touches beyond is on the host */
    GSIM_MEMORY_COUNT
};

/* A lane's quantum by the driver's names for it; how long they are is the device's business. */
#define GSIM_QUANTUM_DEFAULT INT64_C(0)
#define GSIM_QUANTUM_SHORT INT64_C(-1)
#define GSIM_QUANTUM_LONG INT64_C(-2)

/* Whose turn it is in a lane with time slices. */
enum gsim_turns_rule {
    GSIM_TURNS_USED = 0, /* who has nothing to run hands its turn on */
    GSIM_TURNS_EQUAL, /* everybody on the lane has one of each round, used or not */
    GSIM_TURNS_FIXED, /* the same, and as many pass unused as there could be others */
};

/* A part of the SMs with a discipline of its own. */
struct gsim_lane {
    enum gsim_discipline discipline;
    uint16_t first_sm, n_sms; /* a range; n_sms 0: no range */
    uint32_t cap_ppm; /* of the SMs; a cap, not a reservation */
    int64_t quantum_ns; /* of its time slices, or GSIM_QUANTUM_... */
    enum gsim_turns_rule turns;
    uint16_t most_vgpus; /* that the device could have; 0: its contexts are no vGPUs */
    /* By priority: how who runs is halted when somebody more urgent is ready. */
    enum gsim_stop stop;
    int64_t in_flight; /* kernels that are launched ahead, with stop = kernel or flush */
    int64_t pieces; /* that kernels are cut into, with stop = kernel */
    int64_t bound_ns; /* of stop = cheapest */
    int64_t idle_release_ns; /* how long an idle context keeps the lane from the others */
    bool is_fair; /* boundary: who had the least weighted time goes first, then by priority */
    bool ends_at_boundary; /* a turn ends at the first end of an iteration past its quantum */
    bool caps_launches; /* entries may cap launches, so kernels count */
};

/* A job's place in an arrangement. */
struct gsim_entry {
    gsim_slot job;
    uint16_t lane;
    int64_t quantum_ns; /* from when it is placed on; 0: the lane's rule */
    int32_t priority;
    int64_t weight; /* in fair lanes: of its time, which counts from the last such entry on */
    int64_t mem_cap_bytes; /* memory that overflows, in lanes with time slices; 0: none */
    bool memory_yields; /* from when it joins its pages go first; not when proactive */
    /* A kernel is launched while no more thread blocks than this were launched in the period;
     * where the trace does not say how many a kernel has, while no more kernels were. */
    int64_t launch_cap;
    int64_t launch_refill_ns; /* the period; 0: launches are not capped */
    /* Above 0: in place of launch_cap, as many as have this part of the time, in a period that is
     * longer where these would be less than one. */
    uint32_t launch_share_ppm;
};

struct gsim_arrangement {
    const struct gsim_lane *lanes; /* at least one */
    uint16_t n_lanes;
    const struct gsim_entry *entries; /* jobs placed without an entry join lane 0 */
    uint32_t n_entries;
    enum gsim_memory memory;
    bool coscheduled; /* over several units: they switch together */
    bool is_gang_barrier; /* members wait for each other at iteration ends */
    bool pipeline; /* evict and populate at once */
    bool early_start;
    bool evicts_lru; /* GSIM_MEMORY_PROACTIVE: else what is used again last goes out */
    bool predict_by_template; /* else by allocation granularity */
    int64_t missed_ppm, spare_ppm; /* of the working set: not predicted, or predicted in vain */
    uint16_t max_clients; /* 0: as many as there may be */
    bool is_served; /* clients of one server of MPS, of which the device has a limit */
};

/* What an action would cost on an idle machine. */
struct gsim_quote {
    int64_t stop_ns; /* until it is off the SMs */
    int64_t save_ns; /* from then until its units are clear */
    int64_t resume_ns; /* to be running again on the units named */
    int64_t lost_ns; /* service that has to be done again */
    int64_t bytes_out;
    int64_t bytes_in;
    bool is_possible; /* false: this model cannot do it, or a size it needs is unknown */
    const char *missing; /* the trace column it would need, or NULL */
};

/* What sharing has cost a job so far. */
struct gsim_costs {
    int64_t bytes_in, bytes_out;
    int64_t faults;
    int64_t stall_ns; /* time on the GPU waiting for pages, or for memory on the host */
};

/* Per-job counters, from which policies derive rates themselves. */
struct gsim_counters {
    int64_t work_ns; /* service done */
    int64_t kernels; /* -1 where the trace does not say */
    int64_t blocks;
    int64_t iterations;
    int64_t last_iteration_ns;
    int64_t busy_ns; /* time with kernels on the device */
    /* Time that what was done took: of an iteration from its launch to the next one's, of a request
     * without waiting for the next one. Where a job takes no turns with others, its service. */
    int64_t taken_ns;
    int64_t gpu_time_ns; /* attained service times gang size */
    struct gsim_costs costs;
};

#endif
