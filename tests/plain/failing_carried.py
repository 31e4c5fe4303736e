# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes of which some fail under jobs of which memory goes from node to node, by docs/clusters.md ("Nodes that fail") and
docs/models/links.md: a job loses what it has on a host, also where it is on its way to another node, and leaves the network."""
from carried import Carried
from cluster import Run
from failing_copies import FailingCopies
from failures import fall_back


class FailingCarried(FailingCopies, Carried):
    """costs: as those of Carried."""

    crossing = Carried.crossing

    def __init__(self, cluster, jobs, policy, costs):
        self.costs = costs
        FailingCopies.__init__(self, cluster, jobs, policy, self.out_ns, self.in_ns, costs["resume"], costs)
        self.lines = [[] for _ in cluster.nodes]  # of transfers into each node: job, begin, ns

    def come(self, job):
        if job not in self.on_host:
            Run.come(self, job)
            return
        for number, ns in self.crossing(job, job.units).items():
            line = self.line(number)
            line.append((job, max([self.now] + [begin + ns for _, begin, ns in line]), ns))
        self.expect(job, self.now)
        if self.coming[job] == self.now:
            del self.coming[job]
            self.begin(job)

    def line(self, number):
        self.lines[number] = [its for its in self.lines[number] if its[1] + its[2] > self.now]
        return self.lines[number]

    def expect(self, job, soonest):
        ends = [begin + ns for number in range(len(self.lines)) for other, begin, ns in self.line(number) if other is job]
        if ends or soonest is not None:
            self.coming[job] = max(ends, default=soonest) + self.in_ns(job)

    def leave_network(self, job):
        for number in range(len(self.lines)):
            line, free = [its for its in self.line(number) if its[0] is not job], self.now
            if len(line) == len(self.lines[number]):
                continue
            self.lines[number] = []
            for other, begin, ns in line:
                begin = begin if begin < self.now else free
                free = begin + ns
                self.lines[number].append((other, begin, ns))
        for other in list(self.coming):
            self.expect(other, None)

    def held(self, job):
        return job.units + (job.old_units if job in self.leaving or job in self.on_host else [])

    def fail(self, job):
        FailingCopies.fail(self, job)
        self.leave_network(job)

    def change_places(self):
        has_changed, turned = Run.change_places(self), self.outages.turn(self.now)
        for number in [number for number in turned if self.cluster.nodes[number].is_down]:
            for job in [job for job in self.jobs if any(its[0] == number for its in self.held(job))]:
                if job in self.waiting:
                    fall_back(job, self.saved[job], self.costs["every"])
                    job.old_units = []
                    self.on_host.discard(job)
                else:
                    self.fail(job)
        self.admit()
        return has_changed or bool(turned)
