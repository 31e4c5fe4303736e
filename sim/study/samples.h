/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities over time, in at most N steps each: `queue` (jobs that wait), `running` (jobs on their
 * GPUs) and `busy_gpus`, as means over steps of equal width that double as the run gets longer, so
 * that sums over steps are exact; and the jobs on each GPU, `gpu G.L` for lane L of GPU G. */
#ifndef GSIM_STUDY_SAMPLES_H
#define GSIM_STUDY_SAMPLES_H

#include "gsim/result.h"
#include "sim/study/occupancy.h"

struct gsim_samples;

/* Takes at most `most` steps, at least 1. NULL: no memory. */
struct gsim_samples *gsim_samples_new(struct gsim_arena *arena, uint32_t most);
/* `next` is the observer that gets each change after this one; it may be NULL. */
const struct gsim_observer *gsim_samples_observer(struct gsim_samples *samples,
                                                  const struct gsim_observer *next);
/* Stores the samples in the result after the run. false: no memory. */
bool gsim_samples_finish(struct gsim_samples *samples, struct gsim_result *result);

#endif
