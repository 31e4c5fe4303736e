# SPDX-License-Identifier: GPL-3.0-or-later
"""Pollux' search on clusters so small that all matrices can be tried (Qiao et al., OSDI 2021, section 4.2): what each
tick gave, read from the timeline, is the best that there was. Jobs are of no application: each counts as faster by each
GPU up to those that it asks for."""
import itertools
import json
import math

TICK, RESTART = 60, 30


def holdings(jobs, n_gpus, node_gpus, path):
    """By job: from when to when it has which GPU's node."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    first, held = 10, [[] for _ in jobs]  # GPUs are the processes from there on
    for event in events:
        gpu = event["pid"] - first
        if event["ph"] == "X" and 0 <= gpu < n_gpus:
            held[int(event["name"].split()[-1])].append((event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6, gpu // node_gpus))
    return held


def row_at(held, time, n_nodes):
    row = [0] * n_nodes
    for begin, end, node in held:
        row[node] += begin <= time < end
    return tuple(row)


def rows_of(most, node_gpus, n_nodes):
    return [row for row in itertools.product(range(node_gpus + 1), repeat=n_nodes) if sum(row) <= most]


def matrices(jobs, node_gpus, n_nodes):
    for rows in itertools.product(*(rows_of(job["gpus"], node_gpus, n_nodes) for job in jobs)):
        spread = [row for row in rows if sum(n > 0 for n in row) > 1]
        if all(sum(row[node] for row in rows) <= node_gpus and sum(row[node] > 0 for row in spread) <= 1
               for node in range(n_nodes)):
            yield rows


def fitness(rows, base, jobs, now, n_gpus, n_nodes):
    """The harmonic mean of how fast jobs are beside their fair share; a change counts less, the more of its age a job has
    spent on restarts."""
    fair, slowness = math.ceil(n_gpus / len(jobs)), 0
    for row, had, job in zip(rows, base, jobs):
        age = now - job["submit"]
        factor = 1 if row == had else max(age - job["changes"] * RESTART, 0) / (age + RESTART)
        slowness += 1 / (sum(row) / fair / n_gpus * n_nodes * factor + 1e-3)
    return len(jobs) / slowness


def pollux_search(draw, run):
    """To nine digits. A job that comes at a tick counts as nothing there, with any GPUs."""
    n_nodes, node_gpus = draw.choice([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)])
    n_gpus, jobs, submit, start_s = n_nodes * node_gpus, [], 0, draw.choice([0, 25])
    for _ in range(draw.randint(1, 4)):
        submit += draw.choice([0, draw.randrange(100), draw.randrange(2000)])
        jobs.append({"submit": submit, "gpus": draw.randint(1, n_gpus), "length": draw.randint(50, 3000) + 0.5, "changes": 0, "has_run": False})
    rows = [("job_id", "submit_s", "duration_s", "gpus", "rescale_s")]
    rows += [(i, job["submit"], job["length"], job["gpus"], start_s) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "pollux", "--nodes", n_nodes, "--gpus-per-node", node_gpus, "--timeline", "timeline.json",
              "--seed", draw.randrange(100))
    held = holdings(jobs, n_gpus, node_gpus, "timeline.json")
    end = [float(row["end_s"]) for row in got]
    now, before = 0, [tuple([0] * n_nodes)] * len(jobs)
    wrong = []
    while now < max(end):
        active = [i for i, job in enumerate(jobs) if job["submit"] <= now < end[i]]
        given = [row_at(one, now + 1e-3, n_nodes) for one in held]
        these, base, new = [jobs[i] for i in active], [before[i] for i in active], [given[i] for i in active]
        if active:
            best = max(fitness(rows, base, these, now, n_gpus, n_nodes) for rows in matrices(these, node_gpus, n_nodes))
            found = fitness(new, base, these, now, n_gpus, n_nodes)
            if found < best * (1 - 1e-9):
                wrong.append(f"at {now} jobs {active} have {new}, worth {found}; {best} was to be had")
        for i in active:
            jobs[i]["changes"] += jobs[i]["has_run"] and given[i] != before[i] and any(given[i])
            jobs[i]["has_run"] |= any(given[i])
        before, now = given, now + TICK
    return wrong
