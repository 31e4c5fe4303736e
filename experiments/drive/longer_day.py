#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures each kind of the jobs of real_jobs.csv alone, and writes the trace of a longer day from that, before the day
is driven: jobs have FACTOR times as many iterations and come over FACTOR x 2 / 3 as long.

    python3 longer_day.py FACTOR real_jobs.csv PROFILES     in a folder with real_job.py and gsim_job.py

longer_jobs.csv is for `gsim drive --cooperative`, alone.csv has what was measured (kind, iterations, ms of one, seconds
until the first one, GiB), and PROFILES a Chrome trace of each kind.
"""
import csv
import subprocess
import sys

LEAST_S = 2.0  # what is measured of a kind at least


def measure(kind, n, profile):
    out = subprocess.run([sys.executable, "real_job.py", kind, str(n), profile], check=True, text=True, stdout=subprocess.PIPE)
    _, n, iteration_ms, start_s, memory_gib = out.stdout.split()[:5]
    return {"kind": kind, "iterations": int(n), "iteration_ms": float(iteration_ms), "start_s": float(start_s), "mem_gib": float(memory_gib)}


def main():
    factor, jobs, profiles = float(sys.argv[1]), list(csv.DictReader(open(sys.argv[2]))), sys.argv[3]
    alone = {}
    for job in jobs:
        kind = job["command"].split()[2]
        if kind not in alone:
            n = max(20, int(LEAST_S / float(job["duration_s"]) * int(job["iterations"])))
            alone[kind] = measure(kind, n, f"{profiles}/{kind}.json")
            print(alone[kind], file=sys.stderr, flush=True)
    with open("alone.csv", "w", newline="") as f:
        out = csv.DictWriter(f, list(next(iter(alone.values()))), lineterminator="\n")
        out.writeheader()
        out.writerows(alone.values())
    with open("longer_jobs.csv", "w", newline="") as f:
        out = csv.DictWriter(f, list(jobs[0]), lineterminator="\n")
        out.writeheader()
        for job in jobs:
            kind = job["command"].split()[2]
            n = round(factor * int(job["iterations"]))
            out.writerow({**job, "submit_s": f"{factor * 2 / 3 * float(job['submit_s']):g}", "iterations": n,
                          "duration_s": f"{n * alone[kind]['iteration_ms'] / 1e3:.4f}", "mem_gib": f"{alone[kind]['mem_gib']:.2f}",
                          "command": f"python3 real_job.py {kind} {n}"})


if __name__ == "__main__":
    main()
