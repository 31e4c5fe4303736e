/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values by their rank among many, without sorting them: linear time, and the same result
 * everywhere. */
#ifndef GSIM_BASE_PICK_H
#define GSIM_BASE_PICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { GSIM_MAX_PICKS = 16, GSIM_PICK_BLOCK = 512 };

/* Wherever places are asked for, they are below the number of values, and none is below one before it
 * that it does not repeat. */

/* Moves values about until those at the places `at` are what sorting would put there. */
void gsim_pick_i64(int64_t *values, size_t n, const size_t *at, size_t n_at);
/* The same, copied to `picked`, of values that are left as they are; at most GSIM_MAX_PICKS. No NaN.
 * false: no memory. */
bool gsim_pick_f64(const double *values, size_t n, const size_t *at, double *picked, size_t n_at);

/* Doubles as whole numbers of the same order: the bits of negative ones are ordered backwards. */
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

/* --- of values that nobody keeps --------------------------------------------------------------- */

/* A sample says within which limits the wanted places lie. Then all values pass by: what is below the
 * limits is counted, what is between them is kept. Where the sample was wrong the counts show it. */
struct gsim_pick_range {
    int64_t low, high; /* both are within */
    int64_t *kept;
    size_t n_below, n_kept, capacity;
};

struct gsim_picks {
    size_t n; /* values that there will be */
    size_t n_places;
    size_t place[GSIM_MAX_PICKS];
    struct gsim_pick_range range[GSIM_MAX_PICKS];
    uint32_t n_ranges;
    bool has_failed; /* no memory */
};

enum gsim_picked { GSIM_PICKED, GSIM_PICK_MISSED, GSIM_PICK_NO_MEMORY };

/* How many of n values make a sample; 0: keeping all of them costs less. */
size_t gsim_pick_sample(size_t n);
/* Which of n values is the next of a sample; state begins as 0. */
size_t gsim_pick_sample_at(uint64_t *state, size_t n);

/* For at most GSIM_MAX_PICKS places among n values. The sample is moved about; where it has no values
 * all are kept, and nothing is missed. */
void gsim_picks_open(struct gsim_picks *picks, size_t n, const size_t *at, size_t n_at,
                     int64_t *sample, size_t n_sample);
void gsim_picks_add(struct gsim_picks *picks, const int64_t *values, size_t n);
/* After all values: fills picked with those at the places, and frees what was kept. */
enum gsim_picked gsim_picks_close(struct gsim_picks *picks, int64_t *picked);

#endif
