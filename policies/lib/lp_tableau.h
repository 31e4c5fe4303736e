/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The dense tableau of a simplex method, of which an exchange swaps a row's variable with a
 * column's in place.
 *
 * A tableau of many columns is far larger than the processor's caches, and an exchange changes all
 * of it. So exchanges are noted. A row takes those that it has yet to take when it is asked for,
 * and all rows take theirs when GSIM_TABLEAU_NOTED of them are noted: the tableau goes through the
 * caches once for that many exchanges. Each cell meets the operations in the order of the
 * exchanges, so that its value is, to the last bit, what it would be by each of them at once. */
#ifndef GSIM_POLICIES_LIB_LP_TABLEAU_H
#define GSIM_POLICIES_LIB_LP_TABLEAU_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

enum { GSIM_TABLEAU_NOTED = 8 };

struct gsim_tableau {
    struct gsim_arena *arena;
    uint32_t n_rows, n_columns;
    double *cell; /* row by row */
    double *column; /* by row: the column that was last asked for */
    /* Of the exchanges that are noted: the row that the others lose parts of, how much each row
     * loses of it, and the number of exchanges that each row has taken. */
    double *pivot, *part;
    uint32_t *n_taken, n_noted;
    uint64_t room;
    uint32_t room_rows, room_columns;
};

/* Begins a tableau, of which all cells have yet to be set. false: no memory. */
bool gsim_tableau_begin(struct gsim_tableau *t, uint32_t n_rows, uint32_t n_columns);
/* Forgets the exchanges that rows have not taken: all cells are to be set anew. */
void gsim_tableau_forget(struct gsim_tableau *t);
/* The row as it is after all exchanges; before the first its cells may be set. */
double *gsim_tableau_row(struct gsim_tableau *t, uint32_t row);
/* Sets `column` to the column as it is after all exchanges. */
void gsim_tableau_ask(struct gsim_tableau *t, uint32_t column);
/* Exchanges the row with the column, which was the last to be asked for. */
void gsim_tableau_exchange(struct gsim_tableau *t, uint32_t row, uint32_t column);

#endif
