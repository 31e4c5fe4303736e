#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies of elastic clusters beside small programs of their own, written from the papers' rules alone.

    derived.py GSIM [CASES]

muri    every end, with matchings found by trying all (Zhao et al., SIGCOMM 2022, section 4)
gavel   ends under water-filling beside a fluid that is shared by weights, of users too (Narayanan et al., OSDI 2020)
rules_*.py: types of GPUs, pairs of jobs, rounds by a rule and rounds of its program under gavel; rounds of its program
under synergy; types under themis, elasticflow, synergy and sia; nodes that fail, chains, phases and costs of a width
under themis; spare GPUs of elasticflow; jobs that learn under optimus,
pollux and sia, and on several GPUs, nodes and types; what pollux' search finds; plans of shockwave with and without
phases; profiles and the line of lucid
"""
import csv
import functools
import itertools
import os
import random
import subprocess
import sys
import tempfile

from rules_elasticflow import elasticflow, elasticflow_spare
from rules_gavel import pairs, types
from rules_gavel_default import gavel_default, gavel_fifo_pairs
from rules_gavel_gandiva import gavel_gandiva
from rules_gavel_pairs import gavel_program_allox, gavel_program_pairs
from rules_gavel_rounds import gavel_rounds
from rules_learners import learners
from rules_lucid import lucid, lucid_pairs
from rules_pollux import optimus, pollux
from rules_pollux_search import pollux_search
from rules_shockwave import shockwave, shockwave_phases
from rules_sia import sia
from rules_sia_learners import sia_learners
from rules_synergy import synergy, synergy_ftf, synergy_las
from rules_synergy_program import synergy_program
from rules_themis import themis
from rules_themis_nodes import themis_nodes

GSIM = os.path.abspath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 40 if os.environ.get("CASES") == "all" else 28
# Rules whose walk is slow are held by a part of the cases: one of two, or of three.
SLOW = {pollux_search: 2, gavel_program_pairs: 3}
FOUND = {elasticflow: [1108], shockwave: [863, 1276], sia_learners: [77, 168],
         themis_nodes: [65, 128, 201, 8900043, 8900199]}  # further cases, which found something once


def run(rows, *words):
    """The rows of jobs of a run of the trace, whose first row is the header."""
    with open("trace.csv", "w") as to:
        to.writelines(",".join(map(str, row)) + "\n" for row in rows)
    device = [] if "--cluster" in words else ["--device", "ideal"]
    done = subprocess.run([GSIM, "run", "trace.csv", *device, "--jobs-csv", "jobs.csv", "--force", "--quiet",
                           *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open("jobs.csv", newline="") as file:
        return list(csv.DictReader(file))


# --- muri -----------------------------------------------------------------------------------------
SLOTS = 4
SLOWER = {2: 1.33 / 1.015, 3: 1.5 / 1.015, 4: 1.37 / 1.015}  # by the number of jobs, as Muri's authors measured
SLOWER_IN_ORDER = {**SLOWER, 4: 1.3 / 1.015}


def length_of_round(ring):
    """Seconds of a round of four slots, each as long as its longest stage; loading spans two slots."""
    ends = [0.0]
    for slot in range(2 * SLOTS):
        sends, computes, loads = ((slot + k) % SLOTS for k in (1, 2, 3))
        at = [0.0]
        at += [ends[slot] + ring[sends][2]] if sends < len(ring) else []
        at += [ends[slot] + ring[computes][1]] if computes < len(ring) else []
        at += [ends[slot - 1] + ring[loads][0]] if slot > 0 and loads < len(ring) else []
        ends.append(max(at))
        if slot >= SLOTS:
            now, before = ends[slot + 1] - ends[slot - 3], ends[slot] - ends[slot - 4]
            if now > 0 and abs(now - before) <= 1e-3 * max(now, before):
                return now
    return ends[8] - ends[4]


@functools.lru_cache(None)
def together(stages):
    best = min(map(length_of_round, itertools.permutations(stages)))
    if len(stages) == 2:
        a, b = stages
        best = min(best, max(a[0], b[1] + b[2]) + max(b[0], a[1] + a[2]))
    return best


def iteration(packing, slower=None):
    """As a decision expects it; on device ideal the interleaving itself costs nothing."""
    stages = tuple(job["stages"] for job in packing)
    return packing[0]["iteration"] if len(packing) == 1 else together(stages) * (slower or SLOWER)[len(packing)]


def heaviest(packings):
    """All pairs of the matching of the largest weight."""
    def weight(a, b):
        both = a + b
        return sum(sum(job["stages"]) for job in both) / (SLOTS * iteration(both)) if len(both) <= SLOTS else 0

    n = len(packings)
    weights = {(u, v): weight(packings[u], packings[v]) for u in range(n) for v in range(u + 1, n)}

    @functools.lru_cache(None)
    def best_from(used):
        u = next((u for u in range(n) if not used >> u & 1), n)
        if u == n:
            return 0, ()
        best = best_from(used | 1 << u)
        for v in range(u + 1, n):
            if not used >> v & 1 and weights[u, v] > 0:
                total, pairs = best_from(used | 1 << u | 1 << v)
                best = max(best, (total + weights[u, v], pairs + ((u, v),)), key=lambda found: found[0])
        return best
    return best_from(0)[1]


def candidates(jobs, gpus):
    """By width: where a job that fits books room, it and the next three of its width may share it."""
    widths, n = {}, {}
    for job in jobs:
        widths.setdefault(job["gpus"], []).append(job)
    for job in jobs:
        width, at = job["gpus"], n.setdefault(job["gpus"], 0)
        if at < len(widths[width]) and widths[width][at] is job and width <= gpus:
            gpus -= width
            n[width] = at + SLOTS
    return [(width, [[job] for job in widths[width][:n[width]]]) for width in widths]


def pair_up(packings, width, demand, gpus):
    """Pairs stand where their second one stood; they join as long as not all fit."""
    other = {b: a for pair in heaviest(packings) for a, b in (pair, pair[::-1])}
    out = []
    for u, packing in enumerate(packings):
        first = other.get(u, u)
        if first < u and demand > gpus:
            out.append(packings[first] + packing)
            demand -= width
        elif first <= u:
            out += [packings[first]] * (first < u) + [packing]
    return out, demand


def in_order(widths, demand, gpus):
    """Four after four of a width share GPUs, as long as not all fit."""
    out = []
    for width, packings in widths:
        made = []
        for at in range(0, len(packings), SLOTS):
            made.append(packings[at])
            for packing in packings[at + 1:at + SLOTS]:
                if demand > gpus:
                    made[-1] = made[-1] + packing
                    demand -= width
                else:
                    made.insert(len(made) - 1, packing)
        out.append((width, made))
    return out


def packings_of(jobs, gpus, rule):
    """The packings that run."""
    jobs, slower = sorted(jobs, key=lambda job: job["rank"]), SLOWER_IN_ORDER if rule == "in-order" else SLOWER
    widths = candidates(jobs, gpus)
    demand = sum(width * len(packings) for width, packings in widths)
    if rule == "in-order":
        widths = in_order(widths, demand, gpus)
    for _ in range(SLOTS if rule != "in-order" else 0):
        for i, (width, packings) in enumerate(widths):
            packings, demand = pair_up(packings, width, demand, gpus)
            widths[i] = width, packings
        if demand <= gpus:
            break
    split = []
    for _, packings in widths:
        for packing in packings:
            is_slower = iteration(packing, slower) > sum(job["iteration"] for job in packing)
            split += [[job] for job in packing] if is_slower else [packing]
    runs = []
    for packing in sorted(split, key=lambda packing: min(job["rank"] for job in packing)):
        if packing[0]["gpus"] <= gpus:
            gpus -= packing[0]["gpus"]
            runs.append(packing)
    return runs


def muri_ends(jobs, gpus, rule):
    now, active, coming, runs = 0.0, [], list(jobs), []
    while coming or active:
        speed = {id(job): min(1, job["iteration"] / together(tuple(other["stages"] for other in packing)))
                 if len(packing) > 1 else 1 for packing in runs for job in packing}
        running = [job for packing in runs for job in packing]
        until = min([now + job["left"] / speed[id(job)] for job in running] + [job["submit"] for job in coming[:1]])
        for job in running:
            job["left"] -= (until - now) * speed[id(job)]
            job["had"] += until - now
            job["end"] = until
        now = until
        active = [job for job in active if job["left"] > 1e-6]
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        for job in active:
            job["rank"] = (job["left"] if rule == "muri-s" else job["had"]) * job["gpus"]
        runs = packings_of(active, gpus, rule)
    return [job["end"] for job in jobs]


def muri(draw, run):
    """Iterations are some ms, after which a job stops: ends are within 2 s."""
    gpus, rule = draw.choice([1, 2, 3, 4, 8]), draw.choice(["muri-s", "muri-l", "in-order"])
    widths = [width for width in (1, 1, 1, 2, 2, 4) if width <= gpus]
    jobs = []
    for submit in sorted(draw.randrange(2000000) / 1000 for _ in range(draw.randint(3, 11))):
        stages = tuple(draw.randrange(200, 3000) / 1e6 for _ in range(3))
        jobs.append({"submit": submit, "left": float(draw.randint(100, 5000)), "had": 0, "stages": stages,
                     "gpus": draw.choice(widths),
                     "iteration": round(sum(stages) * draw.choice([1, 1, 1.2]), 9)})
    rows = [("job_id", "submit_s", "duration_s", "gpus", "iteration_ms", "stage_host_ms", "stage_gpu_ms", "stage_net_ms")]
    rows += [(i, job["submit"], job["left"], job["gpus"], *("%.6f" % (1000 * time) for time in
              (job["iteration"], *job["stages"]))) for i, job in enumerate(jobs)]
    node_gpus = draw.choice([gpus, 1])  # a gang is as fast on several nodes
    got = run(rows, "--policy", "muri", "--set", f"rule={rule}", "--nodes", gpus // node_gpus, "--gpus-per-node", node_gpus)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {end}" for row, end in
            zip(got, muri_ends(jobs, gpus, rule)) if abs(float(row["end_s"]) - end) > 2]


# --- gavel ----------------------------------------------------------------------------------------
def filled(weights, gpus):
    """Shares by weight of GPUs; a job that has a GPU to itself leaves the rest to the others."""
    shares, left = {}, dict(weights)
    while left:
        level = gpus / sum(left.values())
        full = [job for job in left if left[job] * level >= 1] or list(left)
        for job in full:
            shares[job] = min(1, left.pop(job) * level)
            gpus -= shares[job]
    return shares


def filled_by_user(jobs, users, gpus, is_fifo):
    """All rise at once, by their parts of the weights of their users; under fifo the first of a user has all of its
    weight. A job that has a GPU to itself rises no more, and leaves its part to the others of its user."""
    shares = dict.fromkeys(jobs, 0.0)
    while gpus > 1e-12:
        rises = [job for job in jobs if shares[job] < 1 - 1e-12]
        if is_fifo:
            rises = [job for at, job in enumerate(rises) if jobs[job][0] not in [jobs[other][0] for other in rises[:at]]]
        if not rises:
            break
        of_user = {}
        for job in rises:
            of_user[jobs[job][0]] = of_user.get(jobs[job][0], 0) + jobs[job][1]
        speed = {job: users[jobs[job][0]] * jobs[job][1] / of_user[jobs[job][0]] for job in rises}
        step = min([gpus / sum(speed.values())] + [(1 - shares[job]) / speed[job] for job in rises])
        for job in rises:
            shares[job] += step * speed[job]
        gpus -= step * sum(speed.values())
    return shares


def water_filling(draw, run):
    """A fluid has no rounds: ends are within 2 % of the time from a job's arrival."""
    gpus, n = draw.randint(1, 4), draw.randint(2, 9)
    jobs = sorted((draw.choice([0, 0, draw.randrange(10**6)]), draw.randint(10**5, 10**6), draw.choice([1, 1, 2, 5]))
                  for _ in range(n))
    return fluid(run, jobs, gpus, lambda left: filled({job: jobs[job][2] for job in left}, gpus), [0] * n, ())


def water_filling_users(draw, run):
    """As above, with users that share the GPUs by weights of theirs."""
    gpus, n, way = draw.randint(1, 4), draw.randint(2, 9), draw.choice(["fair", "fifo"])
    jobs = sorted((draw.choice([0, 0, draw.randrange(10**6)]), draw.randint(10**5, 10**6), draw.choice([1, 1, 2])) for _ in range(n))
    users, weights = [draw.choice("ab") for _ in range(n)], {"a": 1, "b": draw.choice([1, 2, 3])}

    def shares_of(left):
        return filled_by_user({job: (users[job], jobs[job][2]) for job in sorted(left)}, weights, gpus, way == "fifo")
    words = "--set", f"users={way}"
    if "b" in users:
        words += "--set", f"user_weights=b:{weights['b']}"
    return fluid(run, jobs, gpus, shares_of, users, words)


def fluid(run, jobs, gpus, shares_of, users, words):
    rows = [("job_id", "submit_s", "duration_s", "gpus", "weight", "user")]
    rows += [(i, submit, length, 1, weight, users[i]) for i, (submit, length, weight) in enumerate(jobs)]
    left, end, now, coming = {}, {}, 0.0, list(range(len(jobs)))
    while coming or left:
        shares = shares_of(left)
        until = min([now + left[job] / shares[job] for job in left if shares[job] > 0] + [jobs[job][0] for job in coming[:1]])
        left = {job: work - (until - now) * shares[job] for job, work in left.items()}
        now = until
        end.update({job: now for job in left if left[job] <= 1e-3})
        left = {job: work for job, work in left.items() if work > 1e-3}
        while coming and jobs[coming[0]][0] <= now:
            job = coming.pop(0)
            left[job] = float(jobs[job][1])
    got = run(rows, "--policy", "gavel", "--set", "objective=water-filling", "--gpus-per-node", gpus, *words)
    return [f"job {job} ends at {row['end_s']}, not about {end[job]}" for job, row in enumerate(got)
            if abs(float(row["end_s"]) - end[job]) > 0.02 * (end[job] - jobs[job][0])]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for hold in (muri, water_filling, water_filling_users, types, pairs, gavel_rounds, gavel_program_pairs, gavel_program_allox,
                     gavel_default, gavel_fifo_pairs, gavel_gandiva, themis, themis_nodes,
                     elasticflow, elasticflow_spare, synergy, synergy_ftf, synergy_las, synergy_program, optimus, pollux,
                     pollux_search, learners, shockwave, shockwave_phases, lucid, lucid_pairs, sia, sia_learners):
            seeds = [*range(-(-CASES // SLOW.get(hold, 1))), *FOUND.get(hold, [])]
            found = {seed: what for seed in seeds if (what := hold(random.Random(seed), run))}
            print("%s %s: %d cases" % ("not ok" if found else "ok", hold.__name__.replace("_", "-"), len(seeds)))
            for seed, what in list(found.items())[:3]:
                print(f"# case {seed}: {what[0]}")
        os.chdir("/")


if __name__ == "__main__":
    main()
