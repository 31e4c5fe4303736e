#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies of elastic clusters beside small programs of their own, written from the papers' rules alone.

    derived.py GSIM [CASES]

gavel   ends under water-filling beside a fluid that is shared by weights, of users too (Narayanan et al., OSDI 2020)
rules_*.py: types of GPUs, pairs of jobs, rounds by a rule and rounds of its program under gavel; rounds of its program
under synergy; packings of muri; types under themis, elasticflow, synergy and sia; nodes that fail and chains under themis,
with phases and costs of a width, muri, shockwave, synergy and elasticflow; spare GPUs of elasticflow; jobs that learn under optimus, pollux and sia, and on several GPUs, nodes and types; what pollux' search finds; plans of shockwave with and without
phases; profiles and the line of lucid
"""
import csv
import os
import random
import subprocess
import sys
import tempfile

from rules_elasticflow import elasticflow, elasticflow_spare
from rules_elasticflow_nodes import elasticflow_nodes
from rules_gavel import pairs, types
from rules_gavel_default import gavel_default, gavel_fifo_pairs
from rules_gavel_gandiva import gavel_gandiva
from rules_gavel_pairs import gavel_program_allox, gavel_program_pairs
from rules_gavel_rounds import gavel_rounds
from rules_learners import learners
from rules_lucid import lucid, lucid_pairs
from rules_muri import muri
from rules_muri_nodes import muri_nodes
from rules_pollux import optimus, pollux
from rules_pollux_search import pollux_search
from rules_shockwave import shockwave, shockwave_phases
from rules_shockwave_nodes import shockwave_nodes
from rules_sia import sia, sia_chains
from rules_sia_learners import sia_learners
from rules_synergy import synergy, synergy_ftf, synergy_las
from rules_synergy_nodes import synergy_nodes
from rules_synergy_program import synergy_program
from rules_themis import themis
from rules_themis_nodes import themis_nodes

GSIM = os.path.abspath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 40 if os.environ.get("CASES") == "all" else 28
# Rules whose walk is slow are held by a part of the cases: one of two, or of three.
SLOW = {pollux_search: 2, gavel_program_pairs: 3}
FOUND = {elasticflow: [1108], shockwave: [863, 1276], shockwave_nodes: [8900033, 8900083, 8900156], muri_nodes: [8900137],
         lucid: [8900094, 8900110], lucid_pairs: [8901325], sia_chains: [8900057, 8900176], sia_learners: [77, 168],
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
        for hold in (muri, muri_nodes, water_filling, water_filling_users, types, pairs, gavel_rounds, gavel_program_pairs, gavel_program_allox,
                     gavel_default, gavel_fifo_pairs, gavel_gandiva, themis, themis_nodes,
                     elasticflow, elasticflow_spare, elasticflow_nodes, synergy, synergy_ftf, synergy_las, synergy_nodes, synergy_program, optimus, pollux,
                     pollux_search, learners, shockwave, shockwave_phases, shockwave_nodes, lucid, lucid_pairs, sia, sia_chains, sia_learners):
            seeds = [*range(-(-CASES // SLOW.get(hold, 1))), *FOUND.get(hold, [])]
            found = {seed: what for seed in seeds if (what := hold(random.Random(seed), run))}
            print("%s %s: %d cases" % ("not ok" if found else "ok", hold.__name__.replace("_", "-"), len(seeds)))
            for seed, what in list(found.items())[:3]:
                print(f"# case {seed}: {what[0]}")
        os.chdir("/")


if __name__ == "__main__":
    main()
