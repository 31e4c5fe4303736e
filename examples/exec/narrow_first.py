# SPDX-License-Identifier: GPL-3.0-or-later
"""A scheduler that gsim asks line by line: the job that asks for the fewest GPUs first.

    gsim --policy 'exec:python3 narrow_first.py' trace.csv
"""
import json
import sys


def answer(line, **fields):
    print(json.dumps({"n": line["n"], **fields}), flush=True)


cluster = json.loads(sys.stdin.readline())  # nodes, seed: the run is about to begin
answer(cluster)
waiting = []  # (GPUs, place in the trace)
for line in sys.stdin:
    state = json.loads(line)
    if "refused" in state:  # a job did not fit, and neither would a wider one
        refused = set(state["refused"])
        waiting += [entry for entry in asked if entry[1] in refused]
        answer(state)
    else:
        waiting += [(job["gpus"], job["job"]) for job in state["arrived"]]
        waiting.sort()
        idle, asked = sum(state["idle"]), []
        while waiting and waiting[0][0] <= idle:
            idle -= waiting[0][0]
            asked.append(waiting.pop(0))
        answer(state, plan=[{"place": job} for _, job in asked])
    waiting.sort()
