# SPDX-License-Identifier: GPL-3.0-or-later
"""Replays what a scheduler that exists has decided, from a file: time_s,verb,job_id and maybe node.

    gsim --policy 'exec:python3 replay.py decisions.csv' trace.csv

The verb is start or stop, the node a number from 0. A decision that cannot be followed yet (the job has
not come, its GPUs are not free) is followed at the next event at which it can; how late stands at the end
on standard error.
"""
import collections
import csv
import json
import sys
from decimal import Decimal


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = [{**row, "at": int(Decimal(row["time_s"]) * 10**9)} for row in csv.DictReader(file)]
    wrong = [row for row in rows if row["verb"] not in ("start", "stop")]
    if wrong:
        sys.exit(f"{path}: '{wrong[0]['verb']}' is neither start nor stop")
    rows.sort(key=lambda row: row["at"])
    for place, row in enumerate(rows):
        row["place"] = place
    return rows


def order(row, job):
    if row["verb"] == "stop":
        return {"preempt": job}
    return {"place": job, **({"node": int(row["node"])} if row.get("node") else {})}


def follow(ready, state, number_of, waiting):
    """The decisions that can be followed now, in order; of a job only the first."""
    running, taken, now = {entry["job"] for entry in state["running"]}, set(), []
    for row in ready:
        job = number_of.get(row["job_id"])
        if job not in taken and job in (waiting if row["verb"] == "start" else running):
            now.append(row)
        taken.add(job)
    return now


future, ready = collections.deque(read(sys.argv[1])), []
late, number_of, waiting = [0] * len(future), {}, set()
hello = json.loads(sys.stdin.readline())
print(json.dumps({"n": hello["n"]}), flush=True)
for line in sys.stdin:
    state, plan = json.loads(line), []
    if "refused" in state:  # of the decisions asked for, these do not fit
        back = [row for row in asked if number_of[row["job_id"]] in state["refused"]]
        waiting |= set(state["refused"])
        ready = sorted(ready + back, key=lambda row: row["place"])
    else:
        number_of.update((job["id"], job["job"]) for job in state["arrived"])
        waiting -= set(state["ended"])
        waiting |= {job["job"] for job in state["arrived"]}
        waiting |= {entry["job"] for entry in state["settled"] if entry["state"] != "running"}
        while future and future[0]["at"] <= state["now_ns"]:
            ready.append(future.popleft())
        asked = follow(ready, state, number_of, waiting)
        ready = [row for row in ready if row not in asked]
        plan = [order(row, number_of[row["job_id"]]) for row in asked]
        waiting -= {number_of[row["job_id"]] for row in asked}
    for row in asked:
        late[row["place"]] = state["now_ns"] - row["at"]
    wake = future[0]["at"] if future else None
    print(json.dumps({"n": state["n"], "plan": plan, "wake_ns": wake}), flush=True)
print(f"replay: {len(ready) + len(future)} decisions were not followed, {sum(ns > 0 for ns in late)} late, "
      f"by at most {max(late, default=0) / 1e9:g} s", file=sys.stderr)
