/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stops and returns of jobs have taken in this run, by which a policy is answered what the
 * next ones would cost. All of it follows from times that the record has, so that a replay answers
 * as the run did. */
#ifndef GSIM_APP_STOP_COSTS_H
#define GSIM_APP_STOP_COSTS_H

#include "gsim/job.h"
#include "models/jobs/suspension.h"

/* Times of one kind, summed, and what the keys of the device say of them. */
struct gsim_times_seen {
    int64_t n, ns, listed_ns;
};

/* By way out: until the job halts, from then until its GPUs are clear, and from the decision to
 * bring it back until it computes. */
struct gsim_stop_costs {
    struct gsim_times_seen stops[GSIM_KEEP_COUNT], saves[GSIM_KEEP_COUNT], returns[GSIM_KEEP_COUNT];
    struct gsim_times_seen starts;
};

enum gsim_underway { GSIM_UNDERWAY_NOTHING = 0, GSIM_UNDERWAY_START, GSIM_UNDERWAY_RETURN };

/* Of a job: the last decision about it, and how long its first start took. */
struct gsim_stop_times {
    int64_t decided_ns, halted_ns, start_ns; /* start_ns 0: it is not known */
    uint8_t underway, keep;
};

void gsim_stop_costs_admit(struct gsim_stop_times *times, enum gsim_state from, enum gsim_keep keep,
                           int64_t now_ns);
void gsim_stop_costs_evict(struct gsim_stop_times *times, enum gsim_keep keep, int64_t now_ns);
/* What comes of these decisions. `listed`: what the keys of the device say of times->keep. */
void gsim_stop_costs_computes(struct gsim_stop_costs *costs, struct gsim_stop_times *times,
                              const struct gsim_suspension_cost *listed, int64_t at_ns);
void gsim_stop_costs_halts(struct gsim_stop_times *times, int64_t at_ns);
void gsim_stop_costs_cleared(struct gsim_stop_costs *costs, const struct gsim_stop_times *times,
                             const struct gsim_suspension_cost *listed, int64_t at_ns);

/* A process that was only stopped goes on at once. A way that has been gone in this run costs as
 * much as it did; an image as much more or less as the keys of the device say of its size, and what
 * they say before there was one. A process that has to start anew takes as long as other returns
 * did, or as its first start, or as those of others; how long it takes to end is not known before
 * one has ended. Lost work is none of it. */
struct gsim_quote gsim_stop_costs_quote(const struct gsim_stop_costs *costs,
                                        const struct gsim_stop_times *times, enum gsim_keep keep,
                                        const struct gsim_suspension_cost *listed);

#endif
