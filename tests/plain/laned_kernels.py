# SPDX-License-Identifier: GPL-3.0-or-later
"""Salus with jobs that have a program, kernel by kernel, by docs/one-gpu.md and docs/models/sm-sharing.md: in a lane of memory
whole iterations take turns, and kernels of several lanes share the SMs by what their jobs fill."""
from exact import Fraction

from hosts import Host
from lanes import Gpu, Lane, Lanes


class Turns(Lane):
    """has: the job of which an iteration runs, or runs next."""

    is_over = False  # an iteration has ended in this instant, or the job of the last one has left

    def is_within(self):
        host = self.has.host
        return len(host.ends) % sum(what == "launch" for what, _, _ in host.program.calls) > 0

    def add(self, job, now):
        """It comes behind all that are there."""
        self.jobs.append(job)

    def remove(self, job):
        at = self.jobs.index(job)
        self.jobs.remove(job)
        self.all.remove(job)
        if self.has is job:
            self.following, self.has = (self.jobs[at % len(self.jobs)] if self.jobs else None), None

    def ring(self):
        at = self.jobs.index(self.has) + 1 if self.has else self.jobs.index(self.following) if self.following in self.jobs else 0
        return self.jobs[at:] + self.jobs[:at]

    def turn(self):
        """The job keeps its lane within an iteration, and between two until one is ready that goes as early."""
        if self.has and (self.is_within() or self.has.host.is_ready() and not self.is_over):
            return
        ready, keeps = [job for job in self.ring() if job.host.is_ready()], self.has and len(self.has.host.ends) < self.has.n_kernels
        others = [job for job in ready if job is not self.has and (not keeps or self.key(job) <= self.key(self.has))]
        if not keeps or others:
            self.has = min(ready, key=self.key, default=self.has)
        self.is_over = False

    def runs(self):
        return self.has is not None and self.has.host.is_ready()

    def walk(self, now):
        pass


class LanedKernels(Gpu):
    def __init__(self, costs):
        Gpu.__init__(self, costs)
        self.now = 0

    def lane_for(self, job):
        lane = Gpu.lane_for(self, job)
        return lane if lane in self.lanes or lane is None else Turns(lane.size, lane.order)

    def add(self, job, now):
        Gpu.add(self, job, now)
        job.host = Host(job.program, job.iterations, self.costs["launches"], now)
        job.n_kernels = job.iterations * sum(what == "launch" for what, _, _ in job.program.calls)

    def remove(self, job, now):
        self.jobs.remove(job)
        job.lane.remove(job)
        if not job.lane.all:
            self.lanes.remove(job.lane)

    def settle(self, now):
        pass

    def speeds(self):
        """Of the jobs of which a kernel runs."""
        jobs = [lane.has for lane in self.lanes if lane.runs()]
        crowd = max(1, sum(job.fills for job in jobs))
        return {job: Fraction(1, 1) / crowd for job in jobs}

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        for lane in self.lanes:
            lane.turn()

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        times += [self.now + -(-job.host.left() // speed) for job, speed in self.speeds().items()]
        return min(times, default=None)

    def advance(self, now):
        for job, speed in self.speeds().items():
            host = job.host
            host.into += (now - self.now) * speed
            job.used += now - self.now
            if host.left() <= 0:
                host.into = -host.left() if (len(host.ends) + 1) % (job.n_kernels // job.iterations) else 0
                host.ends.append(now)
                job.lane.is_over = not job.lane.is_within()
        self.now = now
        for job in self.jobs:
            job.host.walk(now)
        for lane in self.lanes:
            lane.turn()
        return [job for job in self.jobs if job.host.is_over]


class Laned(Lanes):
    def __init__(self, cluster, jobs, costs, passes):
        Lanes.__init__(self, cluster, jobs, costs, passes)
        self.lanes = {unit: LanedKernels(costs) for unit in self.lanes}
