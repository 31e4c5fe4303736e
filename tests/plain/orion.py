# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of best effort beside a client of high priority, by the head of policies/orion.c: while a request or iteration
of that client is under way, only those begin that are small and not bound by what its kernel is bound by."""
from blocks import NEAR, Blocks, Waves
from cluster import WHOLE
from hosts import Host, alone


class Fitted(Waves):
    """Kernels that began as the client of high priority had its last kernel done, and as it left, end at once. In gsim a host
    is fitted to a nanosecond an iteration, so that the job is over some nanoseconds later, which says whose kernel ends last."""


class Orion(Blocks):
    """costs: as those of Blocks, and below (SMs), bound (part of the SMs), let (of an iteration of high priority alone, in
    millionths). A job's let are its kernels that the GPU has or had, and its sum how long those last that count."""

    are_by_rates = False

    def is_high(self, job):
        return self.costs["rank"](job) > 0

    def has_room(self, job):
        return not self.is_high(job) or not any(self.is_high(other) for other in self.jobs)

    def is_under_way(self, host):
        """An iteration is from its first launch to the end of its last kernel."""
        return host.is_ready() or len(host.ends) % self.kernels_of(host) != 0

    def kernels_of(self, its):
        """How many an iteration has."""
        return sum(what == "launch" for what, _, _ in its.program.calls)

    def is_bound(self, job, blocks):
        """By arithmetic; a kernel of which the bytes are not known is bound by nothing."""
        return job.program.has_bytes and blocks >= self.costs["bound"] * self.costs["sms"]

    def is_clear(self, job, blocks, urgent):
        if not self.is_under_way(urgent.host):
            return True
        runs = next((its.blocks for its in self.kernels if its.job is urgent), None)
        if runs is None:  # the last one that ran
            runs = urgent.host.lengths[len(urgent.host.ends) - 1][1]
        if blocks >= self.costs["below"]:
            return False
        return not (self.is_bound(urgent, runs) and self.is_bound(job, blocks))

    n_let = 1  # kernels are let begin in this order, in which those of one instant go to SMs, behind those that had been before
    served = None  # the client of which a kernel was let begin last; it may have left

    def remove(self, job, now):
        """It is still there as its last iteration ends."""
        urgent = next((job for job in self.jobs if self.is_high(job)), None)
        if urgent:
            self.ask(urgent, now)
            for kernel in self.kernels if job is urgent else []:
                kernel.let_last |= kernel.nth > 0 and kernel.then == now
        Blocks.remove(self, job, now)

    def add(self, job, now):
        job.let = job.sum = job.seen = 0
        Blocks.add(self, job, now)
        if self.is_high(job):
            job.alone = alone(Host(job.program, 1, self.costs["launches"], 0))
            for other in self.jobs:  # kernels that had ended before it came do not count
                other.sum = sum(length for length, _ in other.host.lengths[len(other.host.ends):other.let])

    def places(self):
        return sorted(self.jobs, key=lambda job: job.place)

    def in_turn(self):
        last = self.served.place if self.served else -1
        return sorted(self.jobs, key=lambda job: (job.place <= last, job.place))

    def is_any_more_let(self, urgent):
        """Until they last longer than a part of an iteration alone; then none until all have ended."""
        others = [job for job in self.jobs if job is not urgent]
        is_over = sum(job.sum for job in others) > urgent.alone * self.costs["let"] // WHOLE
        if is_over and all(job.let <= len(job.host.ends) for job in others):
            for job in others:
                job.sum = 0
            is_over = False
        return not is_over

    def ask(self, urgent, now):
        """Clients by turns, for a kernel each that its host has launched, of the iteration that is under way."""
        line, are_any = [job for job in self.in_turn() if job is not urgent], True
        while are_any:
            are_any = False
            for job in line:
                nth = max(job.let, len(job.host.ends))
                if nth >= len(job.host.lengths) or nth // self.kernels_of(job) > len(job.host.ends) // self.kernels_of(job):
                    continue
                length, blocks = job.host.lengths[nth]
                if urgent is None and nth == len(job.host.ends):
                    job.sum = 0  # without one of high priority kernels are launched one by one
                elif urgent is None or not self.is_any_more_let(urgent) or not self.is_clear(job, blocks, urgent):
                    continue
                job.let, job.sum, self.served, are_any = nth + 1, job.sum + length, job, True
                for kernel in [its for its in self.kernels if its.job is job and nth == len(job.host.ends)]:
                    kernel.let, kernel.then, kernel.nth, self.n_let = True, now, self.n_let, self.n_let + 1

    def kernel(self, job, rank, now):
        kernel = Blocks.kernel(self, job, rank, now)
        kernel.let, kernel.nth, kernel.let_last = len(job.host.ends) < job.let, 0, False
        return kernel

    def look(self, now):
        """The gate is asked for kernels that are launched behind others, too."""
        is_high = any(self.is_high(job) for job in self.jobs)
        for job in self.jobs:
            n, asks = len(job.host.lengths), is_high and self.costs["let"] > 0 and job.seen <= job.let and len(job.host.ends) < job.seen
            self.has_changed |= asks and n > job.seen and not self.is_high(job)
            job.seen = n
        Blocks.look(self, now)

    def waits(self, kernel):
        return kernel.waiting > 0 and (kernel.let or self.is_high(kernel.job))

    def serve(self, now):
        urgent = next((job for job in self.jobs if self.is_high(job)), None)
        self.ask(urgent, now)
        line = [its for its in self.kernels if its.job is urgent or its.let]
        self.serve_all(sorted(line, key=lambda its: (-its.rank, its.then, its.nth, its.job.place)), now)

    def advance(self, now):
        had = list(self.kernels)
        over = Blocks.advance(self, now)
        ended = [its for its in had if its not in self.kernels]
        if len(ended) > 1 and any(its.let_last for its in ended):
            raise Fitted
        if ended and any(its.blocks > self.costs["sms"] and 0 < its.left * its.most <= NEAR * its.pace for its in self.kernels):
            raise Waves  # which of them ended first is a matter of a part of a nanosecond, and says whose is next
        return over
