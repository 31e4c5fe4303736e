/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The partial allocation mechanism (Cole, Gkatzelis and Goel, "Mechanism Design for Fair Division",
 * EC 2013), as Themis uses it: GPUs are allotted so that the product of the bidders' values is the
 * largest, and each bidder keeps the part of its own that its presence leaves to the others: the
 * product of their values with it over that without it. A bidder that says more than is true then
 * loses by it. */
#ifndef GSIM_POLICIES_THEMIS_AUCTION_H
#define GSIM_POLICIES_THEMIS_AUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct gsim_bidder {
    uint32_t most; /* GPUs that it can use */
    const double *log_value; /* of 0 to `most` GPUs */
    uint32_t won; /* the answer: of the largest product */
    double kept; /* the part of it that the bidder keeps, 0 to 1 */
};

/* Exact, in n_bidders * n_gpus * most steps. false: no memory. */
bool gsim_auction(struct gsim_bidder *bidder, uint32_t n_bidders, uint32_t n_gpus,
                  struct gsim_arena *arena);

#endif
