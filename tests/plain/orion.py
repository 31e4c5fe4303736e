# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of best effort beside a client of high priority, by the head of policies/orion.c: while a request or iteration
of that client is under way, only those begin that are small and not bound by what its kernel is bound by."""
from blocks import Blocks, Kernel, Waves

LAST_ENDS = -1  # when a kernel was let begin as the last iteration of high priority ended: before all others


class Fitted(Waves):
    """Kernels that began as the client of high priority had its last kernel done, and as it left, end at once. In gsim a host
    is fitted to a nanosecond an iteration, so that the job is over some nanoseconds later, which says whose kernel ends last."""


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

    served = None  # the client of which a kernel was let begin last; it may have left

    def remove(self, job, now):
        """A kernel is let begin as its last iteration ends; then there is none of high priority."""
        waiting = [its for other in self.in_turn() for its in self.kernels if its.job is other and other is not job]
        if self.is_high(job) and waiting and not any(its.let for its in waiting):
            self.launch(waiting[0], LAST_ENDS)
        Blocks.remove(self, job, now)

    def add(self, job, now):
        """It has the first place that no other one has."""
        job.place = next(n for n in range(len(self.jobs) + 1) if n not in {other.place for other in self.jobs})
        Blocks.add(self, job, now)

    def places(self):
        return sorted(self.jobs, key=lambda job: job.place)

    def in_turn(self):
        last = self.served.place if self.served else -1
        return sorted(self.jobs, key=lambda job: (job.place <= last, job.place))

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        for job in self.places():
            if job.host.is_ready() and not any(kernel.job is job for kernel in self.kernels):
                length, blocks = job.host.lengths[len(job.host.ends)]
                self.kernels.append(Kernel(job, self.costs["rank"](job), now, length, blocks))
        urgent = next((job for job in self.jobs if self.is_high(job)), None)
        others = [its for its in self.kernels if its.job is not urgent]
        for job in self.in_turn():
            for kernel in [its for its in others if its.job is job and not its.let]:
                if urgent is None or not any(its.let for its in others) and self.may_begin(kernel, urgent):
                    self.launch(kernel, now)
        for kernel in [its for its in self.kernels if its.job is urgent]:
            self.put(kernel, now)
        for kernel in sorted((its for its in others if its.let), key=lambda its: (its.then, its.job.place)):
            self.put(kernel, now)

    def advance(self, now):
        had = list(self.kernels)
        over = Blocks.advance(self, now)
        ended = [its for its in had if its not in self.kernels]
        if len(ended) > 1 and any(its.then == LAST_ENDS for its in ended):
            raise Fitted
        return over

    def waits_beside(self, kernel):
        return Blocks.waits_beside(self, kernel) or any(its.on and its.waiting for its in self.kernels if its is not kernel)

    def launch(self, kernel, now):
        """It stays so, whatever comes."""
        self.served, kernel.let, kernel.then = kernel.job, True, now
