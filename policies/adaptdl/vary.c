/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lots that change a matrix, and the limits that it has to keep. */
#include "policies/adaptdl/search.h"

#include <stdlib.h>
#include <string.h>

/* 2^64 / 10 */
static const uint64_t tenth = UINT64_C(1844674407370955161);

static uint64_t chance(double probability) {
    return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 18446744073709551616.0);
}

/* --- changes ---------------------------------------------------------------------------------- */

/* Rows go back to how they are. Of a row without GPUs here and there no lot is drawn. */
static void reset_rows(struct pollux_search *search, const struct pollux_problem *p) {
    const struct pollux_cells *born = &search->born, *base = &p->base;
    uint32_t a = 0, b = 0;
    search->draft.n = 0;
    while (a < born->n || b < base->n) {
        uint32_t job = a < born->n ? born->cell[a].job : base->cell[b].job;
        if (b < base->n && base->cell[b].job < job)
            job = base->cell[b].job;
        uint32_t n_born = pollux_row(born, a, job), n_base = pollux_row(base, b, job);
        if (gsim_random_next(&search->random) < tenth)
            pollux_put(&search->draft, base->cell + b, n_base);
        else
            pollux_put(&search->draft, born->cell + a, n_born);
        a += n_born;
        b += n_base;
    }
}

static void empty_cells(struct pollux_search *search) {
    struct pollux_cells *draft = &search->draft;
    uint32_t n = 0;
    for (uint32_t at = 0, end; at < draft->n; at = end) {
        end = at + pollux_row(draft, at, draft->cell[at].job);
        bool loses = gsim_random_next(&search->random) < tenth;
        for (uint32_t i = at; i < end; i++)
            if (!loses || gsim_random_next(&search->random) >= tenth)
                draft->cell[n++] = draft->cell[i];
    }
    draft->n = n;
}

/* How many of n lots hit, each with that probability: the distribution is gone through until a lot
 * is reached. */
static uint32_t hits(struct gsim_random *random, uint32_t n, double probability) {
    if (probability >= 1)
        return n;
    double misses = 1 - probability, part = 1, power = misses;
    for (uint32_t left = n; left > 0; left /= 2, power *= power)
        part *= left % 2 ? power : 1;
    double lot = (double)(gsim_random_next(random) >> 11) / 9007199254740992.0; /* 2^53 */
    uint32_t k = 0;
    for (; k < n && lot >= part; k++) {
        lot -= part;
        part *= probability / misses * (n - k) / (k + 1);
    }
    return k;
}

static int order(uint32_t a_job, uint32_t a_node, const struct pollux_cell *b) {
    if (a_job != b->job)
        return a_job < b->job ? -1 : 1;
    return a_node < b->node ? -1 : a_node > b->node;
}

static int by_place(const void *a, const void *b) {
    const struct pollux_cell *cell = a;
    return order(cell->job, cell->node, b);
}

/* Whether the job has GPUs of the node among the first n cells, which are sorted. */
static bool is_there(const struct pollux_cells *draft, uint32_t n, uint32_t job, uint32_t node) {
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int is = order(job, node, &draft->cell[middle]);
        if (is == 0)
            return true;
        if (is < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* About one of the jobs that have no GPU of the node gets some, or none by the last lot. */
static void fill_empty(struct pollux_search *search, const struct pollux_problem *p, uint32_t node,
                       uint32_t n_sorted) {
    struct pollux_cells *draft = &search->draft;
    uint32_t from = draft->n, n_empty = p->n_jobs - search->by_node[1][node];
    uint32_t n = hits(&search->random, n_empty, 1.0 / p->n_jobs);
    while (draft->n - from < n) {
        uint32_t job = (uint32_t)gsim_random_below(&search->random, p->n_jobs);
        bool is_known = is_there(draft, n_sorted, job, node);
        for (uint32_t i = from; i < draft->n; i++)
            is_known |= draft->cell[i].job == job;
        if (is_known)
            continue;
        uint32_t gpus = (uint32_t)gsim_random_below(&search->random, p->node_gpus[node] + 1);
        draft->cell[draft->n++] = (struct pollux_cell){job, node, gpus};
    }
}

/* Puts the cells from n on, which are in no order, to where they belong among those before. */
static void merge(struct pollux_search *search, uint32_t n) {
    struct pollux_cells *draft = &search->draft, *sorted = &search->born;
    qsort(draft->cell + n, draft->n - n, sizeof *draft->cell, by_place);
    sorted->n = 0;
    for (uint32_t a = 0, b = n; a < n || b < draft->n;) {
        bool takes_b = a == n || (b < draft->n && by_place(&draft->cell[b], &draft->cell[a]) < 0);
        pollux_put(sorted, &draft->cell[takes_b ? b++ : a++], 1);
    }
    struct pollux_cells other = *draft;
    *draft = *sorted;
    *sorted = other;
}

/* On each node with a free GPU: about one job of all, and about one of those that are there, gets
 * more. */
static void fill_nodes(struct pollux_search *search, const struct pollux_problem *p) {
    struct pollux_cells *draft = &search->draft;
    uint32_t *used = search->by_node[0], *there = search->by_node[1], n = draft->n;
    memset(used, 0, p->n_nodes * sizeof *used);
    memset(there, 0, p->n_nodes * sizeof *there);
    for (uint32_t i = 0; i < n; i++) {
        used[draft->cell[i].node] += draft->cell[i].gpus;
        there[draft->cell[i].node]++;
    }
    double some = 1.0 / p->n_jobs;
    for (uint32_t i = 0; i < n; i++) {
        struct pollux_cell *cell = &draft->cell[i];
        uint32_t all = p->node_gpus[cell->node];
        if (used[cell->node] >= all)
            continue;
        double one = 1.0 / there[cell->node];
        if (gsim_random_next(&search->random) <= chance(some + one - some * one))
            cell->gpus += (uint32_t)gsim_random_below(&search->random, all - cell->gpus + 1);
    }
    for (uint32_t node = 0; node < p->n_nodes; node++)
        if (used[node] < p->node_gpus[node])
            fill_empty(search, p, node, n);
    if (draft->n > n)
        merge(search, n);
}

void pollux_mutate(struct pollux_search *search, const struct pollux_problem *p) {
    reset_rows(search, p);
    empty_cells(search);
    fill_nodes(search, p);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* The GPUs and nodes of a row. */
static struct pollux_cell sum_of(const struct pollux_cell *row, uint32_t n) {
    struct pollux_cell sum = {.job = row->job};
    for (uint32_t i = 0; i < n; i++) {
        sum.gpus += row[i].gpus;
        sum.node += row[i].gpus > 0;
    }
    return sum;
}

/* Of the jobs on several nodes, the first one stays on each node. */
static void part_spread(struct pollux_cell *row, uint32_t n, uint32_t *is_taken) {
    if (sum_of(row, n).node < 2)
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (is_taken[row[i].node])
            row[i].gpus = 0;
        is_taken[row[i].node] |= row[i].gpus > 0;
    }
}

/* Takes GPUs beyond a job's limits from nodes by lot. */
static void cut_row(struct pollux_search *search, const struct pollux_problem *p,
                    struct pollux_cell *row, uint32_t n) {
    uint32_t *turn = search->order, gpus = 0, nodes = 0, most = p->most[row->job];
    struct pollux_cell sum = sum_of(row, n);
    if (sum.gpus <= most && sum.node <= p->most_nodes)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)gsim_random_below(&search->random, i + 1);
        turn[i] = turn[at];
        turn[at] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = nodes < p->most_nodes ? most - gpus : 0;
        uint32_t *here = &row[turn[i]].gpus;
        *here = *here > left ? left : *here;
        gpus += *here;
        nodes += *here > 0;
    }
}

/* A node has as many GPUs as it has: later jobs get those that earlier ones leave. */
static void cut_nodes(const struct pollux_cells *draft, const struct pollux_problem *p,
                      uint32_t *left, struct pollux_cells *into) {
    memcpy(left, p->node_gpus, p->n_nodes * sizeof *left);
    into->n = 0;
    for (uint32_t i = 0; i < draft->n; i++) {
        struct pollux_cell cell = draft->cell[i];
        cell.gpus = cell.gpus > left[cell.node] ? left[cell.node] : cell.gpus;
        left[cell.node] -= cell.gpus;
        if (cell.gpus > 0)
            pollux_put(into, &cell, 1);
    }
}

void pollux_repair(struct pollux_search *search, const struct pollux_problem *p,
                   struct pollux_cells *into) {
    struct pollux_cells *draft = &search->draft;
    memset(search->by_node[0], 0, p->n_nodes * sizeof *search->by_node[0]);
    for (uint32_t at = 0, n; at < draft->n; at += n) {
        n = pollux_row(draft, at, draft->cell[at].job);
        if (p->avoids)
            part_spread(draft->cell + at, n, search->by_node[0]);
        cut_row(search, p, draft->cell + at, n);
    }
    cut_nodes(draft, p, search->by_node[0], into);
}
