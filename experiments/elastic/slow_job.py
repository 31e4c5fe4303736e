#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether one slow job is why the mean JCT under objective=makespan is above that of Shockwave's cluster of 32 GPUs:
runs of its 120 jobs in which one of the six longest has more steps, each beside the cluster's jobs one by one
(DATA/visible/jobs), and how long the last job takes by policy, on the cluster and here.

    GSIM=./gsim experiments/elastic/slow_job.py DATA
"""
import csv
import gzip
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITE = ROOT / "experiments/validate/cluster32"
STEPS, TAKES, ARRIVES = 5, 10, 11
LAST = 100  # the job that ends last on the cluster under makespan
OBJECTIVES = {"max_min_fairness": ["max-min", "--set", "sees_speed=off"], "finish_time_fairness": ["finish-time"],
              "min_total_duration": ["makespan"]}


def jobs_of(data):
    """The JCT of each job by kind and policy, in the runs that are compared with the cluster."""
    jobs = {}
    with gzip.open(data / "visible/jobs/shockwave.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            if row["set"] == "tacc_32gpus_comparison":
                jobs.setdefault((row["kind"], row["policy"]), {})[int(row["job"])] = float(row["jct_s"])
    return jobs


def run(trace, policy, folder, slower=None, start_s=20):
    """The JCT of each job; slower: factors of the steps of some."""
    rows = [list(row) for row in trace]
    for job, factor in (slower or {}).items():
        rows[job][STEPS] = str(int(int(rows[job][STEPS]) * factor))
    (folder / "jobs.trace").write_text("".join("\t".join(row) + "\n" for row in rows))
    settings = ["round=120s", "min_between=1000s", "newcomers=hold", "ends=tried", f"start.first_ns={start_s}s",
                f"restart.resume_ns={start_s}s"]
    subprocess.run([os.environ.get("GSIM", str(ROOT / "gsim")), "run", "--quiet", "--seed", "0", "--policy", "gavel"] +
                   [word for setting in settings for word in ("--set", setting)] +
                   ["--set", "objective=" + OBJECTIVES[policy][0]] + OBJECTIVES[policy][1:] +
                   ["--rates", str(SUITE / "shockwave_rates.csv"), "--cluster", str(SUITE / "shockwave_cluster.ini"),
                    "--jobs-csv", str(folder / "jobs.csv"), str(folder / "jobs.trace")],
                   stdout=subprocess.DEVNULL, check=True)
    with open(folder / "jobs.csv", newline="") as file:
        return {int(row["job_id"]): float(row["jct_s"]) for row in csv.DictReader(file)}


def compare(name, jobs, cluster, trace):
    ends = [float(trace[job][ARRIVES]) + jct for job, jct in jobs.items()]
    off = [abs(jct / cluster[job] - 1) for job, jct in jobs.items()]
    mean = statistics.mean(jobs.values())
    print(f"{name},{mean:.0f},{100 * (mean / statistics.mean(cluster.values()) - 1):+.1f},{max(ends):.0f},"
          f"{100 * sum(end >= 0.9 * max(ends) for end in ends) / len(ends):.0f},{100 * statistics.mean(off):.1f},"
          f"{100 * statistics.median(off):.1f}")


def main():
    trace = [line.split("\t") for line in (SUITE / "shockwave_120.trace").read_text().splitlines()]
    jobs = jobs_of(pathlib.Path(sys.argv[1]))
    longest = sorted(range(len(trace)), key=lambda job: -float(trace[job][TAKES]))[:6]
    print("run,jct_mean_s,jct_off_percent,last_end_s,late_percent,job_off_mean_percent,job_off_median_percent")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for policy in OBJECTIVES:
            cluster = jobs["physical", policy]
            compare(policy + " cluster", cluster, cluster, trace)
            compare(policy + " its authors", jobs["simulation", policy], cluster, trace)
            compare(policy, run(trace, policy, folder), cluster, trace)
            for job in longest if policy == "min_total_duration" else [LAST]:
                compare(f"{policy} job {job} x 1.266", run(trace, policy, folder, {job: 1.266}), cluster, trace)
            for start_s in (0, 10):
                compare(f"{policy} start {start_s} s", run(trace, policy, folder, start_s=start_s), cluster, trace)
        print(f"\nJCT of job {LAST} in its time alone: policy,cluster,its authors,here")
        for policy in OBJECTIVES:
            found = [jobs["physical", policy], jobs["simulation", policy], run(trace, policy, folder)]
            print(policy + "".join(f",{one[LAST] / float(trace[LAST][TAKES]):.3f}" for one in found))


main()
