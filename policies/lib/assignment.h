/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest way to give each row a column of its own: the assignment problem, by shortest
 * augmenting paths (Jonker and Volgenant, Computing 38, 1987; Crouse, "On implementing 2D
 * rectangular assignment algorithms", IEEE TAES 52, 2016), in n^2 m steps. Costs are doubles of
 * which only sums and differences are taken, in a fixed order (see lp.h). */
#ifndef GSIM_POLICIES_LIB_ASSIGNMENT_H
#define GSIM_POLICIES_LIB_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

/* The cost of a row in a column. */
typedef double gsim_cost(const void *arg, uint32_t row, uint32_t column);

/* Writes each row's column; n_rows <= n_columns. Of equal paths one to a free column is taken; so
 * equal assignments are chosen as by the program that reference=gavel copies (scipy's
 * linear_sum_assignment). false: no memory. */
bool gsim_assign(uint32_t n_rows, uint32_t n_columns, gsim_cost *cost, const void *arg,
                 struct gsim_arena *arena, uint32_t *column_of);

#endif
