# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of stopped jobs for which hosts have no room, by docs/clusters.md, docs/models/links.md and docs/limits.md: it goes on to
the storage of its node, one job after the other each way, and comes back by that of the node to which the job goes."""
from exact import Fraction

from blocks import Waves
from carried import S, Carried


class Disk:
    """Jobs in line each way, with the bytes that are left; ways that are in use share the rate."""

    def __init__(self, rate):
        self.rate, self.lines, self.seen = Fraction(rate, S), {"out": [], "in": []}, 0

    def speed(self):
        return self.rate / max(1, sum(bool(line) for line in self.lines.values()))

    def walk(self, now):
        speed = self.speed()
        for line in self.lines.values():
            if line:
                line[0][1] -= speed * (now - self.seen)
        self.seen = now

    def next_time(self):
        return min((self.seen + -(-line[0][1] // self.speed()) for line in self.lines.values() if line), default=None)

    def add(self, way, job, n, now):
        self.walk(now)
        self.lines[way].append([job, n])

    def take(self, now):
        """Jobs that are through."""
        self.walk(now)
        return [line.pop(0)[0] for line in self.lines.values() if line and line[0][1] <= 0]


class Stored(Carried):
    """costs: as those of Carried, and bytes per second of a node's storage (disk)."""

    def __init__(self, cluster, jobs, policy, costs):
        Carried.__init__(self, cluster, jobs, policy, costs)
        self.disks = [Disk(costs["disk"]) for _ in cluster.nodes]
        self.then, self.on = {}, {}  # when a job's copy goes on to storage; disks on which it still is
        self.crossed = [None] * len(cluster.nodes)
        self.stop_ns, self.back_ns = self.copy_ns, self.in_ns

    def copy_ns(self, job):
        return -(-job.memory * S // self.costs["out"])

    def to_disks(self, job, way, units):
        numbers = [number for number, _ in units]
        self.on[job] = len(set(numbers))
        for number in dict.fromkeys(numbers):
            line = self.disks[number].lines[way]
            if line and line[-1][0] in self.sent and line[-1][0] is not job:
                raise Waves  # whose copy is first is open
            self.disks[number].add(way, job, numbers.count(number) * job.memory, self.now)
        self.sent.append(job)

    sent = []

    def stop(self, job):
        Carried.stop(self, job)
        self.then[job] = self.leaving[job]
        self.leaving[job] = NEVER

    def come(self, job):
        self.coming[job] = NEVER
        self.to_disks(job, "in", job.units)

    def change_places(self):
        self.sent = []
        for disk in self.disks:
            for job in disk.take(self.now):
                self.on[job] -= 1
                if self.on[job] == 0 and job in self.leaving:
                    self.leaving[job] = self.now + -(-self.costs["free"] * job.memory // 2**30)
                elif self.on[job] == 0:
                    self.cross(job)
        for job in [job for job, then in self.then.items() if then <= self.now]:
            del self.then[job]
            self.to_disks(job, "out", job.old_units)
        return Carried.change_places(self)

    def cross(self, job):
        then = self.now
        for number, ns in self.crossing(job, job.units).items():
            if self.crossed[number] == self.now:
                raise Waves
            self.crossed[number] = self.now
            self.ports[number] = max(self.ports[number], self.now) + ns
            then = max(then, self.ports[number])
        self.coming[job] = then + self.in_ns(job)

    def instant(self):
        """A policy is not asked where a copy goes on to another link."""
        self.leave()
        if self.has_room or any(job.submit <= self.now for job in self.to_come):
            self.serve()

    def next_time(self):
        times = [then for then in (Carried.next_time(self), *self.then.values(), *(disk.next_time() for disk in self.disks))
                 if then is not None and then < NEVER]
        return min(times, default=None)


NEVER = 10**30
