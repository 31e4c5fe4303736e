/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The middle of the optima of a linear programme (policies/lib/lp.h), by an interior-point method.
 *
 * The value of an optimum is unique, the optimum often is not. A simplex method ends in one of the
 * corners; this one comes to the analytic centre of all optima, where the product of the room that
 * rows leave and of the columns is largest: equal columns have equal values, and what may be spread
 * is spread. A programme without gain has its whole interior as optima, and ends at the centre of
 * that.
 *
 * Mehrotra's predictor and corrector ("On the implementation of a primal-dual interior point
 * method", 1992) from a point that need not meet the rows; without gain, Newton's method. Only
 * + - * / and comparisons touch its numbers, in an order that the code fixes. */
#ifndef GSIM_POLICIES_LIB_INTERIOR_H
#define GSIM_POLICIES_LIB_INTERIOR_H

#include "policies/lib/lp.h"

/* Solves the programme as gsim_lp_solve does. No row may be GSIM_LP_EQUAL, and a column has the
 * upper bound 0 or none. A row or column that stands for several equal ones has their number in
 * row_count or column_count; NULL: all are 1. Programmes of which the rows leave no room together
 * end with GSIM_LP_STUCK, also where an optimum, or none, could be proved. */
enum gsim_lp_end gsim_lp_centre(struct gsim_lp *lp, const double *row_count,
                                const double *column_count);

#endif
