/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the keys of a grid change: the trace, its file, the cluster, or the run alone. */
#ifndef GSIM_APP_GRID_KEYS_H
#define GSIM_APP_GRID_KEYS_H

#include "sim/app/sweep/grid.h"

/* Whether the key says what cells are in which the trace has none. */
bool gsim_grid_fills_gaps(const struct gsim_grid_key *key);
/* Whether the key says how replications of a trace file differ from it. */
bool gsim_grid_is_of_file(const struct gsim_grid_key *key);
/* Whether a trace file can have replications. */
bool gsim_grid_changes_file(const struct gsim_grid *grid);
/* Whether runs that differ by the key alone have different traces. */
bool gsim_grid_changes_trace(const struct gsim_grid *grid, const struct gsim_grid_key *key);
/* Keys that change the trace first, then the policy, then the others. */
void gsim_grid_order_keys(struct gsim_grid *grid);

#endif
