# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that several jobs share on nodes that fail, by docs/clusters.md ("Nodes that fail") and docs/one-gpu.md: each job
of a node falls back to its last checkpoint and comes anew, and its GPUs are empty when the node is repaired."""
from cluster import WHOLE
from failures import Outages, fall_back, stand
from sharing import Shared


class FailingShared(Shared):
    """on: the jobs of each GPU, of which those that come from storage are in its lane only when they are there."""

    def __init__(self, cluster, jobs, lane, costs, passes, back_ns):
        Shared.__init__(self, cluster, jobs, lane, costs, passes)
        self.lane, self.back_ns = lane, back_ns
        self.outages = Outages(cluster, costs) if "mtbf" in costs else None
        self.on = {unit: [] for unit in self.lanes}
        self.saved, self.coming = {}, {}  # work at the last begin; until when it comes

    def is_there(self, unit):
        return not self.cluster.nodes[unit[0]].is_down

    def has_room(self, job, unit):
        jobs = self.on[unit]
        if not self.is_there(unit) or not jobs:
            return self.is_there(unit) and self.cluster.nodes[unit[0]].free[unit[1]] == WHOLE
        if jobs[0].gpus > 1:
            return False
        memory = sum(other.memory + self.costs["context"] for other in jobs + [job])
        return memory <= self.costs["room"] and len(jobs) < self.costs["clients"]

    def with_fewest(self, job):
        units = [unit for unit in self.lanes if self.has_room(job, unit)]
        return units and [min(units, key=lambda unit: (len(self.on[unit]), unit))]

    def decide(self):
        for job in sorted(self.waiting, key=stand):
            if not self.place(job) and not self.passes:
                break

    def place(self, job):
        units = self.cluster.find(job) or self.with_fewest(job) * (job.gpus == 1)
        for number, gpu in units or []:
            self.cluster.nodes[number].free[gpu] = 0
            self.on[number, gpu].append(job)
        if units:
            job.units, job.start = units, self.now if job.start is None else job.start
            self.waiting.remove(job)
            self.come(job)
        return bool(units)

    def come(self, job):
        if job.has_run and self.back_ns:
            self.coming[job] = self.now + self.back_ns
        else:
            self.begin(job)

    def begin(self, job):
        self.saved[job], job.since = job.work - job.left, self.now
        if job.gpus == 1:
            self.lanes[job.units[0]].add(job, self.now)
        else:
            self.gangs.append(job)

    def give_back(self, job):
        for unit in job.units:
            self.on[unit].remove(job)
            if not self.on[unit]:
                self.cluster.nodes[unit[0]].free[unit[1]] = WHOLE
        job.units = []

    def finish(self, job):
        units = job.units
        job.units = []
        Shared.finish(self, job)
        job.units = units
        if job.gpus == 1:
            self.lanes[units[0]].remove(job, self.now)
        self.give_back(job)

    def fail(self, number):
        """GPUs of the node forget all that was on them; jobs of other GPUs there run on."""
        lost = [job for job in self.jobs if job.end is None and any(its[0] == number for its in job.units)]
        its = [unit for unit in self.lanes if unit[0] == number]
        for unit in its:
            self.lanes[unit].settle(self.now)
        for job in lost:
            if job in self.gangs:
                self.gangs.remove(job)
                job.left = job.left_at(self.now)
            has_begun = self.coming.pop(job, None) is None
            fall_back(job, self.saved[job] if has_begun else job.work - job.left, self.costs["every"])
            self.give_back(job)
            job.since = None
            self.to_come.append(job)
        for unit in its:
            is_used, self.lanes[unit] = self.lanes[unit].is_used, self.lane(self.costs)
            self.lanes[unit].is_used = is_used

    def leave(self):
        ended = [job for lane in self.lanes.values() for job in lane.advance(self.now)]
        over = [job for job in self.gangs if job.ends() <= self.now]
        self.gangs = [job for job in self.gangs if job not in over]
        for job in ended + over:
            self.finish(job)
        for job in sorted((job for job, then in self.coming.items() if then <= self.now), key=lambda job: job.number):
            del self.coming[job]
            self.begin(job)
        for number in self.outages.turn(self.now) if self.outages else []:
            if self.cluster.nodes[number].is_down:
                self.fail(number)

    def serve(self):
        for job in self.newcomers_now():
            self.waiting.append(job)
            job.came = self.now
        self.decide()
        for lane in self.lanes.values():
            lane.begin(self.now)

    def next_time(self):
        if all(job.end is not None for job in self.jobs):
            return None
        times = [job.submit for job in self.to_come] + [job.ends() for job in self.gangs]
        times += [then for then in (lane.next_time() for lane in self.lanes.values()) if then is not None]
        return min(times + [*self.coming.values()] + (self.outages.turns if self.outages else []), default=None)
