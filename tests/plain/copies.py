# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies of whole jobs that share roots of PCIe and the memory of their host, by docs/models/links.md: each GPU's copy has
its link, and all that copy share max-min fair what roots and NUMA domains carry, each way and both ways together."""
from exact import Fraction

from cluster import Run

S = 10**9


def fair(flows, limits):
    """Max-min fair rates: all rise alike, and those at a limit stay. limits: pairs of a rate and the flows below it."""
    rates, rising = {flow: Fraction(0) for flow in flows}, set(flows)
    while rising:
        room = [(Fraction(most - sum(rates[flow] for flow in its), len(its & rising)), its) for most, its in limits if its & rising]
        least = min(by for by, _ in room)
        for flow in rising:
            rates[flow] += least
        rising -= {flow for by, its in room if by == least for flow in its}
    return rates


class Linked(Run):
    """costs: bytes per second of a link (out, in), of a root each way, of a domain (in, out, both), and GPUs below each.
    One node."""

    def __init__(self, cluster, jobs, policy, costs):
        Run.__init__(self, cluster, jobs, policy, lambda job: 1, lambda job: 1)
        self.costs, self.flows, self.rates, self.seen = costs, {}, {}, 0  # bytes that are left, by job, GPU and way

    def limits(self):
        keys = set(self.flows)
        its = [(self.costs[way], {key}) for key in keys for way in [key[2]]]
        for group, names in (("root_gpus", {"root": ("in",), "root out": ("out",)}),
                             ("numa_gpus", {"host_in": ("in",), "host_out": ("out",), "host_both": ("in", "out")})):
            for nth in range(-(-self.cluster.nodes[0].gpus // self.costs[group])):
                for name, ways in names.items():
                    below = {key for key in keys if key[1] // self.costs[group] == nth and key[2] in ways}
                    its.append((self.costs[name.split()[0]], below))
        return [(most, below) for most, below in its if below]

    def instant(self):
        for key, rate in self.rates.items():
            self.flows[key] -= rate * (self.now - self.seen) / S
        self.seen = self.now
        self.flows = {key: left for key, left in self.flows.items() if left > 0}
        for those in (self.leaving, self.coming):
            for job in those:
                those[job] = self.now + (10**18 if any(key[0] is job for key in self.flows) else 0)
        Run.instant(self)
        for those, way in ((self.leaving, "out"), (self.coming, "in")):
            for job in [job for job in those if those[job] == self.now + 1]:
                self.flows.update({(job, gpu, way): Fraction(job.memory) for _, gpu in (job.old_units if way == "out" else job.units)})
        self.rates = fair(self.flows, self.limits())

    def next_time(self):
        ends = [self.seen + -(-left * S // self.rates[key]) for key, left in self.flows.items()]
        then = Run.next_time(self)
        return min(ends + [then] * (then is not None), default=None)
