#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the columns `issue` and `tensor` of programs from kernels_h200.csv, and `parted_kib` from that of ../parted: of
the kernels of a kind with a row's name, blocks and threads the one whose time is nearest. Kernels of graphs have numbers
for names; theirs have the row's registers.

    python3 columns.py twelve|day|graph
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
COLUMNS = PIPES + ["parted_kib"]
PARTED = os.path.join(HERE, "..", "parted")
PREFIX = {"twelve": "h200-", "day": "h200-day-", "graph": "h200-graph-"}


def measured(folder, programs):
    by_kind = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(os.path.join(folder, "kernels_h200.csv")) as f:
        for row in csv.DictReader(f):
            if row["programs"] == programs:
                by_kind[row["kind"]][row["blocks"], row["threads"]].append(row)
    return by_kind


def are_one(row, kernel):
    name, other = re.sub(r"\.\d+$", "", row["name"]), kernel["kernel"]
    if re.fullmatch(r"k\d+", name):
        return kernel.get("registers") == row["registers"]
    return name.startswith(other) or other.startswith(name)


def nearest(row, found):
    alike = [k for k in found[row["blocks"], row["threads"]] if are_one(row, k)]
    if row["kind"] != "kernel" or not alike:
        return None
    return min(alike, key=lambda k: abs(math.log(max(float(k["us"]), 0.1) / max(float(row["time_us"]), 0.1))))


def cells_of(row, busy, parted):
    near_parted = nearest(row, parted)
    near = nearest({**row, "name": near_parted["kernel"]} if near_parted else row, busy)
    cells = [near[pipe] if near and float(near[pipe]) >= 0.01 else "" for pipe in PIPES]
    return cells + [near_parted["parted_kib"] if near_parted else ""]


def write(path, busy, parted):
    with open(path) as f:
        lines = f.read().splitlines()
    head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    rows = list(csv.DictReader(lines[head:]))
    columns = [c for c in lines[head].split(",") if c not in COLUMNS]
    kernels = [row for row in rows if row["kind"] == "kernel"]
    with_issue = with_parted = 0
    out = [",".join(columns + COLUMNS)]
    for row in rows:
        cells = cells_of(row, busy, parted)
        with_issue += cells[0] != ""
        with_parted += cells[-1] != ""
        out.append(",".join([f'"{row[c]}"' if "," in row[c] or row["kind"] == "title" and c == "name" else row[c]
                             for c in columns] + cells))
    with open(path, "w") as f:
        f.write("\n".join(lines[:head] + out) + "\n")
    print(f"{os.path.basename(path)}: {with_issue} and {with_parted} of {len(kernels)} kernels")


def main():
    parted = measured(PARTED, sys.argv[1])
    for kind, busy in measured(HERE, sys.argv[1]).items():
        write(os.path.join(APPS, PREFIX[sys.argv[1]] + kind.replace("_", "-") + ".csv"), busy, parted[kind])


if __name__ == "__main__":
    main()
