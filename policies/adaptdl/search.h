/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of Pollux for the GPUs of each job: NSGA-II (Deb et al., IEEE Transactions on
 * Evolutionary Computation 2002) as the library pymoo has it, on matrices of jobs by nodes. Two
 * objectives, of which the first decides in the end: the mean of the jobs' speeds, in which slow
 * ones weigh most (a power mean with exponent -1), and how well the nodes in use are used. */
#ifndef GSIM_POLICIES_ADAPTDL_SEARCH_H
#define GSIM_POLICIES_ADAPTDL_SEARCH_H

#include "gsim/arena.h"
#include "policies/lib/random.h"

enum { POLLUX_POPULATION = 100 };

/* A matrix: GPUs of each node by job. */
struct pollux_one {
    uint8_t *cell;
    double cost[2]; /* both objectives, the less the better */
    double crowding;
    uint64_t hash;
    uint32_t rank;
};

/* The jobs, the nodes, and the limits of a matrix. */
struct pollux_problem {
    uint32_t n_jobs, n_nodes, n_gpus;
    const uint32_t *job; /* their numbers, in the order of rows */
    const uint32_t *node_gpus;
    const uint8_t *base; /* the matrix as it is */
    const uint32_t *most; /* GPUs of a job */
    const double *factor; /* by job: the part of its speed that is left when its GPUs change */
    uint32_t most_nodes; /* of a job */
    bool avoids; /* no two jobs on several nodes meet on one */
    bool is_by_place; /* earlier matrices are read by the places of jobs, not by the jobs */
    /* how much faster a job is there than with its fair share of GPUs */
    double (*speed)(void *arg, uint32_t job, bool is_spread, uint32_t gpus);
    void *arg;
};

struct pollux_search {
    struct gsim_arena *arena;
    struct gsim_random random;
    uint32_t generations; /* of a search */
    uint32_t n_nodes;
    uint32_t room_jobs; /* that the matrices have room for */
    struct pollux_one one[2 * POLLUX_POPULATION]; /* parents first */
    uint32_t n;
    /* the best matrices of the last search, and the numbers of their jobs */
    uint8_t *kept[POLLUX_POPULATION];
    uint32_t n_kept, n_kept_jobs;
    uint32_t *kept_job;
    uint32_t *kept_row; /* the rows that they have in this one */
    uint32_t *scratch; /* by job or node, whatever is more */
};

/* The best matrix; NULL: no memory. */
const uint8_t *pollux_search(struct pollux_search *search, const struct pollux_problem *problem);

/* --- parts ------------------------------------------------------------------------------------ */

/* Changes lots of cells: back to how they are, to nothing, or up. */
void pollux_mutate(struct pollux_search *search, const struct pollux_problem *problem,
                   uint8_t *cell);
/* Takes away what breaks a limit. */
void pollux_repair(struct pollux_search *search, const struct pollux_problem *problem,
                   uint8_t *cell);
/* Ranks all candidates by which others beat them in both objectives, and keeps the best ranks; of
 * the last rank that has room, the less crowded candidates. */
void pollux_survive(struct pollux_search *search);

#endif
