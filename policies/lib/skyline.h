/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A symmetric matrix of which each line is stored from its first entry on, and its factors L D L'.
 * Lines that are full of zeros at their beginning cost little: lines that have entries in all
 * others belong at the end. The order of lines is the caller's, and no pivot is searched: D is
 * positive in some lines and negative in others, as the caller says ("quasidefinite": Vanderbei,
 * "Symmetric quasidefinite matrices", 1995). Only + - * / touch the numbers, in an order that the
 * code fixes. */
#ifndef GSIM_POLICIES_LIB_SKYLINE_H
#define GSIM_POLICIES_LIB_SKYLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct gsim_skyline {
    struct gsim_arena *arena;
    uint32_t n, room;
    uint32_t *first; /* of a line: its first column */
    uint64_t *line; /* of a line: where its cells begin; without the diagonal */
    double *cell, *diagonal;
    uint64_t cells_room;
};

/* Begins a matrix of n lines without entries. false: no memory. */
bool gsim_skyline_begin(struct gsim_skyline *m, uint32_t n);
/* There may be an entry in these two lines. */
void gsim_skyline_reach(struct gsim_skyline *m, uint32_t a, uint32_t b);
/* After all entries were named: makes the room for them. false: no memory. */
bool gsim_skyline_shape(struct gsim_skyline *m);
void gsim_skyline_clear(struct gsim_skyline *m);

/* The cells of a line by column, of which those before its first are not its own. */
static inline double *gsim_skyline_line(const struct gsim_skyline *m, uint32_t line) {
    return m->cell + m->line[line] - m->first[line];
}

static inline void gsim_skyline_add(struct gsim_skyline *m, uint32_t a, uint32_t b, double value) {
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low == high)
        m->diagonal[low] += value;
    else
        m->cell[m->line[high] + low - m->first[high]] += value;
}

/* Replaces the matrix by its factors. is_negative, by line: the sign of D. A number of D that is
 * lost in rounding, or has the other sign by it, is replaced by 2e-7 of the right sign. */
void gsim_skyline_factorise(struct gsim_skyline *m, const bool *is_negative);
/* Replaces the right side by the solution. */
void gsim_skyline_solve(const struct gsim_skyline *m, double *right);

#endif
