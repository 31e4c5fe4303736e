#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy slurm against plain_slurm.py, start by start, over sites that a seed draws. $1 is gsim; further
arguments are seeds. Without them a check draws a few sites beside the logged ones, more with CASES=all, and as many as
SLURM_SITES says."""
import csv
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import plain_slurm  # noqa: E402
import plain_slurm_failures  # noqa: E402
import plain_slurm_jobs  # noqa: E402
import plain_slurm_log  # noqa: E402

JOBS = 80
SITES = int(os.environ.get("SLURM_SITES") or (16 if os.environ.get("CASES") == "all" else 3))
LOGGED = [2, 7, 10, 17, 20]  # sites whose jobs all run once, to their end
WIDER = [plain_slurm.WIDE + n for n in range(max(2, SITES // 2))]
# Where differences were found: a job that begins at this instant is no victim at it (1004), and minutes of memory
# are more than 64 bits count in ns (3004). On sites 12 and 14 the weight of memory in TRESBillingWeights counts.
FOUND = [12, 14, 1004, 3004]
# Sites on nodes that fail, and where an idle node that failed left room to a job that no pass looked at.
FAILING = [*range(1, max(2, SITES // 2)), 24, plain_slurm.WIDE + 3]


def gsim(*args):
    return subprocess.run([GSIM, *args], capture_output=True, text=True, check=False)


def starts_of(folder, site, jobs, words=()):
    with open(f"{folder}/site.conf", "w", encoding="utf-8") as file:
        file.write(site.text())
    with open(f"{folder}/t.csv", "w", encoding="utf-8") as file:
        file.write(plain_slurm_log.trace_of(site, jobs))
    out = gsim("--policy", "slurm", "--slurm-conf", f"{folder}/site.conf", "--set", "slurm.start=2024-05-01T00:00:00",
               *words, "--device", "ideal", "--quiet", "--jobs-csv", f"{folder}/jobs.csv", "--force", f"{folder}/t.csv")
    if out.returncode:
        return {}, out.stderr
    with open(f"{folder}/jobs.csv", encoding="utf-8") as file:
        return {row["job_id"]: row for row in csv.DictReader(file)}, ""


def differences(rows, jobs):
    found = []
    for job in jobs:
        row = rows.get(job["id"])
        if row is None or Fraction(row["start_s"]) != job["first"]:
            found.append((job["id"], "start", row and row["start_s"], job["first"]))
        elif Fraction(row["end_s"]) != job["end"]:
            found.append((job["id"], "end", row["end_s"], job["end"]))
    return found


def plain_run(seed):
    site = plain_slurm.Site(seed)
    jobs = plain_slurm_jobs.draw_jobs(site, JOBS)
    plain_slurm.Plain(site, jobs).run()
    return site, jobs


def failing_run(seed):
    site = plain_slurm.Site(seed)
    jobs = plain_slurm_jobs.draw_jobs(site, JOBS)
    plain = plain_slurm_failures.FailingPlain(site, jobs, seed)
    plain.run()
    return site, jobs, plain.words


def check_case(folder, site, jobs, words=()):
    rows, error = starts_of(folder, site, jobs, words)
    return error or differences(rows, jobs)


def check_logged(folder, site, jobs):
    """The log of a month under that site, whose site.conf lies there: gsim's starts are the log's, one by one."""
    with open(f"{folder}/log.txt", "w", encoding="utf-8") as file:
        file.write(plain_slurm_log.log_of(site, jobs))
    out = gsim("compare", "--policies", "slurm,fifo", "--slurm-conf", f"{folder}/site.conf", "--quiet", "--no-what-if", f"{folder}/log.txt")
    rows = [line.split() for line in out.stdout.splitlines() if line.startswith("slurm ")]
    return out.stderr or not rows or rows[-1][-2:] != ["100.0", "%"] or " +0.0 % " not in " ".join(rows[-1])


def main():
    seeds = [int(a) for a in sys.argv[2:]] or sorted({*range(1, SITES + 1), *LOGGED, *FOUND, *WIDER})
    logged = [seed for seed in seeds if seed in LOGGED]
    bad, far = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            site, jobs = plain_run(seed)
            found = check_case(folder, site, jobs)
            if found:
                bad.append(seed)
                print(f"# seed {seed}: {found if isinstance(found, str) else (len(found), found[:3])}", flush=True)
            if seed in logged and check_logged(folder, site, jobs):
                far.append(seed)
        lost = [seed for seed in (seeds if sys.argv[2:] else FAILING) if check_case(folder, *failing_run(seed))]
    print(f"{'not ok' if bad else 'ok'} each of {JOBS} jobs starts and ends as plain Slurm says, {len(seeds)} sites")
    print(f"{'not ok' if far else 'ok'} as logged: each start and the mean wait are the log's, {len(logged)} logs")
    print(f"{'not ok' if lost else 'ok'} so do they on nodes that fail{' but on ' if lost else ''}{lost or ''}")
    return bool(bad or far or lost)


GSIM = os.path.abspath(sys.argv[1])
if __name__ == "__main__":
    sys.exit(main())
