# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs on ranges of SMs, block by block, on a device of which an SM holds one block (docs/models/sm-sharing.md):
groups of unlike widths and static partitions (head of policies/green.c), and caps of MPS that lie over each other."""
from blocks import NEAR, Blocks, Kernel, Waves
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


class Pieces(Kernel):
    """A kernel of a client with a cap that needs no more SMs than that, or of one without, of which blocks all do as much:
    blocks begin as SMs come free, and each takes the kernel's time from its own begin on."""

    told = 8  # apart

    def __init__(self, job, rank, then, length, blocks, sms):
        Kernel.__init__(self, job, rank, then, length, blocks, sms)
        self.pieces = []  # blocks that began together, and the rest of each

    def walk(self, span):
        self.pieces = [(n, rest - span) for n, rest in self.pieces]
        self.is_due |= self.on > 0 and self.looks() <= 0
        is_over = not self.waiting and self.pieces[-1][1] <= 0
        self.left = self.pieces[-1][1] if is_over else 1

    def begin(self, n):
        self.waiting, self.on = self.waiting - n, self.on + n
        self.pieces += [(n, self.all)] * (n > 0)
        if len(self.pieces) > self.told:
            self.join()

    def join(self):
        """The two that are nearest to each other, at their mean."""
        gaps = [later - rest for (_, rest), (_, later) in zip(self.pieces, self.pieces[1:])]
        at = gaps.index(min(gaps))
        if min(gaps[:at] + gaps[at + 1:]) - gaps[at] <= 8 * NEAR:
            raise Waves  # rates are rounded, so that others may be nearer
        (one, rest), (other, later) = self.pieces[at:at + 2]
        self.pieces[at:at + 2] = [(one + other, (one * rest + other * later) / (one + other))]

    def settle(self):
        """Of blocks that are over; the last ones end with the kernel."""
        over = sum(n for n, rest in self.pieces if rest <= 0)
        self.pieces = [(n, rest) for n, rest in self.pieces if rest > 0]
        self.on -= over
        return over

    def looks(self):
        return self.pieces[0][1] if self.pieces else 0

    def next_time(self, now):
        return now + -(-self.looks() // 1) if self.pieces else None


class Caps(Ranges):
    """A cap is a number of SMs, whichever are free, and each has a queue of its own; jobs without one have one together."""

    def has_room(self, job):
        return True

    def is_capped(self, job):
        return min(job.ppm, self.costs["part"]) < WHOLE

    def lay_out(self, job):
        return range(self.width(job))

    def queue(self, job):
        return job if self.is_capped(job) else None

    def kernel(self, job, rank, now):
        kernel = Ranges.kernel(self, job, rank, now)
        if (self.is_capped(job) or self.costs.get("alike")) and kernel.blocks <= self.width(job):
            kernel = Pieces(job, rank, now, kernel.length, kernel.blocks, self.costs["sms"])
            kernel.sms = set()
        return kernel

    def pass_over_ties(self):
        """Rates are rounded, so that of kernels that come in one instant, or nearly, either may be the older one."""
        waiting = sorted(kernel.then for kernel in self.kernels if kernel.waiting)
        if any(then - before <= 4 * NEAR for before, then in zip(waiting, waiting[1:])):
            raise Waves

    def fill(self, kernel):
        n = min(kernel.waiting, len(self.free), self.width(kernel.job) - kernel.on)
        sms = sorted(self.free)[:n]
        self.free -= set(sms)
        kernel.sms |= set(sms)
        if sms:
            kernel.begin(len(sms))


class Pressed(Caps):
    """Caps of many clients, of which blocks end together."""

    def serve(self, now):
        self.pass_over_ties()
        Caps.serve(self, now)
