#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds the rule of models/gpu/sm_parting.c against all readings: README.md.

    python3 rule.py
"""
import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS = (8, 16, 32, 64, 100, 132, 164, 196, 228)
SMS, THREADS, SLOTS, REGISTERS, MOST = 132, 2048, 32, 65536, 228


def step(kib):
    return next((s for s in STEPS if kib <= s), MOST)


def block_kib(shared_bytes):
    return -(-(shared_bytes + 1024) // 128) * 128 / 1024


def holds(threads, registers, shared_bytes):
    warps = -(-threads // 32) * 32
    return min(SLOTS, THREADS // warps, REGISTERS // (-(-registers // 8) * 8 * warps), int(MOST // block_kib(shared_bytes)))


def least(threads, registers, shared_bytes):
    return step(holds(threads, registers, shared_bytes) * block_kib(shared_bytes))


def parted(threads, registers, shared_bytes):
    n, one = holds(threads, registers, shared_bytes), block_kib(shared_bytes)
    if n == 1 or threads >= 1024 and shared_bytes > 0:
        return step(n * one)
    if shared_bytes == 0:
        return step(min(32, 4 * min(SLOTS, THREADS // threads)))
    return step(max(n * one, min(132, min(2 * n, SLOTS) * one)))


def rows(name):
    with open(os.path.join(HERE, name)) as f:
        yield from csv.DictReader(f)


def kernels(name):
    """How many kernels are parted by the rule, of how many."""
    found = [parted(int(r["threads"]), int(r["registers"]), int(r["shared_bytes"])) == int(r["parted_kib"]) for r in rows(name)]
    return sum(found), len(found)


def fitting(row):
    """Blocks of the second kernel that the rule lets in."""
    value = {c: int(x) for c, x in row.items() if c != "mode"}
    kib, threads, probe = value["kib"], value["threads"], value["probe_kib"]
    here = max(step(MOST * value["carve"] / 100), least(threads, 16, kib * 1024)) if value["carve"] >= 0 \
        else parted(threads, 16, kib * 1024)
    if here < least(value["probe_threads"], 16, probe * 1024):
        return 0
    n = value["blocks"] // SMS
    return max(0, min(SLOTS - n, (THREADS - n * threads) // value["probe_threads"], (here - n * (kib + 1)) // (probe + 1)))


def blocks():
    asked = [r for r in rows("sms_h200.csv") if r["probe_carve"] == "-1" and (r["carve"] == "-1" or r["kib"] == "0")]
    found = [int(r["least"]) == int(r["most"]) == fitting(r) for r in asked]
    return sum(found), len(found)


print("shapes: %d of %d" % kernels("shapes_h200.csv"))
print("kernels of programs: %d of %d" % kernels("kernels_h200.csv"))
print("blocks beside others: %d of %d" % blocks())
