#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables `day_pairs` and `day_pairs_hosts` of experiments/validate/h200 from beside_h200.csv, in which all
pairs of the day's programs ran for a second: each job has as many iterations as it made in half of one.

    python3 pairs.py ../validate/h200
"""
import collections
import csv
import os
import sys

MEM_GIB = {"vit_train": 3.34, "bert_infer": 0.86, "gpt2_train": 5.33, "mobilenet_infer": 0.06, "gemm_chain": 0.28,
           "resnet50_train": 2.35, "dlrm_infer": 0.45, "llama_prefill": 2.87, "lstm_train": 1.19}
# ms of all kernels of an iteration (README.md).
KERNELS_MS = {"vit_train": 18.21, "gpt2_train": 16.51, "bert_infer": 5.16, "llama_prefill": 2.59, "resnet50_train": 18.92,
              "mobilenet_infer": 0.609, "lstm_train": 5.11, "dlrm_infer": 0.260, "gemm_chain": 8.93}
ALONE, PAIRS = range(9), range(18, 54)
SECONDS = 0.5
HEAD = """# SPDX-License-Identifier: GPL-3.0-or-later
title = {title}
source = measured on one NVIDIA H200 (driver 580.159.04, PyTorch 2.11, 2026-11-28): experiments/l1/beside_h200.csv
mean_bound = {mean_bound}
policy = mps
device = h200
"""
# What differs between the tables: name, title, bound of the mean, of a row, and what is said of it.
TABLES = (("day_pairs", "All pairs of nine PyTorch jobs under MPS, hosts as they were alone", 7, 45, """\
# All pairs of the programs of the longer day (docs/drive.md) on one H200, 1.05 s each, as clients of MPS. Each has
# the length of an iteration that it had alone in that session. Hosts changed between the readings, which no model of a
# GPU can know: with the host's times of the pair itself (table day_pairs_hosts) the mean error is half. No constant
# comes from here.
"""), ("day_pairs_hosts", "All pairs of nine PyTorch jobs under MPS, hosts as they were in the pair", 3.5, 20, """\
# Table day_pairs, but that each host takes as long to launch an iteration as it did within the pair. Where it takes
# longer alone than the kernels do, an iteration alone has the length that it had, and the difference of the host's
# times. No constant comes from here.
"""))


def readings():
    alone, pairs = {}, collections.defaultdict(list)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "beside_h200.csv")) as f:
        for row in csv.DictReader(f):
            if int(row["phase"]) in ALONE:
                alone[row["kind"]] = row
            elif int(row["phase"]) in PAIRS:
                pairs[row["phase"]].append(row)
    return alone, pairs.values()


def job(row, alone, has_hosts):
    kind, rate = row["kind"], float(row["iterations_per_s"])
    n, host, host_alone = max(1, round(rate * SECONDS)), float(row["host_ms"]), float(alone["host_ms"])
    length = 1e3 / float(alone["iterations_per_s"])
    if has_hosts and host_alone > KERNELS_MS[kind]:
        length += host - host_alone
    cells = [kind, 0, n, f"{n * length / 1e3:.6f}", *([row["host_ms"]] if has_hosts else []), MEM_GIB[kind],
             "h200-day-" + kind.replace("_", "-")]
    return n, "job = " + ",".join(map(str, cells)) + "\n"


def write(folder, name, title, mean_bound, bound, says):
    has_hosts = name.endswith("_hosts")
    alone, pairs = readings()
    columns = "job_id,submit_s,iterations,duration_s," + ("host_ms," if has_hosts else "") + "mem_gib,app"
    setups = HEAD.format(title=title, mean_bound=mean_bound)
    rows = says + "scenario,what,simulated,reference,unit,bound,use\n"
    for pair in pairs:
        kinds = [row["kind"] for row in pair]
        scenario = "_beside_".join(kinds)
        setups += f"\n[{scenario}]\ncolumns = {columns}\n"
        for row, other in zip(pair, reversed(kinds)):
            kind = row["kind"]
            n, line = job(row, alone[kind], has_hosts)
            setups += line
            rows += f"{scenario},rate of {kind} beside {other},{n} / jct_s({kind}),{row['iterations_per_s']},1/s,{bound}%,\n"
    for end, text in (("ini", setups), ("csv", rows)):
        with open(os.path.join(folder, f"{name}.{end}"), "w") as f:
            f.write(text)


if __name__ == "__main__":
    for table in TABLES:
        write(sys.argv[1], *table)
