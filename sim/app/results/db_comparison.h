/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons in the database: what `gsim compare` and `gsim advise` said of their runs. A page
 * cannot say it anew, since a verdict rests on runs with other values of constants too, which no
 * database keeps. */
#ifndef GSIM_APP_DB_COMPARISON_H
#define GSIM_APP_DB_COMPARISON_H

#include "sim/app/results/db.h"
#include "sim/study/stats.h"

/* A run of the comparison, with the statistics of its policy; a NaN is not known. */
struct gsim_db_compared {
    const char *config;
    struct gsim_interval mean_s, difference_s, ratio;
    double p;
    int64_t
        n_below; /* changed traces in which its mean JCT is below the first policy's; -1: none */
};

struct gsim_db_comparison {
    const char *argv; /* as it was typed */
    const char *first; /* the policy to which the others are compared */
    const char *over; /* over which units the intervals are, or why there are none */
    const char *const *verdict, *const *advice; /* sentences, NULL-terminated; NULL: none */
    const struct gsim_db_compared *run;
    int64_t n_runs;
};

/* Adds the comparison, in place of one of the same runs. The database has its runs already. */
enum gsim_status gsim_db_add_comparison(struct gsim_db *db, const struct gsim_db_comparison *about,
                                        struct gsim_log *log);

#endif
