/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference=elasticflow: the events of the program, which merges those that are close. */
#ifndef GSIM_POLICIES_ELASTICFLOW_EVENTS_H
#define GSIM_POLICIES_ELASTICFLOW_EVENTS_H

#include "policies/elasticflow/state.h"

struct elasticflow_event {
    int64_t time;
    uint32_t n_starts, n_ends; /* 0 of both: a plan changes */
};

struct elasticflow_events {
    struct gsim_arena *arena;
    struct elasticflow_event *event; /* by time */
    uint32_t n, capacity;
    bool has_failed; /* there was no memory for an event */
};

/* The event at a time, made where there is none; NULL: no memory. */
struct elasticflow_event *elasticflow_events_at(struct elasticflow_events *events, int64_t time);
void elasticflow_events_remove(struct elasticflow_events *events, int64_t time);
/* The job ends at that time, and not where it was to end. */
void elasticflow_events_end(struct elasticflow_events *events, struct elasticflow_job *job,
                            int64_t old_end, int64_t end);
/* The job is to end at that time. */
void elasticflow_events_add_end(struct elasticflow_events *events, struct elasticflow_job *job,
                                int64_t end);
/* Merges the events that come within a slot, and gives the time of the next; -1: there is none.
 * merged(arg, from, to) is told of each event that moves. */
int64_t elasticflow_events_next(struct elasticflow_events *events, int64_t now, int64_t slot,
                                void (*merged)(void *arg, int64_t from, int64_t to), void *arg);

#endif
