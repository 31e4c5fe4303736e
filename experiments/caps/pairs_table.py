#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes experiments/validate/h200/mps_pairs.{ini,csv} from pairs_h200.csv of this folder, and models/apps/h200-part-wave.csv."""
import collections
import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))
INTO = HERE + "/../validate/h200/mps_pairs"
INI = """# SPDX-License-Identifier: GPL-3.0-or-later
title = Plain arithmetic of several clients of MPS with kernels of unlike lengths, with caps and without, block by block
source = measured on one NVIDIA H200 (driver 580.159.04, 2026-11-29): experiments/caps/pairs.py, kernels one after another
device = h200
policy = mps
columns = job_id,submit_s,iterations,gpu_ms,gpus,app
"""
TABLE = """# The speed of a client as a part of that alone, of kernels of one wave whose blocks need an SM each: 88.2 us for `ms` of 0.3
# in pairs_h200.csv, others in proportion to their arithmetic, and 2.4 us more with the launch. Clients begin 70 us after
# one another, with as many kernels as they were measured to do in 0.2 s. Nothing of these rows is in the model: that blocks
# begin in pieces is by experiments/caps/caps.py, with caps. Of clients with caps, the real ones choose their SMs as a kernel
# begins, which gsim does not have. By experiments/caps/pairs_table.py.
scenario,what,simulated,reference,unit,bound,use
"""
STEP_US, SECONDS = 88.19, 0.2  # a block of a kernel that the file calls 0.3 ms, alone on its SM


def main():
    sets = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(HERE + "/pairs_h200.csv") as f:
        for row in csv.DictReader(f):
            if row["waves"] == "1":
                sets[row["set"], row["caps"], row["ms"], row["fills"]][int(row["client"])].append(row)
    alone = {key[1]: 1e6 / float(its[0][0]["rate"]) - STEP_US for key, its in sets.items() if key[0] == "alone"}
    between_us = alone["100"]
    with open(INTO + ".ini", "w") as ini, open(INTO + ".csv", "w") as table:
        ini.write(INI)
        table.write(TABLE)
        for (name, caps, ms, fills), clients in sets.items():
            if name == "alone" or name == "grids":
                continue
            caps, lengths = caps.split("+"), [float(its) for its in ms.split("+")]
            us = [f"{STEP_US * its / 0.3:.1f}" for its in lengths]
            scenario = f"{name}_{'_'.join(caps)}_{'_'.join(us)}_{fills}".replace(" ", "_").replace(".", "p")
            ini.write(f"\n[{scenario}]\n")
            app = "h200-part-wave" if fills == "78" else "h200-one-wave"
            for i, its in sorted(clients.items()):
                rate = sum(float(row["rate"]) for row in its) / len(its)
                alone_us = STEP_US * lengths[i] / 0.3 + between_us
                n = round(rate * SECONDS)
                sms = int(its[0]["blocks"])
                part = sms / 132 if app == "h200-one-wave" else 1
                ini.write(f"job = {i},{i * 0.00007:g},{n},{alone_us * part / 1000:.6f},{int(caps[i]) / 100:g},{app}\n")
                bound = "5%" if name == "no caps" else "30%" if len(caps) > 2 else "15%"
                table.write(f"{scenario},{us[i]} us on {caps[i]} % beside {' and '.join(its for k, its in enumerate(us) if k != i)} us"
                            f"{' (a block on 78 SMs)' if fills == '78' else ''},{n * alone_us * 1e-6:.6f} / jct_s({i}),{rate * alone_us * 1e-6:.4f},,{bound},\n")
    with open(HERE + "/../../models/apps/h200-one-wave.csv") as f, open(HERE + "/../../models/apps/h200-part-wave.csv", "w") as to:
        to.write(f.read().replace("one wave of blocks that have an SM each", "blocks for 78 SMs that have one each").replace(",,132,1024", ",,78,1024")
                 .replace("all SMs with its launch", "all SMs with its launch (here on 78 of them)").replace("caps/table.py", "caps/pairs_table.py"))


main()
