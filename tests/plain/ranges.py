# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs on ranges of SMs, block by block, on a device of which an SM holds one block (docs/models/sm-sharing.md):
groups of unlike widths and static partitions (head of policies/green.c), and caps of MPS that lie over each other."""
from blocks import Blocks
from cluster import WHOLE


class Ranges(Blocks):
    """Kernels of a range share a queue, the oldest first: the next one has SMs when all blocks of it have begun."""

    def __init__(self, costs):
        Blocks.__init__(self, costs)
        self.free = set(range(costs["sms"]))

    def width(self, job):
        """The SMs of the part that it asks for, in the steps of the device."""
        part, unit = min(job.ppm, self.costs["part"]), self.costs["unit"]
        return self.costs["sms"] if part == WHOLE else max(1, self.costs["sms"] * part // WHOLE // unit) * unit

    def first_free(self, width):
        """The first SM from which on so many belong to no job; None: there is none."""
        taken = {sm for other in self.jobs for sm in other.range}
        return next((first for first in range(self.costs["sms"] - width + 1) if not taken & set(range(first, first + width))), None)

    def has_room(self, job):
        return self.first_free(self.width(job)) is not None

    def lay_out(self, job):
        first = self.first_free(self.width(job))
        return range(first, first + self.width(job))

    def add(self, job, now):
        job.range = self.lay_out(job)
        Blocks.add(self, job, now)
        self.jobs.sort(key=lambda job: job.place)

    def queue(self, job):
        return job.range

    def kernel(self, job, rank, now):
        kernel = Blocks.kernel(self, job, rank, now)
        kernel.sms = set()
        return kernel

    def serve(self, now):
        waiting = []
        for kernel in sorted(self.kernels, key=lambda kernel: (kernel.then, kernel.job.place)):
            if self.queue(kernel.job) not in [self.queue(other.job) for other in waiting]:
                self.put(kernel, now)
            waiting += [kernel] * (kernel.waiting > 0)

    def fill(self, kernel):
        sms = sorted(self.free & set(kernel.job.range))[:kernel.waiting]
        if sms:
            self.free -= set(sms)
            kernel.sms |= set(sms)
            kernel.begin(len(sms))

    def give_back(self, kernel, n):
        """The first SMs that it has."""
        sms = set(sorted(kernel.sms)[:n])
        self.free |= sms
        kernel.sms -= sms


class Partitions(Ranges):
    """costs: cuts, the SMs of each partition. Each job goes to the one with the fewest clients, of these the widest."""

    def has_room(self, job):
        return True

    def lay_out(self, job):
        ends = [sum(self.costs["cuts"][:n + 1]) for n in range(len(self.costs["cuts"]))]
        ranges = [range(end - width, end) for end, width in zip(ends, self.costs["cuts"])]
        return min(ranges, key=lambda its: (sum(other.range == its for other in self.jobs), -len(its)))


class Caps(Ranges):
    """A cap lies on the first SMs that are free beside each other, else on the last of all; each has a queue of its own, and
    jobs without one have one together."""

    def has_room(self, job):
        return True

    def is_capped(self, job):
        return min(job.ppm, self.costs["part"]) < WHOLE

    def lay_out(self, job):
        if not self.is_capped(job):
            return range(self.costs["sms"])
        width = self.width(job)
        first = self.first_free(width)
        first = self.costs["sms"] - width if first is None else first
        return range(first, first + width)

    def first_free(self, width):
        taken = {sm for other in self.jobs if self.is_capped(other) for sm in other.range}
        return next((first for first in range(self.costs["sms"] - width + 1) if not taken & set(range(first, first + width))), None)

    def queue(self, job):
        return job if self.is_capped(job) else None
