/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The units that a plan gave to a job, kept past the rollback of that plan. */
#ifndef GSIM_POLICIES_LIB_TAKEN_H
#define GSIM_POLICIES_LIB_TAKEN_H

#include "gsim/policy.h"

/* The units of a job, noted before the plan is rolled back. */
struct gsim_taken {
    struct gsim_unit *units;
    uint32_t n, capacity;
};
/* Makes room for n units; false: no memory. */
bool gsim_taken_reserve(struct gsim_taken *taken, struct gsim_ctx *ctx, uint32_t n);
/* false: none (a pool), or no memory. */
bool gsim_taken_note(struct gsim_taken *taken, struct gsim_ctx *ctx, const struct gsim_plan *plan,
                     gsim_slot slot);
/* Whether the job has one of these units in the plan's picture. */
bool gsim_taken_overlaps(const struct gsim_taken *taken, const struct gsim_plan *plan,
                         gsim_slot slot);

#endif
