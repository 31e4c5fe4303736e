# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that go to the most urgent of their jobs, by docs/models/preemption.md: those of one rank take turns, and a
running kernel is halted in one of its ways before a more urgent job has the GPU. Switches cost nothing."""
from sharing import Turns


class Halts(Turns):
    """costs: rank (of a job), quantum, way, and what the way needs."""

    def __init__(self, costs):
        Turns.__init__(self, {**costs, "preempt": 0, "idle": 0, "lookahead": 0})
        self.halted = None  # when the running kernel is halted, for a more urgent job

    def rank(self, job):
        return self.costs["rank"](job)

    def first(self, following):
        """The first of the most urgent in ring order, from this one on."""
        at = self.jobs.index(following)
        return max(self.jobs[at:] + self.jobs[:at], key=self.rank)

    def into(self):
        """How far the running kernel is."""
        return int(self.has.work - self.has.left) % self.has.kernel

    def frees_at(self, now):
        """When its SMs are free."""
        way, has = self.costs["way"], self.has
        left = has.kernel - self.into()  # one that ends here has been followed by the next
        if way == "save" or way == "flush" and has.is_idempotent:
            return now
        if way == "pieces":
            piece = has.kernel // self.costs["pieces"]
            return now + (-self.into() % piece or piece)
        if way == "slice":
            return self.since + max(1, -(-(now - self.since) // self.costs["slice"])) * self.costs["slice"]
        if way == "launched":
            flying = has.kernels_in_flight(self.costs["threshold"])
            return now + left + (flying - 1) * has.kernel
        return now + left

    def halt(self, now):
        if self.costs["way"] == "flush" and self.has.is_idempotent:
            self.has.left += self.into()
        self.give(self.first(self.after(self.has)), now)

    def begin(self, now):
        self.walk(now)
        if self.has is None and self.jobs:
            self.give(self.first(self.jobs[1 % len(self.jobs)] if self.is_used else self.jobs[0]), now)
            self.is_used = True
        if self.has and self.halted is None and any(self.rank(job) > self.rank(self.has) for job in self.jobs):
            self.halted = self.frees_at(now)
        if self.halted is not None and self.halted <= now:
            self.halt(now)
        if self.has and self.is_up(now):
            following = self.first(self.after(self.has))  # it is alone up to this instant
            if following is self.has:
                self.until += self.costs["quantum"]
            else:
                self.give(following, now)

    def is_up(self, now):
        """Whether the turn ends: while the job is halted, one of the driver's for another one of its rank alone."""
        has_rival = any(self.rank(job) == self.rank(self.has) for job in self.jobs if job is not self.has)
        return self.until <= now and (self.halted is None or self.costs["way"] == "slice" and has_rival)

    def walk(self, now):
        if self.has:
            self.has.left -= now - self.seen
        self.seen = now

    seen = 0

    def settle(self, now):
        self.walk(now)

    def remove(self, job, now):
        following = self.after(job)
        self.jobs.remove(job)
        if self.has is job:
            self.has = self.halted = None
            if self.jobs:
                self.give(self.first(following), now)

    def next_time(self):
        if self.has is None:
            return None
        every = self.has.synchronises or self.has.work
        ends = self.until if self.halted is None else self.halted
        return min(self.seen + (self.has.left % every or every), self.until if self.is_up(self.until) else ends, ends)

    def advance(self, now):
        self.walk(now)
        if self.has and self.has.left <= 0:
            return [self.has]
        if self.has and self.is_up(now):
            following = self.first(self.after(self.has))
            if following is not self.has:  # a job that comes in this instant is too late
                self.give(following, now)
        if self.has and self.has.synchronises and self.has.left < self.began and (self.has.work - self.has.left) % self.has.synchronises == 0:
            # its queue is empty, if only for an instant
            self.give(self.first(self.after(self.has)), now)
        return []

    def give(self, job, then):
        Turns.give(self, job, then)
        self.began, self.halted = job.left, None
        if "whole" in self.costs and self.costs["whole"](job):
            self.until = then + 10**18
