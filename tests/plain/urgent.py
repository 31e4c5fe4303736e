# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that go to the most urgent of their jobs that are ready, by docs/models/preemption.md, where hosts launch kernels
of any length call by call (docs/models/programs.md). Switches cost nothing."""
from hosts import Hosts


class Urgent(Hosts):
    """costs: rank (of a job), quantum, way, and what the way needs."""

    def __init__(self, costs):
        Hosts.__init__(self, {**costs, "preempt": 0, "idle": 0, "lookahead": 0})
        self.halted = None  # when the running kernel is halted, for a more urgent job

    def rank(self, job):
        return self.costs["rank"](job)

    def following(self):
        """The first of the most urgent in ring order, the one that ran last at the end."""
        ready = [job for job in self.ring() if job.host.is_ready()]
        return max(ready, key=self.rank, default=None)

    def frees_at(self, now):
        """When its SMs are free."""
        way, host = self.costs["way"], self.has.host
        if way == "save" or way == "flush" and self.has.is_idempotent:
            return now
        if way == "pieces":
            piece = host.lengths[len(host.ends)] // self.costs["pieces"]
            return now + (-host.into % piece or piece)
        if way == "slice":
            return self.since + max(1, -(-(now - self.since) // self.costs["slice"])) * self.costs["slice"]
        return now + host.left()

    def give(self, job, now, cost):
        Hosts.give(self, job, now, cost)
        self.halted = None
        if "whole" in self.costs and self.costs["whole"](job):
            self.until = 10**18

    def halt(self, now):
        if self.costs["way"] == "flush" and self.has.is_idempotent:
            self.has.host.into = 0
        self.give(self.following(), now, 0)

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        if self.has and (not self.has.host.is_ready() or self.was_empty()):
            self.pass_on(now, 0)
        if self.has is None and self.jobs:
            self.pass_on(now, 0)
        if self.has is None:
            self.halted = None
            return
        if self.halted is None and any(self.rank(job) > self.rank(self.has) and job.host.is_ready() for job in self.jobs):
            self.halted = self.frees_at(now)
        if self.halted is not None and self.halted <= now:
            self.halt(now)
        elif self.halted is None and self.until <= now:
            self.give(self.following(), now, 0)

    def was_empty(self):
        """Whether its queue was empty for an instant, in which it has nothing to run."""
        is_whole = "whole" in self.costs and self.costs["whole"](self.has)
        return self.ended and self.has.host.waited == len(self.has.host.ends) - 1 >= 0 and not is_whole

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        if self.has:
            times += [max(self.since, self.seen) + self.has.host.left(), self.until if self.halted is None else self.halted]
        return min(times, default=None)
