#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations between runs: what a change of names, times, order, files or settings does to the rows of jobs.

    run.py GSIM [--seeds N] [--first SEED] [--drawn N] [--policies NAME,...] [--only WORDS]

Every listed policy is held to every relation of relations.py, in one small setup each, and in those setups in
which a relation was once found broken. --seeds N takes N setups of each kind for each policy; --drawn N takes N
setups of fuzz/random_runs.py besides, from seed --first on; --logs N takes N parts of each public trace that lies
in ../shared/traces for each policy. RELATION_SEEDS, RELATION_DRAWN and RELATION_LOGS are their defaults.
"""
import argparse
import collections
import os
import sys
import tempfile

from relations import EXCEPT, READER, RELATIONS, Case, Skip
from setups import KINDS, Broke, Logs, Refused, Runner, drawn, random_runs, small

# Setups in which a relation was once broken: policy, kind, seed.
FOUND = [("shockwave", "plain", 0), ("gavel", "shares", 1), ("antman", "classes", 1),
         ("srtf", "plain", 1), ("srsf", "plain", 1), ("gang-rr", "plain", 19)]


def difference(got, due):
    if set(got) != set(due):
        return "other jobs: %s" % sorted(set(got) ^ set(due))[:5]
    for job in sorted(due, key=lambda job: due[job].get("end_s") or 0):
        off = {name: (got[job][name], value) for name, value in due[job].items() if got[job][name] != value}
        if off:
            return "%s: %s" % (job, ", ".join("%s is %s, not %s" % (name, *pair) for name, pair in off.items()))
    return None


class Suite:
    def __init__(self, gsim, limit, only):
        self.gsim, self.limit, self.only = gsim, limit, only
        self.lists = random_runs.Lists(gsim)
        self.counts, self.breaks = collections.Counter(), collections.defaultdict(list)
        self.refused = 0

    def hold(self, runner, setup, relations, name, seed):
        """Holds one setup to relations; name says which it is."""
        try:
            base = runner.run(setup)
        except Refused:
            self.refused += 1
            return
        policies = {setup.policy, *(keys["policy"] for _, keys in setup.nodes if "policy" in keys)}
        for title, relation in relations:
            if self.only not in title or policies & set(EXCEPT.get(title, ())):
                continue
            try:
                what = difference(*relation(Case(runner, setup, base, self.lists, seed)))
            except (Skip, Refused):
                continue
            except Broke as why:
                what = str(why)
            self.counts[title] += 1
            if what:
                self.breaks[title].append(f"{name}: {what}")

    def report(self):
        for title, _ in READER + RELATIONS:
            if self.only not in title:
                continue
            good = self.counts[title] and not self.breaks[title]
            print(f"{'ok' if good else 'not ok'} {title}: {self.counts[title]} setups, {len(self.breaks[title])} broken")
            for text in self.breaks[title][:10]:
                print(f"# {text[:300]}")
        print(f"# {self.refused} setups were refused")
        return bool([title for title, texts in self.breaks.items() if texts])


def setups(args, lists):
    policies = args.policies.split(",") if args.policies else lists.policies
    for i, policy in enumerate(policies):
        if args.seeds == 0:
            kind, seed = KINDS[i % len(KINDS)], i // len(KINDS) % 2
            yield f"{policy} {kind} {seed}", small(policy, seed, kind), seed
        for kind in KINDS if args.seeds else ():
            for seed in range(args.first, args.first + args.seeds):
                yield f"{policy} {kind} {seed}", small(policy, seed, kind), seed
    for policy, kind, seed in FOUND:
        if policy in policies:
            yield f"{policy} {kind} {seed}", small(policy, seed, kind), seed
    logs = Logs(args.gsim, "../shared/traces")
    for policy in policies if args.logs else ():
        for name in logs.names():
            for seed in range(args.first, args.first + args.logs):
                yield f"{policy} {name} {seed}", logs.part(policy, seed, name), seed
    for seed in range(args.first, args.first + args.drawn):
        yield f"drawn {seed}", drawn(seed, lists), seed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--seeds", type=int, default=int(os.environ.get("RELATION_SEEDS", "0")))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--drawn", type=int, default=int(os.environ.get("RELATION_DRAWN", "0")))
    parser.add_argument("--logs", type=int, default=int(os.environ.get("RELATION_LOGS", "0")))
    parser.add_argument("--policies")
    parser.add_argument("--only", default="")
    parser.add_argument("--limit", type=float, default=20)
    args = parser.parse_args()
    suite = Suite(args.gsim, args.limit, args.only)
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args.gsim, folder, args.limit)
        for number, (name, setup, seed) in enumerate(setups(args, suite.lists)):
            try:
                suite.hold(runner, setup, RELATIONS + (READER if number == 0 else []), name, seed)
            except Broke as why:
                suite.breaks["the setup itself"].append(f"{name}: {why}")
                print(f"not ok {name} runs\n# {why}")
    bad = suite.report()
    print(f"# {runner.count} runs")
    return bad


if __name__ == "__main__":
    sys.exit(main())
