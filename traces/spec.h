/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A generator's spec as read from its INI file:
 *
 *     [trace]     jobs = 1000, seed = 1; kinds = short, long with kind_weights = 3, 1 (optional);
 *                 kind_weights = turn: the first job is of the first kind, and so on in a ring
 *     [arrival]   process = poisson, or any distribution of the time between two arrivals;
 *                 rate = R jobs a second, or load = L with gpus = G: the rate at which the mean
 *                 job keeps L of G GPUs busy. Without either the distribution's own seconds count.
 *     [duration]  a distribution, in seconds
 *     [gpus]      likewise; below 1 a share of one GPU
 *     [COLUMN]    likewise for any optional column of the native trace, in its unit
 *     [KIND/...]  the quantity for one kind of jobs, in place of the common section;
 *                 [KIND/arrival] is the column, for kinds with [KIND/requests]
 *
 * Jobs may come in batches: [batch_jobs] is the number of jobs, [batch_gap_s] the time between two
 * of them, and what repeats in a batch is said by `repeat`. In a closed loop (process = closed)
 * each user has one job at a time, with [think_s] between them; after [session] jobs the user is
 * away for [break_s] in place of the think time.
 *
 * A distribution is `distribution = NAME` and its parameters, or `choice = A, B, ...` with optional
 * `weights = `. Further keys: min, max (clamp), round (to a multiple), times = duration (a factor
 * of the job's duration), after = submit (counted from its submission), probability (the cell is
 * empty otherwise). */
#ifndef GSIM_TRACES_SPEC_H
#define GSIM_TRACES_SPEC_H

#include "sim/base/ini.h"
#include "traces/cells.h"
#include "traces/distribution.h"

/* The target of a quantity: an optional column (0 and up), or one of these. */
enum {
    GSIM_OF_DURATION = GSIM_COL_COUNT,
    GSIM_OF_GPUS,
    GSIM_OF_GAP,
    GSIM_OF_SESSION, /* jobs of a session of a user, with process = closed */
    GSIM_OF_BREAK, /* time between two sessions */
    GSIM_OF_BATCH, /* jobs of a batch */
    GSIM_OF_BATCH_GAP, /* time between two jobs of a batch */
    GSIM_OF_COUNT
};

enum { GSIM_HOURS_OF_WEEK = 168 };

enum { GSIM_MAX_QUANTITIES = 256, GSIM_MAX_KINDS = 16 };

struct gsim_quantity {
    const char *stream; /* the section's name, which is the random stream's too */
    int target;
    struct gsim_dist dist;
    const char **text; /* of a choice among texts */
    double min, max, round; /* 0: none */
    double probability, repeat;
    bool times_duration, after_submit;
};

struct gsim_job_kind {
    const char *name; /* "" for the only kind */
    const struct gsim_quantity *quantity[GSIM_OF_COUNT]; /* NULL: not given */
};

struct gsim_spec {
    const char *path;
    uint32_t n_jobs;
    uint64_t seed;
    struct gsim_dist kind_of; /* a choice among kinds */
    bool kinds_take_turns;
    struct gsim_job_kind kinds[GSIM_MAX_KINDS];
    uint32_t n_kinds;
    struct gsim_quantity quantities[GSIM_MAX_QUANTITIES];
    uint32_t n_quantities;
    /* the files of values that it names; ends with NULL */
    const char *file[GSIM_MAX_QUANTITIES + 1];
    uint32_t n_files;
    double kind_repeat;
    uint32_t n_users; /* of a closed loop; 0: jobs arrive whatever others do */
    /* the rate by the hour, as its sum until then, in units of the mean rate, for as many whole
     * weeks as it takes to repeat; NULL: it does not change */
    const double *profile;
    uint32_t profile_hours;
    double mean_gap_s; /* mean gap to which arrivals are scaled; 0: not scaled */
};

#endif
