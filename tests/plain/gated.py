# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs beside those of a job of high priority, block by block, under policies that hold the others
back (docs/models/sm-sharing.md, heads of policies/tally.c and policies/orion.c)."""
from blocks import Blocks

NEVER = 10**9  # above any rank


class Gated(Blocks):
    """costs: as those of Blocks, and wait. Kernels of best effort begin one at a time; short ones run out."""

    are_by_rates = False

    def __init__(self, costs):
        Blocks.__init__(self, costs)
        self.shut, self.left_at = False, None  # whether kernels above are launched; when the last of them had ended

    def is_high(self, job):
        return self.costs["rank"](job) > 0

    def has_room(self, job):
        return not self.is_high(job) or not any(self.is_high(other) for other in self.jobs)

    def urgent(self):
        return next((job for job in self.jobs if self.is_high(job)), None)

    def is_waiting(self, now):
        return self.shut or self.left_at is not None and self.left_at + self.costs["wait"] > now

    def look_up(self, urgent, now):
        """Whether the job of high priority has kernels that are launched and not done."""
        was, self.shut = self.shut, urgent is not None and urgent.host.is_ready()
        if urgent is None:
            self.left_at = None
        elif was and not self.shut or urgent.host.ends and urgent.host.ends[-1] == now and not self.shut:
            self.left_at = now

    def runs_out(self, kernel):
        return kernel.on > 0 and kernel.length <= self.costs["bound"]

    def is_stopped(self, kernel, now):
        return not self.is_high(kernel.job) and not self.runs_out(kernel) and self.is_waiting(now)

    def waits(self, kernel):
        return kernel.waiting > 0 and self.has_come(kernel) and not self.is_stopped(kernel, self.now)

    def has_come(self, kernel):
        return self.is_high(kernel.job) or kernel.let

    def let_begin(self, urgent, now):
        """Of the kernels that are held back one at a time, in the order of their jobs."""
        for kernel in sorted(self.kernels, key=lambda its: its.job.place):
            if kernel.let or self.is_high(kernel.job):
                continue
            is_any = any(its.let and not self.is_high(its.job) for its in self.kernels)
            if urgent is None or not is_any and not self.is_waiting(now):
                kernel.let, kernel.then = True, now

    def serve(self, now):
        urgent = self.urgent()
        self.look_up(urgent, now)
        self.let_begin(urgent, now)
        there = [its for its in self.kernels if self.has_come(its)]
        rank = {its: NEVER if self.runs_out(its) and not self.is_high(its.job) else its.rank for its in there}
        are_waiting = False
        for kernel in sorted(there, key=lambda its: (-rank[its], its.then, its.job.place)):
            is_stopped = self.is_stopped(kernel, now)
            if is_stopped or are_waiting:
                kernel.hold()
            else:
                self.put(kernel, now)
            are_waiting |= kernel.waiting > 0 and not is_stopped

    def next_time(self):
        times = [then for then in [Blocks.next_time(self)] if then is not None]
        if self.left_at is not None and self.left_at + self.costs["wait"] > self.now:
            times.append(self.left_at + self.costs["wait"])
        return min(times, default=None)
