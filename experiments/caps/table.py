#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes experiments/validate/h200/mps_caps.{ini,csv} from the two files of this folder."""
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
