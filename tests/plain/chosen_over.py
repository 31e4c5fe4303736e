# SPDX-License-Identifier: GPL-3.0-or-later
"""`adaptive` that chooses the way out of each job, on several nodes: as on one (chosen.py), and jobs go before others for GPUs of
the node that has their memory (homes.py), which crosses the network to any other one (docs/models/links.md)."""
from carried import Carried
from chosen import Choice, Chosen
from homes import Homed
from paused_over import PausedOver


class ChosenOver(Chosen, PausedOver):
    """costs: as those of Chosen, and bytes per second into a node (net)."""

    def __init__(self, cluster, jobs, policy, costs):
        PausedOver.__init__(self, cluster, jobs, policy, costs)
        Chosen.__init__(self, cluster, jobs, policy, costs)

    def crossing(self, job, units):
        """What is on storage is as near to all nodes."""
        return {} if job.way == "restart" else Carried.crossing(self, job, units)

    def quote_ns(self, job, units):
        if job.way == "resident":
            return PausedOver.quote_ns(self, job, units)
        return max(self.crossing(job, units).values(), default=0) + self.way_back(job, job.way)

    def find(self, job):
        """Of memory on a host all GPUs of its node are as near; what is on storage can go anywhere."""
        if job.way == "resident":
            return PausedOver.find(self, job)
        if job.way in (None, "restart"):
            return Chosen.find(self, job)
        its = job.old_units
        is_free = all(gpu in self.cluster.nodes[number].idle() and self.fits_on(job, (number, gpu)) for number, gpu in its)
        return its if is_free else self.find_on_node(job) or Chosen.find(self, job)


class ChoiceOver(Choice, Homed):
    def __init__(self, costs):
        Homed.__init__(self, costs["quantum"], None, None, lambda run, job, first: self.rank(run, job) - self.rank(run, first), None)
        Choice.__init__(self, costs)
        self.placed, self.thought, self.untils = [], [], []

    put = Homed.put

    def home(self, run, job):
        """What is on storage has none."""
        return None if job.way in (None, "restart") else Homed.home(self, run, job)

    def decide(self, run):
        before, last, self.has_placed = None, self.next, False
        while run.stops != before:
            before = run.stops
            self.since = {job: self.since.get(job, run.now) for job in run.waiting}
            self.call_back(run)
            self.decide_once(run)
            self.has_placed |= bool(self.placed)
        if run.waiting and self.has_placed:
            self.next = min(self.next or run.now + self.quantum, run.now + self.quantum)
        if self.next is None and last is not None and last > run.now:
            self.next = last
