#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server of a language model with continuous batching, as `gsim serve` has it, on a real GPU: weights of the shape of
Llama 3 8B, drawn at random, a cache of blocks of 16 tokens, and before each step the rules of vLLM's V1 scheduler (running
sequences first, in order; then those that wait, with as much of their prompt as the step has room for; the one that was
let in last gives up its blocks where none is free, and computes again). Outputs have the lengths of the requests.

    python3 server.py steps steps.csv                      # lengths of steps, by prompts, sequences and their contexts
    python3 server.py drawn drawn.csv                      # of steps of drawn parts of prompts and sequences
    python3 server.py kernels kernels.csv                  # of the kernels of a step by kind, and of copies of blocks
    python3 server.py serve requests.csv BLOCKS out.csv    # a row a request: first and last token, preemptions
    python3 server.py serve requests.csv BLOCKS out.csv HOST_BLOCKS [steps.csv]

With HOST_BLOCKS above 0 the blocks of a sequence that gives them up are copied to the host, if so many are free there, and
come back when it goes on, as in vLLM's V0; steps.csv gets a row a step.

Times are the wall's: a step ends when its tokens are on the host.
"""
import csv
import ctypes
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl

LAYERS, HIDDEN, HEADS, KV_HEADS, DIM, INNER, VOCABULARY = 32, 4096, 32, 8, 128, 14336, 128256
BLOCK, BATCH_TOKENS, SEQUENCES = 16, 2048, 128
GROUP, SPLITS = HEADS // KV_HEADS, 8
MOST_BLOCKS = 8192 // BLOCK  # of a sequence


# --- attention of one query a sequence over a cache of blocks ---

@triton.jit
def part_kernel(q, k, v, table, length, out, top, total, table_stride, scale, GROUP: tl.constexpr, DIM: tl.constexpr,
                KV: tl.constexpr, BLOCK: tl.constexpr, SPLITS: tl.constexpr, TOKENS: tl.constexpr):
    s, h, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    n = tl.load(length + s)
    each = tl.cdiv(tl.cdiv(n, SPLITS), TOKENS) * TOKENS
    first, last = part * each, tl.minimum(n, part * each + each)
    g, d = tl.arange(0, 16), tl.arange(0, DIM)
    query = tl.load(q + (s * KV * GROUP + h * GROUP + g)[:, None] * DIM + d[None, :], mask=g[:, None] < GROUP, other=0.0)
    best = tl.full((16,), -1e30, tl.float32)
    sums = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, DIM), tl.float32)
    for at in range(first, last, TOKENS):
        t = at + tl.arange(0, TOKENS)
        block = tl.load(table + s * table_stride + t // BLOCK, mask=t < last, other=0)
        place = ((block * BLOCK + t % BLOCK) * KV + h)[:, None] * DIM + d[None, :]
        keys = tl.load(k + place, mask=(t < last)[:, None], other=0.0)
        scores = tl.dot(query, tl.trans(keys)) * scale
        scores = tl.where((t < last)[None, :], scores, -1e30)
        new = tl.maximum(best, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        old = tl.exp(best - new)
        values = tl.load(v + place, mask=(t < last)[:, None], other=0.0)
        acc = acc * old[:, None] + tl.dot(weights.to(values.dtype), values)
        sums = sums * old + tl.sum(weights, 1)
        best = new
    row = (s * KV + h) * GROUP + g
    tl.store(out + (row * SPLITS + part)[:, None] * DIM + d[None, :], acc, mask=g[:, None] < GROUP)
    tl.store(top + row * SPLITS + part, best, mask=g < GROUP)
    tl.store(total + row * SPLITS + part, sums, mask=g < GROUP)


@triton.jit
def whole_kernel(parts, top, total, out, DIM: tl.constexpr, SPLITS: tl.constexpr):
    row, p, d = tl.program_id(0), tl.arange(0, SPLITS), tl.arange(0, DIM)
    tops = tl.load(top + row * SPLITS + p)
    weight = tl.exp(tops - tl.max(tops, 0))
    all_of = tl.load(parts + (row * SPLITS + p)[:, None] * DIM + d[None, :])
    sums = tl.sum(tl.load(total + row * SPLITS + p) * weight, 0)
    tl.store(out + row * DIM + d, (tl.sum(all_of * weight[:, None], 0) / sums).to(out.dtype.element_ty))


def attend_one(q, k, v, table, length, out):
    n = q.shape[0]
    parts = torch.empty(n * HEADS, SPLITS, DIM, device="cuda")
    top, total = torch.empty(n * HEADS, SPLITS, device="cuda"), torch.empty(n * HEADS, SPLITS, device="cuda")
    part_kernel[(n, KV_HEADS, SPLITS)](q, k, v, table, length, parts, top, total, table.stride(0), DIM**-0.5, GROUP, DIM,
                                       KV_HEADS, BLOCK, SPLITS, 64)
    whole_kernel[(n * HEADS,)](parts, top, total, out, DIM, SPLITS)


# --- attention of parts of prompts over that cache ---

@triton.jit
def prompt_kernel(q, k, v, table, first, new, had, out, table_stride, scale, HEADS: tl.constexpr, KV: tl.constexpr,
                  DIM: tl.constexpr, BLOCK: tl.constexpr, QUERIES: tl.constexpr, TOKENS: tl.constexpr):
    m, h, s = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    n, before, row = tl.load(new + s), tl.load(had + s), tl.load(first + s)
    if m * QUERIES >= n:
        return
    r, d = m * QUERIES + tl.arange(0, QUERIES), tl.arange(0, DIM)
    place = ((row + r) * HEADS + h)[:, None] * DIM + d[None, :]
    query = tl.load(q + place, mask=(r < n)[:, None], other=0.0)
    best = tl.full((QUERIES,), -1e30, tl.float32)
    sums = tl.zeros((QUERIES,), tl.float32)
    acc = tl.zeros((QUERIES, DIM), tl.float32)
    last = before + tl.minimum(n, m * QUERIES + QUERIES)
    for at in range(0, last, TOKENS):
        t = at + tl.arange(0, TOKENS)
        block = tl.load(table + s * table_stride + t // BLOCK, mask=t < last, other=0)
        where = ((block * BLOCK + t % BLOCK) * KV + h // (HEADS // KV))[:, None] * DIM + d[None, :]
        keys = tl.load(k + where, mask=(t < last)[:, None], other=0.0)
        scores = tl.dot(query, tl.trans(keys)) * scale
        scores = tl.where(t[None, :] <= (before + r)[:, None], scores, -1e30)
        top = tl.maximum(best, tl.max(scores, 1))
        weights, old = tl.exp(scores - top[:, None]), tl.exp(best - top)
        values = tl.load(v + where, mask=(t < last)[:, None], other=0.0)
        acc = acc * old[:, None] + tl.dot(weights.to(values.dtype), values)
        sums = sums * old + tl.sum(weights, 1)
        best = top
    tl.store(out + place, (acc / sums[:, None]).to(out.dtype.element_ty), mask=(r < n)[:, None])


def attend_prompts(q, k, v, prompts, out):
    prompt_kernel[(-(-prompts.most // 64), HEADS, prompts.n)](q, k, v, prompts.table, prompts.first, prompts.new, prompts.had, out,
                                                             prompts.table.stride(0), DIM**-0.5, HEADS, KV_HEADS, DIM, BLOCK,
                                                             64, 64)


# --- the model ---

class Model:
    def __init__(self, blocks):
        def weights(out, into):
            return torch.randn(out, into, device="cuda", dtype=torch.bfloat16) * 0.02
        self.embedding, self.head = weights(VOCABULARY, HIDDEN), weights(VOCABULARY, HIDDEN)
        self.layers = [(weights((HEADS + 2 * KV_HEADS) * DIM, HIDDEN), weights(HIDDEN, HEADS * DIM), weights(2 * INNER, HIDDEN),
                        weights(HIDDEN, INNER), torch.ones(HIDDEN, device="cuda", dtype=torch.bfloat16),
                        torch.ones(HIDDEN, device="cuda", dtype=torch.bfloat16)) for _ in range(LAYERS)]
        shape = (LAYERS, (blocks + 1) * BLOCK, KV_HEADS, DIM)
        self.k = torch.zeros(shape, device="cuda", dtype=torch.bfloat16)
        self.v = torch.zeros(shape, device="cuda", dtype=torch.bfloat16)
        angle = torch.outer(torch.arange(1 << 15, device="cuda").float(), 5e5 ** (-torch.arange(0, DIM, 2, device="cuda").float() / DIM))
        self.cos, self.sin = angle.cos().to(torch.bfloat16), angle.sin().to(torch.bfloat16)
        self.graphs, self.pool = {}, torch.cuda.graph_pool_handle()

    def turn(self, x, at):
        cos, sin = self.cos[at][:, None, :], self.sin[at][:, None, :]
        a, b = x[..., :DIM // 2], x[..., DIM // 2:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def before(self, i, x, at, places, q):
        """Queries of layer i go to q, keys and values into the cache."""
        qkv, _, _, _, norm, _ = self.layers[i]
        y = F.linear(F.rms_norm(x, (HIDDEN,), norm), qkv).view(-1, HEADS + 2 * KV_HEADS, DIM)
        qk = self.turn(y[:, :HEADS + KV_HEADS], at)
        q.copy_(qk[:, :HEADS])
        self.k[i].index_copy_(0, places, qk[:, HEADS:])
        self.v[i].index_copy_(0, places, y[:, HEADS + KV_HEADS:])

    def after(self, i, x, attended):
        _, out, up, down, _, norm = self.layers[i]
        x.add_(F.linear(attended, out))
        gate, value = F.linear(F.rms_norm(x, (HIDDEN,), norm), up).chunk(2, -1)
        x.add_(F.linear(F.silu(gate) * value, down))

    def pieces(self, n):
        """The model but for attention, for n tokens, as a CUDA graph before the first layer's attention, one between each
        two and one after the last: launches of single kernels took 13 to 24 ms of the host a step."""
        if n not in self.graphs:
            self.graphs[n] = Pieces(self, n)
        return self.graphs[n]

    def singles(self, n):
        """All of a step of n sequences with one token each, as a CUDA graph."""
        if -n not in self.graphs:
            self.graphs[-n] = Singles(self, n)
        return self.graphs[-n]

    @torch.inference_mode()
    def step(self, step):
        if not step.prompts:
            return self.singles(next(n for n in SINGLES if n >= step.n_single)).run(step)
        n = len(step.tokens)
        return self.pieces(-(-n // PADDED) * PADDED).run(step)


SINGLES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 80, 96, 112, 128)
PADDED = 64


class Buffers:
    """What a graph reads. Tokens that are not there write keys and values to the last block."""

    def __init__(self, model, n):
        def numbers(n, kind=torch.int64):
            return torch.zeros(n, device="cuda", dtype=kind)
        self.model, self.n, self.pool = model, n, model.pool
        self.tokens, self.at, self.last = numbers(n), numbers(n), numbers(SEQUENCES)
        self.places = torch.full((n,), model.k.shape[1] - 1, device="cuda")
        self.x = torch.zeros(n, HIDDEN, device="cuda", dtype=torch.bfloat16)
        self.q = torch.zeros(n, HEADS, DIM, device="cuda", dtype=torch.bfloat16)
        self.attended = torch.zeros(n, HEADS * DIM, device="cuda", dtype=torch.bfloat16)

    def capture(self, work):
        graph = torch.cuda.CUDAGraph()
        work()
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, pool=self.pool):
            out = work()
        return graph, out

    def fill(self, step):
        n = len(step.tokens)
        self.places.fill_(self.model.k.shape[1] - 1)
        for mine, its in ((self.tokens, step.tokens), (self.at, step.at), (self.places, step.places)):
            mine[:n].copy_(its)
        self.last[:len(step.last)].copy_(step.last)


class Pieces(Buffers):
    def __init__(self, model, n):
        super().__init__(model, n)
        self.graphs = [self.capture(lambda: self.first())]
        self.graphs += [self.capture(lambda i=i: self.between(i)) for i in range(LAYERS - 1)]
        self.graphs.append(self.capture(lambda: self.end()))

    def first(self):
        self.x.copy_(self.model.embedding[self.tokens])
        self.model.before(0, self.x, self.at, self.places, self.q)

    def between(self, i):
        self.model.after(i, self.x, self.attended)
        self.model.before(i + 1, self.x, self.at, self.places, self.q)

    def end(self):
        self.model.after(LAYERS - 1, self.x, self.attended)
        return F.linear(self.x[self.last], self.model.head).argmax(-1)

    def attend(self, layer, step):
        k, v = self.model.k[layer], self.model.v[layer]
        if step.n_single > 0:
            attend_one(self.q[:step.n_single], k, v, step.table, step.length, self.attended)
        attend_prompts(self.q, k, v, step.prompts, self.attended)

    def run(self, step):
        self.fill(step)
        for i in range(LAYERS):
            self.graphs[i][0].replay()
            self.attend(i, step)
        self.graphs[LAYERS][0].replay()
        return self.graphs[LAYERS][1][:len(step.last)]


class Singles(Buffers):
    def __init__(self, model, n):
        super().__init__(model, n)
        self.table = torch.full((n, MOST_BLOCKS), model.k.shape[1] // BLOCK - 1, device="cuda", dtype=torch.int32)
        self.length = torch.ones(n, device="cuda", dtype=torch.int32)
        self.last.copy_(torch.arange(SEQUENCES) % n)
        self.graph, self.out = self.capture(self.all)

    def all(self):
        self.x.copy_(self.model.embedding[self.tokens])
        for i in range(LAYERS):
            self.model.before(i, self.x, self.at, self.places, self.q)
            attend_one(self.q, self.model.k[i], self.model.v[i], self.table, self.length, self.attended)
            self.model.after(i, self.x, self.attended)
        return F.linear(self.x, self.model.head).argmax(-1)

    def run(self, step):
        n = len(step.tokens)
        self.fill(step)
        self.table[:n, :step.table.shape[1]].copy_(step.table)
        self.length.fill_(1)
        self.length[:n].copy_(step.length)
        self.graph.replay()
        return self.out[step.last]


# --- blocks on the host ---

COPIES = r"""
typedef int (*copy)(void *, const void *, unsigned long, int, void *);
/* A copy for each block and layer, as vLLM's swap_blocks has them; all on one stream. */
void copy_blocks(copy one, char *to, const char *from, long to_layer, long from_layer, int layers, const long *to_block,
                 const long *from_block, int n, unsigned long bytes, int kind, void *stream) {
    for (int l = 0; l < layers; l++)
        for (int i = 0; i < n; i++)
            one(to + l * to_layer + to_block[i] * bytes, from + l * from_layer + from_block[i] * bytes, bytes, kind, stream);
}
"""


class Host:
    """Pinned memory for the keys and values of blocks."""

    def __init__(self, model, blocks):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "copies.c")
            with open(source, "w") as f:
                f.write(COPIES)
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", source + ".so", source], check=True)
            self.library = ctypes.CDLL(source + ".so")
        with open("/proc/self/maps") as maps:
            runtime = next(line.split()[-1] for line in maps if "libcudart" in line)
        self.one = ctypes.cast(ctypes.CDLL(runtime).cudaMemcpyAsync, ctypes.c_void_p)
        self.device = (model.k, model.v)
        shape = (LAYERS, blocks * BLOCK, KV_HEADS, DIM)
        self.pinned = tuple(torch.zeros(shape, dtype=torch.bfloat16, pin_memory=True) for _ in range(2))

    def copy(self, pairs, is_out):
        """Blocks as (on the GPU, on the host)."""
        if not pairs:
            return
        on_gpu, on_host = (ctypes.c_long * len(pairs))(*(a for a, _ in pairs)), (ctypes.c_long * len(pairs))(*(b for _, b in pairs))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for device, host in zip(self.device, self.pinned):
            ends = [(device, on_gpu), (host, on_host)]
            (source, its), (target, where) = ends if is_out else ends[::-1]
            self.library.copy_blocks(self.one, *(ctypes.c_void_p(one.data_ptr()) for one in (target, source)),
                                     *(ctypes.c_long(2 * one.stride(0)) for one in (target, source)), LAYERS, where, its,
                                     len(pairs), ctypes.c_ulong(2 * BLOCK * KV_HEADS * DIM), 2 if is_out else 1, stream)


# --- the scheduler ---

class Sequence:
    def __init__(self, name, arrival_s, prompt, output):
        self.name, self.arrival_s, self.prompt, self.output = name, arrival_s, prompt, output
        self.done = self.made = self.preempted = self.swapped = 0
        self.blocks, self.on_host, self.token, self.first_s, self.last_s = [], [], 1, None, None


class Prompts:
    def __init__(self, parts, first, on_gpu):
        starts = [first]
        for _, n in parts:
            starts.append(starts[-1] + n)
        blocks = [s.blocks for s, _ in parts]
        most = max(map(len, blocks))
        self.n, self.most = len(parts), max(n for _, n in parts)
        self.table = on_gpu([b + [0] * (most - len(b)) for b in blocks], torch.int32)
        self.first, self.new, self.had = (on_gpu(x, torch.int32) for x in (starts[:-1], [n for _, n in parts],
                                                                          [s.done for s, _ in parts]))


class Step:
    """What a step computes: sequences with one token first, then parts of prompts."""

    def __init__(self, parts):
        single = [(s, n) for s, n in parts if n == 1]
        rest = [(s, n) for s, n in parts if n > 1]
        tokens, at, places, last, self.prompts, self.done = [], [], [], [], None, single + rest
        for s, n in self.done:
            for t in range(s.done, s.done + n):
                at.append(t)
                places.append(s.blocks[t // BLOCK] * BLOCK + t % BLOCK)
            tokens += [s.token] * n
            if s.done + n == s.prompt + s.made:
                last.append(len(tokens) - 1)
        self.n_single = len(single)
        self.finishes = [s for s, n in self.done if s.done + n == s.prompt + s.made]

        def on_gpu(numbers, kind=torch.int64):
            return torch.tensor(numbers, dtype=kind, pin_memory=True).to("cuda", non_blocking=True)
        self.tokens, self.at, self.places, self.last = map(on_gpu, (tokens, at, places, last))
        if rest:
            self.prompts = Prompts(rest, self.n_single, on_gpu)
        if single:
            most = max(len(s.blocks) for s, _ in single)
            self.table = on_gpu([s.blocks + [0] * (most - len(s.blocks)) for s, _ in single], torch.int32)
            self.length = on_gpu([s.done + 1 for s, _ in single], torch.int32)


class Server:
    def __init__(self, model, blocks, host_blocks=0):
        self.model, self.free, self.running, self.waiting = model, list(range(blocks)), [], []
        self.host, self.host_free = Host(model, host_blocks) if host_blocks else None, list(range(host_blocks))
        self.swapped, self.out, self.back = [], [], []  # sequences on the host; blocks that the next step copies
        self.log = []

    def make_room(self, s, n):
        need = -(-(s.done + n) // BLOCK) - len(s.blocks)
        if need > len(self.free):
            return False
        for _ in range(need):
            s.blocks.append(self.free.pop())
        return True

    def give_up(self, s):
        s.preempted += 1
        self.running.remove(s)
        self.free += s.blocks
        if self.host and len(s.blocks) <= len(self.host_free):
            s.on_host = [self.host_free.pop() for _ in s.blocks]
            self.out += zip(s.blocks, s.on_host)
            s.swapped += 1
            self.swapped = sorted([*self.swapped, s], key=lambda one: one.arrival_s)
        else:
            s.done = 0
            self.waiting.insert(0, s)
        s.blocks = []

    def come_back(self, s, n):
        """Blocks that were on the host are copied to those that it gets."""
        if not self.make_room(s, n):
            return False
        self.back += zip(s.blocks, s.on_host)
        self.host_free += s.on_host
        s.on_host = []
        return True

    def go_on(self, parts):
        """Running sequences; returns the tokens that are left, or None where one gave up its blocks."""
        left, gave_up, i = BATCH_TOKENS, False, 0
        while i < len(self.running) and left > 0:
            s = self.running[i]
            n = min(s.prompt + s.made - s.done, left)
            while not self.make_room(s, n):
                victim = self.running[-1]
                self.give_up(victim)
                gave_up = True
                if victim is s:
                    break
            if s not in self.running:
                break
            parts.append((s, n))
            left -= n
            i += 1
        return None if gave_up else left

    def let_in(self, parts, line, left, take):
        while line and left > 0 and len(self.running) < SEQUENCES:
            s = line[0]
            n = min(s.prompt + s.made - s.done, left)
            if not take(s, n):
                break
            self.running.append(line.pop(0))
            parts.append((s, n))
            left -= n
        return left

    def schedule(self):
        parts, self.out, self.back = [], [], []
        left = self.go_on(parts)
        if left is not None:
            left = self.let_in(parts, self.swapped, left, self.come_back)
            if not self.swapped:
                self.let_in(parts, self.waiting, left, self.make_room)
        return parts

    def compute(self, parts):
        """A step; returns what it computed, and the tokens of those that are done with what they know."""
        began = time.perf_counter()
        had = [(n, s.done) for s, n in parts]
        step = Step(parts)
        if self.host:
            self.host.copy(self.out, True)
            self.host.copy(self.back, False)
        tokens = self.model.step(step)
        tokens = tokens.tolist() if tokens is not None else torch.cuda.synchronize() or []
        self.log.append((time.perf_counter() - began, had, len(self.out), len(self.back)))
        return step, tokens

    def run(self, sequences):
        coming, ended = sorted(sequences, key=lambda s: s.arrival_s), []
        began = time.perf_counter()
        while coming or self.running or self.waiting or self.swapped:
            now = time.perf_counter() - began
            while coming and coming[0].arrival_s <= now:
                self.waiting.append(coming.pop(0))
            parts = self.schedule()
            if not parts:
                time.sleep(1e-4)
                continue
            step, tokens = self.compute(parts)
            now = time.perf_counter() - began
            for s, n in step.done:
                s.done += n
            for s, token in zip(step.finishes, tokens):
                s.token, s.made = token, s.made + 1
                s.first_s = now if s.first_s is None else s.first_s
                if s.made == s.output:
                    s.last_s = now
                    self.free += s.blocks
                    self.running.remove(s)
                    ended.append(s)
        return ended


# --- commands ---

def blocks_for(tokens, used):
    return list(range(used, used + -(-tokens // BLOCK)))


def time_step(model, prompts, singles):
    """Median wall time of a step, and of its kernels by events, in ms. prompts: (tokens, context); singles: contexts."""
    wall, kernels = [], []
    for _ in range(12):
        used, parts = 0, []
        for n, had in [(1, c) for c in singles] + list(prompts):
            s = Sequence("", 0, had + n, 1)
            s.done, s.blocks = had, blocks_for(had + n, used)
            used += len(s.blocks)
            parts.append((s, n))
        torch.cuda.synchronize()
        began = time.perf_counter()
        step = Step(parts)
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        tokens = model.step(step)
        b.record()
        tokens.tolist()
        wall.append(1e3 * (time.perf_counter() - began))
        kernels.append(a.elapsed_time(b))
    return statistics.median(wall[4:]), statistics.median(kernels[4:])


@torch.inference_mode()
def warm_up(model):
    for n in SINGLES:
        model.singles(n)
    for n in range(PADDED, BATCH_TOKENS + PADDED, PADDED):
        model.pieces(n)
    time_step(model, [(300, 0), (40, 100)], [200] * 8)
    time_step(model, [(1000, 500), (200, 0)], [200] * 40)


def steps(path):
    model = Model(8192)
    warm_up(model)
    with open(path, "w") as f:
        print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=f)
        print("prompts,prompt_tokens,prompt_context,sequences,context,wall_ms,gpu_ms", file=f)
        cases = [(1, n, c, 0, 0) for n in (64, 256, 512, 1024, 2048) for c in (0, 4096)]
        cases += [(4, n, 0, 0, 0) for n in (64, 256, 512)]
        cases += [(0, 0, 0, s, c) for s in (1, 4, 16, 64, 128) for c in (128, 512, 960)] + [(0, 0, 0, s, 4096) for s in (1, 8, 24)]
        cases += [(1, n, 0, s, c) for n in (256, 1024, 1920) for s, c in ((16, 512), (64, 512), (64, 960), (16, 4096))]
        for n_prompts, n, had, n_singles, c in cases:
            wall, gpu = time_step(model, [(n, had)] * n_prompts, [c] * n_singles)
            print(f"{n_prompts},{n},{had},{n_singles},{c},{wall:.3f},{gpu:.3f}", file=f, flush=True)


def drawn(path):
    """Steps of parts of prompts and sequences that a seed draws: as TOKENS+CONTEXT, and contexts of sequences."""
    model, r = Model(24576), random.Random(1)
    warm_up(model)
    with open(path, "w") as f:
        print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=f)
        print("prompts,sequences,wall_ms,gpu_ms", file=f)
        for _ in range(80):
            singles = [r.choice([100, 400, 1500]) + r.randrange(600) for _ in range(r.choice([0, 1, 5, 20, 60, 100]))]
            prompts, left = [], BATCH_TOKENS - len(singles)
            for _ in range(r.choice([0, 1, 1, 1, 2, 4])):
                n = min(left, int(2 ** r.uniform(1, 11)))
                if n > 1:
                    prompts.append((n, r.choice([0, 0, 0, r.randrange(4096)])))
                    left -= n
            if singles or prompts:
                wall, gpu = time_step(model, prompts, singles)
                print(f"{' '.join(f'{n}+{c}' for n, c in prompts)},{' '.join(map(str, singles))},{wall:.3f},{gpu:.3f}",
                      file=f, flush=True)


def timed(work, times=8):
    """Median time of this work as a CUDA graph, in ms."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    found = []
    for _ in range(times + 3):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        graph.replay()
        b.record()
        torch.cuda.synchronize()
        found.append(a.elapsed_time(b))
    return statistics.median(found[3:])


class Kernels:
    """Each kind of kernels of a step by itself, all layers."""

    def __init__(self, path):
        self.model, self.r = Model(20480), random.Random(1)
        for one in (self.model.k, self.model.v):
            for layer in one:
                layer.normal_()
        self.file = open(path, "w")
        print(f"# {torch.cuda.get_device_name()}, PyTorch {torch.__version__}", file=self.file)
        print("kind,count,tokens,context,ms", file=self.file)

    def row(self, kind, count, tokens, context, ms):
        print(f"{kind},{count},{tokens},{context},{ms:.4f}", file=self.file, flush=True)

    def products(self, n):
        """Products of n tokens, and of 128 rows by the head; then these with all else but attention."""
        x = torch.randn(n, HIDDEN, device="cuda", dtype=torch.bfloat16)
        inner = torch.randn(n, INNER, device="cuda", dtype=torch.bfloat16)
        last = torch.randn(SEQUENCES, HIDDEN, device="cuda", dtype=torch.bfloat16)

        def alone():
            for qkv, out, up, down, _, _ in self.model.layers:
                F.linear(x, qkv), F.linear(x, out), F.linear(x, up), F.linear(inner, down)
            F.linear(last, self.model.head)
        self.row("products", n, 1, 0, timed(alone))
        pieces = Buffers(self.model, n)
        pieces.last.copy_(torch.arange(SEQUENCES) % n)

        def all_of():
            Pieces.first(pieces)
            for i in range(LAYERS - 1):
                Pieces.between(pieces, i)
            Pieces.end(pieces)
        self.row("but_attention", n, 1, 0, timed(all_of))

    def table(self, count, tokens):
        each = -(-tokens // BLOCK)
        its = list(range(count * each))
        self.r.shuffle(its)
        return torch.tensor([its[i * each:(i + 1) * each] for i in range(count)], dtype=torch.int32, device="cuda")

    def singles(self, count, context):
        q = torch.randn(count, HEADS, DIM, device="cuda", dtype=torch.bfloat16)
        out, table = torch.empty(count, HEADS * DIM, device="cuda", dtype=torch.bfloat16), self.table(count, context + 1)
        length = torch.full((count,), context + 1, device="cuda", dtype=torch.int32)

        def work():
            for i in range(LAYERS):
                attend_one(q, self.model.k[i], self.model.v[i], table, length, out)
        self.row("attention_of_one", count, 1, context, timed(work))

    def parts(self, count, tokens, context):
        def numbers(all_of):
            return torch.tensor(all_of, dtype=torch.int32, device="cuda")
        q = torch.randn(count * tokens, HEADS, DIM, device="cuda", dtype=torch.bfloat16)
        prompts = Prompts.__new__(Prompts)
        prompts.n, prompts.most, prompts.table = count, tokens, self.table(count, context + tokens)
        prompts.first = numbers([i * tokens for i in range(count)])
        prompts.new, prompts.had = numbers([tokens] * count), numbers([context] * count)
        out = torch.empty(count * tokens, HEADS * DIM, device="cuda", dtype=torch.bfloat16)

        def work():
            for i in range(LAYERS):
                attend_prompts(q, self.model.k[i], self.model.v[i], prompts, out)
        self.row("attention_of_parts", count, tokens, context, timed(work, 4))

    def copies(self, blocks):
        host = Host(self.model, 512)
        for is_out, kind in ((True, "copies_out"), (False, "copies_in")):
            found = []
            for _ in range(5):
                pairs = list(zip(self.r.sample(range(20480), blocks), self.r.sample(range(512), blocks)))
                torch.cuda.synchronize()
                began = time.perf_counter()
                host.copy(pairs, is_out)
                torch.cuda.synchronize()
                found.append(1e3 * (time.perf_counter() - began))
            self.row(kind, blocks, BLOCK, 0, statistics.median(found))


@torch.inference_mode()
def kernels(path):
    all_of = Kernels(path)
    for n in (1, 8, 16, 32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1280, 1536, 2048):
        all_of.products(n)
    for count in (1, 4, 16, 64, 128):
        for context in (15, 127, 511, 959, 2047, 4095):
            if count * context < 300000:
                all_of.singles(count, context)
    for context in (0, 512, 1024, 2048, 4096):
        for tokens in (16, 64, 128, 256, 320, 512, 576, 768, 1024, 1536, 2048):
            all_of.parts(1, tokens, context)
    for count, tokens, context in ((2, 64, 1024), (4, 64, 1024), (8, 64, 1024), (16, 64, 1024), (4, 256, 0), (4, 512, 0), (16, 64, 0)):
        all_of.parts(count, tokens, context)
    for blocks in (1, 8, 32, 128, 512):
        all_of.copies(blocks)


def write_log(log, path):
    """A row a step: parts of prompts as TOKENS+CONTEXT, sequences and the sum of their contexts, blocks copied."""
    with open(path, "w") as f:
        print("wall_ms,prompts,sequences,contexts,blocks_out,blocks_in", file=f)
        for took_s, parts, out, back in log:
            singles = [c for n, c in parts if n == 1]
            print(f"{1e3 * took_s:.3f},{' '.join(f'{n}+{c}' for n, c in parts if n > 1)},{len(singles)},{sum(singles)},"
                  f"{out},{back}", file=f)


def serve(path, blocks, out, host_blocks, log):
    model = Model(blocks)
    warm_up(model)
    with open(path) as f:
        sequences = [Sequence(r["request_id"], float(r["arrival_s"]), int(r["prompt_tokens"]), int(r["output_tokens"]))
                     for r in csv.DictReader(f)]
    server = Server(model, blocks, host_blocks)
    ended = server.run(sequences)
    with open(out, "w") as f:
        print(f"# {len(server.log)} steps\nrequest_id,ttft_s,latency_s,preemptions,swaps", file=f)
        for s in sorted(ended, key=lambda s: s.arrival_s):
            print(f"{s.name},{s.first_s - s.arrival_s:.6f},{s.last_s - s.arrival_s:.6f},{s.preempted},{s.swapped}", file=f)
    if log:
        write_log(server.log, log)


def main():
    torch.manual_seed(1)
    if sys.argv[1] == "serve":
        more = sys.argv[5:] + ["0", None][len(sys.argv) - 5:]
        serve(sys.argv[2], int(sys.argv[3]), sys.argv[4], int(more[0]), more[1])
    else:
        {"steps": steps, "drawn": drawn, "kernels": kernels}[sys.argv[1]](sys.argv[2])


if __name__ == "__main__":
    main()
