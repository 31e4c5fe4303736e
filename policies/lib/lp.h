/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Linear programmes: the largest gain * x for which every row holds and 0 <= x <= upper.
 *
 * A dense tableau with bounded variables, in two phases. Its numbers are `double`, which decides
 * nothing elsewhere in gsim; here they are safe, because only + - * / and comparisons touch them,
 * in an order that the code fixes: IEEE 754 gives these five results to the last bit, so that every
 * compiler and machine makes one and the same exchanges. Scaling is by powers of two and changes no
 * digit. The column that enters has the largest gain per unit (of equals, the variable with the
 * smallest number); after a run of exchanges that gain nothing it is the first that gains, by which
 * no programme cycles (Bland, "New finite pivoting rules for the simplex method", 1977). */
#ifndef GSIM_POLICIES_LIB_LP_H
#define GSIM_POLICIES_LIB_LP_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

/* The upper bound of a column that has none. */
#define GSIM_LP_NO_BOUND DBL_MAX

enum gsim_lp_sense { GSIM_LP_AT_MOST, GSIM_LP_AT_LEAST, GSIM_LP_EQUAL };

enum gsim_lp_end {
    GSIM_LP_OPTIMAL,
    GSIM_LP_INFEASIBLE, /* no x meets all rows */
    GSIM_LP_UNBOUNDED, /* the gain has no largest value */
    GSIM_LP_STUCK, /* rounding kept the exchanges from an end that can be certified */
    GSIM_LP_NO_MEMORY
};

/* A programme and the room to solve it in. Zeroed at first, with the arena set; one after the other
 * may be built in it. */
struct gsim_lp {
    struct gsim_arena *arena;
    uint32_t n_rows, n_columns;
    double *entry; /* row by row */
    double *bound; /* of a row */
    enum gsim_lp_sense *sense;
    double *gain, *upper; /* of a column */

    /* What an optimum has. price: how much the value rises with each unit that is added to the
     * row's bound; 0 where the row leaves room. */
    double value;
    double *x, *price;
    uint32_t n_exchanges; /* of the last solution */

    struct gsim_lp_work *work;
    uint64_t room; /* rows * columns that there is memory for */
    uint32_t room_rows, room_columns;
};

/* Begins a programme of rows 0 <= 0 and columns without gain or bound. false: no memory. */
bool gsim_lp_begin(struct gsim_lp *lp, uint32_t n_rows, uint32_t n_columns);

static inline void gsim_lp_set(struct gsim_lp *lp, uint32_t row, uint32_t column, double value) {
    lp->entry[(uint64_t)row * lp->n_columns + column] = value;
}

static inline void gsim_lp_add(struct gsim_lp *lp, uint32_t row, uint32_t column, double value) {
    lp->entry[(uint64_t)row * lp->n_columns + column] += value;
}

static inline void gsim_lp_row(struct gsim_lp *lp, uint32_t row, enum gsim_lp_sense sense,
                               double bound) {
    lp->sense[row] = sense;
    lp->bound[row] = bound;
}

/* The programme itself stays as it is, and may be changed and solved again. An optimum meets rows
 * and bounds, and its prices prove it, to 1e-7 of the largest numbers in each. */
enum gsim_lp_end gsim_lp_solve(struct gsim_lp *lp);
/* "no x meets all rows", for messages. */
const char *gsim_lp_end_text(enum gsim_lp_end end);

#endif
