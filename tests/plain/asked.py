# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of GPUs under policies that stop jobs, by docs/clusters.md and docs/architecture.md: one that is placed where others still go
away begins once what it asked for is clear, whoever else is on the GPU."""
from cluster import WHOLE, Run


def clear(run, job):
    """Whether there is room for it beside all that are on its GPUs, or on their way there or off them."""
    there = [*run.running, *run.coming, *run.leaving]
    return all(sum(other.ppm for other in there if unit in (other.units or other.old_units)) + job.ppm <= WHOLE for unit in job.units)


class Asked(Run):
    def admit(self):
        for job in list(self.placed):
            if clear(self, job):
                self.placed.remove(job)
                job.start = self.now if job.start is None else job.start
                job.there = self.now
                if job.has_run:
                    self.come(job)
                else:
                    self.begin(job)


class Engines(Asked):
    """Memory of stopped jobs goes to the host and comes back: of one GPU one copy after the other, each way. copies: what one takes
    each way, without what frees the memory."""

    def __init__(self, cluster, jobs, policy, setup):
        Asked.__init__(self, cluster, jobs, policy, setup.stop_ns, setup.back_ns, setup.loses)
        self.copies, self.until = setup.costs["copies"], {}

    def queue(self, way, unit, ns):
        self.until[way, unit] = max(self.now, self.until.get((way, unit), 0)) + ns
        return self.until[way, unit] - self.now - ns

    def stop(self, job):
        Run.stop(self, job)
        self.leaving[job] += self.queue("out", job.old_units[0], self.copies["out"](job))

    def come(self, job):
        Run.come(self, job)
        self.coming[job] += self.queue("in", job.units[0], self.copies["in"](job))
