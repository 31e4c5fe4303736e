#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations between runs, over all policies."""
import argparse
import collections
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import random_runs
from relations import RELATIONS, Case, Skip
from setups import Broke, Refused, Runner, small

KINDS = ("plain", "iterations", "classes", "shares")


def difference(got, due):
    if set(got) != set(due):
        return "other jobs: %s" % sorted(set(got) ^ set(due))[:5]
    for job in sorted(due, key=lambda job: due[job].get("end_s") or 0):
        off = {name: (got[job][name], value) for name, value in due[job].items() if got[job][name] != value}
        if off:
            return "%s: %s" % (job, ", ".join("%s %s not %s" % (n, *v) for n, v in off.items()))
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gsim")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--policies")
    parser.add_argument("--only")
    parser.add_argument("--limit", type=float, default=20)
    args = parser.parse_args()
    lists = random_runs.Lists(args.gsim)
    breaks, held, skipped = collections.defaultdict(list), collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args.gsim, folder, args.limit)
        for policy in (args.policies.split(",") if args.policies else lists.policies):
            for kind in args.kinds.split(","):
                for seed in range(args.first, args.first + args.seeds):
                    setup = small(policy, seed, kind)
                    try:
                        base = runner.run(setup)
                    except (Refused, Broke) as why:
                        print(f"# {policy} {kind} {seed} base: {type(why).__name__}: {why}", flush=True)
                        continue
                    for name, relation in RELATIONS:
                        if args.only and args.only not in name:
                            continue
                        try:
                            what = difference(*relation(Case(runner, setup, base, lists, seed)))
                        except Skip:
                            skipped[name] += 1
                            continue
                        except Refused as why:
                            skipped[name + " REFUSED"] += 1
                            continue
                        except Broke as why:
                            what = str(why)
                        if what:
                            breaks[name, policy].append(f"{kind} {seed}: {what}")
                        else:
                            held[name] += 1
    for (name, policy), texts in sorted(breaks.items()):
        print(f"BREAK {name} | {policy} x{len(texts)} | {texts[0][:230]}")
    for name, _ in RELATIONS:
        if held[name] or skipped[name] or skipped[name + ' REFUSED']:
            print(f"# {name}: held {held[name]}, skipped {skipped[name]}, refused {skipped[name + ' REFUSED']}")
    print(runner.count, "runs")


if __name__ == "__main__":
    sys.exit(main())
