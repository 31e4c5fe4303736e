# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that jobs share under queue=easy, by docs/compare.md and docs/clusters.md: the first job that finds no room has a
reservation on the GPU where it will have it first, if those that run end at their limits. All jobs have limits, and one
GPU each. Under queue=fairshare the order is that of users' usage, the least first."""
from sharing import Shared


class Reserved(Shared):
    def over(self, job):
        return max(self.now, job.start + job.limit)

    def would_fit(self, jobs):
        memory = sum(job.memory + self.costs["context"] for job in jobs)
        return len(jobs) == 1 or memory <= self.costs["room"] and len(jobs) <= self.costs["clients"]

    def reserve(self, head):
        """When, on which GPU, and beside which jobs."""
        there = {unit: list(lane.jobs) for unit, lane in self.lanes.items()}
        for job in sorted((job for jobs in there.values() for job in jobs), key=lambda job: (self.over(job), job.number)):
            unit = job.units[0]
            there[unit].remove(job)
            if self.would_fit(there[unit] + [head]):
                return self.over(job), unit, there[unit] + [head]
        raise AssertionError("an empty GPU has room for any job")

    def line(self):
        return sorted(self.waiting, key=lambda job: (job.submit, job.after is not None, job.number))

    seen = None

    def state(self):
        return len(self.waiting), sum(job.end is not None for job in self.jobs)

    def decide(self):
        """Where a job has come or ended: limits that pass are noted then."""
        if self.state() != self.seen:
            self.look()
        self.seen = self.state()

    def look(self):
        head, self.is_kept = None, lambda job, unit: False
        for job in self.line():
            if self.place(job):
                if head and job.units[0] == unit and self.now + job.limit > then:
                    beside.append(job)
            elif head is None:
                head = job
                then, unit, beside = self.reserve(job)
                self.is_kept = lambda job, its: (its == unit and self.now + job.limit > then
                                                 and not self.would_fit(beside + [job]))

    def has_room(self, job, unit):
        return Shared.has_room(self, job, unit) and not self.is_kept(job, unit)


class Fair(Reserved):
    """Usage is GPU time, a job that shares its GPU counts as if it had one, and all of it decays every 300 s."""

    PERIOD, STEPS = 300 * 10**9, 1 << 24  # of a factor

    def __init__(self, *args):
        Reserved.__init__(self, *args)
        self.usage, self.then = {job.user: 0.0 for job in self.jobs}, 0

    def count(self):
        while self.then < self.now:
            end = min(self.now, (self.then // self.PERIOD + 1) * self.PERIOD)
            for job in self.jobs:
                if job.start is not None and (job.end is None or job.end > self.then):
                    self.usage[job.user] += job.gpus * (end - self.then)
            self.then = end
            if end % self.PERIOD == 0:
                self.usage = {user: its * 0.5 ** (self.PERIOD / self.costs["half_life"]) for user, its in self.usage.items()}

    def factor(self, job):
        total = sum(self.usage.values())
        part = self.usage[job.user] / total if total else 0
        return int(2 ** -(part * len(self.usage)) * self.STEPS)

    def instant(self):
        self.count()
        Reserved.instant(self)

    def line(self):
        return sorted(Reserved.line(self), key=lambda job: -self.factor(job))
