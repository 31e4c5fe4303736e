#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`gsim explain-pair` beside a plain walk of both programs, block by block: how many iterations each makes alone and beside the
other, and where their time goes, on a device of which an SM holds one block.

    pairs.py GSIM [--draws N] [--first SEED]"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from exact import Fraction

from blocks import Blocks, Waves
from cluster import Job
from draw import Setup, us as us_of
from hosts import Program
from results import tell

S = 10**9
SPAN = 10 * S  # of a walk
ENDLESS = 1 << 40  # iterations
SLOWER = 16  # times as long as drawn for runs of milliseconds


class Accounts(Blocks):
    """Time by job: with a kernel of which no block is on SMs, and what the kernel loses since it has fewer SMs than alone."""

    def __init__(self, costs):
        Blocks.__init__(self, costs)
        self.behind, self.fewer, self.busy = {}, {}, {}

    def advance(self, now):
        for kernel in self.kernels:
            job, span = kernel.job, now - self.now
            self.busy[job] = self.busy.get(job, 0) + span
            if not kernel.pace:
                self.behind[job] = self.behind.get(job, 0) + span
            else:
                self.fewer[job] = self.fewer.get(job, 0) + span * (1 - Fraction(kernel.pace, kernel.most))
        Blocks.advance(self, now)

    def account(self, job):
        """ms of an iteration, as explain-pair tells them."""
        lengths = [its[1][0] for what, _, its in job.program.calls if what == "launch"]
        done, within = divmod(len(job.host.ends), len(lengths))
        under_way = sum(kernel.length - max(0, kernel.left) for kernel in self.kernels if kernel.job is job)
        n = done + (sum(lengths[:within]) + under_way) / Fraction(sum(lengths))
        ms = lambda span: float(span / n / 10**6)
        return {"iterations_per_s": float(n * S / SPAN), "kernels_ms": sum(lengths) / 1e6, "waits_for_sms_ms": ms(self.behind.get(job, 0)),
                "fewer_sms_ms": ms(self.fewer.get(job, 0)), "bandwidth_ms": 0, "clock_ms": 0, "host_ms": ms(SPAN - self.busy.get(job, 0))}


def walk(setup, programs):
    gpu = Accounts(setup.costs)
    jobs = [Job(n, {"job_id": f"j{n}", "submit": 0, "duration": 0, "gpus": 1, "ppm": 10**6, "program": (None, program), "iterations": ENDLESS})
            for n, program in enumerate(programs)]
    for job in jobs:
        gpu.add(job, 0)
    gpu.begin(0)
    while (then := gpu.next_time()) < SPAN:
        gpu.advance(then)
        gpu.begin(then)
    gpu.advance(SPAN)
    return [gpu.account(job) for job in jobs]


def slower(program):
    calls = [(what, host * SLOWER, (its[0], (its[1][0] * SLOWER, its[1][1])) if what == "launch" else its) for what, host, its in program.calls]
    return Program(calls, program.gap * SLOWER, program.every)


def draw(seed):
    """Two programs, slowed so that ten seconds have some hundreds of iterations; as they are written and as they are walked."""
    for at in range(seed * 1000, seed * 1000 + 1000):
        setup = Setup(at, "waved_blocks" if at % 2 else "blocks")
        names = sorted(setup.files)
        if len(names) > 1:
            programs = [next((row["program"][1] for row in setup.rows if row["program"][0] == name), None) for name in names[:2]]
            if all(programs) and all(sum(its[1][0] for what, _, its in program.calls if what == "launch") > 2 * 10**6 for program in programs):
                texts = {name: re.sub(r"\d+\.\d{3}", lambda us: us_of(int(us[0].replace(".", "")) * SLOWER), setup.files[name]) for name in names[:2]}
                return setup, texts, [slower(program) for program in programs]
    raise AssertionError("no pair of programs")


def differences(gsim, seed, folder):
    setup, texts, programs = draw(seed)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/devices/ideal.ini")) as its:
        device = its.read()
    for key, value in (("sms = 100", f"sms = {setup.costs['sms']}"), ("threads = 2048", "threads = 1024"), ("\nqueue = 1000000000", f"\nqueue = {setup.costs['launches']}")):
        assert key in device, key
        device = device.replace(key, value, 1)
    for name, text in (("ideal.ini", device), *texts.items()):
        with open(os.path.join(folder, name), "w") as out:
            out.write(text.replace(",ideal,", ",./ideal.ini,"))
    done = subprocess.run([gsim, "explain-pair", *(f"./{name}" for name in texts), "--device", "./ideal.ini", "--format", "json"], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return [f"it ended with {done.stderr.strip()[:200]}"]
    sides, breaks = json.loads(done.stdout), []
    for way, due in (("alone", [walk(setup, [program])[0] for program in programs]), ("beside", walk(setup, programs))):
        for side, its in zip(sides, due):
            got, slack = side[way], 1e-4 * 1000 / its["iterations_per_s"]
            breaks += [f"{side['app']} {way}: {name} is {got[name]}, plainly {value}" for name, value in its.items()
                       if abs(got[name] - value) > (slack if name.endswith("ms") else 1e-4 * value)]
            if abs(sum(value for name, value in got.items() if name.endswith("ms")) - 1000 / got["iterations_per_s"]) > slack / 100:
                breaks.append(f"{side['app']} {way}: the parts do not sum up to an iteration")
    return breaks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    breaks, passed = [], 0
    for seed in range(args.first, args.first + args.draws):
        with tempfile.TemporaryDirectory() as folder:
            try:
                breaks += [f"{seed}: {text}" for text in differences(os.path.abspath(args.gsim), seed, folder)]
            except Waves:
                passed += 1
    return tell(f"explain-pair: the times of {args.draws} pairs as walked plainly" + f", {passed} passed over" * bool(passed), breaks)


if __name__ == "__main__":
    sys.exit(main())
