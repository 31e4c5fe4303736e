/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the executor cannot do, and why. */
#ifndef GSIM_APP_REFUSALS_H
#define GSIM_APP_REFUSALS_H

#include "sim/app/drive/driven.h"

/* Why the job cannot be stopped so; NULL: it can. */
const char *gsim_refusals_of_stop(const struct gsim_executor *executor,
                                  const struct gsim_trace *trace, uint32_t job, enum gsim_stop stop,
                                  enum gsim_keep keep);
/* Why GPUs cannot be shared so; NULL: they can. */
const char *gsim_refusals_of_arrangement(const struct gsim_executor *executor,
                                         const struct gsim_arrangement *arrangement);
/* Fails, since the policy asks what the job has done, which has shared a GPU and does not tell. */
enum gsim_status gsim_refuse_counters(const struct gsim_executor *executor,
                                      const struct gsim_trace *trace, uint32_t job);

#endif
