/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --log-from: where a log begins. What lists the jobs that ran in a month has, of the time before
 * that month, the jobs alone that still ran in it: others of their time are missing, so that the
 * cluster is emptier there than it was, and a trace of them begins days before the month does. */
#ifndef GSIM_TRACES_LOG_FROM_H
#define GSIM_TRACES_LOG_FROM_H

#include "traces/build.h"

/* "first-end": the first end of a job; "auto": that, where the time before it has less than half
 * as many starts an hour as the time behind it, of which it would have 30 or more (by chance it has
 * so few once in 1000 logs), and is a twentieth of the time of submissions or more; a time since
 * the first submission (12d), or a date on the log's clock (2024-03-01). */
#define GSIM_LOG_FROM_AUTO "auto"
/* How the note about a cut begins; a time follows. */
#define GSIM_LOG_FROM_NOTE "submit_s: the log from "

/* Jobs that had ended by then are left out; those that ran arrive then with the rest of their time,
 * on the nodes that they had, ahead of those that waited. The latter arrive in their order, a
 * nanosecond behind each other. The log's waits are from then on as well. *note says when the log
 * begins; NULL: nothing was cut. */
enum gsim_status gsim_log_from_cut(struct gsim_builder *b, const char *text, const char **note);

#endif
