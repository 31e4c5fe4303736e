# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva on several servers, by the heads of policies/gandiva/servers.c and turns.c: jobs find idle GPUs anywhere as
they come, else take turns on one server, and stay there."""
from exact import Fraction

from blocks import Waves
from slices import Server


class Contest(Waves):
    """Jobs of several servers want the GPUs of one gang in one instant."""


class Servers(Server):
    """on: how many GPUs of which server each job is allotted to; sizes: of the gang that found each server empty."""

    def __init__(self, quantum, cluster):
        Server.__init__(self, quantum)
        self.guests = set()  # jobs on GPUs that another one has claimed
        self.placed = {}  # by server: the size of the gang that was placed there last
        self.cluster, self.on, self.sizes = cluster, {}, [0] * len(cluster.nodes)
        self.widest = max(node.gpus for node in cluster.nodes)

    def arrived(self, run, job):
        """Also one that has lost its GPUs with a node: it has ended there."""
        Server.arrived(self, run, job)
        self.on.pop(job, None)
        self.guests.discard(job)

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
        """The least loaded server with gangs of its size, unless the least loaded of all has fewer rounds: of those that are up."""
        fit = [number for number, node in enumerate(self.cluster.nodes) if node.gpus >= job.gpus and not node.is_down]
        if not fit and not self.is_wide(job):
            raise Contest  # it is allotted to several while the wide ones are down
        if not fit:
            return self.choose_several(job)
        akin = [number for number in fit if self.allotted(number) and self.sizes[number] == job.gpus]
        least = min(fit, key=self.load)
        own = min(akin, key=self.load, default=least)
        return {own if self.rounds(own, job) <= self.rounds(least, job) else least: job.gpus}

    def is_wide(self, job):
        return job.gpus > self.widest

    def choose_several(self, job):
        """The least loaded ones."""
        parts, left = {}, job.gpus
        for number in sorted((number for number, node in enumerate(self.cluster.nodes) if not node.is_down), key=self.load):
            its = min(left, self.cluster.nodes[number].gpus)
            parts.update({number: its} if its else {})
            left -= its
        if left:
            raise Contest  # it is allotted to none until more are up
        return parts

    def note(self, run):
        """A gang that was scattered is allotted to one server anew when it is off its GPUs."""
        Server.note(self, run)
        self.leave_down(run)
        for job in sorted(run.waiting, key=lambda job: job.number):
            if len(self.on.get(job, ())) > 1 and not self.is_wide(job):
                del self.on[job]
                self.allot(job, self.choose(job))

    def leave_down(self, run):
        """Jobs that wait for servers that are down are allotted anew, server by server, in the order of their lines."""
        down = [number for number, node in enumerate(self.cluster.nodes) if node.is_down]
        for number in down + [None] * bool(down):  # gangs on several at last
            for job in Server.line(self, run):
                if set(down) & set(self.on.get(job, ())) and (self.is_wide(job) if number is None else set(self.on[job]) == {number}):
                    del self.on[job]
                    self.allot(job, self.choose(job))

    def find(self, run, job):
        """Its old GPUs, if they are idle, else idle ones of its server; anywhere, if it has none."""
        if job not in self.on:
            return self.find_by_rule(run, job) or run.cluster.find_anywhere(job, list(enumerate(self.cluster.nodes)), "any")
        its, parts = job.old_units, self.on[job]
        idle = {number: run.cluster.nodes[number].idle() for number in parts}
        is_bound = not self.is_wide(job) or getattr(run, "has_memory", lambda job: False)(job)
        if its and is_bound and all(number in idle and gpu in idle[number] for number, gpu in its):
            return its
        has_room = all(len(idle[number]) >= n for number, n in parts.items())
        return [(number, gpu) for number, n in parts.items() for gpu in idle[number][:n]] if has_room else None

    def find_by_rule(self, run, job):
        return self.find_akin(job) if run.cluster.rule == "affinity" else run.cluster.find(job)

    def find_akin(self, job):
        """On the fullest node with room of those where a gang of its size was placed last, else on an empty one, the
        narrowest first; else as they are consolidated."""
        rooms = [(len(node.idle()), number) for number, node in enumerate(self.cluster.nodes)]
        rooms = [room for room in rooms if room[0] >= job.gpus]
        empty = [room for room in rooms if room[0] == self.cluster.nodes[room[1]].gpus]
        akin = [room for room in rooms if room not in empty and self.placed.get(room[1]) == job.gpus]
        if akin or empty:
            self.placed[min(akin or empty)[1]] = job.gpus
            return self.cluster.take(min(akin or empty)[1], job.gpus)
        self.cluster.rule = "consolidate"
        units = self.cluster.find(job)
        self.cluster.rule = "affinity"
        return units

    def place(self, run, job):
        units = self.find(run, job)
        if job not in self.on:
            numbers = [number for number, _ in units or []]
            self.allot(job, {number: numbers.count(number) for number in numbers} if units else self.choose(job))
        if units:
            self.note_coming(run, job)
            run.put(job, units)
        return bool(units)

    def note_coming(self, run, job):
        self.guests.discard(job)
        if self.is_kept_back(run, job):
            self.guests.add(job)

    def is_kept_back(self, run, job):
        """Whether a job that has waited longer has a claim on one of its servers."""
        age = lambda its: (self.since.get(its, run.now), its.number)
        return any(its and age(its) < age(job) for its in [self.claimant(run, number) for number in self.on[job]])

    def claimant(self, run, number):
        """The first that has waited for a slice for GPUs of this server and others."""
        wide = [job for job in run.waiting if self.is_wide(job) and number in self.on.get(job, ()) and job in self.since]
        wide = [job for job in wide if run.now >= self.since[job] + self.quantum]
        return min(wide, key=lambda job: (self.since[job], job.number), default=None)

    def push(self, run, job):
        """Pushes out jobs of its servers alone, of each until it has enough there."""
        claimants = {number: self.claimant(run, number) for number in self.on[job]}
        if self.is_kept_back(run, job):
            return
        out = []
        for number, n in self.on[job].items():
            there = [other for other in run.running if number in self.on[other]]
            due = [other for other in there if self.is_due(run, other) and self.yields(run, other, job)
                   or claimants[number] is job and other in self.guests]
            room = len(run.cluster.nodes[number].idle())
            room += sum(its[0] == number for other in out for its in other.units)
            for other in sorted(due, key=lambda other: (other.since, other.number)):
                if room < n and other not in out:
                    out.append(other)
                    room += sum(its[0] == number for its in other.units)
            if room < n:
                return
        for other in out:
            run.cluster.change(other, 1)
        units = self.find(run, job)
        for other in out:
            run.cluster.change(other, -1)
        self.note_coming(run, job)
        for other in [other for other in out if set(units) & set(other.units)]:
            run.stop(other)
        run.put(job, units)

    def serve(self, run, line):
        """Gangs over several servers, then server by server in the order of the cluster."""
        for job in [job for job in line if self.is_wide(job)]:
            self.serve_one(run, job)
        was = None
        while was != len(run.leaving):
            was = len(run.leaving)
            self.serve_lines(run, self.lines(run, line))

    def lines(self, run, line):
        return [[job for job in line if job in run.waiting and set(self.on[job]) == {number} and not self.is_wide(job)]
                for number in range(len(self.cluster.nodes))]

    def serve_lines(self, run, lines):
        for job in [job for its in lines for job in its]:
            self.serve_one(run, job)

    def serve_one(self, run, job):
        if not self.place(run, job):
            self.push(run, job)

    def line(self, run):
        """Gangs over several servers first."""
        return sorted(Server.line(self, run), key=lambda job: not self.is_wide(job))

    def decide(self, run):
        Server.decide(self, run)
        times = [self.since[job] + self.quantum for job in run.waiting if self.is_wide(job)]
        self.next = min([time for time in times if time > run.now] + ([self.next] if self.next else []), default=None)
