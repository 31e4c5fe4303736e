# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of several nodes that are paused and keep their memory on their GPUs, by docs/models/preemption.md, docs/models/links.md and
docs/architecture.md: one that comes back on another node has its memory copied out, over the network and in, one after the other."""
from carried import Carried
from paused import GIB, S, Paused


class PausedOver(Paused):
    """costs: as those of Paused, and bytes per second into a node (net)."""

    def __init__(self, cluster, jobs, policy, costs):
        Paused.__init__(self, cluster, jobs, policy, costs)
        self.ports = [0] * len(cluster.nodes)  # until when each node's is taken

    crossing = Carried.crossing

    def come(self, job):
        """It counts on the network from when it comes, and its way out, on links of its own, is added (docs/limits.md)."""
        crossing = self.crossing(job, job.units)
        if sorted(job.units) == sorted(job.old_units) or not crossing:
            Paused.come(self, job)
            return
        then = self.now
        for number, ns in crossing.items():
            self.ports[number] = max(self.ports[number], self.now) + ns
            then = max(then, self.ports[number])
        self.coming[job] = then + self.in_ns(job)

    def quote_ns(self, job, units):
        """The way to these units on idle links."""
        if sorted(units) == sorted(job.old_units):
            return 0
        crossing = self.crossing(job, units)
        return max(crossing.values(), default=0) + -(-job.memory * S // self.costs["out"]) + -(-job.memory * S // self.costs["back"]) + (
            -(-self.costs["free"] * job.memory // GIB))

    def find(self, job):
        """Its GPUs, else others of its old node, unless jobs are spread; else by the rule: where there is room."""
        if not job.has_run:
            return Paused.find(self, job)
        if all(self.cluster.nodes[number].free[gpu] >= job.ppm for number, gpu in job.old_units):
            return job.old_units
        return self.find_on_node(job) or Paused.find(self, job)

    def find_on_node(self, job):
        numbers = {number for number, _ in job.old_units}
        if self.cluster.rule == "spread" or len(numbers) > 1:
            return None
        number = min(numbers)
        idle = [gpu for gpu in self.cluster.nodes[number].idle() if self.fits_on(job, (number, gpu))]
        return [(number, gpu) for gpu in idle[:job.gpus]] if len(idle) >= job.gpus else None
