# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva on several servers, by the heads of policies/gandiva/servers.c and turns.c: jobs find idle GPUs anywhere as
they come, else take turns on one server, and stay there."""
from blocks import Waves
from slices import Server


class Scattered(Waves):
    """A gang takes idle GPUs of several servers, and has its turns on all of these."""


class Servers(Server):
    """on: the number of the server that each job is allotted to; sizes: of the gang that found each server empty."""

    def __init__(self, quantum, cluster):
        Server.__init__(self, quantum)
        self.placed = {}  # by server: the size of the gang that was placed there last
        self.cluster, self.on, self.sizes = cluster, {}, [0] * len(cluster.nodes)

    def allotted(self, number):
        return sum(job.gpus for job, its in self.on.items() if its == number and job.end is None)

    def load(self, number):
        """In GPUs of jobs for each GPU, and the server's number."""
        return self.allotted(number) / self.cluster.nodes[number].gpus, number

    def rounds(self, number, job):
        return -(-(self.allotted(number) + job.gpus) // self.cluster.nodes[number].gpus)

    def allot(self, job, number):
        if self.allotted(number) == 0:
            self.sizes[number] = job.gpus
        self.on[job] = number

    def choose(self, job):
        """The least loaded server with gangs of its size, unless the least loaded of all has fewer rounds."""
        fit = [number for number, node in enumerate(self.cluster.nodes) if self.cluster.may_use(job, node) and node.gpus >= job.gpus]
        akin = [number for number in fit if self.allotted(number) and self.sizes[number] == job.gpus]
        least = min(fit, key=self.load)
        own = min(akin, key=self.load, default=least)
        return own if self.rounds(own, job) <= self.rounds(least, job) else least

    def find(self, run, job):
        """Its old GPUs, if they are idle, else idle ones of its server; anywhere, if it has none."""
        if job not in self.on:
            return self.find_akin(job) if run.cluster.rule == "affinity" else run.cluster.find(job)
        its, idle = job.old_units, run.cluster.nodes[self.on[job]].idle()
        if its and all(gpu in idle for number, gpu in its):
            return its
        return [(self.on[job], gpu) for gpu in idle[:job.gpus]] if len(idle) >= job.gpus else None

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
        if not units and job not in self.on and sum(len(node.idle()) for node in run.cluster.nodes) >= job.gpus:
            raise Scattered
        if job not in self.on:
            self.allot(job, units[0][0] if units else self.choose(job))
        if units:
            run.put(job, units)
        return bool(units)

    def push(self, run, job):
        """Pushes out jobs of its server alone."""
        running, others = run.running, [other for other in run.running if self.on[other] != self.on[job]]
        run.running = [other for other in running if other not in others]
        Server.push(self, run, job)
        run.running += others
