# SPDX-License-Identifier: GPL-3.0-or-later
"""Sia: GPUs of several types by an integer programme (Jayaram Subramanya et al., SOSP 2023, section 3). Jobs are rigid:
they have the GPUs that they ask for on one type or another, or none."""
import itertools
import math

from outages import comes_at, draw_chain

TICK = 60
RESTART = 30
IDLE = 1.1


def choices(job, now, kinds):
    """By kind, what it costs: the less, the faster; a change counts less, the more of its age went into others."""
    age, speed = now - job["submit"], {}
    left = 1 if age < RESTART else max(age - job["changes"] * RESTART, 0) / (age + RESTART)
    can = {k: job["speed"][kind["type"]] for k, kind in enumerate(kinds)
           if job["speed"][kind["type"]] > 0 and job["gpus"] <= kind["gpus"] * kind["nodes"]}
    for k, per_s in can.items():
        speed[k] = per_s / min(can.values()) * (1 if job["on"] == k else left)
    costs = {k: 1 / math.sqrt(x) for k, x in speed.items() if x > 0}
    return {k: cost for k, cost in costs.items() if cost <= IDLE}


def cheapest(jobs, now, kinds):
    """All ways are tried. Of equal ones the one that uses the least of the last kind, then of the one before it; then
    later jobs have none, or their first choice."""
    rows = [choices(job, now, kinds) for job in jobs]
    best = None
    for given in itertools.product(*([None, *row] for row in rows)):
        used = [0] * len(kinds)
        for job, k in zip(jobs, given):
            if k is not None:
                used[k] += job["gpus"]
        if any(n > kind["gpus"] * kind["nodes"] for n, kind in zip(used, kinds)):
            continue
        cost = sum(IDLE if k is None else row[k] for row, k in zip(rows, given))
        key = round(cost, 6), used[::-1], [-1 if k is None else k for k in given[::-1]]
        if best is None or key < best[0]:
            best = key, given
    return best[1]


def ends(jobs, kinds):
    now, active, coming = 0, [], list(jobs)
    while coming or active:
        for job in active:
            per_s = job["speed"][kinds[job["on"]]["type"]] if job["on"] is not None else 0
            job["end"] = now - TICK + job["left"] / per_s if job["left"] <= per_s * TICK and per_s else None
            job["left"] -= per_s * TICK
        active = [job for job in active if job["end"] is None]
        coming.sort(key=lambda job: comes_at(job, jobs))
        if not active and coming:
            now = max(now, math.ceil(comes_at(coming[0], jobs) / TICK) * TICK)
        while coming and comes_at(coming[0], jobs) <= now:
            coming[0]["submit"] = comes_at(coming[0], jobs)
            active.append(coming.pop(0))
        for job, k in zip(active, cheapest(active, now, kinds)):
            if k is not None and k != job["on"]:
                job["changes"] += job["has_run"]
                job["has_run"] = True
            job["on"] = k
        now += TICK


def sia(draw, run, has_chains=False):
    """A job stops at the end of an iteration, of some us: ends are within 1 s."""
    kinds = [{"type": t, "gpus": draw.choice([1, 2, 4]), "nodes": draw.randint(1, 2)} for t in range(draw.randint(1, 3))]
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node k{k}]\ndevice = ideal\ncount = {kind['nodes']}\ngpus = {kind['gpus']}\nrates_as = t{kind['type']}\n"
                      for k, kind in enumerate(kinds))
    widest = max(kind["gpus"] * kind["nodes"] for kind in kinds)
    jobs, table, submit = [], ["device,model,gpus,iterations_per_s"], 0
    for i in range(draw.choice([1, 2, 3, 5, 7])):
        submit += draw.choice([0, draw.randrange(100), draw.randrange(2000)])
        gpus, speed = draw.choice([n for n in (1, 1, 2, 4) if n <= widest]), [draw.randint(10**5, 10**6) for _ in kinds]
        if draw.random() < 0.2 and len(kinds) > 1 and gpus == 1:
            speed[draw.randrange(len(kinds))] = 0
        table += [f"t{t},m{i},{gpus},{per_s}" for t, per_s in enumerate(speed)]
        jobs.append({"submit": submit, "gpus": gpus, "speed": speed, "left": draw.randint(10**7, 10**9), "changes": 0,
                     "has_run": False, "on": None, "after": None, "think": ""})
        if has_chains:
            jobs[-1]["submit"] += i + draw.randrange(1, 1000) / 1000
            jobs[-1]["after"], jobs[-1]["think"] = draw_chain(draw, i, 0.5)
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    rows = [("job_id", "submit_s", "gpus", "model", "iterations", "after", "think_s")]
    rows += [(i, job["submit"], job["gpus"], f"m{i}", job["left"], "" if job["after"] is None else job["after"], job["think"])
             for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "sia", "--rates", "rates.csv", "--cluster", "cluster.ini")
    ends(jobs, kinds)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]


def sia_chains(draw, run):
    """Jobs come after others."""
    return sia(draw, run, True)
