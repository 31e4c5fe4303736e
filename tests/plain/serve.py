#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`gsim serve` beside a plain server in Python, written from docs/models/serving.md alone: each request of random ones has its
first and its last token in one nanosecond in both, and the results are those that the walk adds up.

    serve.py GSIM [--draws N] [--first SEED]"""
import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
from decimal import Decimal
from exact import Fraction

from results import quantile

S = 10**9
BITS = {"fp32": "fp32_flops_per_s", "tf32": "tf32_flops_per_s", "fp16": "fp16_flops_per_s", "int8": "int8_ops_per_s"}
KINDS = ("one", "small", "swapped", "awake", "asleep", "quanta")
AGAIN = {"quanta": (65,)}  # two models have had requests as long, one of them as it was put to sleep


def ceil(ratio):
    return -(-ratio.numerator // ratio.denominator)


# --- a draw ---------------------------------------------------------------------------------------


class Model:
    def __init__(self, r, name, kind):
        self.name = name
        self.kv_heads = r.choice([1, 2, 4])
        self.heads = self.kv_heads * r.choice([1, 2, 4])
        self.layers, self.hidden, self.head_dim = r.choice([1, 2, 5]), r.choice([1, 8, 64]), r.choice([1, 8, 16])
        self.vocabulary, self.is_tied = r.choice([1, 10, 100]), r.random() < 0.5
        self.head = self.vocabulary * self.hidden
        self.parameters = self.head * (1 if self.is_tied else 2) + r.randint(1, 10**6)
        self.inner = self.parameters - self.head * (1 if self.is_tied else 2)
        self.weight_bits, self.kv_bits = r.choice([4, 8, 16, 32]), r.choice([8, 16, 32])
        self.precision = r.choice([*BITS])
        self.compute, self.bandwidth = r.choice([1_000_000, 590_000, 330_000]), r.choice([1_000_000, 780_000])  # ppm
        self.host = r.choice([0, 0, 10**6, r.randint(1, 10**7)])
        self.block_tokens = r.choice([1, 2, 4, 16])
        self.batch_tokens, self.sequences = r.choice([1, 3, 8, 64, 8192]), r.choice([1, 2, 3, 8, 1024])
        self.draw_kernels(random.Random(self.parameters))
        self.batching = r.choice(["step", "step", "step", "request"])
        self.numbers = 2 * self.layers * self.kv_heads * self.head_dim  # of keys and values, a token
        self.block_bytes = ceil(Fraction(self.block_tokens * self.numbers * self.kv_bits, 8))
        self.weights = ceil(Fraction(self.parameters * self.weight_bits, 8))
        self.other = r.choice([0, 0, 12345])
        self.blocks = r.choice([4, 8, 12, 20]) if kind != "one" else r.choice([30, 1000])
        self.memory = self.weights + self.other + self.blocks * self.block_bytes + r.randrange(self.block_bytes)
        self.swaps = kind == "swapped" and r.random() < 0.9
        self.host_blocks = r.choice([1, 2, 4, 10, 100])
        self.ends_when_full = self.swaps and random.Random(self.parameters).random() < 0.3
        self.swap_memory = self.host_blocks * self.block_bytes + r.randrange(self.block_bytes)
        self.ttft, self.tpot = r.choice([None, r.randint(1, 10**8)]), r.choice([None, r.randint(1, 10**7)])

    def draw_kernels(self, r):
        """From a stream of their own, so that the other draws stay as they are."""
        self.pad_tokens, self.pad_sequences = r.choice([1, 1, 2, 7, 64]), r.choice([1, 1, 2, 8])
        self.host_part, self.per_sequence = r.choice([0, 0, 500_000, r.randint(1, 10**6)]), r.choice([0, 0, 18_000, 777])
        self.activations = r.choice([0, 0, 1, 123_456])
        self.tile, self.splits = r.choice([None, 1, 2, 5, 16, 64]), r.choice([None, 1, 2, 8])
        self.sm_blocks = r.choice([1, 2, 3])
        self.attention = r.choice([None, 1_000_000, 250_000])  # ppm

    def kernels(self):
        keys = {"pad_tokens": self.pad_tokens, "pad_sequences": self.pad_sequences, "host_part": f"{self.host_part}ns",
                "per_sequence": f"{self.per_sequence}ns", "activations": f"{self.activations}B"}
        if self.tile is not None:
            keys.update(attention_tile=self.tile, attention_blocks=self.sm_blocks)
            if self.splits is not None:
                keys["attention_splits"] = self.splits
            if self.attention is not None:
                keys["attention_efficiency"] = f"{self.attention / 10**4}%"
        return keys

    def section(self):
        keys = {"parameters": self.parameters, "layers": self.layers, "hidden": self.hidden, "heads": self.heads,
                "kv_heads": self.kv_heads, "head_dim": self.head_dim, "vocabulary": self.vocabulary,
                "tied": "yes" if self.is_tied else "no", "weight_bits": self.weight_bits, "kv_bits": self.kv_bits,
                "precision": self.precision, "compute_efficiency": f"{self.compute / 10**4}%",
                "memory_efficiency": f"{self.bandwidth / 10**4}%", "host": f"{self.host}ns", "block_tokens": self.block_tokens,
                "batch_tokens": self.batch_tokens, "sequences": self.sequences, "batching": self.batching,
                "memory": f"{self.memory}B", "other_memory": f"{self.other}B"}
        keys.update(self.kernels())
        if self.swaps:
            keys.update(preempt="swap", swap_memory=f"{self.swap_memory}B")
            keys["swap_full"] = "fail" if self.ends_when_full else "recompute"
        for key, target in (("ttft_target", self.ttft), ("tpot_target", self.tpot)):
            if target is not None:
                keys[key] = f"{target}ns"
        return f"[{self.name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


class Request:
    def __init__(self, number, model, arrival, prompt, output):
        self.number, self.model, self.arrival, self.prompt, self.output = number, model, arrival, prompt, output
        self.computed = self.generated = 0  # tokens with keys and values; of the output
        self.granted = 0  # tokens that the step under way computes
        self.let_in, self.tokens = None, []  # first; when each came
        self.preemptions = self.swaps = self.lost = 0

    def lacks(self):
        return self.prompt + self.generated - self.computed

    def blocks(self, more=0):
        return -(-(self.computed + more) // self.model.block_tokens)


class Draw:
    def __init__(self, seed, kind):
        r = random.Random(seed)
        self.kind, self.is_asleep = kind, kind in ("asleep", "quanta")
        n = 1 if kind in ("one", "small", "swapped") else r.choice([2, 3, 4])
        self.models = [Model(r, "abcd"[i], r.choice(["small", "small", "swapped"]) if n > 1 else kind) for i in range(n)]
        rates = [10**7, 10**9, 123_456_789, 10**12]
        self.device = {f"device.{key}": r.choice(rates) for key in (*BITS.values(), "hbm_bytes_per_s")}
        copies = {"pcie.h2d_bytes_per_s": r.choice(rates), "pcie.d2h_bytes_per_s": r.choice(rates),
                  "pcie.h2d_reused_bytes_per_s": r.choice(rates), "pcie.h2d_copy_ns": r.choice([0, 10, 5000]),
                  "pcie.d2h_copy_ns": r.choice([0, 10, 7000])}
        self.device.update(copies)
        self.device["device.sms"] = random.Random(seed).choice([1, 3, 10, 100])
        self.device.update({"switch.idle_ns": r.choice([0, 0, 1, 150_000, 10**6]), "context.bytes": r.choice([0, 0, 1000])})
        room = sum(model.memory for model in self.models)
        if self.is_asleep:
            room = max(max(model.memory for model in self.models), int(room * r.choice([0.5, 0.6, 0.7, 0.9])))
        self.room = room  # for models, without contexts
        self.device["device.hbm_bytes"] = room + n * self.device["context.bytes"]
        self.quantum = r.choice([1, 10**6, 10**7, 5 * 10**7, S // 3]) if kind == "quanta" else None
        self.copies_out = r.random() < 0.6
        self.sleep, self.wake = (r.choice([0, 0, 10**6, 3 * 10**7]) for _ in range(2))
        spread = r.choice([0, 10**6, 10**7, 10**8, S, 5 * S])
        self.requests = []
        for i in range(r.choice([2, 4, 8, 15, 30])):
            model = r.choice(self.models)
            most = model.blocks * model.block_tokens
            prompt = r.randint(1, max(1, min(60, most - 1)))
            output = r.randint(1, max(1, min(r.choice([1, 5, 30]), most - prompt)))
            self.requests.append(Request(i, model, r.choice([0, spread // 2, r.randint(0, spread)]), prompt, output))
        if r.random() < 0.7:
            self.requests.sort(key=lambda request: request.arrival)

    def files(self):
        text, sections = device_text(), {}
        for key, value in self.device.items():
            section, name = key.split(".")
            sections.setdefault(section, {})[name] = value
        lines, now = [], None
        for line in text.split("\n"):
            now = line[1:-1] if line.startswith("[") else now
            name = line.split(" = ")[0]
            if name in sections.get(now, {}):
                line = f"{name} = {sections[now].pop(name)} | assumed | a draw"
            lines.append(line)
        assert not any(sections.values()), sections
        gpu = f"[gpu]\nsharing = {'sleep' if self.is_asleep else 'awake'}\n"
        if self.quantum is not None:
            gpu += f"quantum = {self.quantum}ns\n"
        if self.is_asleep:
            gpu += f"sleep_copies = {'yes' if self.copies_out else 'no'}\nsleep = {self.sleep}ns\nwake = {self.wake}ns\n"
        rows = "".join(f"r{q.number},{q.model.name},{q.arrival // S}.{q.arrival % S:09d},{q.prompt},{q.output}\n" for q in self.requests)
        return {"device.ini": "\n".join(lines), "models.ini": gpu + "".join(model.section() for model in self.models),
                "requests.csv": "request_id,model,arrival_s,prompt_tokens,output_tokens\n" + rows}


def device_text():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/devices/ideal.ini")) as device:
        return device.read()


# --- the walk -------------------------------------------------------------------------------------


class Full(Exception):
    """The host has no room for the blocks of a request, and the server ends."""


class Server:
    """The server of one model, step by step."""

    def __init__(self, model, device):
        self.model, self.device = model, device
        self.waiting, self.swapped, self.running = [], [], []
        self.free, self.host_free = model.blocks, model.host_blocks
        self.least_free = model.blocks
        self.state, self.until = "awake", None  # when a change is over
        self.ran, self.awake_since = -1, 0  # when it ran last; since when it is awake
        self.wants = None  # since when it has had requests
        self.has_emitted = False  # since it woke
        self.steps = self.busy = self.in_steps = self.sleeps = self.wakes = self.changing = self.out = self.back = 0

    def has_work(self):
        return bool(self.waiting or self.swapped or self.running)

    def give_up(self, request):
        """Its blocks, on the GPU."""
        self.running.remove(request)
        self.free += request.blocks()
        request.preemptions += 1
        if self.model.swaps and request.blocks() <= self.host_free:
            self.host_free -= request.blocks()
            self.blocks_out.append(request.blocks())
            request.swaps += 1
            self.swapped = sorted([*self.swapped, request], key=lambda its: (its.arrival, its.number))
            return
        if self.model.ends_when_full:
            raise Full(request)
        request.lost += request.computed
        request.computed = 0
        self.waiting.insert(0, request)

    def take(self, blocks):
        self.free -= blocks
        self.least_free = min(self.least_free, self.free)

    def grant(self, request, budget):
        """Tokens of the step, if there are blocks for these."""
        n = min(request.lacks(), budget)
        more = request.blocks(n) - request.blocks()
        if more > self.free:
            return None
        self.take(more)
        request.granted = n
        return n

    def plan(self, now):
        budget, self.blocks_out, self.blocks_in, had_to = self.model.batch_tokens, [], [], False
        at = 0
        while at < len(self.running) and budget:
            request = self.running[at]
            while (n := self.grant(request, budget)) is None:
                last, had_to = self.running[-1], True
                self.give_up(last)
                if last is request:
                    break
            if n is not None:
                budget -= n
            at += 1
        is_open = self.model.batching == "step" or not self.running and not self.swapped
        while not had_to and self.swapped and budget and len(self.running) < self.model.sequences:
            request = self.swapped[0]
            n = min(request.lacks(), budget)
            if request.blocks(n) > self.free:
                break
            self.take(request.blocks(n))
            self.host_free += request.blocks()
            self.blocks_in.append(request.blocks())
            request.granted, budget = n, budget - n
            self.running.append(self.swapped.pop(0))
        while not had_to and not self.swapped and is_open and self.waiting and budget and len(self.running) < self.model.sequences:
            request = self.waiting[0]
            if (n := self.grant(request, budget)) is None:
                break
            budget -= n
            self.running.append(self.waiting.pop(0))
            request.let_in = now if request.let_in is None else request.let_in
        self.out += sum(self.blocks_out)
        self.back += sum(self.blocks_in)

    def step_ns(self):
        model, device = self.model, self.device
        batch = [request for request in self.running if request.granted]
        self.emits = [request for request in batch if request.granted == request.lacks()]
        n, s = sum(request.granted for request in batch), len(self.emits)
        is_mixed = any(request.granted > 1 for request in batch)
        n = -(-n // (pad := model.pad_tokens if is_mixed else model.pad_sequences)) * pad
        host = model.host + (model.host_part if is_mixed else 0) + model.per_sequence * (len(batch) if is_mixed else n)
        products = self.roofs(2 * (model.inner * n + model.head * s), (model.inner + (model.head if s else 0)) * model.weight_bits // 8)
        return host + self.swap_ns() + products + self.roofs(0, n * model.activations) + self.attention_ns(batch)

    def attention_ns(self, batch):
        model, token = self.model, self.model.numbers * self.model.kv_bits // 8
        pairs = sum(q.granted * q.computed + Fraction(q.granted * (q.granted + 1), 2) for q in batch)
        if model.tile is None:
            return self.roofs(4 * model.layers * model.heads * model.head_dim * pairs, token * sum(q.computed + 2 * q.granted for q in batch))
        slots, reached = self.device["device.sms"] * model.sm_blocks, model.attention or model.compute
        ones, parts = [q for q in batch if q.granted == 1], [q for q in batch if q.granted > 1]
        kept = token * sum(q.computed + 2 for q in ones)
        if ones and model.splits:
            each = model.kv_heads * model.splits
            kept = ceil(Fraction(token * slots * self.turns([q.computed + 2 for q in ones], each, slots), each))
        ns = self.roofs(4 * model.layers * model.heads * model.head_dim * sum(q.computed + 1 for q in ones), kept, reached)
        if parts:
            tiles = [q.computed + min(q.granted, at + model.tile) for q in parts for at in range(0, q.granted, model.tile)]
            ns += self.roofs(4 * model.layers * model.head_dim * model.tile * slots * self.turns(tiles, model.heads, slots),
                             token * sum(q.computed + 2 * q.granted for q in parts), reached)
        return ns

    @staticmethod
    def turns(lengths, each, slots):
        """What the slot goes over that is done last, where each of these has as many blocks."""
        return ceil(Fraction(sum(lengths) * ((len(lengths) * each - 1) // slots), len(lengths))) + max(lengths)

    def roofs(self, flops, moved, compute=None):
        """A roof is rounded up to a nanosecond, and so is what a step takes that reaches a part of it."""
        model, peak, bandwidth = self.model, self.device["device." + BITS[self.model.precision]], self.device["device.hbm_bytes_per_s"]
        return max(ceil(Fraction(ceil(Fraction(flops * S, peak)) * 10**6, compute or model.compute)),
                   ceil(Fraction(ceil(Fraction(moved * S, bandwidth)) * 10**6, model.bandwidth)))

    def swap_ns(self):
        ns = 0
        for way, blocks in (("d2h", sum(self.blocks_out)), ("h2d", sum(self.blocks_in))):
            if blocks:
                copies = 2 * self.model.layers * blocks
                ns += copies * self.device[f"pcie.{way}_copy_ns"] + ceil(Fraction(blocks * self.model.block_bytes * S, self.device[f"pcie.{way}_bytes_per_s"]))
        return ns

    def begin(self, now):
        self.plan(now)
        took = max(1, self.step_ns())
        self.steps += 1
        self.busy += took
        self.in_steps += sum(1 for request in self.running if request.granted)
        return took

    def end(self, now):
        emits = self.emits
        for request in [*self.running]:
            request.computed += request.granted
            request.granted = 0
        for request in emits:
            request.generated += 1
            request.tokens.append(now)
            if request.generated == request.output:
                self.running.remove(request)
                self.free += request.blocks()
        self.has_emitted = self.has_emitted or bool(emits)

    def forget(self):
        for request in self.running + self.swapped:
            request.lost += request.computed
            request.preemptions += request in self.running
            request.computed = 0
        self.waiting = self.running + self.swapped + self.waiting
        self.running, self.swapped = [], []
        self.free, self.host_free = self.model.blocks, self.model.host_blocks


class Gpu:
    def __init__(self, draw):
        self.draw, self.now, self.stepping, self.before, self.step_ends = draw, 0, None, None, None
        self.servers = [Server(model, draw.device) for model in draw.models]
        self.to_come = sorted(draw.requests, key=lambda request: (request.arrival, request.number))
        left = draw.room
        for server in self.servers if draw.is_asleep else []:
            if server.model.memory <= left:
                left -= server.model.memory
            else:
                server.state = "asleep"

    def free(self):
        return self.draw.room - sum(server.model.memory for server in self.servers if server.state != "asleep")

    def copy_ns(self, server, way):
        is_reused = way == "h2d" and any(its.sleeps for its in self.servers)  # memory that another model has freed
        rate = self.draw.device[f"pcie.{way}_{'reused_' * is_reused}bytes_per_s"]
        return self.draw.device[f"pcie.{way}_copy_ns"] + ceil(Fraction(server.model.weights * S, rate))

    def change(self):
        """Wakes a model, or puts one to sleep for that; one at a time."""
        if any(server.state in ("falling", "waking") for server in self.servers):
            return
        wanting = [server for server in self.servers if server.state == "asleep" and server.has_work()]
        if not wanting:
            return
        first = min(wanting, key=lambda server: server.wants)
        if first.model.memory <= self.free():
            self.turn(first, "waking", self.draw.wake + self.copy_ns(first, "h2d"))
            first.wakes += 1
            return
        awake = [server for server in self.servers if server.state == "awake" and server is not self.stepping]
        idle = sorted((server for server in awake if not server.has_work()), key=lambda server: server.ran)
        due = sorted((server for server in awake if server.has_work() and server.has_emitted and self.draw.quantum is not None
                      and self.now - server.awake_since >= self.draw.quantum), key=lambda server: server.awake_since)
        chosen, free = [], self.free()
        for server in idle + due:
            if free < first.model.memory:
                chosen.append(server)
                free += server.model.memory
        if free >= first.model.memory:
            chosen[0].forget()
            chosen[0].wants = self.now
            chosen[0].sleeps += 1
            self.turn(chosen[0], "falling", self.draw.sleep + (self.copy_ns(chosen[0], "d2h") if self.draw.copies_out else 0))

    def turn(self, server, state, took):
        server.state, server.until = state, self.now + took
        server.changing += took

    def instant(self):
        if self.stepping and self.step_ends <= self.now:
            self.stepping.end(self.now)
            self.stepping.ran, self.stepping = self.now, None
        for server in self.servers:
            if server.state in ("falling", "waking") and server.until <= self.now:
                server.state = "asleep" if server.state == "falling" else "awake"
                server.awake_since, server.has_emitted, server.until = self.now, False, None
        while self.to_come and self.to_come[0].arrival <= self.now:
            request = self.to_come.pop(0)
            server = next(server for server in self.servers if server.model is request.model)
            if not server.has_work():
                server.wants = self.now
            server.waiting.append(request)
        self.change()
        ready = [server for server in self.servers if server.state == "awake" and server.has_work()]
        if self.stepping is None and ready:
            server = min(ready, key=lambda server: server.ran)
            switch = self.draw.device["switch.idle_ns"] if self.before not in (None, server) else 0
            self.stepping = self.before = server
            self.step_ends = self.now + switch + server.begin(self.now)

    def go(self):
        while True:
            times = [server.until for server in self.servers if server.until is not None]
            times += [self.step_ends] * (self.stepping is not None) + [request.arrival for request in self.to_come[:1]]
            times += [then for server in self.servers if self.draw.quantum is not None and server.state == "awake"
                      and (then := server.awake_since + self.draw.quantum) > self.now]
            if not any(server.has_work() for server in self.servers) and not self.to_come or not times:
                return
            self.now = min(times)
            self.instant()


# --- the comparison -------------------------------------------------------------------------------


def ns(text):
    return int(Decimal(text) * S) if text else None


def by_gsim(gsim, draw, folder):
    for name, text in draw.files().items():
        with open(os.path.join(folder, name), "w") as to:
            to.write(text)
    words = [gsim, "serve", "--quiet", "--format", "json", "--device", "./device.ini", "--models", "models.ini", "--requests-csv", "served.csv", "requests.csv"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr
    with open(os.path.join(folder, "served.csv")) as rows:
        return {row["request_id"]: row for row in csv.DictReader(rows)}, json.loads(done.stdout)


def fields(servers, requests):
    """The results that the walk adds up itself, of all models or of one."""
    begin, end = min(q.arrival for q in requests), max(q.tokens[-1] for q in requests)
    several, time = [q for q in requests if q.output > 1], (end - begin) / S
    blocks_in, blocks_out = (sum(count(s) * s.model.block_bytes for s in servers) for count in (lambda s: s.back, lambda s: s.out))
    kept = None if all(s.model.ttft is None and s.model.tpot is None for s in servers) else sum(map(is_in_time, requests)) / len(requests)
    tokens, steps = sum(q.output for q in requests), sum(s.steps for s in servers)
    due = {"requests": len(requests), "prompt_tokens": sum(q.prompt for q in requests), "output_tokens": tokens,
           "duration_s": time, "requests_per_s": len(requests) / time, "output_tokens_per_s": tokens / time,
           "in_time": kept, "steps": steps, "batch_mean": sum(s.in_steps for s in servers) / steps,
           "gpu_busy": sum(s.busy for s in servers) / S / time, "kv_peak": max((s.model.blocks - s.least_free) / s.model.blocks for s in servers),
           "preemptions": sum(q.preemptions for q in requests), "swaps": sum(q.swaps for q in requests),
           "recomputed_tokens": sum(q.lost for q in requests), "swapped_out_bytes": blocks_out, "swapped_in_bytes": blocks_in,
           "sleeps": sum(s.sleeps for s in servers), "wakes": sum(s.wakes for s in servers), "sleep_wake_s": sum(s.changing for s in servers) / S}
    for name, values, parts in (("ttft", [q.tokens[0] - q.arrival for q in requests], (50, 90, 99)),
                                ("tpot", [(q.tokens[-1] - q.tokens[0]) / (q.output - 1) for q in several], (50, 90, 99)),
                                ("itl", [b - a for q in requests for a, b in zip(q.tokens, q.tokens[1:])], (50, 90, 99, 100)),
                                ("latency", [q.tokens[-1] - q.arrival for q in requests], (50, 90, 99)),
                                ("queue", [q.let_in - q.arrival for q in requests], (99,))):
        for part in parts:
            due[f"{name}_{'max' if part == 100 else f'p{part}'}_s"] = quantile(values, part / 100) / S if values else None
        if name != "itl":
            due[f"{name}_mean_s"] = sum(values) / len(values) / S if values else None
    return due


def is_in_time(q):
    late = q.model.ttft is not None and q.tokens[0] - q.arrival > q.model.ttft
    return not late and not (q.model.tpot is not None and q.output > 1 and q.tokens[-1] - q.tokens[0] > q.model.tpot * (q.output - 1))


def hold(gsim, seed, kind, folder):
    draw = Draw(seed, kind)
    rows, result = by_gsim(gsim, draw, folder)
    gpu = Gpu(draw)
    try:
        gpu.go()
    except Full as full:
        due = f"request 'r{full.args[0].number}' gives up its blocks at {gpu.now} ns and has no room on the host"
        return None if rows is None and due in result else f"plainly {due}, not {str(result).strip()[:200]}"
    if rows is None:
        return f"it ended with {result.strip()[:200]}"
    for q in sorted(draw.requests, key=lambda q: (not q.tokens, q.tokens and q.tokens[0])):
        row = rows[f"r{q.number}"]
        due = {"ttft_s": q.tokens[0] - q.arrival, "latency_s": q.tokens[-1] - q.arrival, "preemptions": q.preemptions,
               "swaps": q.swaps, "recomputed_tokens": q.lost} if len(q.tokens) == q.output else {"ttft_s": None}
        for name, value in due.items():
            got = ns(row[name]) if name.endswith("_s") else int(row[name])
            if got != value:
                return f"r{q.number}: {name} is {got}, plainly {value}"
    for server in gpu.servers:
        its = [q for q in draw.requests if q.model is server.model]
        of_model = next(part for part in result["models"] if part["model"] == server.model.name) if len(gpu.servers) > 1 else None
        if its and of_model and (what := unlike(of_model, fields([server], its))):
            return f"of model {server.model.name} {what}"
    return unlike(result, fields(gpu.servers, draw.requests))


def unlike(result, due):
    for name, value in due.items():
        got = result[name]
        if (got is None) != (value is None) or value is not None and abs(got - value) > 1e-9 * abs(value) + 1e-9:
            return f"{name} is {got}, plainly {value}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=int(os.environ.get("PLAIN_DRAWS", 10)))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--keep", help="a folder for the files of the last setup")
    args = parser.parse_args()
    failed = 0
    gsim = os.path.abspath(args.gsim)
    for kind in args.kinds.split(","):
        breaks, seeds = [], [*range(args.first, args.first + args.draws), *AGAIN.get(kind, ())]
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                what = hold(gsim, seed, kind, args.keep or folder)
                breaks += [f"{kind} {seed}: {what}"] if what else []
        print(f"{'not ok' if breaks else 'ok'} serve {kind}: {len(seeds)} setups, {len(breaks)} differ")
        for text in breaks[:5]:
            print(f"# {text}")
        failed += bool(breaks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
