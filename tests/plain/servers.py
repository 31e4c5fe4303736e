# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva on several servers, by the heads of policies/gandiva/servers.c and turns.c: jobs find idle GPUs anywhere as
they come, else take turns on one server, and stay there."""
from fractions import Fraction

from slices import Server


class Servers(Server):
    """on: how many GPUs of which server each job is allotted to; sizes: of the gang that found each server empty."""

    def __init__(self, quantum, cluster):
        Server.__init__(self, quantum)
        self.placed = {}  # by server: the size of the gang that was placed there last
        self.cluster, self.on, self.sizes = cluster, {}, [0] * len(cluster.nodes)

    def allotted(self, number):
        return sum(its.get(number, 0) for job, its in self.on.items() if job.end is None)

    def load(self, number):
        """In GPUs of jobs for each GPU, and the server's number."""
        return Fraction(self.allotted(number), self.cluster.nodes[number].gpus), number

    def rounds(self, number, job):
        return -(-(self.allotted(number) + job.gpus) // self.cluster.nodes[number].gpus)

    def allot(self, job, parts):
        self.on.pop(job, None)
        for number in parts:
            if self.allotted(number) == 0:
                self.sizes[number] = job.gpus
        self.on[job] = parts

    def choose(self, job):
        """The least loaded server with gangs of its size, unless the least loaded of all has fewer rounds."""
        fit = [number for number, node in enumerate(self.cluster.nodes) if self.cluster.may_use(job, node) and node.gpus >= job.gpus]
        akin = [number for number in fit if self.allotted(number) and self.sizes[number] == job.gpus]
        least = min(fit, key=self.load)
        own = min(akin, key=self.load, default=least)
        return {own if self.rounds(own, job) <= self.rounds(least, job) else least: job.gpus}

    def note(self, run):
        """A gang that was scattered is allotted to one server anew when it is off its GPUs."""
        Server.note(self, run)
        for job in run.waiting:
            if len(self.on.get(job, ())) > 1:
                del self.on[job]
                self.allot(job, self.choose(job))

    def find(self, run, job):
        """Its old GPUs, if they are idle, else idle ones of its server; anywhere, if it has none."""
        if job not in self.on:
            return self.find_by_rule(run, job) or run.cluster.find_anywhere(job, list(enumerate(self.cluster.nodes)), "any")
        its, (number,) = job.old_units, self.on[job]
        idle = run.cluster.nodes[number].idle()
        if its and all(unit[0] == number and unit[1] in idle for unit in its):
            return its
        return [(number, gpu) for gpu in idle[:job.gpus]] if len(idle) >= job.gpus else None

    def find_by_rule(self, run, job):
        return self.find_akin(job) if run.cluster.rule == "affinity" else run.cluster.find(job)

    def find_akin(self, job):
        """On the fullest node with room of those where a gang of its size was placed last, else on an empty one, the
        narrowest first; else on the fullest."""
        rooms = [(len(node.idle()), number, node) for number, node in enumerate(self.cluster.nodes) if self.cluster.may_use(job, node)]
        rooms = [room for room in rooms if room[0] >= job.gpus]
        empty = [room for room in rooms if room[0] == room[2].gpus]
        akin = [room for room in rooms if room not in empty and self.placed.get(room[1]) == job.gpus]
        if akin or empty:
            self.placed[min(akin or empty, key=lambda room: room[:2])[1]] = job.gpus
        return self.cluster.take(min(akin or empty or rooms, key=lambda room: room[:2])[1], job.gpus) if rooms else None

    def place(self, run, job):
        units = self.find(run, job)
        if job not in self.on:
            numbers = [number for number, _ in units or []]
            self.allot(job, {number: numbers.count(number) for number in numbers} if units else self.choose(job))
        if units:
            run.put(job, units)
        return bool(units)

    def push(self, run, job):
        """Pushes out jobs of its server alone."""
        number, = self.on[job]
        running, others = run.running, [other for other in run.running if number not in self.on[other]]
        run.running = [other for other in running if other not in others]
        Server.push(self, run, job)
        run.running += others
