/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least significant digit first, 11 bits a pass; a pass in which all keys agree is skipped, so
 * that short ranges cost little. */
#include "sim/base/sort.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 300, DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, PASSES = 6 };

/* Flips the sign bit: then the order of int64 is the order of the bits. */
static uint64_t bits_of_i64(uint64_t bits) {
    return bits ^ UINT64_C(1) << 63;
}

/* Negative doubles are ordered backwards by their bits, positive ones forwards. */
static uint64_t bits_of_f64(uint64_t bits) {
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t bits_to_f64(uint64_t bits) {
    return bits >> 63 ? bits & ~(UINT64_C(1) << 63) : ~bits;
}

static void count_digits(const uint64_t *keys, size_t n, size_t counts[PASSES][BUCKETS]) {
    for (size_t i = 0; i < n; i++)
        for (int pass = 0; pass < PASSES; pass++)
            counts[pass][keys[i] >> (pass * DIGIT_BITS) & (BUCKETS - 1)]++;
}

/* Turns counts into the places where each bucket begins; false when all keys share one. */
static bool begin_buckets(size_t *counts, size_t n) {
    size_t at = 0;
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        size_t count = counts[bucket];
        if (count == n)
            return false;
        counts[bucket] = at;
        at += count;
    }
    return true;
}

/* Few keys are in order before the digits' counts are cleared. Equal ones stay as they are. */
static void sort_few(uint64_t *keys, uint32_t *items, size_t n) {
    for (size_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        uint32_t item = items ? items[i] : 0;
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--) {
            keys[at] = keys[at - 1];
            if (items)
                items[at] = items[at - 1];
        }
        keys[at] = key;
        if (items)
            items[at] = item;
    }
}

/* Sorts keys (and items with them, if any). */
static bool sort_keys(uint64_t *keys, uint32_t *items, size_t n) {
    if (n <= FEW) {
        sort_few(keys, items, n);
        return true;
    }
    uint64_t *other_keys = malloc(n * sizeof *other_keys);
    uint32_t *other_items = items ? malloc(n * sizeof *other_items) : NULL;
    size_t(*counts)[BUCKETS] = calloc(PASSES, sizeof *counts);
    bool ok = other_keys && counts && (other_items || !items);
    uint64_t *from = keys, *to = other_keys;
    uint32_t *items_from = items, *items_to = other_items;
    if (ok)
        count_digits(keys, n, counts);
    for (int pass = 0; ok && pass < PASSES; pass++) {
        if (!begin_buckets(counts[pass], n))
            continue;
        for (size_t i = 0; i < n; i++) {
            size_t place = counts[pass][from[i] >> (pass * DIGIT_BITS) & (BUCKETS - 1)]++;
            to[place] = from[i];
            if (items)
                items_to[place] = items_from[i];
        }
        uint64_t *keys_were = from;
        uint32_t *items_were = items_from;
        from = to, to = keys_were;
        items_from = items_to, items_to = items_were;
    }
    if (ok && from != keys) {
        memcpy(keys, from, n * sizeof *keys);
        if (items)
            memcpy(items, items_from, n * sizeof *items);
    }
    free(other_keys);
    free(other_items);
    free(counts);
    return ok;
}

bool gsim_sort_i64(int64_t *values, size_t n) {
    uint64_t *keys = (uint64_t *)values; /* signed and unsigned of one type may alias */
    for (size_t i = 0; i < n; i++)
        keys[i] = bits_of_i64(keys[i]);
    bool ok = sort_keys(keys, NULL, n);
    for (size_t i = 0; i < n; i++)
        keys[i] = bits_of_i64(keys[i]);
    return ok;
}

bool gsim_sort_f64(double *values, size_t n) {
    _Static_assert(sizeof(double) == sizeof(uint64_t), "IEEE 754 double");
    uint64_t *keys = n ? malloc(n * sizeof *keys) : NULL;
    if (n && !keys)
        return false;
    if (n)
        memcpy(keys, values, n * sizeof *keys);
    for (size_t i = 0; i < n; i++)
        keys[i] = bits_of_f64(keys[i]);
    bool ok = sort_keys(keys, NULL, n);
    for (size_t i = 0; i < n; i++)
        keys[i] = bits_to_f64(keys[i]);
    if (n)
        memcpy(values, keys, n * sizeof *keys);
    free(keys);
    return ok;
}

bool gsim_sort_order(const int64_t *keys, uint32_t *order, size_t n) {
    uint64_t *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (n && !copy)
        return false;
    for (size_t i = 0; i < n; i++) {
        copy[i] = bits_of_i64((uint64_t)keys[i]);
        order[i] = (uint32_t)i;
    }
    bool ok = sort_keys(copy, order, n);
    free(copy);
    return ok;
}

/* --- by rank ---------------------------------------------------------------------------------- */

/* Sign, exponent and four bits of mantissa: values of one bin are within 1/16 of each other. */
enum { BIN_BITS = 16, BINS = 1 << BIN_BITS };

static uint64_t key_of_f64(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits_of_f64(bits);
}

static uint32_t bin_of(uint64_t key) {
    return (uint32_t)(key >> (64 - BIN_BITS));
}

/* Turns the sizes of bins into 1 where a wanted place falls into the bin, else 0, and the places
 * into those among the values of such bins alone; returns how many values these are. */
static size_t mark_bins(uint32_t *bins, size_t *place, size_t n_places) {
    size_t passed = 0, kept = 0;
    for (uint32_t bin = 0, next = 0; bin < BINS; bin++) {
        size_t size = bins[bin], end = passed + kept + size;
        bool is_wanted = next < n_places && place[next] < end;
        for (; next < n_places && place[next] < end; next++)
            place[next] -= passed;
        *(is_wanted ? &kept : &passed) += size;
        bins[bin] = is_wanted;
    }
    return kept;
}

/* Few values are sorted sooner than all bins are looked through. */
static bool pick_sorted(const double *values, size_t n, const size_t *at, double *picked,
                        size_t n_at) {
    double *sorted = n ? malloc(n * sizeof *sorted) : NULL;
    if (sorted)
        memcpy(sorted, values, n * sizeof *sorted);
    bool ok = !n || (sorted && gsim_sort_f64(sorted, n));
    for (size_t k = 0; ok && k < n_at; k++)
        picked[k] = sorted[at[k]];
    free(sorted);
    return ok;
}

bool gsim_pick_f64(const double *values, size_t n, const size_t *at, double *picked, size_t n_at) {
    assert(n_at <= GSIM_MAX_PICKS && n <= UINT32_MAX);
    if (n < BINS / 16)
        return pick_sorted(values, n, at, picked, n_at);
    size_t place[GSIM_MAX_PICKS], n_kept = 0;
    uint32_t *bins = calloc(BINS, sizeof *bins);
    for (size_t k = 0; k < n_at; k++)
        place[k] = at[k];
    for (size_t i = 0; bins && i < n; i++)
        bins[bin_of(key_of_f64(values[i]))]++;
    size_t most = bins ? mark_bins(bins, place, n_at) : 0;
    uint64_t *kept = bins ? calloc(most + 1, sizeof *kept) : NULL;
    for (size_t i = 0; kept && i < n; i++) { /* written first, kept afterwards: no branch */
        kept[n_kept] = key_of_f64(values[i]);
        n_kept += bins[bin_of(kept[n_kept])];
    }
    bool ok = kept && sort_keys(kept, NULL, n_kept);
    for (size_t k = 0; ok && k < n_at; k++) {
        uint64_t bits = bits_to_f64(kept[place[k]]);
        memcpy(&picked[k], &bits, sizeof bits);
    }
    free(kept);
    free(bins);
    return ok;
}
