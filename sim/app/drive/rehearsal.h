/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A simulated run of the trace before the real one: what the policy asks for there, and the
 * executor cannot do, is refused before any job starts. */
#ifndef GSIM_APP_REHEARSAL_H
#define GSIM_APP_REHEARSAL_H

#include "sim/app/drive/driven.h"
#include "sim/app/setup/setup.h"

enum gsim_status gsim_rehearse(const struct gsim_setup *setup, struct gsim_executor *executor,
                               const struct gsim_io *io, struct gsim_log *log);

#endif
