# SPDX-License-Identifier: GPL-3.0-or-later
"""SMs of docs/models/sm-sharing.md, block by block: kernels of programs beside each other, of which each fills
all SMs or half of them, on a device of which an SM holds one block."""
from fractions import Fraction

from hosts import Host


class Waves(Exception):
    """Blocks of a kernel begin and end at different times: how they leave is an approximation (docs/models/sm-sharing.md), and
    no walk."""


class Kernel:
    """Its blocks fit the SMs at one time, so that alone they are one wave. With room for fewer they go on in waves that are as
    long as the kernel is alone; those that begin before the first of them is done count as begun with it. It is as fast as the
    blocks of its first waves say, to its end."""

    def __init__(self, job, rank, then, length, blocks):
        self.job, self.rank, self.then = job, rank, then  # since when it is the next one of its job
        self.length, self.left = length, Fraction(length)
        self.blocks, self.waiting = blocks, blocks

    on = pace = 0  # blocks on SMs, and before those of the last wave began
    each = None  # blocks of its waves, once the first of them is over; 0: they begin and end at different times
    let = False  # whether it is launched where another one decides that

    def walk(self, span):
        self.left -= Fraction(self.pace * span, self.blocks)

    def begin(self, n):
        self.waiting, self.on = self.waiting - n, self.on + n
        self.pace = self.on
        if self.each is not None and n:
            self.each = 0

    def waves(self):
        """Those before the last one."""
        return -(-self.blocks // self.pace) - 1

    def settle(self):
        """Waves that are over: how many blocks leave their SMs, and have no successors there."""
        if not self.pace:
            return 0
        if self.each == 0:
            raise Waves
        over = min((self.length - self.left) * self.blocks // (self.length * self.pace), self.waves()) * self.pace
        self.each = self.pace if over else None
        self.waiting = max(0, self.blocks - over - self.pace)
        leave = self.on - min(self.on, self.blocks - over)
        self.on -= leave
        return leave

    def next_time(self, now):
        times = [now + -(-self.left * self.blocks // self.pace)] if self.pace else []
        if self.pace and self.waiting and self.each != 0:
            last = self.length - Fraction(self.waves() * self.pace * self.length, self.blocks)  # the rest, as the last wave begins
            times += [now + -(-(self.left - last) * self.blocks // self.pace)] if self.left > last else []
        return min(times, default=None)


class Blocks:
    """costs: sms, and rank (of a job)."""

    def __init__(self, costs):
        self.costs, self.jobs, self.now = costs, [], 0
        self.kernels, self.free = [], costs["sms"]

    def has_room(self, job):
        return True

    def add(self, job, now):
        self.jobs.append(job)
        job.host = Host(job.program, job.iterations, self.costs["launches"], now)
        if job.period:
            job.host.serve(job.period, self.costs["lag"])

    def remove(self, job, now):
        """Kernels of a job that is alone then do not go block by block: it goes on as fast as alone, whatever has begun."""
        self.jobs.remove(job)
        for kernel in [its for its in self.kernels if its.pace and len(self.jobs) == 1]:
            kernel.on = kernel.pace = kernel.blocks
            kernel.waiting, kernel.each, self.free = 0, None, self.costs["sms"] - kernel.blocks

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
            if job.host.is_ready() and not any(kernel.job is job for kernel in self.kernels):
                length, blocks = job.host.lengths[len(job.host.ends)]
                self.kernels.append(Kernel(job, self.costs["rank"](job), now, length, blocks))
        for kernel in sorted(self.kernels, key=lambda kernel: (-kernel.rank, kernel.then)):
            self.put(kernel, now)

    def put(self, kernel, now):
        n = min(kernel.waiting, self.free)
        if n:
            self.free -= n
            kernel.begin(n)

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        times += [then for kernel in self.kernels if (then := kernel.next_time(self.now)) is not None]
        return min(times, default=None)

    def look_at(self, kernel):
        """Whether its waves can be walked."""

    def advance(self, now):
        for kernel in list(self.kernels):
            kernel.walk(now - self.now)
            if kernel.left <= 0:
                self.kernels.remove(kernel)
                self.free += kernel.on
                kernel.job.host.ends.append(now)
            else:
                self.free += kernel.settle()
                self.look_at(kernel)
        self.now = now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
