#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes experiments/validate/drive/real_POLICY.csv from the record of the day of PyTorch jobs (tests/records/notes.csv,
runs 19 to 24): real_alone.csv with startup_s, which is what the job's process took until its first iteration in that run.
Where jobs do not share the GPU, duration_s is what its iterations took there, from the first to the last one.

    python3 experiments/drive/real_day.py          in the root of the tree
"""
import csv

DAY = "experiments/validate/drive"
RUNS = {19: "fifo", 20: "timeslice", 21: "mps", 22: "gang_rr", 23: "srtf", 24: "suspend"}
SHARED = ("timeslice", "mps")


def notes_of(run):
    with open("tests/records/notes.csv") as f:
        for row in csv.DictReader(f):
            if int(row["run"]) == run and row["job"]:
                yield int(row["job"]), row["what"], int(row["time_ns"])


def times_of(run):
    """By job, in ns: from its first start until it computed, and in all from where it computed to where it halted, or told
    its end."""
    placed, since, startup, computed, is_done = {}, {}, {}, {}, set()
    for job, what, at in notes_of(run):
        if what == "start":
            placed.setdefault(job, at)
        if what == "computes":
            startup.setdefault(job, at - placed[job])
            since[job] = at
        if what in ("halts", "told end") and job not in is_done:
            computed[job] = computed.get(job, 0) + at - since[job]
        if what == "told end":
            is_done.add(job)
    return startup, computed


def main():
    with open(f"{DAY}/real_alone.csv") as f:
        rows = list(csv.DictReader(f))
    for run, policy in RUNS.items():
        startup, computed = times_of(run)
        with open(f"{DAY}/real_{policy}.csv", "w", newline="") as f:
            out = csv.DictWriter(f, [*rows[0], "startup_s"], lineterminator="\n")
            out.writeheader()
            for job, row in enumerate(rows):
                length = {} if policy in SHARED else {"duration_s": f"{computed[job] / 1e9:.4f}"}
                out.writerow({**row, **length, "startup_s": f"{startup[job] / 1e9:.4f}"})


if __name__ == "__main__":
    main()
