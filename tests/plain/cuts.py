# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that are cut for the jobs that wait (MIG, mig.layout=auto), by the head of policies/mig.c: an empty GPU is cut
for as many jobs as fit, in their order, and the rest of it into instances as large as possible."""
from exact import Fraction

from cluster import WHOLE
from draw import GIB, INSTANCES
from sharing import Shared

SIZES = {name: (Fraction(sms, 100), memory * GIB) for name, (sms, memory, _, _) in INSTANCES.items()}  # the largest first


def fits(names, taken=frozenset()):
    """Whether all these instances find a place in the slices that are left."""
    if not names:
        return True
    _, _, slices, begins = INSTANCES[names[0]]
    places = [set(range(int(begin), int(begin) + slices)) for begin in begins.split(",")]
    return any(fits(names[1:], taken | place) for place in places if not place & taken)


def smallest(job):
    return min((name for name in SIZES if SIZES[name][1] >= job.memory), key=SIZES.get)


class Instance:
    def __init__(self, unit, name):
        self.unit, self.name, self.job = unit, name, None


class Cuts(Shared):
    """instances: by GPU; a GPU that has none is whole."""

    def __init__(self, cluster, jobs, costs, passes):
        Shared.__init__(self, cluster, jobs, lambda costs: None, costs, passes)
        self.instances, self.lanes = {unit: [] for unit in self.lanes}, {}

    def is_empty(self, unit):
        whole = self.cluster.nodes[unit[0]].free[unit[1]] == WHOLE
        return whole or bool(self.instances[unit]) and not any(its.job for its in self.instances[unit])

    def cut(self, unit, names):
        self.instances[unit] = [Instance(unit, name) for name in names]
        self.cluster.nodes[unit[0]].free[unit[1]] = 0 if names else WHOLE

    def layout(self):
        names = []
        for job in self.line():
            if job.gpus > 1 and self.passes:
                continue
            if job.gpus > 1 or not fits(names + [smallest(job)]):
                break
            names.append(smallest(job))
        for name in SIZES:
            while fits(names + [name]):
                names.append(name)
        return names

    def line(self):
        return sorted(self.waiting, key=lambda job: (job.submit, job.after is not None, job.number))

    def free_for(self, job):
        """The smallest free instance that holds the job, of equal ones the first."""
        free = [its for instances in self.instances.values() for its in instances
                if its.job is None and SIZES[its.name][1] >= job.memory]
        return min(free, key=lambda its: (SIZES[its.name], its.unit), default=None)

    def place(self, job):
        return self.place_whole(job) if job.gpus > 1 else self.place_in(job)

    def place_in(self, job):
        """An instance of its size; else a GPU is cut for one; else a larger one will do."""
        its = self.free_for(job)
        empty = [unit for unit in sorted(self.instances) if self.is_empty(unit)]
        if (its is None or its.name != smallest(job)) and empty:
            self.cut(empty[0], self.layout())
            its = self.free_for(job)
        if its is None:
            return False
        its.job, job.instance = job, its
        self.start(job, min(job.fills, SIZES[its.name][0]) / job.fills)
        return True

    def place_whole(self, job):
        """Empty GPUs are made whole, one by one, until the gang has a place."""
        empty = [unit for unit in sorted(self.instances) if self.is_empty(unit)]
        units = self.cluster.find(job)
        for unit in [unit for unit in empty if self.instances[unit]] if len(empty) >= job.gpus else []:
            if units is None:
                self.cut(unit, [])
                units = self.cluster.find(job)
        for number, gpu in units or []:
            self.cluster.nodes[number].free[gpu] = 0
        if units:
            job.units = units
            self.start(job, 1)
        return bool(units)

    def start(self, job, speed):
        job.start, job.work = self.now, -(-job.left // speed)
        self.waiting.remove(job)
        self.gangs.append(job)

    def finish(self, job):
        for number, gpu in job.units:
            self.cluster.nodes[number].free[gpu] = WHOLE
        if job.gpus == 1:
            job.instance.job = None
        job.units = []
        Shared.finish(self, job)
