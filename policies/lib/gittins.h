/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Gittins index of a history of service: the chance that a job ends soon, per second
 * invested. */
#ifndef GSIM_POLICIES_LIB_GITTINS_H
#define GSIM_POLICIES_LIB_GITTINS_H

#include "gsim/policy.h"

/* Service of past jobs, in whole seconds (or GPU seconds), ascending. Added samples are kept apart
 * until there are enough of them to sort in. Zeroed at first. */
struct gsim_history {
    int64_t *sample;
    int64_t *sum; /* sum[i]: of the samples before i; n + 1 entries */
    int64_t *added;
    uint32_t n, n_added, capacity, added_capacity;
};

/* Reads a number per line; a first line that is not a number is a header. */
enum gsim_status gsim_history_read(struct gsim_history *history, const char *path,
                                   struct gsim_arena *arena, struct gsim_log *log);
/* Adds a sample. false: no memory. */
bool gsim_history_add(struct gsim_history *history, int64_t sample, struct gsim_arena *arena);
/* The textbook index of a job of that age: the chance to end within delta over the expected service
 * until then, in 2^-40 per second; 0 when no past job was older. delta GSIM_NEVER: until its
 * end. */
int64_t gsim_gittins_index(const struct gsim_history *history, int64_t age, int64_t delta);
/* As gsim_gittins_index, for a job with an earlier index: near holds the places of its age and its
 * next limit found then, or any values. */
int64_t gsim_gittins_index_near(const struct gsim_history *history, int64_t age, int64_t delta,
                                uint32_t near[2]);
/* The public simulator's index, in 10^-4 of its own unit, for every sample (a column of n): it
 * rounds the chance to five digits, and rounds the expected service, which counts a job's age
 * again, down to whole seconds. NULL: no memory. */
int64_t *gsim_gittins_public(const struct gsim_history *history, int64_t delta,
                             struct gsim_arena *arena);
/* The first sample above age; n when there is none. */
uint32_t gsim_history_above(const struct gsim_history *history, int64_t age);

#endif
