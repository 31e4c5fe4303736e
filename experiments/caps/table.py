#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes experiments/validate/h200/mps_caps.{ini,csv} from the two files of this folder, and mps_caps_blocks
beside them: kernels of one wave as programs."""
import collections
import csv
import os

HERE = os.path.dirname(os.path.abspath(__file__))
INTO = HERE + "/../validate/h200/mps_caps"
INI = """# SPDX-License-Identifier: GPL-3.0-or-later
title = Plain arithmetic of several clients of MPS under caps, jobs without a program
source = measured on one NVIDIA H200 (driver 580.159.04, 2026-11-29): experiments/caps, kernels one after another
device = h200
policy = mps
columns = job_id,submit_s,iterations,gpu_ms,sync,sm_fraction,hbm_gbps,gpus
"""
TABLE = """# The time of a kernel (ms), mean of two rounds of a second, of clients with equal caps together. A kernel has a block
# for each of its client's SMs that needs the SM to itself (whole), or four waves of two blocks an SM (two); alone on
# all SMs it takes 0.30 ms with the launch (fitted). gpu_ms is the time of twenty on the part of the GPU that the cap
# says, by the SMs that blocks were counted on: fewer than the part. No other one of these rates is in the model.
# Kernels of one wave wait for their last block where caps sum up to more than the GPU; jobs without a program have no
# waves, so those are shown. By experiments/caps/table.py.
scenario,what,simulated,reference,unit,bound,use
"""


BLOCKS = HERE + "/../validate/h200/mps_caps_blocks"
BLOCKS_INI = """# SPDX-License-Identifier: GPL-3.0-or-later
title = Plain arithmetic of several clients of MPS under caps, block by block
source = measured on one NVIDIA H200 (driver 580.159.04, 2026-11-29): experiments/caps, kernels one after another
device = h200
policy = mps
columns = job_id,submit_s,iterations,gpu_ms,gpus,app
"""
BLOCKS_TABLE = """# The speed of a client as a part of that alone under its cap, mean of two rounds of a second, of kernels of one wave: a
# block for each of its client's SMs, that needs the SM to itself. gpu_ms is what its kernel would take on all SMs. Clients begin 70 us after one
# another. What is measured of clients beside each other is nowhere in the model. Above 100 % in all, real kernels choose their SMs as
# they begin, and wait for these though others become idle: gsim lets them have any. By experiments/caps/table.py.
scenario,what,simulated,reference,unit,bound,use
"""
KERNELS = 3000


def blocks(rates, sms):
    """Of the sets of whole kernels, the speeds of clients by their blocks."""
    alone_us = 1e6 / mean(rates["whole", "100", "100"])
    ini, table = {}, [BLOCKS_TABLE]
    for (kind, caps, cap), its in rates.items():
        all_caps = caps.split("+")
        if kind != "whole" or caps == cap:
            continue
        name = "caps_" + caps.replace("+", "_")
        ini[name] = f"\n[{name}]\n" + "".join(
            f"job = {i},{i * 0.00007:g},{KERNELS},{alone_us * sms[c] / 132e3:.6f},{int(c) / 100:g},h200-one-wave\n"
            for i, c in enumerate(all_caps))
        alone_s = KERNELS * alone_us * 1e-6
        speed = mean(its) / mean(rates["whole", "100", "100"])
        table.append(f"{name},{cap} % of {' and '.join(all_caps)} %,{alone_s:.6f} / jct_s({all_caps.index(cap)}),{speed:.4f},,{'15%' if sum(map(int, all_caps)) > 100 else '5%'},\n")
    with open(HERE + "/../../models/apps/h200-one-wave.csv", "w") as f:
        f.write("# Measured on one NVIDIA H200 (driver 580.159.04, 2026-11-29): experiments/caps, a kernel of plain arithmetic alone on\n"
                "# all SMs with its launch, by how many a second there were. By experiments/caps/table.py.\n"
                "kind,name,time_us,device,host_us,blocks,threads,registers,shared_kib,dram_bytes,spreads,alike,bytes\n"
                "title,one wave of blocks that have an SM each (H200),,,,,,,,,,,\nbuffer,blocks,,,,,,,,,,,96MiB\n" # 2^22 of 24 bytes, see caps.cu
                f"kernel,burn,{alone_us:.3f},h200,,132,1024,16,227,0,yes,yes,\nlaunch,burn,,,2,,,,,,,,\nsync,none,,,,,,,,,,,\n")
    with open(BLOCKS + ".ini", "w") as f:
        f.write(BLOCKS_INI + "".join(ini.values()))
    with open(BLOCKS + ".csv", "w") as f:
        f.write("".join(table))


def mean(its):
    return sum(its) / len(its)


def main():
    with open(HERE + "/sms_h200.csv") as f:
        sms = {row["cap_percent"]: int(row["sms_used"]) for row in csv.DictReader(f)}
    rates = collections.defaultdict(list)
    with open(HERE + "/beside_h200.csv") as f:
        for row in csv.DictReader(f):
            if row["kind"] != "thin":
                rates[row["kind"], row["caps"], row["cap"]].append(float(row["rate"]))
    blocks(rates, sms)
    ini, table = {}, [TABLE]
    for (kind, caps, cap), its in rates.items():
        name, all_caps = f"{kind}_{caps.replace('+', '_')}", caps.split("+")
        alone_ms = 1000 / mean(rates[kind, "100", "100"])
        ini[name] = f"\n[{name}]\n" + "".join(
            f"job = {i},0,100,{20 * alone_ms * sms[c] / 132 / (int(c) / 100):.6f},none,1,0,{int(c) / 100:g}\n"
            for i, c in enumerate(all_caps))
        is_shown = kind == "whole" and sum(map(int, all_caps)) > 100
        bound = "" if is_shown or caps == "100" else "1%" if cap == caps else "6%"
        use = "shown" if is_shown else "fitted" if caps == "100" else ""
        where = "alone" if cap == caps else f"of {' and '.join(all_caps)} %"
        table.append(f"{name},{kind}: {cap} % {where},0.5 * jct_s({all_caps.index(cap)}),{1000 / mean(its):.4g},ms,{bound},{use}\n")
    with open(INTO + ".ini", "w") as f:
        f.write(INI + "".join(ini.values()))
    with open(INTO + ".csv", "w") as f:
        f.write("".join(table))


main()
