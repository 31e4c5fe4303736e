/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of this floor share: the jobs and GPUs of the whole cluster, and the one queue of what is
 * ahead of each job. No file outside of the floor includes it.
 *   machine.c       where jobs are, how far they have come, what is next of each
 *   model.c         starting, stopping, the model's interface
 *   speed.c         how fast a job runs where it is
 *   boundaries.c    where a job can be stopped
 *   processor_sharing.c  ideal processor sharing
 *   shared_gpus.c   GPUs with an arbiter, on which contexts take turns
 *   shared_job.c    one job there
 *   process.c       the context that a row of the trace describes
 *   gang_paging.c   jobs on several GPUs that page
 *   next_report.c   when which GPU has something to report
 *   counters.c      what a job has done, for policies
 *   link_shares.c   the parts of links and hosts that GPUs which page leave each other
 *   job_copies.c    memory on its way to and from jobs' units
 *   instances.c     GPUs that are cut into parts (MIG)
 *   claims.c        what a result says about how far it can be trusted */
#ifndef GSIM_MODELS_JOBS_MACHINE_H
#define GSIM_MODELS_JOBS_MACHINE_H

#include "models/jobs/link_shares.h"
#include "models/hardware/profile.h"
#include "models/jobs/suspension.h"
#include "models/links/transfers.h"
#include "models/jobs/shared_gpus.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"

enum phase { IDLE = 0, LOADING, RUNNING, STOPPING, SAVING };

/* What the next event of a job will be. */
enum ahead { NOTHING = 0, ENDS, STOPS, CLEARS, RUNS, IS_WATCHED };

/* What most jobs use comes first. */
struct gsim_machine_job {
    gsim_work need; /* total work */
    uint8_t phase, ahead, stop, keep;
    bool is_carried; /* its memory is under way */
    bool is_turning; /* has a context in the rotation of its GPU */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    uint32_t sharing_gpu; /* UINT32_MAX: not sharing */
    uint32_t next_sharer; /* in the ring of an arranged GPU's sharers, by slot */
    int64_t bytes_in, bytes_out;
    /* What stands above begins anew with each job, the rest is written before it is read. */
    gsim_work stop_at; /* while stopping: the boundary */
    int64_t clear_ns; /* while saving: when it is over, once that is known */
    int64_t after_ns; /* while its memory is carried: what is left to do when it is there */
    int64_t carried_since_ns, carried_bytes; /* the same: of each GPU */
    int64_t iteration_ns, kernel_ns; /* 0: unknown */
};

struct gsim_machine_gpu {
    bool is_shared; /* ideal processor sharing */
    bool is_rotating; /* contexts take turns */
    bool is_spatial; /* lanes run beside each other, at rates that depend on who runs */
    uint16_t n_lanes; /* as it is arranged */
    uint8_t memory; /* enum gsim_memory: who moves it */
    uint8_t parts; /* of its jobs, that decide anything (models/jobs/process.h) */
    bool is_cut; /* into instances */
    bool was_cut; /* once, in this run */
    int64_t cut_until_ns; /* nothing runs on it before */
    uint32_t n_sharers;
    uint32_t first_sharer;
};

struct gsim_model {
    struct gsim_model_setup setup;
    struct gsim_eventq queue;
    struct gsim_machine_job *jobs;
    struct gsim_progress *progress;
    struct gsim_machine_gpu *gpus;
    uint32_t capacity;
    bool has_shared;
    bool has_turners; /* there are GPUs or jobs that turns.c sees to */
    bool has_cut, has_recut; /* a GPU into instances, and again */
    bool is_charged[GSIM_STOP_COUNT][GSIM_KEEP_COUNT]; /* stops that cost something */
    bool (*is_asked)[GSIM_KEEP_COUNT]; /* by stop: a policy was told that it would */
    bool has_loaded;
    bool has_paces; /* some profile or application makes jobs faster or slower */
    bool has_shares; /* some job asks for a part of a GPU */
    bool has_key[GSIM_KEY_COUNT]; /* keys that some job's pace came from */
    bool is_out_of_memory; /* in a call that cannot say so; advance does */
    struct gsim_shared shared;
    struct gsim_traffic traffic;
    struct gsim_link_shares link_shares;
};

static inline const struct gsim_job *gsim_machine_info(const struct gsim_model *model,
                                                       gsim_slot slot) {
    return &(*model->setup.jobs)[slot];
}
/* GPUs that hold its memory; a pool does not name them. */
static inline int64_t gsim_machine_held(const struct gsim_job *about) {
    return about->n_units ? about->n_units : about->gpus;
}
static inline bool gsim_machine_is_sharing(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].sharing_gpu != UINT32_MAX;
}
const struct gsim_profile *gsim_machine_profile(const struct gsim_model *model,
                                                const struct gsim_unit *units, uint32_t n_units);
static inline const struct gsim_profile *gsim_machine_profile_at(const struct gsim_model *model,
                                                                 uint32_t gpu) {
    return gsim_machine_profile(model, &(struct gsim_unit){.gpu = gpu}, 1);
}
const struct gsim_profile *gsim_machine_profile_of(const struct gsim_model *model, gsim_slot slot);
int64_t gsim_machine_mem_bytes(const struct gsim_model *model, gsim_slot slot);

/* The next event of a job; one at most. */
void gsim_machine_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                         int64_t time_ns);
void gsim_machine_expect_nothing(struct gsim_model *model, gsim_slot slot);
/* The same, found from its progress and what it is watched for. */
void gsim_machine_expect_progress(struct gsim_model *model, gsim_slot slot);
/* Books what was done until now, and goes on at another rate. */
void gsim_machine_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                           int64_t now_ns);

/* pace.c */
enum { GSIM_PACE_ONE_MILLI = 1000 };
void gsim_speed_init(struct gsim_model *model);
/* How fast the job runs on its units, having them for itself. */
uint64_t gsim_speed_q32(struct gsim_model *model, gsim_slot slot);

/* boundaries.c */
/* As the columns of the job's row say. */
void gsim_boundaries_fill(struct gsim_model *model, gsim_slot slot);
/* Between two of them; 0: it can stop anywhere. */
int64_t gsim_boundaries_ns(const struct gsim_model *model, gsim_slot slot, bool is_iteration);
/* Whether such a stop waits for an iteration of this job, and not for a kernel. */
bool gsim_boundaries_are_iterations(const struct gsim_model *model, gsim_slot slot,
                                    enum gsim_stop stop);
/* The next one strictly after the work done, as work. */
gsim_work gsim_boundaries_next(const struct gsim_machine_job *job, gsim_work done,
                               int64_t period_ns);
/* The work at which a job stops that is told to now. */
gsim_work gsim_boundaries_stop(const struct gsim_model *model, gsim_slot slot, gsim_work done,
                               enum gsim_stop stop);
/* A stop waits for one, so that its length has decided something. */
void gsim_boundaries_note(struct gsim_model *model, gsim_slot slot, bool is_iteration);

/* sharing.c */
void gsim_processor_sharing_join(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                 int64_t now_ns);
void gsim_processor_sharing_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* counters.c: two operations of models */
struct gsim_costs gsim_counters_costs(const struct gsim_model *model, gsim_slot slot);
void gsim_counters_of(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                      struct gsim_counters *out);

/* carriage.c */
/* A job's memory on its way to its units, or from them. */
struct gsim_loading {
    struct gsim_cargo cargo;
    int64_t after_ns; /* besides the copies */
};

/* Whether what a waiting job has lies on a node, and would take time to cross to another one. */
bool gsim_job_copies_is_bound(const struct gsim_model *model, gsim_slot slot);
/* What an admitted job needs first; counts its bytes. */
struct gsim_loading gsim_job_copies_in(struct gsim_model *model, gsim_slot slot,
                                       enum gsim_state from);
/* What a suspended job would need to come back to these units, from where it is or was. */
struct gsim_loading gsim_job_copies_back(const struct gsim_model *model, gsim_slot slot,
                                         const struct gsim_suspend_cost *cost,
                                         const struct gsim_unit *units, uint32_t n_units);
/* The copies alone, on idle links. */
int64_t gsim_job_copies_ns(const struct gsim_model *model, const struct gsim_loading *loading,
                           const struct gsim_unit *units, uint32_t n_units);
/* Begins a copy that takes so long on idle links. job.is_carried says whether it is under way: a copy
 * that takes no time is not, nor one of a pool, which has no links. */
void gsim_job_copies_begin(struct gsim_model *model, gsim_slot slot,
                           const struct gsim_loading *loading, int64_t takes_ns, int64_t now_ns);
/* Jobs whose memory has arrived by now_ns go on with what is left to do. false: no memory. */
bool gsim_job_copies_serve(struct gsim_model *model, int64_t now_ns);

/* crowding.c */
bool gsim_link_shares_init(struct gsim_model *model); /* false: no memory */
/* Contexts or their memory come to this GPU, or leave it. */
void gsim_link_shares_disturb(struct gsim_model *model, uint32_t gpu, int64_t now_ns);
/* Before time goes on: sees to what was disturbed. When the next window ends. */
int64_t gsim_link_shares_next_ns(struct gsim_model *model);
void gsim_link_shares_serve(struct gsim_model *model, int64_t now_ns);

/* instances.c: the two operations of models */
enum gsim_status gsim_instances_read(const struct gsim_model *model, uint32_t gpu,
                                     const char *layout, struct gsim_partition *out,
                                     struct gsim_log *log);
void gsim_instances_cut(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns);
/* Until the last of these GPUs is cut. */
int64_t gsim_instances_wait_ns(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, int64_t now_ns);

/* facts.c */
const char *gsim_claims_outside_validated(const struct gsim_model *model);
const char *const *gsim_claims_assumed(const struct gsim_model *model);
const char *const *gsim_claims_given(const struct gsim_model *model);

#endif
