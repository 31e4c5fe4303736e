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

/* GPUs of a node that a job has. */
struct pollux_cell {
    uint32_t job, node, gpus;
};

/* A matrix: its cells that are not 0, by job, then by node. There are no more than GPUs. */
struct pollux_cells {
    struct pollux_cell *cell;
    uint32_t n;
};

struct pollux_one {
    struct pollux_cells is;
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
    struct pollux_cells base; /* the matrix as it is */
    const uint32_t *most; /* GPUs of a job */
    const double *factor; /* by job: the part of its speed that is left when its GPUs change */
    uint32_t most_nodes; /* of a job */
    bool avoids; /* no two jobs on several nodes meet on one */
    bool is_by_place; /* earlier matrices are read by the places of jobs, not by the jobs */
    /* how much faster a job is there than with its fair share of GPUs */
    double (*speed)(void *arg, uint32_t job, bool is_spread, uint32_t gpus);
    void *arg;
};

enum { POLLUX_SLOTS = 512 }; /* a power of two, twice all matrices */

struct pollux_search {
    struct gsim_arena *arena;
    struct gsim_random random;
    uint32_t generations; /* of a search */
    uint32_t room_jobs; /* that there is room for */
    struct pollux_one one[2 * POLLUX_POPULATION]; /* parents first */
    uint32_t n;
    uint16_t slot[POLLUX_SLOTS]; /* one more than the places in `one`, by hash */
    /* a child: the rows of its parents, and those rows while lots and limits change them, when
     * cells may be 0 */
    struct pollux_cells born, draft;
    /* the best matrices of the last search, and the numbers of their jobs */
    struct pollux_cells kept[POLLUX_POPULATION];
    uint32_t n_kept, n_kept_jobs;
    uint32_t *kept_job;
    uint32_t *kept_row; /* the rows that they have in this one */
    uint32_t *kept_of, *kept_first; /* by row the one that it had, and by that its first cell */
    uint32_t *by_node[2], *order; /* scratch */
};

/* The best matrix; NULL: no memory. */
const struct pollux_cells *pollux_search(struct pollux_search *search,
                                         const struct pollux_problem *problem);

/* --- parts ------------------------------------------------------------------------------------ */

/* The number of cells of the job among those from `at` on. */
static inline uint32_t pollux_row(const struct pollux_cells *cells, uint32_t at, uint32_t job) {
    uint32_t n = 0;
    while (at + n < cells->n && cells->cell[at + n].job == job)
        n++;
    return n;
}

static inline void pollux_put(struct pollux_cells *cells, const struct pollux_cell *cell,
                              uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        cells->cell[cells->n++] = cell[i];
}

static inline bool pollux_are_equal(const struct pollux_cell *a, const struct pollux_cell *b,
                                    uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (a[i].job != b[i].job || a[i].node != b[i].node || a[i].gpus != b[i].gpus)
            return false;
    return true;
}

/* Makes the draft of what was born: lots change cells back to how they are, to nothing, or up. A
 * lot is drawn only where it can change a cell, so that a matrix of many jobs on few GPUs takes no
 * more lots than one of few jobs. */
void pollux_mutate(struct pollux_search *search, const struct pollux_problem *problem);
/* Takes away from the draft what breaks a limit, and makes it a matrix. */
void pollux_repair(struct pollux_search *search, const struct pollux_problem *problem,
                   struct pollux_cells *into);
/* Ranks all candidates by which others beat them in both objectives, and keeps the best ranks; of
 * the last rank that has room, the less crowded candidates. */
void pollux_survive(struct pollux_search *search);

#endif
