/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/skyline.h"

#include <string.h>

static bool grow(struct gsim_skyline *m, void *block, size_t n, size_t size) {
    void **place = block;
    void *grown = gsim_arena_grow_raw(m->arena, *place, n * size);
    if (grown)
        *place = grown;
    return grown != NULL;
}

bool gsim_skyline_begin(struct gsim_skyline *m, uint32_t n) {
    if (n > m->room) {
        size_t room = 2 * (size_t)n;
        if (!grow(m, &m->first, room, sizeof *m->first) ||
            !grow(m, &m->line, room, sizeof *m->line) ||
            !grow(m, &m->diagonal, room, sizeof *m->diagonal))
            return false;
        m->room = 2 * n;
    }
    m->n = n;
    for (uint32_t i = 0; i < n; i++)
        m->first[i] = i;
    return true;
}

void gsim_skyline_reach(struct gsim_skyline *m, uint32_t a, uint32_t b) {
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low < m->first[high])
        m->first[high] = low;
}

static uint64_t count_cells(const struct gsim_skyline *m) {
    return m->n == 0 ? 0 : m->line[m->n - 1] + m->n - 1 - m->first[m->n - 1];
}

bool gsim_skyline_shape(struct gsim_skyline *m) {
    uint64_t cells = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->line[i] = cells;
        cells += i - m->first[i];
    }
    if (m->cell && cells <= m->cells_room)
        return true;
    if (!grow(m, &m->cell, 2 * cells + 1, sizeof *m->cell))
        return false;
    m->cells_room = 2 * cells;
    return true;
}

void gsim_skyline_clear(struct gsim_skyline *m) {
    memset(m->diagonal, 0, m->n * sizeof *m->diagonal);
    if (count_cells(m) > 0)
        memset(m->cell, 0, count_cells(m) * sizeof *m->cell);
}

/* Four sums at a time, so that none of them waits for the last addition. Most lines are shorter. */
static inline double product(const double *a, const double *b, uint32_t n) {
    double sum[4] = {0};
    uint32_t k = 0;
    if (n >= 4)
        for (; k + 4 <= n; k += 4)
            for (uint32_t i = 0; i < 4; i++)
                sum[i] += a[k + i] * b[k + i];
    for (; k < n; k++)
        sum[0] += a[k] * b[k];
    return n < 4 ? sum[0] : (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static inline void take_times(double *from, const double *line, uint32_t n, double times) {
    if (n >= 4)
        for (uint32_t j = 0; j < n; j++)
            from[j] -= line[j] * times;
    else
        for (uint32_t j = n; j-- > 0;)
            from[j] -= line[j] * times;
}

/* The entries of a line before they are divided by the pivots: each loses what the columns before
 * it take. */
static void reduce(struct gsim_skyline *m, uint32_t i) {
    double *line = m->cell + m->line[i];
    uint32_t first = m->first[i];
    for (uint32_t j = first + 1; j < i; j++) {
        uint32_t from = m->first[j] > first ? m->first[j] : first;
        if (from < j)
            line[j - first] -=
                product(line + from - first, m->cell + m->line[j] + from - m->first[j], j - from);
    }
}

/* A pivot of the right sign; one that is lost in rounding is replaced (ECOS' EPS and DELTA). */
static double secure(double pivot, bool is_negative) {
    const double lost = 1e-13, instead = 2e-7;
    double size = is_negative ? -pivot : pivot;
    return size > lost ? pivot : is_negative ? -instead : instead;
}

void gsim_skyline_factorise(struct gsim_skyline *m, const bool *is_negative) {
    for (uint32_t i = 0; i < m->n; i++) {
        double *line = m->cell + m->line[i], taken = 0;
        const double *pivot = m->diagonal + m->first[i];
        uint32_t n = i - m->first[i];
        reduce(m, i);
        for (uint32_t j = 0; j < n; j++) {
            double scaled = line[j] / pivot[j];
            taken += scaled * line[j];
            line[j] = scaled;
        }
        m->diagonal[i] = secure(m->diagonal[i] - taken, is_negative[i]);
    }
}

void gsim_skyline_solve(const struct gsim_skyline *m, double *right) {
    for (uint32_t i = 0; i < m->n; i++)
        right[i] -= product(m->cell + m->line[i], right + m->first[i], i - m->first[i]);
    for (uint32_t i = 0; i < m->n; i++)
        right[i] /= m->diagonal[i];
    for (uint32_t i = m->n; i-- > 0;)
        take_times(right + m->first[i], m->cell + m->line[i], i - m->first[i], right[i]);
}
