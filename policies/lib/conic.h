/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programmes with many best answers, and the one at which an interior-point method ends.
 *
 * The least sum of cost * x for which every row holds: a sum of entries * x is at most the row's
 * bound, or what three rows leave of their bounds, u, fulfils u0^2 >= u1^2 + u2^2, u0 >= 0 (a
 * cone). A column is at least 0, or free. The value of an optimum is unique, the optimum often is
 * not: a simplex method ends in a corner, this one where its path meets the set of all optima.
 * Equal columns have equal values there.
 *
 * Its path is that of ECOS (Domahidi, Chu, Boyd, "ECOS: An SOCP solver for embedded systems", ECC
 * 2013), the solver behind Gavel's and Muri's programs: the homogeneous self-dual embedding,
 * Mehrotra's predictor and corrector, the first point, the scaling of rows and columns (Ruiz,
 * 2001), the length of steps, the regularisation and the tolerances of its version 2.0.10.
 * Programmes that are written as those programs hand them to ECOS therefore end at the shares of
 * ECOS, to about 1e-9 (with cones, 1e-6). Linear systems are solved in another order here, and
 * equal jobs are one column.
 *
 * Only + - * / and comparisons touch the numbers, in an order that the code fixes. */
#ifndef GSIM_POLICIES_LIB_CONIC_H
#define GSIM_POLICIES_LIB_CONIC_H

#include "gsim/arena.h"
#include "policies/lib/lp.h"

struct gsim_conic_work;

/* Zeroed at first, with the arena set; one programme after the other may be built in it. */
struct gsim_conic {
    struct gsim_arena *arena;
    bool is_sharp; /* past ECOS' tolerances, the path goes on as long as the error falls */
    uint32_t n_columns, n_lines, n_entries, n_cones;
    double *x; /* the answer, by column */
    double value; /* of it */
    uint32_t n_steps; /* of the last solution */
    struct gsim_conic_work *work;
};

/* Begins a programme of as many rows, columns and free columns, with room for the entries. false:
 * no memory. */
bool gsim_conic_begin(struct gsim_conic *p, uint32_t n_rows, uint32_t n_columns, uint32_t n_free,
                      uint32_t n_entries);
/* Adds a row that stands for `count` equal ones; returns its number. Rows are solved in their
 * order: those that share columns belong together, those with entries in all columns come last. */
uint32_t gsim_conic_row(struct gsim_conic *p, double bound, double count);
/* Makes the last three rows, which have equal counts, one cone. */
void gsim_conic_close_cone(struct gsim_conic *p);
/* Adds a column of at least 0 that stands for `count` equal ones; returns its number. */
uint32_t gsim_conic_column(struct gsim_conic *p, double cost, double count);
/* Adds a column without bounds, which is solved after the rows that there are, and before those
 * that are added later. */
uint32_t gsim_conic_free_column(struct gsim_conic *p, double cost);
/* Gives the last column an entry in a row: what one of its equal columns has in one of the equal
 * rows, and in how many of these it has it. A free column may have entries in rows of earlier
 * numbers only. */
void gsim_conic_entry(struct gsim_conic *p, uint32_t row, double value, double times);
/* GSIM_LP_STUCK: rounding kept the path from an end of ECOS' tolerances. */
enum gsim_lp_end gsim_conic_solve(struct gsim_conic *p);

#endif
