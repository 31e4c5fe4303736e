/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the jobs on a unit share it, said declaratively: lanes, a job's place in them, who moves memory; and
 * the instances that a GPU can be cut into. */
#ifndef GSIM_ARRANGEMENT_H
#define GSIM_ARRANGEMENT_H

#include "gsim/job.h"

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

/* A job's place in an arrangement. A running job stands as its newest entry says, and goes into the
 * lane that this names; but what it has from when it joined stays. */
struct gsim_entry {
    gsim_slot job;
    uint16_t lane;
    int64_t quantum_ns; /* from when it joins on; 0: the lane's rule */
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

#endif
