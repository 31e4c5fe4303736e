# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that slice time (suspend, adaptive), by their heads, docs/clusters.md and policies/lib/slices.h: a job runs
for a quantum, and then gives way to one that waits, longest slice first."""


class Sliced:
    """rank: of a waiting job, the least first; yields: whether the victim gives way to this job once it is due."""

    def __init__(self, quantum, rank, yields):
        self.quantum, self.rank, self.yields = quantum, rank, yields
        self.next = None

    def arrived(self, run, job):
        pass

    def wake(self, run):
        return self.next

    def line(self, run):
        return sorted(run.waiting, key=lambda job: (self.rank(run, job), job.number))

    def is_due(self, run, job):
        return run.now >= job.since + self.quantum

    def decide(self, run):
        """A job that was stopped in no time may find GPUs elsewhere at once."""
        before = None
        while run.stops != before:
            before = run.stops
            for job in self.line(run):
                if not run.place(job):
                    self.push(run, job)
        times = [job.since + self.quantum for job in run.running if not self.is_due(run, job)]
        times += [run.now + self.quantum for job in run.running if self.is_due(run, job)]
        self.next = min(times, default=None) if run.waiting else None

    def push(self, run, job):
        """As many as it needs, in thought; those whose GPUs it does not take run on."""
        due = [other for other in run.running if self.is_due(run, other) and self.yields(run, other, job)]
        thought, units = [], None
        for other in sorted(due, key=lambda other: (other.since, other.number)):
            thought.append(other)
            run.cluster.change(other, 1)
            units = run.cluster.find(job)
            if units:
                break
        for other in thought:
            run.cluster.change(other, -1)
        if units:
            for other in thought:
                if set(units) & set(other.units):
                    run.stop(other)
            run.put(job, units)


def gpu_time(run, job):
    return job.ran_at(run.now) * job.gpus
