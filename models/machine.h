/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the device model share, and nobody else sees: the jobs and GPUs of the whole
 * cluster, and the one queue of what is ahead of each job.
 *   device.c   starting, stopping, the model's interface
 *   sharing.c  ideal processor sharing
 *   turns.c    rotations: contexts that take turns
 *   facts.c    what a result says about how far it can be trusted */
#ifndef GSIM_MODELS_MACHINE_H
#define GSIM_MODELS_MACHINE_H

#include "models/profile.h"
#include "models/turns.h"
#include "sim/api/model.h"
#include "sim/base/eventq.h"

enum phase { IDLE = 0, LOADING, RUNNING, STOPPING, SAVING };

/* What the next event of a job will be. */
enum ahead { NOTHING = 0, ENDS, STOPS, CLEARS, RUNS, IS_WATCHED };

struct gsim_machine_job {
    gsim_work need; /* total work */
    gsim_work stop_at; /* while stopping: the boundary */
    gsim_work kept; /* work that a discard falls back to */
    int64_t clear_ns; /* while saving: when it is over */
    int64_t iteration_ns, kernel_ns; /* 0: unknown */
    int64_t threshold_ns; /* GSIM_WATCH_ATTAINED, or -1 */
    int64_t bytes_in, bytes_out;
    uint32_t next_sharer; /* in the ring of an arranged GPU's sharers, by slot */
    uint32_t sharing_gpu; /* UINT32_MAX: not sharing */
    uint8_t phase, ahead, stop, keep, watch_kind;
    bool is_boundary_watched;
    bool is_turning; /* has a context in the rotation of its GPU */
};

struct gsim_machine_gpu {
    bool is_shared; /* ideal processor sharing */
    bool is_rotating; /* contexts take turns */
    int64_t quantum_ns; /* of the arrangement's lane; 0 or below: see gsim_lane */
    uint32_t n_sharers;
    uint32_t first_sharer;
};

struct gsim_model {
    struct gsim_model_setup setup;
    int64_t now_ns;
    struct gsim_eventq queue;
    struct gsim_machine_job *jobs;
    struct gsim_progress *progress;
    struct gsim_machine_gpu *gpus;
    uint32_t capacity;
    bool has_shared;
    bool is_charged[GSIM_STOP_COUNT][GSIM_KEEP_COUNT]; /* stops that cost something */
    bool has_loaded;
    bool is_out_of_memory; /* in a call that cannot say so; advance does */
    struct gsim_turns turns;
};

static inline const struct gsim_job *gsim_machine_info(const struct gsim_model *model,
                                                       gsim_slot slot) {
    return &(*model->setup.jobs)[slot];
}
static inline bool gsim_machine_is_sharing(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].sharing_gpu != UINT32_MAX;
}
const struct gsim_profile *gsim_machine_profile(const struct gsim_model *model,
                                                const struct gsim_unit *units, uint32_t n_units);

/* The next event of a job; one at most. */
void gsim_machine_expect(struct gsim_model *model, gsim_slot slot, enum ahead ahead,
                         int64_t time_ns);
/* The same, found from its progress and what it is watched for. */
void gsim_machine_expect_progress(struct gsim_model *model, gsim_slot slot);
/* Books what was done until now, and goes on at another rate. */
void gsim_machine_set_rate(struct gsim_model *model, gsim_slot slot, uint64_t rate_q32,
                           int64_t now_ns);

/* sharing.c */
void gsim_sharing_join(struct gsim_model *model, gsim_slot slot, uint32_t gpu, int64_t now_ns);
void gsim_sharing_leave(struct gsim_model *model, gsim_slot slot, int64_t now_ns);

/* facts.c */
const char *gsim_facts_outside_validated(const struct gsim_model *model);
const char *const *gsim_facts_assumed(const struct gsim_model *model);

#endif
