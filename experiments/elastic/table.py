#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every row of the reference tables below DATA/visible, run by reference.sh: how far gsim's mean JCT
and last end are from the program's, by how many seconds the JCT of the job is off that is furthest
from its own there (DATA/visible/jobs), and how many times the program's user time gsim's fits into.
Rows of gavel of which the shares are kept (DATA/visible/allocations) come once more, replayed.
User time is that of gsim alone, the least of --reps runs. A row without user time (results as its
authors ship them) has no ratio; one that reference.sh refuses says so.

    GSIM=./gsim experiments/elastic/table.py DATA [--reps N] [--only WORD]
"""
import argparse
import csv
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Columns that name the run; reference.sh takes the others as column=value.
NAMED = ("simulator", "trace", "cluster", "policy")
# The trace and the cluster of Shockwave's table are in its first line, not in its columns.
SHOCKWAVE = {"simulator": "shockwave", "trace": "shockwave/120.trace", "cluster": "32"}
# What names of files of jobs and shares have for a trace; of two traces with the cluster's numbers.
SHORT = {"minimize_makespan": "mm", "max_min_fairness": "mmf", "elasticVpollux_e": "ep", "trace1_first200": "t1_200",
         "trace3_first200": "t3_200", "trace4_first150": "t4_150", "static_100job_6_3_1100.0": "static100"}
# Stands in for gsim, and notes its user time.
TIMED = """#!/usr/bin/env python3
import os, resource, subprocess, sys
status = subprocess.run([os.environ["REAL_GSIM"]] + sys.argv[1:], check=False).returncode
with open(os.environ["TIMES"], "a") as times:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, file=times)
sys.exit(status)
"""


def rows_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        yield {**(SHOCKWAVE if "simulator" not in row else {}), **row}


def name_of(row):
    """As files of jobs and of shares are called."""
    stem = pathlib.Path(row["trace"]).name
    stem = stem.removesuffix(".csv").removesuffix(".trace")
    short = SHORT.get(stem, stem)
    if short in ("mm", "mmf"):
        short += "".join(dict.fromkeys(row["cluster"].split(":")))
    if row["simulator"] == "sia":
        return "sia.w1_12"
    parts = [row["simulator"], short, row["policy"], row.get("mode"), row.get("placement") == "placement" and "place"]
    return ".".join(part for part in parts if part)


def jobs_of(data, row):
    """The JCT of each job, as the program has it; none where that is not kept."""
    shared = row["simulator"] in ("pollux", "shockwave")
    path = data / "visible" / "jobs" / ((row["simulator"] if shared else name_of(row)) + ".csv.gz")
    if not path.exists():
        return {}
    keys = {key: row[key] for key in ("policy", "set", "kind") if key in row}
    if row["simulator"] == "pollux":
        folder, workload = row["trace"].split("/")[-2:]
        keys |= {"load": folder.partition("-")[2] or "1.0", "workload": workload[len("workload-"):-len(".csv")]}
        if row["interval_s"] != "60" or float(row["interference"]) > 0:
            return {}
    with gzip.open(path, "rt", newline="") as file:
        return {job["job"]: float(job["jct_s"]) for job in csv.DictReader(file)
                if not shared or all(job[key] == value for key, value in keys.items())}


def furthest(data, row, path):
    theirs = jobs_of(data, row)
    with open(path, newline="") as file:
        ours = {job["job_id"]: float(job["jct_s"]) for job in csv.DictReader(file) if job["jct_s"]}
    if not theirs:
        return ""
    if set(theirs) != set(ours):
        return "other jobs"
    return f"{max(abs(theirs[job] - ours[job]) for job in theirs):.6f}"


def run(data, row, folder):
    """What reference.sh prints, and gsim's user time; None and a message where it refuses."""
    times = folder / "times"
    times.write_text("")
    columns = [f"{key}={value}" for key, value in row.items() if key not in NAMED and value]
    done = subprocess.run(
        ["sh", str(HERE / "reference.sh"), str(data)] + [row[key] for key in NAMED] + columns,
        env={**os.environ, "GSIM": str(folder / "gsim"), "TIMES": str(times), "JOBS_CSV": str(folder / "jobs.csv")},
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout), sum(map(float, times.read_text().split()))


def percent(ours, theirs):
    return f"{100 * (ours / float(theirs) - 1):+.3f}" if theirs else ""


def compare(data, row, folder, reps):
    best = None
    for _ in range(reps):
        result, user_s = run(data, row, folder)
        if result is None:
            return ["", "", "", "", "", user_s]
        best = user_s if best is None else min(best, user_s)
    theirs = row.get("user_s")
    last = row.get("last_end_s") or row.get("makespan_s")
    ratio = f"{float(theirs) / max(best, 1e-3):.0f}" if theirs else ""
    return [percent(result["avg_jct_s"], row["avg_jct_s"]), percent(result["last_end_s"], last),
            furthest(data, row, folder / "jobs.csv"), theirs or "", f"{best:.3f}", ratio]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("data", type=pathlib.Path)
    options.add_argument("--reps", type=int, default=1)
    options.add_argument("--only", default="", help="rows with this word in their names")
    asked = options.parse_args()
    os.environ["REAL_GSIM"] = os.path.abspath(os.environ.get("GSIM", "./gsim"))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["row", "jct_off_percent", "last_end_off_percent", "job_off_s", "program_user_s", "gsim_user_s",
                  "times_as_fast"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gsim").write_text(TIMED)
        (folder / "gsim").chmod(0o755)
        for table in sorted((asked.data / "visible").glob("*.csv")):
            rows = [] if table.name.startswith("gavel_") else list(rows_of(table))
            if table.name == "gavel.csv":
                shares = [asked.data / "visible" / "allocations" / (name_of(row) + ".csv.gz") for row in rows]
                rows += [{**row, "shares": str(path)} for row, path in zip(rows, shares) if path.exists()]
            for row in rows:
                more = [row[k] for k in ("kind", "mode", "placement", "interval_s", "interference")
                        if row.get(k)]
                label = " ".join([row[key] for key in NAMED] + more + ["replayed"] * ("shares" in row))
                if asked.only in label:
                    out.writerow([label] + compare(asked.data, row, folder, asked.reps))
                    sys.stdout.flush()


main()
