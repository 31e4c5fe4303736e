/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of a trace whose jobs count: without those of the warm-up, when the cluster is emptier
 * than it will be, and of the cooldown, when nothing arrives any more. Both ends have to go: behind
 * the last arrival a policy that preempts stops preempting, and what long jobs gain by that is what
 * balances the empty cluster at the beginning. All jobs run, whatever counts. */
#ifndef GSIM_APP_WINDOW_H
#define GSIM_APP_WINDOW_H

#include "gsim/result.h"
#include "sim/app/cli/cli.h"

/* An end of it: one of the two is 0. */
struct gsim_window_end {
    int64_t share_ppm; /* of the jobs, in the order of arrival */
    int64_t time_ns; /* after the first arrival, or before the last one */
};

struct gsim_window {
    struct gsim_window_end warmup, cooldown;
};

/* Positions in the order of arrival: first <= i < end. */
struct gsim_window_jobs {
    uint32_t first, end;
};

/* --warmup 10% or 2h, --cooldown likewise and by default as much as the warm-up. */
enum gsim_status gsim_window_read(struct gsim_cli *cli, struct gsim_window *out);
static inline bool gsim_window_is_all(const struct gsim_window *w) {
    return w->warmup.share_ppm + w->warmup.time_ns + w->cooldown.share_ppm + w->cooldown.time_ns ==
           0;
}
/* first == end when nothing is left. */
struct gsim_window_jobs gsim_window_find(const struct gsim_window *window,
                                         const struct gsim_trace *trace);
/* The job that arrives as number i, from 0. */
static inline uint32_t gsim_arrival(const struct gsim_trace *trace, uint32_t i) {
    return trace->order ? trace->order[i] : i;
}
/* JCT, waiting and slowdown of the summary become those of the window's jobs. */
enum gsim_status gsim_window_apply(const struct gsim_window *window, struct gsim_result *result,
                                   struct gsim_arena *arena, struct gsim_log *log);

#endif
