/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest way to give each row a place of its own in queues: the assignment problem, by
 * shortest augmenting paths (Jonker and Volgenant, Computing 38, 1987; Crouse, "On implementing 2D
 * rectangular assignment algorithms", IEEE TAES 52, 2016). Places that lie equally far from the end
 * of queues of one type cost a row equally much, so that they are compared once for all of them,
 * and no place is looked at behind the first that is free in every queue. Costs are doubles of
 * which only sums, differences and products with whole numbers are taken, in a fixed order (see
 * lp.h). */
#ifndef GSIM_POLICIES_LIB_ASSIGNMENT_H
#define GSIM_POLICIES_LIB_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct gsim_assignment {
    uint32_t n_rows, n_queues, n_types;
    const uint32_t *type; /* of a queue; queues of one type stand beside each other */
    /* A row at place k of a queue, 1 for the last, costs k times what it takes on the queue's type,
     * and its own cost besides. takes has a cell for each row and type; below 0: the row cannot be
     * there, and costs more than any that can. */
    const double *takes, *own;
    /* The result: place * n_queues + queue of each row, where places count from 0, the last. */
    uint32_t *column_of;
};

/* There are as many places in each queue as there are rows. Of equal paths one to a free place is
 * taken; so equal assignments are chosen as by the program that reference=gavel copies (scipy's
 * linear_sum_assignment). false: no memory. */
bool gsim_assign(struct gsim_assignment *assignment, struct gsim_arena *arena);

#endif
