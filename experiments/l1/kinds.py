#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of all kernels of the kinds of experiments/drive/real_job.py (`day`) or twelve.py (`twelve`), by PyTorch's
profiler, the median of three iterations: with the L1 that they ask for, with the smallest (cuCtxSetCacheConfig,
PREFER_SHARED), and beside kernels that hold 200 KiB of shared memory, or none, for 5 us each and do nothing (l1.cu, under
MPS).

    nvcc -O2 -arch=sm_90 -o l1 l1.cu && nvidia-cuda-mps-control -d && python3 kinds.py day >kinds.csv
"""
import csv
import ctypes
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path[:0] = ["../drive", "../../sim/job"]
import torch

MODULES = {"day": "real_job", "twelve": "twelve"}
ITERATIONS = 3
PREFER_NONE, PREFER_SHARED = 0, 1
COLUMNS = "kind,launch,kernel,blocks,threads,registers,shared_bytes,us,smallest_l1_us,again_us,beside_shared_us,beside_none_us"


def kernels_of(profiler):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path) as trace:
            events = json.load(trace)["traceEvents"]
    return sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])


def form(event):
    """The kernel's name, and how it was launched."""
    asked = event["args"]
    blocks, threads = (x * y * z for x, y, z in (asked["grid"], asked["block"]))
    return event["name"][:70], blocks, threads, asked["registers per thread"], asked["shared memory"]


def times(step):
    """By launch: its kernel's form, and us."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(ITERATIONS):
            step()
            torch.cuda.synchronize()
    kernels = kernels_of(profiler)
    n = len(kernels) // ITERATIONS
    return [(form(kernels[i]), statistics.median(e["dur"] for e in kernels[i::n])) for i in range(n)]


def beside(step, shared_bytes):
    other = subprocess.Popen(["./l1", "push", str(shared_bytes)], stdout=subprocess.PIPE)
    other.stdout.readline()
    step()
    torch.cuda.synchronize()
    out = times(step)
    other.kill()
    other.wait()
    return out


def main():
    module = importlib.import_module(MODULES[sys.argv[1]])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(COLUMNS.split(","))
    for kind in module.KINDS:
        step, ways = module.make_step(kind), []
        for _ in range(6):
            step()
        times(step)
        for config in (PREFER_NONE, PREFER_SHARED, PREFER_NONE):
            ctypes.CDLL("libcuda.so.1").cuCtxSetCacheConfig(config)
            step()
            torch.cuda.synchronize()
            ways.append(times(step))
        ways += [beside(step, 204800), beside(step, 0)]
        for i, row in enumerate(zip(*ways)):
            out.writerow([kind, i, *row[0][0], *(f"{us:.3f}" for _, us in row)])
        print(kind, [len(way) for way in ways], file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
