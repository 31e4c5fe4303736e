#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""SMs of clients of MPS by cap, and clients beside each other: which SMs they have, how fast they are.

Needs a running daemon of MPS and the program `caps` beside this file; prints two CSVs into a folder.
"""
import os
import subprocess
import sys
import time

import numpy

BLOCK = numpy.dtype([("kernel", "u4"), ("sm", "u4"), ("begin", "u8"), ("end", "u8")])
HERE = os.path.dirname(os.path.abspath(__file__))
MS = 36112  # steps of a ms, a block alone on an SM
SECONDS = 1.0


def client(cap, *words):
    env = dict(os.environ, CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=str(cap))
    return subprocess.Popen([HERE + "/caps", *map(str, words)], env=env, stdout=subprocess.PIPE)


def read(path):
    with open(path, "rb") as f:
        on, grid, kernels, seen = numpy.fromfile(f, "u4", 4)
        return int(on), int(grid), int(kernels), int(seen), numpy.fromfile(f, BLOCK)


def busy(blocks, begin, end):
    """SM time of blocks within a span."""
    b = numpy.clip(blocks["begin"].astype("i8"), begin, end)
    e = numpy.clip(blocks["end"].astype("i8"), begin, end)
    return (e - b).astype(float).sum()


def of_kernels(blocks, grid):
    rows = blocks.reshape(-1, grid)
    return rows["begin"].astype("i8").min(1), rows["end"].astype("i8").max(1), rows


def run(caps, kind, ms, waves, fills=132, stagger=0.0):
    """Each client's row: cap, its SMs, kernels a second, and what of its kernels began late."""
    begin = time.time() + 0.9
    per = {"two": 2}.get(kind, 1)
    ms = ms if isinstance(ms, tuple) else (ms,) * len(caps)
    clients = [client(c, "run", kind, int(m * MS / waves / per), waves, fills, begin + i * stagger,
                      SECONDS - i * stagger, f"/tmp/caps{i}") for i, (c, m) in enumerate(zip(caps, ms))]
    for c in clients:
        c.wait()
    data = [read(f"/tmp/caps{i}") for i in range(len(caps))]
    spans = [of_kernels(d[4], d[1]) for d in data]
    first = max(s[0][0] for s in spans) + 100_000_000
    last = min(s[1][-1] for s in spans) - 20_000_000
    rows = []
    for (on, grid, _, seen, blocks), (b, e, lines) in zip(data, spans):
        parts = numpy.clip(numpy.minimum(e, last) - numpy.maximum(b, first), 0, None) / (e - b)
        inside = (b >= first) & (e <= last)
        lag = (lines["begin"].astype("i8") - b[:, None])[inside][:, :on * per]
        length = (e - b)[inside]
        late = (lag > 100_000).sum(1)
        sm = [len(set(row)) for row in lines["sm"][inside][:200]]
        alone_on = numpy.median((lines["end"] - lines["begin"]).astype("i8")[inside])
        rows.append(dict(seen=seen, blocks=grid, rate=parts.sum() / (last - first) * 1e9,
                         kernel_us=length.mean() / 1e3, block_us=alone_on / 1e3,
                         sms_a_kernel=numpy.mean(sm), sms_ever=len(set(blocks["sm"])),
                         late_kernels=(late > 0).mean(), late_blocks=late.mean(),
                         held=busy(blocks, first, last) / (last - first) / per))
    return rows


def main(out):
    with open(out + "/sms.csv", "w") as f:
        print("cap_percent,sms_shown,sms_used", file=f)
        for cap in [1, 2, 3, 4, *range(5, 101, 5), 7, 12, 33, 37, 42, 51, 58, 63, 66, 67, 72, 88, 99]:
            f.write(client(cap).communicate()[0].decode())
    sets = [(20,), (30,), (33,), (50,), (60,), (75,), (100,),
            (50, 50), (25, 75), (75, 25), (30, 30), (40, 40), (30, 70), (60, 40), (60, 60), (75, 50),
            (75, 75), (90, 30), (33, 33, 33), (50, 25, 25), (50, 50, 25), (60, 60, 60), (75, 50, 33),
            (80, 40, 40), (25, 25, 25, 25), (50, 50, 50, 50)]
    kinds = [("whole", 1, 1), ("two", 1, 4), ("thin", 1, 1)]
    with open(out + "/beside.csv", "w") as f:
        head = None
        for round_ in (1, 2):
            for kind, ms, waves in kinds:
                for caps in sets:
                    if kind == "thin" and round_ == 2:
                        continue
                    rows = run(caps, kind, ms, waves)
                    for i, row in enumerate(rows):
                        head = head or print("round,kind,ms,waves,caps,client,cap," + ",".join(row), file=f) or True
                        print(round_, kind, ms, waves, "+".join(map(str, caps)), i, caps[i],
                              *(f"{v:.4g}" for v in row.values()), sep=",", file=f, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
