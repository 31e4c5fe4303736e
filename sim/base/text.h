/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small text helpers: suggestions for typos, lists for messages. */
#ifndef GSIM_BASE_TEXT_H
#define GSIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Optimal string alignment distance (a swap of neighbours counts 1), capped at 255. */
int gsim_text_distance(const char *a, const char *b);
/* Whether name begins with word, which has at least two letters; case does not matter. */
bool gsim_text_abbreviates(const char *word, const char *name);
/* Index of the name (of count) that word abbreviates, else of the closest name if word may be a
 * typo of it, else -1; case does not matter. */
int gsim_text_suggest(const char *word, const char *const *names, int count);
/* The name that the word almost surely means, or -1: word and name are equal up to case,
 * separators, a plural, a unit behind the last '_' or a cut-off end, or a letter is wrong (two of
 * eight or more). "gpu" is "gpus", "mem_mb" is "mem_gib", "node" is not "model". */
int gsim_text_near_miss(const char *word, const char *const *names, int count);
/* Bytes of the UTF-8 character at the start of text; 0 when it is not UTF-8. */
int gsim_text_utf8_length(const char *text);
bool gsim_text_is_utf8(const char *text, size_t length);
/* Puts the character at the start of text into piece, as a string of JSON has it, and returns how
 * many bytes of text it takes. JSON has to be UTF-8: a byte that is not is taken as Latin-1. */
int gsim_text_json(const char *text, char piece[8]);
/* Whether text begins with prefix, which is in lower case; the case of text does not matter. */
bool gsim_text_begins(const char *text, const char *prefix);
/* Position of word in "a|b|c", or -1. */
int gsim_text_choice(const char *word, const char *choices);

/* The ending of a noun of which there are n: "s", and of one "". */
const char *gsim_plural(int64_t n);

/* A hash over texts, each with its end (FNV-1a): start with GSIM_TEXT_SUM. */
#define GSIM_TEXT_SUM UINT32_C(2166136261)
uint32_t gsim_text_sum(uint32_t sum, const char *text, size_t length);

#endif
