/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quickselect with a loop that has no branch on a value, and selection from a stream by the limits
 * that a sample gives: of about n^(2/3) values, with limits four standard errors of a sample away
 * from a place, so that about as many values are kept. Source of the latter: Floyd and Rivest,
 * "Expected Time Bounds for Selection", CACM 18 (3), 1975. */
#include "sim/base/pick.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/wide.h"

enum { FEW_TO_SPLIT = 16, FEW_TO_SAMPLE = 4096 };

/* A number below n, as well mixed as the state. */
static size_t any_of(uint64_t *state, size_t n) {
    return (size_t)((gsim_u128)gsim_mix_next(state) * n >> 64);
}

/* --- selection from an array ------------------------------------------------------------------ */

static void sort_few(int64_t *values, size_t n) {
    for (size_t i = 1; i < n; i++) {
        int64_t value = values[i];
        size_t at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

/* Moves the values up to `last` to the front; returns their number. */
static size_t split(int64_t *values, size_t n, int64_t last) {
    size_t n_first = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t value = values[i];
        values[i] = values[n_first];
        values[n_first] = value;
        n_first += value <= last;
    }
    return n_first;
}

static int64_t median(int64_t a, int64_t b, int64_t c) {
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

static void pick_one(int64_t *values, size_t n, size_t at) {
    uint64_t state = 0;
    while (n > FEW_TO_SPLIT) {
        int64_t pivot =
            median(values[any_of(&state, n)], values[any_of(&state, n)], values[any_of(&state, n)]);
        size_t n_first = pivot > INT64_MIN ? split(values, n, pivot - 1) : 0;
        if (at < n_first) {
            n = n_first;
            continue;
        }
        if (n_first == 0) { /* no value is below the pivot: all values equal to it are in place */
            n_first = split(values, n, pivot);
            if (at < n_first)
                return;
        }
        values += n_first;
        n -= n_first;
        at -= n_first;
    }
    sort_few(values, n);
}

static bool is_among(const size_t *places, size_t n, size_t place) {
    while (n > 0 && places[n - 1] != place)
        n--;
    return n > 0;
}

void gsim_pick_i64(int64_t *values, size_t n, const size_t *at, size_t n_at) {
    size_t n_done = 0; /* the n_done smallest are in front, those asked for among them in place */
    for (size_t k = 0; k < n_at; k++) {
        assert(at[k] < n);
        if (at[k] < n_done) {
            assert(is_among(at, k, at[k]));
            continue;
        }
        pick_one(values + n_done, n - n_done, at[k] - n_done);
        n_done = at[k] + 1;
    }
}

bool gsim_pick_f64(const double *values, size_t n, const size_t *at, double *picked, size_t n_at) {
    int64_t *keys = n ? malloc(n * sizeof *keys) : NULL;
    if (n && !keys)
        return false;
    for (size_t i = 0; i < n; i++)
        keys[i] = gsim_key_of_f64(values[i]);
    gsim_pick_i64(keys, n, at, n_at);
    for (size_t k = 0; k < n_at; k++)
        picked[k] = gsim_key_to_f64(keys[at[k]]);
    free(keys);
    return true;
}

/* --- the limits ------------------------------------------------------------------------------- */

/* The cube root of n, rounded up to a power of two: the root of the sample's size. */
static size_t root_of_sample(size_t n) {
    size_t root = 1;
    while (root * root * root < n)
        root *= 2;
    return root;
}

size_t gsim_pick_sample(size_t n) {
    size_t root = root_of_sample(n);
    return n > FEW_TO_SAMPLE ? root * root : 0;
}

size_t gsim_pick_sample_at(uint64_t *state, size_t n) {
    return any_of(state, n);
}

/* Places in the sorted sample: 0 and the sample's size stand for no limit. */
struct span {
    size_t from, to;
};

/* Merges spans that are near each other: keeping the values between them costs less than another
 * pass over all values. */
static uint32_t lay_spans(const struct gsim_picks *picks, size_t n_sample, struct span *spans) {
    size_t margin = 2 * root_of_sample(picks->n);
    uint32_t n = 0;
    for (size_t k = 0; k < picks->n_places; k++) {
        size_t at = (size_t)((gsim_u128)picks->place[k] * n_sample / picks->n);
        size_t from = at > margin ? at - margin : 0;
        size_t to = at + margin < n_sample ? at + margin : n_sample;
        if (n == 0 || from > spans[n - 1].to + n_sample / 8)
            spans[n++] = (struct span){.from = from};
        if (to > spans[n - 1].to)
            spans[n - 1].to = to;
    }
    return n;
}

static void lay_ranges(struct gsim_picks *picks, int64_t *sample, size_t n_sample) {
    struct span spans[GSIM_MAX_PICKS];
    size_t ends[2 * GSIM_MAX_PICKS] = {0}, n_ends = 0;
    picks->n_ranges = lay_spans(picks, n_sample, spans);
    for (uint32_t r = 0; r < picks->n_ranges; r++) {
        if (spans[r].from > 0)
            ends[n_ends++] = spans[r].from;
        if (spans[r].to < n_sample)
            ends[n_ends++] = spans[r].to;
    }
    gsim_pick_i64(sample, n_sample, ends, n_ends);
    for (uint32_t r = 0; r < picks->n_ranges; r++) {
        picks->range[r].low = spans[r].from > 0 ? sample[spans[r].from] : INT64_MIN;
        picks->range[r].high = spans[r].to < n_sample ? sample[spans[r].to] : INT64_MAX;
    }
}

void gsim_picks_open(struct gsim_picks *picks, size_t n, const size_t *at, size_t n_at,
                     int64_t *sample, size_t n_sample) {
    assert(n_at <= GSIM_MAX_PICKS);
    *picks = (struct gsim_picks){.n = n, .n_places = n_at};
    memcpy(picks->place, at, n_at * sizeof *at);
    if (n > 0)
        lay_ranges(picks, sample, n_sample);
}

/* --- values that pass by ---------------------------------------------------------------------- */

static bool make_room(struct gsim_pick_range *range, size_t n) {
    size_t needed = range->n_kept + n;
    if (needed <= range->capacity)
        return true;
    size_t capacity = needed + needed / 2;
    int64_t *kept = realloc(range->kept, capacity * sizeof *kept);
    if (!kept)
        return false;
    range->kept = kept;
    range->capacity = capacity;
    return true;
}

/* Values are written first and kept afterwards, so the loop has no branch. */
static void keep_from(struct gsim_pick_range *range, const int64_t *restrict values, size_t n) {
    int64_t *restrict kept = range->kept, low = range->low;
    size_t n_kept = range->n_kept;
    for (size_t i = 0; i < n; i++) {
        kept[n_kept] = values[i];
        n_kept += values[i] >= low;
    }
    range->n_below += n - (n_kept - range->n_kept);
    range->n_kept = n_kept;
}

static void keep_between(struct gsim_pick_range *range, const int64_t *restrict values, size_t n) {
    int64_t *restrict kept = range->kept, low = range->low;
    uint64_t width = (uint64_t)range->high - (uint64_t)low;
    size_t n_kept = range->n_kept, n_below = range->n_below;
    for (size_t i = 0; i < n; i++) {
        kept[n_kept] = values[i];
        n_kept += (uint64_t)values[i] - (uint64_t)low <= width;
        n_below += values[i] < low;
    }
    range->n_kept = n_kept;
    range->n_below = n_below;
}

static void keep(struct gsim_pick_range *range, const int64_t *values, size_t n) {
    if (range->high == INT64_MAX)
        keep_from(range, values, n);
    else
        keep_between(range, values, n);
}

void gsim_picks_add(struct gsim_picks *picks, const int64_t *values, size_t n) {
    for (uint32_t r = 0; r < picks->n_ranges && !picks->has_failed; r++) {
        if (make_room(&picks->range[r], n))
            keep(&picks->range[r], values, n);
        else
            picks->has_failed = true;
    }
}

/* Picks the places from `k` on that lie in the range; returns the first that does not. */
static size_t pick_in(struct gsim_picks *picks, const struct gsim_pick_range *range, size_t k,
                      int64_t *picked) {
    size_t at[GSIM_MAX_PICKS], n = 0;
    for (size_t i = k; i < picks->n_places && picks->place[i] >= range->n_below &&
                       picks->place[i] - range->n_below < range->n_kept;
         i++)
        at[n++] = picks->place[i] - range->n_below;
    gsim_pick_i64(range->kept, range->n_kept, at, n);
    for (size_t i = 0; i < n; i++)
        picked[k + i] = range->kept[at[i]];
    return k + n;
}

enum gsim_picked gsim_picks_close(struct gsim_picks *picks, int64_t *picked) {
    size_t n_found = 0;
    for (uint32_t r = 0; r < picks->n_ranges; r++) {
        if (!picks->has_failed)
            n_found = pick_in(picks, &picks->range[r], n_found, picked);
        free(picks->range[r].kept);
    }
    if (picks->has_failed)
        return GSIM_PICK_NO_MEMORY;
    return n_found == picks->n_places ? GSIM_PICKED : GSIM_PICK_MISSED;
}
