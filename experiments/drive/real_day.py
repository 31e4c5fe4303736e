#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes experiments/validate/drive/real_POLICY.csv and longer_POLICY.csv from the records of the days of PyTorch jobs
(tests/records/notes.csv, runs 19 to 24 and 25 to 30): real_alone.csv and longer_alone.csv with startup_s, which is what
the job's process took until its first iteration in that run. Where jobs do not share the GPU, duration_s is what its
iterations took there, from the first to the last one. longer_alone.csv is made from longer_jobs.csv and the run under fifo.

    python3 experiments/drive/real_day.py          in the root of the tree
"""
import csv

DAY = "experiments/validate/drive"
RUNS = {"real": {19: "fifo", 20: "timeslice", 21: "mps", 22: "gang_rr", 23: "srtf", 24: "suspend"},
        "longer": {25: "fifo", 26: "mps", 27: "timeslice", 28: "suspend", 29: "srtf", 30: "gang_rr"}}
SHARED = ("timeslice", "mps")


def notes_of(run):
    with open("tests/records/notes.csv") as f:
        for row in csv.DictReader(f):
            if int(row["run"]) == run and row["job"]:
                yield int(row["job"]), row["what"], int(row["time_ns"]), int(row["value"])


def times_of(run):
    """By job, in ns: from its first start until it computed, and in all from where it computed to where it halted, or told
    its end, by its own clock where the record has that."""
    placed, since, startup, computed, is_done = {}, {}, {}, {}, set()
    for job, what, at, value in notes_of(run):
        if what == "start":
            placed.setdefault(job, at)
        if what == "computes":
            startup.setdefault(job, at - placed[job])
            since[job] = at
        if what in ("halts", "told end") and job not in is_done:
            until = value if what == "told end" and value > 0 else at
            computed[job] = computed.get(job, 0) + until - since[job]
        if what == "told end":
            is_done.add(job)
    return startup, computed


def write_alone():
    computed = times_of(25)[1]
    with open(f"{DAY}/longer_jobs.csv") as f, open(f"{DAY}/longer_alone.csv", "w", newline="") as g:
        out = csv.writer(g, lineterminator="\n")
        out.writerow("job_id submit_s duration_s estimate_s iterations mem_gib app".split())
        for job, row in enumerate(csv.DictReader(f)):
            kind = row["command"].split()[2].replace("_", "-")
            out.writerow([row["job_id"], row["submit_s"], f"{computed[job] / 1e9:.4f}", row["duration_s"], row["iterations"],
                          row["mem_gib"], f"h200-day-{kind}"])


def write_day(day):
    with open(f"{DAY}/{day}_alone.csv") as f:
        rows = list(csv.DictReader(f))
    for run, policy in RUNS[day].items():
        startup, computed = times_of(run)
        with open(f"{DAY}/{day}_{policy}.csv", "w", newline="") as f:
            out = csv.DictWriter(f, [*rows[0], "startup_s"], lineterminator="\n")
            out.writeheader()
            for job, row in enumerate(rows):
                length = {} if policy in SHARED else {"duration_s": f"{computed[job] / 1e9:.4f}"}
                out.writerow({**row, **length, "startup_s": f"{startup[job] / 1e9:.4f}"})


def main():
    write_alone()
    for day in RUNS:
        write_day(day)


if __name__ == "__main__":
    main()
