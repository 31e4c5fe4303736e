# SPDX-License-Identifier: GPL-3.0-or-later
"""SMs of docs/models/sm-sharing.md, block by block: kernels of programs beside each other, on a device of which an SM
holds one block."""
from exact import Fraction

from hosts import Host


NEAR = 2  # ns by which gsim is later, since it rounds rates


class Waves(Exception):
    """Two rules of one instant of which no page says which is first."""


class Kernel:
    """It is as fast as its blocks on SMs are a part of those that all SMs hold; blocks that begin together end together,
    and the first ones that begin before the first of them is done count as begun with it. So it goes on in waves. One that
    gets more blocks on SMs, or fewer, after that is out of step: its blocks end evenly with the work that is left. It is as
    fast as before its last blocks began, to its end. Where all blocks of a wave have left, those that have not begun go on as
    a kernel of their own, which is as fast as alone with all of them or with as many as all SMs hold."""

    def __init__(self, job, rank, then, length, blocks, sms):
        self.job, self.rank, self.then = job, rank, then  # since when it is the next one of its job
        self.length, self.left, self.all = length, Fraction(length), Fraction(length)  # of all blocks, and since a wave left
        self.blocks, self.waiting, self.most = blocks, blocks, min(blocks, sms)

    on = pace = 0  # blocks on SMs, and before those of the last wave began
    each = None  # blocks of its waves, once the first of them is over; 0: they begin and end at different times
    leaving, leaves_at = 0, None  # blocks that leave next without successors, and the work that is left then
    let = False  # whether it is launched where another one decides that

    is_watched = is_due = False  # whether a kernel waits for SMs that it may leave; whether one is to be looked for now

    def walk(self, span):
        look, before = self.looks(), self.left
        self.left -= Fraction(self.pace * span, self.most)
        self.is_due |= (self.is_watched or self.leaving > 0) and before > look >= self.left

    def begin(self, n):
        if n and self.on and self.each is None and self.left - NEAR <= self.all - self.wave(self.on) < self.left:
            raise Waves  # room that comes as its first blocks are done: it is in step or out of it by a part of a nanosecond
        self.waiting, self.on = self.waiting - n, self.on + n
        self.pace = self.on
        if self.each is not None and n:
            self.each = 0

    def waves(self, each):
        return -(-self.blocks // each)

    def last_wave(self, each):
        """The work of the last one: as that of any, but that no block is done sooner than alone."""
        waves, places = self.waves(each), -(-self.blocks // self.most) * self.most
        return self.all * min(Fraction(1, waves), max(0, 1 - Fraction((waves - 1) * each, places)))

    def wave(self, each):
        """The work of any but the last one."""
        waves = self.waves(each)
        return (self.all - self.last_wave(each)) / (waves - 1) if waves > 1 else self.all

    def waves_over(self, each):
        waves, last = self.waves(each), self.last_wave(each)
        if waves == 1 or self.left <= last:
            return waves - 1
        return min((self.all - self.left) * (waves - 1) // (self.all - last), waves - 2)

    def in_step(self):
        """How many blocks its waves have; 0: it is out of step."""
        return self.pace if self.each is None else self.each

    def alive(self):
        """Blocks that are on SMs or have not begun."""
        each = self.in_step()
        return self.blocks - self.waves_over(each) * each if each else -(-self.left * self.blocks // self.all)

    def hold(self):
        """None of its blocks may begin: those that are there leave as they end, all at once if they are in step, else a third at
        a time."""
        if not self.on or not self.waiting or self.leaving:
            return
        each = self.in_step()
        if each:
            self.leaving, self.leaves_at = self.on, self.all - (self.waves_over(each) + 1) * self.wave(each)
        else:
            self.leaving, self.leaves_at = -(-self.on // 3), self.left - self.all * Fraction(self.on, self.blocks * 3)

    def leave(self):
        """Blocks that have no successors, since none may begin."""
        had = self.on
        while self.leaving and self.on and self.left <= self.leaves_at:
            self.on -= min(self.on, self.leaving)
            self.leaves_at -= self.all * Fraction(self.on, self.blocks * 3)
            self.pace = self.on
            each, self.each = had if self.each is None else self.each, 0
            if each and not self.on:
                self.blocks, self.all, self.each = self.blocks - self.waves_over(each) * each, self.left, None
                self.waiting, self.most = self.blocks, min(self.blocks, self.most)
        return had - self.on

    def settle(self):
        """Blocks that are over: how many leave their SMs, and have no successors there."""
        gone = self.leave()
        if not self.pace and self.each == 0:
            self.waiting = self.alive()
        if not self.pace or self.pace >= self.blocks:
            return gone
        if self.each is None and self.waves_over(self.pace):
            self.each = self.pace
        alive = self.alive() if self.each is not None else self.blocks
        self.waiting = max(0, alive - self.pace)
        leave = self.on - min(self.on, alive)
        self.on -= leave
        return gone + leave

    def looks(self):
        """The work that is left when SMs get free, or when no block waits any more; those that end evenly are looked for when
        half of them have left, to a quarter."""
        each = self.in_step()
        if not self.pace or self.pace >= self.blocks:
            return 0
        if self.leaving:
            return self.leaves_at
        if each:
            return self.last_wave(each) if self.waiting else 0
        if self.waiting:
            return self.all * Fraction(self.pace, self.blocks)
        return self.all * Fraction(self.on // 2, self.blocks) if self.on * 4 > self.pace else 0

    def next_time(self, now):
        if not self.pace:
            return None
        looks = [0, self.looks()] if self.is_watched or self.leaving else [0]
        return min(now + -(-(self.left - left) * self.most // self.pace) for left in looks if left < self.left)


class Blocks:
    """costs: sms, and rank (of a job)."""

    are_by_rates = True  # kernels of jobs without a program, where none has one

    def __init__(self, costs):
        self.costs, self.jobs, self.now = costs, [], 0
        self.kernels, self.free, self.has_changed = [], costs["sms"], False

    def has_room(self, job):
        return True

    def add(self, job, now):
        """It has the first place that no other one has; of kernels of one instant the first place's goes first."""
        job.place = next(n for n in range(len(self.jobs) + 1) if n not in {other.place for other in self.jobs})
        self.jobs.append(job)
        self.has_changed = True
        job.host = Host(job.program, job.iterations, self.costs["launches"], now)
        if job.period:
            job.host.serve(job.period, self.costs["lag"])

    def remove(self, job, now):
        """Kernels of the others go on as they are; but where none has a program they share by rates."""
        self.jobs.remove(job)
        self.has_changed = True
        if self.are_by_rates and all(its.lacks_program for its in self.jobs):
            for kernel in self.kernels:
                self.free += kernel.on - kernel.blocks
                kernel.on = kernel.pace = kernel.blocks
                kernel.waiting, kernel.each = 0, None

    def kernel(self, job, rank, now):
        """What the kernel before it did of its last nanosecond after its end counts for it, in one iteration."""
        nth, calls = len(job.host.ends), job.program.calls
        kernel = Kernel(job, rank, now, *job.host.lengths[nth], self.costs["sms"])
        kernel.left -= job.spare if nth % sum(what == "launch" for what, _, _ in calls) else 0
        return kernel

    def come(self, jobs, now):
        """Kernels that their hosts have launched, and for which their jobs are ready."""
        for job in jobs:
            if job.host.is_ready() and not any(kernel.job is job for kernel in self.kernels):
                self.kernels.append(self.kernel(job, self.costs["rank"](job), now))

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        self.look(now)
        self.serve(now)
        for kernel in self.kernels:
            kernel.is_watched = any(self.waits(other) for other in self.kernels if other is not kernel)

    def waits(self, kernel):
        return kernel.waiting > 0

    def look(self, now):
        """Blocks that are over leave where the kernels that are there change, or one is to be looked at."""
        before = list(self.kernels)
        self.come(self.jobs, now)
        if self.has_changed or self.kernels != before or any(kernel.is_due for kernel in self.kernels):
            for kernel in self.kernels:
                self.give_back(kernel, kernel.settle())
                kernel.is_due = False
        self.has_changed = False

    def serve(self, now):
        self.serve_all(sorted(self.kernels, key=lambda kernel: (-kernel.rank, kernel.then, kernel.job.place)), now)

    def serve_all(self, line, now):
        """One that stands behind a kernel that waits gets no blocks on SMs, and those that it has there leave."""
        are_waiting = False
        for kernel in line:
            if are_waiting:
                kernel.hold()
            else:
                self.put(kernel, now)
            are_waiting |= kernel.waiting > 0

    def put(self, kernel, now):
        kernel.leaving = 0
        was = kernel.each
        self.fill(kernel)
        if was and not kernel.each:
            self.give_back(kernel, kernel.settle())
            self.fill(kernel)

    def fill(self, kernel):
        n = min(kernel.waiting, self.free)
        if n:
            self.free -= n
            kernel.begin(n)

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        times += [then for kernel in self.kernels if (then := kernel.next_time(self.now)) is not None]
        return min(times, default=None)

    def give_back(self, kernel, n):
        self.free += n

    def end(self, kernel, now):
        self.has_changed = True
        kernel.job.spare = -kernel.left
        kernel.job.host.ends.append(now)

    def advance(self, now):
        for kernel in list(self.kernels):
            kernel.walk(now - self.now)
            if kernel.left <= 0:
                self.kernels.remove(kernel)
                self.give_back(kernel, kernel.on)
                self.end(kernel, now)
        self.now = now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
