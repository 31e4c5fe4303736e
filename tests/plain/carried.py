# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory of stopped jobs on the hosts of several nodes, by docs/models/links.md and docs/clusters.md: a job that comes back
on another node crosses the network first, into each node one transfer after the other."""
from cluster import Run

S, GIB = 10**9, 2**30


class Carried(Run):
    """costs: bytes per second of a GPU's link (out, back) and into a node (net), ns for each GiB that is freed."""

    def __init__(self, cluster, jobs, policy, costs):
        Run.__init__(self, cluster, jobs, policy, self.out_ns, self.in_ns)
        self.costs, self.ports = costs, [0] * len(cluster.nodes)  # until when each node's is taken

    def out_ns(self, job):
        return -(-job.memory * S // self.costs["out"]) + -(-self.costs["free"] * job.memory // GIB)

    def in_ns(self, job):
        return -(-job.memory * S // self.costs["back"])

    def crossing(self, job, units):
        """ns of the transfers into each node for those of these units that find no memory there."""
        home, numbers = [number for number, _ in job.old_units], [number for number, _ in units]
        more = {number: numbers.count(number) - home.count(number) for number in sorted(set(numbers), key=numbers.index)}
        return {number: -(-n * job.memory * S // self.costs["net"]) for number, n in more.items() if n > 0 and home}

    def quote_ns(self, job, units):
        """The way back to these units on idle links."""
        return max(self.crossing(job, units).values(), default=0) + self.in_ns(job)

    def come(self, job):
        then = self.now
        for number, ns in self.crossing(job, job.units).items():
            self.ports[number] = max(self.ports[number], self.now) + ns
            then = max(then, self.ports[number])
        if then + self.in_ns(job) > self.now:
            self.coming[job] = then + self.in_ns(job)
        else:
            self.begin(job)

    def find(self, job):
        return self.find_home(job) or self.cluster.find(job)

    def find_home(self, job):
        """Its old GPUs, else others of its old node, unless jobs are spread; None where it may go anywhere."""
        its = job.old_units
        if not its or not job.has_run:
            return None
        if all(gpu in self.cluster.nodes[number].idle() for number, gpu in its):
            return its
        numbers = {number for number, _ in its}
        if self.cluster.rule == "spread":
            return None
        idle = self.cluster.nodes[min(numbers)].idle() if len(numbers) == 1 else []
        return self.cluster.take(min(numbers), job.gpus) if len(idle) >= job.gpus else None


class Imaged(Carried):
    """In the driver's images. costs: ns of one and ns for each GiB (image), out and in."""

    def out_ns(self, job):
        return self.costs["image"][0] + -(-self.costs["image"][1] * job.memory // GIB)

    def in_ns(self, job):
        return self.costs["image"][2] + -(-self.costs["image"][3] * job.memory // GIB)
