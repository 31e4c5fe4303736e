/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least significant digit first, 11 bits a pass; a pass in which all keys agree is skipped, so
 * that short ranges cost little. */
#include "sim/base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 300, DIGIT_BITS = 11, BUCKETS = 1 << DIGIT_BITS, PASSES = 6 };

/* Flips the sign bit: the order of the bits then is the order of int64. */
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

/* Turns counts into the places where the buckets begin; false when all keys share a bucket. */
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

/* Few keys are sorted sooner than the digits' counts are cleared. Equal keys keep their order. */
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

/* Sorts keys, and items with them if there are any. */
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
    uint64_t *keys = (uint64_t *)values; /* signed and unsigned of a type may alias */
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
