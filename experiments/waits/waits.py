#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""When kernels of two programs begin and end beside each other as clients of MPS: each process under PyTorch's profiler,
whose times of both are of one clock. README.md.

    nvidia-cuda-mps-control -d && python3 waits.py FOLDER KIND+KIND...
"""
import csv
import json
import math
import multiprocessing
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "l1"))
RECORDED_S = 0.25


def kernels_of(path):
    with open(path) as f:
        trace = json.load(f)
    base = int(trace.get("baseTimeNanoseconds", 0))
    for e in trace["traceEvents"]:
        if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy"):
            args = e["args"]
            blocks, threads = (math.prod(args.get(key, [1])) for key in ("grid", "block"))
            yield base + round(1e3 * e["ts"]), round(1e3 * e["dur"]), blocks, threads, e["name"][:60]


def client(kind, gate, out):
    import torch
    import twelve

    step = twelve.make_step(kind)
    for _ in range(6):
        step()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
        step()
        torch.cuda.synchronize()

    def run(seconds):
        end, n, ahead = time.monotonic() + seconds, 0, []
        while time.monotonic() < end:
            step()
            n += 1
            event = torch.cuda.Event()
            event.record()
            ahead.append(event)
            if len(ahead) > 3:
                ahead.pop(0).synchronize()
        return n

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        gate.wait()
        n = run(RECORDED_S)
        gate.wait()
        torch.cuda.synchronize()
    path = out + ".json"
    profiler.export_chrome_trace(path)
    with open(out, "w") as f:
        table = csv.writer(f, lineterminator="\n")
        table.writerow(("begin_ns", "ns", "blocks", "threads", "kernel"))
        table.writerows(sorted(kernels_of(path)))
    os.remove(path)
    print(kind, n, "iterations", flush=True)


def main():
    folder, context = sys.argv[1], multiprocessing.get_context("spawn")
    for pair in sys.argv[2:]:
        kinds = pair.split("+")
        gate = context.Barrier(len(kinds))
        clients = [context.Process(target=client, args=(kind, gate, f"{folder}/{pair}.{i}.csv"))
                   for i, kind in enumerate(kinds)]
        print(pair, flush=True)
        for process in clients:
            process.start()
        for process in clients:
            process.join()


if __name__ == "__main__":
    main()
