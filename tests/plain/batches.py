#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Intervals of single runs beside plain ones: batches of jobs, and whether a run is long enough, by docs/compare.md.

    batches.py GSIM [--draws N] [--first SEED]"""
import argparse
import csv
import json
import math
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

from plans import interval, student
from results import tell

BATCHES, POLICIES = 5, ("fifo", "srtf", "las", "fairshare")


def draw(seed):
    """GPUs and rows of a trace at a load of about 0.1 to 0.9; rows stand in any order."""
    draws, rows, at = random.Random(seed), [], 0
    gpus, load, n = draws.choice((2, 4, 8)), draws.uniform(0.1, 0.9), draws.choice((8, 60, 250, 600, 1000))
    spread = draws.choice((0.2, 1, 1.5))
    for job in range(n):
        width = draws.choice((1, 1, 1, 2))
        rows.append((f"j{job}", f"{at:.6f}", f"{draws.lognormvariate(5, spread):.3f}", width, draws.choice("ab")))
        at += draws.expovariate(load * gpus / (1.25 * math.exp(5 + spread**2 / 2)))
    draws.shuffle(rows)
    return gpus, rows


def mean(values):
    return sum(values) / len(values)


def spread_of(values):
    """The variance of these values themselves."""
    return mean([(x - mean(values))**2 for x in values])


def remembered(values):
    """Geyer: autocovariances in pairs, as long as they are positive, none above the one before it."""
    centre, n = mean(values), len(values)
    off = [x - centre for x in values]
    at_lag = lambda lag: sum(a * b for a, b in zip(off, off[lag:])) / n
    one, total, least = at_lag(0), 0, math.inf
    for lag in range(0, n - 1, 2):
        least = min(least, at_lag(lag) + at_lag(lag + 1))
        if least <= 0:
            break
        total += 2 * least
    return max(1, (total - one) / one)


def queue(jobs, gpus):
    """(memory of the queue in jobs, or infinity; the part by which jobs that were not seen may raise a mean)."""
    gaps = [b["submit"] - a["submit"] for a, b in zip(jobs, jobs[1:])]
    work = [job["service"] * job["gpus"] for job in jobs]
    ca2, cs2 = spread_of(gaps) / mean(gaps)**2, spread_of(work) / mean(work)**2
    unseen = 3 * max(work)**2 / sum(w * w for w in work)
    load = mean(work) / mean(gaps) / gpus
    highest = load * (1 + 3 * math.sqrt((ca2 + cs2) / len(jobs)))
    second_moment = (1 + cs2) * (1 + unseen)
    return math.inf if highest >= 1 else 2 * (ca2 + second_moment - 1) / (1 - highest)**2, unseen


def batch_means(values):
    each = len(values) // BATCHES
    values = values[len(values) % BATCHES:]
    return [mean(values[at * each:(at + 1) * each]) for at in range(BATCHES)]


def of_run(jobs, gpus):
    """Mean, low and high; None where the run is too short."""
    times, alone = [job["end"] - job["submit"] for job in jobs], [job["service"] for job in jobs]
    memory, unseen = queue(jobs, gpus)
    memory = max(memory, remembered(times)) if len(jobs) >= 2 * BATCHES else math.inf
    if len(jobs) < BATCHES * memory:
        return None
    means = batch_means(times)
    centre = mean(means)
    error = math.sqrt(sum((x - centre)**2 for x in means) / (BATCHES - 1) / BATCHES) / centre * student(BATCHES - 1)
    waits = [time - own for time, own in zip(times, alone)]
    least = 1.959963984540054 * math.sqrt((spread_of(times) + (memory - 1) * spread_of(waits)) / len(times)) / mean(times)
    return centre, centre * math.exp(-max(error, least)), centre * math.exp(max(error, least)) * (1 + unseen)


def ratio_of(jobs, first):
    """Of the means of two policies' batches: that of the batches' relative differences, on the logarithm."""
    here, there = (batch_means([job["end"] - job["submit"] for job in each]) for each in (jobs, first))
    parts = [1 + a / mean(here) - b / mean(there) for a, b in zip(here, there)] # of mean 1, so that no unit changes it
    return tuple(mean(here) / mean(there) * x for x in interval(parts))


def differs(told, due):
    return any(abs(told[name] - x) > 1e-7 * (1 + abs(x)) for name, x in zip(("mean", "low", "high"), due))


def of_policy(policy, told, jobs, first, gpus):
    due = of_run(jobs, gpus)
    if (due is None) != (told["jct_mean_s"]["low"] is None):
        return [f"{policy}: an interval is {told['jct_mean_s']}, plainly {due}"]
    if due is None:
        return []
    breaks = [f"{policy}: the mean is {told['jct_mean_s']}, plainly {due}"] if differs(told["jct_mean_s"], due) else []
    ratio = ratio_of(jobs, first)
    return breaks + ([f"{policy}: the ratio is {told['ratio']}, plainly {ratio}"] if differs(told["ratio"], ratio) else [])


def differences(gsim, seed, policies, folder):
    """(what differs, how many of the policies have an interval)."""
    gpus, rows = draw(seed)
    with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
        csv.writer(out).writerows([("job_id", "submit_s", "duration_s", "gpus", "user"), *rows])
    done = subprocess.run([gsim, "compare", "--policies", ",".join(policies), "--device", "ideal", "--nodes", "1", "--gpus-per-node", str(gpus),
                           "--no-what-if", "--quiet", "--format", "json", "--db", "runs.db", "trace.csv"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"it ended with {done.stderr.strip()[:200]}"], 0
    told, jobs = {one["policy"]: one["comparison"] for one in json.loads(done.stdout)}, {}
    db = sqlite3.connect(os.path.join(folder, "runs.db"))
    for policy, *row in db.execute("SELECT policy, submit_ns, end_ns, service_ns, gpus_ppm FROM job JOIN run USING (run_id) ORDER BY submit_ns, job"):
        jobs.setdefault(policy, []).append(dict(zip(("submit", "end", "service", "gpus"), (x / 1e9 for x in row[:3])), gpus=row[3] / 1e6))
    known = [policy for policy in policies if of_run(jobs[policy], gpus)]
    if len(known) < len(policies): # a comparison gives all of its intervals or none
        some = [policy for policy in policies if told[policy]["ratio"]["low"] is not None and policy != policies[0]]
        return ([f"{some} have a ratio, and plainly only {known} a mean"] if some else []), len(known)
    return [text for policy in policies for text in of_policy(policy, told[policy], jobs[policy], jobs[policies[0]], gpus)], len(known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    breaks, n_known = [], 0
    for seed in range(args.first, args.first + args.draws):
        with tempfile.TemporaryDirectory() as folder:
            found, known = differences(os.path.abspath(args.gsim), seed, POLICIES[:2] if seed % 2 else POLICIES[2:], folder)
        breaks, n_known = breaks + [f"{seed}: {text}" for text in found], n_known + known
    failed = tell(f"{n_known} intervals of {2 * args.draws} single runs as by plain batches", breaks)
    return int(failed or n_known == 0)


if __name__ == "__main__":
    sys.exit(main())
