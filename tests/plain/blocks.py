# SPDX-License-Identifier: GPL-3.0-or-later
"""SMs of docs/models/sm-sharing.md, block by block: kernels of programs beside each other, of which each fills
all SMs or half of them, on a device of which an SM holds one block."""
from fractions import Fraction

from hosts import Host


class Waves(Exception):
    """Blocks of a kernel begin when others of it are done, or beside two more kernels: how they leave is an
    approximation (docs/models/sm-sharing.md), and no walk."""


class Kernel:
    """Its blocks fit the SMs at one time. Those that begin before the first of them is done count as begun with it."""

    def __init__(self, job, rank, then, length, blocks):
        self.job, self.rank, self.then = job, rank, then  # since when it is the next one of its job
        self.length, self.left = length, Fraction(length)
        self.blocks, self.waiting, self.first = blocks, blocks, None

    on = 0  # blocks on SMs
    let = False  # whether it is launched where another one decides that

    def walk(self, span):
        self.left -= Fraction(self.on * span, self.blocks)

    def next_time(self, now):
        times = [now + -(-self.left * self.blocks // self.on)] if self.on else []
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
        self.jobs.remove(job)

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
            if kernel.on and len(self.kernels) > 2:
                raise Waves
            self.free, kernel.waiting, kernel.on = self.free - n, kernel.waiting - n, kernel.on + n
            kernel.first = now if kernel.first is None else kernel.first

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        times += [then for kernel in self.kernels if (then := kernel.next_time(self.now)) is not None]
        return min(times, default=None)

    def waits_beside(self, kernel):
        """Whether another one may have the SMs that the first of its blocks leave."""
        return len(self.kernels) > 2

    def advance(self, now):
        for kernel in list(self.kernels):
            kernel.walk(now - self.now)
            if kernel.left <= 0 and kernel.waiting and self.waits_beside(kernel):
                raise Waves
            if kernel.left <= 0:
                self.kernels.remove(kernel)
                self.free += kernel.on
                kernel.job.host.ends.append(now)
            elif kernel.waiting and kernel.on and kernel.first + kernel.length <= now:
                raise Waves
        self.now = now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
