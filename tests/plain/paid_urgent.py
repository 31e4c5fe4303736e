# SPDX-License-Identifier: GPL-3.0-or-later
"""As urgent, where it takes time to save a kernel's state and to bring it back, to kill it, and to switch to another job, by the
table of docs/models/preemption.md."""
from urgent import Urgent


class PaidUrgent(Urgent):
    """costs: save, restore, reset, switch (away from a job that would run on) and empty (from one that has nothing to run)."""

    is_still = False  # whether the job that has the GPU is on its way off

    def add(self, job, now):
        Urgent.add(self, job, now)
        job.owes = 0

    def give(self, job, now, cost):
        """To another job than had the GPU last, at this cost; a job that comes back also pays what it owes."""
        cost = (cost if job is not self.last and self.is_used else 0) + job.owes
        job.owes, self.is_still, self.is_used = 0, False, True
        Urgent.give(self, job, now, cost)

    is_used = False

    def pass_on(self, now, cost):
        job = self.following()
        self.has = job
        if job:
            self.give(job, now, cost)

    def frees_at(self, now):
        way, costs = self.costs["way"], self.costs
        if way == "save" or way == "flush" and self.has.is_idempotent:
            self.is_still = True
            return now + costs["save" if way == "save" else "reset"]
        return Urgent.frees_at(self, now)

    def halt(self, now):
        way, costs = self.costs["way"], self.costs
        if way == "flush" and self.is_still:
            self.has.host.into = 0
        if way == "save":
            self.has.owes = costs["restore"]
        self.give(self.following(), now, costs["switch"] if way == "slice" else 0)

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        if self.has is None or now >= self.since and not self.has.host.is_ready():
            self.pass_on(now, self.costs["empty"])
        if self.has is None:
            self.halted = None
            return
        if now >= self.since and self.halted is None and any(self.rank(job) > self.rank(self.has) and job.host.is_ready() for job in self.jobs):
            self.halted = self.frees_at(now)
        if self.halted is not None and self.halted <= now:
            self.halt(now)
        elif self.halted is None and self.until <= now:
            self.give(self.following(), now, self.costs["switch"])

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        if self.has and self.seen < self.since:
            times.append(self.since)
        if self.has:
            times += [] if self.is_still else [max(self.since, self.seen) + self.has.host.left()]
            times.append(self.until if self.halted is None else self.halted)
        return min(times, default=None)

    def advance(self, now):
        if not self.is_still:
            return Urgent.advance(self, now)
        self.ended, self.seen = False, now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
