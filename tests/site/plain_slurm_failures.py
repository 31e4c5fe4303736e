# SPDX-License-Identifier: GPL-3.0-or-later
"""Sites of plain_slurm.py on nodes that fail, by docs/clusters.md ("Nodes that fail") and docs/slurm.md: the jobs of a node
are requeued and begin anew, and a node that is down has no room, now or in any plan. Times are fractions of seconds."""
import os
import random
import sys
from fractions import Fraction

import plain_slurm

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../plain"))
from cluster import Node  # noqa: E402
from failures import Outages  # noqa: E402

S = 10**9


class FailingPlain(plain_slurm.Plain):
    def __init__(self, site, jobs, seed):
        super().__init__(site, jobs)
        r = random.Random(f"failures {seed}")
        costs = {"seed": seed, "mtbf": r.choice([20, 100, 500]) * 3600 * S, "mttr": r.choice([60, 1800, 7200]) * S}
        self.nodes = [Node(site.width) for _ in range(site.n_nodes)]
        self.outages = Outages(self, costs)
        self.words = ["--mtbf", f"{costs['mtbf']}ns", "--mttr", f"{costs['mttr']}ns", "--seed", str(seed)]

    def free_by(self, jobs):
        rooms = super().free_by(jobs)
        return {n: (0, *room[1:]) if self.nodes[n].is_down else room for n, room in rooms.items()}

    def next_time(self, arrivals, edges):
        return min(super().next_time(arrivals, edges), Fraction(min(self.outages.turns), S))

    def fail(self):
        """Jobs of nodes that fail come again; whether any node has failed or is repaired."""
        turned = self.outages.turn(int(self.now * S))
        down = {node for node in turned if self.nodes[node].is_down}
        lost = [job for job in self.running if down & {node for node, _ in job["on"]}]
        for job in sorted(lost, key=lambda job: (job["submit"], job["index"])):
            self.stop(job)
            self.enter(job)
        self.foreseen = {} if turned else self.foreseen
        self.changed |= bool(turned)
        return bool(turned)
