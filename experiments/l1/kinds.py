#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of all kernels of the kinds of experiments/drive/real_job.py, by PyTorch's profiler, the median of three
iterations: with the L1 that they ask for, with the smallest (cuCtxSetCacheConfig, PREFER_SHARED), and beside kernels
that hold 200 KiB of shared memory, or none, for 5 us each and do nothing (l1.cu, under MPS).

    nvcc -O2 -arch=sm_90 -o l1 l1.cu && nvidia-cuda-mps-control -d && python3 kinds.py >kinds.csv
"""
import csv
import ctypes
import statistics
import subprocess
import sys

sys.path[:0] = ["../drive", "../../sim/job"]
import torch
import real_job

ITERATIONS = 3
PREFER_NONE, PREFER_SHARED = 0, 1
NO_KERNELS = ("cuda", "cuLa", "Memset", "Memcpy", "Activity")


def times(step):
    """By launch: the name of its kernel, and us."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(ITERATIONS):
            step()
            torch.cuda.synchronize()
    events = sorted(profiler.profiler.kineto_results.events(), key=lambda e: e.start_ns())
    kernels = [e for e in events if not e.name().startswith(NO_KERNELS) and "Sync" not in e.name()]
    n = len(kernels) // ITERATIONS
    return [(kernels[i].name(), statistics.median(e.duration_ns() for e in kernels[i::n]) / 1e3) for i in range(n)]


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
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["kind", "launch", "kernel", "us", "smallest_l1_us", "again_us", "beside_shared_us", "beside_none_us"])
    for kind in real_job.KINDS:
        step, ways = real_job.make_step(kind), []
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
            out.writerow([kind, i, row[0][0][:60], *(f"{us:.3f}" for _, us in row)])


if __name__ == "__main__":
    main()
