/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run in a process of its own, for policies from outside of the program: one that crashes, hangs
 * or ends its process takes that run along and nothing else, and the error says where it was. */
#ifndef GSIM_APP_APART_H
#define GSIM_APP_APART_H

#include "gsim/run.h"
#include "sim/app/cli/progress.h"

struct gsim_apart {
    /* Makes the run, and all that belongs to it, with these options. */
    enum gsim_status (*run)(const void *arg, const struct gsim_run_options *options,
                            struct gsim_arena *arena, struct gsim_result *result,
                            struct gsim_log *log);
    const void *arg;
    const char *source; /* of the policy, for messages: its file */
    int64_t timeout_ns; /* the longest that a hook may take on the clock; 0: no limit */
    const struct gsim_io *io;
    struct gsim_progress_bar *bar; /* shows the jobs that are done; may be NULL */
};

/* The result lies in the arena, and shares the trace of the options. */
enum gsim_status gsim_apart_run(const struct gsim_apart *apart,
                                const struct gsim_run_options *options, struct gsim_arena *arena,
                                struct gsim_result *result, struct gsim_log *log);

#endif
