/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine keeps of jobs and GPUs where contexts take turns. */
#ifndef GSIM_MODELS_JOBS_SHARED_STATE_H
#define GSIM_MODELS_JOBS_SHARED_STATE_H

#include "models/gpu/arbiter.h"
#include "models/jobs/process.h"
#include "sim/base/eventq.h"

/* The memory that a gang has left on a GPU other than its first. */
struct gsim_gang_part_left {
    uint32_t gpu;
    struct gsim_tenant tenant;
};

struct gsim_shared_job {
    struct gsim_process process;
    struct gsim_context left; /* while the job is off its GPU: the context that it left */
    int64_t left_ns; /* since when the job is off its GPU */
    uint64_t rate_q32; /* the rate at which its GPU runs it alone */
    gsim_work left_done; /* the service done when it left */
    struct gsim_parked parked; /* its memory, which stays on the GPU while the job is paused */
    struct gsim_gang_part_left *parts_left; /* memory of a paused gang on its other GPUs */
    uint16_t n_parts_left, parts_capacity, n_gpus;
    bool is_described, has_left, is_parked;
    bool has_worked; /* its iterations are over: the rest needs no GPU */
    uint16_t member;
    uint32_t gpu;
    struct gsim_entry how; /* its last entry in an arrangement */
    struct gsim_memory_use before, sum; /* of its contexts that left; in all */
    int64_t taken_ns; /* time that its iterations took, as in its context */
    uint32_t log; /* of an open-loop job: its place among the logs */
};

/* GPUs that are looked ahead at together. The number is a choice: enough for the threads of a
 * machine, and few, since a look is in vain where a report of another GPU changes this one first.
 * The number of threads does not change it, so that looks do not depend on them. */
enum { GSIM_LOOKS = 32 };

struct gsim_look {
    struct gsim_arbiter *arbiter;
    uint32_t gpu;
    struct gsim_foresight sight;
};

struct gsim_shared {
    struct gsim_arbiter **of_gpu;
    struct gsim_eventq ahead; /* GPUs with jobs on them, except the close ones */
    /* by GPU: true if reports are due at its time in `ahead`, false if none are due up to that
     * time, that time included */
    bool *is_due;
    uint32_t *active; /* GPUs that have an arbiter */
    uint32_t n_active;
    uint32_t *close; /* GPUs that are settled at every instant (gsim_arbiter_is_close) */
    uint32_t n_close;
    bool *is_close; /* by GPU */
    /* by GPU: 1 + the GPU with the arbiter that has its memory, for a gang; 0: its own has it */
    uint32_t *taken_by;
    struct gsim_shared_job *by_slot;
    uint32_t capacity;
    /* requests of open-loop jobs, in the order in which the jobs started */
    struct gsim_request_log *logs;
    uint32_t n_logs, logs_capacity;
    bool has_key[GSIM_KEY_COUNT]; /* constants from which turns were computed */
    uint16_t most_members; /* most members of one lane */
    bool has_halted; /* a lane by priority was arranged */
    bool has_vgpus;
    uint16_t most_beside; /* most contexts of one GPU that ran side by side */
    bool has_managed[GSIM_MEMORY_COUNT]; /* memory was managed in this way */
    bool starts_early; /* turns may begin ahead of their memory */
    bool has_overflown; /* a job's memory has overflown */
    struct gsim_look look[GSIM_LOOKS];
    int64_t look_until_ns; /* of the looks under way */
    int64_t look_steps; /* of a GPU, in the mean of the last looks */
};

/* Whether contexts take turns under this discipline. */
static inline bool gsim_shared_knows(enum gsim_discipline discipline) {
    return discipline == GSIM_DISCIPLINE_RR || discipline == GSIM_DISCIPLINE_PRIORITY ||
           discipline == GSIM_DISCIPLINE_BOUNDARY || discipline == GSIM_DISCIPLINE_PADDING;
}
/* Whether memory under this manager moves in and out by itself. */
static inline bool gsim_shared_pages(enum gsim_memory memory) {
    return memory != GSIM_MEMORY_RESIDENT && memory != GSIM_MEMORY_LANES &&
           memory != GSIM_MEMORY_OVERFLOW;
}

#endif
