/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that the files of this floor share: the jobs and GPUs of the whole cluster, and the one
 * queue of their next events. No file outside of the floor includes it.
 *   machine.c       the device, the progress and the next event of each job
 *   model.c         starting, serving events, the model's interface
 *   stopping.c      a job leaves its GPUs, and what that costs
 *   disciplines.c   what an arrangement makes of a GPU
 *   speed.c         how fast a job runs where it is
 *   fewest_nodes.c  on how few nodes GPUs of one type lie
 *   boundaries.c    where a job can be stopped
 *   processor_sharing.c  ideal processor sharing
 *   interleaving.c  jobs that interleave the stages of their iterations
 *   pairs.c         two jobs on the same GPUs, at speeds of a table
 *   shared_gpus.c   GPUs with an arbiter, on which contexts take turns
 *   arbiters.c      the arbiters themselves, made from the profiles
 *   shared_job.c    a job on such a GPU
 *   process.c       the context that a row of the trace describes
 *   gang_paging.c   jobs on several GPUs that page
 *   next_report.c   when each GPU has something to report
 *   counters.c      the work and the costs of a job, for policies
 *   link_shares.c   when the shares of links that paging GPUs and copies leave each other change
 *   link_parts.c    these shares
 *   job_copies.c    memory on its way to and from jobs' units
 *   host_driver.c   processes that start and end at once on one host
 *   meetings.c      gangs over nodes that share one
 *   instances.c     GPUs that are cut into parts (MIG)
 *   claims.c        the claims of a result about how far it can be trusted */
#ifndef GSIM_MODELS_JOBS_MACHINE_H
#define GSIM_MODELS_JOBS_MACHINE_H

#include "models/jobs/link_shares_state.h"
#include "models/hardware/profile.h"
#include "models/links/transfers.h"
#include "models/jobs/shared_state.h"
#include "sim/api/model.h"
#include "sim/api/goodput.h"
#include "sim/base/eventq.h"
#include "sim/base/hints.h"

enum phase { IDLE = 0, LOADING, RUNNING, STOPPING, SAVING, ENDING };

/* The kinds of a job's next event. */
enum ahead { NOTHING = 0, ENDS, STOPS, CLEARS, RUNS, IS_WATCHED, NEXT_PHASE, PASSES };

/* Fields that most jobs use come first. */
struct gsim_machine_job {
    gsim_work need; /* total work */
    /* The bits of a table's speed, and of the work done, below 2^-32. */
    uint32_t rate_low, done_low;
    uint32_t kind; /* in the table of speeds; GSIM_NO_KIND: it runs by its own columns */
    uint8_t phase, ahead, stop, keep;
    bool is_carried; /* its memory is under way */
    bool waits_for_other; /* in a pair, until the other job is as far (models/jobs/pairs.c) */
    bool is_turning; /* has a context in a lane of its GPU */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    uint32_t sharing_gpu; /* UINT32_MAX: not sharing */
    uint32_t next_sharer; /* in the ring of an arranged GPU's sharers, by slot */
    int64_t bytes_in, bytes_out;
    gsim_work stored; /* the work in the checkpoint of its last stop, on storage */
    uint32_t lost_units; /* that it had when a node failed, until it runs again; else 0 */
    const struct gsim_phases *phases; /* NULL: the job has one speed wherever it is */
    uint32_t at_phase;
    struct gsim_batch batch; /* that a policy has set; local 0: none */
    bool tells_epochs; /* GSIM_WATCH_EPOCHS */
    bool is_met; /* it is a gang that shares a node with another one over several nodes */
    bool is_in_driver; /* its process waits for the driver of its host */
    bool has_process; /* on its GPUs, where these are counted */
    uint8_t after_driver; /* enum ahead: what comes after_ns after that */
    int64_t ending_ns; /* from its last work until its process had ended */
    /* Fields above are zeroed for each job; fields below are written before they are read. */
    gsim_work stop_at; /* while stopping: the boundary */
    gsim_work came_at; /* the work that was done when it last came to its GPUs */
    int64_t clear_ns; /* while saving: when that ends, once it is known; while ending: since when */
    int64_t after_ns; /* while its memory is carried, or in the driver: the time that follows */
    int64_t process_ns; /* of that time, the part in which its process starts, or ends */
    gsim_work passes_at; /* in the driver: the driver's work by which its part is done */
    uint32_t driver, next_in_driver; /* in the driver: which, and the next process in it, by slot */
    /* while its memory is carried: since when, and the bytes of each GPU */
    int64_t carried_since_ns, carried_bytes;
    int64_t iteration_ns, kernel_ns; /* 0: unknown */
    bool has_given_kernel; /* kernel_ns is no part of iteration_ns */
};

struct gsim_machine_gpu {
    bool is_shared; /* ideal processor sharing, or: */
    bool is_interleaved; /* jobs interleave their stages */
    bool takes_turns; /* its contexts take turns */
    bool is_spatial; /* lanes run side by side, at rates that depend on the running jobs */
    uint16_t n_lanes; /* lanes of the arrangement */
    uint8_t memory; /* enum gsim_memory: the manager of its memory */
    uint8_t parts; /* parts of its jobs that decide anything (models/jobs/process.h) */
    bool is_cut; /* the GPU is cut into instances */
    int64_t cut_until_ns; /* no job runs on it before */
    uint32_t n_sharers;
    uint32_t first_sharer;
};

/* The gangs on several nodes. */
struct gsim_meetings {
    bool is_open; /* some device says that meeting costs something */
    struct gsim_meeting *gang;
    uint32_t n_gangs, *gangs_of_node;
};

/* The jobs that share a GPU in a pair; GSIM_NO_SLOT: none. */
struct gsim_machine_pair {
    gsim_slot slot[2];
    bool is_arranged;
};

struct gsim_model {
    struct gsim_model_setup setup;
    struct gsim_eventq queue;
    struct gsim_machine_job *jobs;
    struct gsim_progress *progress;
    struct gsim_machine_gpu *gpus;
    uint32_t capacity;
    bool has_shared;
    bool has_equal_sharing, has_interleaved; /* ideal processor sharing; jobs that interleave */
    struct gsim_machine_pair *pairs; /* by GPU; NULL: no GPU was ever shared so */
    bool may_take_turns; /* some GPU or job is one of shared_gpus.c */
    bool has_cut, has_recut; /* a GPU was cut into instances, and again */
    bool is_charged[GSIM_STOP_COUNT][GSIM_KEEP_COUNT]; /* stops that took time */
    bool (*is_asked)[GSIM_KEEP_COUNT]; /* by stop: a policy was quoted a cost */
    bool has_loaded;
    bool takes_to_start; /* a job that has nothing to go on from does not compute at once */
    bool takes_to_end; /* a process is not gone with its last iteration */
    struct gsim_host_driver *drivers; /* by node; NULL: processes do not wait for drivers */
    uint32_t *processes; /* by GPU: processes on it; NULL: it makes no difference */
    bool has_speeds; /* some profile or application makes jobs faster or slower */
    bool has_shares; /* some job asks for a part of a GPU */
    struct gsim_speed_found *found; /* what the table of speeds said last, by question (speed.c) */
    uint32_t *rates_device; /* by type: its place in the table of speeds; NULL: no table */
    uint32_t *goodput_device; /* by type: its place in the table of goodput; NULL: no table */
    struct gsim_nodes_seen *nodes_seen; /* by policies that asked for speeds */
    bool is_unrated; /* some job ran where the table has no row of its model */
    bool is_beyond; /* or has none as wide as the gang that the job asks for */
    bool has_key[GSIM_KEY_COUNT]; /* keys from which some job's speed was computed */
    bool is_out_of_memory; /* in a call that cannot return it; advance does */
    struct gsim_shared shared;
    struct gsim_transfers transfers;
    struct gsim_link_shares link_shares;
    struct gsim_meetings meetings;
};

static inline const struct gsim_job *gsim_machine_info(const struct gsim_model *model,
                                                       gsim_slot slot) {
    return &(*model->setup.jobs)[slot];
}
/* The number of GPUs that hold the job's memory; a pool does not name them. */
static inline int64_t gsim_machine_held(const struct gsim_job *about) {
    return about->n_units ? about->n_units : about->gpus;
}
static inline bool gsim_machine_is_sharing(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].sharing_gpu != UINT32_MAX;
}
/* The device of these units, which are of one type. */
static inline const struct gsim_profile *gsim_machine_profile(const struct gsim_model *model,
                                                              const struct gsim_unit *units,
                                                              uint32_t n_units) {
    uint16_t type = n_units ? model->setup.type_of_gpu[units[0].gpu] : 0;
    return model->setup.profiles[type];
}
static inline const struct gsim_profile *gsim_machine_profile_at(const struct gsim_model *model,
                                                                 uint32_t gpu) {
    return gsim_machine_profile(model, &(struct gsim_unit){.gpu = gpu}, 1);
}
static inline const struct gsim_profile *gsim_machine_profile_of(const struct gsim_model *model,
                                                                 gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    return gsim_machine_profile(model, about->units, about->n_units);
}
static inline int64_t gsim_machine_mem_bytes(const struct gsim_model *model, gsim_slot slot) {
    return gsim_trace_get(model->setup.trace, GSIM_COL_MEM_BYTES,
                          gsim_machine_info(model, slot)->index);
}
static inline bool gsim_machine_is_open_loop(const struct gsim_model *model, gsim_slot slot) {
    return gsim_trace_get(model->setup.trace, GSIM_COL_REQUESTS,
                          gsim_machine_info(model, slot)->index) > 0;
}
/* Whether the job takes turns where it is placed. */
static inline bool gsim_machine_takes_turns(const struct gsim_model *model, gsim_slot slot) {
    const struct gsim_job *about = gsim_machine_info(model, slot);
    if (gsim_mostly(!model->may_take_turns || about->n_units == 0))
        return false;
    const struct gsim_machine_gpu *gpu = &model->gpus[about->units[0].gpu];
    return (about->n_units == 1 && gpu->takes_turns) ||
           gsim_shared_pages((enum gsim_memory)gpu->memory) ||
           gsim_machine_is_open_loop(model, slot);
}

/* Whether the job learns by a table of goodput: its phases are its epochs. */
static inline bool gsim_machine_learns(const struct gsim_machine_job *job) {
    return job->phases && !job->phases->phase;
}

/* The work at the end of the phase that a job with phases is in. */
static inline gsim_work gsim_machine_phase_end(const struct gsim_machine_job *job) {
    return gsim_work_of_ns(job->phases->end_ns[job->at_phase]);
}

/* In a phase by a table of speeds a job runs by the row of that phase. */
static inline void gsim_machine_take_kind(struct gsim_machine_job *job) {
    if (job->phases && job->phases->phase)
        job->kind = job->phases->phase[job->at_phase].kind;
}
/* Finds the phase that the job's work has reached. */
void gsim_machine_find_phase(struct gsim_model *model, gsim_slot slot);

/* Sets the next event of a job, which has one at most. */
void gsim_machine_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                         int64_t time_ns);
void gsim_machine_expect_nothing(struct gsim_model *model, gsim_slot slot);
/* By the table of speeds a job in phases may not be able to run the one under way where it is: it
 * has nothing ahead until its policy takes it elsewhere, and stops at once. */
bool gsim_machine_stands_still(const struct gsim_model *model, gsim_slot slot);
/* Sets the next event by the job's progress and watches. */
void gsim_machine_expect_progress(struct gsim_model *model, gsim_slot slot);
/* Books the work done until now, and goes on at another rate. */
void gsim_machine_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                           int64_t now_ns);
/* And sets the next event by that. */
void gsim_machine_run_at(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                         int64_t now_ns);

#endif
