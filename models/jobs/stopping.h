/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job leaves its GPUs: at a boundary, saved or not, as its policy says, or with the node that
 * fails. A quote says what a stop would cost by the sums that charge it. */
#ifndef GSIM_MODELS_JOBS_STOPPING_H
#define GSIM_MODELS_JOBS_STOPPING_H

#include "models/jobs/machine.h"

/* Processor sharing switches at no cost, and a lane charges its switches itself. */
static inline bool gsim_stopping_is_switched(const struct gsim_model *model, gsim_slot slot) {
    return model->jobs[slot].is_turning || gsim_machine_is_sharing(model, slot);
}
/* Takes the job off the SMs. */
void gsim_stopping_stand_still(struct gsim_model *model, gsim_slot slot, bool is_paused,
                               int64_t now_ns);
/* NULL, or why the job cannot be stopped so. */
const char *gsim_stopping_refuses(const struct gsim_model *model, gsim_slot slot,
                                  enum gsim_stop stop, enum gsim_keep keep);
enum gsim_when gsim_stopping_evict(struct gsim_model *model, gsim_slot slot, enum gsim_stop stop,
                                   enum gsim_keep keep, int64_t now_ns);
/* The job stands at its boundary, and the memory that is kept of it is on its way. */
void gsim_stopping_save(struct gsim_model *model, gsim_slot slot, int64_t now_ns);
/* Returns the work that is lost, in nanoseconds. */
int64_t gsim_stopping_fail(struct gsim_model *model, gsim_slot slot, int64_t checkpoint_ns,
                           int64_t now_ns);
struct gsim_quote gsim_stopping_quote(const struct gsim_model *model, gsim_slot slot,
                                      enum gsim_stop stop, enum gsim_keep keep,
                                      const struct gsim_unit *units, uint32_t n_units,
                                      int64_t now_ns);

#endif
