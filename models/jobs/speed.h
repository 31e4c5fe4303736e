/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a job runs where it is. */
#ifndef GSIM_MODELS_JOBS_SPEED_H
#define GSIM_MODELS_JOBS_SPEED_H

#include "models/jobs/machine.h"

enum { GSIM_PACE_ONE_MILLI = 1000 };
enum gsim_status gsim_speed_init(struct gsim_model *model, struct gsim_log *log);
/* A speed relative to where the job's work is counted, as Q32.32, and its bits below. */
struct gsim_speed {
    uint64_t rate_q32;
    uint32_t low;
};
/* How fast the job runs on its units when it is alone there. */
struct gsim_speed gsim_speed_of(struct gsim_model *model, gsim_slot slot);
/* Goes on at the speed that the job has now, on the units that it has; its next event is to be set
 * anew. */
static inline void gsim_speed_take(struct gsim_model *model, gsim_slot slot) {
    struct gsim_speed speed = gsim_speed_of(model, slot);
    model->progress[slot].rate_q32 = speed.rate_q32;
    model->jobs[slot].rate_low = speed.low;
}
/* How fast it runs on its units beside the other job; 0: the table does not say. GSIM_NO_SLOT: by
 * the table or its columns, alone. */
struct gsim_speed gsim_speed_beside(struct gsim_model *model, gsim_slot slot, gsim_slot other);
uint64_t gsim_speed_beside_q32(struct gsim_model *model, gsim_slot slot, gsim_slot other);
uint64_t gsim_speed_q32(struct gsim_model *model, gsim_slot slot);
bool gsim_speed_can_run_on(const struct gsim_model *model, uint32_t job, uint32_t gpu,
                           struct gsim_host most);
bool gsim_speed_can_run_across(const struct gsim_model *model, uint32_t job);
uint64_t gsim_speed_most_q32(struct gsim_model *model, gsim_slot slot);
/* How fast it would run there; its policy has these GPUs of the cluster. */
struct gsim_rate gsim_speed_there(struct gsim_model *model, gsim_slot slot,
                                  const struct gsim_where *where, struct gsim_gpu_span seen);
/* What the job may do and has measured; false: it does not learn by a table. */
bool gsim_speed_learning(struct gsim_model *model, gsim_slot slot, int64_t now_ns,
                         struct gsim_learning *out);
/* Its limits on GPUs of that type, and a step with the largest batch on one of them; false: it does
 * not learn by a table, or cannot run there. */
bool gsim_speed_learning_on(const struct gsim_model *model, gsim_slot slot, uint16_t type,
                            struct gsim_learning *out);
bool gsim_speed_may_have_batch(const struct gsim_model *model, gsim_slot slot,
                               struct gsim_batch batch);

#endif
