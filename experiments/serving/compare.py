#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds `gsim serve` against the server of server.py: its steps, one by one, and its runs.

    python3 compare.py GSIM keys      # keys of models.ini, from its kernels and steps alone
    python3 compare.py GSIM steps     # by these keys: each step's error
    python3 compare.py GSIM           # its runs by models.ini
"""
import csv
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS, HEADS, KV_HEADS, DIM = 32, 32, 8, 128
PEAK, BANDWIDTH, SMS = 989.5e12, 3975.8e9, 132  # fp16_flops_per_s, hbm_bytes_per_s and sms of models/devices/h200.ini
WEIGHTS, HEAD, HEAD_ROWS = 32 * (4096 * 6144 + 4096 * 4096 + 3 * 14336 * 4096), 128256 * 4096, 128
TOKEN_BYTES = 2 * 2 * LAYERS * KV_HEADS * DIM  # of keys and values
PAD_TOKENS, PAD_SEQUENCES, TILE, SM_BLOCKS, SPLITS = 64, 8, 64, 2, 8  # of server.py; blocks an SM: 512 tokens take as long as 64
SLOTS = SMS * SM_BLOCKS
SMALL = ["--spec", "llama.memory=18996002816B"]  # 1400 blocks of 2 MiB beside the weights
SWAP = [*SMALL, "--spec", "llama.preempt=swap", "--spec"]
RUNS = {"busy": ("busy", []), "busy_again": ("busy", []), "full": ("full", SMALL), "full_again": ("full", SMALL),
        "swap": ("full", [*SWAP, "llama.swap_memory=2800MiB"]), "small": ("full", [*SWAP, "llama.swap_memory=128MiB"])}


def rows_of(name):
    with open(os.path.join(HERE, name)) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


# --- the equation of docs/models/serving.md, in ms ---

def up(n, unit):
    return -(-n // unit) * unit


def products_ms(tokens, emitted, compute, memory):
    return 1e3 * max(2 * (WEIGHTS * tokens + HEAD * emitted) / (PEAK * compute), 2 * (WEIGHTS + HEAD) / (BANDWIDTH * memory))


def last_slot(lengths, each):
    """What the slot goes over that is done last, where each of these has as many blocks."""
    return statistics.fmean(lengths) * ((len(lengths) * each - 1) // SLOTS) + max(lengths)


def parts_ms(parts, efficiency, memory):
    tiles = [c + min(n, at + TILE) for n, c in parts for at in range(0, n, TILE)]
    flops = 4 * LAYERS * DIM * TILE * last_slot(tiles, HEADS) * SLOTS
    return 1e3 * max(flops / (PEAK * efficiency), TOKEN_BYTES * sum(c + 2 * n for n, c in parts) / (BANDWIDTH * memory))


def ones_ms(contexts, memory):
    each = KV_HEADS * SPLITS
    return 1e3 * TOKEN_BYTES * last_slot([c + 2 for c in contexts], each) * SLOTS / each / (BANDWIDTH * memory)


def step_ms(parts, contexts, keys):
    """parts: (tokens, context); contexts: of sequences with one token."""
    tokens = up(sum(n for n, _ in parts) + len(contexts), PAD_TOKENS) if parts else up(len(contexts), PAD_SEQUENCES)
    ms = keys["host"] + (keys["host_part"] if parts else 0)
    ms += keys["per_sequence"] * (len(parts) + len(contexts) if parts else tokens)
    ms += products_ms(tokens, len(parts) + len(contexts), keys["compute"], keys["memory"])
    ms += 1e3 * keys["activations"] * tokens / (BANDWIDTH * keys["memory"])
    ms += parts_ms(parts, keys["attention"], keys["memory"]) if parts else 0
    return ms + (ones_ms(contexts, keys["memory"]) if contexts else 0)


# --- steps that were measured ---

def steps():
    for row in rows_of("steps_h200.csv"):
        yield ([(int(row["prompt_tokens"]), int(row["prompt_context"]))] * int(row["prompts"]),
               [int(row["context"])] * int(row["sequences"]), float(row["wall_ms"]))


def drawn():
    for row in rows_of("drawn_h200.csv"):
        yield ([tuple(map(int, one.split("+"))) for one in row["prompts"].split()], [*map(int, row["sequences"].split())],
               float(row["wall_ms"]))


def errors(rows, keys):
    return [step_ms(parts, contexts, keys) / wall - 1 for parts, contexts, wall in rows]


def off(found):
    return statistics.fmean(map(abs, found))


def kernels(kind):
    rows = (r for r in rows_of("kernels_h200.csv") if r["kind"] == kind)
    return [(int(r["count"]), int(r["tokens"]), int(r["context"]), float(r["ms"])) for r in rows]


def keys_of_kernels():
    """Products of one token give the bandwidth; what else there is but attention, beside that of one token, the bytes of
    activations (where weights bound products: from 64 tokens on a median, to 256); then all of it the peak's part, and
    attention of parts its own."""
    products, others = ({n: ms for n, _, _, ms in kernels(kind)} for kind in ("products", "but_attention"))
    memory = round(2 * (WEIGHTS + HEAD) / BANDWIDTH / (products[1] * 1e-3), 3)
    fixed = others[1] - products[1]
    each = statistics.median((others[n] - products[n] - fixed) / (n - 1) for n in (64, 96, 128, 192, 256))
    activations = round(each * 1e-3 * BANDWIDTH * memory, -5)

    def compute_off(compute):
        return off([(fixed + each * n + products_ms(n, min(n, HEAD_ROWS), compute, memory)) / ms - 1 for n, ms in others.items()])

    def attention_off(part):
        return off([parts_ms([(n, c)] * count, part, memory) / ms - 1 for count, n, c, ms in kernels("attention_of_parts")])
    grid = [i / 1000 for i in range(100, 1000)]
    return {"memory": memory, "activations": activations, "compute": min(grid, key=compute_off),
            "attention": min(grid, key=attention_off)}


def keys_of():
    """The rest from steps_h200.csv: what steps take beside kernels, by step, by step with a part of a prompt, by sequence."""
    keys = keys_of_kernels()
    rest = {"host": 0, "host_part": 0, "per_sequence": 0}
    found = []
    for parts, contexts, wall in steps():
        n = len(parts) + len(contexts) if parts else up(len(contexts), PAD_SEQUENCES)
        found.append((step_ms(parts, contexts, keys | rest), bool(parts), n, wall))
    grid = ((h / 20, p / 20, s / 1000) for h in range(20, 61) for p in range(31) for s in range(41))
    best = min(grid, key=lambda k: sum(abs((ms + k[0] + k[1] * has + k[2] * n) / wall - 1) for ms, has, n, wall in found))
    return keys | dict(zip(rest, best))


def show_keys():
    keys = keys_of()
    print(f"compute_efficiency = {keys['compute']:.1%}\nmemory_efficiency = {keys['memory']:.1%}\nhost = {keys['host']}ms\n"
          f"host_part = {keys['host_part']}ms\nper_sequence = {1e3 * keys['per_sequence']:.0f}us\n"
          f"activations = {keys['activations']:.0f}B\nattention_efficiency = {keys['attention']:.1%}")


def show_steps():
    keys = keys_of()
    for name, rows in (("steps", [*steps()]), ("drawn", [*drawn()])):
        found = errors(rows, keys)
        print(f"{name}: mean error {off(found):.1%}, mean {statistics.fmean(found):+.1%}")
        for (parts, contexts, wall), error in zip(rows, found):
            print(f"  {' '.join(f'{n}+{c}' for n, c in parts) or 'no part'}, {len(contexts)} sequences"
                  f"{f' to {max(contexts)}' if contexts else ''}: {wall} ms, {error:+.0%}")


# --- runs ---

def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def times(rows, tokens):
    first = [float(r["ttft_s"]) for r in rows]
    last = [float(r["latency_s"]) for r in rows]
    each = [(b - a) / max(1, tokens[r["request_id"]] - 1) for a, b, r in zip(first, last, rows)]
    return {"ttft": first, "latency": last, "tpot": each}


def show_run(gsim, name, trace, more):
    tokens = {r["request_id"]: int(r["output_tokens"]) for r in rows_of(trace + ".csv")}
    real = rows_of(name + "_h200.csv")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.csv")
        text = subprocess.run([gsim, "serve", "--quiet", "--device", "h200", "--models", os.path.join(HERE, "models.ini"), *more,
                               "--requests-csv", out, os.path.join(HERE, trace + ".csv")], check=True, capture_output=True, text=True).stdout
        with open(out) as f:
            by_id = {r["request_id"]: r for r in csv.DictReader(f)}
    said = {line.split()[0]: line.split()[1] for line in text.splitlines()[1:] if len(line.split()) > 1}
    with open(os.path.join(HERE, name + "_h200.csv")) as f:
        steps = f.readline().split()[1]
    print(f"{name}: steps {steps}, gsim {said['steps']}; preemptions {sum(int(r['preemptions']) for r in real)}, "
          f"gsim {said['preemptions']}; to the host {sum(int(r.get('swaps', 0)) for r in real)}, gsim {said['swaps']}")
    ours = times([by_id[r["request_id"]] for r in real], tokens)
    for what, values in times(real, tokens).items():
        other = ours[what]
        by_request = statistics.fmean(abs(b / a - 1) for a, b in zip(values, other))
        cells = [(statistics.fmean(values), statistics.fmean(other))]
        cells += [(quantile(values, p), quantile(other, p)) for p in (0.5, 0.99)]
        print(f"  {what}: " + "; ".join(f"{k} {a:.4f} s, gsim {b:.4f} ({b / a - 1:+.1%})" for k, (a, b) in
                                        zip(("mean", "median", "p99"), cells)) + f"; by request {by_request:.1%}")


def main():
    if sys.argv[2:]:
        {"keys": show_keys, "steps": show_steps}[sys.argv[2]]()
        return
    for name, (trace, more) in RUNS.items():
        show_run(sys.argv[1], name, trace, more)


if __name__ == "__main__":
    main()
