/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a knapsack that a search has to decide. */
#ifndef GSIM_POLICIES_LIB_KNAPSACK_ROWS_H
#define GSIM_POLICIES_LIB_KNAPSACK_ROWS_H

#include "policies/lib/knapsack.h"

/* Lists them in k->kept, which has room for all rows: the solution gives no other row a choice.
 * false: no memory. */
bool gsim_knapsack_find_rows(struct gsim_knapsack *k);

#endif
