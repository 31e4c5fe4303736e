# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs in instances (MIG), and lanes of memory (Salus), on nodes that fail, by docs/clusters.md ("Nodes that fail") and the
heads of policies/mig.c and policies/salus.c. Jobs that are lost leave their instances and lanes empty."""
from cluster import WHOLE
from cuts import SIZES, Cuts
from failures import stand
from lanes import Gpu
from outages import FailingShared
from sharing import Beside


class FailingInstances(FailingShared):
    """One layout for all GPUs, which a failure leaves as it is."""

    def __init__(self, cluster, jobs, costs, passes, back_ns):
        FailingShared.__init__(self, cluster, jobs, lambda costs: Beside({"cap": 1}), costs, passes, back_ns)
        self.free = {(unit, nth): size for unit in self.lanes for nth, size in enumerate(costs["layout"])}

    def place(self, job):
        """The smallest that its memory fits, of equal ones the first."""
        fit = [(size, its) for its, size in self.free.items() if size[1] >= job.memory and self.is_there(its[0])]
        if fit:
            (sms, memory), job.instance = min(fit)
            job.size = self.free.pop(job.instance)
            job.speed, job.units = min(job.fills, sms) / job.fills, [job.instance[0]]
            job.start = self.now if job.start is None else job.start
            self.waiting.remove(job)
            self.come(job)
        return bool(fit)

    def begin(self, job):
        self.saved[job], job.since = job.work - job.left, self.now
        self.gangs.append(job)

    def give_back(self, job):
        self.free[job.instance] = job.size
        job.units = []

    def finish(self, job):
        job.end = self.now
        self.give_back(job)
        self.release(job)


class FailingLanes(FailingShared):
    """A job that comes from storage has its lane from the begin on."""

    def __init__(self, cluster, jobs, costs, passes, back_ns):
        FailingShared.__init__(self, cluster, jobs, Gpu, costs, passes, back_ns)

    def has_room(self, job, unit):
        lane = self.lanes[unit]
        if not self.is_there(unit):
            return False
        if not self.on[unit]:
            return self.cluster.nodes[unit[0]].free[unit[1]] > 0
        return self.on[unit][0].gpus == 1 and lane.lane_for(job) is not None

    def with_fewest(self, job):
        units = [unit for unit in self.lanes if self.has_room(job, unit)]
        return units and [min(units, key=lambda unit: (self.lanes[unit].lane_for(job).all != [], len(self.on[unit]), unit))]

    def come(self, job):
        if job.gpus == 1:
            self.lanes[job.units[0]].enter(job, self.now)
        FailingShared.come(self, job)


class FailingCuts(FailingShared):
    """GPUs that are cut for the jobs that wait; one that is cut stays so when its node fails."""

    cut, layout, place, place_in, place_whole = Cuts.cut, Cuts.layout, Cuts.place, Cuts.place_in, Cuts.place_whole
    begin = FailingInstances.begin
    finish = FailingInstances.finish

    def __init__(self, cluster, jobs, costs, passes, back_ns):
        FailingShared.__init__(self, cluster, jobs, lambda costs: Beside({"cap": 1}), costs, passes, back_ns)
        self.instances = {unit: [] for unit in self.lanes}

    def is_empty(self, unit):
        return self.is_there(unit) and Cuts.is_empty(self, unit)

    def line(self):
        return sorted(self.waiting, key=stand)

    def free_for(self, job):
        free = [its for unit, instances in self.instances.items() for its in instances
                if self.is_there(unit) and its.job is None and SIZES[its.name][1] >= job.memory]
        return min(free, key=lambda its: (SIZES[its.name], its.unit), default=None)

    def start(self, job, speed):
        job.units = [job.instance.unit] if job.gpus == 1 else job.units
        job.speed, job.start = speed, self.now if job.start is None else job.start
        self.waiting.remove(job)
        self.come(job)

    def give_back(self, job):
        if job.gpus == 1:
            job.instance.job = None
        else:
            for number, gpu in job.units:
                self.cluster.nodes[number].free[gpu] = WHOLE
        job.units = []
