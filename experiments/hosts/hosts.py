#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the host's time to launch depends on what other processes do on its cores: a process that launches 64 kernels of
about 2 us and waits for them, again and again, beside processes that only compute, or that launch as well, on cores that
Linux chooses, on physical cores of their own, or on both threads of one core. us a launch (without the wait), median.

    nvidia-cuda-mps-control -d && python3 hosts.py >hosts.csv
"""
import csv
import multiprocessing as mp
import os
import statistics
import sys
import time

LAUNCHES, SECONDS, CLIENTS = 64, 1.2, 4
IDLE, GO, END = 0, 1, 2


def siblings():
    """The threads of each physical core that this process may use."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as f:
                cores.setdefault(f.read().strip(), []).append(cpu)
        except OSError:
            cores[str(cpu)] = [cpu]
    return list(cores.values())


def launcher(state, out, ready):
    import torch

    x = torch.zeros(8, device="cuda")
    while state.value != END:
        if state.value == IDLE:
            ready.value = 1
            time.sleep(0.01)
            continue
        issued, whole, until = [], [], time.monotonic() + SECONDS
        while time.monotonic() < until:
            t0 = time.perf_counter()
            for _ in range(LAUNCHES):
                x.add_(1)
            t1 = time.perf_counter()
            torch.cuda.synchronize()
            issued.append(t1 - t0)
            whole.append(time.perf_counter() - t0)
        out[0], out[1], out[2] = statistics.median(issued), statistics.fmean(issued), statistics.fmean(whole)
        state.value = IDLE


def cruncher(state, kind):
    data = bytearray(64 << 20) if kind == "memory" else None
    while state.value != END:
        if state.value == IDLE:
            time.sleep(0.01)
        elif data is None:
            sum(i * i for i in range(20000))
        else:
            data[: len(data) // 2] = data[len(data) // 2 :]


def run_phase(clients, crunchers, affinity, everything):
    for i, (process, _, _, _) in enumerate(clients + crunchers):
        os.sched_setaffinity(process.pid, affinity[i] if affinity else everything)
    for _, state, _, _ in crunchers + clients:
        state.value = GO
    while any(state.value == GO for _, state, _, _ in clients):
        time.sleep(0.02)
    for _, state, _, _ in crunchers:
        state.value = IDLE
    time.sleep(0.05)
    return [tuple(out) for _, _, out, _ in clients]


def start(target, *extra):
    state, out, ready = mp.Value("i", IDLE), mp.Array("d", 3), mp.Value("i", 0)
    args = (state, out, ready) if target is launcher else (state, *extra)
    process = mp.Process(target=target, args=args)
    process.start()
    return process, state, out, ready


def main():
    mp.set_start_method("spawn")
    cores, everything = siblings(), sorted(os.sched_getaffinity(0))
    print("physical cores:", cores, file=sys.stderr)
    clients = [start(launcher) for _ in range(CLIENTS)]
    spinners = [start(cruncher, "spin") for _ in range(15)]
    movers = [start(cruncher, "memory") for _ in range(4)]
    while not all(ready.value for _, _, _, ready in clients):
        time.sleep(0.1)
    apart = [[core[0]] for core in cores]
    both = [[cpu] for core in cores for cpu in core]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("round,launchers,spinners,movers,cores,median_us,mean_us,iteration_us".split(","))
    phases = [(1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0), (1, 1, 0), (1, 3, 0), (1, 7, 0), (1, 9, 0), (1, 15, 0),
              (1, 0, 1), (1, 0, 4)]
    for again in range(2):
        for n, spin, move in phases:
            for name, places in (("any", None), ("apart", apart), ("both", both)):
                if places and n + spin + move > len(places):
                    continue
                got = run_phase(clients[:n], spinners[:spin] + movers[:move], places, everything)
                for median, mean, whole in got:
                    out.writerow([again, n, spin, move, name, *(f"{t / LAUNCHES * 1e6:.3f}" for t in (median, mean)),
                                  f"{whole * 1e6:.1f}"])
                sys.stdout.flush()
    for process, state, _, _ in clients + spinners + movers:
        state.value = END
    for process, *_ in clients + spinners + movers:
        process.join()


if __name__ == "__main__":
    main()
