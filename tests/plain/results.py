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
            ("mps", "h200", False), ("mig", "a100-40", True), ("muri", "ideal", True), ("elasticflow", "ideal", True),
            ("suspend", "h200", True), ("themis", "h200", True))
GOES_ON = ("starting", "resuming", "moving")  # a job has GPUs, or is to have them


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
        length, gpus = draws.lognormvariate(5, 1.5), min(draws.choice((1, 1, 1, 2, 4)), nodes * size)
        due = draws.choice(("", f"{at + length * draws.choice((0.5, 1.5, 4)):.3f}"))
        rows.append((f"j{job}", f"{at:.6f}", f"{length:.3f}", gpus, 2, due))
    options = draws.choice(([], ["--until", "900"], ["--mtbf", "1h", "--mttr", "100s", "--checkpoint", "60s"]))
    draws.shuffle(rows)
    return nodes, size, rows, options


def of_jobs(jobs, n_gpus, cut):
    """A job that is declined is there until then."""
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
        met = sum(max(0, min(job["end"], last if other["gone"] is None else other["gone"]) - max(job["submit"], other["submit"])) for other in jobs)
        rho.append(time / (job["service"] * max(1, job["gpus"] * met / time / n_gpus)))
    due.update({"jct_mean_s": sum(times) / len(times) / 1e9, "jct_p50_s": quantile(times, .5) / 1e9, "jct_p99_s": quantile(times, .99) / 1e9,
                "wait_mean_s": sum(waits) / len(waits) / 1e9, "wait_p95_s": quantile(waits, .95) / 1e9, "slowdown_mean": sum(slow) / len(slow),
                "slowdown_p99": quantile(slow, .99), "jain": sum(slow)**2 / len(slow) / sum(x * x for x in slow),
                "rho_mean": sum(rho) / len(rho), "rho_p99": quantile(rho, .99), "rho_max": max(rho)})
    return first, last, due


def spans_of(events):
    """(begin, end, category, job) of each GPU's jobs, and of jobs."""
    of_gpu, of_jobs = {}, []
    for event in events:
        if event["ph"] == "X" and event["pid"] == 1:
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            of_jobs.append((begin, end, event["cat"], event["args"]["job"]))
        elif event["ph"] == "X" and event["tid"] < 1000000:
            begin, end = round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000)
            of_gpu.setdefault(event["pid"] - 10, []).append((begin, end, event["cat"], event["name"]))
    return of_gpu, of_jobs


def reserved(of_gpu, of_jobs):
    """(begin, end) by GPU: a job is to have it, and waits until others are off its GPUs, or is on its way from others."""
    its = {gpu: [] for gpu in of_gpu}
    before = {(job, end): (begin, what) for begin, end, what, job in of_jobs}
    for gpu, spans in of_gpu.items():
        stays = {(end, job) for _, end, _, job in spans}
        for begin, _, what, job in spans:
            at = begin
            while (begin, job) not in stays and (job, at) in before:
                then, was = before[job, at]
                if was not in GOES_ON and (was, what) != ("stopping", "moving"):
                    break
                its[gpu].append((then, at))
                at, what = then, was
    return its


def of_gpus(events, widths, size, n_gpus, first, last):
    """Shares of GPU time that was held, idle beside GPUs in use, and idle while a job waited for no more. A GPU that
    a job is to have is neither held nor idle."""
    of_gpu, of_jobs = spans_of(events)
    given = reserved(of_gpu, of_jobs)
    times = {first, last} | {time for spans in (*of_gpu.values(), of_jobs) for span in spans for time in span[:2]}
    sums, marks = [0, 0, 0], sorted(time for time in times if first <= time <= last)
    for begin, end in zip(marks, marks[1:]):
        held = [any(a <= begin and end <= b for a, b, *_ in of_gpu.get(gpu, ())) for gpu in range(n_gpus)]
        used = [held[gpu] or any(a <= begin and end <= b for a, b in given.get(gpu, ())) for gpu in range(n_gpus)]
        idle = used.count(False)
        beside = sum(used[at:at + size].count(False) for at in range(0, n_gpus, size) if any(used[at:at + size]))
        is_wanted = any(a <= begin and end <= b and widths[job] <= idle
                        for a, b, what, job in of_jobs if what in ("queued", "preempted"))
        for at, gpus in enumerate((held.count(True), beside, idle * is_wanted)):
            sums[at] += gpus * (end - begin)
    return dict(zip(("gpu_busy", "fragmented", "idle_wanted"), (value / (n_gpus * (last - first)) for value in sums)))


def queue_seconds(events):
    """(by the counter of the queue, by the spans of jobs): the time for which jobs were there and on no GPU."""
    of_gpu, of_jobs = spans_of(events)
    there = sum(end - begin for begin, end, _, _ in of_jobs)
    on = sum(end - begin for begin, end, _, _ in {span for spans in of_gpu.values() for span in spans})
    steps = [(round(event["ts"] * 1000), event["args"]["value"]) for event in events
             if event["ph"] == "C" and event["name"] == "queue length"]
    steps.append((max([end for _, end, _, _ in of_jobs] + [steps[-1][0]]), 0))
    return sum(value * (after - at) for (at, value), (after, _) in zip(steps, steps[1:])) / 1e9, (there - on) / 1e9


def of_deadlines(jobs, rows, end_of_run):
    """Met and missed; one that the run did not reach is neither."""
    due = {row[0]: ns(row[5]) for row in rows if row[5]}
    met = sum(job["end"] is not None and job["end"] <= due[job["id"]] for job in jobs if job["id"] in due)
    left = sum(job["end"] is None and not job["declined"] and end_of_run is not None and end_of_run <= due[job["id"]]
               for job in jobs if job["id"] in due)
    return {"deadlines_met": met, "deadlines_missed": len(due) - met - left}


def differences(gsim, seed, policy, device, is_on_timeline, folder):
    nodes, size, rows, options = draw(seed)
    with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
        csv.writer(out).writerows([("job_id", "submit_s", "duration_s", "gpus", "mem_gib", "deadline_s"), *rows])
    done = subprocess.run([gsim, "--policy", policy, "--device", device, "--nodes", str(nodes), "--gpus-per-node", str(size), "--quiet", "--format",
                           "json", "--jobs-csv", "jobs.csv", "--timeline", "timeline.json", "--force", *options, "trace.csv"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"it ended with {done.stderr.strip()[:200]}"]
    result = json.loads(done.stdout)
    with open(os.path.join(folder, "jobs.csv")) as table:
        jobs = [{name: ns(row[f"{name}_s"]) for name in ("submit", "start", "end", "wait", "service")}
                | {"gpus": int(row["gpus"]), "id": row["job_id"], "declined": row.get("declined") == "1"} for row in csv.DictReader(table)]
    with open(os.path.join(folder, "timeline.json")) as timeline:
        events = json.load(timeline)["traceEvents"]
    cut = ns(options[1]) if "--until" in options else None
    for job in jobs:
        job["gone"] = max([job["submit"]] + [end for _, end, _, its in spans_of(events)[1] if its == job["id"]]) if job["declined"] else job["end"]
    first, last, due = of_jobs(jobs, nodes * size, cut)
    due |= of_deadlines(jobs, rows, cut)
    counted, result["queue"] = queue_seconds(events)
    due["queue"] = counted
    if is_on_timeline and last > first and "--mtbf" not in options:
        due |= of_gpus(events, {row[0]: row[3] for row in rows}, size, nodes * size, first, last)
    slack = 1e-9
    return [f"{name} is {result[name]}, plainly {value}" for name, value in due.items() if abs(result[name] - value) > slack * max(1, abs(value))]


def draw_iterations(seed):
    """Rows of iterations; the gap of a host, and the time between two kernels of a queue, in ns."""
    draws, rows = random.Random(seed), []
    for job in range(draws.randint(1, 6)):
        gpu_ns = draws.choice((9923, 5 * 10**6, draws.randint(10**4, 10**8)))
        gap_ns = draws.choice((0, 1000, draws.randint(0, 2 * gpu_ns)))
        host_ns = draws.choice((0, gpu_ns // 3, gpu_ns * 7 // 4))
        kernels = draws.choice((1, 7, 60, 1024) if gpu_ns > 10**5 else (1, 7))
        sync = draws.choice(("kernel", "iteration", "none"))
        rows.append((f"j{job}", 0, draws.randint(1, 500), gpu_ns, gap_ns, host_ns, kernels, sync))
    return rows, draws.choice((0, 8000)), draws.choice((0, 1000))


def useful_ns(row, service_ns, gap_ns, between_ns):
    """The GPU time of its iterations: what the gap after each time that its host waits leaves of it, half at least, and
    what passes between two kernels of a queue."""
    _, _, iterations, gpu, own_gap, host, kernels, sync = row
    waits = kernels if sync == "kernel" else 1
    own_gap = (own_gap + host * (sync == "kernel")) / waits
    pace, gap = service_ns / iterations / waits, own_gap if sync == "none" else max(own_gap, gap_ns)
    between = between_ns * (kernels - 1) * (sync != "kernel")
    return iterations * waits * min(gpu / waits + between, pace - min(gap, pace / 2))


def useful_differences(gsim, seed, folder):
    rows, gap_ns, between_ns = draw_iterations(seed)
    cells = [(*row[:3], *(f"{ns / 1e6:.6f}" for ns in row[3:6]), *row[6:]) for row in rows]
    with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
        csv.writer(out).writerows([("job_id", "submit_s", "iterations", "gpu_ms", "host_gap_ms", "host_ms", "kernels", "sync"), *cells])
    done = subprocess.run([gsim, "--policy", "fifo", "--device", "ideal", "--gpus-per-node", "2", "--quiet", "--format", "json", "--jobs-csv",
                           "jobs.csv", "--set", f"launch.host_gap_ns={gap_ns}ns", "--set", f"launch.between_ns={between_ns}ns", "trace.csv"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"it ended with {done.stderr.strip()[:200]}"]
    result = json.loads(done.stdout)
    with open(os.path.join(folder, "jobs.csv")) as table:
        service = {row["job_id"]: ns(row["service_s"]) for row in csv.DictReader(table)}
    due = sum(useful_ns(row, service[row[0]], gap_ns, between_ns) for row in rows) / 2e9 / result["makespan_s"]
    # an iteration, or a kernel that the host waits for, that has no room for its GPU time has whole ns
    most = sum(row[2] * row[6] for row in rows) / 2e9 / result["makespan_s"]
    has_room = all(useful_ns(row, service[row[0]], gap_ns, between_ns) >= row[2] * row[3] for row in rows)
    slack = 1e-9 if has_room else most
    return [] if abs(result["gpu_useful"] - due) <= slack else [f"gpu_useful is {result['gpu_useful']}, plainly {due}"]


def tell(what, breaks):
    """A line of a test, and the first things that break it. Returns whether there are any."""
    print(f"{'not ok' if breaks else 'ok'} {what}")
    for text in breaks[:5]:
        print(f"# {text}")
    return bool(breaks)


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
        failed += tell(f"{policy}: results of {args.draws} runs as summed plainly", breaks)
    breaks = []
    for seed in range(args.first, args.first + 4 * args.draws):
        with tempfile.TemporaryDirectory() as folder:
            breaks += [f"{seed}: {text}" for text in useful_differences(os.path.abspath(args.gsim), seed, folder)]
    failed += tell(f"gpu_useful: the GPU time of the iterations of {4 * args.draws} runs", breaks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
