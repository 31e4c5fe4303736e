/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of a log by a key, while the log is being read: by its id, by its array, or by the name that
 * jobs of one user share. Of several with one key the log's last end counts. */
#ifndef GSIM_TRACES_KNOWN_JOBS_H
#define GSIM_TRACES_KNOWN_JOBS_H

#include "traces/build.h"

/* The job with that id, the task of that name (7_1), or the last one of that array to end, among
 * those that are added; -1: there is none. */
int64_t gsim_known_job(struct gsim_builder *b, const char *id, size_t length);
/* The last job to end of those that were added as a `fellow` with the key; -1: there is none. */
int64_t gsim_known_fellow(struct gsim_builder *b, uint64_t user, const char *name);
/* The row under way, which is added next, has the key; it may be left out yet. */
void gsim_known_add_fellow(struct gsim_builder *b, uint64_t user, const char *name);

/* The row under way, which is added next, is called 7_1 as well, though its id is another one. */
void gsim_known_add_task(struct gsim_builder *b, const char *array, int64_t task);

#endif
