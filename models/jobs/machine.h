/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state that the files of this floor share: the jobs and GPUs of the whole cluster, and the one
 * queue of their next events. No file outside of the floor includes it.
 *   machine.c       the device, the progress and the next event of each job
 *   model.c         starting, stopping, the model's interface
 *   speed.c         how fast a job runs where it is
 *   boundaries.c    where a job can be stopped
 *   processor_sharing.c  ideal processor sharing
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
 *   instances.c     GPUs that are cut into parts (MIG)
 *   claims.c        the claims of a result about how far it can be trusted */
#ifndef GSIM_MODELS_JOBS_MACHINE_H
#define GSIM_MODELS_JOBS_MACHINE_H

#include "models/jobs/link_shares.h"
#include "models/hardware/profile.h"
#include "models/jobs/suspension.h"
#include "models/links/transfers.h"
#include "models/jobs/shared_gpus.h"
#include "sim/api/model.h"
#include "sim/api/rates.h"
#include "sim/base/eventq.h"

enum phase { IDLE = 0, LOADING, RUNNING, STOPPING, SAVING };

/* The kinds of a job's next event. */
enum ahead { NOTHING = 0, ENDS, STOPS, CLEARS, RUNS, IS_WATCHED };

/* Fields that most jobs use come first. */
struct gsim_machine_job {
    gsim_work need; /* total work */
    /* The bits of a table's speed, and of the work done, below 2^-32. */
    uint32_t rate_low, done_low;
    uint32_t kind; /* in the table of speeds; GSIM_NO_KIND: it runs by its own columns */
    uint8_t phase, ahead, stop, keep;
    bool is_carried; /* its memory is under way */
    bool is_turning; /* has a context in a lane of its GPU */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    uint32_t sharing_gpu; /* UINT32_MAX: not sharing */
    uint32_t next_sharer; /* in the ring of an arranged GPU's sharers, by slot */
    int64_t bytes_in, bytes_out;
    /* Fields above are zeroed for each job; fields below are written before they are read. */
    gsim_work stop_at; /* while stopping: the boundary */
    int64_t clear_ns; /* while saving: when saving ends, once that is known */
    int64_t after_ns; /* while its memory is carried: the time that follows its arrival */
    /* while its memory is carried: since when, and the bytes of each GPU */
    int64_t carried_since_ns, carried_bytes;
    int64_t iteration_ns, kernel_ns; /* 0: unknown */
};

struct gsim_machine_gpu {
    bool is_shared; /* ideal processor sharing */
    bool is_rotating; /* contexts take turns */
    bool is_spatial; /* lanes run side by side, at rates that depend on the running jobs */
    uint16_t n_lanes; /* lanes of the arrangement */
    uint8_t memory; /* enum gsim_memory: the manager of its memory */
    uint8_t parts; /* parts of its jobs that decide anything (models/jobs/process.h) */
    bool is_cut; /* the GPU is cut into instances */
    int64_t cut_until_ns; /* no job runs on it before */
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
    bool has_turners; /* some GPUs or jobs are the concern of shared_gpus.c */
    bool has_cut, has_recut; /* a GPU was cut into instances, and again */
    bool is_charged[GSIM_STOP_COUNT][GSIM_KEEP_COUNT]; /* stops that took time */
    bool (*is_asked)[GSIM_KEEP_COUNT]; /* by stop: a policy was quoted a cost */
    bool has_loaded;
    bool has_paces; /* some profile or application makes jobs faster or slower */
    bool has_shares; /* some job asks for a part of a GPU */
    uint32_t *rates_device; /* by type: its place in the table of speeds; NULL: no table */
    bool is_unrated; /* some job ran where the table has no row of its model */
    bool has_key[GSIM_KEY_COUNT]; /* keys from which some job's speed was computed */
    bool is_out_of_memory; /* in a call that cannot return it; advance does */
    struct gsim_shared shared;
    struct gsim_transfers transfers;
    struct gsim_link_shares link_shares;
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
const struct gsim_profile *gsim_machine_profile(const struct gsim_model *model,
                                                const struct gsim_unit *units, uint32_t n_units);
static inline const struct gsim_profile *gsim_machine_profile_at(const struct gsim_model *model,
                                                                 uint32_t gpu) {
    return gsim_machine_profile(model, &(struct gsim_unit){.gpu = gpu}, 1);
}
const struct gsim_profile *gsim_machine_profile_of(const struct gsim_model *model, gsim_slot slot);
int64_t gsim_machine_mem_bytes(const struct gsim_model *model, gsim_slot slot);

/* Sets the next event of a job, which has one at most. */
void gsim_machine_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                         int64_t time_ns);
void gsim_machine_expect_nothing(struct gsim_model *model, gsim_slot slot);
/* Sets the next event by the job's progress and watches. */
void gsim_machine_expect_progress(struct gsim_model *model, gsim_slot slot);
/* Books the work done until now, and goes on at another rate. */
void gsim_machine_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                           int64_t now_ns);

/* speed.c */
enum { GSIM_PACE_ONE_MILLI = 1000 };
enum gsim_status gsim_speed_init(struct gsim_model *model, struct gsim_log *log);
/* A speed relative to where the job's work is counted, as Q32.32, and its bits below. */
struct gsim_speed {
    uint64_t rate_q32;
    uint32_t low;
};
/* How fast the job runs on its units when it is alone there. */
struct gsim_speed gsim_speed_of(struct gsim_model *model, gsim_slot slot);
uint64_t gsim_speed_q32(struct gsim_model *model, gsim_slot slot);
/* How fast it would run there. */
struct gsim_rate gsim_speed_there(struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_where *where);

/* boundaries.c */
/* Fills in the lengths of iterations and kernels by the columns of the job's row. */
void gsim_boundaries_fill(struct gsim_model *model, gsim_slot slot);
/* The work between two boundaries; 0: the job can stop anywhere. */
int64_t gsim_boundaries_ns(const struct gsim_model *model, gsim_slot slot, bool is_iteration);
/* Whether such a stop waits for an iteration of this job, and not for a kernel. */
bool gsim_boundaries_are_iterations(const struct gsim_model *model, gsim_slot slot,
                                    enum gsim_stop stop);
/* The next boundary strictly after the work done, as work. */
gsim_work gsim_boundaries_next(const struct gsim_machine_job *job, gsim_work done,
                               int64_t period_ns);
/* The work at which a job stops that is told now to stop. */
gsim_work gsim_boundaries_stop(const struct gsim_model *model, gsim_slot slot, gsim_work done,
                               enum gsim_stop stop);
/* Notes that a stop waits for a boundary, so that its length has decided the result. */
void gsim_boundaries_note(struct gsim_model *model, gsim_slot slot, bool is_iteration);

/* processor_sharing.c */
void gsim_processor_sharing_join(struct gsim_model *model, gsim_slot slot, uint32_t gpu,
                                 int64_t now_ns);
void gsim_processor_sharing_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* counters.c: two operations of models */
struct gsim_costs gsim_counters_costs(const struct gsim_model *model, gsim_slot slot);
void gsim_counters_of(const struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                      struct gsim_counters *out);

/* job_copies.c */
/* A job's memory on its way to its units, or from them. */
struct gsim_loading {
    struct gsim_cargo cargo;
    int64_t after_ns; /* time after the copies */
};

/* Whether a waiting job's memory lies on a node, from which it would take time to cross to another
 * node. */
bool gsim_job_copies_is_bound(const struct gsim_model *model, gsim_slot slot);
/* The copies that an admitted job needs first; counts its bytes. */
struct gsim_loading gsim_job_copies_in(struct gsim_model *model, gsim_slot slot,
                                       enum gsim_state from);
/* The copies that a suspended job would need to come back to these units, from where it is or
 * was. */
struct gsim_loading gsim_job_copies_back(const struct gsim_model *model, gsim_slot slot,
                                         const struct gsim_suspension_cost *cost,
                                         const struct gsim_unit *units, uint32_t n_units);
/* The time of the copies alone, on idle links. */
int64_t gsim_job_copies_ns(const struct gsim_model *model, const struct gsim_loading *loading,
                           const struct gsim_unit *units, uint32_t n_units);
/* Begins a copy that takes takes_ns on idle links. job.is_carried says whether it is on its way:
 * not a copy that takes no time, nor a copy of a pool, which has no links. */
void gsim_job_copies_begin(struct gsim_model *model, gsim_slot slot,
                           const struct gsim_loading *loading, int64_t takes_ns, int64_t now_ns);
/* Jobs with memory that has arrived by now_ns go on with the time that follows. Returns false if
 * there is no memory left. */
bool gsim_job_copies_serve(struct gsim_model *model, int64_t now_ns);

/* link_shares.c */
void gsim_link_shares_init(struct gsim_model *model);
/* Some GPU may page from now on. Returns false if there is no memory left. */
bool gsim_link_shares_open(struct gsim_model *model);
/* Contexts or their memory come to this GPU, or leave it. */
void gsim_link_shares_disturb(struct gsim_model *model, uint32_t gpu, int64_t now_ns);
/* Contexts have come to this GPU, or left it: what it pages is counted anew. */
void gsim_link_shares_count(struct gsim_model *model, uint32_t gpu, int64_t now_ns);
/* Before time goes on: settles the disturbed hosts, and the rates of copies there. Returns when the
 * next window ends. */
int64_t gsim_link_shares_next_ns(struct gsim_model *model);
void gsim_link_shares_serve(struct gsim_model *model, int64_t now_ns);

/* link_parts.c */
/* Whether the GPU copies both ways at once. */
bool gsim_link_parts_is_at_once(const struct gsim_pager *pager);
/* The most that the GPU ever asks of one way, in bytes per second. */
int64_t gsim_link_parts_most(const struct gsim_model *model, uint32_t gpu, enum gsim_host_way way);
/* Finds the shares of a host's GPUs that page, by GPU. foresees: what they ask for changes with the
 * shares; what it was stays in `measured`. */
void gsim_link_parts_find(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          struct gsim_pager_shares *shares, bool foresees);
/* Sets the rates of a host's copies by what its GPUs page. */
void gsim_link_parts_tell(struct gsim_model *model, const struct gsim_link_shares_host *host,
                          int64_t now_ns);

/* instances.c: the two operations of models */
enum gsim_status gsim_instances_read(const struct gsim_model *model, uint32_t gpu,
                                     const char *layout, struct gsim_partition *out,
                                     struct gsim_log *log);
void gsim_instances_cut(struct gsim_model *model, uint32_t gpu, const char *layout, int64_t now_ns);
/* Time until the last of these GPUs is cut. */
int64_t gsim_instances_wait_ns(const struct gsim_model *model, const struct gsim_unit *units,
                               uint32_t n_units, int64_t now_ns);

/* claims.c */
const char *gsim_claims_outside_validated(const struct gsim_model *model);
const char *const *gsim_claims_assumed(const struct gsim_model *model);
const char *const *gsim_claims_given(const struct gsim_model *model);

#endif
