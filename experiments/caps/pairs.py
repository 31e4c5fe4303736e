#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients of MPS at 60 % each, and without caps, by the lengths of their kernels, waves and phase.

Needs a running daemon of MPS and the program `caps` beside this file; writes pairs.csv into a folder.
"""
import sys

import caps

# (name, caps, ms of each client's kernels, waves, SMs that are filled at most)
SETS = [("alone", (60,), (0.3,), 1, 132), ("alone", (60,), (0.3,), 4, 132), ("alone", (100,), (0.3,), 1, 132)]
SETS += [("lengths", (60, 60), (0.3, round(0.3 * f, 4)), 1, 132)
         for f in (1, 1.003, 1.03, 1.1, 1.25, 1.5, 1.618, 2, 2.5, 3, 4.236, 6)]
SETS += [("waves", (60, 60), (0.3 * w, 0.3 * w), w, 132) for w in (2, 3, 4, 8)]
SETS += [("waves of unlike kernels", (60, 60), (0.3 * w, 0.486 * w), w, 132) for w in (2, 4)]
SETS += [("a ms", (60, 60), (1, 1), 1, 132), ("a ms unlike", (60, 60), (1, 1.37), 1, 132)]
SETS += [("grids", (60, 60), (0.3, 0.3), 1, n) for n in (66, 70, 74)]
SETS += [("three", (60, 60, 60), (0.3, 0.41, 0.73), 1, 132), ("three", (75, 50, 33), (0.3, 0.41, 0.73), 1, 132)]
SETS += [("no caps", (100, 100), (0.3, round(0.3 * f, 4)), 1, n) for f in (1, 1.618) for n in (78, 132)]
SETS += [("no caps", (100, 100, 100), (0.3, 0.41, 0.73), 1, 132)]
PHASES = (0, 0.00007, 0.00015, 0.00023)  # s: the second client begins so much later


def main(out):
    caps.SECONDS = 0.35
    with open(out + "/pairs.csv", "w") as f:
        head = None
        for name, shares, ms, waves, fills in SETS:
            phases = PHASES if name in ("lengths", "a ms") and ms[0] == ms[-1] else PHASES[:1]
            for phase in phases:
                rows = caps.run(shares, "whole", ms, waves, fills, phase)
                head = head or print("set,caps,ms,waves,fills,phase_us,client," + ",".join(rows[0]), file=f) or True
                for i, row in enumerate(rows):
                    print(name, "+".join(map(str, shares)), "+".join(map(str, ms)), waves, fills, round(phase * 1e6), i,
                          *(f"{v:.4g}" for v in row.values()), sep=",", file=f, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
