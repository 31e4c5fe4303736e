/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that are contexts in the rotation of their GPU: on GPUs arranged to take turns, on GPUs whose
 * memory is managed, and open-loop jobs wherever they run. Each such GPU has an arbiter. A gang on
 * managed GPUs is one context, on its first, with the memory of the others (models/memory/gang_memory.h). */
#ifndef GSIM_MODELS_JOBS_SHARED_GPUS_H
#define GSIM_MODELS_JOBS_SHARED_GPUS_H

#include "models/gpu/arbiter.h"
#include "models/jobs/process.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"

/* What a gang has left on a GPU that is not its first. */
struct gsim_gang_part_left {
    uint32_t gpu;
    struct gsim_tenant tenant;
};

struct gsim_shared_job {
    struct gsim_process process;
    struct gsim_context left; /* while it is off its GPU: where it was */
    int64_t left_ns; /* since when */
    uint64_t rate_q32; /* at which its GPU runs it alone */
    gsim_work left_done; /* the service done by then */
    struct gsim_parked parked; /* its memory, where it stays while the job is paused */
    struct gsim_gang_part_left *parts_left; /* the same, of a gang */
    uint16_t n_parts_left, parts_capacity, n_gpus;
    bool is_described, has_left, is_parked;
    bool has_worked; /* its iterations are over: what is left needs no GPU */
    uint16_t member;
    uint32_t gpu;
    struct gsim_entry how; /* its last entry in an arrangement */
    struct gsim_memory_use before, sum; /* by contexts that left; in all */
    int64_t taken_ns; /* as its context's */
    uint32_t log; /* of an open-loop job: its place among them */
};

struct gsim_shared {
    struct gsim_arbiter **of_gpu;
    struct gsim_eventq ahead; /* GPUs with somebody on them, but for the close ones */
    bool *
        is_due; /* by GPU: reports are due then; else until then, and it included, there are none */
    uint32_t *active; /* GPUs that have an arbiter */
    uint32_t n_active;
    uint32_t *close; /* GPUs that are brought along at every instant (gsim_arbiter_is_close) */
    uint32_t n_close;
    bool *is_close; /* by GPU */
    uint32_t
        *taken_by; /* by GPU: 1 + the one whose arbiter has its memory for a gang; 0: its own */
    struct gsim_shared_job *by_slot;
    uint32_t capacity;
    struct gsim_request_log *logs; /* of open-loop jobs, in the order in which they started */
    uint32_t n_logs, logs_capacity;
    bool has_key[GSIM_KEY_COUNT]; /* constants that rotations were computed from */
    uint16_t most_members; /* of one rotation */
    bool has_halted; /* a lane by priority was arranged */
    bool has_vgpus;
    uint16_t most_beside; /* contexts of one GPU that ran beside each other */
    bool has_managed[GSIM_MEMORY_COUNT]; /* in this way */
    bool has_overflown; /* somebody's memory did */
};

/* turner.c */
/* false: no memory. */
bool gsim_shared_job_reserve(struct gsim_model *model, gsim_slot slot);
bool gsim_shared_job_is_open_loop(const struct gsim_model *model, gsim_slot slot);
/* Its requests arrive from now on. NULL: no memory. */
struct gsim_shared_job *gsim_shared_job_describe(struct gsim_model *model, gsim_slot slot,
                                                 int64_t now_ns);
/* Of an iteration of its context, by the cap that it has. */
struct gsim_overflow gsim_shared_job_overflow(struct gsim_model *model, gsim_slot slot,
                                              uint32_t gpu);
/* The lane that its instance is, or that its entry names; without either the first one. */
uint16_t gsim_shared_job_entered(const struct gsim_model *model, gsim_slot slot, uint32_t gpu);
/* As it joins the arbiter of this GPU. What may be halted runs as it was built for that: in pieces,
 * or with checkpoints. */
struct gsim_member gsim_shared_job_member(struct gsim_model *model, gsim_slot slot, uint32_t gpu);

/* Whether this job, placed where it is, takes turns. */
bool gsim_shared_takes(const struct gsim_model *model, gsim_slot slot);
void gsim_shared_join(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* keeps_memory: others may push it out of the GPU while the job is away. */
void gsim_shared_leave(struct gsim_model *model, gsim_slot slot, bool keeps_memory, int64_t now_ns);
/* It will not come back to what it has kept, if anything. */
void gsim_shared_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* true: it is at such a boundary now; else its STOPS follows. */
bool gsim_shared_exit(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                      int64_t now_ns);
/* Only its host still works, so that it can stop at any time. */
bool gsim_shared_has_worked(const struct gsim_model *model, gsim_slot slot);
/* As the job's threshold and boundary watch say. */
void gsim_shared_watch(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* A job has lost what it had done, but not what moving its memory has taken; and it comes anew. */
void gsim_shared_lose(struct gsim_model *model, gsim_slot slot);
void gsim_shared_inherit(struct gsim_model *model, gsim_slot slot, gsim_slot failed);
/* A slot is given to another job. */
void gsim_shared_forget(struct gsim_model *model, gsim_slot slot);
/* Whether it may have taken turns. */
bool gsim_shared_knows_of(const struct gsim_model *model, gsim_slot slot);
static inline bool gsim_shared_knows(enum gsim_discipline discipline) {
    return discipline == GSIM_DISCIPLINE_RR || discipline == GSIM_DISCIPLINE_PRIORITY ||
           discipline == GSIM_DISCIPLINE_BOUNDARY || discipline == GSIM_DISCIPLINE_PADDING;
}
/* NULL when devices can have these lanes, else why not. */
const char *gsim_shared_refuse(const struct gsim_model *model,
                               const struct gsim_arrangement *arrangement);
/* This GPU is arranged to take turns. false: no memory. */
bool gsim_shared_arrange(struct gsim_model *model, uint32_t gpu,
                         const struct gsim_arrangement *arrangement, int64_t now_ns);

/* This GPU has jobs by reservation, and its memory is managed. false: no memory. */
bool gsim_shared_manage(struct gsim_model *model, uint32_t gpu,
                        const struct gsim_arrangement *arrangement);
/* Whether it moves in and out by itself. */
static inline bool gsim_shared_pages(enum gsim_memory memory) {
    return memory != GSIM_MEMORY_RESIDENT && memory != GSIM_MEMORY_LANES &&
           memory != GSIM_MEMORY_OVERFLOW;
}

/* This GPU is cut into instances, each a lane of its own that neighbours do not touch. false: no
 * memory. */
bool gsim_shared_cut(struct gsim_model *model, uint32_t gpu, const struct gsim_space *instances,
                     uint16_t n, int64_t now_ns);
/* This GPU is arranged otherwise, and nobody is on it. */
void gsim_shared_disband(struct gsim_model *model, uint32_t gpu, int64_t now_ns);

int64_t gsim_shared_next_ns(struct gsim_model *model, int64_t horizon_ns);
/* Brings the rotations that have something to report, and the progress of their jobs, to now_ns; what
 * is to be reported becomes the next event of its job. The others stay behind until they are
 * asked. */
void gsim_shared_settle(struct gsim_model *model, int64_t now_ns);
/* Brings the GPU of a job that takes turns, and the progress of all on it, to now_ns. */
void gsim_shared_tell(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* outlook.c */
bool gsim_next_report_occupied(const struct gsim_shared *shared, uint32_t gpu);
/* Something from outside happened to this GPU: what was foreseen of it does not hold. */
void gsim_next_report_anew(struct gsim_shared *shared, uint32_t gpu, int64_t now_ns);

/* turns.c and gangs.c */
struct gsim_arbiter *gsim_shared_arbiter(struct gsim_model *model,
                                         uint32_t gpu); /* NULL: no memory */
/* The job is about to join the arbiter of its first GPU: takes in the others, if it is a gang whose
 * memory is managed and has them to itself. false: no memory. */
bool gsim_gangs_gather(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* It has left, and parked its memory or not. */
void gsim_gangs_scatter(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Frees what is parked, here or on a GPU that another gang has taken in. */
void gsim_gangs_free(struct gsim_model *model, struct gsim_tenant *parked, uint32_t gpu,
                     int64_t now_ns);
/* What it has parked besides its first GPU. */
void gsim_gangs_drop(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* What moving memory has done for a job. */
struct gsim_memory_use gsim_shared_memory_use(const struct gsim_model *model, gsim_slot slot);
/* GPU time of a request of an open-loop job; 0: it has not been on a GPU. */
int64_t gsim_shared_request_ns(const struct gsim_model *model, gsim_slot slot);
/* Time that a job's iterations took (models/gpu/context.h); < 0: it takes no turns. */
int64_t gsim_shared_taken_ns(const struct gsim_model *model, gsim_slot slot);
void gsim_shared_stats(const struct gsim_shared *shared, struct gsim_model_stats *out);

#endif
