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

/* What columns before it take from a cell of a line: `from` is the first that both have. */
static void reduce_cell(struct gsim_skyline *m, uint32_t i, uint32_t j) {
    double *line = m->cell + m->line[i];
    uint32_t first = m->first[i], from = m->first[j] > first ? m->first[j] : first;
    if (from < j)
        line[j - first] -=
            product(line + from - first, m->cell + m->line[j] + from - m->first[j], j - from);
}

/* The entries of a line before they are divided by the pivots: each loses what the columns before
 * it take. */
static void reduce(struct gsim_skyline *m, uint32_t i, uint32_t from, uint32_t to) {
    for (uint32_t j = from; j < to; j++)
        reduce_cell(m, i, j);
}

/* LINES lines that begin together are reduced by one line before them after the other, each of
 * which is read once for all. Their sums are those of product. */
enum { LINES = 4, LONG = 16 };

static inline void add_four(double *sum, const double *a, const double *b) {
    for (uint32_t i = 0; i < 4; i++)
        sum[i] += a[i] * b[i];
}

static inline double sum_of(double *sum, const double *a, const double *b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        sum[0] += a[k] * b[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void reduce_cells(struct gsim_skyline *m, uint32_t i, uint32_t j) {
    uint32_t first = m->first[i], from = m->first[j] > first ? m->first[j] : first, n = j - from;
    const double *b = m->cell + m->line[j] + from - m->first[j];
    double *a0 = m->cell + m->line[i] + from - first;
    double *a1 = m->cell + m->line[i + 1] + from - first;
    double *a2 = m->cell + m->line[i + 2] + from - first;
    double *a3 = m->cell + m->line[i + 3] + from - first;
    double sum0[4] = {0}, sum1[4] = {0}, sum2[4] = {0}, sum3[4] = {0};
    uint32_t k = 0;
    for (; k + 4 <= n; k += 4) {
        add_four(sum0, a0 + k, b + k);
        add_four(sum1, a1 + k, b + k);
        add_four(sum2, a2 + k, b + k);
        add_four(sum3, a3 + k, b + k);
    }
    a0[n] -= sum_of(sum0, a0 + k, b + k, n - k);
    a1[n] -= sum_of(sum1, a1 + k, b + k, n - k);
    a2[n] -= sum_of(sum2, a2 + k, b + k, n - k);
    a3[n] -= sum_of(sum3, a3 + k, b + k, n - k);
}

/* Whether lines from i on are reduced together up to i. */
static bool are_alike(const struct gsim_skyline *m, uint32_t i) {
    bool are = i + LINES <= m->n && i - m->first[i] >= LONG;
    for (uint32_t l = 1; are && l < LINES; l++)
        are = m->first[i + l] == m->first[i];
    return are;
}

static void reduce_together(struct gsim_skyline *m, uint32_t i) {
    uint32_t first = m->first[i];
    for (uint32_t j = first + 1; j < i; j++) {
        uint32_t from = m->first[j] > first ? m->first[j] : first;
        if (j - from >= LONG)
            reduce_cells(m, i, j);
        else
            for (uint32_t l = 0; l < LINES; l++)
                reduce_cell(m, i + l, j);
    }
}

/* A pivot of the right sign; one that is lost in rounding is replaced (ECOS' EPS and DELTA). */
static double secure(double pivot, bool is_negative) {
    const double lost = 1e-13, instead = 2e-7;
    double size = is_negative ? -pivot : pivot;
    return size > lost ? pivot : is_negative ? -instead : instead;
}

/* Divides the entries of a reduced line by the pivots. */
static void divide(struct gsim_skyline *m, uint32_t i, bool is_negative) {
    double *line = m->cell + m->line[i], taken = 0;
    const double *pivot = m->diagonal + m->first[i];
    uint32_t n = i - m->first[i];
    for (uint32_t j = 0; j < n; j++) {
        double scaled = line[j] / pivot[j];
        taken += scaled * line[j];
        line[j] = scaled;
    }
    m->diagonal[i] = secure(m->diagonal[i] - taken, is_negative);
}

void gsim_skyline_factorise(struct gsim_skyline *m, const bool *is_negative) {
    for (uint32_t i = 0, together = 0; i < m->n; i++) {
        uint32_t from = m->first[i] + 1;
        if (i >= together && are_alike(m, i)) {
            reduce_together(m, i);
            together = i + LINES;
        }
        reduce(m, i, i < together ? together - LINES : from, i);
        divide(m, i, is_negative[i]);
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
