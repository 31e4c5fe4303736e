# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that several jobs without iterations share, of which some have a tail (host_tail_s): their hosts go on once their
kernel has ended, by docs/one-gpu.md. In its tail a job keeps its place on the GPU and its memory there, and its place in
the ring, and no other job waits for it."""
from sharing import Beside, Shared, Tasks, Turns


class RestingTurns(Turns):
    anchor = None  # of an idle GPU: the job behind which the ring goes on

    def after(self, job):
        at = self.jobs.index(job)
        return next((other for other in self.jobs[at + 1:] + self.jobs[:at + 1] if not other.rests), None)

    def rest(self, job, now):
        job.rests = True
        self.next = None if self.next is job else self.next
        if self.has is job:
            self.has, self.ran, self.anchor = None, job, job
            if self.after(job):
                self.give(self.after(job), now + self.costs["idle"])

    def remove(self, job, now):
        if job not in self.jobs:  # all of it was tail
            return
        is_last = self.after(job) in (None, job)  # of those that do not rest
        if not job.rests and (not is_last or len(self.jobs) == 1):
            Turns.remove(self, job, now)
            return
        if self.anchor is job or not job.rests:
            self.anchor = self.jobs[self.jobs.index(job) - 1] if len(self.jobs) > 1 else None
        if not job.rests:
            self.has, self.ran, self.next = None, job, None
        self.jobs.remove(job)

    def begin(self, now):
        if self.has is None and self.anchor in self.jobs:
            if self.after(self.anchor):
                self.give(self.after(self.anchor), now + self.costs["idle"])
            self.before = None
            return
        Turns.begin(self, now)


class RestingBeside(Beside):
    def rest(self, job, now):
        self.remove(job, now)
        job.rests = True

    def remove(self, job, now):
        if not job.rests:
            super().remove(job, now)


class RestingTasks(Tasks):
    """The memory of a task is free once its last iteration has ended; a round has its part until its tail has."""

    def __init__(self, costs):
        Tasks.__init__(self, dict(costs))
        self.is_round, self.n_resting = costs["slice"] is None, 0

    def rest(self, job, now):
        self.n_resting += 1
        Tasks.remove(self, job, now)

    def remove(self, job, now):
        if job.rests:
            self.n_resting -= 1
        else:
            Tasks.remove(self, job, now)

    def set_until(self, now):
        if self.is_round:
            self.costs["slice"] = self.costs["period"] // (len(self.jobs) + self.n_resting)
        Tasks.set_until(self, now)


class Tails(Shared):
    def __init__(self, cluster, jobs, lane, costs, passes):
        Shared.__init__(self, cluster, jobs, {Turns: RestingTurns, Beside: RestingBeside, Tasks: RestingTasks}[lane], costs, passes)
        self.resting, self.apart = {}, {unit: [] for unit in self.lanes}  # until when; those that are not with their lane
        for job in jobs:
            job.rests = False
            if job.gpus == 1:
                job.work -= job.tail
                job.left -= job.tail

    def on(self, unit):
        return self.lanes[unit].jobs + self.apart[unit]

    def has_room(self, job, unit):
        there = self.on(unit)
        if not there:
            return self.cluster.nodes[unit[0]].free[unit[1]] == 1_000_000
        memory = sum(other.memory + self.costs["context"] for other in there + [job])
        return memory <= self.costs["room"] and len(there) < self.costs["clients"]

    def with_fewest(self, job):
        units = [unit for unit in self.lanes if self.has_room(job, unit)]
        return units and [min(units, key=lambda unit: (len(self.on(unit)), unit))]

    def put(self, job, units):
        """The job of which all is tail never comes to the lane."""
        placed = Shared.put(self, job, units)
        if placed and job.gpus == 1 and job.left == 0 and job.tail:
            self.lanes[units[0]].jobs.remove(job)
            self.rest(job)
        return placed

    def rest(self, job):
        lane, self.resting[job] = self.lanes[job.units[0]], self.now + job.tail
        if job in lane.jobs:
            lane.rest(job, self.now)
        job.rests = True
        if job not in lane.jobs:
            self.apart[job.units[0]].append(job)

    def leave(self):
        ended = [job for lane in self.lanes.values() for job in lane.advance(self.now)]
        over = [job for job in self.gangs if job.start + job.work <= self.now]
        over += [job for job, then in self.resting.items() if then <= self.now]
        self.gangs = [job for job in self.gangs if job not in over]
        for job in ended + over:
            self.finish(job) if job in over or not job.tail else self.rest(job)

    def finish(self, job):
        """Room that it had is there for others, also beside those that rest."""
        if self.resting.pop(job, None) is not None and job in self.apart[job.units[0]]:
            self.apart[job.units[0]].remove(job)
        for unit in job.units * (job.gpus == 1):
            self.lanes[unit].remove(job, self.now)
        job.end = self.now
        for number, gpu in job.units:
            if not self.on((number, gpu)):
                self.cluster.nodes[number].free[gpu] = 1_000_000
        self.release(job)

    def next_time(self):
        times = [then for then in (Shared.next_time(self), *self.resting.values()) if then is not None]
        return min(times, default=None)
