#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every row of the reference tables below DATA/visible, run by reference.sh: how far gsim's mean JCT
and last end are from the program's, and how many times the program's user time gsim's fits into.
User time is that of gsim alone, the least of --reps runs. A row without user time (results as its
authors ship them) has no ratio; one that reference.sh refuses says so.

    GSIM=./gsim experiments/elastic/table.py DATA [--reps N] [--only WORD]
"""
import argparse
import csv
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


def run(data, row, folder):
    """What reference.sh prints, and gsim's user time; None and a message where it refuses."""
    times = folder / "times"
    times.write_text("")
    columns = [f"{key}={value}" for key, value in row.items() if key not in NAMED and value]
    done = subprocess.run(
        ["sh", str(HERE / "reference.sh"), str(data)] + [row[key] for key in NAMED] + columns,
        env={**os.environ, "GSIM": str(folder / "gsim"), "TIMES": str(times)},
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
            return ["", "", "", "", user_s]
        best = user_s if best is None else min(best, user_s)
    theirs = row.get("user_s")
    last = row.get("last_end_s") or row.get("makespan_s")
    ratio = f"{float(theirs) / max(best, 1e-3):.0f}" if theirs else ""
    return [percent(result["avg_jct_s"], row["avg_jct_s"]), percent(result["last_end_s"], last),
            theirs or "", f"{best:.3f}", ratio]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("data", type=pathlib.Path)
    options.add_argument("--reps", type=int, default=1)
    options.add_argument("--only", default="", help="rows with this word in their names")
    asked = options.parse_args()
    os.environ["REAL_GSIM"] = os.path.abspath(os.environ.get("GSIM", "./gsim"))
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["row", "jct_off_percent", "last_end_off_percent", "program_user_s", "gsim_user_s",
                  "times_as_fast"])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gsim").write_text(TIMED)
        (folder / "gsim").chmod(0o755)
        for table in sorted((asked.data / "visible").glob("*.csv")):
            rows = [] if table.name.startswith("gavel_") else rows_of(table)
            for row in rows:
                more = [row[k] for k in ("kind", "mode", "placement", "interval_s", "interference")
                        if row.get(k)]
                label = " ".join([row[key] for key in NAMED] + more)
                if asked.only in label:
                    out.writerow([label] + compare(asked.data, row, folder, asked.reps))
                    sys.stdout.flush()


main()
