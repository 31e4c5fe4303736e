#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds `gsim serve` against the server of server.py: its steps, one by one, and its runs.

    python3 compare.py GSIM steps     # the keys with which its steps are nearest to the equation, and each step's error
    python3 compare.py GSIM           # its runs by models.ini
"""
import csv
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, HEADS, DIM = 32, 32, 128
PEAK, BANDWIDTH = 989.5e12, 3975.8e9  # fp16_flops_per_s and hbm_bytes_per_s of models/devices/h200.ini
WEIGHTS, HEAD = 32 * (4096 * 6144 + 4096 * 4096 + 3 * 14336 * 4096), 128256 * 4096
KV_NUMBERS = 2 * LAYERS * 8 * DIM
RUNS = {"busy": [], "full": ["--spec", "llama.memory=18996002816B"]}


def rows_of(name):
    with open(os.path.join(HERE, name)) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def step_ms(row, compute, memory, host_ms):
    """The equation of docs/models/serving.md."""
    parts = [(1, int(row["context"]))] * int(row["sequences"])
    parts += [(int(row["prompt_tokens"]), int(row["prompt_context"]))] * int(row["prompts"])
    tokens = sum(n for n, _ in parts)
    products = max(2 * (WEIGHTS * tokens + HEAD * len(parts)) / (PEAK * compute), 2 * (WEIGHTS + HEAD) / (BANDWIDTH * memory))
    pairs = sum(n * c + n * (n + 1) / 2 for n, c in parts)
    kept = sum(c + n for n, c in parts) + tokens
    attention = max(4 * LAYERS * HEADS * DIM * pairs / (PEAK * compute), 2 * KV_NUMBERS * kept / (BANDWIDTH * memory))
    return host_ms + 1e3 * (products + attention)


def errors(rows, *keys):
    return [step_ms(row, *keys) / float(row["wall_ms"]) - 1 for row in rows]


def show_steps():
    rows = rows_of("steps_h200.csv")
    grid = ((c / 100, m / 100, h / 10) for c in range(45, 76) for m in range(60, 131) for h in range(41))
    keys = min(grid, key=lambda one: sum(map(abs, errors(rows, *one))))
    found = errors(rows, *keys)
    print(f"compute_efficiency {keys[0]:.0%}, memory_efficiency {keys[1]:.0%}, host {keys[2]} ms: "
          f"mean error {statistics.fmean(map(abs, found)):.1%}")
    for row, error in zip(rows, found):
        print(f"  {row['prompts']} x {row['prompt_tokens']} behind {row['prompt_context']}, {row['sequences']} behind "
              f"{row['context']}: {row['wall_ms']} ms, {error:+.0%}")


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def times(rows, tokens):
    first = [float(r["ttft_s"]) for r in rows]
    last = [float(r["latency_s"]) for r in rows]
    each = [(b - a) / max(1, tokens[r["request_id"]] - 1) for a, b, r in zip(first, last, rows)]
    return {"ttft": first, "latency": last, "tpot": each}


def show_run(gsim, name, more):
    trace = os.path.join(HERE, name + ".csv")
    tokens = {r["request_id"]: int(r["output_tokens"]) for r in rows_of(name + ".csv")}
    real = rows_of(name + "_h200.csv")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")
        text = subprocess.run([gsim, "serve", "--quiet", "--device", "h200", "--models", os.path.join(HERE, "models.ini"), *more,
                               "--requests-csv", out, trace], check=True, capture_output=True, text=True).stdout
        with open(out) as f:
            by_id = {r["request_id"]: r for r in csv.DictReader(f)}
    said = {line.split()[0]: line.split()[1] for line in text.splitlines()[1:] if len(line.split()) > 1}
    with open(os.path.join(HERE, name + "_h200.csv")) as f:
        steps = f.readline().split()[1]
    print(f"{name}: steps {steps}, gsim {said['steps']}; preemptions {sum(int(r['preemptions']) for r in real)}, "
          f"gsim {said['preemptions']}")
    ours = times([by_id[r["request_id"]] for r in real], tokens)
    for what, values in times(real, tokens).items():
        other = ours[what]
        by_request = statistics.fmean(abs(b / a - 1) for a, b in zip(values, other))
        cells = [(statistics.fmean(values), statistics.fmean(other))]
        cells += [(quantile(values, p), quantile(other, p)) for p in (0.5, 0.99)]
        print(f"  {what}: " + "; ".join(f"{k} {a:.4f} s, gsim {b:.4f} ({b / a - 1:+.1%})" for k, (a, b) in
                                        zip(("mean", "median", "p99"), cells)) + f"; by request {by_request:.1%}")


def main():
    if sys.argv[2:] == ["steps"]:
        show_steps()
        return
    for name, more in RUNS.items():
        show_run(sys.argv[1], name, more)


if __name__ == "__main__":
    main()
