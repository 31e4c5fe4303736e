/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of the hooks of a policy in memory that another process sees: where the policy crashed, or
 * does not come back from. */
#ifndef GSIM_APP_WATCHED_H
#define GSIM_APP_WATCHED_H

#include <signal.h>
#include <stdatomic.h>

#include "gsim/run.h"

enum gsim_hook {
    GSIM_HOOK_NONE = 0, /* before the first call */
    GSIM_HOOK_OPEN,
    GSIM_HOOK_ARRIVAL,
    GSIM_HOOK_COMPLETION,
    GSIM_HOOK_WATCH,
    GSIM_HOOK_TIMER,
    GSIM_HOOK_DECIDE,
    GSIM_HOOK_CLOSE,
};
extern const char *const gsim_hook_names[];

/* Notes of one run; both processes have them. */
struct gsim_notes {
    atomic_ulong n_calls; /* odd while a hook is running */
    volatile int hook; /* enum gsim_hook: of the last call */
    volatile int64_t now_ns;
    /* the job that the last hook or the last verb named; GSIM_NO_SLOT: none */
    volatile gsim_slot slot;
    volatile uint32_t n_done; /* jobs that have finished */
    volatile sig_atomic_t stop; /* set by the other process: the run is to end */
    uint32_t n_slots;
    uint32_t job_of[]; /* by slot: position in the trace */
};

struct gsim_watched {
    struct gsim_policy table; /* first: the policy that the run is given */
    const struct gsim_policy *own;
    struct gsim_notes *notes;
};

void gsim_watched_make(struct gsim_watched *watched, const struct gsim_policy *policy,
                       struct gsim_notes *notes);

#endif
