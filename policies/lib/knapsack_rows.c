/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows with one choice compete for the units of a kind: of those that ask for as many units of it, no
 * more have theirs than fit together, and these are the rows that gain most, of equal gains the first
 * ones (any other would change places with one of them, and the solution would be cheaper, or equal
 * and preferred). All others are decided without a search. Where states may be cut, the solution is
 * not known to be the cheapest, and all rows are searched. */
#include "policies/lib/knapsack_rows.h"

#include <string.h>

#include "policies/lib/heap.h"

/* Of two rows that ask for as much, the one that gains less comes later. */
static int by_gain(const void *left, const void *right) {
    const struct gsim_knapsack_rival *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

static bool is_never_cut(const struct gsim_knapsack *k) {
    uint64_t states = 1;
    for (uint32_t kind = 0; kind < k->n_kinds && states <= GSIM_KNAPSACK_STATES; kind++)
        states *= (uint64_t)k->capacity[kind] + 1;
    return states <= GSIM_KNAPSACK_STATES;
}

/* The group of rows that ask for as many units of a kind as this choice. */
static size_t group_of(const struct gsim_knapsack *k, const struct gsim_choice *choice) {
    size_t group = choice->units;
    for (uint32_t kind = 0; kind < choice->kind; kind++)
        group += (size_t)k->capacity[kind] + 1;
    return group;
}

static size_t count_groups(const struct gsim_knapsack *k) {
    return group_of(k, &(struct gsim_choice){.kind = k->n_kinds});
}

static bool reserve(struct gsim_knapsack *k) {
    size_t groups = count_groups(k) + 1;
    if (k->n_rows > k->room_rivals) {
        k->room_rivals = 2 * k->n_rows;
        k->rival = gsim_arena_array(k->arena, k->room_rivals, sizeof *k->rival);
        k->is_kept = gsim_arena_array(k->arena, k->room_rivals, sizeof *k->is_kept);
    }
    if (groups > k->room_groups) {
        k->group_end = gsim_arena_array(k->arena, groups, sizeof *k->group_end);
        k->room_groups = groups;
    }
    return (k->n_rows == 0 || (k->rival && k->is_kept)) && k->group_end;
}

/* The only choice of a row; NULL: the row has several. */
static const struct gsim_choice *only_choice(const struct gsim_knapsack *k, uint32_t r) {
    return k->row[r].n == 1 ? &k->choice[k->row[r].first] : NULL;
}

static bool can_have(const struct gsim_knapsack *k, const struct gsim_choice *choice) {
    return choice->units <= k->capacity[choice->kind];
}

/* Rows with several choices are kept; those with one are counted by group. */
static void count_rivals(struct gsim_knapsack *k) {
    memset(k->group_end, 0, (count_groups(k) + 1) * sizeof *k->group_end);
    for (uint32_t r = 0; r < k->n_rows; r++) {
        const struct gsim_choice *choice = only_choice(k, r);
        k->is_kept[r] = k->row[r].n > 1;
        if (choice && can_have(k, choice))
            k->group_end[group_of(k, choice) + 1]++;
    }
}

/* Puts the rows of a group beside each other; group_end then says where each group ends. */
static void gather_rivals(struct gsim_knapsack *k) {
    for (size_t group = 0; group < count_groups(k); group++)
        k->group_end[group + 1] += k->group_end[group];
    for (uint32_t r = 0; r < k->n_rows; r++) {
        const struct gsim_choice *choice = only_choice(k, r);
        if (choice && can_have(k, choice))
            k->rival[k->group_end[group_of(k, choice)]++] =
                (struct gsim_knapsack_rival){choice->cost - k->row[r].none_cost, r};
    }
}

/* Keeps the first rows of a group, as many as fit together. */
static void keep_first(struct gsim_knapsack *k, uint32_t first, uint32_t end, uint32_t most) {
    struct gsim_heap heap = {
        .items = k->rival + first, .n = end - first, .size = sizeof *k->rival, .by_rank = by_gain};
    gsim_heap_pile(&heap);
    for (uint32_t i = 0; i < most && heap.n > 0; i++) {
        const struct gsim_knapsack_rival *next = gsim_heap_take(&heap);
        k->is_kept[next->row] = true;
    }
}

static void keep_rivals(struct gsim_knapsack *k) {
    uint32_t first = 0;
    size_t group = 0;
    for (uint32_t kind = 0; kind < k->n_kinds; kind++)
        for (uint32_t units = 0; units <= k->capacity[kind]; units++) {
            uint32_t end = k->group_end[group++];
            keep_first(k, first, end, units > 0 ? k->capacity[kind] / units : end - first);
            first = end;
        }
}

bool gsim_knapsack_find_rows(struct gsim_knapsack *k) {
    bool is_every = !is_never_cut(k);
    if (!is_every) {
        if (!reserve(k))
            return false;
        count_rivals(k);
        gather_rivals(k);
        keep_rivals(k);
    }
    k->n_kept = 0;
    for (uint32_t r = 0; r < k->n_rows; r++)
        if (is_every || k->is_kept[r])
            k->kept[k->n_kept++] = r;
    return true;
}
