/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which run of a sweep begins next: as they stand in the grid, or what takes longest, so that no
 * thread is left alone with a long run at the end. */
#ifndef GSIM_APP_SWEEP_ORDER_H
#define GSIM_APP_SWEEP_ORDER_H

#include "sim/app/sweep/sweep.h"

struct gsim_sweep_order;

/* Lives in the sweep's arena; NULL: no memory. */
struct gsim_sweep_order *gsim_sweep_order_new(const struct gsim_sweep_todo *todo);
void gsim_sweep_order_end(struct gsim_sweep_order *order);
/* The position of the run that is to begin now: the longest, or the first. From any thread, once for
 * each run of todo. */
int64_t gsim_sweep_order_take(struct gsim_sweep_order *order, bool by_length);
/* How long it took; below 0: it failed, and says nothing. */
void gsim_sweep_order_note(struct gsim_sweep_order *order, int64_t position, double wall_s);
/* What the runs that have not ended will take, as a multiple of what those that have took, whose
 * times say so; below 0 while none has. *is_least: some of them are of a kind that nobody knows, and
 * are not in it. */
double gsim_sweep_order_left(struct gsim_sweep_order *order, bool *is_least);

#endif
