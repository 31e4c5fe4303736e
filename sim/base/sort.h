/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stable radix sorts: linear time, and an equal result on every platform. */
#ifndef GSIM_BASE_SORT_H
#define GSIM_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending. false: no memory for the scratch copy. */
bool gsim_sort_i64(int64_t *values, size_t n);
bool gsim_sort_f64(double *values, size_t n); /* no NaN */
/* Fills order[] with the permutation that sorts keys ascending, equal keys in index order. */
bool gsim_sort_order(const int64_t *keys, uint32_t *order, size_t n);

#endif
