/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/real.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "sim/base/hints.h"

enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023, MOST_EXPONENT = 1023 };

/* 2^exponent, of numbers that have all bits. */
static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + EXPONENT_BIAS) << FRACTION_BITS;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double gsim_real_of(uint64_t digits, int exponent) {
    int half = exponent / 2; /* digits may have 63 bits below the first */
    if (exponent > MOST_EXPONENT || exponent < -2 * MOST_EXPONENT + 2)
        return exponent < 0 ? 0 : DBL_MAX;
    return (double)digits * power_of_two(half) * power_of_two(exponent - half);
}

/* ln 2 in two parts, of which the first has its last 32 bits clear: its whole multiples are
 * exact. */
static const double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;

/* As many numbers go through the steps together: of 16 a logarithm takes two thirds of the time of
 * one alone, an exponential 0.4 of it (gcc 12 on an EPYC). */
enum { TOGETHER = 16 };

/* Of at most TOGETHER numbers: instructions of a step take several of them. */
static inline void logs_of(double *x, const int n) {
    double exponent[TOGETHER], square[TOGETHER], sum[TOGETHER];
    for (int i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        int whole = (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS;
        double part = x[i] * power_of_two(-whole / 2) * power_of_two(-whole - -whole / 2);
        bool is_more = part > 1.4142135623730951;
        exponent[i] = whole + is_more;
        part *= is_more ? 0.5 : 1;
        x[i] = (part - 1) / (part + 1);
    }
    /* ln part = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.1716 */
    static const double factors[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                     1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    for (int i = 0; i < n; i++) {
        square[i] = x[i] * x[i];
        sum[i] = 0;
    }
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
        for (int i = 0; i < n; i++)
            sum[i] = sum[i] * square[i] + factors[f];
    for (int i = 0; i < n; i++)
        x[i] = exponent[i] * ln2_high +
               (2 * x[i] + (2 * x[i] * square[i] * sum[i] + exponent[i] * ln2_low));
}

static inline void exps_of(double *x, const int n) {
    const double least = -708, most = 709;
    double rest[TOGETHER], sum[TOGETHER], power[TOGETHER];
    for (int i = 0; i < n; i++) {
        double within = x[i] < least ? least : x[i] > most ? most : x[i];
        double turns = within / (ln2_high + ln2_low);
        int exponent = (int)(turns < 0 ? turns - 0.5 : turns + 0.5);
        rest[i] = (within - exponent * ln2_high) - exponent * ln2_low;
        power[i] = power_of_two(exponent);
        sum[i] = 1;
    }
    /* by 14, 13, ... 1; by powers of two the factor gives the bits of the quotient, and sooner */
    static const double high[] = {14, 13, 12, 11, 10, 9}, low[] = {7, 6, 5};
    for (size_t by = 0; by < sizeof high / sizeof *high; by++)
        for (int i = 0; i < n; i++)
            sum[i] = 1 + rest[i] * sum[i] / high[by];
    for (int i = 0; i < n; i++)
        sum[i] = 1 + rest[i] * sum[i] * 0.125;
    for (size_t by = 0; by < sizeof low / sizeof *low; by++)
        for (int i = 0; i < n; i++)
            sum[i] = 1 + rest[i] * sum[i] / low[by];
    for (int i = 0; i < n; i++) {
        sum[i] = 1 + rest[i] * sum[i] * 0.25;
        sum[i] = 1 + rest[i] * sum[i] / 3;
        sum[i] = 1 + rest[i] * sum[i] * 0.5;
        sum[i] = 1 + rest[i] * sum[i];
        x[i] = x[i] < least ? 0 : x[i] > most ? DBL_MAX : power[i] * sum[i];
    }
}

GSIM_WHOLE double gsim_real_log(double x) {
    logs_of(&x, 1);
    return x;
}

GSIM_WHOLE double gsim_real_exp(double x) {
    exps_of(&x, 1);
    return x;
}

GSIM_WHOLE void gsim_real_logs(double *x, uint32_t n) {
    for (uint32_t at = 0; at < n; at += TOGETHER)
        logs_of(x + at, n - at < TOGETHER ? (int)(n - at) : TOGETHER);
}

GSIM_WHOLE void gsim_real_exps(double *x, uint32_t n) {
    for (uint32_t at = 0; at < n; at += TOGETHER)
        exps_of(x + at, n - at < TOGETHER ? (int)(n - at) : TOGETHER);
}

double gsim_real_root(double x) {
    if (!(x > 0))
        return 0;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS;
    double root = power_of_two(exponent / 2);
    for (int i = 0; i < 7; i++) /* Newton's rule doubles the right digits of each guess */
        root = (root + x / root) / 2;
    return root;
}
