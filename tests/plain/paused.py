# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that are paused and keep their memory on their GPUs, by docs/models/preemption.md and docs/architecture.md: a job goes back
to its GPUs if it can, else to others, where it has its memory copied to the host and from there."""
from cluster import Run

S, GIB = 10**9, 2**30


class Paused(Run):
    """costs: what a stop takes, bytes per second of a GPU's link (out, back), ns for each GiB that is freed, memory of a GPU (room)
    and what each process needs besides its own (context)."""

    def __init__(self, cluster, jobs, policy, costs):
        Run.__init__(self, cluster, jobs, policy, costs["stop"], self.in_ns)
        self.costs = costs

    def in_ns(self, job):
        if sorted(job.units) == sorted(job.old_units):
            return 0
        return (-(-job.memory * S // self.costs["out"]) + -(-job.memory * S // self.costs["back"])
                + -(-self.costs["free"] * job.memory // GIB))

    def return_ns(self, job):
        return 0

    def has_memory_on(self, job, unit):
        """On GPUs that it has, is on its way to, leaves, or waits for."""
        return job.end is None and unit in (job.units or (job.old_units if job.has_run else ()))

    def fits_on(self, job, unit):
        others = [other for other in self.jobs if other is not job and self.has_memory_on(other, unit)]
        if not others:
            return True
        return sum(other.memory + self.costs["context"] for other in [*others, job]) <= self.costs["room"]

    def find(self, job):
        """Its GPUs; else others that are idle and have room beside those that pause there."""
        if job.has_run and all(self.cluster.nodes[number].free[gpu] >= job.ppm for number, gpu in job.old_units):
            return job.old_units
        for number, node in enumerate(self.cluster.nodes):
            node.closed = {gpu for gpu in node.all_idle() if not self.fits_on(job, (number, gpu))}
        units = self.cluster.find(job)
        for node in self.cluster.nodes:
            node.closed = ()
        return units
