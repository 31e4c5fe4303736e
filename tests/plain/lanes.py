# SPDX-License-Identifier: GPL-3.0-or-later
"""Salus, by docs/one-gpu.md: lanes of memory on a GPU, in which whole iterations take turns. Jobs fill so few SMs that
lanes never slow each other."""
from sharing import Shared


def came(job):
    """One that a failure throws back comes anew."""
    return [job.submit if job.came is None else job.came, job.submit, job.after is not None, job.number]


class Lane:
    """size: its memory; its jobs in ring order, of which one runs an iteration; all: with those on their way to it. A job
    that leaves changes no places of the others: a newcomer comes behind all that came before it."""

    def __init__(self, size, order):
        self.size, self.order, self.jobs, self.has, self.now = size, order, [], None, 0
        self.following = None  # in the ring, where the job that ran last has left
        self.all = []

    def holds(self, job):
        kept = job.kept + sum(other.kept for other in self.all)
        beyond = max([job.memory - job.kept] + [other.memory - other.kept for other in self.all])
        return kept + beyond <= self.size

    def add(self, job, now):
        self.jobs.append(job)

    def remove(self, job):
        at = self.jobs.index(job)
        self.jobs.remove(job)
        self.all.remove(job)
        self.following = self.jobs[at % len(self.jobs)] if self.jobs and self.order == "pack" else None
        self.has = None

    def key(self, job):
        return {"fifo": lambda: came(job), "preempt": lambda: [-its for its in came(job)], "srtf": lambda: job.left,
                "fair": lambda: job.memory * job.used, "pack": lambda: 0}[self.order]()

    def next(self):
        at = self.jobs.index(self.has) + 1 if self.has else self.jobs.index(self.following) if self.following else 0
        return min(self.jobs[at:] + self.jobs[:at], key=self.key)

    def walk(self, now):
        if self.has:
            self.has.left -= now - self.now
            self.has.used += now - self.now
        self.now = now

    def is_over(self):
        return self.has.left % self.has.synchronises == 0 and self.has.left < self.began

    def go_on(self, now):
        self.has, self.now = self.next(), now
        self.began = self.has.left

    def ends_at(self):
        every = self.has.synchronises
        return self.now + int(self.has.left % every or every)


class Lanes(Shared):
    def __init__(self, cluster, jobs, costs, passes):
        Shared.__init__(self, cluster, jobs, lambda costs: Gpu(costs), costs, passes)

    def has_room(self, job, unit):
        lane = self.lanes[unit]
        if not lane.jobs:
            return self.cluster.nodes[unit[0]].free[unit[1]] > 0
        return lane.lane_for(job) is not None

    def with_fewest(self, job):
        """A new lane before one that there is, then a GPU with the fewest jobs."""
        units = [unit for unit in self.lanes if self.has_room(job, unit)]
        return units and [min(units, key=lambda unit: (self.lanes[unit].lane_for(job).all != [], len(self.lanes[unit].jobs), unit))]


class Gpu:
    is_used = False  # no context is left to switch from

    def __init__(self, costs):
        self.costs, self.lanes, self.jobs = costs, [], []
        self.room = costs["room"] - costs["reserve"]

    def lane_for(self, job):
        size = self.room if self.costs["lanes"] == "one" else job.memory
        if sum(lane.size for lane in self.lanes) + size <= self.room:
            return Lane(size, self.costs["order"])
        return min((lane for lane in self.lanes if lane.holds(job)), key=lambda lane: lane.size, default=None)

    def enter(self, job, now):
        job.lane = self.lane_for(job)
        job.lane.walk(now)
        job.lane.all.append(job)
        for other in job.lane.all:
            other.used = 0
        if job.lane not in self.lanes:
            self.lanes.append(job.lane)

    def add(self, job, now):
        if job not in [other for lane in self.lanes for other in lane.all]:
            self.enter(job, now)
        job.lane.walk(now)
        job.lane.add(job, now)
        self.jobs.append(job)

    def remove(self, job, now):
        self.jobs.remove(job)
        job.lane.remove(job)
        if job.lane.jobs:
            job.lane.go_on(now)
        elif not job.lane.all:
            self.lanes.remove(job.lane)

    def settle(self, now):
        for lane in self.lanes:
            lane.walk(now)

    def begin(self, now):
        for lane in self.lanes:
            if lane.jobs and (lane.has is None or lane.is_over()):
                lane.go_on(now)

    def next_time(self):
        return min((lane.ends_at() for lane in self.lanes if lane.has), default=None)

    def advance(self, now):
        """A newcomer in the instant in which an iteration ends is too late for it."""
        for lane in self.lanes:
            lane.walk(now)
            if lane.has and lane.has.left > 0 and lane.is_over():
                lane.go_on(now)
        return [job for job in self.jobs if job.left <= 0]
