/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline of one run as a Chrome trace (the "JSON Array" of Google's "Trace Event Format"),
 * which Perfetto opens: a process for each GPU with rows for the jobs on it, one for jobs, one for
 * counters. Spans of a row never overlap. Times are microseconds from the trace's start. */
#ifndef GSIM_STUDY_TIMELINE_H
#define GSIM_STUDY_TIMELINE_H

#include "gsim/observe.h"
#include "gsim/result.h"
#include "sim/study/output.h"
#include "sim/study/timeline_options.h"

struct gsim_run_timeline;

/* The limit of events; further events are left out, since viewers get slow. */
#define GSIM_TIMELINE_MOST 1000000

#define GSIM_TIMELINE_BEGINS "{\"displayTimeUnit\":"

/* Reads the window "A:B", either end of which may be empty, and has kernels shown in it; NULL: the
 * whole run, without kernels. */
enum gsim_status gsim_timeline_window(const char *text, struct gsim_timeline_options *options,
                                      struct gsim_log *log);
enum gsim_status gsim_timeline_open(const struct gsim_timeline_options *options,
                                    struct gsim_arena *arena, struct gsim_run_timeline **out,
                                    struct gsim_log *log);
/* `next` is the observer that gets each change after this one; it may be NULL. */
const struct gsim_observer *gsim_timeline_observer(struct gsim_run_timeline *timeline,
                                                   const struct gsim_observer *next);
/* Ends the timeline after the run: writes the names of rows, closes the file, and warns if events
 * were left out. */
enum gsim_status gsim_timeline_close(struct gsim_run_timeline *timeline, struct gsim_log *log);
/* Removes the file of a run that failed. */
void gsim_timeline_abandon(struct gsim_run_timeline *timeline);

#endif
