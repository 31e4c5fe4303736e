#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of a report beside plain sums: GPU hours, energy, cost, and users, from each run's jobs and its timeline.

    bills.py GSIM [--draws N] [--first SEED]"""
import argparse
import csv
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

from failures import Stream
from results import POLICIES, ns, quantile, spans_of, tell

HEADER = ("job_id", "submit_s", "iterations", "gpu_ms", "host_gap_ms", "gpus", "mem_gib", "deadline_s", "limit_s", "user")
PRICE, BUSY_W, IDLE_W = 2.5, 400, 51
# of mixed clusters: (speed in thousandths, watts busy and idle) by node, the second ones being slow
DEVICES = {"fast": (1000, 400, 51), "slow": (500, 90, 30)}
H200 = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "devices", "h200.ini")
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
# of equal instances, since nothing says which of them a job has; tests/cli/plan.sh has unequal ones
LAYOUT = "2g.10gb+2g.10gb+2g.10gb"
# whether a job has whole GPUs for itself
MORE = (("adaptive", "h200", True), ("timeslice", "h200", False), ("uvm", "h200", False), ("tiresias", "h200", True), ("easy-backfill", "h200", True))
MIXED = 10  # the first seed that draws nodes of several devices of which some fail
ITS_OWN = {"fifo", "srtf", "las", "fairshare", "suspend", "themis", "adaptive", "tiresias", "easy-backfill", "elasticflow"}


def draw(seed, are_its_own):
    """Nodes, GPUs of a node, rows of a trace, further options, the part of an iteration that is the GPU's. Jobs that share
    GPUs have one, so that it is known where each is."""
    draws, rows, at = random.Random(seed), [], 0
    nodes, size, host = draws.choice((1, 2, 3)), draws.choice((1, 2, 4)), draws.choice((0, 0, 250))
    nodes, size = (nodes, size) if are_its_own else (1, 1)
    for job in range(draws.randint(3, 25)):
        at += draws.choice((0, 0, 1, 100, 1000, 5000)) * draws.random()
        length, gpus = max(1, int(draws.lognormvariate(7, 1.5))), min(draws.choice((1, 1, 1, 2, 4)), nodes * size)
        due = draws.choice(("", "", f"{at + length * draws.choice((0.5, 1.5, 4)):.3f}"))
        rows.append((f"j{job}", f"{at:.6f}", 4 * length, 250 - host // 2, host // 2, gpus, 2, due,
                     int(length * draws.choice((0.5, 1.2, 4))) + 1, draws.choice(("ann", "ann", "bob", "cid", ""))))
    options = draws.choice(([], [], ["--until", "9000"], ["--mtbf", "3h", "--mttr", "1000s", "--checkpoint", "60s"],
                            ["--mtbf", "2h", "--mttr", "1000s", "--until", "20000"], ["--warmup", "20%"], ["--set", "speed_milli=500"]))
    options = options if are_its_own or "--mtbf" not in options else []
    draws.shuffle(rows)
    # no gap of a host, whose time does not hang on the device
    n_slow = draws.choice((0, nodes // 2)) if are_its_own and host == 0 and "--set" not in options else 0
    return nodes, size, rows, options, 1 - (host // 2) / 250, n_slow


def write_cluster(setup, folder):
    """The nodes of a cluster of which the last are slow."""
    nodes, size, _, _, _, n_slow = setup
    with open(H200) as file:
        text = re.sub(r"\[energy\]\n(?:(?!\[).*\n)*", "", file.read())
    for name, (speed, busy, idle) in DEVICES.items():
        with open(os.path.join(folder, f"{name}.ini"), "w") as out:
            out.write(text.replace("[device]\n", f"[device]\nspeed_milli = {speed} | measured | drawn\n", 1)
                      + f"\n[energy]\nbusy_w = {busy} | measured | drawn\nidle_w = {idle} | measured | drawn\n")
    with open(os.path.join(folder, "nodes.ini"), "w") as out:
        for name, count in (("fast", nodes - n_slow), ("slow", n_slow)):
            out.write(f"[node {name}]\ncount = {count}\ngpus = {size}\ndevice = {name}.ini\n")


def devices_of(setup):
    """The device of each GPU, and what it is."""
    nodes, size, _, _, _, n_slow = setup
    return ["fast"] * ((nodes - n_slow) * size) + ["slow"] * (n_slow * size)


def run(gsim, policy, setup, seed, folder):
    """The result, the jobs, and the timeline's events (of jobs with GPUs of their own) of a run, which is in the database thereafter."""
    nodes, size, _, options, _, n_slow = setup
    named = [] if policy != "mig" else ["--device", "a100-40", "--set", f"mig.layout={LAYOUT}"]
    timeline = ["--timeline", "timeline.json"] if policy in ITS_OWN else []
    cluster = ["--cluster", "nodes.ini"] if n_slow else [
        *(named or ["--device", "h200"]), "--nodes", str(nodes), "--gpus-per-node", str(size),
        "--set", f"energy.busy_w={BUSY_W}", "--set", f"energy.idle_w={IDLE_W}"]
    done = subprocess.run([gsim, "--policy", policy, *cluster, "--quiet", "--format", "json", "--seed", str(seed),
                           "--jobs-csv", "jobs.csv", "--db", "runs.db", "--force", *timeline, *options, "trace.csv"],
                          cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[:200])
    with open(os.path.join(folder, "jobs.csv")) as table:
        jobs = [{name: ns(row[f"{name}_s"]) for name in ("submit", "start", "end", "wait", "service", "held")}
                | {"gpus": int(row["gpus"]), "id": row["job_id"], "declined": row.get("declined") == "1"} for row in csv.DictReader(table)]
    if not timeline:
        return json.loads(done.stdout), jobs, []
    with open(os.path.join(folder, "timeline.json")) as file:
        return json.loads(done.stdout), jobs, json.load(file)["traceEvents"]


def ns_on(spans):
    """The time in which one of the spans is on."""
    total, reached = 0, 0
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def divided(jobs, cut):
    """GPU hours of each job on a GPU of which all have a part, from their start on: each instant is divided alike."""
    out, stays = {}, [(job["start"], job["end"] if job["end"] is not None else cut, job["id"]) for job in jobs if job["start"] is not None]
    marks = sorted({time for stay in stays for time in stay[:2]})
    for begin, end in zip(marks, marks[1:]):
        there = [name for a, b, name in stays if a <= begin and end <= b]
        for name in there:
            out[name] = out.get(name, 0) + (end - begin) / 3.6e12 / len(there)
    return out


def computed_by(of_gpu, setup):
    """Hours in which each device's GPUs computed; kernels of a gang wait on fast GPUs for those on slow ones."""
    device, out = devices_of(setup), {name: 0 for name in DEVICES}
    for gpu, spans in of_gpu.items():
        out[device[gpu]] += sum(end - begin for begin, end, what, _ in spans if what == "running") / 3.6e12
    return out


def down_by(options, seed, nodes, first, last):
    """For how many ns each node was down between the first submission and the last end."""
    if "--mtbf" not in options:
        return [0] * nodes
    means, out = {name: ns(options[options.index(f"--{name}") + 1][:-1]) * (3600 if name == "mtbf" else 1) for name in ("mtbf", "mttr")}, []
    for node in range(nodes):
        stream, at, down = Stream(seed, f"failures of node {node}"), 0, 0
        while at < last:
            fails = at + stream.exponential(means["mtbf"])
            at = fails + stream.exponential(means["mttr"])
            down += max(0, min(at, last) - max(fails, first))
        out.append(down)
    return out


def joules(it, setup):
    """(energy, energy of idle GPUs) in kWh."""
    if not setup[5]:
        up = it["all"] - it["down"]
        return (IDLE_W * up + (BUSY_W - IDLE_W) * it["computed"]) / 1000, IDLE_W * (up - it["held"]) / 1000
    device = devices_of(setup)
    hours = {name: it["all"] / len(device) * device.count(name) - it["down_by"][name] for name in DEVICES}
    idle = sum(DEVICES[name][2] * (hours[name] - it["held_by"][name]) for name in DEVICES)
    return (sum(DEVICES[name][2] * hours[name] + (DEVICES[name][1] - DEVICES[name][2]) * it["computed_by"][name] for name in DEVICES) / 1000,
            idle / 1000)


def bill(result, jobs, events, setup, is_its_own, seed):
    """GPU hours in all, held, computed, idle; and those held by each job."""
    nodes, size, _, options, gpu_part, n_slow = setup
    cut = ns(options[-1]) if "--until" in options else None
    of_gpu, _ = spans_of(events)
    first = min(job["submit"] for job in jobs)
    is_cut = any(job["end"] is None and job["start"] is not None for job in jobs)
    last = cut if is_cut else max((job["end"] for job in jobs if job["end"] is not None), default=first)
    hours = nodes * size * (last - first) / 3.6e12
    of_job = {} if is_its_own else divided(jobs, cut)
    for spans in of_gpu.values():
        for begin, end, _, name in spans:
            of_job[name] = of_job.get(name, 0) + (end - begin) / 3.6e12
    held = sum(ns_on([span[:2] for span in spans]) for spans in of_gpu.values()) / 3.6e12 if is_its_own else sum(of_job.values())
    if is_its_own:
        computed = gpu_part * sum(end - begin for spans in of_gpu.values() for begin, end, what, _ in spans if what == "running") / 3.6e12
    else:
        slow = 2 if "speed_milli=500" in options else 1
        computed = min((result["gpu_useful"] * hours + gpu_part * result["lost_s"] / 3600) * slow, held)
    down = down_by(options, seed, nodes, first, last)
    it = {"all": hours, "held": held, "computed": computed, "down": sum(down) * size / 3.6e12, "of_job": of_job}
    if n_slow:
        device = devices_of(setup)
        it["down_by"] = {name: sum(down[gpu // size] for gpu, what in enumerate(device) if what == name) / 3.6e12 for name in DEVICES}
        it["computed_by"] = computed_by(of_gpu, setup)
        it["held_by"] = {name: sum(ns_on([span[:2] for span in spans]) for gpu, spans in of_gpu.items() if device[gpu] == name) / 3.6e12 for name in DEVICES}
    return it


def users(jobs, it, setup):
    """By user, "no user" being one: jobs that ended, GPU hours of all jobs, waits without those that --warmup leaves out."""
    rows, options = setup[2:4]
    owner = {row[0]: row[9] for row in rows}
    n_left = len(jobs) * 20 // 100 if "--warmup" in options else 0
    order = sorted(range(len(jobs)), key=lambda at: (jobs[at]["submit"], at))
    counted = set(order[n_left:len(order) - n_left])
    out = {}
    for at, job in enumerate(jobs):
        user = out.setdefault(owner[job["id"]] or "no user", {"jobs": 0, "hours": 0, "waits": []})
        user["hours"] += it["of_job"].get(job["id"], 0)
        if job["end"] is None:
            continue
        user["jobs"] += 1
        user["waits"] += [job["wait"] / 1e9] if at in counted else []
    return out


def tables(page):
    """The cells of each table of a page, by its title."""
    out = {}
    for part in page.split("<h2>")[1:]:
        rows = re.findall(r"<tr>(.*?)</tr>", part, re.S)
        out[part.split("</h2>")[0]] = [[re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)] for row in rows]
    return out


def titled(page, start):
    rows = next((rows for title, rows in tables(page).items() if title.startswith(start)), [[]])
    return [dict(zip(rows[0], row)) for row in rows[1:]]


def is_near(text, value, digits):
    """Whether a cell shows this number, with so many digits behind the point; None: no number."""
    if value is None or text == "-":
        return value is None and text == "-"
    return abs(float(text) - value) <= 0.501 * 10**-digits + 1e-9 * abs(value)


def is_time(text, seconds):
    """Whether a cell shows this time, with three digits."""
    if seconds is None or text == "-":
        return seconds is None and text == "-"
    number, unit = text.split()
    return abs(float(number) * UNITS[unit] - seconds) <= 0.0051 * seconds + 1e-9


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def of_bill(policy, bills, row, setup):
    """What differs in the row of a policy."""
    energy = [joules(b, setup) for b in bills]
    due = {"GPU hours": (mean(b["all"] for b in bills), 1), "held": (mean(b["held"] for b in bills), 1),
           "idle": (mean(b["all"] - b["held"] - b["down"] for b in bills), 1),
           "energy (kWh)": (mean(one[0] for one in energy), 1),
           "of idle GPUs (kWh)": (mean(one[1] for one in energy), 1),
           "cost": (mean(b["all"] for b in bills) * PRICE, 2),
           "cost of idle GPUs": (mean(b["all"] - b["held"] - b["down"] for b in bills) * PRICE, 2)}
    return [f"{policy}: {name} is {row[name]}, plainly {value}" for name, (value, digits) in due.items() if not is_near(row[name], value, digits)]


def gain(wait, first):
    if wait is None or first is None:
        return None
    return "gains" if wait < first else "loses" if wait > first else "as there"


def of_users(policy, first, its, told):
    """What differs in the rows of users; its: by policy and run, what each user has."""
    breaks = []
    if set(its[policy][0]) == {"no user"}:
        return [f"{policy}: no user is named, and there are rows"] if told else []
    for user in sorted({user for one in its[policy] for user in one}):
        row = next((row for row in told if row["user"] == user and row["policy"] == policy), None)
        waits = {name: [wait for one in its[name] for wait in one.get(user, {"waits": []})["waits"]] for name in its}
        n = len(its[policy])
        due = {"jobs": sum(one.get(user, {"jobs": 0})["jobs"] for one in its[policy]) / n,
               "hours": sum(one.get(user, {"hours": 0})["hours"] for one in its[policy]) / n}
        if not row:
            breaks.append(f"{policy}: {user} has no row")
            continue
        change = row["mean wait against the first policy"]
        here, there = mean(waits[policy]), mean(waits[first])
        is_gain = policy == first or here is None or there is None or change.startswith(gain(here, there)) and (
            here == there or is_time(change.split(" ", 1)[1], abs(here - there)))
        checks = {"jobs": is_near(row["jobs"], due["jobs"], 1), "GPU hours": is_near(row["GPU hours"], due["hours"], 1),
                  "cost": is_near(row["cost"], due["hours"] * PRICE, 2), "wait mean": is_time(row["wait mean"], here),
                  "wait p95": is_time(row["wait p95"], quantile(waits[policy], .95) if waits[policy] else None),
                  "mean wait against the first policy": is_gain}
        breaks += [f"{policy}: {name} of {user} is {row[name]}, plainly {due}, {here}, {there}" for name, is_right in checks.items() if not is_right]
    return breaks


def of_rows(policy, jobs, it):
    """What differs in the hours that rows of jobs say; shared GPUs are divided into parts of ns."""
    plain = {job["id"]: it["of_job"].get(job["id"], 0) for job in jobs}
    return [f"{policy}: {job['id']} held {job['held']} ns by its row, plainly {plain[job['id']] * 3.6e12:.1f}" for job in jobs
            if abs(job["held"] - plain[job["id"]] * 3.6e12) > 1 + 1e-9 * job["held"]]


def of_sum(policy, bills, its):
    """Hours of all users, idle ones and those of nodes that were down are all that there were."""
    whole, users = sum(b["all"] for b in bills), sum(user["hours"] for one in its for user in one.values())
    rest = sum(b["all"] - b["held"] for b in bills)
    return [] if abs(whole - users - rest) < 1e-6 else [f"{policy}: users have {users} and others {rest} of {whole} GPU hours"]


def differences(gsim, seed, policies, folder):
    setup = draw(seed, all(policy in ITS_OWN for policy in policies))
    with open(os.path.join(folder, "trace.csv"), "w", newline="") as out:
        csv.writer(out).writerows([HEADER, *setup[2]])
    if setup[5]:
        write_cluster(setup, folder)
    seeds = (1, 2) if "--mtbf" in setup[3] else (1,)
    bills, its, breaks = {}, {}, []
    for policy in policies:
        is_its_own = policy in ITS_OWN
        for number in seeds:
            try:
                result, jobs, events = run(gsim, policy, setup, number, folder)
            except RuntimeError as error:
                return [f"{policy} ended with {error}"]
            it = bill(result, jobs, events, setup, is_its_own, number)
            breaks += of_rows(policy, jobs, it)
            bills.setdefault(policy, []).append(it)
            its.setdefault(policy, []).append(users(jobs, it, setup))
    done = subprocess.run([gsim, "report", "runs.db", "--price", str(PRICE), "--quiet", "-o", "page.html"], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": os.path.dirname(gsim)})  # without gnuplot, and so without figures
    if done.returncode != 0:
        return [f"the report ended with {done.stderr.strip()[:200]}"]
    with open(os.path.join(folder, "page.html")) as file:
        page = file.read()
    for policy in policies:
        breaks += of_sum(policy, bills[policy], its[policy])
        row = next((row for row in titled(page, "GPU hours") if row["policy"] == policy), None)
        breaks += of_bill(policy, bills[policy], row, setup) if row else [f"{policy} has no GPU hours"]
        breaks += of_users(policy, policies[0], its, titled(page, "Users"))
    return breaks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policies", help="these alone, comma separated")
    args = parser.parse_args()
    assert draw(MIXED, True)[5] and "--mtbf" in draw(MIXED, True)[3]
    names, failed = [name for name, _, _ in (*POLICIES, *MORE) if name != "muri"], False
    names = args.policies.split(",") if args.policies else names
    for at, policy in enumerate(names):
        breaks, other = [], names[at - 1]
        seeds = {*range(args.first, args.first + args.draws)} | ({MIXED} if {policy, other} <= {"fifo", "srtf"} else set())
        for seed in sorted(seeds):
            with tempfile.TemporaryDirectory() as folder:
                breaks += [f"{seed}: {text}" for text in differences(os.path.abspath(args.gsim), seed, (policy, other), folder)]
        failed |= tell(f"{policy}: bills of {len(seeds)} reports as summed plainly", breaks)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
