# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva's jobs that move between servers, by the head of policies/gandiva/moves.c and docs/clusters.md."""
from servers import Servers


class Moving(Servers):
    """waited: on the server to which each is allotted, in turns that are over; there: since when it is allotted to it."""

    def __init__(self, quantum, cluster, costs):
        Servers.__init__(self, quantum, cluster)
        self.costs, self.waited, self.there, self.ended = costs, {}, {}, 0
        self.were_up = set(self.are_up())
        self.is_free = self.is_loose = False  # a job has ended, or a server come back, since servers were balanced, or gangs gathered

    def arrived(self, run, job):
        """Where it was, there is room now."""
        self.is_free |= job in self.on
        self.is_loose |= job in self.on
        Servers.arrived(self, run, job)

    def are_up(self):
        return [number for number, node in enumerate(self.cluster.nodes) if not node.is_down]

    def allot(self, job, parts):
        if self.on.get(job) != parts:
            self.waited[job], self.there[job] = 0, None
        Servers.allot(self, job, parts)

    def rounds_of(self, number, gpus):
        return -(-gpus // self.cluster.nodes[number].gpus)

    def line_of(self, run, number):
        return [job for job in self.line(run) if list(self.on.get(job, ())) == [number] and not self.is_wide(job)]

    def extra_ns(self, run, job, units):
        """How much longer the way to these units is than that to its memory."""
        if not job.old_units or not hasattr(run, "quote_ns"):
            return 0
        return run.quote_ns(job, units) - run.quote_ns(job, job.old_units)

    def look_at_changes(self):
        """Whether there is more room than before."""
        ended = sum(job.end is not None for job in self.on)
        if ended > self.ended:
            self.is_free = self.is_loose = True
        self.ended, self.pays_at = ended, []
        if set(self.are_up()) - self.were_up:  # a server has been repaired
            self.is_free = self.is_loose = True
        self.were_up = set(self.are_up())

    def decide(self, run):
        self.look_at_changes()
        Servers.decide(self, run)
        self.gather(run)
        self.next = min(self.pays_at + ([self.next] if self.next else []), default=None)

    def use_idle(self, run, newcomers):
        """Of the servers that are left the most loaded one, and of each those that would wait longest."""
        self.pays_at, left = [], set(self.are_up())
        while left:
            number = max(left, key=self.load)
            left.remove(number)
            its = [job for job in self.line_of(run, number) if job not in newcomers]
            for nth in reversed(range(len(its))):
                ahead = sum(job.gpus for job in its[:nth + 1])
                self.take_idle(run, its[nth], self.rounds_of(number, ahead) * self.quantum)
        for job in [job for job in self.line(run) if self.is_wide(job) and job not in newcomers]:
            self.take_idle(run, job, self.quantum)

    def take_idle(self, run, job, next_turn):
        units = self.find_anywhere(run, job)
        if not units:
            return
        since = max(self.since[job], self.there.get(job) or 0)
        lacks = self.extra_ns(run, job, units) - next_turn - self.waited.get(job, 0) - (run.now - since)
        if lacks > 0:
            self.pays_at.append(run.now + lacks)
            return
        numbers = [number for number, _ in units]
        parts = {number: numbers.count(number) for number in numbers}
        is_same = self.on[job] == parts
        self.allot(job, parts)
        self.note_coming(run, job)
        self.waited[job] *= is_same
        run.put(job, units)

    def note_coming(self, run, job):
        if job in self.since:
            self.waited[job] += run.now - max(self.since[job], self.there[job] or 0)
        Servers.note_coming(self, run, job)

    def find_anywhere(self, run, job):
        home = run.find_home(job) if hasattr(run, "find_home") else None
        return home or self.find_by_rule(run, job) or run.cluster.find_anywhere(job, list(enumerate(self.cluster.nodes)), "any")

    def balance(self, run):
        """Whether any has moved: from the most loaded server to the least loaded one, the last in line first."""
        has_moved, from_ = False, max(self.are_up(), key=self.load, default=None)
        while self.is_free and from_ is not None:
            to = min(self.are_up(), key=self.load)
            if self.rounds_with(from_, 0) <= self.rounds_with(to, 1):
                break
            if self.relieve(run, from_, to):
                has_moved, from_ = True, max(self.are_up(), key=self.load)
            elif not self.line_of(run, from_):
                less = [number for number in self.are_up() if self.load(number) < self.load(from_)]
                if not less:
                    break
                from_ = max(less, key=self.load)
            else:
                break
        self.is_free = False
        return has_moved

    def rounds_with(self, number, more):
        return self.rounds_of(number, self.allotted(number) + more)

    def relieve(self, run, from_, to):
        line, there = self.line_of(run, from_), sum(job.gpus for job in self.line_of(run, to))
        for nth in reversed(range(len(line))):
            job, gpus = line[nth], self.cluster.nodes[to].gpus
            if job.gpus > gpus or self.rounds_with(to, job.gpus) >= self.rounds_with(from_, 0):
                continue
            less = self.rounds_of(from_, sum(other.gpus for other in line[:nth + 1])) - self.rounds_of(to, there + job.gpus)
            extra = self.extra_ns(run, job, [(to, gpu) for gpu in range(job.gpus)])
            if less >= 0 and extra <= less * self.quantum:
                self.allot(job, {to: job.gpus})
                self.there[job] = run.now
                return True
        return False

    def gather(self, run):
        """While no job waits, or is on its way off GPUs: the first gang that is on more servers than it needs moves to fewer."""
        if not self.is_loose or run.waiting or set(run.leaving) - run.moving:
            return
        widest = max(node.gpus for node in self.cluster.nodes)
        for job in sorted(run.running, key=lambda job: (job.since, job.number)):
            if len(self.on[job]) > -(-job.gpus // widest) and self.move(run, job):
                return
        self.is_loose = False

    def move(self, run, job):
        run.cluster.change(job, 1)
        rule, run.cluster.rule = run.cluster.rule, "consolidate"
        units = run.cluster.find(job)
        run.cluster.rule = rule
        run.cluster.change(job, -1)
        numbers = [number for number, _ in units or []]
        if not units or len(set(numbers)) >= len(self.on[job]):
            return False
        self.allot(job, {number: numbers.count(number) for number in numbers})
        run.move(job, units)
        return True
