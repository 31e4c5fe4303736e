/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces of Shockwave name the way in which a job changes its batch size: accordion or gns. Here
 * are the epochs at which it does, as phases (traces/phases.h). */
#ifndef GSIM_TRACES_BATCH_MODES_H
#define GSIM_TRACES_BATCH_MODES_H

#include "traces/build.h"

/* Fills the column phases of the row under way from its model ("LM (batch size 10)"), batch_mode
 * and iterations; a row of another form stays as it is. false: no memory. */
bool gsim_batch_modes_fill(struct gsim_builder *builder);

#endif
