# SPDX-License-Identifier: GPL-3.0-or-later
"""AntMan, by the head of policies/antman/antman.c: guaranteed jobs have GPUs of their own, guests launch beside them
within a share of the time that follows the pace of the guaranteed job. No memory is short."""
from cluster import WHOLE
from launches import Capped
from sharing import Shared


class Gpu(Capped):
    def __init__(self, costs):
        Capped.__init__(self, costs)
        self.share = self.looks = self.best = self.used = self.seen = 0
        self.host = None  # its guaranteed job

    host = None

    def guests(self):
        return [job for job in self.jobs if job.is_guest]

    def take(self, job, now):
        self.host, self.looks, self.best, self.share = job, 0, 0, 0
        self.cap_guests(now)

    def welcome(self, now):
        if len(self.guests()) == 1:
            self.share = min(self.share, 1)
        self.cap_guests(now)

    def cap_guests(self, now):
        """As many kernels as take the share of a period, and at least one, in a period that is long enough for them."""
        for job in self.jobs:
            if not job.is_guest or self.host is None or self.share == 100:
                job.kernels = None
                continue
            ppm = self.share * 10_000 or 1
            part = -(-self.costs["refill"] * ppm // WHOLE)
            kernels = -(-part // job.kernel)
            self.cap(job, kernels, -(-kernels * job.kernel * WHOLE // ppm), now)

    def look(self, now, is_late):
        self.used = 0 if is_late else self.busy * WHOLE // self.costs["window"]
        self.busy = 0
        if self.host is None:
            return
        done, took = self.host.work - self.host.left, now - self.seen
        pace = int(done - self.done) * WHOLE // took if self.looks else 0
        self.best = max(self.best, pace)
        if self.looks:
            good = pace >= self.best * (WHOLE - self.costs["tolerance"]) // WHOLE
            self.share = min(100, self.share + max(1, -(-self.share // 2))) if good else self.share // 2
        self.looks, self.seen, self.done = self.looks + 1, now, done
        self.cap_guests(now)

    done = 0

    def remove(self, job, now):
        Capped.remove(self, job, now)
        if job is self.host:
            self.host = None
        job.kernels = None
        self.cap_guests(now)


class AntMan(Shared):
    def __init__(self, cluster, jobs, costs, gpu=Gpu):
        Shared.__init__(self, cluster, jobs, gpu, costs, costs["passes"])
        self.looks_at, self.kept = None, set()
        for job in jobs:
            job.is_born_guest = job.is_guest

    def line(self, guests):
        """In order of arrival."""
        return sorted((job for job in self.waiting if job.is_guest == guests),
                      key=lambda job: (job.submit, job.after is not None, job.number))

    def find(self, job):
        """Units that are not kept: idle ones by the rule of placement, or the GPU with the least load."""
        for number, gpu in self.kept:
            self.cluster.nodes[number].free[gpu] -= WHOLE
        units = self.cluster.find(job) if job.gpus > 1 else self.find_one(job)
        for number, gpu in self.kept:
            self.cluster.nodes[number].free[gpu] += WHOLE
        return units

    def find_one(self, job):
        """A guest goes where least was used, and is one of few."""
        def load(unit):
            lane = self.lanes[unit]
            return (use(lane) if job.is_guest else 0, len(lane.jobs))

        def use(lane):
            return lane.used if lane.jobs else 0
        mine = [unit for unit, lane in self.lanes.items() if unit not in self.kept
                and (lane.jobs or self.cluster.nodes[unit[0]].free[unit[1]] == WHOLE)
                and (use(lane) < self.costs["busy"] if job.is_guest else lane.host is None)]
        if not mine:
            return None
        least = min(load(unit) for unit in mine)
        alike = [unit for unit in mine if load(unit) == least]
        return [min(alike)] if self.lanes[alike[0]].jobs else self.cluster.find(job)

    def start(self, job):
        units = self.find(job)
        if not units:
            return False
        for number, gpu in units:
            self.cluster.nodes[number].free[gpu] = 0
        job.units, job.start = units, self.now if job.start is None else job.start
        self.waiting.remove(job)
        if job.gpus > 1:
            self.gangs.append(job)
            return True
        lane = self.lanes[units[0]]
        lane.add(job, self.now)
        if job.is_guest:
            lane.welcome(self.now)
        else:
            lane.take(job, self.now)
        return True

    def reserve(self, job):
        """GPUs without a guaranteed job, once they are enough by the rule of placement."""
        free = [list(node.free) for node in self.cluster.nodes]
        for (number, gpu), lane in self.lanes.items():
            if lane.jobs and lane.host is None:
                self.cluster.nodes[number].free[gpu] = WHOLE
        units = self.cluster.find(job)
        for node, its in zip(self.cluster.nodes, free):
            node.free = its
        self.kept = set(units or [])

    def decide(self):
        late = (self.now - self.looks_at) // self.costs["window"] if self.looks_at is not None else 0
        if late >= 0:
            for lane in self.lanes.values():
                lane.look(self.now, late > 0)
            self.looks_at = (self.now if self.looks_at is None else self.looks_at) + (late + 1) * self.costs["window"]
        self.kept = set()
        line = self.line(False)
        while line and self.start(line[0]):
            line.pop(0)
        if line:
            self.reserve(line[0])
        for job in line[1:] if self.passes else []:
            self.start(job)
        self.upgrade()
        for job in self.line(True):
            self.start(job)
        for job in self.line(False):
            if job.gpus == 1 and self.now - job.submit >= self.costs["patience"]:
                job.is_guest = True
                job.is_guest = self.start(job)

    def upgrade(self):
        for unit, lane in self.lanes.items():
            mine = [job for job in lane.guests() if not job.is_born_guest]
            if mine and lane.host is None and unit not in self.kept:
                job = min(mine, key=lambda job: job.number)
                job.is_guest = False
                lane.cap_guests(self.now)
                lane.take(job, self.now)

    def next_time(self):
        """Its next window, and when a job loses patience."""
        then = Shared.next_time(self)
        if not self.waiting and not self.gangs and not any(lane.jobs for lane in self.lanes.values()):
            return then
        times = [job.submit + self.costs["patience"] for job in self.line(False) if job.gpus == 1]
        return min([time for time in times if time > self.now] + [self.looks_at] + [then] * (then is not None))
