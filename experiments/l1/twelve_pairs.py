#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of gsim for the pairs that beside.py measured: with each host as fast as in the mean of both readings alone, and
as fast as it was in the pair. An iteration alone takes what it did alone, or what its host takes, and its time beyond
that alone, where the host takes longer than the kernels.

    python3 twelve_pairs.py GSIM twelve_pairs_mps_h200.csv mps
"""
import collections
import csv
import os
import statistics
import subprocess
import sys
import tempfile

# ms of all kernels of an iteration: models/apps/h200-*.csv.
KERNELS_MS = {"resnet50_train": 15.1, "vit_train": 31.8, "unet_train": 10.0, "lstm_train": 5.3, "gpt2_small_train": 11.8,
              "llama_prefill": 5.3, "llama_decode": 1.1, "dlrm_infer": 1.0, "mobilenet_infer": 0.44, "gemm_chain": 9.9,
              "bert_infer": 3.6, "gnn_train": 7.7}
SECONDS = 0.5


def read(path):
    phases, alone, pairs = collections.defaultdict(list), collections.defaultdict(list), []
    with open(path) as f:
        for row in csv.DictReader(f):
            phases[row["phase"]].append((row["kind"], float(row["iterations_per_s"]), float(row["host_ms"])))
    for rows in phases.values():
        if len(rows) == 1:
            alone[rows[0][0]].append((1e3 / rows[0][1], rows[0][2]))
        else:
            pairs.append(rows)
    return alone, pairs


def iteration_ms(readings, kind, host_ms):
    if statistics.fmean(host for _, host in readings) <= KERNELS_MS[kind]:
        return min(length for length, _ in readings)
    return max(KERNELS_MS[kind], host_ms + statistics.fmean(length - host for length, host in readings))


def simulated(gsim, policy, alone, pair, is_of_pair):
    counts, rows = {}, ["job_id,submit_s,iterations,duration_s,host_ms,app"]
    for kind, rate, host_ms in pair:
        counts[kind] = n = max(2, round(rate * SECONDS))
        host_ms = host_ms if is_of_pair else statistics.fmean(host for _, host in alone[kind])
        length = iteration_ms(alone[kind], kind, host_ms)
        rows.append(f"{kind},0,{n},{n * length / 1e3:.6f},{host_ms:.4f},h200-{kind.replace('_', '-')}")
    with tempfile.TemporaryDirectory() as folder:
        trace, out = os.path.join(folder, "pair.csv"), os.path.join(folder, "jobs.csv")
        with open(trace, "w") as f:
            f.write("\n".join(rows) + "\n")
        subprocess.run([gsim, "--policy", policy, "--device", "h200", "--quiet", "--jobs-csv", out, trace], check=True,
                       stdout=subprocess.DEVNULL)
        with open(out) as f:
            return {row["job_id"]: counts[row["job_id"]] / float(row["jct_s"]) for row in csv.DictReader(f)}


def main():
    gsim, path, policy = sys.argv[1:]
    alone, pairs = read(path)
    for is_of_pair in (False, True):
        errors = []
        for pair in pairs:
            rates = simulated(gsim, policy, alone, pair, is_of_pair)
            for (kind, rate, _), other in zip(pair, reversed(pair)):
                errors.append((100 * (rates[kind] / rate - 1), f"{kind} beside {other[0]}", rates[kind], rate))
        sizes = sorted((abs(e[0]) for e in errors), reverse=True)
        print(f"hosts as {'in the pair' if is_of_pair else 'alone'}: {len(errors)} rates, mean {statistics.fmean(sizes):.1f} %, "
              f"median {statistics.median(sizes):.1f} %, with signs {statistics.fmean(e[0] for e in errors):+.1f} %")
        for error, what, rate, real in sorted(errors, key=lambda e: -abs(e[0]))[:12]:
            print(f"  {error:+7.1f} %  {what}: {rate:.1f}, measured {real:.1f}")


if __name__ == "__main__":
    main()
