# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs beside those of a job of high priority, block by block, under policies that hold the others
back (docs/models/sm-sharing.md, heads of policies/tally.c and policies/orion.c)."""
from blocks import Blocks, Kernel, Waves


class Gated(Blocks):
    """costs: as those of Blocks, and wait. Kernels of best effort begin one at a time, and whole."""

    def __init__(self, costs):
        Blocks.__init__(self, costs)
        self.shut, self.left_at = False, None  # whether kernels above are launched; when the last of them had ended

    def is_high(self, job):
        return self.costs["rank"](job) > 0

    def has_room(self, job):
        return not self.is_high(job) or not any(self.is_high(other) for other in self.jobs)

    def urgent(self):
        return next((job for job in self.jobs if self.is_high(job)), None)

    def is_open(self, kernel, urgent, now):
        return not self.shut and (self.left_at is None or self.left_at + self.costs["wait"] <= now)

    def turn(self, kernel, urgent):
        """Kernels that are held back are launched in the order of their jobs, all others the oldest first."""
        return self.jobs.index(kernel.job) if urgent else kernel.then

    def look(self, urgent, now):
        """Whether the job of high priority has kernels that are launched and not done."""
        was, self.shut = self.shut, urgent is not None and urgent.host.is_ready()
        if urgent is None:
            self.left_at = None
        elif was and not self.shut or urgent.host.ends and urgent.host.ends[-1] == now and not self.shut:
            self.left_at = now

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        for job in self.jobs:
            if job.host.is_ready() and not any(kernel.job is job for kernel in self.kernels):
                length, blocks = job.host.lengths[len(job.host.ends)]
                self.kernels.append(Kernel(job, self.costs["rank"](job), now, length, blocks))
        urgent = self.urgent()
        self.look(urgent, now)
        for kernel in sorted(self.kernels, key=lambda kernel: (-kernel.rank, self.turn(kernel, urgent))):
            if not kernel.waiting:
                continue
            if urgent and kernel.job is not urgent:
                if kernel.on:
                    raise Waves  # it began where no job of high priority was
                others = [other for other in self.kernels if other.on and other.job is not urgent]
                if others or not self.is_open(kernel, urgent, now):
                    continue
                if self.free < kernel.blocks:
                    raise Waves
            self.put(kernel, now)

    def next_time(self):
        times = [then for then in [Blocks.next_time(self)] if then is not None]
        if self.left_at is not None and self.left_at + self.costs["wait"] > self.now:
            times.append(self.left_at + self.costs["wait"])
        return min(times, default=None)

    def look_at(self, kernel):
        """A gate may close between two waves: walked, one setup of 400 differs, and which is right is open."""
        if kernel.each:
            raise Waves
