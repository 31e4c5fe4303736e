/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that are contexts in a lane of their GPU: on GPUs arranged to take turns, on GPUs with
 * managed memory, and open-loop jobs wherever they run. Each such GPU has an arbiter. A gang on
 * managed GPUs is one context, on its first GPU, with the memory of the others
 * (models/memory/gang_memory.h). */
#ifndef GSIM_MODELS_JOBS_SHARED_GPUS_H
#define GSIM_MODELS_JOBS_SHARED_GPUS_H

#include "models/gpu/arbiter.h"
#include "models/jobs/process.h"
#include "sim/api/model.h"
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
};

/* shared_job.c */
/* false: no memory. */
bool gsim_shared_job_reserve(struct gsim_model *model, gsim_slot slot);
bool gsim_shared_job_is_open_loop(const struct gsim_model *model, gsim_slot slot);
/* Describes the job by its row; its requests arrive from now on. NULL: no memory left. */
struct gsim_shared_job *gsim_shared_job_describe(struct gsim_model *model, gsim_slot slot,
                                                 int64_t now_ns);
/* The overflow of an iteration of the job's context, by its cap. */
struct gsim_overflow gsim_shared_job_overflow(struct gsim_model *model, gsim_slot slot,
                                              uint32_t gpu);
/* The member as which the job joins the arbiter of this GPU. A job that may be halted runs in the
 * form that its lane needs: in pieces, or with checkpoints. */
struct gsim_member gsim_shared_job_member(struct gsim_model *model, gsim_slot slot, uint32_t gpu);

/* Whether this job takes turns where it is placed. */
bool gsim_shared_takes(const struct gsim_model *model, gsim_slot slot);
void gsim_shared_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* keeps_memory: the memory stays, and other jobs may push it out of the GPU while the job is
 * away. */
void gsim_shared_leave(struct gsim_model *model, gsim_slot slot, bool keeps_memory, int64_t now_ns);
/* The job will not come back to its kept memory, if it has any. */
void gsim_shared_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Returns true if the job is at such a boundary now; else its STOPS follows. */
bool gsim_shared_exit(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                      int64_t now_ns);
/* Whether only the job's host still works, so that it can stop at any time. */
bool gsim_shared_has_worked(const struct gsim_model *model, gsim_slot slot);
/* Sets the watch of the job's member by its threshold and boundary watch. */
void gsim_shared_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* `lose`: the job has lost its work, but not its costs of moving memory. `inherit`: it comes anew
 * with these costs. */
void gsim_shared_lose(struct gsim_model *model, gsim_slot slot);
void gsim_shared_inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed);
/* The slot is given to another job. */
void gsim_shared_forget(struct gsim_model *model, gsim_slot slot);
/* Whether the job may have taken turns. */
bool gsim_shared_knows_of(const struct gsim_model *model, gsim_slot slot);
static inline bool gsim_shared_knows(enum gsim_discipline discipline) {
    return discipline == GSIM_DISCIPLINE_RR || discipline == GSIM_DISCIPLINE_PRIORITY ||
           discipline == GSIM_DISCIPLINE_BOUNDARY || discipline == GSIM_DISCIPLINE_PADDING;
}
/* NULL when devices can have these lanes, else the reason why not. */
const char *gsim_shared_refuse(const struct gsim_model *model,
                               const struct gsim_arrangement *arrangement);
/* Arranges this GPU to take turns. Returns false if there is no memory left. */
bool gsim_shared_arrange(struct gsim_model *model, uint32_t gpu,
                         const struct gsim_arrangement *arrangement, int64_t now_ns);

/* This GPU has jobs by reservation, and its memory is managed. Returns false if there is no memory
 * left. */
bool gsim_shared_manage(struct gsim_model *model, uint32_t gpu,
                        const struct gsim_arrangement *arrangement);
/* Whether such memory moves in and out by itself. */
static inline bool gsim_shared_pages(enum gsim_memory memory) {
    return memory != GSIM_MEMORY_RESIDENT && memory != GSIM_MEMORY_LANES &&
           memory != GSIM_MEMORY_OVERFLOW;
}

/* Cuts this GPU into instances, each a lane of its own that neighbours do not disturb. Returns
 * false if there is no memory left. */
bool gsim_shared_cut(struct gsim_model *model, uint32_t gpu, const struct gsim_space *instances,
                     uint16_t n, int64_t now_ns);
/* This GPU, which has no jobs, is arranged in another way. */
void gsim_shared_disband(struct gsim_model *model, uint32_t gpu, int64_t now_ns);

int64_t gsim_shared_next_ns(struct gsim_model *model, int64_t horizon_ns);
/* Brings the GPUs that have something to report, and the progress of their jobs, to now_ns; a
 * report becomes the next event of its job. The other GPUs stay behind until they are
 * asked. */
void gsim_shared_settle(struct gsim_model *model, int64_t now_ns);
/* Brings the GPU of a job that takes turns, and the progress of all jobs on it, to now_ns. */
void gsim_shared_tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* next_report.c */
bool gsim_next_report_occupied(const struct gsim_shared *shared, uint32_t gpu);
/* This GPU was changed from outside: its foreseen reports do not hold any more. */
void gsim_next_report_anew(struct gsim_shared *shared, uint32_t gpu, int64_t now_ns);

/* arbiters.c */
/* The arbiter of this GPU, made if there is none yet. NULL: no memory left. */
struct gsim_arbiter *gsim_arbiters_at(struct gsim_model *model, uint32_t gpu);
struct gsim_switch_costs gsim_arbiters_switch_costs(const struct gsim_profile *profile);
/* The length of a turn in a lane of this device. */
int64_t gsim_arbiters_quantum_ns(const struct gsim_lane *lane, const struct gsim_profile *profile);

/* gang_paging.c */
/* The job is about to join the arbiter of its first GPU: takes in the others, if the job is a gang
 * with managed memory that has them to itself. Returns false if there is no memory left. */
bool gsim_gang_paging_gather(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* The gang has left, and parked its memory or not. */
void gsim_gang_paging_scatter(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Frees parked memory, on this GPU or where another gang has taken it in. */
void gsim_gang_paging_free(struct gsim_model *model, struct gsim_tenant *parked, uint32_t gpu,
                           int64_t now_ns);
/* Frees the memory that the gang has parked on GPUs other than its first. */
void gsim_gang_paging_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* The memory that was moved for a job. */
struct gsim_memory_use gsim_shared_memory_use(const struct gsim_model *model, gsim_slot slot);
/* GPU time of a request of an open-loop job; 0: the job has not been on a GPU. */
int64_t gsim_shared_request_ns(const struct gsim_model *model, gsim_slot slot);
/* Time that a job's iterations took (models/gpu/context.h); < 0: the job takes no turns. */
int64_t gsim_shared_taken_ns(const struct gsim_model *model, gsim_slot slot);
void gsim_shared_stats(const struct gsim_shared *shared, struct gsim_model_stats *out);

#endif
