# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of MSched for programs that say what their kernels touch, by docs/models/migration.md: a turn ends with the kernel in
which its time is up. All memory fits, so that none moves."""
from itertools import accumulate

from sharing import NEVER, Tasks


class KernelTurns(Tasks):
    def add(self, job, now):
        job.memory, job.kernel_ends = 0, list(accumulate(its[0] for phase in job.program.phases for its in phase.kernels()))
        job.iteration = job.kernel_ends[-1]
        Tasks.add(self, job, now)

    def set_until(self, now):
        """The end of the kernel in which the turn is up: in the instant in which one ends the next one of its iteration has
        begun."""
        job, turn = self.has, self.costs["slice"] or self.costs["period"] // len(self.jobs)
        up = max(1, -(-(self.met - self.since) // turn)) * turn
        into = int(job.work - job.left) % job.iteration
        at = into + max(up, now - self.since)
        ends = at // job.iteration * job.iteration + next(end for end in job.kernel_ends if end > at % job.iteration)
        ends = at if at % job.iteration == 0 and self.since + at - into > now else ends
        self.until = self.since + ends - into if len(self.jobs) > 1 else NEVER
