/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows with an id that an earlier row has. */
#ifndef GSIM_TRACES_REPEATS_H
#define GSIM_TRACES_REPEATS_H

#include "traces/build.h"

/* An error for each such row. Where rows of one id are runs of a requeued job (has_runs), a row
 * that repeats another is left out, and of rows with one start the shorter one, which was written
 * while the job ran; each further run is a job of its own: "7#2" is the second run of job 7,
 * submitted when the run before it ended. */
enum gsim_status gsim_repeats_find(struct gsim_builder *builder);

#endif
