/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muri's decision. With an empty cluster the line is walked: a gang that fits books room for one of
 * its width, and it and the next jobs of that width, up to four, are candidates. Candidates of one
 * width are packed until all fit: by a matching of the largest weight, again and again, or in their
 * order. A packing that is slower than its jobs one after the other falls apart. Packings get
 * GPUs in the order of their first jobs, passing over those that do not fit. */
#include "policies/muri/pack.h"

#include <string.h>

#include "policies/lib/matching.h"
#include "policies/muri/order.h"
#include "policies/muri/room.h"

enum { MOST_WIDTHS = 64 };

struct width {
    uint32_t gpus, n_booked, n_candidates, n_listed;
    uint32_t *job; /* candidates, in the order of the line */
};

struct widths {
    uint32_t n;
    struct width *list;
    uint32_t *room; /* memory of all lists, one after the other */
};

static double interleaved(const struct muri *muri, const struct muri_packing *packing) {
    struct gsim_stages stages[MURI_PACKED];
    for (uint32_t i = 0; i < packing->n; i++)
        stages[i] = muri->job[packing->job[i]].stages;
    return gsim_interleave_s(stages, packing->n) * muri->slower[packing->n];
}

/* Where a packing is among those that are known; a later one takes the place of an earlier one. */
static struct muri_time *known_at(const struct muri *muri, const struct muri_time *wanted) {
    uint32_t hash = 0;
    for (uint32_t i = 0; i < MURI_PACKED; i++)
        hash = (hash ^ wanted->job[i]) * 2654435769u; /* 2^32 by the golden ratio: Knuth, 6.4 */
    return &muri->known[hash >> 16];
}

double muri_packing_time(const struct muri *muri, const struct muri_packing *packing) {
    struct muri_time wanted = {.job = {MURI_NONE, MURI_NONE, MURI_NONE, MURI_NONE}};
    if (packing->n == 1)
        return muri->job[packing->job[0]].iteration;
    for (uint32_t i = 0; i < packing->n; i++)
        wanted.job[i] = packing->job[i];
    struct muri_time *known = known_at(muri, &wanted);
    if (known->time > 0 && memcmp(known->job, wanted.job, sizeof wanted.job) == 0)
        return known->time;
    wanted.time = interleaved(muri, packing);
    *known = wanted;
    return known->time;
}

/* --- candidates ------------------------------------------------------------------------------- */

static struct width *width_of(const struct widths *widths, uint32_t gpus) {
    for (uint32_t w = 0; w < widths->n; w++)
        if (widths->list[w].gpus == gpus)
            return &widths->list[w];
    return NULL;
}

static bool open_widths(const struct muri *muri, struct widths *widths) {
    struct gsim_arena *arena = muri->scratch_arena;
    widths->list = gsim_arena_array(arena, muri->n_line, sizeof *widths->list);
    widths->room = gsim_arena_array(arena, muri->n_line, sizeof *widths->room);
    if (!widths->list || !widths->room)
        return false;
    for (uint32_t i = 0; i < muri->n_line; i++) {
        uint32_t gpus = muri->job[muri->line[i]].gpus;
        struct width *width = width_of(widths, gpus);
        if (!width) {
            width = &widths->list[widths->n++];
            width->gpus = gpus;
        }
        width->n_listed++;
    }
    uint32_t *next = widths->room;
    for (uint32_t w = 0; w < widths->n; w++) {
        widths->list[w].job = next;
        next += widths->list[w].n_listed;
        widths->list[w].n_listed = 0;
    }
    for (uint32_t i = 0; i < muri->n_line; i++) {
        struct width *width = width_of(widths, muri->job[muri->line[i]].gpus);
        width->job[width->n_listed++] = muri->line[i];
    }
    return true;
}

/* A job that has no stages is a candidate by itself. */
static void book(const struct muri *muri, struct width *width) {
    uint32_t n = width->n_candidates, most = n + MURI_PACKED;
    if (muri->job[width->job[n]].is_exclusive)
        most = n + 1;
    while (n < width->n_listed && n < most)
        n++;
    width->n_candidates = n;
    width->n_booked++;
}

static void choose_candidates(struct muri *muri, struct widths *widths) {
    muri_room_clear(&muri->room);
    for (uint32_t i = 0; i < muri->n_line; i++) {
        struct width *width = width_of(widths, muri->job[muri->line[i]].gpus);
        bool is_next = width->n_candidates < width->n_listed &&
                       width->job[width->n_candidates] == muri->line[i];
        if (is_next && muri_room_take(&muri->room, width->gpus, NULL))
            book(muri, width);
    }
}

static uint32_t gpus_of(const struct muri_packings *packings) {
    uint32_t gpus = 0;
    for (uint32_t p = 0; p < packings->n; p++)
        gpus += packings->list[p].gpus;
    return gpus;
}

static struct muri_packing alone(uint32_t gpus, uint32_t number) {
    return (struct muri_packing){.n = 1, .gpus = gpus, .job = {number}};
}

static void join(struct muri_packing *to, const struct muri_packing *from) {
    for (uint32_t i = 0; i < from->n; i++)
        to->job[to->n++] = from->job[i];
}

/* --- by a matching ---------------------------------------------------------------------------- */

static bool may_join(const struct muri *muri, const struct muri_packing *a,
                     const struct muri_packing *b) {
    return a->n + b->n <= MURI_PACKED && !muri->job[a->job[0]].is_exclusive &&
           !muri->job[b->job[0]].is_exclusive;
}

static double stages_of(const struct muri *muri, const struct muri_packing *a,
                        const struct muri_packing *b) {
    double sum = 0;
    for (uint32_t i = 0; i < a->n; i++)
        sum += gsim_stages_sum(&muri->job[a->job[i]].stages);
    for (uint32_t i = 0; i < b->n; i++)
        sum += gsim_stages_sum(&muri->job[b->job[i]].stages);
    return sum;
}

/* Whole numbers make the matching exact. */
static double whole(double weight) {
    return (double)(int64_t)(weight * (double)(1 << 30));
}

/* The part of four resources that two packings as one would use. */
static void weigh(const struct muri *muri, const struct muri_packing *list, uint32_t n,
                  double *weight) {
    for (uint32_t u = 0; u < n; u++)
        for (uint32_t v = u + 1; v < n; v++) {
            if (!may_join(muri, &list[u], &list[v]))
                continue;
            struct muri_packing both = list[u];
            join(&both, &list[v]);
            double time = muri_packing_time(muri, &both) * MURI_PACKED;
            weight[(size_t)u * n + v] = stages_of(muri, &list[u], &list[v]) / time;
            weight[(size_t)v * n + u] = stages_of(muri, &list[v], &list[u]) / time;
            if (!muri->is_reference)
                weight[(size_t)u * n + v] = weight[(size_t)v * n + u] =
                    whole(weight[(size_t)u * n + v]);
        }
}

/* Whether some two packings may be one. */
static bool may_any_join(const struct muri *muri, const struct muri_packing *list, uint32_t n) {
    uint32_t n_open = 0;
    for (uint32_t u = 0; u < n && n_open < 2; u++)
        n_open += list[u].n < MURI_PACKED && !muri->job[list[u].job[0]].is_exclusive;
    return n_open == 2;
}

/* The pairs of a matching of packings of one width; false: no memory. */
static bool match(const struct muri *muri, const struct muri_packing *list, uint32_t n,
                  uint32_t *mate) {
    struct gsim_arena *arena = muri->scratch_arena;
    for (uint32_t u = 0; u < n; u++)
        mate[u] = GSIM_MATCHING_ALONE;
    if (!may_any_join(muri, list, n))
        return true;
    double *weight = gsim_arena_array(arena, (size_t)n * n, sizeof *weight);
    struct gsim_matching matching = {
        .n = n, .weight = weight, .tolerance = muri->tolerance, .mate = mate};
    if (!weight)
        return false;
    weigh(muri, list, n, weight);
    return gsim_matching_solve(&matching, arena);
}

/* Pairs become packings at the place of their second, as long as not all fit. */
static void join_pairs(const struct muri *muri, const struct muri_packing *list, uint32_t n,
                       const uint32_t *mate, uint32_t *required, struct muri_packings *out) {
    for (uint32_t u = 0; u < n; u++) {
        if (mate[u] != GSIM_MATCHING_ALONE && mate[u] > u)
            continue;
        uint32_t first = mate[u] == GSIM_MATCHING_ALONE ? u : mate[u];
        bool is_pair = first != u;
        out->list[out->n++] = list[first];
        if (!is_pair)
            continue;
        if (*required <= muri->n_gpus) {
            out->list[out->n++] = list[u];
            continue;
        }
        join(&out->list[out->n - 1], &list[u]);
        *required -= list[u].gpus;
    }
}

/* One pass over all widths. Packings of a width stand beside each other. */
static bool pair_up(const struct muri *muri, const struct muri_packings *in, uint32_t *required,
                    struct muri_packings *out) {
    uint32_t *mate = gsim_arena_array(muri->scratch_arena, in->n, sizeof *mate);
    out->n = 0;
    for (uint32_t from = 0, to; mate && from < in->n; from = to) {
        for (to = from; to < in->n && in->list[to].gpus == in->list[from].gpus; to++)
            continue;
        if (!match(muri, &in->list[from], to - from, mate))
            return false;
        join_pairs(muri, &in->list[from], to - from, mate, required, out);
    }
    return mate != NULL || in->n == 0;
}

static bool pack_by_matching(struct muri *muri, const struct widths *widths,
                             struct muri_packings *packings) {
    struct muri_packings next = {
        .list = gsim_arena_array(muri->scratch_arena, muri->n_line, sizeof *next.list)};
    for (uint32_t w = 0; w < widths->n; w++)
        for (uint32_t i = 0; i < widths->list[w].n_candidates; i++)
            packings->list[packings->n++] = alone(widths->list[w].gpus, widths->list[w].job[i]);
    uint32_t required = gpus_of(packings);
    for (int pass = 0; next.list && pass < MURI_PACKED; pass++) {
        if (!pair_up(muri, packings, &required, &next))
            return false;
        struct muri_packings before = *packings;
        *packings = next;
        next = before;
        if (required <= muri->n_gpus)
            break;
    }
    return next.list != NULL;
}

/* --- in order --------------------------------------------------------------------------------- */

static void pack_in_order(const struct muri *muri, const struct widths *widths,
                          struct muri_packings *packings) {
    uint32_t required = 0;
    for (uint32_t w = 0; w < widths->n; w++)
        required += widths->list[w].n_candidates * widths->list[w].gpus;
    for (uint32_t w = 0; w < widths->n; w++) {
        const struct width *width = &widths->list[w];
        for (uint32_t i = 0; i < width->n_candidates; i += MURI_PACKED) {
            struct muri_packing packing = alone(width->gpus, width->job[i]);
            for (uint32_t j = i + 1; j < i + MURI_PACKED && j < width->n_candidates; j++) {
                struct muri_packing other = alone(width->gpus, width->job[j]);
                if (required <= muri->n_gpus || !may_join(muri, &packing, &other)) {
                    packings->list[packings->n++] = other;
                    continue;
                }
                join(&packing, &other);
                required -= width->gpus;
            }
            packings->list[packings->n++] = packing;
        }
    }
}

/* --- which packings get GPUs ------------------------------------------------------------------ */

static bool is_worth_it(const struct muri *muri, const struct muri_packing *packing) {
    double sum = 0;
    for (uint32_t i = 0; i < packing->n; i++)
        sum += muri->job[packing->job[i]].iteration;
    return !(muri_packing_time(muri, packing) / sum > 1);
}

static double rank_of(const struct muri *muri, const struct muri_packing *packing) {
    double rank = muri->job[packing->job[0]].rank;
    for (uint32_t i = 1; i < packing->n; i++) {
        double other = muri->job[packing->job[i]].rank;
        rank = other < rank ? other : rank;
    }
    return rank;
}

/* Lists by rank the packings that are faster than their jobs one after the other, and each job of
 * the others by itself. */
static void take_apart(struct muri *muri, const struct muri_packings *packings) {
    struct muri_packings *out = &muri->packings;
    out->n = 0;
    for (uint32_t p = 0; p < packings->n; p++) {
        const struct muri_packing *packing = &packings->list[p];
        if (is_worth_it(muri, packing)) {
            out->list[out->n++] = *packing;
            continue;
        }
        for (uint32_t i = 0; i < packing->n; i++)
            out->list[out->n++] = alone(packing->gpus, packing->job[i]);
    }
    for (uint32_t p = 0; p < out->n; p++)
        out->list[p].rank = rank_of(muri, &out->list[p]);
}

/* Merges two parts of a list that stand sorted, the second from the middle on. */
static void merge_packings(const struct muri_packing *list, uint32_t middle, uint32_t n,
                           struct muri_packing *out) {
    uint32_t a = 0, b = middle;
    for (uint32_t i = 0; i < n; i++) {
        bool takes_b = a == middle || (b < n && list[b].rank < list[a].rank);
        out[i] = takes_b ? list[b++] : list[a++];
    }
}

/* Where the packings end that stand sorted from `from` on. */
static uint32_t end_of_sorted(const struct muri_packings *packings, uint32_t from) {
    while (++from < packings->n && !(packings->list[from].rank < packings->list[from - 1].rank))
        continue;
    return from < packings->n ? from : packings->n;
}

/* Stable: by rank. Most packings of a width stand sorted already. */
static void sort_packings(struct muri_packings *packings, struct muri_packing *scratch) {
    uint32_t n = packings->n;
    while (n > 0 && end_of_sorted(packings, 0) < n) {
        for (uint32_t from = 0, middle, end; from < n; from = end) {
            middle = end_of_sorted(packings, from);
            end = middle < n ? end_of_sorted(packings, middle) : n;
            merge_packings(packings->list + from, middle - from, end - from, scratch + from);
        }
        memcpy(packings->list, scratch, n * sizeof *scratch);
    }
}

static void keep_fitting(struct muri *muri) {
    struct muri_packings *packings = &muri->packings;
    uint32_t kept = 0;
    muri_room_clear(&muri->room);
    for (uint32_t p = 0; p < packings->n; p++)
        if (muri_room_take(&muri->room, packings->list[p].gpus, NULL))
            packings->list[kept++] = packings->list[p];
    packings->n = kept;
}

static void note_packings(struct muri *muri) {
    for (uint32_t i = 0; i < muri->n_order; i++)
        muri->job[muri->order[i]].packing = MURI_NONE;
    for (uint32_t p = 0; p < muri->packings.n; p++) {
        struct muri_packing *packing = &muri->packings.list[p];
        packing->is_granted = false;
        packing->time = muri_packing_time(muri, packing);
        for (uint32_t i = 0; i < packing->n; i++)
            muri->job[packing->job[i]].packing = p;
    }
}

/* Sorts the order, which the line is a copy of, by width: it is the lists of all widths, one after
 * the other. */
static void order_by_width(struct muri *muri, struct widths *widths) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < widths->n; w++) {
        uint32_t widest = w;
        for (uint32_t i = w + 1; i < widths->n; i++)
            widest = widths->list[i].gpus > widths->list[widest].gpus ? i : widest;
        struct width next = widths->list[widest];
        widths->list[widest] = widths->list[w];
        memcpy(muri->order + n, next.job, next.n_listed * sizeof *next.job);
        n += next.n_listed;
    }
}

/* The widest get their GPUs first, by which none that fit in another order fails, but for odd
 * widths. */
static void grant(struct muri *muri, struct widths *widths) {
    note_packings(muri);
    if (muri_has_queues(muri))
        muri_sort_by_width(muri, muri->order, muri->n_order);
    else
        order_by_width(muri, widths);
    muri_room_clear(&muri->room);
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->runs = false;
        if (job->packing == MURI_NONE)
            continue;
        struct muri_packing *packing = &muri->packings.list[job->packing];
        packing->is_granted = packing->is_granted || muri_room_take(&muri->room, job->gpus, NULL);
        job->runs = packing->is_granted;
        job->current = packing->time;
        job->overhead = 0;
        for (uint32_t k = 0; k < packing->n; k++)
            job->overhead += muri->job[packing->job[k]].own_overhead;
    }
}

bool muri_pack(struct muri *muri) {
    struct widths widths = {0};
    struct muri_packings packings = {
        .list = gsim_arena_array(muri->scratch_arena, muri->n_line, sizeof *packings.list)};
    muri->packings.n = 0;
    if (muri->n_line == 0)
        return true;
    if (!packings.list || !open_widths(muri, &widths))
        return false;
    choose_candidates(muri, &widths);
    if (muri->rule == MURI_IN_ORDER)
        pack_in_order(muri, &widths, &packings);
    else if (!pack_by_matching(muri, &widths, &packings))
        return false;
    take_apart(muri, &packings);
    sort_packings(&muri->packings, packings.list);
    keep_fitting(muri);
    grant(muri, &widths);
    return true;
}

void muri_pack_alone(struct muri *muri) {
    muri->packings.n = 0;
    for (uint32_t i = 0; i < muri->n_order; i++) {
        struct muri_job *job = &muri->job[muri->order[i]];
        job->packing = MURI_NONE;
        if (!job->runs)
            continue;
        job->packing = muri->packings.n;
        muri->packings.list[muri->packings.n] = alone(job->gpus, muri->order[i]);
        muri->packings.list[muri->packings.n++].is_granted = true;
    }
}
