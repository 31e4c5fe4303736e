#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sentences of gsim advise beside plain sums over the jobs of each policy's run, which stand in the database of its
page: which policy is near the log, whom an alternative serves better or worse and by how much, what that rests on, what
other nodes would do.

    advise.py GSIM [--draws N] [--first SEED]"""
import argparse
import csv
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

import batches
from bills import is_time
from results import quantile, tell

PRICE, NOTICED_S, WORTH, DAY_S = 2.5, 60, 0.02, 86400
HEADER = ["job_id", "submit_s", "duration_s", "gpus", "user", "limit_s"]
LOGGED = ["logged_start_s", "logged_end_s"]
BOUNDS = {"srtf", "sjf"}
TIME = r"([\d.e+]+ (?:us|ms|s|min|h|d))"


def call(gsim, arguments, folder):
    done = subprocess.run([gsim, *arguments], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(arguments) + ": " + done.stderr.strip()[:300])
    return done.stdout


class Setup:
    """Nodes, GPUs of a node, policies, rows of a trace; `kind` says which statistics they give: none, resampled or batches."""

    def __init__(self, seed):
        draws = self.draws = random.Random(seed)
        self.kind = ("none", "none", "resampled", "batches")[seed % 4]
        self.nodes, self.size = draws.choice((1, 2, 3, 6)), draws.choice((1, 2, 4))
        self.device = draws.choice(("ideal", "h200"))
        names = ["fifo", "backfill", "easy-backfill", "fairshare", "las", "tiresias", "srtf", "sjf"]
        self.policies = draws.sample(names, draws.choice((2, 3, 5, 6))) if self.kind != "batches" else ["fifo", draws.choice(names[2:])]
        if draws.random() < 0.6:  # a scheduler that there is something to gain on
            others = [name for name in self.policies if name not in ("fifo", "las")]
            self.policies = ["fifo", "las", *others] if self.kind != "batches" else ["fifo", *(others or ["las"])]
        gpus, wide, spread = self.nodes * self.size, draws.choice((1, 2)), draws.choice((0.5, 1.5))
        n = draws.choice((40, 120)) if self.kind != "batches" else draws.choice((600, 1500))
        load = draws.choice((0.9, 1.4)) if self.kind != "batches" else draws.uniform(0.2, 0.6)
        self.users = draws.choice((["ann", "bob", "cid", ""], ["ann"], ["ann", "bob"], [""]))
        if self.kind == "resampled":
            self.users, n = ["ann", "bob", "cid"], 60
        rows, at, mu = [], 0.0, 7 if self.kind != "batches" else 5
        for job in range(n):
            width = min(gpus, draws.choice((1, 1, 1, wide, 2 * wide)))
            length = max(1, round(draws.lognormvariate(mu, spread)))
            rows.append([f"j{job}", round(at), length, width, draws.choice(self.users), round(length * draws.choice((1, 1.5, 5))) + 1])
            at += draws.expovariate(load * gpus / (1.5 * math.exp(mu + spread**2 / 2)))
        if self.kind == "resampled":  # over five days, so that days of users change places
            for row in rows:
                row[1] = round(row[1] * 5 * DAY_S / max(1, rows[-1][1])) if row is not rows[-1] else row[1]
            rows[-1][1] = 5 * DAY_S
        self.rows, self.header = rows, HEADER
        if self.users == [""]:
            self.rows, self.header = [row[:4] + row[5:] for row in rows], HEADER[:4] + HEADER[5:]
        self.cluster = ["--nodes", str(self.nodes), "--gpus-per-node", str(self.size), "--device", self.device]

    def write(self, folder):
        with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
            csv.writer(out).writerows([self.header, *self.rows])

    def add_log(self, gsim, folder):
        """Starts as one of the policies has them, late by some seconds; in some logs a few jobs are held back by hours."""
        draws, policy = self.draws, self.draws.choice([self.policies[0], self.policies[0], *self.policies])
        late, held = draws.choice((0, 0, 0, 20)), draws.choice((0, 0, 0, 0.1))
        self.write(folder)
        call(gsim, ["--policy", policy, *self.cluster, "--quiet", "--jobs-csv", "log.csv", "--force", "trace.csv"], folder)
        with open(os.path.join(folder, "log.csv")) as file:
            starts = {row["job_id"]: float(row["start_s"]) for row in csv.DictReader(file)}
        self.header = self.header + LOGGED
        for row in self.rows:
            start = round(starts[row[0]] + draws.uniform(0, late) + (draws.uniform(0, 40000) if draws.random() < held else 0))
            row += [start, start + row[2]] if draws.random() < 0.97 else ["", ""]


class Run:
    """A policy's jobs, in the order of the trace."""

    def __init__(self, db, run_id, summary):
        self.assumed, self.busy = summary["assumed"], summary["gpu_busy"]
        rows = db.execute("SELECT job_id, submit_ns, start_ns, end_ns, wait_ns, service_ns, gpus_ppm FROM job WHERE run_id = ? ORDER BY job", (run_id,))
        names = "id", "submit", "start", "end", "wait", "service"
        self.jobs = [dict(zip(names, (row[0], *(x / 1e9 for x in row[1:6]))), gpus=row[6] / 1e6) for row in rows]
        self.mean = sum(job["end"] - job["submit"] for job in self.jobs) / len(self.jobs)
        self.p99 = quantile([job["end"] - job["submit"] for job in self.jobs], 0.99)
        self.wait = sum(job["wait"] for job in self.jobs) / len(self.jobs)


def read_runs(path):
    """{(policy, replication): run}; replication 0 is the trace as it is."""
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    summaries = db.execute("SELECT * FROM run").fetchall()
    db.row_factory = None
    return {(one["policy"], one["replication"]): Run(db, one["run_id"], one) for one in summaries}


# --- the log ------------------------------------------------------------------------------------

def most_held(setup):
    """GPUs that the log's jobs held at once."""
    at = {name: setup.header.index(name) for name in (*LOGGED, "gpus")}
    marks = [mark for row in setup.rows if row[at[LOGGED[0]]] != ""
             for mark in ((row[at[LOGGED[0]]], 1, row[at["gpus"]]), (row[at[LOGGED[1]]], 0, -row[at["gpus"]]))]
    now = most = 0
    for _, _, gpus in sorted(marks, key=lambda mark: mark[:2]):
        now += gpus
        most = max(most, now)
    return most


def of_log(setup, run, user_of):
    """Waits of the log's jobs until their first start: of the log, of the run, how far they are off by user and by job."""
    start_at = setup.header.index(LOGGED[0])
    logged = {row[0]: row[start_at] for row in setup.rows if row[start_at] != ""}
    known = [job for job in run.jobs if job["id"] in logged]
    n, users = len(known), {}
    for job in known:
        mine = users.setdefault(user_of.get(job["id"], ""), [0, 0])
        mine[0] += job["start"] - job["submit"]
        mine[1] += logged[job["id"]] - job["submit"]
    off = [abs(job["start"] - logged[job["id"]]) for job in known]
    out = {"log": sum(logged[job["id"]] - job["submit"] for job in known) / n, "wait": sum(job["start"] - job["submit"] for job in known) / n,
           "users": sum(abs(a - b) for a, b in users.values()) / n, "jobs": sum(off) / n, "minute": sum(x <= 60 for x in off) / n}
    is_room = most_held(setup) <= setup.nodes * setup.size
    return out | {"near": is_room and (out["users"] <= 0.2 * out["log"] or out["users"] <= 60)}


def nearest(policies, off):
    def key(policy):
        one = off[policy]
        return policy in BOUNDS, not one["near"], one["jobs"] if one["near"] else one["users"]
    return min(policies, key=key)  # the first of those that are equally near


def of_logged_table(text, policies, off):
    breaks = []
    rows = {row.split()[0]: re.split(r"  +", row.strip()) for row in text.split("as logged: ")[1].split("\n\n")[0].split("\n")[2:]}
    for policy in policies:
        one, row = off[policy], re.search(rf"^{policy} +{TIME} +(\S+)(?: %)? +{TIME} +{TIME} +([\d.]+) %$", text.split("as logged: ")[1], re.M)
        if not row:
            breaks.append(f"{policy} has no row as logged: {rows.get(policy)}")
            continue
        wait, part, users, jobs, minute = row.groups()
        due = 100 * (one["wait"] / one["log"] - 1) if one["log"] > 0 else None
        checks = {"wait": is_time(wait, one["wait"]), "off": part == "-" if due is None else abs(float(part) - due) < 0.0501,
                  "users": is_time(users, one["users"]), "jobs": is_time(jobs, one["jobs"]), "minute": abs(float(minute) - 100 * one["minute"]) < 0.0501}
        breaks += [f"{policy}: {name} as logged is {row.group(0)}, plainly {one}" for name, is_right in checks.items() if not is_right]
    return breaks


# --- an alternative -----------------------------------------------------------------------------

def mean(values):
    values = list(values)
    return sum(values) / len(values)


def by_user(run, today, user_of):
    """(users, those that wait less by more than a minute, those that wait longer, the one that loses most, by how much)."""
    sums = {}
    for job, before in zip(run.jobs, today.jobs):
        if user_of.get(job["id"]):
            sums.setdefault(user_of[job["id"]], []).append(job["wait"] - before["wait"])
    more = {user: mean(values) for user, values in sums.items()}
    most = max(more, key=more.get, default=None)
    return len(more), sum(x < -NOTICED_S for x in more.values()), sum(x > NOTICED_S for x in more.values()), most, more.get(most)


def losers(run, today):
    """[(what, wait, wait today)]: the width of jobs that waits longer by most, the longest tenth; by more than a minute."""
    widths, out = {}, []
    for job, before in zip(run.jobs, today.jobs):
        widths.setdefault(job["gpus"], []).append((job["wait"], before["wait"]))
    means = {width: (mean(a for a, _ in pairs), mean(b for _, b in pairs)) for width, pairs in widths.items()}
    worst = max(sorted(means), key=lambda width: means[width][0] - means[width][1])
    if len(means) > 1 and means[worst][0] - means[worst][1] > NOTICED_S:
        n = len(widths[worst])
        out.append((f"jobs of {worst:g} GPU{'s' if worst != 1 else ''} ({n} of {len(run.jobs)})", *means[worst]))
    order = sorted(range(len(run.jobs)), key=lambda at: (run.jobs[at]["service"], at))
    tenth = order[len(order) - len(order) // 10:]
    if tenth:
        here, there = mean(run.jobs[at]["wait"] for at in tenth), mean(today.jobs[at]["wait"] for at in tenth)
        out += [("the tenth of the jobs that run longest", here, there)] if here - there > NOTICED_S else []
    return out


def interval(setup, runs, policy, today):
    """(least and most per cent by which the mean is lower, whether that may be chance), or None where there is no statistic."""
    if setup.kind == "resampled":
        ratios = [run.mean / runs[today, rep].mean for (name, rep), run in runs.items() if name == policy and rep > 0]
        return 100 * (1 - max(ratios)), 100 * (1 - min(ratios)), any(ratio >= 1 for ratio in ratios)
    order = {name: sorted(runs[name, 0].jobs, key=lambda job: job["submit"]) for name in setup.policies}
    if not all(batches.of_run(order[name], setup.nodes * setup.size) for name in setup.policies) or len(setup.policies) > 2:
        return None
    _, low, high = batches.ratio_of(order[policy], order[today])
    return 100 * (1 - high), 100 * (1 - low), high >= 1


def is_percent(text, value):
    return abs(abs(float(text)) - abs(value)) <= (0.0501 if "." in text else 0.501)


def of_users(text, due):
    n, better, worse, most, by = due
    told = re.search(rf"Of (\d+) users (\d+) wait less on average by more than a minute, (\d+) longer by more than that(?: \(the most: (\S+), by {TIME}\))?\.", text)
    if n < 2:
        return not told
    return told is not None and tuple(map(int, told.groups()[:3])) == (n, better, worse) and (
        (told.group(4) is None) if worse == 0 else told.group(4) == most and is_time(told.group(5), by))


def of_losers(text, due):
    told = re.findall(rf"(jobs of \S+ GPUs? \(\d+ of \d+\)|the tenth of the jobs that run longest) wait {TIME} instead of {TIME.replace('(', '(0 s|', 1)}", text)
    return len(told) == len(due) and all(a == what and is_time(b, here) and is_time(c, there) for (a, b, c), (what, here, there) in zip(told, due))


def of_advice(setup, runs, policy, today, text, user_of):
    run, base = runs[policy, 0], runs[today, 0]
    head = re.match(rf"\d+\. {policy} in place of {today}: mean JCT ([\d.]+) % lower(?: \((on this trace; )?(-?[\d.]+) to (-?[\d.]+) %, over (\d+) ([a-z ]+)\))?, "
                    rf"(but )?p99 {TIME} instead of {TIME}; mean wait {TIME} instead of {TIME.replace('(', '(0 us|', 1)}\.", text)
    if not head:
        return [f"{policy}: '{text[:200]}' is read otherwise"]
    lower, _, least, most, _, _, is_but, p99, p99_before, wait, wait_before = head.groups()
    spread = interval(setup, runs, policy, today)
    checks = {"the mean": is_percent(lower, 100 * (1 - run.mean / base.mean)),
              "an interval": (least is None) == (spread is None) and (spread is None or (is_percent(least, spread[0]) and is_percent(most, spread[1]))),
              "p99": is_time(p99, run.p99) and is_time(p99_before, base.p99) and (is_but is not None) == (run.p99 > 1.02 * base.p99),
              "waits": is_time(wait, run.wait) and is_time(wait_before, base.wait),
              "users": of_users(text, by_user(run, base, user_of)), "losers": of_losers(text, losers(run, base)),
              "assumed": (f"It rests on assumed values ({run.assumed})" in text) if run.assumed else "and no assumed value" in text}
    return [f"{policy}: {name} in '{text}', plainly {run.mean, base.mean, spread, by_user(run, base, user_of), losers(run, base)}"
            for name, is_right in checks.items() if not is_right]


def mean_with(gsim, setup, run, policy, key, value, folder):
    """A policy's mean with another value of a constant; None: no device can have that one."""
    if f"{key}=" not in run.assumed:
        return run.mean
    try:
        told = call(gsim, ["--policy", policy, *setup.cluster, "--quiet", "--format", "json", "--set", f"{key}={value}", "trace.csv"], folder)
    except RuntimeError as error:
        if "is out of range" in str(error):
            return None
        raise
    return json.loads(told)["jct_mean_s"]


def tried_values(gsim, setup, runs, policy, today, folder):
    """Ratios of means with each assumed constant of the two a fifth smaller and larger."""
    keys = {key: value for name in (policy, today) for key, value in re.findall(r"([\w.]+)=(\d\S*) \(h200\)", runs[name, 0].assumed)}
    ratios = []
    for key, value in keys.items():
        for other in (math.floor(float(value) * 0.8), math.floor(float(value) * 1.2)):
            here, there = (mean_with(gsim, setup, runs[name, 0], name, key, other, folder) for name in (policy, today))
            ratios += [here / there] if here and there and other != float(value) else []
    return ratios


def of_tried(gsim, setup, runs, policy, today, text, folder):
    told = re.search(r"with each a fifth smaller and larger its mean JCT is (?:([\d.]+)( % higher)?(?: to ([\d.]+))? % (lower|higher))", text)
    if not told or setup.kind == "resampled":
        return []
    ratios = tried_values(gsim, setup, runs, policy, today, folder)
    least, most = min(ratios), max(ratios)
    first, is_higher, second, side = told.groups()
    is_right = is_percent(first, 100 * (1 - most)) and is_percent(second or first, 100 * (1 - least)) and (side == "lower") == (least <= 1)
    return [] if is_right and bool(is_higher) == (most > 1 >= least) else [f"{policy}: '{told.group(0)}', plainly ratios of {least} to {most}"]


# --- all of it ----------------------------------------------------------------------------------

def sentences(output):
    """The lines of the advice, those that go on put together."""
    part = output.split("\nadvice:\n")[1]
    return [" ".join(line.split()) for line in re.split(r"\n  (?=\S)", "\n" + part) if line.strip()]


def of_alternatives(gsim, setup, runs, policies, today, text, user_of, folder):
    ratio = {policy: runs[policy, 0].mean / runs[today, 0].mean for policy in policies}
    lower = sorted((policy for policy in policies if ratio[policy] < 1 - WORTH and policy not in BOUNDS and policy != today), key=ratio.get)
    may_be = {policy for policy in lower if (interval(setup, runs, policy, today) or (0, 0, False))[2]}
    told = [line for line in text if re.match(r"\d+\. ", line)]
    due, breaks = [policy for policy in lower if policy not in may_be], []
    if [line.split()[1] for line in told] != due:
        return [f"advised are {[line.split()[1] for line in told]}, plainly {due} of {ratio}"]
    for policy, line in zip(due, told):
        breaks += of_advice(setup, runs, policy, today, line, user_of) + of_tried(gsim, setup, runs, policy, today, line, folder)
    if sorted(re.findall(r"No advice: (\S+) in place", "\n".join(text))) != sorted(may_be):
        breaks.append(f"not {may_be} may be chance")
    if not due != any(f"% below that of {today}{' beyond chance' if may_be else ''}: leave" in line for line in text):
        breaks.append(f"whether to leave the scheduler as it is, where {due} are lower")
    for policy in (policy for policy in policies if policy in BOUNDS and policy != today):
        change = 100 * (1 - ratio[policy])
        word = f"the mean JCT of {today}" if abs(change) < 0.5 else f"a mean JCT {abs(change):.0f} % {'below' if change > 0 else 'above'} that of {today}"
        if not any(line.startswith(f"To compare: {policy}, ") and line.endswith(f"has {word}.") for line in text):
            breaks.append(f"{policy} has {word}, which is not said")
    if (runs[today, 0].wait < NOTICED_S) != any(line.startswith("Jobs wait ") for line in text):
        breaks.append(f"whether there is little to gain at a wait of {runs[today, 0].wait}")
    return breaks


def of_load(setup, run, text):
    span = max(job["submit"] for job in run.jobs) - min(job["submit"] for job in run.jobs)
    gpus, told = setup.nodes * setup.size, [line for line in text if "offered load" in line]
    load = sum(job["service"] * job["gpus"] for job in run.jobs) / span / gpus if span > 0 and len(run.jobs) >= 50 else 0
    if (load > 1) != bool(told):
        return [f"a load of {load}, told is {told}"]
    return [] if load <= 1 or (f"(offered load {load:.2f})" in told[0] and f"needs {math.ceil(gpus * load)} GPUs in place of {gpus}" in told[0]) else [f"a load of {load}: {told}"]


def of_nodes(gsim, setup, run, today, text, folder):
    """A quarter more and fewer nodes, one at least."""
    breaks, by = [], (setup.nodes + 3) // 4
    for nodes in (setup.nodes + by, setup.nodes - by):
        gpus, now = nodes * setup.size, setup.nodes * setup.size
        line = next((line for line in text if line.startswith(f"{gpus} GPUs in place of {now}")), None)
        if nodes < 1 or max(int(row[3]) for row in setup.rows) > gpus:
            breaks += [f"{nodes} nodes: {line}"] if line and nodes < 1 or line and "cannot run" not in line else []
            continue
        cluster = ["--nodes", str(nodes), *setup.cluster[2:]]
        there = json.loads(call(gsim, ["--policy", today, *cluster, "--quiet", "--format", "json", "trace.csv"], folder))
        told = line and re.match(rf"\d+ GPUs in place of \d+, under {today}, ([\d.]+) a day (more|less): mean wait {TIME} instead of {TIME.replace('(', '(0 us|', 1)}, "
                                 r"held (\d+) % instead of (\d+) % of the time", line)
        if not told or not (told.group(1) == f"{24 * PRICE * abs(gpus - now):.2f}" and (told.group(2) == "more") == (gpus > now)
                            and is_time(told.group(3), there["wait_mean_s"]) and is_time(told.group(4), run.wait)
                            and is_percent(told.group(5), 100 * there["gpu_busy"]) and is_percent(told.group(6), 100 * run.busy)):
            breaks.append(f"{nodes} nodes: '{line}', plainly {there['wait_mean_s'], run.wait, there['gpu_busy'], run.busy}")
    return breaks


def of_verdict(setup, runs, policies, output):
    """The lowest mean of all policies, over the changed traces where there are some, and how far the next one is above it."""
    reps = range(1, 11) if setup.kind == "resampled" else (0,)
    means = {policy: mean(runs[policy, rep].mean for rep in reps) for policy in policies}
    best, second = sorted(policies, key=means.get)[:2]
    text = " ".join(output.split("\nverdict: ")[1].split())
    told = re.match(r"(\S+)(?: \(oracle\))? (?:has the lowest mean JCT[a-z ]*|.*cannot be told apart in mean JCT: (\S+)(?: \(oracle\))? is lowest), ([\d.]+) % below ([\w-]+)", text)
    if means[second] <= means[best] * 1.001:
        return [] if " tie in mean JCT" in text else [f"{best} and {second} tie: {means}: {text[:200]}"]
    above = 100 * (1 - means[best] / means[second])
    is_right = told and (told.group(2) or told.group(1)) == best and is_percent(told.group(3), above) and told.group(4) == second
    return [] if is_right else [f"{best} is {above} % below {second}: '{text[:200]}'"]


def of_missing(setup, text):
    """What the trace lacks, whatever the runs say."""
    due = {"starts as logged": LOGGED[0] not in setup.header, "user or vc": "user" not in setup.header, "limit_s": False, "mem_gib": True,
           "iterations with gpu_ms, or app": True, "partition": True, "how many GPUs there are": False}
    return [f"whether {what} is missing" for what, is_missing in due.items() if is_missing != (f"Missing: {what}." in text)]


def differences(gsim, seed, folder):
    """(what differs, whether there was an advice with a number, which statistics there were)."""
    setup = Setup(seed)
    if seed % 5:
        setup.add_log(gsim, folder)
    setup.write(folder)
    output = call(gsim, ["advise", "--quiet", *setup.cluster, "--price", str(PRICE), "--policies", ",".join(setup.policies),
                         "-o", "page.html", "trace.csv"], folder)
    runs, policies = read_runs(os.path.join(folder, "page.db")), setup.policies
    setup.kind = "resampled" if any(rep > 0 for _, rep in runs) else setup.kind if setup.kind == "batches" else "none"
    user_of = {row[0]: row[4] for row in setup.rows} if "user" in setup.header else {}
    today, text = policies[0], sentences(output)
    breaks = of_missing(setup, " ".join(output.split()))
    if LOGGED[0] in setup.header:
        off = {policy: of_log(setup, runs[policy, 0], user_of) for policy in policies}
        best = nearest(policies, off)
        order = list(policies)
        if off[best]["near"]:  # it takes the place of the first
            today = best
            at = order.index(best)
            order[0], order[at] = order[at], order[0]
        breaks += of_logged_table(output, policies, off) + of_verdict(setup, runs, order, output)
        if not off[best]["near"]:
            is_said = text[0].startswith(f"No decision can rest on these runs yet: no policy comes near the log: under {best},")
            return breaks + ([] if is_said and len(text) == 1 else [f"{best} is far from the log: {text}"]), False
        if f"So {today} stands for today's scheduler" not in text[0]:
            breaks.append(f"{today} stands for today's: {text[0]}")
    else:
        breaks += of_verdict(setup, runs, policies, output)
        if f"so {today} stands for today's scheduler unchecked" not in text[0]:
            breaks.append(f"{today} stands for today's unchecked: {text[0]}")
    breaks += of_load(setup, runs[today, 0], text) + of_nodes(gsim, setup, runs[today, 0], today, text, folder)
    breaks += of_alternatives(gsim, setup, runs, policies, today, text, user_of, folder)
    return breaks, any(re.match(r"1\. ", line) for line in text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    breaks, n_advised = [], 0
    for seed in range(args.first, args.first + args.draws):
        with tempfile.TemporaryDirectory() as folder:
            found, is_advised = differences(os.path.abspath(args.gsim), seed, folder)
        breaks, n_advised = breaks + [f"{seed}: {text}" for text in found], n_advised + is_advised
    failed = tell(f"{n_advised} advices of {args.draws} logs as summed plainly", breaks)
    return int(failed or n_advised == 0)


if __name__ == "__main__":
    sys.exit(main())
