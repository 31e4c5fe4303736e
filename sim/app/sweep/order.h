/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which a sweep's runs begin: that of the grid, or the longest first, so that the
 * sweep does not end with a long run on a single thread. */
#ifndef GSIM_APP_SWEEP_ORDER_H
#define GSIM_APP_SWEEP_ORDER_H

#include "sim/app/sweep/sweep.h"

struct gsim_sweep_order;

/* Makes an order in the sweep's arena; NULL: no memory. */
struct gsim_sweep_order *gsim_sweep_order_new(const struct gsim_sweep_todo *todo);
void gsim_sweep_order_end(struct gsim_sweep_order *order);
/* Returns the position of the run to begin now: the longest, or the first in the grid. Any thread
 * may call this, once for each run of todo. */
int64_t gsim_sweep_order_take(struct gsim_sweep_order *order, bool by_length);
/* Notes the time that a run took; below 0 for a failed run, which predicts no time. */
void gsim_sweep_order_note(struct gsim_sweep_order *order, int64_t position, double wall_s);
/* The expected time of the runs that have not ended, as a multiple of the time of those that have;
 * below 0 while no run has ended. *is_least becomes true if runs without a prediction are left
 * out. */
double gsim_sweep_order_left(struct gsim_sweep_order *order, bool *is_least);

#endif
