/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process beside `gsim drive` that outlives it by a moment: it knows the process groups of all
 * jobs, and kills them when `drive` ends in whatever way, SIGKILL included. What else an end leaves
 * behind, it removes. */
#ifndef GSIM_APP_GUARD_H
#define GSIM_APP_GUARD_H

#include <sys/types.h>

#include "gsim/status.h"

struct gsim_guard {
    pid_t pid; /* 0: none was started */
    int fd; /* the pipe to it; its end is the end of `drive` */
};

/* The guard calls `clean` when all groups are killed, with what `arg` is at this call. */
enum gsim_status gsim_guard_open(struct gsim_guard *guard, void (*clean)(const void *arg),
                                 const void *arg, struct gsim_log *log);
/* A group is there from now on, or is gone; false: the guard does not live any more. */
bool gsim_guard_add(const struct gsim_guard *guard, pid_t group);
bool gsim_guard_remove(const struct gsim_guard *guard, pid_t group);
bool gsim_guard_is_there(const struct gsim_guard *guard);
/* Kills the groups that are left, and ends the guard. */
void gsim_guard_close(struct gsim_guard *guard);

#endif
