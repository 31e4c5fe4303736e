/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small text helpers: suggestions for typos, lists for messages. */
#ifndef GSIM_BASE_TEXT_H
#define GSIM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Optimal string alignment distance (a swap of neighbours counts one), capped at 255. */
int gsim_text_distance(const char *a, const char *b);
/* Whether name begins with word, which has two letters at least; upper and lower case are one. */
bool gsim_text_abbreviates(const char *word, const char *name);
/* Index of the name (of count) that word is short for, else of the closest one if it is close enough to
 * be a typo of it, else -1; upper and lower case are one. */
int gsim_text_suggest(const char *word, const char *const *names, int count);
/* The name that the word almost surely stands for, or -1: but for case and separators, a plural, a
 * unit behind the last '_' or what was cut off, it is that name, or one letter is wrong (two of eight
 * and more). "gpu" is "gpus", "mem_mb" is "mem_gib", "node" is not "model". */
int gsim_text_near_miss(const char *word, const char *const *names, int count);
/* Bytes of the UTF-8 character that text begins with; 0 when it is none. */
int gsim_text_utf8_length(const char *text);
/* Whether text begins with prefix, which is in lower case; its own case does not matter. */
bool gsim_text_begins(const char *text, const char *prefix);
/* Position of word in "a|b|c", or -1. */
int gsim_text_choice(const char *word, const char *choices);

/* A sum over texts one after the other, each with its end (FNV-1a): start with GSIM_TEXT_SUM. */
#define GSIM_TEXT_SUM UINT32_C(2166136261)
uint32_t gsim_text_sum(uint32_t sum, const char *text, size_t length);

#endif
