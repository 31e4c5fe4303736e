/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of small numbers with "first at or after": bits, and a summary bit per word of bits.
 * Members are added and removed without a branch. */
#ifndef GSIM_BASE_BITSET_H
#define GSIM_BASE_BITSET_H

#include <stdbool.h>
#include <stdint.h>

#include "gsim/arena.h"

struct gsim_bitset {
    uint64_t *word;
    uint64_t *summary;
    uint32_t n_words, n_summary;
};

static inline bool gsim_bitset_init(struct gsim_bitset *set, struct gsim_arena *arena, uint32_t n) {
    set->n_words = n / 64 + 1;
    set->n_summary = set->n_words / 64 + 1;
    set->word = gsim_arena_array(arena, set->n_words, sizeof *set->word);
    set->summary = gsim_arena_array(arena, set->n_summary, sizeof *set->summary);
    return set->word && set->summary;
}

static inline void gsim_bitset_add(struct gsim_bitset *set, uint32_t i) {
    set->word[i / 64] |= UINT64_C(1) << (i % 64);
    set->summary[i / 4096] |= UINT64_C(1) << (i / 64 % 64);
}

static inline void gsim_bitset_remove(struct gsim_bitset *set, uint32_t i) {
    uint64_t word = set->word[i / 64] &= ~(UINT64_C(1) << (i % 64));
    set->summary[i / 4096] &= ~((uint64_t)(word == 0) << (i / 64 % 64));
}

static inline bool gsim_bitset_has(const struct gsim_bitset *set, uint32_t i) {
    return set->word[i / 64] >> (i % 64) & 1;
}

/* Moves a member between two sets of equal size; they may be one set. */
static inline void gsim_bitset_move(struct gsim_bitset *from, struct gsim_bitset *to, uint32_t i) {
    gsim_bitset_remove(from, i);
    gsim_bitset_add(to, i);
}

/* The smallest member, or UINT32_MAX. */
static inline uint32_t gsim_bitset_first(const struct gsim_bitset *set) {
    for (uint32_t s = 0; s < set->n_summary; s++)
        if (set->summary[s]) {
            uint32_t w = s * 64 + (uint32_t)__builtin_ctzll(set->summary[s]);
            return w * 64 + (uint32_t)__builtin_ctzll(set->word[w]);
        }
    return UINT32_MAX;
}

/* The smallest member >= from, or UINT32_MAX. */
static inline uint32_t gsim_bitset_next(const struct gsim_bitset *set, uint32_t from) {
    uint32_t w = from / 64;
    if (w >= set->n_words)
        return UINT32_MAX;
    uint64_t bits = set->word[w] & (UINT64_MAX << (from % 64));
    if (bits)
        return w * 64 + (uint32_t)__builtin_ctzll(bits);
    w++;
    for (uint32_t s = w / 64; s < set->n_summary; s++) {
        uint64_t words = set->summary[s];
        if (s == w / 64)
            words &= UINT64_MAX << (w % 64);
        if (words) {
            w = s * 64 + (uint32_t)__builtin_ctzll(words);
            return w * 64 + (uint32_t)__builtin_ctzll(set->word[w]);
        }
    }
    return UINT32_MAX;
}

#endif
