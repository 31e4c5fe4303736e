#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates of the programs of twelve.py (or those named), one process each, alone, in all pairs, and alone again: a wait
after every fourth iteration, 1.2 s each. host_ms is the host's time to launch an iteration, the median of those that
follow a wait, which no full queue holds up.

    nvidia-cuda-mps-control -d && python3 beside.py >beside.csv      as clients of MPS; without it, in time slices
"""
import csv
import itertools
import multiprocessing as mp
import statistics
import sys
import time

SECONDS, WARM_SECONDS, AHEAD = 1.2, 0.3, 4
IDLE, GO, END = 0, 1, 2


def run_for(step, synchronize, seconds):
    host, n, began = [], 0, time.monotonic()
    while time.monotonic() - began < seconds:
        t0 = time.perf_counter()
        step()
        host.append(time.perf_counter() - t0)
        for _ in range(AHEAD - 1):
            step()
        synchronize()
        n += AHEAD
    return n / (time.monotonic() - began), statistics.median(host) * 1e3


def client(kind, state, out, is_ready):
    import torch
    import twelve

    step = twelve.make_step(kind)
    run_for(step, torch.cuda.synchronize, 1)
    is_ready.value = 1
    while state.value != END:
        if state.value == IDLE:
            time.sleep(0.002)
            continue
        run_for(step, torch.cuda.synchronize, WARM_SECONDS)
        out[0], out[1] = run_for(step, torch.cuda.synchronize, SECONDS)
        out[2] = 1  # its rate is known, and it goes on until all others know theirs
        while state.value == GO:
            run_for(step, torch.cuda.synchronize, 0.01)


def measure(clients, kinds):
    for kind in kinds:
        clients[kind][2][2] = 0
        clients[kind][1].value = GO
    while not all(clients[kind][2][2] for kind in kinds):
        time.sleep(0.01)
    for kind in kinds:
        clients[kind][1].value = IDLE
    time.sleep(0.2)
    return [(kind, clients[kind][2][0], clients[kind][2][1]) for kind in kinds]


def main():
    import twelve

    kinds, clients = sys.argv[1:] or list(twelve.KINDS), {}
    mp.set_start_method("spawn")
    for kind in kinds:
        state, out, is_ready = mp.Value("i", IDLE), mp.Array("d", 3), mp.Value("i", 0)
        process = mp.Process(target=client, args=(kind, state, out, is_ready))
        process.start()
        clients[kind] = (process, state, out, is_ready)
    while not all(is_ready.value for _, _, _, is_ready in clients.values()):
        if not all(process.is_alive() for process, *_ in clients.values()):
            sys.exit("a process has ended")
        time.sleep(0.1)
    alone = [(kind,) for kind in kinds]
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["phase", "kind", "iterations_per_s", "host_ms"])
    for phase, together in enumerate(alone + list(itertools.combinations(kinds, 2)) + alone):
        for kind, rate, host_ms in measure(clients, together):
            out.writerow([phase, kind, f"{rate:.3f}", f"{host_ms:.3f}"])
        sys.stdout.flush()
    for _, state, _, _ in clients.values():
        state.value = END
    for process, *_ in clients.values():
        process.join()


if __name__ == "__main__":
    main()
