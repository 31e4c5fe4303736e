# SPDX-License-Identifier: GPL-3.0-or-later
"""ElasticFlow where nodes fail, jobs come after others and pay for another number of GPUs: what a job does on the GPUs that its
timeline gives it, with what each failure takes and each change costs, is its work when it ends; none is on a node that is
down; and no GPU with which a job would be faster is idle for long."""
import json

from outages import Node, comes_at, draw_chain, draw_outages, kept, words_of
from rules_elasticflow import SLOT, levels_of, widths_over_time

FIRST_GPU = 10  # GPUs are the processes of a timeline from there on
SLACK = 1e-3  # stops wait for the end of an iteration, of at most a ms


def stays_of(n_jobs, n_gpus):
    """By job, in order of time: from when, until when, on which GPUs, and whether it runs."""
    stays = [{} for _ in range(n_jobs)]
    with open("timeline.json") as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] == "X" and 0 <= event["pid"] - FIRST_GPU < n_gpus:
                begin, state = event["ts"] / 1e6, event["args"]["state"]
                key = begin, (event["ts"] + event["dur"]) / 1e6, state
                stays[int(event["name"])].setdefault(key, []).append(event["pid"] - FIRST_GPU)
    return [sorted((begin, end, gpus, state) for (begin, end, state), gpus in found.items()) for found in stays]


def downs_of(nodes, until):
    """When each node fails and is repaired, until then."""
    downs = []
    for node in nodes:
        downs.append([])
        while node.turns_ns / 1e9 < until:
            downs[-1].append(node.turns_ns / 1e9)
            node.turn()
    return downs


def is_down(turns, time):
    return sum(turn <= time for turn in turns) % 2 == 1


def end_of(job, stays, downs, node_of, every):
    """By its stays: what it makes in each, and what is left of that when the stay ends: all by a stop, less by a failure. A stay
    that brings it to another number of GPUs begins with rescale_s."""
    done, saved, had, wrong = 0.0, 0.0, 0, []
    alone = dict(job["rows"])[job["gpus"]]
    for begin, end, gpus, state in stays:
        on = {node_of(gpu) for gpu in gpus}
        if any(is_down(downs[node], (begin + end) / 2) for node in on):
            wrong.append(f"is on a node that is down at {begin}")
        has_failed = any(abs(turn - end) < 1e-5 for node in on for turn in downs[node][::2])
        if state != "running":
            takes = 0 if has_failed else job["rescale"] if had not in (0, len(gpus)) and done > 0 else 0
            if not has_failed and end - begin > 2 * SLACK and abs(end - begin - takes) > 2 * SLACK:
                wrong.append(f"takes {end - begin} s at {begin} to come from {had} to {len(gpus)} GPUs")
            continue
        done += (end - begin) * dict(job["rows"])[len(gpus)] / alone
        had = len(gpus)
        done = saved = kept(done, saved, every) if has_failed else done
    return done, wrong


def idle_for_long(jobs, gpus, down):
    """Beside a job that would be faster with them; of one node."""
    since = [None] * len(jobs)
    for begin, end, widths in widths_over_time(len(jobs), gpus, "timeline.json"):
        for i, job in enumerate(jobs):
            wider = [width for width, _ in job["levels"] if widths[i] < width <= widths[i] + gpus - sum(widths)]
            is_there = job["end"] is not None and job["submit"] <= begin and end <= job["end"] and not any(
                begin - SLACK <= turn < end + SLACK for turn in down) and not is_down(down, begin)
            since[i] = (begin if since[i] is None else since[i]) if wider and is_there else None
            if since[i] is not None and end - since[i] > SLOT + 0.01:
                yield f"from {since[i]} to {end} job {i} has {widths[i]} GPUs beside {gpus - sum(widths)} idle ones"


def elasticflow_nodes(draw, run):
    """Ends are where the work is done, within a second."""
    n_nodes, per_node, jobs, rates = draw.randint(1, 3), draw.choice([1, 2, 4]), [], ["device,model,gpus,iterations_per_s"]
    gpus, rescale, submit = n_nodes * per_node, draw.choice([0, 20]), 0
    up, down, every = draw_outages(draw)
    for i in range(draw.choice([1, 2, 3, 5, 8])):
        asked = min(gpus, draw.choice([1, 1, 2, 3, 4]))
        rows, levels = levels_of(draw, gpus, asked)
        rates += [f"ideal,m{i},{width},{per_s}" for width, per_s in rows]
        submit += 1 + draw.randrange(10**6)
        after, think = draw_chain(draw, i)
        work = 1 + int(levels[0][1] * draw.uniform(20, 4000))
        deadline = draw.choice(["", "", round(submit / 1000 + draw.uniform(1, 6) * work / levels[0][1], 3)])
        jobs.append({"number": i, "gpus": asked, "rows": rows, "levels": levels, "submit": submit / 1000, "work": work, "after": after, "think": think,
                     "deadline": deadline if after is None else "", "rescale": rescale})
    with open("rates.csv", "w") as to:
        to.write("\n".join(rates) + "\n")
    trace = [("job_id", "submit_s", "gpus", "model", "iterations", "deadline_s", "rescale_s", "after", "think_s")]
    trace += [(i, job["submit"], job["gpus"], f"m{i}", job["work"], job["deadline"], rescale or "",
               "" if job["after"] is None else job["after"], job["think"]) for i, job in enumerate(jobs)]
    got = run(trace, "--policy", "elasticflow", "--rates", "rates.csv", "--nodes", n_nodes, "--gpus-per-node", per_node, "--timeline",
              "timeline.json", *words_of(up, down, every))
    for job, row in zip(jobs, got):
        job["end"] = float(row["end_s"]) if row["end_s"] else None
    ends = [job["end"] for job in jobs if job["end"] is not None]
    downs = downs_of([Node(i, per_node, None, up * 10**9, down * 10**9) for i in range(n_nodes)], max(ends, default=0) + 1)
    for job in jobs:
        job["submit"] = comes_at(job, jobs)
    wrong = list(idle_for_long(jobs, gpus, downs[0])) if n_nodes == 1 else []
    for job, stays in zip(jobs, stays_of(len(jobs), gpus)):
        if job["end"] is None:
            continue
        done, what = end_of(job, stays, downs, lambda gpu: gpu // per_node, every)
        work = job["work"] / dict(job["rows"])[job["gpus"]]
        wrong += [f"job {job['number']} {words}" for words in what]
        if abs(done - work) > 1:
            wrong.append(f"job {job['number']} has done {done} of {work} s")
        if stays[0][0] < job["submit"] - SLACK:
            wrong.append(f"job {job['number']} begins at {stays[0][0]}, before {job['submit']}")
    return wrong
