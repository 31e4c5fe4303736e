/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are assigned one after the other. Row and column, a place in a queue, have a price each, by
 * which no cost is less than the sum of its two; a path from the new row over columns that are
 * taken to one that is free, shortest in what costs exceed their prices, moves the rows on it.
 * Prices move once a row, and columns that are not reached yet stand in a list, the last first, in
 * which the last one takes the place of one that is reached: so equal paths are decided as Crouse
 * has it.
 *
 * The columns of one place and one type are a bucket. What a way to a column of it is before the
 * column's price depends on the bucket alone, and rounding keeps order; so a step of the search
 * costs a bucket one sum, and the nearest column of a bucket is the one of the highest price. Free
 * columns have the price 0, so that of a type the nearest ones are at the first place with a free
 * one, and later places are looked at only where they are as near.
 *
 * Ways grow with the place. So of some buckets of a type beside each other, a chunk, none is nearer
 * by a step than the way to the first less the highest price of all, and a step costs a chunk one
 * sum as long as another column is nearer than that. */
#include "policies/lib/assignment.h"

#include <assert.h>
#include <float.h>

#define ROW_NONE UINT32_MAX
#define NO_PRICE (-DBL_MAX) /* of a column while it is reached: none is farther */

enum { CHUNK = 16 };

/* The buckets of a type at CHUNK places beside each other. */
struct chunk {
    double nearest; /* the least way by the steps that were looked at, less the price */
    double bound; /* by no other step is a bucket nearer */
    double most; /* the highest price */
    uint32_t place, type, n_steps; /* the first place; the steps that were looked at */
};

/* By bucket of a chunk: the shortest way to it by these steps, without prices; the highest price
 * of its columns. */
struct buckets {
    double way[CHUNK], best[CHUNK];
};

/* A row that is reached and how far it is; the column that is reached next, and what that had. */
struct step {
    uint32_t row, column, rank;
    double level, price;
};

struct search {
    const struct gsim_assignment *a;
    struct gsim_arena *arena;
    uint32_t n_places, room; /* in sight: no column of the last one is taken; with memory */
    uint32_t *first, *end; /* queues of a type */
    double *row_price;
    struct step *step;
    uint32_t n_reached; /* columns, in this search */
    /* by column; ROW_NONE: it is free; the last in the list has the rank 0 */
    double *price;
    uint32_t *row_of, *rank_of, *ranked; /* ranked: the column of a rank */
    /* of the first places by type, then of the next */
    struct chunk *chunk;
    struct buckets *buckets;
};

/* --- columns and buckets ---------------------------------------------------------------------- */

static size_t chunk_at(const struct search *s, uint32_t place, uint32_t type) {
    return (size_t)(place / CHUNK) * s->a->n_types + type;
}

/* Of the chunks with a place in sight. */
static size_t n_chunks(const struct search *s) {
    return chunk_at(s, s->n_places - 1, 0) + s->a->n_types;
}

static uint32_t place_of(const struct search *s, uint32_t column) {
    return column / s->a->n_queues;
}

static uint32_t type_of(const struct search *s, uint32_t column) {
    return s->a->type[column % s->a->n_queues];
}

/* Ways over the row of a step to the places of a type, without the prices of columns. */
struct ways {
    double level, takes, own, price;
};

static struct ways ways_over(const struct search *s, const struct step *step, uint32_t type) {
    const double never = 1e18;
    double takes = s->a->takes[(size_t)step->row * s->a->n_types + type];
    bool is_never = takes < 0;
    return (struct ways){step->level, is_never ? never : takes, is_never ? 0 : s->a->own[step->row],
                         s->row_price[step->row]};
}

static double way_to(const struct ways *ways, uint32_t place) {
    return ways->level + (ways->takes * (double)(place + 1) + ways->own) - ways->price;
}

/* The highest price of the columns of a bucket, which is not above `most`. */
static double best_price(const struct search *s, uint32_t place, uint32_t type, double most) {
    const double *price = s->price + (size_t)place * s->a->n_queues;
    double best = NO_PRICE;
    for (uint32_t queue = s->first[type]; queue < s->end[type] && best < most; queue++)
        best = price[queue] > best ? price[queue] : best;
    return best;
}

static double lower(double a, double b) {
    return a < b ? a : b;
}

static void find_extremes(const struct search *s, size_t c) {
    const struct buckets *buckets = &s->buckets[c];
    double nearest = DBL_MAX, most = NO_PRICE;
    for (uint32_t i = 0; i < CHUNK; i++) {
        nearest = lower(buckets->way[i] - buckets->best[i], nearest);
        most = buckets->best[i] > most ? buckets->best[i] : most;
    }
    s->chunk[c].nearest = nearest;
    s->chunk[c].most = most;
}

/* No step was looked at, and no place is in sight. */
static void clear_chunk(const struct search *s, size_t c) {
    s->chunk[c] = (struct chunk){.nearest = DBL_MAX,
                                 .bound = DBL_MAX,
                                 .most = NO_PRICE,
                                 .place = (uint32_t)(c / s->a->n_types) * CHUNK,
                                 .type = (uint32_t)(c % s->a->n_types)};
    for (uint32_t i = 0; i < CHUNK; i++) {
        s->buckets[c].way[i] = DBL_MAX;
        s->buckets[c].best[i] = NO_PRICE;
    }
}

static bool grow_block(struct gsim_arena *arena, void *block, size_t n, size_t size) {
    void **place = block, *grown = gsim_arena_grow_raw(arena, *place, n * size);
    *place = grown ? grown : *place;
    return grown != NULL;
}

static bool grow(struct search *s, uint32_t room) {
    size_t n = (size_t)room * s->a->n_queues;
    size_t n_blocks = (size_t)(room / CHUNK + 1) * s->a->n_types;
    s->room = room;
    return grow_block(s->arena, &s->price, n, sizeof *s->price) &&
           grow_block(s->arena, &s->row_of, n, sizeof *s->row_of) &&
           grow_block(s->arena, &s->rank_of, n, sizeof *s->rank_of) &&
           grow_block(s->arena, &s->ranked, n, sizeof *s->ranked) &&
           grow_block(s->arena, &s->chunk, n_blocks, sizeof *s->chunk) &&
           grow_block(s->arena, &s->buckets, n_blocks, sizeof *s->buckets);
}

/* One more place of each queue comes into sight. */
static bool add_place(struct search *s) {
    uint32_t place = s->n_places, n = s->a->n_queues;
    if (place == s->room && !grow(s, 2 * s->room + 1))
        return false;
    s->n_places++;
    for (uint32_t column = place * n; column < (place + 1) * n; column++) {
        s->price[column] = 0;
        s->row_of[column] = ROW_NONE;
        s->rank_of[column] = s->ranked[column] = column;
    }
    for (uint32_t type = 0; type < s->a->n_types; type++) {
        size_t c = chunk_at(s, place, type);
        if (place % CHUNK == 0)
            clear_chunk(s, c);
        s->buckets[c].best[place % CHUNK] = best_price(s, place, type, DBL_MAX);
    }
    return true;
}

/* --- the nearest column ----------------------------------------------------------------------- */

/* Shortens the ways to the buckets of a chunk, over the row of a step. */
static void shorten(struct buckets *buckets, uint32_t place, const struct ways *ways) {
    for (uint32_t i = 0; i < CHUNK; i++)
        buckets->way[i] = lower(way_to(ways, place + i), buckets->way[i]);
}

/* Looks at the steps that the bound stands for. */
static void look_at_steps(const struct search *s, size_t c) {
    struct chunk *chunk = &s->chunk[c];
    for (; chunk->n_steps <= s->n_reached; chunk->n_steps++) {
        const struct ways ways = ways_over(s, &s->step[chunk->n_steps], chunk->type);
        shorten(&s->buckets[c], chunk->place, &ways);
    }
    chunk->bound = DBL_MAX;
    find_extremes(s, c);
}

/* Lowers the bounds by the row that was reached last. Returns the least distance by other rows. */
static double lower_bounds(const struct search *s, uint32_t type) {
    const struct ways ways = ways_over(s, &s->step[s->n_reached], type);
    double least = DBL_MAX;
    for (size_t c = type, n = n_chunks(s); c < n; c += s->a->n_types) {
        struct chunk *chunk = &s->chunk[c];
        chunk->bound = lower(way_to(&ways, chunk->place) - chunk->most, chunk->bound);
        least = lower(chunk->nearest, least);
    }
    return least;
}

/* The least distance, with the row that was reached last. A chunk has its steps looked at where one
 * may lead as near. */
static double find_nearest(const struct search *s) {
    double least = DBL_MAX;
    for (uint32_t type = 0; type < s->a->n_types; type++)
        least = lower(lower_bounds(s, type), least);
    for (size_t c = 0, n = n_chunks(s); c < n; c++)
        if (s->chunk[c].bound <= least) {
            look_at_steps(s, c);
            least = lower(s->chunk[c].nearest, least);
        }
    return least;
}

/* Whether the last place in sight is as near as the nearest column. */
static bool is_last_as_near(const struct search *s, double least) {
    uint32_t i = (s->n_places - 1) % CHUNK;
    bool is_near = false;
    for (size_t c = chunk_at(s, s->n_places - 1, 0), n = n_chunks(s); c < n; c++)
        is_near |= s->buckets[c].way[i] - s->buckets[c].best[i] <= least;
    return is_near;
}

/* Brings places into sight that are as near as the nearest column. */
static bool look_further(struct search *s, double least) {
    while (s->n_places < s->a->n_rows && is_last_as_near(s, least)) {
        if (!add_place(s))
            return false;
        for (uint32_t type = 0; type < s->a->n_types; type++)
            look_at_steps(s, chunk_at(s, s->n_places - 1, type));
    }
    return true;
}

struct choice {
    double least;
    uint32_t taken, free; /* ROW_NONE: none */
};

/* Looks at the columns of a bucket that are as near as the nearest: the first in the list of those
 * that are taken, and the last of those that are free. */
static void choose_of(const struct search *s, uint32_t place, uint32_t type, double way,
                      struct choice *c) {
    uint32_t first = place * s->a->n_queues, end = first + s->end[type];
    const double *price = s->price, least = c->least;
    for (uint32_t column = first + s->first[type]; column < end; column++) {
        if (way - price[column] > least)
            continue;
        uint32_t rank = s->rank_of[column];
        if (s->row_of[column] == ROW_NONE) {
            if (c->free == ROW_NONE || rank < s->rank_of[c->free])
                c->free = column;
        } else if (c->taken == ROW_NONE || rank > s->rank_of[c->taken])
            c->taken = column;
    }
}

/* A free column comes before others that are as near. */
static uint32_t choose(const struct search *s, double least) {
    struct choice choice = {.least = least, .taken = ROW_NONE, .free = ROW_NONE};
    for (size_t c = 0, n = n_chunks(s); c < n; c++) {
        const struct buckets *buckets = &s->buckets[c];
        for (uint32_t i = 0; s->chunk[c].nearest <= least && i < CHUNK; i++)
            if (buckets->way[i] - buckets->best[i] <= least)
                choose_of(s, s->chunk[c].place + i, s->chunk[c].type, buckets->way[i], &choice);
    }
    return choice.free != ROW_NONE ? choice.free : choice.taken;
}

/* --- one more row ----------------------------------------------------------------------------- */

static void swap_ranks(struct search *s, uint32_t a, uint32_t b) {
    uint32_t column = s->ranked[a];
    s->ranked[a] = s->ranked[b];
    s->ranked[b] = column;
    s->rank_of[s->ranked[a]] = a;
    s->rank_of[s->ranked[b]] = b;
}

static void reach(struct search *s, uint32_t column, double level) {
    struct step *step = &s->step[s->n_reached];
    uint32_t place = place_of(s, column), type = type_of(s, column);
    size_t c = chunk_at(s, place, type);
    double *best = &s->buckets[c].best[place % CHUNK];
    step[0].column = column;
    step[0].rank = s->rank_of[column];
    step[0].price = s->price[column];
    step[1] = (struct step){.row = s->row_of[column], .level = level};
    swap_ranks(s, s->n_reached++, step->rank);
    s->price[column] = NO_PRICE;
    *best = best_price(s, place, type, *best);
    find_extremes(s, c);
}

/* The step over which the way to a reached column is shortest, the first of equal ones. */
static uint32_t step_to(const struct search *s, uint32_t column) {
    uint32_t place = place_of(s, column), type = type_of(s, column), i = 0;
    const struct step *step = &s->step[s->rank_of[column]];
    for (;; i++) {
        struct ways ways = ways_over(s, &s->step[i], type);
        if (way_to(&ways, place) - step[0].price <= step[1].level)
            return i;
    }
}

/* Moves the rows on the path to a free column. */
static void move_rows(struct search *s, uint32_t column) {
    uint32_t i;
    do {
        i = step_to(s, column);
        uint32_t row = s->step[i].row, before = s->a->column_of[row];
        s->row_of[column] = row;
        s->a->column_of[row] = column;
        column = before;
    } while (i > 0);
}

/* Reached columns cost less by as much as they are nearer than the free one; so their rows cost
 * more. The list is as it was. */
static void move_prices(struct search *s) {
    double level = s->step[s->n_reached].level;
    while (s->n_reached > 0) {
        const struct step *step = &s->step[--s->n_reached];
        s->row_price[step->row] += level - step->level;
        s->price[step->column] = step->price - (level - step[1].level);
        swap_ranks(s, s->n_reached, step->rank);
    }
}

static void begin_search(struct search *s, uint32_t row) {
    s->step[0] = (struct step){.row = row};
    for (size_t c = 0, n = n_chunks(s); c < n; c++) {
        clear_chunk(s, c);
        const struct chunk *chunk = &s->chunk[c];
        for (uint32_t i = 0; i < CHUNK && chunk->place + i < s->n_places; i++)
            s->buckets[c].best[i] = best_price(s, chunk->place + i, chunk->type, DBL_MAX);
        find_extremes(s, c);
    }
}

/* Where a column of the last place in sight is taken, one more comes into sight. */
static bool assign_row(struct search *s, uint32_t row) {
    uint32_t column;
    begin_search(s, row);
    do {
        double level = find_nearest(s);
        if (!look_further(s, level))
            return false;
        column = choose(s, level);
        assert(column != ROW_NONE);
        reach(s, column, level);
    } while (s->row_of[column] != ROW_NONE);
    move_rows(s, column);
    move_prices(s);
    bool is_last = place_of(s, column) + 1 == s->n_places && s->n_places < s->a->n_rows;
    return !is_last || add_place(s);
}

/* --- all rows --------------------------------------------------------------------------------- */

static void find_types(struct search *s) {
    for (uint32_t queue = 0; queue < s->a->n_queues; queue++) {
        uint32_t type = s->a->type[queue];
        assert(s->end[type] == 0 || s->end[type] == queue);
        if (s->end[type] == 0)
            s->first[type] = queue;
        s->end[type] = queue + 1;
    }
}

bool gsim_assign(struct gsim_assignment *a, struct gsim_arena *arena) {
    struct search s = {.a = a, .arena = arena};
    size_t n = a->n_rows;
    s.first = gsim_arena_grow(arena, NULL, 0, 2 * (size_t)a->n_types * sizeof *s.first);
    s.row_price = gsim_arena_grow(arena, NULL, 0, n * sizeof *s.row_price);
    s.step = gsim_arena_grow(arena, NULL, 0, (n + 1) * sizeof *s.step);
    bool is_done = s.first && s.row_price && s.step;
    if (is_done) {
        s.end = s.first + a->n_types;
        find_types(&s);
        is_done = add_place(&s);
    }
    for (uint32_t row = 0; is_done && row < a->n_rows; row++)
        is_done = assign_row(&s, row);
    void *blocks[] = {s.first,   s.row_price, s.step,  s.price,  s.row_of,
                      s.rank_of, s.ranked,    s.chunk, s.buckets};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        gsim_arena_drop(arena, blocks[i]);
    return is_done;
}
