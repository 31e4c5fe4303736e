/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The column `after`: the job_id of another job becomes that job's position. */
#ifndef GSIM_TRACES_AFTER_H
#define GSIM_TRACES_AFTER_H

#include "traces/build.h"

/* To be called when all rows are there. A job that comes after a job which the trace does not have,
 * or after itself, by whatever detour, is an error; where `may_miss`, a missing one is forgotten
 * with a warning (archives leave rows out, and so do readers). */
enum gsim_status gsim_after_link(struct gsim_builder *builder, bool may_miss);

#endif
