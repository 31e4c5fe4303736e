/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest choices of rows, one each at most, within the capacities of a few kinds: the
 * multiple-choice knapsack of several capacities (Kellerer, Pferschy and Pisinger, Knapsack
 * Problems, Springer 2004, chapters 9 and 11), exactly and in whole numbers.
 *
 * Of rows with one choice those are searched that gain most. Rows are decided one after the other.
 * Of all partial choices that use as much of each kind the cheapest one is kept, so that a row has
 * no more states than the product of (capacity + 1). Prices of the kinds (a Lagrangian) say what a
 * partial choice comes to at least; one that cannot come below a known solution is dropped. With
 * one kind a row takes choices * capacity steps. With more kinds the prices leave some hundreds of
 * states; the worst case is cut at GSIM_KNAPSACK_STATES of a row, and is_proven then says that the
 * solution may not be the cheapest. */
#ifndef GSIM_POLICIES_LIB_KNAPSACK_H
#define GSIM_POLICIES_LIB_KNAPSACK_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

enum { GSIM_KNAPSACK_KINDS = 6, GSIM_KNAPSACK_STATES = 1 << 18 };
#define GSIM_NO_CHOICE UINT32_MAX

/* Units of one kind; costs are from 0 up to 2^40. */
struct gsim_choice {
    int64_t cost;
    uint32_t kind, units;
};

struct gsim_choice_row {
    uint32_t first, n; /* its choices */
    int64_t none_cost; /* of no choice; from 0 up to 2^40 */
};

/* Partial choices up to a row. */
struct gsim_knapsack_state {
    uint64_t used; /* units of each kind, in fields of bits */
    int64_t sum; /* beyond the least that the rows cost at these prices */
    uint32_t from, choice; /* the state of the row before, and the choice that led here */
};

struct gsim_knapsack_states {
    struct gsim_knapsack_state *state;
    uint32_t n, room;
};

/* A row with one choice, and what that costs beyond none. */
struct gsim_knapsack_rival {
    int64_t cost;
    uint32_t row;
};

struct gsim_knapsack {
    struct gsim_arena *arena;
    uint32_t n_kinds, n_rows; /* fewer than 2^16 rows */
    uint32_t capacity[GSIM_KNAPSACK_KINDS];
    const struct gsim_choice_row *row;
    const struct gsim_choice *choice;
    /* found: */
    uint32_t *chosen; /* by row: which of all choices, or GSIM_NO_CHOICE */
    int64_t cost;
    bool is_proven;
    /* rooms that are kept between two calls */
    uint32_t room_rows, room_rivals;
    size_t room_groups;
    uint32_t *kept, n_kept; /* rows that are searched */
    uint32_t *end; /* by kept row: its last state + 1 */
    struct gsim_knapsack_rival *rival; /* rows with one choice, by what they ask for */
    uint32_t *group_end; /* where those end that ask for as many units of a kind */
    bool *is_kept; /* by row */
    struct gsim_knapsack_states all, reached, merged;
    int64_t *sum; /* scratch: those of states that are cut */
    uint32_t room_sums;
    uint32_t shift[GSIM_KNAPSACK_KINDS];
    int64_t price[GSIM_KNAPSACK_KINDS], bound, known;
    bool is_cut;
};

/* Whether such capacities can be counted: as bits, 64 of all kinds together. */
bool gsim_knapsack_can(const uint32_t *capacity, uint32_t n_kinds);
/* Whether all states of these capacities are few enough that none is cut. Then rows with one choice
 * that ask for as much have it only if they gain most, of equal gains the first ones, and no more
 * of them than fit together: a caller may leave out others. */
bool gsim_knapsack_is_exact(const struct gsim_knapsack *knapsack);
/* Of equally cheap solutions the one that uses less of the last kind, then of the one before it,
 * and so on; then later rows prefer no choice, and their first ones. false: no memory. */
bool gsim_knapsack(struct gsim_knapsack *knapsack);

#endif
