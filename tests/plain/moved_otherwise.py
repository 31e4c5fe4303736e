# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of MSched for programs that say what their kernels touch, where more is predicted than that, or where what was used
longest ago goes out, by docs/models/migration.md."""
from moved_turns import MovedTurns
from predicted import Predicted


class MovedOtherwise(MovedTurns):
    """costs: of MovedTurns and Predicted."""

    def __init__(self, costs):
        MovedTurns.__init__(self, costs)
        self.there = {}  # chunks on the GPU, that which was used longest ago first

    def add(self, job, now):
        memory = job.memory
        MovedTurns.add(self, job, now)
        job.n_used, chunk = len(job.chunks), self.costs["chunk"]
        job.chunks += ["new"] * max(0, -(-(memory - job.n_used * chunk) // chunk))

    def remove(self, job, now):
        self.there = {its: True for its in self.there if its[0] is not job}
        MovedTurns.remove(self, job, now)

    predicts, use, put_out, next_out = Predicted.predicts, Predicted.use, Predicted.put_out, Predicted.next_out
    is_touched, take_in = Predicted.is_touched, Predicted.take_in

    def lacks(self, job):
        return any((job, nth) not in self.there for nth in range(job.n_used))

    def n_missed(self, job):
        return 0

    def wants(self, job):
        """Chunks in the order in which they come, and when each is touched."""
        if self.costs["predictor"] == "allocation" or self.costs["spare"]:
            return {nth: self.is_touched(job, nth) if nth < job.n_used else None for nth in self.predicts(job)}
        wanted = {}
        for kernel, begins in self.kernels_to_come(job)[0]:
            for at, _ in job.touches[kernel]:
                wanted.setdefault(at, begins)
        return wanted

    def move(self, job, since, planned):
        wanted = self.wants(job)
        for nth in wanted:
            if (job, nth) in self.there:
                self.use(job, nth)
        missing = [(nth, job.chunks[nth]) for nth in wanted if (job, nth) not in self.there]
        n_in, n_out = self.take_in(job, missing, wanted)
        now = starts = since + planned
        if n_in or n_out:
            takes = self.copies(n_in, n_out)
            coming = [nth for nth, was in missing if n_out or was == "host"]
            late = [-(-takes * (n + 1) // len(coming)) - wanted[nth] for n, nth in enumerate(coming) if wanted[nth] is not None]
            begins = max(now, self.link)
            starts, self.link = begins + (max([0, *late]) if self.costs["early"] else takes), begins + takes
        job.bytes_in += n_in * self.costs["chunk"]
        job.bytes_out += n_out * self.costs["chunk"]
        job.stall += starts - now
        return starts - since

    def touch(self, job, at, ran):
        before = ran, at
        MovedTurns.touch(self, job, at, ran)
        ran, at = before
        while ran > 0:
            kernel = job.kernel_ends.index(at) + 1 if at else 0
            for nth, _ in job.touches[kernel]:
                self.use(job, nth)
            ran -= job.kernel_ends[kernel] - at
            at = job.kernel_ends[kernel] % job.iteration
