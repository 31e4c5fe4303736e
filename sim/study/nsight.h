/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A timeline from the database that Nsight Systems exports (nsys export --type sqlite): the host's
 * calls from CUPTI_ACTIVITY_KIND_RUNTIME, their work from _KERNEL, _MEMCPY and _MEMSET, the streams
 * of waits from _SYNCHRONIZATION, and NVTX ranges as iterations. */
#ifndef GSIM_STUDY_NSIGHT_H
#define GSIM_STUDY_NSIGHT_H

#include "traces/timeline.h"

/* Whether the file is a database. */
bool gsim_nsight_is_database(const char *path);
/* timeline->kind names the ranges that are iterations, with or without a number behind the name;
 * NULL: all ranges are. */
enum gsim_status gsim_nsight_read(struct gsim_timeline *timeline);

#endif
