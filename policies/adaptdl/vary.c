/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lots that change a matrix, and the limits that it has to keep. */
#include "policies/adaptdl/search.h"

#include <string.h>

/* 2^64 / 10 */
static const uint64_t tenth = UINT64_C(1844674407370955161);

static uint64_t chance(double probability) {
    return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 18446744073709551616.0);
}

/* --- changes ---------------------------------------------------------------------------------- */

static void reset_rows(struct gsim_random *random, const struct pollux_problem *p, uint8_t *cell) {
    for (uint32_t j = 0; j < p->n_jobs; j++)
        if (gsim_random_next(random) < tenth)
            memcpy(cell + (size_t)j * p->n_nodes, p->base + (size_t)j * p->n_nodes, p->n_nodes);
}

static void empty_cells(struct gsim_random *random, const struct pollux_problem *p, uint8_t *cell) {
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        if (gsim_random_next(random) >= tenth)
            continue;
        for (uint32_t n = 0; n < p->n_nodes; n++)
            if (gsim_random_next(random) < tenth)
                cell[(size_t)j * p->n_nodes + n] = 0;
    }
}

/* On a node with a free GPU: about one job of all, and about one of those that are there, gets
 * more. */
static void fill_node(struct gsim_random *random, const struct pollux_problem *p, uint8_t *cell,
                      uint32_t node) {
    uint32_t used = 0, there = 0, all = p->node_gpus[node];
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        uint8_t gpus = cell[(size_t)j * p->n_nodes + node];
        used += gpus;
        there += gpus > 0;
    }
    if (used >= all)
        return;
    double some = 1.0 / p->n_jobs, one = there > 0 ? 1.0 / there : 0;
    uint64_t empty_chance = chance(some), there_chance = chance(some + one - some * one);
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        uint8_t *gpus = &cell[(size_t)j * p->n_nodes + node];
        if (gsim_random_next(random) <= (*gpus > 0 ? there_chance : empty_chance))
            *gpus = (uint8_t)(*gpus + gsim_random_below(random, all - *gpus + 1));
    }
}

/* The lots come from a copy of their state, which stays in registers. */
void pollux_mutate(struct pollux_search *search, const struct pollux_problem *p, uint8_t *cell) {
    struct gsim_random random = search->random;
    reset_rows(&random, p, cell);
    empty_cells(&random, p, cell);
    for (uint32_t node = 0; node < p->n_nodes; node++)
        fill_node(&random, p, cell, node);
    search->random = random;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The first row from `job` on that has a GPU: most have none. */
static uint32_t next_row(const struct pollux_problem *p, const uint8_t *cell, uint32_t job) {
    size_t at = (size_t)job * p->n_nodes, size = (size_t)p->n_jobs * p->n_nodes;
    uint64_t word = 0;
    for (; at + sizeof word <= size; at += sizeof word) {
        memcpy(&word, cell + at, sizeof word);
        if (word != 0)
            break;
    }
    while (at < size && cell[at] == 0)
        at++;
    return at < size ? (uint32_t)(at / p->n_nodes) : p->n_jobs;
}

static uint32_t nodes_of(const uint8_t *row, uint32_t n_nodes) {
    uint32_t nodes = 0;
    for (uint32_t n = 0; n < n_nodes; n++)
        nodes += row[n] > 0;
    return nodes;
}

/* Of the jobs on several nodes, the first one stays on each node. */
static void part_spread(struct pollux_search *search, const struct pollux_problem *p,
                        uint8_t *cell) {
    uint32_t *is_taken = search->scratch;
    memset(is_taken, 0, p->n_nodes * sizeof *is_taken);
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        uint8_t *row = cell + (size_t)j * p->n_nodes;
        if (nodes_of(row, p->n_nodes) < 2)
            continue;
        for (uint32_t n = 0; n < p->n_nodes; n++) {
            if (row[n] > 0 && is_taken[n])
                row[n] = 0;
            is_taken[n] |= row[n] > 0;
        }
    }
}

/* Takes GPUs beyond a job's limits from nodes by lot. */
static void cut_row(struct pollux_search *search, const struct pollux_problem *p, uint32_t job,
                    uint8_t *row) {
    uint32_t gpus = 0, nodes = 0, *order = search->scratch;
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        gpus += row[n];
        nodes += row[n] > 0;
    }
    if (gpus <= p->most[job] && nodes <= p->most_nodes)
        return;
    for (uint32_t n = 0; n < p->n_nodes; n++) {
        uint32_t at = (uint32_t)gsim_random_below(&search->random, n + 1);
        order[n] = order[at];
        order[at] = n;
    }
    gpus = nodes = 0;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        uint32_t left = nodes < p->most_nodes ? p->most[job] - gpus : 0;
        uint8_t *here = &row[order[i]];
        *here = *here > left ? (uint8_t)left : *here;
        gpus += *here;
        nodes += *here > 0;
    }
}

static void cut_nodes(struct pollux_search *search, const struct pollux_problem *p, uint8_t *cell) {
    uint32_t *left = search->scratch;
    memcpy(left, p->node_gpus, p->n_nodes * sizeof *left);
    for (uint32_t j = next_row(p, cell, 0); j < p->n_jobs; j = next_row(p, cell, j + 1)) {
        uint8_t *row = cell + (size_t)j * p->n_nodes;
        for (uint32_t n = 0; n < p->n_nodes; n++) {
            row[n] = row[n] > left[n] ? (uint8_t)left[n] : row[n];
            left[n] -= row[n];
        }
    }
}

void pollux_repair(struct pollux_search *search, const struct pollux_problem *p, uint8_t *cell) {
    if (p->avoids)
        part_spread(search, p, cell);
    for (uint32_t j = next_row(p, cell, 0); j < p->n_jobs; j = next_row(p, cell, j + 1))
        cut_row(search, p, j, cell + (size_t)j * p->n_nodes);
    cut_nodes(search, p, cell);
}
