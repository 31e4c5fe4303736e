#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A row for each kernel of a pair's first program and the kernel of the second that ran as it began, from what waits.py wrote:
how often, its median us alone and there, and the mean us from the end of the kernel before it. README.md.

    python3 table.py FOLDER >waits.csv
"""
import bisect
import collections
import csv
import glob
import os
import statistics
import sys

LEAST = 30


def read(path):
    with open(path) as f:
        return [(int(r["begin_ns"]) / 1e3, int(r["ns"]) / 1e3, (r["kernel"], r["blocks"])) for r in csv.DictReader(f)]


def running(others, begins, at):
    i = bisect.bisect_right(begins, at) - 1
    return others[i][2] if i >= 0 and sum(others[i][:2]) >= at else ("", "")


def main():
    folder, out = sys.argv[1], csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("first,second,kernel,blocks,beside,beside_blocks,n,alone_us,us,gap_us".split(","))
    for path in sorted(glob.glob(os.path.join(folder, "*+*.0.csv"))):
        first, second = os.path.basename(path)[: -len(".0.csv")].split("+")
        alone_path = os.path.join(folder, f"{first}.0.csv")
        if not os.path.exists(alone_path):
            continue
        alone, found = collections.defaultdict(list), collections.defaultdict(list)
        for _, us, kernel in read(alone_path):
            alone[kernel].append(us)
        own, others = read(path), read(path.replace(".0.csv", ".1.csv"))
        begins = [begin for begin, _, _ in others]
        for before, (begin, us, kernel) in zip(own, own[1:]):
            if begins[0] <= begin <= begins[-1]:
                found[kernel, running(others, begins, begin)].append((us, begin - sum(before[:2])))
        for (kernel, beside), readings in sorted(found.items()):
            if len(readings) >= LEAST and kernel in alone:
                out.writerow([first, second, *kernel, *beside, len(readings), f"{statistics.median(alone[kernel]):.2f}",
                              f"{statistics.median(us for us, _ in readings):.2f}",
                              f"{statistics.fmean(gap for _, gap in readings):.2f}"])


if __name__ == "__main__":
    main()
