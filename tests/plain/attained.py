# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that jobs share in the order of attained service (queue=las), by docs/compare.md: a job that finds no room has jobs
stopped that are a quantum ahead of it, the most served first."""
from cluster import WHOLE
from outages import FailingShared


class Attained(FailingShared):
    """costs: as those of Shared, and ahead (queue_quantum). Stops take no time; coming back takes back_ns."""

    LOOKS = 16  # in a quantum, at the most

    def __init__(self, cluster, jobs, lane, costs, passes, back_ns):
        FailingShared.__init__(self, cluster, jobs, lane, costs, passes, back_ns)
        self.looks_at, self.has_changed = None, False

    def served(self, job):
        """Its part of the time on a GPU that it shares."""
        lane = self.lanes[job.units[0]] if job.units and job.gpus == 1 else None
        if lane and lane.has is job:
            return job.work - job.left + max(0, min(self.now, lane.until) - lane.since)
        return job.work - job.left + (self.now - job.since if job in self.gangs else 0)

    def rank(self, job):
        return (self.served(job), job.number)

    def runs(self, job):
        return job.end is None and job.units and job not in self.coming

    def decide(self):
        if not self.has_changed and (self.looks_at is None or self.looks_at > self.now):
            return
        while self.walk_down():
            pass
        self.set_look()

    def walk_down(self):
        """Whether jobs were stopped, so that all that wait are tried again."""
        self.fresh = []
        for job in sorted(self.waiting, key=self.rank):
            if self.place(job):
                self.fresh.append(job)
            else:
                out = self.pushed_out(job)
                for other in out:
                    self.stop(other)
                if out:
                    return True
        return False

    def pushed_out(self, job):
        """As many as it needs, in thought; those whose GPUs it does not take run on. Of the idle GPUs that a node would
        have a gang leaves those of the jobs alone that were the last to give way."""
        ahead = [other for other in self.jobs if self.runs(other) and self.served(other) >= self.served(job) + self.costs["ahead"]]
        thought, units = [], None
        for other in sorted(ahead, key=self.rank, reverse=True):
            thought.append(other)
            self.change(other, False)
            units = self.cluster.find(job) or self.with_fewest(job) * (job.gpus == 1)
            if units:
                break
        kept = set(units or [])
        if kept and job.gpus > 1:
            kept = {(units[0][0], gpu) for gpu in self.cluster.nodes[units[0][0]].idle()}
        for other in thought:
            self.change(other, True)
        spare, out = len(kept) - job.gpus, []
        for other in reversed(thought):
            its = len(kept & set(other.units))
            if job.gpus > 1 and its <= spare:
                spare -= its
                kept -= set(other.units)  # which others on these GPUs keep too
            elif its:
                out.append(other)
        return out

    def change(self, job, is_there):
        for unit in job.units:
            (self.on[unit].append if is_there else self.on[unit].remove)(job)
            self.cluster.nodes[unit[0]].free[unit[1]] = 0 if self.on[unit] else WHOLE

    def stop(self, job):
        job.preemptions += 1
        job.has_run = True
        if job.gpus == 1:
            self.lanes[job.units[0]].stop(job, self.now)
        else:
            job.left = job.work - self.served(job)
            self.gangs.remove(job)
        self.give_back(job)
        job.since = None
        self.waiting.append(job)

    def set_look(self):
        """When one of those that ran before could be a quantum ahead of the first in line."""
        self.looks_at = None
        if self.waiting:
            least = min(map(self.served, self.waiting)) + self.costs["ahead"]
            left = [least - self.served(job) for job in self.jobs if self.runs(job) and job not in self.fresh]
            soonest = min([time for time in left if time > 0] + [self.costs["ahead"]])
            self.looks_at = self.now + max(soonest, self.costs["ahead"] // self.LOOKS + 1)

    def state(self):
        return len(self.coming), len(self.to_come), sum(job.end is not None for job in self.jobs)

    def instant(self):
        before = self.state()
        self.leave()
        self.has_changed = self.state() != before or any(job.submit <= self.now for job in self.to_come)
        self.serve()

    def next_time(self):
        then = FailingShared.next_time(self)
        return then if self.looks_at is None or then is None else min(then, self.looks_at)
