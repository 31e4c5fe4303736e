/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which matrices stay. One beats another if it is no worse in both objectives, and better in one.
 * Those that none beats have rank 0; those that only these beat have rank 1, and so on. */
#include "policies/adaptdl/search.h"

#include <float.h>
#include <string.h>

enum { MOST = 2 * POLLUX_POPULATION };
static const double endless = 1e14; /* the room of the outermost ones */

typedef bool ranks_before(const struct pollux_one *a, const struct pollux_one *b);

static bool costs_less(const struct pollux_one *a, const struct pollux_one *b) {
    return a->cost[0] != b->cost[0] ? a->cost[0] < b->cost[0] : a->cost[1] < b->cost[1];
}

static bool is_less_crowded(const struct pollux_one *a, const struct pollux_one *b) {
    return a->crowding > b->crowding;
}

/* Equal ones stay in order. */
static void sort_ones(struct pollux_one **one, uint32_t n, ranks_before *is_before) {
    struct pollux_one *room[MOST];
    if (n < 2)
        return;
    uint32_t half = n / 2, a = 0, b = half;
    sort_ones(one, half, is_before);
    sort_ones(one + half, n - half, is_before);
    for (uint32_t i = 0; i < n; i++) {
        bool takes_b = b < n && (a == half || is_before(one[b], one[a]));
        room[i] = one[takes_b ? b++ : a++];
    }
    memcpy(one, room, n * sizeof(struct pollux_one *));
}

static bool beats(const struct pollux_one *a, const struct pollux_one *b) {
    return a->cost[0] <= b->cost[0] && a->cost[1] <= b->cost[1] &&
           (a->cost[0] < b->cost[0] || a->cost[1] < b->cost[1]);
}

/* Sorted, the last one of a rank has the least second objective of it: if it does not beat the next
 * one, none of its rank does. */
static void rank(struct pollux_one *const *one, uint32_t n) {
    const struct pollux_one *last[MOST];
    uint32_t n_ranks = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t low = 0, high = n_ranks;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (beats(last[middle], one[i]))
                low = middle + 1;
            else
                high = middle;
        }
        n_ranks += low == n_ranks;
        last[low] = one[i];
        one[i]->rank = low;
    }
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

/* Puts the least crowded ones first; of equals, lots decide. */
static void choose(struct pollux_search *search, struct pollux_one **front, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t at = (uint32_t)gsim_random_below(&search->random, i);
        struct pollux_one *one = front[at];
        front[at] = front[i - 1];
        front[i - 1] = one;
    }
    sort_ones(front, n, is_less_crowded);
}

/* Puts ranks one after the other; those of one stay in order. */
static void by_rank(struct pollux_one **one, uint32_t n, uint32_t *end) {
    struct pollux_one *sorted[MOST];
    uint32_t next[MOST + 1] = {0};
    for (uint32_t i = 0; i < n; i++)
        next[one[i]->rank + 1]++;
    for (uint32_t r = 0; r < MOST; r++)
        end[r] = next[r + 1] += next[r];
    for (uint32_t i = 0; i < n; i++)
        sorted[next[one[i]->rank]++] = one[i];
    memcpy(one, sorted, n * sizeof(struct pollux_one *));
}

void pollux_survive(struct pollux_search *search) {
    struct pollux_one *one[MOST], kept[MOST];
    uint32_t end[MOST], n = search->n, n_stay = n < POLLUX_POPULATION ? n : POLLUX_POPULATION;
    for (uint32_t i = 0; i < n; i++)
        one[i] = &search->one[i];
    sort_ones(one, n, costs_less);
    rank(one, n);
    by_rank(one, n, end);
    for (uint32_t r = 0, from = 0; from < n_stay; from = end[r++]) {
        crowd(one + from, end[r] - from);
        if (end[r] > n_stay)
            choose(search, one + from, end[r] - from);
    }
    for (uint32_t i = 0; i < n; i++)
        kept[i] = *one[i];
    memcpy(search->one, kept, n * sizeof *kept);
    search->n = n_stay;
}
