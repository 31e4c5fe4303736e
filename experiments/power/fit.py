#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The exponent of power by least squares: power is idle + c n (clock / highest clock)^k, with one
idle and one k for all readings of a GPU and one c for each kernel.

    python3 experiments/power/fit.py experiments/power/h200.csv
"""

import math
import sys


def read(path):
    """Rows of (kernel, SMs, clock, power)."""
    lines = [line.strip().split(",") for line in open(path) if not line.startswith("#")]
    column = {name: i for i, name in enumerate(lines[0])}
    return [(row[column["kernel"]],) + tuple(float(row[column[name]]) for name in
                                             ("sms", "clock_mhz", "power_w")) for row in lines[1:]]


def solve(matrix, right):
    """Gauss and Jordan, with pivots."""
    n = len(right)
    rows = [matrix[i][:] + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda j: abs(rows[j][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(n):
            if j != i:
                part = rows[j][i] / rows[i][i]
                rows[j] = [x - part * y for x, y in zip(rows[j], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def fit(rows, k):
    """The sum of squared errors with this exponent, and idle and the c of each kernel."""
    kernels = sorted({row[0] for row in rows})
    top = {name: max(row[2] for row in rows if row[0] == name) for name in kernels}
    lines = [[1] + [sms * (clock / top[kernel])**k if kernel == name else 0 for name in kernels]
             for kernel, sms, clock, _ in rows]
    n = len(kernels) + 1
    found = solve([[sum(x[i] * x[j] for x in lines) for j in range(n)] for i in range(n)],
                  [sum(x[i] * row[3] for x, row in zip(lines, rows)) for i in range(n)])
    errors = [row[3] - sum(a * b for a, b in zip(found, x)) for x, row in zip(lines, rows)]
    return sum(e * e for e in errors), found


def main():
    rows, step = read(sys.argv[1]), 0.01
    k = min((1 + i * step for i in range(400)), key=lambda k: fit(rows, k)[0])
    least, found = fit(rows, k)
    variance = least / (len(rows) - len(found) - 1)
    bend = (fit(rows, k + step)[0] - 2 * least + fit(rows, k - step)[0]) / step**2
    print(f"exponent {k:.2f}, standard error {math.sqrt(2 * variance / bend):.3f}; idle "
          f"{found[0]:.1f} W; residual {math.sqrt(variance):.1f} W; {len(rows)} readings")


main()
