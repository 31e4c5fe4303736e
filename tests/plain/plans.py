#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The answers of gsim plan beside a run of every number of nodes: values, intervals, the least number, what a day costs.

    plans.py GSIM [--draws N] [--first SEED]"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

from results import tell

MOST, PRICE, BUSY_W, IDLE_W = 6, 2.5, 400, 51
POLICIES = ("fifo", "easy-backfill", "srtf", "fairshare", "las")
# Student's distribution of 1 to 4 degrees of freedom, less a half
STUDENT = {1: lambda t: math.atan(t) / math.pi, 2: lambda t: t / 2 / math.sqrt(2 + t * t),
           3: lambda t: (t / math.sqrt(3) / (1 + t * t / 3) + math.atan(t / math.sqrt(3))) / math.pi,
           4: lambda t: 3 / 8 * t / math.sqrt(1 + t * t / 4) * (1 - t * t / (1 + t * t / 4) / 12)}
FIELDS = {"wait_p95_s": (600, 3600), "wait_mean_s": (60, 900), "jct_mean_s": (3000, 9000), "jct_p99_s": (20000, 60000), "slowdown_mean": (1.1, 3)}
SPEC = """[trace]
jobs = {jobs}
seed = {seed}
[arrival]
process = poisson
load = {load}
gpus = {gpus}
[duration]
distribution = lognormal
mu = 7.5
sigma = 1.3
[gpus]
choice = 1, 2, {size}
weights = 70, 20, 10
[user]
choice = ann, bob
weights = 80, 20
"""


def draw(seed):
    """The spec, GPUs of a node, replications, further options, the field, its bound."""
    draws = random.Random(seed)
    size, field = draws.choice((2, 4)), draws.choice(list(FIELDS))
    spec = SPEC.format(jobs=draws.randint(20, 80), seed=seed, load=draws.choice((0.6, 0.9)), gpus=2 * size, size=size)
    options = draws.choice(([], [], ["--mtbf", "12h", "--mttr", "1h", "--checkpoint", "10min"], ["--warmup", "10%"], ["--until", "3d"]))
    return spec, size, draws.choice((1, 2, 3, 5)), options, field, draws.uniform(*FIELDS[field])


def call(gsim, arguments, folder):
    done = subprocess.run([gsim, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(arguments) + ": " + done.stderr.strip()[:200])
    return json.loads(done.stdout)


def student(freedom):
    """The t beyond which 2.5 % lie, by halving."""
    low, high = 0, 100
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if STUDENT[freedom](middle) < 0.475 else (low, middle)
    return low


def interval(values):
    """The mean, and the ends of its interval: Student's t on the logarithm, the skewed end farther out."""
    n, mean = len(values), sum(values) / len(values)
    if n < 2 or mean <= 0:
        return mean, mean, mean
    squares, cubes = sum((x - mean)**2 for x in values), sum((x - mean)**3 for x in values)
    error, t, out = math.sqrt(squares / (n - 1) / n) / mean, student(n - 1), 0
    if n > 2 and squares > 0:
        skewness = cubes / n / (squares / n)**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
        out = (2 * t * t + 1) * skewness / (6 * math.sqrt(n))
    return mean, mean * math.exp(-(t - min(out, 0)) * error), mean * math.exp((t + max(out, 0)) * error)


def cell(runs, field):
    """The mean and ends of the field, jobs without an end, and held, energy and cost of a day."""
    out, n = {"unfinished": sum(run["unfinished"] for run in runs)}, len(runs)
    if all(run[field] is not None for run in runs):
        out["value"] = interval([run[field] for run in runs])
    for run in runs:
        span = run["arrivals_s"] if 0 < run["arrivals_s"] < run["makespan_s"] else run["makespan_s"]
        held = min(1, run["gpu_busy"] * run["makespan_s"] / span)
        computed = min(held, run["gpu_useful"] * run["makespan_s"] / span + run["lost_s"] / run["gpus"] / span)
        idle = max(0, 1 - held - run["gpu_down"])
        watts = IDLE_W * (1 - run["gpu_down"]) + (BUSY_W - IDLE_W) * computed
        for name, value in (("held", held), ("energy_kwh_day", 24 * run["gpus"] * watts / 1000), ("cost_day", 24 * run["gpus"] * PRICE),
                            ("idle_cost_day", 24 * run["gpus"] * PRICE * idle)):
            out[name] = out.get(name, 0) + value / n
    return out


def answer(cells, first, bound, end):
    """The least number from which on all meet the bound; None: not even the most."""
    least = None
    for nodes in range(MOST, first - 1, -1):
        one = cells[nodes]
        if one["unfinished"] or "value" not in one or not one["value"][end] < bound:
            break
        least = nodes
    return least


def near(told, due):
    return told is not None and abs(told - due) <= 1e-9 * max(1, abs(due))


def of_cells(told, cells, field, n_reps):
    breaks = []
    for one in told["tried"]:
        due = cells[one["nodes"]]
        numbers = {name: one[name] for name in ("held", "energy_kwh_day", "cost_day", "idle_cost_day", "unfinished")}
        breaks += [f"{one['nodes']} nodes: {name} is {value}, plainly {due[name]}" for name, value in numbers.items() if not near(value, due[name])]
        if "value" not in due:
            continue
        ends = [one[field][end] for end in ("mean", "low", "high")][:3 if n_reps > 1 else 1]
        breaks += [f"{one['nodes']} nodes: {field} is {tuple(ends)}, plainly {due['value']}"] if not all(map(near, ends, due["value"])) else []
    return breaks


def differences(gsim, seed, policy, folder):
    spec, size, n_reps, options, field, bound = draw(seed)
    with open(os.path.join(folder, "spec.ini"), "w") as out:
        out.write(spec)
    common = ["--gpus-per-node", str(size), "--device", "a100-40", "--set", f"energy.busy_w={BUSY_W}", "--set", f"energy.idle_w={IDLE_W}",
              "--quiet", "--format", "json", *options, "spec.ini"]
    try:
        plan = call(gsim, ["plan", "--target", f"{field} < {bound}", "--policies", policy, "--nodes", f"1..{MOST}", "--reps", str(n_reps),
                           "--price", str(PRICE), *common], folder)[0]
        cells = {nodes: cell([call(gsim, ["--policy", policy, "--nodes", str(nodes), "--replication", str(r), *common], folder)
                              for r in range(n_reps)], field) for nodes in range(1, MOST + 1)}
    except RuntimeError as error:
        return [str(error)]
    breaks = of_cells(plan, cells, field, n_reps)
    for end, name in ((0, "nodes"), (1, "nodes_low"), (2, "nodes_high")):
        due = answer(cells, 1, bound, end) if end == 0 or n_reps > 1 else None
        breaks += [f"{name} is {plan[name]}, plainly {due} ({field} < {bound})"] if plan[name] != due else []
    return breaks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    failed = False
    for policy in POLICIES:
        breaks = []
        for seed in range(args.first, args.first + args.draws):
            with tempfile.TemporaryDirectory() as folder:
                breaks += [f"{seed}: {text}" for text in differences(os.path.abspath(args.gsim), seed, policy, folder)]
        failed |= tell(f"{policy}: {args.draws} plans as of all numbers of nodes", breaks)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
