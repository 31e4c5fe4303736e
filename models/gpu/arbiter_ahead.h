/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two states of an arbiter (models/gpu/arbiter.h): the committed one, and the one ahead, which
 * tells when a member is to be reported next. */
#ifndef GSIM_MODELS_GPU_ARBITER_AHEAD_H
#define GSIM_MODELS_GPU_ARBITER_AHEAD_H

#include "models/gpu/arbiter_state.h"

/* True if the state may not run ahead, since it extrapolates or an observer logs slices: it is
 * settled at every instant, and never asked past the horizon. */
static inline bool gsim_arbiter_is_close(const struct gsim_arbiter *arbiter) {
    return arbiter->committed.spans || arbiter->committed.is_approximate ||
           gsim_fast_forward_may_extrapolate(&arbiter->cycle, &arbiter->options,
                                             &arbiter->committed, GSIM_STEPS_PAST_HORIZON);
}
/* The next instant at which a member is to be reported, or horizon_ns when that is sooner. Nothing
 * from outside may happen before horizon_ns. */
int64_t gsim_arbiter_next_ns(struct gsim_arbiter *arbiter, int64_t horizon_ns);
/* As gsim_arbiter_next_ns, but looks past the horizon, a few steps at a time. until_ns is the next
 * instant at which a member is to be reported (is_due), or an instant up to which no member is,
 * that instant included. An instant before the horizon without a report lets the simulation be
 * interrupted. */
struct gsim_foresight {
    int64_t until_ns;
    bool is_due;
};
struct gsim_foresight gsim_arbiter_foresee(struct gsim_arbiter *arbiter, int64_t horizon_ns);
/* Brings the committed state to now_ns, which is not past the last answer of gsim_arbiter_next_ns.
 * Returns whether a member is to be reported. */
bool gsim_arbiter_settle(struct gsim_arbiter *arbiter, int64_t now_ns);
/* Takes the next report of the committed state: its member, or GSIM_NO_MEMBER. */
uint16_t gsim_arbiter_take(struct gsim_arbiter *arbiter, unsigned *reports);
/* True if there was no memory left to keep its state in. */
bool gsim_arbiter_has_failed(const struct gsim_arbiter *arbiter);
/* The owner is about to change the committed state: it is settled at now_ns, and neither the state
 * ahead nor the cycle that was seen holds any longer. */
void gsim_arbiter_disturb(struct gsim_arbiter *arbiter, int64_t now_ns);

#endif
