/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of a trace: the jobs that count in means. The jobs of the warm-up do not count, when
 * the cluster is emptier than later on, nor those of the cooldown, when no further jobs arrive.
 * Both ends have to be left out: behind the last arrival a preemptive policy no longer preempts,
 * and the time that long jobs gain by that offsets the effect of the empty cluster at the
 * beginning. All jobs run, whether or not they count. */
#ifndef GSIM_APP_WINDOW_H
#define GSIM_APP_WINDOW_H

#include "gsim/result.h"
#include "sim/app/cli/options.h"

/* One end of the window; one of the two fields is 0. */
struct gsim_window_end {
    int64_t share_ppm; /* share of the jobs, in the order of arrival */
    int64_t time_ns; /* after the first arrival, or before the last one */
};

struct gsim_window {
    struct gsim_window_end warmup, cooldown;
};

/* The jobs in the window, by position in the order of arrival: first <= i < end. */
struct gsim_window_jobs {
    uint32_t first, end;
};

/* Reads --warmup 10% or 2h, and --cooldown, which defaults to the value of --warmup. */
enum gsim_status gsim_window_read(struct gsim_cli *cli, struct gsim_window *out);
static inline bool gsim_window_is_all(const struct gsim_window *w) {
    return w->warmup.share_ppm + w->warmup.time_ns + w->cooldown.share_ppm + w->cooldown.time_ns ==
           0;
}
/* Finds the jobs in the window; first == end if there are none. */
struct gsim_window_jobs gsim_window_find(const struct gsim_window *window,
                                         const struct gsim_trace *trace);
/* Computes JCT, waiting and slowdown of the summary from the window's jobs alone. */
enum gsim_status gsim_window_apply(const struct gsim_window *window, struct gsim_result *result,
                                   struct gsim_arena *arena, struct gsim_log *log);

#endif
