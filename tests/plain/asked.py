# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of GPUs under policies that stop jobs, by docs/clusters.md and docs/architecture.md: one that is placed where others still go
away begins once what it asked for is clear, whoever else is on the GPU."""
from cluster import WHOLE, Run
from paused import S, Paused


def clear(run, job):
    """Whether there is room for it beside all that are on its GPUs, or on their way there or off them."""
    there = [*run.running, *run.coming, *run.leaving]
    return all(sum(other.ppm for other in there if unit in (other.units or other.old_units)) + job.ppm <= WHOLE for unit in job.units)


class Asked(Run):
    def admit(self):
        """One after the other, when all that go in this instant are gone."""
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


class PausedAsked(Paused):
    """Those that are paused keep their memory on GPUs on which others have parts. One that goes on elsewhere is copied in behind
    others of its new GPU."""

    admit, queue = Asked.admit, Engines.queue

    def __init__(self, cluster, jobs, policy, costs):
        Paused.__init__(self, cluster, jobs, policy, costs)
        self.until = {}

    def come(self, job):
        Run.come(self, job)
        if job in self.coming:
            self.coming[job] += self.queue("in", job.units[0], -(-job.memory * S // self.costs["back"]))

    def find(self, job):
        """As of whole GPUs, without those on which it has no room for its memory."""
        if job.has_run and all(self.cluster.nodes[number].free[gpu] >= job.ppm for number, gpu in job.old_units):
            return job.old_units
        kept = [list(node.free) for node in self.cluster.nodes]
        for number, node in enumerate(self.cluster.nodes):
            for gpu in range(node.gpus):
                if 0 < node.free[gpu] and not self.fits_on(job, (number, gpu)):
                    node.free[gpu] = 0
        units = self.cluster.find(job)
        for node, free in zip(self.cluster.nodes, kept):
            node.free = free
        return units
