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
                if not self.place(run, job):
                    self.push(run, job)
        self.wake_later(run)

    def wake_later(self, run):
        times = [job.since + self.quantum for job in run.running if not self.is_due(run, job)]
        times += [run.now + self.quantum for job in run.running if self.is_due(run, job)]
        self.next = min(times, default=None) if run.waiting else None

    def find(self, run, job):
        return run.find(job)

    def place(self, run, job):
        units = self.find(run, job)
        if units:
            run.put(job, units)
        return bool(units)

    def push(self, run, job):
        """As many as it needs, in thought; those whose GPUs it does not take run on."""
        due = [other for other in run.running if self.is_due(run, other) and self.yields(run, other, job)]
        thought, units = [], None
        for other in sorted(due, key=lambda other: (other.since, other.number)):
            thought.append(other)
            run.cluster.change(other, 1)
            units = self.find(run, job)
            if units:
                break
        for other in thought:
            run.cluster.change(other, -1)
        if units:
            for other in thought:
                if set(units) & set(other.units):
                    run.stop(other)
            run.put(job, units)


class Server(Sliced):
    """Turns of jobs on one server of Gandiva's, by the head of policies/gandiva/turns.c: the one that has waited longest
    goes first, and one that has been pushed out pushes out no other for a slice, from when it is off its GPUs."""

    def __init__(self, quantum):
        Sliced.__init__(self, quantum, None, lambda run, victim, job: run.now >= self.rests_until(job))
        self.since, self.pushed = {}, set()  # jobs that have been pushed out, also where their memory was lost since

    def arrived(self, run, job):
        self.pushed.discard(job)

    def note(self, run):
        """When each began to wait."""
        self.pushed |= {job for job in [*run.leaving, *run.waiting] if job.old_units}
        self.since = {job: self.since.get(job, run.now) for job in run.waiting}

    def find(self, run, job):
        """Its old GPUs, if they are idle."""
        its = job.old_units
        are_idle = its and all(gpu in run.cluster.nodes[number].idle() for number, gpu in its)
        return its if are_idle else run.cluster.find(job)

    def rests_until(self, job):
        return self.since[job] + self.quantum if job in self.pushed else 0

    def decide(self, run):
        """Those that have waited are served, then newcomers have idle GPUs where there are any, then all are served."""
        newcomers, before = run.newcomers, None
        while run.stops != before:
            before = run.stops
            self.note(run)
            self.serve(run, [job for job in self.line(run) if job not in newcomers])
            self.use_idle(run, newcomers)
            for job in sorted(newcomers, key=lambda job: (job.after is not None, job.number)):
                self.place(run, job)
            self.serve(run, self.line(run) if self.balance(run) or newcomers else [])
            self.use_idle(run, [])
            newcomers = []
        self.note(run)
        times = [job.since + self.quantum for job in run.running] + [self.rests_until(job) for job in run.waiting]
        self.next = min((time for time in times if time > run.now), default=None) if run.waiting else None

    def use_idle(self, run, newcomers):
        pass

    def balance(self, run):
        """Whether jobs have moved to another line."""

    def line(self, run):
        """One that is stopped in no time is in line from the next round on."""
        return sorted((job for job in run.waiting if job in self.since), key=lambda job: (self.since[job], job.number))

    def serve(self, run, line):
        """A job that is pushed out may leave more GPUs than it was for: the line is served again."""
        was = None
        while was != len(run.leaving):
            was = len(run.leaving)
            for job in [job for job in line if job in run.waiting]:
                if not self.place(run, job):
                    self.push(run, job)


def gpu_time(run, job):
    return job.ran_at(run.now) * job.gpus
