# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of best effort beside a client of high priority, by the head of policies/orion.c: while a request or iteration
of that client is under way, only those begin that are small and not bound by what its kernel is bound by."""
from blocks import Blocks, Kernel, Waves


class Orion(Blocks):
    """costs: as those of Blocks, and below (SMs), bound (part of the SMs). One kernel of best effort at a time."""

    def is_high(self, job):
        return self.costs["rank"](job) > 0

    def has_room(self, job):
        return not self.is_high(job) or not any(self.is_high(other) for other in self.jobs)

    def is_under_way(self, host):
        """An iteration is from its first launch to the end of its last kernel."""
        n = sum(what == "launch" for what, _, _ in host.program.calls)
        return host.is_ready() or len(host.ends) % n != 0

    def is_bound(self, job, blocks):
        """By arithmetic; a kernel of which the bytes are not known is bound by nothing."""
        return job.program.has_bytes and blocks >= self.costs["bound"] * self.costs["sms"]

    def may_begin(self, kernel, urgent):
        if not urgent or not self.is_under_way(urgent.host):
            return True
        runs = next((its.blocks for its in self.kernels if its.job is urgent), None)
        if runs is None:  # the last one that ran
            runs = urgent.host.lengths[len(urgent.host.ends) - 1][1]
        if kernel.blocks >= self.costs["below"]:
            return False
        return not (self.is_bound(urgent, runs) and self.is_bound(kernel.job, kernel.blocks))

    served = None  # the client of which a kernel was let begin last

    def remove(self, job, now):
        """A kernel is let begin as its last iteration ends; then there is none of high priority."""
        waiting = [its for other in self.in_turn() for its in self.kernels if its.job is other and other is not job]
        if self.is_high(job) and waiting and not any(its.on for its in self.kernels):
            waiting[0].then = -1
        Blocks.remove(self, job, now)

    def add(self, job, now):
        """It has the first place that no other one has."""
        job.place = next(n for n in range(len(self.jobs) + 1) if n not in {other.place for other in self.jobs})
        Blocks.add(self, job, now)

    def places(self):
        return sorted(self.jobs, key=lambda job: job.place)

    def in_turn(self):
        last = self.served.place if self.served in self.jobs else -1
        return sorted(self.jobs, key=lambda job: (job.place <= last, job.place))

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        for job in self.places():
            if job.host.is_ready() and not any(kernel.job is job for kernel in self.kernels):
                length, blocks = job.host.lengths[len(job.host.ends)]
                self.kernels.append(Kernel(job, self.costs["rank"](job), now, length, blocks))
        urgent = next((job for job in self.jobs if self.is_high(job)), None)
        for kernel in [its for its in self.kernels if its.job is urgent]:
            self.put(kernel, now)
        others = [its for its in self.kernels if its.job is not urgent]
        if urgent is None:
            for kernel in sorted(others, key=lambda its: its.then):
                self.put(kernel, now)
            return
        for kernel in [its for job in self.places() for its in others if its.job is job and its.on and not its.let]:
            self.served, kernel.let = kernel.job, True  # it ran as the client of high priority came
        for job in self.in_turn():
            for kernel in [its for its in others if its.job is job]:
                if not any(its.on or its.let for its in others) and self.may_begin(kernel, urgent):
                    self.served, kernel.let = job, True
        for kernel in others:
            if kernel.let or kernel.on:
                if kernel.waiting > self.free:
                    raise Waves
                self.put(kernel, now)
