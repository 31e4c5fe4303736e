#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the columns `issue` and `tensor` of programs from kernels_h200.csv: of the kernels of a kind with a row's name, blocks and threads
the one whose time is nearest.

    python3 columns.py twelve|day
"""
import collections
import csv
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "..", "..", "models", "apps")
PIPES = ["issue", "tensor"]
PREFIX = {"twelve": "h200-", "day": "h200-day-"}


def measured(programs):
    by_kind = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(os.path.join(HERE, "kernels_h200.csv")) as f:
        for row in csv.DictReader(f):
            if row["programs"] == programs:
                by_kind[row["kind"]][row["blocks"], row["threads"]].append(row)
    return by_kind


def are_one(name, other):
    name = re.sub(r"\.\d+$", "", name)
    return name.startswith(other) or other.startswith(name)


def busy_of(row, found):
    alike = [k for k in found[row["blocks"], row["threads"]] if are_one(row["name"], k["kernel"])]
    if row["kind"] != "kernel" or not alike:
        return ["", ""]
    near = min(alike, key=lambda k: abs(math.log(max(float(k["us"]), 0.1) / max(float(row["time_us"]), 0.1))))
    return [near[pipe] if float(near[pipe]) >= 0.01 else "" for pipe in PIPES]


def write(path, found):
    with open(path) as f:
        lines = f.read().splitlines()
    head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    rows = list(csv.DictReader(lines[head:]))
    columns = [c for c in lines[head].split(",") if c not in PIPES]
    kernels = [row for row in rows if row["kind"] == "kernel"]
    with_issue = 0
    out = [",".join(columns + PIPES)]
    for row in rows:
        cells = busy_of(row, found)
        with_issue += cells[0] != ""
        out.append(",".join([f'"{row[c]}"' if "," in row[c] or row["kind"] == "title" and c == "name" else row[c]
                             for c in columns] + cells))
    with open(path, "w") as f:
        f.write("\n".join(lines[:head] + out) + "\n")
    print(f"{os.path.basename(path)}: {with_issue} of {len(kernels)} kernels")


def main():
    for kind, found in measured(sys.argv[1]).items():
        write(os.path.join(APPS, PREFIX[sys.argv[1]] + kind.replace("_", "-") + ".csv"), found)


if __name__ == "__main__":
    main()
