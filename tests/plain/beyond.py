# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of MSched where a job alone may have more memory than the GPU, by docs/models/migration.md: as much of what is
predicted comes in as there is room for, and the rest faults in each iteration."""
from predicted import Predicted
from sharing import NEVER


class Beyond(Predicted):
    """Iteration by iteration; costs: as of Predicted."""

    ends, is_up = NEVER, False  # when the iteration under way ends; whether the turn is up then

    def add(self, job, now):
        Predicted.add(self, job, now)
        if len(self.jobs) == 2:
            self.met = now

    def give(self, job, then):
        Predicted.give(self, job, then)
        self.began = self.met = self.since - self.faults
        self.ends, self.is_up = self.since + job.iteration, False

    def set_until(self, now):
        self.until = NEVER

    def next_time(self):
        return self.ends if self.has else None

    def advance(self, now):
        if self.has is None or now < self.ends:
            return []
        job, turn = self.has, self.costs["slice"] or self.costs["period"] // len(self.jobs)
        job.left -= job.iteration
        self.is_up = len(self.jobs) > 1 and now - self.began >= max(1, -(-(self.met - self.began) // turn)) * turn
        self.since = now
        return [job] if job.left == 0 else []

    def begin(self, now):
        if self.has and self.ends == now:
            if self.is_up:
                self.give(self.after(self.has), now)
            else:
                waits = self.iterate(self.has)
                self.has.stall += waits
                self.since = now + waits
                self.ends = self.since + self.has.iteration
        Predicted.begin(self, now)

    def settle(self, now):
        pass
