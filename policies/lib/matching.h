/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matchings of the largest weight in general graphs: pairs of vertices, each vertex in one at most.
 * Source: Edmonds, "Maximum matching and a polyhedron with 0,1-vertices", 1965, with labels as in
 * Galil, "Efficient algorithms for finding maximum matching in graphs", ACM Computing Surveys 1986;
 * O(n^3). Vertices are looked at in their order, by which ties are broken.
 *
 * Only + - * / and comparisons touch the numbers. Where weights are whole numbers below 2^40, all
 * labels are halves of whole numbers, and the matching is exact. */
#ifndef GSIM_POLICIES_LIB_MATCHING_H
#define GSIM_POLICIES_LIB_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

#define GSIM_MATCHING_ALONE UINT32_MAX

struct gsim_matching {
    uint32_t n; /* vertices */
    /* Of the edge from u to v at [u * n + v]; 0 or less: there is no edge. The two directions may
     * differ by rounding, no more. */
    const double *weight;
    /* The search ends where a label would fall to 0, or to this part of itself. */
    double tolerance;
    uint32_t *mate; /* the result; GSIM_MATCHING_ALONE */
};

/* Room is taken from the arena. false: no memory. */
bool gsim_matching_solve(struct gsim_matching *matching, struct gsim_arena *arena);

#endif
