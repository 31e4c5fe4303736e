/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When each GPU has something to report. */
#ifndef GSIM_MODELS_JOBS_NEXT_REPORT_H
#define GSIM_MODELS_JOBS_NEXT_REPORT_H

#include "models/jobs/machine.h"

/* Whether the GPU has contexts. */
static inline bool gsim_next_report_occupied(const struct gsim_shared *shared, uint32_t gpu) {
    return gsim_arbiter_present(shared->of_gpu[gpu]) > 0;
}
/* This GPU was changed from outside: its foreseen reports do not hold any more. */
void gsim_next_report_anew(struct gsim_shared *shared, uint32_t gpu, int64_t now_ns);

/* When the first of all GPUs has something to report, or horizon_ns if that is sooner. */
int64_t gsim_next_report_ns(struct gsim_model *model, int64_t horizon_ns);

#endif
