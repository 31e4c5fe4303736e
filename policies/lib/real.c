/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/lib/real.h"

#include <float.h>
#include <string.h>

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

double gsim_real_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS) - EXPONENT_BIAS;
    double part = x * power_of_two(-exponent / 2) * power_of_two(-exponent - -exponent / 2);
    if (part > 1.4142135623730951) {
        part /= 2;
        exponent++;
    }
    /* ln part = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.1716 */
    static const double factors[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                     1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
    double s = (part - 1) / (part + 1), square = s * s, sum = 0;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        sum = sum * square + factors[i];
    return exponent * ln2_high + (2 * s + (2 * s * square * sum + exponent * ln2_low));
}

double gsim_real_exp(double x) {
    if (x < -708)
        return 0;
    if (x > 709)
        return DBL_MAX;
    double turns = x / (ln2_high + ln2_low);
    int exponent = (int)(turns < 0 ? turns - 0.5 : turns + 0.5);
    double rest = (x - exponent * ln2_high) - exponent * ln2_low, sum = 1;
    /* by 14, 13, ... 1; by powers of two the factor gives the bits of the quotient, and sooner */
    for (int n = 14; n > 8; n--)
        sum = 1 + rest * sum / n;
    sum = 1 + rest * sum * 0.125;
    sum = 1 + rest * sum / 7;
    sum = 1 + rest * sum / 6;
    sum = 1 + rest * sum / 5;
    sum = 1 + rest * sum * 0.25;
    sum = 1 + rest * sum / 3;
    sum = 1 + rest * sum * 0.5;
    sum = 1 + rest * sum;
    return gsim_real_of(1, exponent) * sum;
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
