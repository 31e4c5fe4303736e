/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The treatment of a field of a lane's state by fast-forward depends on where the field stands. A
 * struct that is part of that state is split into
 *
 *   state       decides the future. It is equal, byte by byte, in equal states of a lane
 *   times       absolute times that decide the future, GSIM_NEVER where they do not apply. Compared
 *               as the time left until them; they move with the periods that are skipped
 *   marks       absolute times that are not compared: they follow from other fields, or only say
 *               since when a phase lasts. They move as well
 *   sums        accumulators: they grow by the sums of a period
 *
 * Fields outside of these (how, spec) are set by the owner: they change at disturbances and reports
 * only, so fast-forward passes them by.
 *
 * Times, marks and sums hold nothing but int64_t, and a `state` has no byte that no field owns, so
 * that a new field is right by where it stands. */
#ifndef GSIM_MODELS_ROLES_H
#define GSIM_MODELS_ROLES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gsim/units.h"

/* These stand around the structs of roles: a field that leaves bytes without an owner is an
 * error. */
#define GSIM_ROLES_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic error \"-Wpadded\"")
#define GSIM_ROLES_END _Pragma("GCC diagnostic pop")

/* A role as a row of numbers. */
#define GSIM_ROLE(role) (int64_t *)&(role), sizeof(role) / sizeof(int64_t)
#define GSIM_ROLE_CONST(role) (const int64_t *)&(role), sizeof(role) / sizeof(int64_t)
#define GSIM_ROLE_ASSERT(type)                                                                     \
    static_assert(sizeof(type) % sizeof(int64_t) == 0, "times and sums are numbers")

/* A time further back than reach_ns cannot influence the future any more. */
static inline int64_t gsim_time_left(int64_t time_ns, int64_t now_ns, int64_t reach_ns) {
    if (time_ns == GSIM_NEVER)
        return GSIM_NEVER;
    return time_ns - now_ns > -reach_ns ? time_ns - now_ns : -reach_ns;
}

static inline bool gsim_times_are_same(const int64_t *a, size_t n, int64_t a_now_ns,
                                       const int64_t *b, int64_t b_now_ns, int64_t reach_ns) {
    for (size_t i = 0; i < n; i++)
        if (gsim_time_left(a[i], a_now_ns, reach_ns) != gsim_time_left(b[i], b_now_ns, reach_ns))
            return false;
    return true;
}

static inline void gsim_times_shift(int64_t *times, size_t n, int64_t by_ns) {
    for (size_t i = 0; i < n; i++)
        if (times[i] != GSIM_NEVER)
            times[i] += by_ns;
}

static inline void gsim_sums_subtract(int64_t *per, size_t n, const int64_t *now,
                                      const int64_t *then) {
    for (size_t i = 0; i < n; i++)
        per[i] = now[i] - then[i];
}

static inline void gsim_sums_add(int64_t *sums, size_t n, const int64_t *per, int64_t n_periods) {
    for (size_t i = 0; i < n; i++)
        sums[i] += n_periods * per[i];
}

/* The sums of one of n equal parts of a period, rounded towards zero. */
static inline void gsim_sums_divide(int64_t *per, size_t n, int64_t n_parts) {
    for (size_t i = 0; i < n; i++)
        per[i] /= n_parts;
}

#endif
