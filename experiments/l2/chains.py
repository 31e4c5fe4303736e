#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU takes for an iteration of each program of twelve.py whose host has launched all of it before, alone and beside
a kernel that holds SMs whole and computes, reads or copies there. Also how often the host waits in an iteration. README.md.

    nvcc -O3 -arch=sm_90 -Xcompiler -fPIC -shared -o neighbour.so neighbour.cu && python3 chains.py
"""
import collections
import csv
import ctypes
import os
import statistics
import sys
import time

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "l1"))
import twelve

ROUNDS, HELD_MOST_S = 5, 0.07
# blocks, reads, stores, ns of rest after each 64 KiB of a block
BESIDE = [("alone", 0, 0, 0, 0), ("computes", 32, 0, 0, 0), ("reads", 32, 1, 0, 0), ("copies", 32, 1, 1, 0),
          ("computes", 66, 0, 0, 0), ("reads", 66, 1, 0, 0),
          ("copies", 66, 1, 1, 0), ("reads", 66, 1, 0, 2000)]
lib = ctypes.CDLL(os.path.join(HERE, "neighbour.so"))
lib.stop.restype = ctypes.c_double
lib.start.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long]
lib.hold_stream.argtypes = [ctypes.c_void_p, ctypes.c_long]


def waits_of(step):
    """Calls of an iteration that wait for the GPU."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        step()
        torch.cuda.current_stream().synchronize()
    names = collections.Counter(e.name for e in profiler.events())
    return {n: c for n, c in names.items() if "Synchronize" in n or "DtoH" in n or "cudaMemcpy" in n}


def launched_s(step):
    times = []
    for _ in range(5):
        torch.cuda.current_stream().synchronize()
        t0 = time.perf_counter()
        step()
        times.append(time.perf_counter() - t0)
    torch.cuda.current_stream().synchronize()
    return max(times)


def chain_ms(step, held_s):
    stream = torch.cuda.current_stream()
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    if held_s:
        lib.hold_stream(stream.cuda_stream, int(held_s * 1e9))
    first.record()
    step()
    last.record()
    stream.synchronize()
    return first.elapsed_time(last)


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("kind,beside,blocks,rest_ns,gb_per_s,ms,least_ms,most_ms,held_ms".split(","))
    lib.begin()
    for kind in sys.argv[1:] or list(twelve.KINDS):
        step = twelve.make_step(kind)
        for _ in range(5):
            step()
        torch.cuda.synchronize()
        print(kind, waits_of(step), file=sys.stderr, flush=True)
        torch.cuda.synchronize()
        waits = kind in ("gnn_train",)
        held_s = 0 if waits else min(1.3 * launched_s(step) + 0.002, HELD_MOST_S)
        alone_ms = 0
        for name, blocks, reads, stores, rest_ns in BESIDE:
            t0 = time.perf_counter()
            chain_ms(step, held_s)
            each_s = time.perf_counter() - t0 + (2 if blocks > 33 else 1) * alone_ms / 1e3
            if blocks:
                lib.start(blocks, reads, stores, rest_ns, int((ROUNDS * each_s + 0.01) * 1e9))
                time.sleep(0.001)
            ms = [chain_ms(step, held_s) for _ in range(ROUNDS)]
            rate = lib.stop(blocks) if blocks else 0
            alone_ms = alone_ms or statistics.median(ms)
            out.writerow([kind, name, blocks, rest_ns, f"{rate:.0f}", f"{statistics.median(ms):.4f}", f"{min(ms):.4f}",
                          f"{max(ms):.4f}", f"{held_s * 1e3:.1f}"])
            sys.stdout.flush()
        sys.stdout.flush()
        del step
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
