/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selects values by rank without sorting: linear time, and an equal result on every platform. */
#ifndef GSIM_BASE_PICK_H
#define GSIM_BASE_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GSIM_MAX_PICKS = 16, GSIM_PICK_BLOCK = 512 };

/* Every list of places is below the number of values and ascending, except that a place may repeat
 * an earlier one. */

/* Reorders values until those at the places `at` are as in sorted order. */
void gsim_pick_i64(int64_t *values, size_t n, const size_t *at, size_t n_at);
/* Like gsim_pick_i64, copied to `picked`; the values stay as they are. At most GSIM_MAX_PICKS
 * places. No NaN. false: no memory. */
bool gsim_pick_f64(const double *values, size_t n, const size_t *at, double *picked, size_t n_at);

/* Doubles as whole numbers of equal order: the bits of negative doubles are ordered backwards. */
static inline int64_t gsim_key_of_f64(double value) {
    _Static_assert(sizeof(double) == sizeof(int64_t), "IEEE 754 double");
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

static inline double gsim_key_to_f64(int64_t key) {
    int64_t bits = key < 0 ? key ^ INT64_MAX : key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- selection from a stream ------------------------------------------------------------------ */

/* A sample gives limits for the wanted places. Then all values pass by: values below the limits are
 * counted, values between them are kept. The counts show where the sample was wrong. */
struct gsim_pick_range {
    int64_t low, high; /* inclusive */
    int64_t *kept;
    size_t n_below, n_kept, capacity;
};

struct gsim_picks {
    size_t n; /* number of values to come */
    size_t n_places;
    size_t place[GSIM_MAX_PICKS];
    struct gsim_pick_range range[GSIM_MAX_PICKS];
    uint32_t n_ranges;
    bool has_failed; /* no memory */
};

enum gsim_picked { GSIM_PICKED, GSIM_PICK_MISSED, GSIM_PICK_NO_MEMORY };

/* The sample's size for n values; 0: keeping all of them costs less. */
size_t gsim_pick_sample(size_t n);
/* The index, below n, of the next value of a sample; state begins as 0. */
size_t gsim_pick_sample_at(uint64_t *state, size_t n);

/* For at most GSIM_MAX_PICKS places among n values. The sample is reordered; an empty sample keeps
 * all values, and misses none. */
void gsim_picks_open(struct gsim_picks *picks, size_t n, const size_t *at, size_t n_at,
                     int64_t *sample, size_t n_sample);
void gsim_picks_add(struct gsim_picks *picks, const int64_t *values, size_t n);
/* To be called after all values: fills `picked` with the values at the places, and frees the kept
 * values. */
enum gsim_picked gsim_picks_close(struct gsim_picks *picks, int64_t *picked);

#endif
