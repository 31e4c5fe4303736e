/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which matrices stay. One beats another if it is no worse in both objectives, and better in one.
 * Those that none beats have rank 0; those that only these beat have rank 1, and so on. */
#include "policies/adaptdl/search.h"

#include <float.h>
#include <string.h>

enum { MOST = 2 * POLLUX_POPULATION };
static const double endless = 1e14; /* the room of the outermost ones */

static bool is_before(const struct pollux_one *a, const struct pollux_one *b) {
    return a->cost[0] != b->cost[0] ? a->cost[0] < b->cost[0] : a->cost[1] < b->cost[1];
}

/* Sorts by the objectives; equal ones stay in order. */
static void sort_costs(struct pollux_one *one, uint32_t n) {
    struct pollux_one room[MOST];
    if (n < 2)
        return;
    uint32_t half = n / 2, a = 0, b = half;
    sort_costs(one, half);
    sort_costs(one + half, n - half);
    for (uint32_t i = 0; i < n; i++) {
        bool takes_b = b < n && (a == half || is_before(&one[b], &one[a]));
        room[i] = one[takes_b ? b++ : a++];
    }
    memcpy(one, room, n * sizeof *one);
}

static bool beats(const struct pollux_one *a, const struct pollux_one *b) {
    return a->cost[0] <= b->cost[0] && a->cost[1] <= b->cost[1] &&
           (a->cost[0] < b->cost[0] || a->cost[1] < b->cost[1]);
}

/* Sorted, the last one of a rank has the least second objective of it: if it does not beat the next
 * one, none of its rank does. Returns the number of ranks. */
static uint32_t rank(struct pollux_one *one, uint32_t n) {
    const struct pollux_one *last[MOST];
    uint32_t n_ranks = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = n_ranks;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (beats(last[middle], &one[i]))
                low = middle + 1;
            else
                high = middle;
        }
        n_ranks += low == n_ranks;
        last[low] = &one[i];
        one[i].rank = low;
    }
    return n_ranks;
}

/* Sets how far the neighbours of each one of a rank are; one with equal objectives beside it is of
 * no use. */
static void crowd(struct pollux_one *const *front, uint32_t n) {
    struct pollux_one *apart[MOST];
    uint32_t n_apart = 0;
    for (uint32_t i = 0; i < n; i++) {
        front[i]->crowding = n <= 2 ? endless : 0;
        const struct pollux_one *before = n_apart > 0 ? apart[n_apart - 1] : NULL;
        if (!before || before->cost[0] != front[i]->cost[0] || before->cost[1] != front[i]->cost[1])
            apart[n_apart++] = front[i];
    }
    if (n <= 2 || n_apart < 2)
        return;
    double wide = apart[n_apart - 1]->cost[0] - apart[0]->cost[0];
    double deep = apart[0]->cost[1] - apart[n_apart - 1]->cost[1];
    apart[0]->crowding = apart[n_apart - 1]->crowding = endless;
    for (uint32_t i = 1; i + 1 < n_apart; i++)
        apart[i]->crowding = ((apart[i + 1]->cost[0] - apart[i - 1]->cost[0]) / wide +
                              (apart[i - 1]->cost[1] - apart[i + 1]->cost[1]) / deep) /
                             2;
}

/* Puts the `n_stay` least crowded ones first; of equals, lots decide. */
static void choose(struct pollux_search *search, struct pollux_one **front, uint32_t n,
                   uint32_t n_stay) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t at = (uint32_t)gsim_random_below(&search->random, i);
        struct pollux_one *one = front[at];
        front[at] = front[i - 1];
        front[i - 1] = one;
    }
    for (uint32_t i = 0; i < n_stay; i++) {
        uint32_t best = i;
        for (uint32_t k = i + 1; k < n; k++)
            best = front[k]->crowding > front[best]->crowding ? k : best;
        struct pollux_one *one = front[best];
        front[best] = front[i];
        front[i] = one;
    }
}

void pollux_survive(struct pollux_search *search) {
    struct pollux_one *one = search->one, *front[MOST], kept[MOST];
    sort_costs(one, search->n);
    uint32_t n_ranks = rank(one, search->n), n_kept = 0, n_gone = search->n;
    for (uint32_t r = 0; r < n_ranks; r++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < search->n; i++)
            if (one[i].rank == r)
                front[n++] = &one[i];
        uint32_t room = POLLUX_POPULATION > n_kept ? POLLUX_POPULATION - n_kept : 0;
        if (room > 0)
            crowd(front, n);
        if (room > 0 && n > room)
            choose(search, front, n, room);
        for (uint32_t i = 0; i < n; i++)
            if (i < room)
                kept[n_kept++] = *front[i];
            else
                kept[--n_gone] = *front[i];
    }
    memcpy(one, kept, search->n * sizeof *one);
    search->n = n_kept;
}
