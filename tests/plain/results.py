#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A result's numbers beside plain sums: of the table of jobs, and of who held which GPU by the timeline.

    results.py GSIM [--draws N] [--first SEED]"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal

# (policy, device, whether the timeline has a job on its GPUs for all of its stay)
POLICIES = (("fifo", "h200", True), ("srtf", "ideal", True), ("las", "ideal", True), ("fairshare", "h200", True),
            ("mps", "h200", False), ("mig", "a100-40", True), ("muri", "ideal", True), ("elasticflow", "ideal", True))


def ns(text):
    return int(Decimal(text) * 10**9) if text else None


def quantile(values, p):
    values = sorted(values)
    at = p * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (at - low) * (values[high] - values[low])


def draw(seed):
    """Nodes, GPUs of a node, rows of a trace, further options."""
    draws, rows, at = random.Random(seed), [], 0
    nodes, size = draws.choice((1, 2, 3)), draws.choice((1, 2, 4))
    for job in range(draws.randint(3, 25)):
        at += draws.choice((0, 0, 1, 10, 100, 1000)) * draws.random()
        rows.append((f"j{job}", f"{at:.6f}", f"{draws.lognormvariate(5, 1.5):.3f}", min(draws.choice((1, 1, 1, 2, 4)), nodes * size), 2))
    options = draws.choice(([], ["--until", "900"], ["--mtbf", "1h", "--mttr", "100s", "--checkpoint", "60s"]))
    draws.shuffle(rows)
    return nodes, size, rows, options


def of_jobs(jobs, n_gpus, cut):
    ended = [job for job in jobs if job["end"] is not None]
    times = [job["end"] - job["submit"] for job in ended]
    slow = [time / job["service"] for time, job in zip(times, ended)]
    waits = [job["wait"] for job in ended]
    first = min(job["submit"] for job in jobs)
    is_cut = any(job["end"] is None and job["start"] is not None for job in jobs)
    last = cut if is_cut else max((job["end"] for job in ended), default=first)
    arrived = [job["submit"] for job in jobs if cut is None or job["submit"] <= cut]
    due = {"makespan_s": (last - first) / 1e9, "arrivals_s": (max(arrived, default=first) - first) / 1e9, "completed": len(ended)}
    if not ended:
        return first, last, due
    rho = []
    for time, job in zip(times, ended):
        met = sum(max(0, min(job["end"], last if other["end"] is None else other["end"]) - max(job["submit"], other["submit"])) for other in jobs)
        rho.append(time / (job["service"] * max(1, job["gpus"] * met / time / n_gpus)))
    due.update({"jct_mean_s": sum(times) / len(times) / 1e9, "jct_p50_s": quantile(times, .5) / 1e9, "jct_p99_s": quantile(times, .99) / 1e9,
                "wait_mean_s": sum(waits) / len(waits) / 1e9, "wait_p95_s": quantile(waits, .95) / 1e9, "slowdown_mean": sum(slow) / len(slow),
                "slowdown_p99": quantile(slow, .99), "jain": sum(slow)**2 / len(slow) / sum(x * x for x in slow),
                "rho_mean": sum(rho) / len(rho), "rho_p99": quantile(rho, .99), "rho_max": max(rho)})
    return first, last, due


def of_gpus(events, widths, size, n_gpus, first, last):
    """Shares of GPU time that was held, idle beside GPUs in use, and idle while a job waited for no more."""
    held, waiting, times = [[] for _ in range(n_gpus)], [], {first, last}
    for event in events:
        if event["ph"] != "X":
            continue
        begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
        if event["pid"] >= 10 and event["cat"] in ("starting", "running", "stopping", "moving", "resuming"):
            held[event["pid"] - 10].append((begin, end))
        elif event["pid"] == 1 and event["cat"] in ("queued", "preempted"):
            waiting.append((begin, end, widths[event["args"]["job"]]))
        times |= {begin, end}
    sums, marks = [0, 0, 0], sorted(time for time in times if first <= time <= last)
    for begin, end in zip(marks, marks[1:]):
        used = [any(a <= begin and end <= b for a, b in spans) for spans in held]
        idle = used.count(False)
        beside = sum(used[at:at + size].count(False) for at in range(0, n_gpus, size) if any(used[at:at + size]))
        is_wanted = any(a <= begin and end <= b and gpus <= idle for a, b, gpus in waiting)
        for at, gpus in enumerate((n_gpus - idle, beside, idle * is_wanted)):
            sums[at] += gpus * (end - begin)
    return dict(zip(("gpu_busy", "fragmented", "idle_wanted"), (value / (n_gpus * (last - first)) for value in sums)))


def differences(gsim, seed, policy, device, is_on_timeline, folder):
    nodes, size, rows, options = draw(seed)
    with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
        csv.writer(out).writerows([("job_id", "submit_s", "duration_s", "gpus", "mem_gib"), *rows])
    done = subprocess.run([gsim, "--policy", policy, "--device", device, "--nodes", str(nodes), "--gpus-per-node", str(size), "--quiet", "--format",
                           "json", "--jobs-csv", "jobs.csv", "--timeline", "timeline.json", "--force", *options, "trace.csv"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"it ended with {done.stderr.strip()[:200]}"]
    result = json.loads(done.stdout)
    with open(os.path.join(folder, "jobs.csv")) as table:
        jobs = [{name: ns(row[f"{name}_s"]) for name in ("submit", "start", "end", "wait", "service")} | {"gpus": int(row["gpus"])}
                for row in csv.DictReader(table)]
    first, last, due = of_jobs(jobs, nodes * size, ns(options[1]) if "--until" in options else None)
    if is_on_timeline and last > first and "--mtbf" not in options:
        with open(os.path.join(folder, "timeline.json")) as timeline:
            due |= of_gpus(json.load(timeline)["traceEvents"], {row[0]: row[3] for row in rows}, size, nodes * size, first, last)
    # elasticflow and muri give GPUs to a job before others have left them; such moments are neither idle nor held
    slack = 1e-3 if policy in ("elasticflow", "muri") else 1e-9
    return [f"{name} is {result[name]}, plainly {value}" for name, value in due.items() if abs(result[name] - value) > slack * max(1, abs(value))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    failed = 0
    for policy, device, is_on_timeline in POLICIES:
        breaks = []
        for seed in range(args.first, args.first + args.draws):
            with tempfile.TemporaryDirectory() as folder:
                breaks += [f"{seed}: {text}" for text in differences(os.path.abspath(args.gsim), seed, policy, device, is_on_timeline, folder)]
        print(f"{'not ok' if breaks else 'ok'} {policy}: results of {args.draws} runs as summed plainly")
        for text in breaks[:5]:
            print(f"# {text}")
        failed += bool(breaks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
