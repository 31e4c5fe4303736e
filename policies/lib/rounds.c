/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/rounds.h"

#include "policies/lib/heap.h"

#include <string.h>

/* The priority of an entry with a share that has had no time yet. */
static const double untried = 1e9;

double gsim_rounds_per_s(struct gsim_rate rate) {
    double value = (double)rate.digits;
    for (int32_t i = rate.exponent; i < 0; i++)
        value /= 2;
    for (int32_t i = rate.exponent; i > 0; i--)
        value *= 2;
    return value;
}

/* Below 0: the job has not the memory there, and is never placed there. */
static double pace_of(const struct gsim_ctx *ctx, gsim_slot job, uint32_t gpus, uint16_t type) {
    struct gsim_rate rate =
        gsim_ask_rate(ctx, job, &(struct gsim_where){.type = type, .gpus = gpus});
    return rate.lacks_memory ? -1 : (double)rate.pace_q32 / (double)GSIM_RATE_ONE;
}

bool gsim_rounds_has_one_type(const struct gsim_view *view) {
    for (uint32_t gpu = 1; gpu < view->cluster.n_gpus; gpu++)
        if (view->cluster.type[gpu] != view->cluster.type[0])
            return false;
    return true;
}

/* Nodes of one type stand beside each other, but for odd clusters. */
struct gsim_paces gsim_rounds_paces(const struct gsim_ctx *ctx, gsim_slot job, uint32_t gpus,
                                    bool has_one_type) {
    const struct gsim_view_cluster *cluster = &ctx->view->cluster;
    double sum = 0, n = 0, pace = 0, least = 0, most = 0;
    bool is_any_left_out = false;
    if (has_one_type) {
        pace = pace_of(ctx, job, gpus, cluster->type[0]);
        pace = pace > 0 ? pace : 0;
        return (struct gsim_paces){.mean = pace, .least = pace};
    }
    for (uint32_t node = 0; node < cluster->n_nodes; node++) {
        uint32_t first = cluster->node_first_gpu[node];
        uint32_t n_here = cluster->node_first_gpu[node + 1] - first;
        if (node == 0 || cluster->type[first] != cluster->type[first - 1])
            pace = pace_of(ctx, job, gpus, cluster->type[first]);
        is_any_left_out |= !(pace < 0) && pace <= 0;
        if (pace <= 0)
            continue;
        least = n == 0 || pace < least ? pace : least;
        most = pace > most ? pace : most;
        sum += pace * n_here;
        n += n_here;
    }
    return (struct gsim_paces){.mean = most > least ? sum / n : most,
                               .least = is_any_left_out ? 0 : least};
}

void gsim_rounds_open(struct gsim_rounds *rounds, struct gsim_arena *arena, uint32_t n_types,
                      double round_s) {
    *rounds = (struct gsim_rounds){.arena = arena, .n_types = n_types, .head_start = round_s / 2};
}

static bool grow(struct gsim_rounds *rounds) {
    uint32_t n = rounds->capacity, more = n ? 2 * n : 64;
    struct gsim_round_entry *entry =
        gsim_arena_grow(rounds->arena, rounds->entry, n * sizeof *entry, more * sizeof *entry);
    if (!entry)
        return false;
    rounds->entry = entry;
    rounds->capacity = more;
    return true;
}

/* Makes room for marks of all members up to this one. */
static bool know_member(struct gsim_rounds *rounds, uint32_t member) {
    if (member == GSIM_NO_MEMBER || member < rounds->n_members)
        return true;
    uint32_t more = member < 32 ? 64 : 2 * member;
    bool *is_taken = gsim_arena_grow(rounds->arena, rounds->is_taken, rounds->n_members, more);
    if (!is_taken)
        return false;
    rounds->is_taken = is_taken;
    rounds->n_members = more;
    return true;
}

struct gsim_round_entry *gsim_rounds_add(struct gsim_rounds *rounds, uint32_t first,
                                         uint32_t second, uint32_t gpus) {
    if (!know_member(rounds, first) || !know_member(rounds, second) ||
        (rounds->n == rounds->capacity && !grow(rounds)))
        return NULL;
    struct gsim_round_entry *entry = &rounds->entry[rounds->n++];
    *entry = (struct gsim_round_entry){.member = {first, second}, .gpus = gpus};
    for (uint32_t type = 0; type < rounds->n_types && second == GSIM_NO_MEMBER; type++)
        entry->of[type].time = rounds->head_start;
    return entry;
}

/* What entries have of types that there are not stays as it was made. */
static void copy(const struct gsim_rounds *rounds, struct gsim_round_entry *to,
                 const struct gsim_round_entry *from) {
    memcpy(to, from, offsetof(struct gsim_round_entry, of));
    memcpy(to->of, from->of, rounds->n_types * sizeof *from->of);
    for (int m = 0; m < 2; m++)
        memcpy(to->per_s[m], from->per_s[m], rounds->n_types * sizeof *from->per_s[m]);
}

void gsim_rounds_remove(struct gsim_rounds *rounds,
                        bool (*is_gone)(const void *arg, uint32_t member), const void *arg) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < rounds->n; i++) {
        const struct gsim_round_entry *entry = &rounds->entry[i];
        if (is_gone(arg, entry->member[0]) ||
            (entry->member[1] != GSIM_NO_MEMBER && is_gone(arg, entry->member[1])))
            continue;
        if (kept != i)
            copy(rounds, &rounds->entry[kept], entry);
        kept++;
    }
    rounds->n = kept;
}

void gsim_rounds_unshare(const struct gsim_rounds *rounds, struct gsim_round_entry *entry) {
    for (uint32_t type = 0; type < rounds->n_types; type++)
        entry->of[type].share = 0;
}

void gsim_rounds_credit(struct gsim_rounds *rounds, struct gsim_round_entry *entry, uint32_t type,
                        double time_s) {
    entry->of[type].time += time_s;
    rounds->time[type] += time_s;
}

void gsim_rounds_settle(struct gsim_rounds *rounds, double since_s) {
    for (uint32_t type = 0; type < rounds->n_types; type++) {
        rounds->time[type] = 0;
        for (uint32_t i = 0; i < rounds->n; i++) {
            struct gsim_round_entry *entry = &rounds->entry[i];
            double got = entry->of[type].time - rounds->head_start;
            double should = entry->has_share ? entry->of[type].share * since_s : 0;
            entry->of[type].deficit += should - got;
            entry->of[type].time = rounds->head_start;
            rounds->time[type] += rounds->head_start;
        }
    }
}

static bool has_priority(const struct gsim_round_entry *entry, uint32_t type) {
    bool runs = entry->per_s[0][type] > 0 &&
                (entry->member[1] == GSIM_NO_MEMBER || entry->per_s[1][type] > 0);
    return entry->has_share && entry->of[type].share > 0 && runs;
}

static double priority_of(const struct gsim_round_type *of, double all_time) {
    double part = all_time > 0 ? of->time / all_time : 0;
    return part > 0 ? of->share / part : of->share * untried;
}

/* Of most entries in a long line share and time are those of the one before, and what they are
 * divided by is one number for all. */
void gsim_rounds_rank(struct gsim_rounds *rounds) {
    struct gsim_round_type last[GSIM_ROUND_TYPES] = {0};
    for (uint32_t i = 0; i < rounds->n; i++)
        for (uint32_t type = 0; type < rounds->n_types; type++) {
            struct gsim_round_type *of = &rounds->entry[i].of[type];
            if (!has_priority(&rounds->entry[i], type)) {
                of->priority = 0;
                continue;
            }
            if (of->share != last[type].share || of->time != last[type].time)
                last[type] = (struct gsim_round_type){of->share, of->time, 0,
                                                      priority_of(of, rounds->time[type])};
            of->priority = last[type].priority;
        }
}

/* --- choosing --------------------------------------------------------------------------------- */

struct ranked {
    double priority, deficit, share, speed;
    uint32_t entry, at; /* at: where its type stands in the walk */
};

static int by_rank(const void *left, const void *right) {
    const struct ranked *a = left, *b = right;
    if (a->priority < b->priority || a->priority > b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->deficit < b->deficit || a->deficit > b->deficit)
        return a->deficit > b->deficit ? -1 : 1;
    if (a->share < b->share || a->share > b->share)
        return a->share > b->share ? -1 : 1;
    if (a->entry != b->entry)
        return a->entry < b->entry ? -1 : 1; /* in the order in which they came */
    if (a->speed < b->speed || a->speed > b->speed)
        return a->speed > b->speed ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

/* Whether a job of the entry runs already. */
static bool is_taken(const struct gsim_rounds *rounds, const struct gsim_round_entry *entry) {
    return rounds->is_taken[entry->member[0]] ||
           (entry->member[1] != GSIM_NO_MEMBER && rounds->is_taken[entry->member[1]]);
}

static void take(struct gsim_rounds *rounds, const struct gsim_round_entry *entry) {
    rounds->is_taken[entry->member[0]] = true;
    if (entry->member[1] != GSIM_NO_MEMBER)
        rounds->is_taken[entry->member[1]] = true;
}

/* Which entries are looked at: all, those with a priority on the type, those without. */
enum which { ALL, WITH_PRIORITY, WITHOUT_PRIORITY };

/* A round that is being chosen. */
struct round {
    struct gsim_rounds *rounds;
    struct ranked *list;
    struct gsim_round_choice *choice;
    uint32_t n, left[GSIM_ROUND_TYPES]; /* choices so far; GPUs of each type */
    bool is_across_types;
};

/* On one type both orders are equal. Across types a priority is no measure, since it has the time
 * of all entries on the type in it: an entry alone on a type has always had all of that. */
static double key_of(const struct round *round, const struct gsim_round_entry *entry,
                     uint32_t type) {
    const struct gsim_round_type *of = &entry->of[type];
    bool has_time = round->is_across_types && of->priority > 0 && of->time > 0;
    return has_time ? of->share / of->time : of->priority;
}

static bool runs_on(const struct gsim_round_entry *entry, uint32_t type, enum which which) {
    if (which != ALL && (entry->of[type].priority > 0) != (which == WITH_PRIORITY))
        return false;
    if (entry->of[type].priority > 0) /* none has one where it does not run */
        return true;
    return entry->per_s[0][type] > 0 &&
           (entry->member[1] == GSIM_NO_MEMBER || entry->per_s[1][type] > 0);
}

static struct ranked ranked_of(const struct round *round, uint32_t i, uint32_t type, uint32_t at,
                               enum which which) {
    const struct gsim_round_entry *entry = &round->rounds->entry[i];
    return (struct ranked){key_of(round, entry, type),
                           entry->of[type].deficit,
                           entry->has_share ? entry->of[type].share : 0,
                           which == WITHOUT_PRIORITY ? entry->per_s[0][type] : 0,
                           i,
                           at};
}

/* The entries that may run on these types, of which mostly a few are asked for. */
static struct gsim_heap gather(const struct round *round, const uint32_t *types, uint32_t n_types,
                               enum which which) {
    struct gsim_heap heap = {round->list, 0, sizeof *round->list, by_rank};
    for (uint32_t i = 0; i < round->rounds->n; i++) {
        const struct gsim_round_entry *entry = &round->rounds->entry[i];
        if (is_taken(round->rounds, entry))
            continue;
        for (uint32_t at = 0; at < n_types; at++) {
            uint32_t type = types[at];
            if (entry->gpus > round->left[type] || !runs_on(entry, type, which))
                continue;
            round->list[heap.n++] = ranked_of(round, i, type, at, which);
        }
    }
    gsim_heap_pile(&heap);
    return heap;
}

static int by_rank_last(const void *left, const void *right) {
    return by_rank(right, left);
}

/* Entries of one width, of which no more than `most` find room: those that come first so far, the
 * last of them on top. */
struct width {
    uint32_t gpus;
    size_t most;
    struct gsim_heap first;
};

enum { WIDTHS = 16 };

struct widths {
    struct width width[WIDTHS];
    uint32_t n;
    size_t room, used; /* of the list */
};

/* NULL: there are too many. */
static struct width *width_of(struct widths *widths, const struct round *round, uint32_t gpus,
                              uint32_t left) {
    uint32_t w = 0;
    while (w < widths->n && widths->width[w].gpus != gpus)
        w++;
    if (w < widths->n)
        return &widths->width[w];
    size_t most = left / gpus;
    if (w == WIDTHS || most > widths->room - widths->used)
        return NULL;
    struct ranked *first = round->list + widths->used;
    widths->width[widths->n++] =
        (struct width){gpus, most, {first, 0, sizeof *first, by_rank_last}};
    widths->used += most;
    return &widths->width[w];
}

static void keep_first(struct width *width, struct ranked one) {
    struct ranked *first = width->first.items;
    if (width->first.n < width->most) {
        first[width->first.n++] = one;
        if (width->first.n == width->most)
            gsim_heap_pile(&width->first);
    } else if (by_rank(&one, first) < 0) {
        first[0] = one;
        gsim_heap_put_back(&width->first);
    }
}

/* As gather, of one type, those alone that may have room, where no two entries have a job in
 * common. false: they have, or the line is short. */
static bool gather_first(const struct round *round, uint32_t type, enum which which,
                         struct gsim_heap *heap) {
    enum { LONG = 4 }; /* below that many entries for each GPU there is little to pass over */
    uint32_t left = round->left[type];
    if (round->rounds->n / LONG < left)
        return false;
    struct widths widths = {.room = round->rounds->n};
    for (uint32_t i = 0; i < round->rounds->n; i++) {
        const struct gsim_round_entry *entry = &round->rounds->entry[i];
        if (entry->member[1] != GSIM_NO_MEMBER)
            return false;
        if (entry->gpus > left || is_taken(round->rounds, entry) || !runs_on(entry, type, which))
            continue;
        struct width *width = width_of(&widths, round, entry->gpus, left);
        if (!width)
            return false;
        const struct ranked *last = width->first.items;
        if (width->first.n < width->most || key_of(round, entry, type) >= last->priority)
            keep_first(width, ranked_of(round, i, type, 0, which));
    }
    *heap = (struct gsim_heap){round->list, 0, sizeof *round->list, by_rank};
    for (uint32_t w = 0; w < widths.n; w++) {
        const struct gsim_heap *first = &widths.width[w].first;
        memmove(round->list + heap->n, first->items, first->n * sizeof *round->list);
        heap->n += first->n;
    }
    gsim_heap_pile(heap);
    return true;
}

static void serve(struct round *round, const uint32_t *types, uint32_t n_types, enum which which) {
    struct gsim_heap heap;
    if (n_types > 1 || !gather_first(round, types[0], which, &heap))
        heap = gather(round, types, n_types, which);
    uint32_t left = 0;
    for (uint32_t at = 0; at < n_types; at++)
        left += round->left[types[at]];
    while (heap.n > 0 && left > 0) {
        const struct ranked *first = gsim_heap_take(&heap);
        const struct gsim_round_entry *entry = &round->rounds->entry[first->entry];
        uint32_t type = types[first->at];
        if (entry->gpus > round->left[type] || is_taken(round->rounds, entry))
            continue;
        round->choice[round->n++] = (struct gsim_round_choice){first->entry, type};
        round->left[type] -= entry->gpus;
        left -= entry->gpus;
        take(round->rounds, entry);
    }
}

static void serve_held(struct round *round) {
    for (uint32_t i = 0; i < round->rounds->n; i++) {
        const struct gsim_round_entry *entry = &round->rounds->entry[i];
        if (!entry->is_held || entry->gpus > round->left[entry->held_type] ||
            is_taken(round->rounds, entry))
            continue;
        round->choice[round->n++] = (struct gsim_round_choice){i, entry->held_type};
        round->left[entry->held_type] -= entry->gpus;
        take(round->rounds, entry);
    }
}

/* The fastest type with room for the entry, the first of equals; n_types: none. */
static uint32_t fastest_at(const struct round *round, const struct gsim_round_entry *entry,
                           const uint32_t *types, uint32_t n_types) {
    uint32_t best = n_types;
    for (uint32_t at = 0; at < n_types; at++)
        if (entry->gpus <= round->left[types[at]] && runs_on(entry, types[at], ALL) &&
            (best == n_types || entry->per_s[0][types[at]] > entry->per_s[0][types[best]]))
            best = at;
    return best;
}

static void serve_in_order(struct round *round, const uint32_t *types, uint32_t n_types) {
    for (uint32_t i = 0; i < round->rounds->n; i++) {
        const struct gsim_round_entry *entry = &round->rounds->entry[i];
        if (entry->member[1] != GSIM_NO_MEMBER || is_taken(round->rounds, entry))
            continue;
        uint32_t at = fastest_at(round, entry, types, n_types);
        if (at == n_types)
            return;
        round->choice[round->n++] = (struct gsim_round_choice){i, types[at]};
        round->left[types[at]] -= entry->gpus;
        take(round->rounds, entry);
    }
}

uint32_t gsim_rounds_choose(struct gsim_rounds *rounds, const uint32_t *types,
                            const uint32_t *n_gpus, enum gsim_rounds_walk walk,
                            struct gsim_round_choice *choice) {
    uint32_t n_types = rounds->n_types;
    struct round round = {
        .rounds = rounds, .choice = choice, .is_across_types = walk == GSIM_ROUNDS_ACROSS_TYPES};
    round.list = gsim_arena_grow_raw(rounds->arena, NULL,
                                     ((size_t)rounds->n * n_types + 1) * sizeof *round.list);
    if (!round.list)
        return UINT32_MAX;
    if (rounds->n_members > 0)
        memset(rounds->is_taken, 0, rounds->n_members);
    memcpy(round.left, n_gpus, n_types * sizeof *n_gpus);
    serve_held(&round);
    if (round.is_across_types) {
        serve(&round, types, n_types, WITH_PRIORITY);
        serve(&round, types, n_types, WITHOUT_PRIORITY);
    }
    for (uint32_t t = 0; !round.is_across_types && t < n_types; t++)
        serve(&round, &types[t], 1, walk == GSIM_ROUNDS_BY_TYPE ? ALL : WITH_PRIORITY);
    if (walk == GSIM_ROUNDS_IN_ORDER)
        serve_in_order(&round, types, n_types);
    gsim_arena_drop(rounds->arena, round.list);
    return round.n;
}
