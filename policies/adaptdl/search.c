/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/adaptdl/search.h"

#include <string.h>

enum { MOST_MATINGS = 100, ROOM = 2 * POLLUX_POPULATION };
/* Pairs that exchange rows: 0.9 of 2^64, which is pymoo's value for a crossover that names none
 * (pymoo/model/crossover.py). */
static const uint64_t crossing = UINT64_C(16602069666338596454);
/* What a job without GPUs counts as (simulator/pollux.py), so that it is not endlessly slow. */
static const double least_speed = 1e-3;

/* --- room ------------------------------------------------------------------------------------- */

static bool make_room(struct pollux_search *search, struct pollux_cells *cells, size_t n) {
    cells->cell = gsim_arena_array(search->arena, n, sizeof *cells->cell);
    return cells->cell != NULL;
}

static uint32_t *numbers(struct pollux_search *search, uint32_t n) {
    return gsim_arena_array(search->arena, n, sizeof(uint32_t));
}

static bool reserve_once(struct pollux_search *search, const struct pollux_problem *p) {
    for (uint32_t i = 0; i < ROOM; i++)
        if (!make_room(search, &search->one[i].is, p->n_gpus))
            return false;
    for (uint32_t i = 0; i < POLLUX_POPULATION; i++)
        if (!make_room(search, &search->kept[i], p->n_gpus))
            return false;
    search->by_node[0] = numbers(search, p->n_nodes);
    search->by_node[1] = numbers(search, p->n_nodes);
    search->order = numbers(search, p->n_nodes);
    return search->by_node[0] && search->by_node[1] && search->order;
}

static bool reserve(struct pollux_search *search, const struct pollux_problem *p) {
    if (p->n_jobs <= search->room_jobs)
        return true;
    if (search->room_jobs == 0 && !reserve_once(search, p))
        return false;
    uint32_t jobs = 2 * p->n_jobs;
    /* jobs that have a cell of each node; before repairs, GPUs are no limit */
    size_t all = (size_t)jobs * p->n_nodes;
    search->kept_job =
        gsim_arena_grow(search->arena, search->kept_job, search->room_jobs * sizeof(uint32_t),
                        jobs * sizeof(uint32_t));
    search->kept_row = numbers(search, jobs);
    search->kept_of = numbers(search, jobs);
    search->kept_first = numbers(search, jobs);
    search->room_jobs = jobs;
    return make_room(search, &search->born, all) && make_room(search, &search->draft, all) &&
           search->kept_job && search->kept_row && search->kept_of && search->kept_first;
}

/* --- one matrix ------------------------------------------------------------------------------- */

static double speed_of(const struct pollux_problem *p, const struct pollux_cell *row, uint32_t n) {
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < n; i++)
        gpus += row[i].gpus;
    return p->speed(p->arg, row->job, n > 1, gpus);
}

/* Jobs without GPUs have no speed. */
static void evaluate(const struct pollux_problem *p, uint32_t *is_used, struct pollux_one *one) {
    const struct pollux_cells *is = &one->is, *base = &p->base;
    double slowness = 0, speeds = 0;
    uint32_t in_use = 0, n_with = 0;
    memset(is_used, 0, p->n_nodes * sizeof *is_used);
    for (uint32_t at = 0, was = 0, n; at < is->n; at += n, n_with++) {
        const struct pollux_cell *row = is->cell + at;
        n = pollux_row(is, at, row->job);
        double speed = speed_of(p, row, n);
        speeds += speed;
        speed = speed / p->n_gpus * p->n_nodes;
        while (was < base->n && base->cell[was].job < row->job)
            was++;
        if (n != pollux_row(base, was, row->job) || !pollux_are_equal(row, base->cell + was, n))
            speed *= p->factor[row->job];
        slowness += 1 / (speed + least_speed);
        for (uint32_t i = 0; i < n; i++) {
            in_use += is_used[row[i].node] ? 0 : p->node_gpus[row[i].node];
            is_used[row[i].node] = 1;
        }
    }
    slowness += (p->n_jobs - n_with) / least_speed;
    one->cost[0] = -(p->n_jobs / slowness);
    one->cost[1] = in_use > 0 ? -(speeds / in_use) : 0;
}

static void set_hash(struct pollux_one *one) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < one->is.n; i++) {
        const struct pollux_cell *cell = &one->is.cell[i];
        uint64_t word = (uint64_t)cell->job << 40 ^ (uint64_t)cell->node << 8 ^ cell->gpus;
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    one->hash = hash;
}

/* The slot of the matrix, or the one that it is to have. */
static uint16_t *slot_of(struct pollux_search *search, const struct pollux_one *one) {
    for (uint64_t at = one->hash;; at++) {
        uint16_t *slot = &search->slot[at % POLLUX_SLOTS];
        const struct pollux_one *there = *slot > 0 ? &search->one[*slot - 1] : NULL;
        if (!there || (there->hash == one->hash && there->is.n == one->is.n &&
                       pollux_are_equal(there->is.cell, one->is.cell, one->is.n)))
            return slot;
    }
}

/* Counts the matrix after those that are there, if it is not one of them. */
static void add(struct pollux_search *search, const struct pollux_problem *p) {
    struct pollux_one *one = &search->one[search->n];
    set_hash(one);
    uint16_t *slot = slot_of(search, one);
    if (*slot > 0)
        return;
    evaluate(p, search->by_node[0], one);
    *slot = (uint16_t)++search->n;
}

/* --- the first ones --------------------------------------------------------------------------- */

/* The row of this search that a row of the last one becomes; n_jobs: none. The program reads both
 * lists by the places of the jobs that are in both, although their orders may differ. */
static uint32_t row_of(const struct pollux_problem *p, uint32_t number) {
    uint32_t j = 0;
    while (j < p->n_jobs && p->job[j] != number)
        j++;
    return j;
}

static bool was_kept(const struct pollux_search *search, uint32_t number) {
    for (uint32_t k = 0; k < search->n_kept_jobs; k++)
        if (search->kept_job[k] == number)
            return true;
    return false;
}

/* Fills in, by row of the last search, the row of this one. */
static void match(struct pollux_search *search, const struct pollux_problem *p) {
    uint32_t next = 0;
    for (uint32_t k = 0; k < search->n_kept_jobs; k++) {
        uint32_t row = row_of(p, search->kept_job[k]);
        if (row < p->n_jobs && p->is_by_place) {
            while (!was_kept(search, p->job[next]))
                next++;
            row = next++;
        }
        search->kept_row[k] = row;
    }
}

/* Makes the draft of a matrix of the last search: its rows, where they are now. */
static void adopt(struct pollux_search *search, const struct pollux_problem *p,
                  const struct pollux_cells *kept) {
    memset(search->kept_first, 0, search->n_kept_jobs * sizeof *search->kept_first);
    for (uint32_t i = kept->n; i > 0; i--)
        search->kept_first[kept->cell[i - 1].job] = i;
    search->draft.n = 0;
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        uint32_t was = search->kept_of[j];
        uint32_t first = was < search->n_kept_jobs ? search->kept_first[was] : 0;
        if (first == 0)
            continue;
        uint32_t n = pollux_row(kept, first - 1, was), from = search->draft.n;
        pollux_put(&search->draft, kept->cell + first - 1, n);
        for (uint32_t i = from; i < search->draft.n; i++)
            search->draft.cell[i].job = j;
    }
}

static void begin(struct pollux_search *search, const struct pollux_problem *p) {
    match(search, p);
    for (uint32_t j = 0; j < p->n_jobs; j++)
        search->kept_of[j] = UINT32_MAX;
    for (uint32_t k = 0; k < search->n_kept_jobs; k++)
        if (search->kept_row[k] < p->n_jobs)
            search->kept_of[search->kept_row[k]] = k;
    search->n = 0;
    memset(search->slot, 0, sizeof search->slot);
    for (uint32_t i = 0; i < search->n_kept; i++) {
        adopt(search, p, &search->kept[i]);
        pollux_repair(search, p, &search->one[search->n].is);
        add(search, p);
    }
    if (search->n_kept == 0) {
        search->draft.n = 0;
        pollux_put(&search->draft, p->base.cell, p->base.n);
        pollux_repair(search, p, &search->one[0].is);
        add(search, p);
    }
    pollux_survive(search);
}

/* --- generations ------------------------------------------------------------------------------ */

/* Lots without putting back: each one comes once before any comes twice. */
struct lots {
    uint32_t of[ROOM];
    uint32_t n, next;
};

static uint32_t draw(struct pollux_search *search, struct lots *lots) {
    if (lots->next == lots->n) {
        for (uint32_t i = 0; i < lots->n; i++) {
            uint32_t at = (uint32_t)gsim_random_below(&search->random, i + 1);
            lots->of[i] = lots->of[at];
            lots->of[at] = i;
        }
        lots->next = 0;
    }
    return lots->of[lots->next++];
}

/* The better one of two by lot, or the less crowded one. */
static const struct pollux_one *parent(struct pollux_search *search, struct lots *lots) {
    const struct pollux_one *a = &search->one[draw(search, lots)];
    const struct pollux_one *b = &search->one[draw(search, lots)];
    bool better = a->cost[0] < b->cost[0] || a->cost[1] < b->cost[1];
    bool worse = a->cost[0] > b->cost[0] || a->cost[1] > b->cost[1];
    if (better != worse)
        return better ? a : b;
    if (a->crowding != b->crowding)
        return a->crowding > b->crowding ? a : b;
    return gsim_random_below(&search->random, 2) ? a : b;
}

/* The place of the first cell of a row from this one on. */
static uint32_t first_from(const struct pollux_cells *cells, uint32_t row) {
    uint32_t low = 0, high = cells->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (cells->cell[middle].job < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A child has the rows of one parent up to a job, and those of the other from there on. */
static void bear(struct pollux_search *search, const struct pollux_problem *p,
                 const struct pollux_cells *first, const struct pollux_cells *second,
                 uint32_t split) {
    uint32_t from = first_from(first, split);
    search->born.n = 0;
    pollux_put(&search->born, second->cell, first_from(second, split));
    pollux_put(&search->born, first->cell + from, first->n - from);
    pollux_mutate(search, p);
    pollux_repair(search, p, &search->one[search->n].is);
    add(search, p);
}

/* false: no child differs from all that are there. */
static bool mate(struct pollux_search *search, const struct pollux_problem *p) {
    uint32_t n_parents = search->n, n_wanted = n_parents + POLLUX_POPULATION;
    memset(search->slot, 0, sizeof search->slot);
    for (uint32_t i = 0; i < n_parents; i++)
        *slot_of(search, &search->one[i]) = (uint16_t)(i + 1);
    for (uint32_t i = 0; i < MOST_MATINGS && search->n < n_wanted; i++) {
        struct lots lots = {.n = n_parents, .next = n_parents};
        uint32_t n_pairs = (n_wanted - search->n + 1) / 2;
        for (uint32_t pair = 0; pair < n_pairs; pair++) {
            const struct pollux_one *a = parent(search, &lots), *b = parent(search, &lots);
            uint32_t split = (uint32_t)gsim_random_below(&search->random, p->n_jobs);
            if (gsim_random_next(&search->random) >= crossing)
                split = 0;
            bear(search, p, &a->is, &b->is, split);
            if (search->n < n_wanted)
                bear(search, p, &b->is, &a->is, split);
        }
    }
    return search->n > n_parents;
}

/* Keeps the first rank, and returns the best of it by the first objective. */
static const struct pollux_cells *keep(struct pollux_search *search,
                                       const struct pollux_problem *p) {
    const struct pollux_one *best = NULL;
    search->n_kept = 0;
    for (uint32_t i = 0; i < search->n; i++) {
        const struct pollux_one *one = &search->one[i];
        if (one->rank > 0)
            continue;
        struct pollux_cells *kept = &search->kept[search->n_kept++];
        kept->n = 0;
        pollux_put(kept, one->is.cell, one->is.n);
        best = !best || one->cost[0] < best->cost[0] ? one : best;
    }
    memcpy(search->kept_job, p->job, p->n_jobs * sizeof *p->job);
    search->n_kept_jobs = p->n_jobs;
    return &best->is;
}

const struct pollux_cells *pollux_search(struct pollux_search *search,
                                         const struct pollux_problem *p) {
    if (!reserve(search, p))
        return NULL;
    begin(search, p);
    for (uint32_t g = 1; g < search->generations && mate(search, p); g++)
        pollux_survive(search);
    return keep(search, p);
}
