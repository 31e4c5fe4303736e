/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities over time, in at most N steps each: `queue` (jobs that wait), `running` (jobs on their
 * GPUs) and `busy_gpus`, as means over steps of equal width that double as the run gets longer, so
 * that sums over steps are exact; and the jobs on each GPU, `gpu G.L` for lane L of GPU G. */
#ifndef GSIM_STUDY_SAMPLES_H
#define GSIM_STUDY_SAMPLES_H

#include "gsim/result.h"
#include "sim/study/occupancy.h"

struct gsim_samples;

enum gsim_sampled { GSIM_SAMPLED_QUEUE = 0, GSIM_SAMPLED_RUNNING, GSIM_SAMPLED_BUSY };

/* Takes at most `most` steps, at least 1. NULL: no memory. */
struct gsim_samples *gsim_samples_new(struct gsim_arena *arena, uint32_t most);
/* `next` is the observer that gets each change after this one; it may be NULL. */
const struct gsim_observer *gsim_samples_observer(struct gsim_samples *samples,
                                                  const struct gsim_observer *next);
/* For an observer behind the samples: a quantity since the last change, and its means over the
 * steps so far, of which there are at most as many as are taken; returns their number. */
double gsim_samples_now(const struct gsim_samples *samples, enum gsim_sampled quantity);
uint32_t gsim_samples_steps(const struct gsim_samples *samples, enum gsim_sampled quantity,
                            double *steps);
/* Stores the samples in the result after the run. false: no memory. */
bool gsim_samples_finish(struct gsim_samples *samples, struct gsim_result *result);

#endif
