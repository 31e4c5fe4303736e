/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programmes of shares.h as Gavel's program hands them to ECOS (scheduler/policies of
 * stanford-futuredata/gavel through cvxpy 1.3), and the shares at which its path ends
 * (policies/lib/conic.h). */
#ifndef GSIM_POLICIES_LIB_SHARES_PATH_H
#define GSIM_POLICIES_LIB_SHARES_PATH_H

#include "policies/lib/shares.h"

/* What a job is to have: factor * speed of all equal jobs - demand * level >= floor. factor 0: the
 * job is left out. */
struct gsim_share_target {
    double factor, demand, floor;
};

static inline bool gsim_share_is_pair(const struct gsim_share_entry *entry) {
    return entry->job[1] != GSIM_SHARE_ALONE;
}

/* A pair runs on a type where both of its jobs do. */
static inline bool gsim_share_runs_on(const struct gsim_share_entry *entry, uint32_t type) {
    return entry->per_s[0][type] > 0 && (!gsim_share_is_pair(entry) || entry->per_s[1][type] > 0);
}

/* The jobs, or pairs of jobs, for which the entry stands. */
static inline double gsim_share_count(const struct gsim_shares *s,
                                      const struct gsim_share_entry *entry) {
    double count = s->job[entry->job[0]].count;
    if (!gsim_share_is_pair(entry))
        return count;
    if (entry->job[0] == entry->job[1])
        return count * (count - 1) / 2;
    return count * s->job[entry->job[1]].count;
}

/* Each sets the shares of the entries, and the value. GSIM_LP_STUCK: the path has no end that ECOS
 * would accept; the shares are as they were. */
enum gsim_lp_end gsim_shares_path_sum(struct gsim_shares *s);
/* The largest level. */
enum gsim_lp_end gsim_shares_path_level(struct gsim_shares *s,
                                        const struct gsim_share_target *target);
/* Any shares that meet the floors; demands do not count. */
enum gsim_lp_end gsim_shares_path_floors(struct gsim_shares *s,
                                         const struct gsim_share_target *target);
/* The smallest of the largest (age + left / speed) / alone. Jobs without alone_s are left out. */
enum gsim_lp_end gsim_shares_path_ends(struct gsim_shares *s);

#endif
