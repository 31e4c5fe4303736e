#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of gsim for the pairs that beside.py measured: with each host as fast as in the mean of both readings alone, and
as fast as it was in the pair. An iteration alone takes what it did alone, or what its host takes, and its time beyond
that alone, where the host takes longer than the kernels. Kernels take what they took in that session (twelve_h200.csv),
by name, blocks and threads, in place of what the programs' files say: EmbeddingBag of dlrm_infer 64 and not 52 us. The
programs of the files read a number after each iteration where those of twelve.py do not (READS), so that copy and its wait
are left out here.

    python3 twelve_pairs.py GSIM twelve_pairs_mps_h200.csv mps
"""
import collections
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
APPS = os.path.join(HERE, "..", "..", "models", "apps")
READS = ("llama_decode", "llama_prefill", "dlrm_infer", "mobilenet_infer")
ITERATIONS = 8  # of the slower program: with two, its first one begins before the other program is at work


# --- programs as that session had them ---

def base_name(name):
    """Without namespaces, template arguments and parameters."""
    name, depth, out = re.sub(r"^void |\(anonymous namespace\)|<unnamed>", "", name), 0, ""
    for c in name:
        if c == "(" and depth == 0:
            break
        depth += (c in "<(") - (c in ">)")
        out += c if depth == 0 and c not in ">)" else ""
    return out.split("::")[-1].strip()


def session_kernels():
    """us of a launch, by kind, and name, blocks and threads."""
    sums = collections.defaultdict(lambda: [0, 0.0])
    with open(os.path.join(HERE, "twelve_h200.csv")) as f:
        for row in csv.DictReader(f):
            one = sums[row["kind"], base_name(row["kernel"]), row["blocks"], row["threads"]]
            one[0] += int(row["launches"])
            one[1] += float(row["us"])
    return sums


def rows_of(path):
    with open(path) as f:
        lines = f.read().splitlines()
    head = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return lines[:head], list(csv.reader(lines[head:]))


def us_of_launches(columns, rows):
    """Of each kernel of a program: what tells it from others, and its launches' us."""
    cell = {c: i for i, c in enumerate(columns)}
    shape, own_us, us = {}, {}, collections.defaultdict(list)
    for row in rows:
        if row[0] == "kernel":
            shape[row[1]] = (re.sub(r"\.\d+$", "", row[1]), row[cell["blocks"]], row[cell["threads"]])
            own_us[row[1]] = float(row[cell["time_us"]] or 0)
        elif row[0] == "launch" and row[1] in shape:
            us[shape[row[1]]].append(float(row[cell["time_us"]] or own_us[row[1]]))
    return shape, us


def scales(kind, us, session):
    """Of each kernel, times as long in the session as in the program's file; others are more than twice as long or short
    only where kernels of one name and size differ."""
    out = {}
    for (name, blocks, threads), times in us.items():
        alike = [one for key, one in session.items() if key[0] == kind and key[2:] == (blocks, threads)
                 and (key[1].startswith(name) or name.startswith(key[1]))]
        if alike and sum(times) > 0:
            by = sum(one[1] for one in alike) / sum(one[0] for one in alike) / statistics.fmean(times)
            if 0.5 < by < 2:
                out[name, blocks, threads] = by
    return out


def reads(row):
    return row[0] == "wait" or row[1].startswith("Memcpy_DtoH")


def write_program(kind, session, folder):
    """Returns the ms of its kernels."""
    comments, (columns, *rows) = rows_of(os.path.join(APPS, f"h200-{kind.replace('_', '-')}.csv"))
    rows = [row for row in rows if kind not in READS or not reads(row)]
    shape, us = us_of_launches(columns, rows)
    by = scales(kind, us, session)
    times = [columns.index(c) for c in ("time_us", "small_l1_us") if c in columns]
    for row in rows:
        for i in times if row[0] in ("kernel", "launch") else []:
            row[i] = f"{float(row[i]) * by.get(shape.get(row[1]), 1):.3f}" if row[i] else ""
    with open(os.path.join(folder, kind + ".csv"), "w") as f:
        csv.writer(f, lineterminator="\n").writerows([columns, *rows])
    return sum(sum(times) * by.get(one, 1) for one, times in us.items()) / 1e3


# --- pairs ---

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


def iteration_ms(readings, kernels_ms, host_ms):
    if statistics.fmean(host for _, host in readings) <= kernels_ms:
        return min(length for length, _ in readings)
    return max(kernels_ms, host_ms + statistics.fmean(length - host for length, host in readings))


def simulated(gsim, policy, alone, pair, is_of_pair, folder, kernels_ms):
    counts, rows = {}, ["job_id,submit_s,iterations,duration_s,host_ms,app"]
    seconds = ITERATIONS / min(rate for _, rate, _ in pair)
    for kind, rate, host_ms in pair:
        counts[kind] = n = round(rate * seconds)
        host_ms = host_ms if is_of_pair else statistics.fmean(host for _, host in alone[kind])
        length = iteration_ms(alone[kind], kernels_ms[kind], host_ms)
        rows.append(f"{kind},0,{n},{n * length / 1e3:.6f},{host_ms:.4f},{folder}/{kind}.csv")
    trace, out = os.path.join(folder, "pair.csv"), os.path.join(folder, "jobs.csv")
    with open(trace, "w") as f:
        f.write("\n".join(rows) + "\n")
    subprocess.run([gsim, "--policy", policy, "--device", "h200", "--quiet", "--jobs-csv", out, trace], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out) as f:
        return {row["job_id"]: counts[row["job_id"]] / float(row["jct_s"]) for row in csv.DictReader(f)}


def show_errors(gsim, path, policy, folder):
    alone, pairs = read(path)
    session = session_kernels()
    kernels_ms = {kind: write_program(kind, session, folder) for kind in alone}
    for is_of_pair in (False, True):
        errors = []
        for pair in pairs:
            rates = simulated(gsim, policy, alone, pair, is_of_pair, folder, kernels_ms)
            for (kind, rate, _), other in zip(pair, reversed(pair)):
                errors.append((100 * (rates[kind] / rate - 1), f"{kind} beside {other[0]}", rates[kind], rate))
        sizes = sorted((abs(e[0]) for e in errors), reverse=True)
        print(f"hosts as {'in the pair' if is_of_pair else 'alone'}: {len(errors)} rates, mean {statistics.fmean(sizes):.1f} %, "
              f"median {statistics.median(sizes):.1f} %, with signs {statistics.fmean(e[0] for e in errors):+.1f} %")
        for error, what, rate, real in sorted(errors, key=lambda e: -abs(e[0]))[:12]:
            print(f"  {error:+7.1f} %  {what}: {rate:.1f}, measured {real:.1f}")


def main():
    gsim, path, policy = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        show_errors(gsim, path, policy, folder)


if __name__ == "__main__":
    main()
