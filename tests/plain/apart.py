# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs on SMs of their own: green contexts and caps of MPS that do not overlap (docs/models/sm-sharing.md,
head of policies/green.c). A kernel on part of the SMs that it fills alone runs at that part of its speed."""
from exact import Fraction

from blocks import Blocks


class Apart(Blocks):
    """costs: as those of Blocks, and wide, the SMs of each job."""

    def has_room(self, job):
        return (len(self.jobs) + 1) * self.costs["wide"] <= self.costs["sms"]

    def add(self, job, now):
        Blocks.add(self, job, now)
        job.begun = None  # how long its kernel has to run, and since when

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
            if job.begun is None and job.host.is_ready():
                length, blocks = job.host.lengths[len(job.host.ends)]
                job.begun = now + length * Fraction(blocks, min(blocks, self.costs["wide"]))

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        return min(times + [-(-job.begun // 1) for job in self.jobs if job.begun], default=None)

    def advance(self, now):
        self.now = now
        for job in self.jobs:
            if job.begun and job.begun <= now:
                job.host.ends.append(now)
                job.begun = None
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
