#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""gsim beside a plain second simulator: every job of random traces starts and ends in one nanosecond in both.

    run.py GSIM [--draws N] [--first SEED] [--policies NAME,...] [--keep FOLDER]

PLAIN_DRAWS is the default of --draws, setups of each kind for each policy; without it there are two, and four if CASES=all."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from decimal import Decimal

from blocks import Waves
from draw import INSTANCES, KINDS, Setup
from policies import POLICIES
from quotas import Circle

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../models/devices/ideal.ini")) as device:
    DEVICE = device.read()
MIG = DEVICE.replace("hbm_bytes = 1e15", "hbm_bytes = 8GiB") + "[mig]\nslices = 8 | assumed | a draw\n" + "".join(
    f"{name}.{memory}gb = {sms}:{memory}GiB:{slices}:{begins} | assumed | a draw\n"
    for name, (sms, memory, slices, begins) in INSTANCES.items())


ALONE = 2  # times as many setups of a kind that one policy or two have, as it is drawn for no other


def ns(text):
    return int(Decimal(text) * 10**9) if text else None


def by_gsim(gsim, policy, setup, folder):
    for name, text in (("trace.csv", setup.cells()), ("cluster.ini", setup.cluster_file()), 
                       ("other.ini", DEVICE.replace("speed_milli = 1000", f"speed_milli = {setup.speed_milli}")),
                       ("mig.ini", MIG), *setup.files.items()):
        with open(os.path.join(folder, name), "w") as to:
            to.write(text)
    words = [gsim, "--policy", setup.parts[0].policy if setup.parts else POLICIES[policy].name or policy, "--cluster", "cluster.ini", "--device", "ideal", "--quiet", "--format", "json", "--jobs-csv", "jobs.csv"]
    for pair in (*POLICIES[policy].sets, *setup.sets, *(setup.parts[0].sets if setup.parts else ())):
        words += ["--set", pair]
    words += setup.words + ["trace.csv"]
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with open(os.path.join(folder, "cmd"), "w") as to:
        to.write(" ".join(words) + "\n")
    if done.returncode != 0:
        return None, done.stderr
    setup.result = json.loads(done.stdout)
    with open(os.path.join(folder, "jobs.csv")) as rows:
        return {row["job_id"]: row for row in csv.DictReader(rows)}, ""


def difference(rows, jobs, slack, results_of):
    """The first job, by its end, for which the two say different things."""
    for job in sorted(jobs, key=lambda job: (job.end is None, job.end)):
        row = rows[job.name]
        for name, got, due in (("submit", ns(row["submit_s"]), job.submit), ("start", ns(row["start_s"]), job.start),
                               ("end", ns(row["end_s"]), job.end),
                               ("preemptions", int(row["preemptions"]), job.preemptions)):
            if got is None or abs(got - due) > slack * due + 10 * (slack > 0):
                return f"{job.name}: {name} is {got}, plainly {due}"
        service = ns(row["service_s"])
        if service and ns(row["slowdown"]) != (ns(row["end_s"]) - ns(row["submit_s"])) * 10**9 // service:
            return f"{job.name}: slowdown is {row['slowdown']}"
        for name, due in results_of(job).items():
            got = ns(row[name]) if name.endswith("_s") else int(row[name])
            if got != due:
                return f"{job.name}: {name} is {got}, plainly {due}"
    return None


PASSED_OVER = "no walk, since the page states an approximation"


def hold(gsim, policy, kind, seed, folder):
    setup = Setup(seed, kind)
    chosen = POLICIES[policy]()
    cluster, jobs = setup.plain()
    try:
        chosen.run(cluster, jobs, setup)
    except Waves:
        return PASSED_OVER
    except Circle:
        rows, said = by_gsim(gsim, policy, setup, folder)
        return None if rows is None and "without end" in said else "it ended, and plainly goes in a circle"
    rows, said = by_gsim(gsim, policy, setup, folder)
    if rows is None:
        return f"it ended with {said.strip()[:200]}"
    return difference(rows, jobs, chosen.slack, chosen.results_of) or next(
        (f"{name} is {setup.result[name]}, plainly {due}" for name, due in chosen.fields(jobs).items()
         if abs(setup.result[name] - due) > chosen.slack * due + 1e-8), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=int(os.environ.get("PLAIN_DRAWS") or (4 if os.environ.get("CASES") == "all" else 2)))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--policies", default=",".join(POLICIES))
    parser.add_argument("--kinds", help="of setups, of those that the policy has; all without it")
    args = parser.parse_args()
    failed = 0
    gsim = os.path.abspath(args.gsim)
    for policy in args.policies.split(","):
        breaks, n, n_passed = [], 0, 0
        kinds = POLICIES[policy].kinds or KINDS
        for kind in kinds if args.kinds is None else [kind for kind in kinds if kind in args.kinds.split(",")]:
            last = args.first + args.draws * (1 if kind in KINDS else ALONE)
            found = []
            for seed in (*range(args.first, last), *POLICIES[policy].again.get(kind, ())):
                with tempfile.TemporaryDirectory() as folder:
                    found.append((seed, hold(gsim, policy, kind, seed, folder)))
            walked = [(seed, what) for seed, what in found if what != PASSED_OVER]
            n, n_passed = n + len(found), n_passed + len(found) - len(walked)
            breaks += [f"{kind} {seed}: {what}" for seed, what in walked if what]
            if found and not walked:
                breaks.append(f"{kind}: all setups were passed over")
        passed = f", {n_passed} passed over" if n_passed else ""
        print(f"{'not ok' if breaks else 'ok'} {policy}: {n} setups{passed}, {len(breaks)} differ")
        for text in breaks[:5]:
            print(f"# {text}")
        failed += bool(breaks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
