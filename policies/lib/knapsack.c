/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/knapsack.h"

#include <assert.h>
#include <string.h>

#include "policies/lib/heap.h"

enum { FIRST_STATES = 512 }; /* of a row, in the search for a first solution */

static uint32_t bits_of(uint32_t n) {
    uint32_t bits = 0;
    for (; n > 0; n >>= 1)
        bits++;
    return bits;
}

bool gsim_knapsack_can(const uint32_t *capacity, uint32_t n_kinds) {
    uint32_t bits = 0;
    for (uint32_t k = 0; k < n_kinds; k++)
        bits += bits_of(capacity[k]);
    return n_kinds <= GSIM_KNAPSACK_KINDS && bits <= 64;
}

static void set_shifts(struct gsim_knapsack *k) {
    uint32_t bits = 0;
    assert(gsim_knapsack_can(k->capacity, k->n_kinds));
    for (uint32_t i = 0; i < k->n_kinds; i++) {
        k->shift[i] = bits;
        bits += bits_of(k->capacity[i]);
    }
}

/* The bits of a state's used units that are of a kind. */
static uint64_t mask_of(const struct gsim_knapsack *k, uint32_t kind) {
    uint32_t bits = bits_of(k->capacity[kind]);
    return bits > 0 ? ((UINT64_C(1) << bits) - 1) << k->shift[kind] : 0;
}

static uint32_t used_of(const struct gsim_knapsack *k, uint64_t used, uint32_t kind) {
    uint64_t mask = mask_of(k, kind);
    return mask > 0 ? (uint32_t)((used & mask) >> k->shift[kind]) : 0;
}

/* --- rows that are searched ------------------------------------------------------------------- */

/* Rows with one choice compete for the units of a kind: of those that ask for as many units of it,
 * no more have theirs than fit together, and these are the rows that gain most, of equal gains the
 * first ones. Any other would change places with one of them, and the solution would be cheaper, or
 * equal and preferred. So all others have none. Where states may be cut, the solution is not known
 * to be the cheapest, and all rows are searched. */

/* Of two rows that ask for as much, the one that gains less comes later. */
static int by_gain(const void *left, const void *right) {
    const struct gsim_knapsack_rival *a = left, *b = right;
    if (a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

bool gsim_knapsack_is_exact(const struct gsim_knapsack *k) {
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

static bool reserve_rivals(struct gsim_knapsack *k) {
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

static bool find_rows(struct gsim_knapsack *k) {
    bool is_every = !gsim_knapsack_is_exact(k);
    if (!is_every) {
        if (!reserve_rivals(k))
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

static const struct gsim_choice_row *kept_row(const struct gsim_knapsack *k, uint32_t i) {
    return &k->row[k->kept[i]];
}

/* --- prices ----------------------------------------------------------------------------------- */

static int64_t priced(const struct gsim_knapsack *k, const struct gsim_choice *choice) {
    return choice->cost + k->price[choice->kind] * choice->units;
}

/* The cheapest choice of a row at these prices; of equal ones none, then the first. */
static int64_t least_of(const struct gsim_knapsack *k, const struct gsim_choice_row *row,
                        const struct gsim_choice **best) {
    int64_t least = row->none_cost;
    *best = NULL;
    for (uint32_t c = row->first; c < row->first + row->n; c++)
        if (k->choice[c].units <= k->capacity[k->choice[c].kind] &&
            priced(k, &k->choice[c]) < least) {
            *best = &k->choice[c];
            least = priced(k, *best);
        }
    return least;
}

/* How many units of a kind the rows want. */
static uint64_t wanted_of(const struct gsim_knapsack *k, uint32_t kind) {
    const struct gsim_choice *best;
    uint64_t units = 0;
    for (uint32_t i = 0; i < k->n_kept; i++) {
        (void)least_of(k, kept_row(k, i), &best);
        units += best && best->kind == kind ? best->units : 0;
    }
    return units;
}

static bool is_wanted(const struct gsim_knapsack *k, uint32_t kind) {
    return wanted_of(k, kind) > k->capacity[kind];
}

/* The least price at which no more of the kind is wanted than there is. */
static void set_price(struct gsim_knapsack *k, uint32_t kind) {
    int64_t low = -1, high = 0;
    k->price[kind] = 0;
    if (!is_wanted(k, kind))
        return;
    for (uint32_t i = 0; i < k->n_kept; i++)
        high = kept_row(k, i)->none_cost > high ? kept_row(k, i)->none_cost : high;
    for (low = 0; high - low > 1;) {
        k->price[kind] = low + (high - low) / 2;
        if (is_wanted(k, kind))
            low = k->price[kind];
        else
            high = k->price[kind];
    }
    k->price[kind] = high;
}

/* The price of each kind in turn, and again: any prices bound the cost, and these do so well. */
static void set_prices(struct gsim_knapsack *k) {
    uint32_t rounds = k->n_kinds > 1 ? 4 : 1;
    const struct gsim_choice *best;
    memset(k->price, 0, sizeof k->price);
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t kind = 0; kind < k->n_kinds; kind++)
            set_price(k, kind);
    k->bound = 0;
    for (uint32_t kind = 0; kind < k->n_kinds; kind++)
        k->bound -= k->price[kind] * k->capacity[kind];
    for (uint32_t i = 0; i < k->n_kept; i++)
        k->bound += least_of(k, kept_row(k, i), &best);
}

/* The cost of the rows where each has what it wants at these prices, if that fits: the price of the
 * units that are left over lies between it and the bound. */
static int64_t cost_of_wanted(const struct gsim_knapsack *k) {
    int64_t cost = k->bound;
    for (uint32_t kind = 0; kind < k->n_kinds; kind++) {
        uint64_t units = wanted_of(k, kind);
        if (units > k->capacity[kind])
            return INT64_MAX / 2;
        cost += k->price[kind] * (int64_t)(k->capacity[kind] - units);
    }
    return cost;
}

/* --- a solution to begin with ----------------------------------------------------------------- */

/* The first choice of a row that fits into the units that are left, and costs beyond the least of
 * the row no more than `most` of its kind for each of them; NULL: there is none. */
static const struct gsim_choice *within(const struct gsim_knapsack *k,
                                        const struct gsim_choice_row *row, const uint32_t *left,
                                        const int64_t *most) {
    const struct gsim_choice *best;
    int64_t least = least_of(k, row, &best);
    for (uint32_t c = row->first; c < row->first + row->n; c++) {
        const struct gsim_choice *choice = &k->choice[c];
        if (choice->units <= left[choice->kind] && choice->cost < row->none_cost &&
            priced(k, choice) - least <= most[choice->kind] * choice->units)
            return choice;
    }
    return NULL;
}

/* Rows have their choices at these prices as far as they fit. Units that are left go to the others,
 * first where that costs nothing beyond, as of rows that gain as much as each other for each unit,
 * then where it costs a part of the price, and the whole. Returns the cost. */
static int64_t fill_up(const struct gsim_knapsack *k, uint32_t *has) {
    static const int64_t parts[] = {64, 16, 4, 1};
    uint32_t left[GSIM_KNAPSACK_KINDS];
    int64_t cost = 0, most[GSIM_KNAPSACK_KINDS] = {0};
    const struct gsim_choice *best;
    memcpy(left, k->capacity, sizeof left);
    for (uint32_t i = 0; i < k->n_kept; i++) {
        const struct gsim_choice_row *row = kept_row(k, i);
        (void)least_of(k, row, &best);
        has[i] = best && best->units <= left[best->kind];
        cost += has[i] ? best->cost : row->none_cost;
        left[best ? best->kind : 0] -= has[i] ? best->units : 0;
    }
    for (size_t pass = 0; pass <= sizeof parts / sizeof *parts; pass++) {
        for (uint32_t kind = 0; pass > 0 && kind < k->n_kinds; kind++)
            most[kind] = k->price[kind] / parts[pass - 1];
        for (uint32_t i = 0; i < k->n_kept; i++) {
            const struct gsim_choice_row *row = kept_row(k, i);
            best = has[i] ? NULL : within(k, row, left, most);
            has[i] |= best != NULL;
            cost += best ? best->cost - row->none_cost : 0;
            left[best ? best->kind : 0] -= best ? best->units : 0;
        }
    }
    return cost;
}

/* --- states ----------------------------------------------------------------------------------- */

/* Makes room for n states more. */
static bool grow(struct gsim_knapsack *k, struct gsim_knapsack_states *to, uint32_t n) {
    enum { FIRST = 1024 };
    uint32_t more = to->room ? to->room : FIRST;
    if (n <= to->room - to->n)
        return true;
    while (more - to->n < n)
        more *= 2;
    struct gsim_knapsack_state *grown =
        gsim_arena_grow(k->arena, to->state, to->room * sizeof *grown, more * sizeof *grown);
    if (!grown)
        return false;
    to->state = grown;
    to->room = more;
    return true;
}

/* There is room. */
static void add(struct gsim_knapsack_states *to, struct gsim_knapsack_state state) {
    to->state[to->n++] = state;
}

/* Merges the states that follow from those of the row before by one choice (NULL: none) with what
 * other choices have reached. */
static bool extend(struct gsim_knapsack *k, uint32_t first, uint32_t end,
                   const struct gsim_choice *choice, int64_t beyond) {
    struct gsim_knapsack_states *reached = &k->reached, *merged = &k->merged, swapped;
    uint64_t more = choice ? (uint64_t)choice->units << k->shift[choice->kind] : 0;
    uint32_t at = 0, number = choice ? (uint32_t)(choice - k->choice) : GSIM_NO_CHOICE;
    uint64_t mask = choice ? mask_of(k, choice->kind) : 0;
    uint64_t most = choice ? (uint64_t)(k->capacity[choice->kind] - choice->units)
                                 << k->shift[choice->kind]
                           : 0;
    merged->n = 0;
    if (!grow(k, merged, reached->n + end - first))
        return false;
    for (uint32_t i = first; i < end; i++) {
        struct gsim_knapsack_state state = k->all.state[i];
        bool fits = (state.used & mask) <= most;
        state = (struct gsim_knapsack_state){state.used + more, state.sum + beyond, i, number};
        if (!fits || state.sum > k->known - k->bound)
            continue;
        for (; at < reached->n && reached->state[at].used < state.used; at++)
            add(merged, reached->state[at]);
        if (at < reached->n && reached->state[at].used == state.used) {
            state = reached->state[at].sum <= state.sum ? reached->state[at] : state;
            at++;
        }
        add(merged, state);
    }
    for (; at < reached->n; at++)
        add(merged, reached->state[at]);
    swapped = *reached;
    *reached = *merged;
    *merged = swapped;
    return true;
}

/* The number that is nth among n, from 0 on, in their order; they change places (Hoare's find). */
static int64_t nth_of(int64_t *number, uint32_t n, uint32_t nth) {
    uint32_t first = 0, last = n - 1;
    while (first < last) {
        int64_t middle = number[first + (last - first) / 2];
        uint32_t low = first, high = last;
        for (;;) {
            while (number[low] < middle)
                low++;
            while (number[high] > middle)
                high--;
            if (low >= high)
                break;
            int64_t swapped = number[low];
            number[low++] = number[high];
            number[high--] = swapped;
        }
        if (nth <= high)
            last = high;
        else
            first = high + 1;
    }
    return number[nth];
}

/* Drops the dearest states; of equal ones the later. false: no memory. */
static bool cut(struct gsim_knapsack *k, uint32_t most) {
    struct gsim_knapsack_states *states = &k->reached;
    uint32_t n = 0, equal = most;
    if (states->n <= most)
        return true;
    if (states->n > k->room_sums) {
        k->room_sums = 2 * states->n;
        k->sum = gsim_arena_array(k->arena, k->room_sums, sizeof *k->sum);
    }
    if (!k->sum)
        return false;
    for (uint32_t i = 0; i < states->n; i++)
        k->sum[i] = states->state[i].sum;
    int64_t low = nth_of(k->sum, states->n, most);
    for (uint32_t i = 0; i < states->n; i++)
        equal -= states->state[i].sum < low;
    for (uint32_t i = 0; i < states->n; i++) {
        int64_t sum = states->state[i].sum;
        if (sum < low || (sum == low && equal > 0)) {
            equal -= sum == low;
            states->state[n++] = states->state[i];
        }
    }
    states->n = n;
    k->is_cut = true;
    return true;
}

static bool decide_row(struct gsim_knapsack *k, uint32_t r, uint32_t most) {
    const struct gsim_choice_row *row = kept_row(k, r);
    const struct gsim_choice *best;
    uint32_t first = r > 0 ? (r > 1 ? k->end[r - 2] : 1) : 0, end = r > 0 ? k->end[r - 1] : 1;
    int64_t least = least_of(k, row, &best);
    k->reached.n = 0;
    if (!extend(k, first, end, NULL, row->none_cost - least))
        return false;
    for (uint32_t c = row->first; c < row->first + row->n; c++) {
        int64_t beyond = priced(k, &k->choice[c]) - least;
        if (k->choice[c].units <= k->capacity[k->choice[c].kind] && beyond <= k->known - k->bound &&
            !extend(k, first, end, &k->choice[c], beyond))
            return false;
    }
    if (!cut(k, most) || !grow(k, &k->all, k->reached.n))
        return false;
    for (uint32_t i = 0; i < k->reached.n; i++)
        add(&k->all, k->reached.state[i]);
    k->end[r] = k->all.n;
    return true;
}

/* The cost of a state after the last row. */
static int64_t cost_of(const struct gsim_knapsack *k, const struct gsim_knapsack_state *state) {
    int64_t cost = k->bound + state->sum;
    for (uint32_t kind = 0; kind < k->n_kinds; kind++)
        cost += k->price[kind] * (k->capacity[kind] - used_of(k, state->used, kind));
    return cost;
}

static bool search(struct gsim_knapsack *k, uint32_t most) {
    struct gsim_knapsack_state begin = {.from = GSIM_NO_CHOICE, .choice = GSIM_NO_CHOICE};
    k->all.n = 0;
    k->is_cut = false;
    if (!grow(k, &k->all, 1))
        return false;
    add(&k->all, begin);
    for (uint32_t r = 0; r < k->n_kept; r++)
        if (!decide_row(k, r, most))
            return false;
    uint32_t best = k->n_kept > 1 ? k->end[k->n_kept - 2] : k->n_kept;
    for (uint32_t i = best; i < k->all.n; i++)
        if (cost_of(k, &k->all.state[i]) < cost_of(k, &k->all.state[best]))
            best = i;
    k->known = cost_of(k, &k->all.state[best]);
    for (uint32_t r = k->n_kept; r-- > 0; best = k->all.state[best].from)
        k->chosen[k->kept[r]] = k->all.state[best].choice;
    return true;
}

static bool reserve(struct gsim_knapsack *k) {
    if (k->n_rows < k->room_rows)
        return true;
    uint32_t room = 2 * k->n_rows + 1;
    k->chosen = gsim_arena_array(k->arena, room, sizeof *k->chosen);
    k->end = gsim_arena_array(k->arena, room, sizeof *k->end);
    k->kept = gsim_arena_array(k->arena, room, sizeof *k->kept);
    k->room_rows = k->chosen && k->end && k->kept ? room : 0;
    return k->room_rows > 0;
}

/* The cost of all rows with their choices. */
static int64_t sum_up(const struct gsim_knapsack *k) {
    int64_t cost = 0;
    for (uint32_t r = 0; r < k->n_rows; r++)
        cost += k->chosen[r] == GSIM_NO_CHOICE ? k->row[r].none_cost : k->choice[k->chosen[r]].cost;
    return cost;
}

bool gsim_knapsack(struct gsim_knapsack *k) {
    set_shifts(k);
    if (!reserve(k) || !find_rows(k))
        return false;
    for (uint32_t r = 0; r < k->n_rows; r++)
        k->chosen[r] = GSIM_NO_CHOICE;
    set_prices(k);
    k->known = cost_of_wanted(k);
    int64_t filled = gsim_knapsack_is_exact(k) ? fill_up(k, k->end) : k->known;
    k->known = filled < k->known ? filled : k->known;
    if (!search(k, FIRST_STATES) || (k->is_cut && !search(k, GSIM_KNAPSACK_STATES)))
        return false;
    k->is_proven = !k->is_cut;
    k->cost = sum_up(k);
    return true;
}
