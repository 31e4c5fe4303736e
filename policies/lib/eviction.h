/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pushing jobs out for another one: victims are preempted until it fits, and those that it did not
 * need after all are spared. */
#ifndef GSIM_POLICIES_LIB_EVICTION_H
#define GSIM_POLICIES_LIB_EVICTION_H

#include "policies/lib/settings.h"
#include "policies/lib/taken.h"

struct gsim_victim {
    gsim_slot slot;
    struct gsim_preemption way;
};

/* Zeroed at first. */
struct gsim_eviction {
    struct gsim_victim *victims; /* in the order in which they were pushed out */
    uint32_t n, capacity;
    uint32_t n_spared; /* behind these n: victims of the last round that run on */
    struct gsim_taken taken;
};

/* A new round, without victims. */
void gsim_eviction_begin(struct gsim_eviction *eviction);
/* Notes a victim. false: no memory. */
bool gsim_eviction_note(struct gsim_eviction *eviction, struct gsim_ctx *ctx, gsim_slot victim,
                        struct gsim_preemption way);
/* Notes a victim and preempts it. false: no memory, or the victim, which is noted, cannot be
 * preempted. */
bool gsim_eviction_push_out(struct gsim_eviction *eviction, struct gsim_ctx *ctx,
                            struct gsim_plan *plan, gsim_slot victim, struct gsim_preemption way);
/* When the job has been placed: makes the plan again from the mark, with those victims only that
 * held units which the job took, and sets *placed_at to where the plan stands before the job's
 * placement. The plan stays as it is where a single victim was needed, and in a pool, where there
 * are no units. */
void gsim_eviction_spare(struct gsim_eviction *eviction, struct gsim_ctx *ctx,
                         struct gsim_plan *plan, gsim_slot slot, uint32_t mark,
                         uint32_t *placed_at);

#endif
