/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/adaptdl/search.h"

#include <string.h>

enum { MOST_MATINGS = 100, ROOM = 2 * POLLUX_POPULATION };
/* Pairs that exchange rows: 0.9 of 2^64, which is pymoo's value for a crossover that names none
 * (pymoo/model/crossover.py). */
static const uint64_t crossing = UINT64_C(16602069666338596454);

static size_t size_of(const struct pollux_problem *p) {
    return (size_t)p->n_jobs * p->n_nodes;
}

/* --- room ------------------------------------------------------------------------------------- */

static bool reserve(struct pollux_search *search, const struct pollux_problem *p) {
    if (p->n_jobs <= search->room_jobs)
        return true;
    uint32_t jobs = 2 * p->n_jobs, more = jobs > p->n_nodes ? jobs : p->n_nodes;
    size_t size = (size_t)jobs * p->n_nodes, was = (size_t)search->room_jobs * p->n_nodes;
    for (uint32_t i = 0; i < ROOM; i++)
        if (!(search->one[i].cell = gsim_arena_array(search->arena, size, 1)))
            return false;
    for (uint32_t i = 0; i < POLLUX_POPULATION; i++)
        if (!(search->kept[i] = gsim_arena_grow(search->arena, search->kept[i], was, size)))
            return false;
    search->scratch = gsim_arena_array(search->arena, more, sizeof *search->scratch);
    search->kept_job =
        gsim_arena_grow(search->arena, search->kept_job, search->room_jobs * sizeof(uint32_t),
                        jobs * sizeof(uint32_t));
    search->kept_row = gsim_arena_array(search->arena, jobs, sizeof *search->kept_row);
    search->room_jobs = jobs;
    return search->scratch && search->kept_job && search->kept_row;
}

/* --- one matrix ------------------------------------------------------------------------------- */

static void evaluate(const struct pollux_problem *p, uint8_t *is_used, struct pollux_one *one) {
    double slowness = 0, speeds = 0;
    uint32_t in_use = 0;
    memset(is_used, 0, p->n_nodes);
    for (uint32_t j = 0; j < p->n_jobs; j++) {
        const uint8_t *row = one->cell + (size_t)j * p->n_nodes;
        uint32_t gpus = 0, nodes = 0;
        for (uint32_t n = 0; n < p->n_nodes; n++) {
            gpus += row[n];
            nodes += row[n] > 0;
            is_used[n] |= row[n];
        }
        double speed = gpus > 0 ? p->speed(p->arg, j, nodes > 1, gpus) : 0;
        speeds += speed;
        speed = speed / p->n_gpus * p->n_nodes;
        if (memcmp(row, p->base + (size_t)j * p->n_nodes, p->n_nodes) != 0)
            speed *= p->factor[j];
        slowness += 1 / (speed + 1e-3);
    }
    for (uint32_t n = 0; n < p->n_nodes; n++)
        in_use += is_used[n] ? p->node_gpus[n] : 0;
    one->cost[0] = -(p->n_jobs / slowness);
    one->cost[1] = in_use > 0 ? -(speeds / in_use) : 0;
}

static void set_hash(const struct pollux_problem *p, struct pollux_one *one) {
    uint64_t hash = 0;
    for (size_t at = 0, size = size_of(p); at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, one->cell + at, size - at < 8 ? size - at : 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    one->hash = hash;
}

/* Counts the matrix after those that are there, if it is not one of them. */
static bool add(struct pollux_search *search, const struct pollux_problem *p) {
    struct pollux_one *one = &search->one[search->n];
    set_hash(p, one);
    for (uint32_t i = 0; i < search->n; i++)
        if (search->one[i].hash == one->hash &&
            memcmp(search->one[i].cell, one->cell, size_of(p)) == 0)
            return false;
    evaluate(p, (uint8_t *)search->scratch, one);
    search->n++;
    return true;
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

static void begin(struct pollux_search *search, const struct pollux_problem *p) {
    const uint32_t *to = search->kept_row;
    match(search, p);
    search->n = 0;
    for (uint32_t i = 0; i < search->n_kept; i++) {
        uint8_t *cell = search->one[search->n].cell;
        memset(cell, 0, size_of(p));
        for (uint32_t k = 0; k < search->n_kept_jobs; k++)
            if (to[k] < p->n_jobs)
                memcpy(cell + (size_t)to[k] * p->n_nodes, search->kept[i] + (size_t)k * p->n_nodes,
                       p->n_nodes);
        pollux_repair(search, p, cell);
        (void)add(search, p);
    }
    if (search->n_kept == 0) {
        memcpy(search->one[0].cell, p->base, size_of(p));
        pollux_repair(search, p, search->one[0].cell);
        (void)add(search, p);
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

/* A child has the rows of one parent up to a job, and those of the other from there on. */
static void bear(struct pollux_search *search, const struct pollux_problem *p,
                 const struct pollux_one *first, const struct pollux_one *second, size_t split) {
    struct pollux_one *child = &search->one[search->n];
    memcpy(child->cell, second->cell, split);
    memcpy(child->cell + split, first->cell + split, size_of(p) - split);
    pollux_mutate(search, p, child->cell);
    pollux_repair(search, p, child->cell);
    (void)add(search, p);
}

/* false: no child differs from all that are there. */
static bool mate(struct pollux_search *search, const struct pollux_problem *p) {
    uint32_t n_parents = search->n, n_wanted = n_parents + POLLUX_POPULATION;
    for (uint32_t i = 0; i < MOST_MATINGS && search->n < n_wanted; i++) {
        struct lots lots = {.n = n_parents, .next = n_parents};
        uint32_t n_pairs = (n_wanted - search->n + 1) / 2;
        for (uint32_t pair = 0; pair < n_pairs; pair++) {
            const struct pollux_one *a = parent(search, &lots), *b = parent(search, &lots);
            uint64_t at = gsim_random_below(&search->random, p->n_jobs);
            size_t split = (size_t)at * p->n_nodes;
            if (gsim_random_next(&search->random) >= crossing)
                split = 0;
            bear(search, p, a, b, split);
            if (search->n < n_wanted)
                bear(search, p, b, a, split);
        }
    }
    return search->n > n_parents;
}

/* Keeps the first rank, and returns the best of it by the first objective. */
static const uint8_t *keep(struct pollux_search *search, const struct pollux_problem *p) {
    const struct pollux_one *best = NULL;
    search->n_kept = 0;
    for (uint32_t i = 0; i < search->n; i++) {
        const struct pollux_one *one = &search->one[i];
        if (one->rank > 0)
            continue;
        memcpy(search->kept[search->n_kept++], one->cell, size_of(p));
        best = !best || one->cost[0] < best->cost[0] ? one : best;
    }
    memcpy(search->kept_job, p->job, p->n_jobs * sizeof *p->job);
    search->n_kept_jobs = p->n_jobs;
    return best->cell;
}

const uint8_t *pollux_search(struct pollux_search *search, const struct pollux_problem *p) {
    if (!reserve(search, p))
        return NULL;
    begin(search, p);
    for (uint32_t g = 1; g < search->generations && mate(search, p); g++)
        pollux_survive(search);
    return keep(search, p);
}
