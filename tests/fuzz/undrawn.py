#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What random_runs.py never draws, of the program's own lists: settings of policies, columns of traces, flags of a run.

    undrawn.py GSIM [--cases N]

Each has a reason below, or is a failure; so is a reason for something that is drawn, or that is no more.
"""
import argparse
import os
import re
import subprocess
import sys

import random_runs

SITE = "a file of a site; tests/cli has drawn ones of its own"
DRIVE = "gsim drive alone reads it"
LOG = "what a log says of its own runs; no policy sees it"
OTHER_INPUT = "the cluster or the trace is drawn in another way"
APART = "how results are kept or shown, not what is simulated"
FORMAT = "a file of one of the formats that are imported"
REASONS = {
    "setting slurm.conf": SITE, "setting slurm.start": SITE, "setting kueue.conf": "--kueue-conf is the flag for it",
    "setting tiresias.queues": "a list of rising numbers; unit/test_policies has them", "setting tiresias.history": SITE,
    "setting gavel.shares": "a file of shares of one trace", "setting gavel.user_weights": "a list of users",
    "setting mig.layout": "depends on the device; property/test_partitions draws layouts",
    "column logged_start_s": LOG, "column logged_end_s": LOG, "column logged_nodes": LOG, "column logged_priority": LOG, "column ran_on": LOG,
    "column batch_mode": FORMAT, "column command": DRIVE, "column save_command": DRIVE, "column x_...": "it is passed over",
    "column qos": SITE, "column billing": SITE,
    "flag --policy-timeout": "for policies in other processes", "flag --device": OTHER_INPUT, "flag --nodes": OTHER_INPUT,
    "flag --gpus-per-node": OTHER_INPUT, "flag --host-mem": OTHER_INPUT, "flag --cpus-per-node": OTHER_INPUT,
    "flag --slurm-conf": SITE, "flag --assume": "columns that are missing are drawn", "flag --by-model": FORMAT,
    "flag --gpu-mem": FORMAT, "flag --log-from": LOG, "flag --trace-format": FORMAT, "flag --spec": "for workloads of a specification",
    "flag --resample": "other jobs than those drawn", "flag --block": "with --resample", "flag --near": "with --resample",
    "flag --strict": "refuses what is passed over", "flag --by": APART, "flag --keep": APART, "flag --keep-old": APART,
    "flag --replace-old": APART, "flag --keep-inputs": APART, "flag --live": APART, "flag --force": APART, "flag --verbose": APART,
    "flag --help": "no run", "flag --version": "no run",
}


def listed(gsim, lists):
    flags = subprocess.run([gsim, "run", "--help"], capture_output=True, text=True, check=True).stdout
    every = [f"setting {policy}.{name}" for policy in lists.policies for name, _, _ in lists.settings[policy]]
    every += [f"column {line.split()[0]}" for line in random_runs.lines_of(gsim, "columns")]
    return every + [f"flag {flag}" for flag in re.findall(r"^  (--[a-z-]+)", flags, re.M)]


def drawn_by(case):
    head, rows = case.rows[0], case.rows[1:]
    filled = {name for at, name in enumerate(head) if any(str(row[at]) != "" for row in rows)}
    return {f"setting {case.policy}.{text.split('=')[0].split('.')[-1]}" for text in case.sets} | {f"column {name}" for name in filled} \
        | {f"flag {word}" for word in case.words if word.startswith("--")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--cases", type=int, default=3000)
    args = parser.parse_args()
    gsim = os.path.abspath(args.gsim)
    lists, drawn = random_runs.Lists(gsim), set()
    for seed in range(args.cases):
        drawn |= drawn_by(random_runs.Case(seed, lists))
    every = listed(gsim, lists)
    wrong = [f"{name} is never drawn, and has no reason" for name in every if name not in drawn and name not in REASONS]
    wrong += [f"{name} has a reason, and is drawn" for name in REASONS if name in drawn]
    wrong += [f"{name} has a reason, and is not in the lists" for name in REASONS if name not in every]
    for text in wrong:
        print(f"# {text}")
    print(f"{'not ok' if wrong else 'ok'} of {len(every)} settings, columns and flags each is drawn, or has a reason")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
