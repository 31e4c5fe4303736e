# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies that slice time over several nodes with memory on the hosts (suspend, adaptive), by docs/clusters.md and the head of
policies/suspend.c: jobs go before others, or wait, for GPUs of the node that has their memory."""
from slices import Sliced


class Homed(Sliced):
    """worth: of so much time of a job's GPUs, in ranks; wait: whether jobs wait for their home (gpu_time then tells ranks of
    one priority apart)."""

    def __init__(self, quantum, rank, yields, worth, will_yield):
        Sliced.__init__(self, quantum, rank, yields)
        self.worth, self.will_yield = worth, will_yield
        self.since = {}  # when each began to wait

    def home(self, run, job):
        """The one node of its memory."""
        numbers = {number for number, _ in job.old_units} if job.has_run and len(run.cluster.nodes) > 1 else ()
        return min(numbers) if len(numbers) == 1 else None

    def is_at(self, job, number):
        return bool(job.units) and all(its[0] == number for its in job.units)

    def find(self, run, job):
        """None too where the job had better wait for GPUs of its home."""
        units = run.find(job)
        home = self.home(run, job)
        if not units or not self.will_yield or home is None or all(number == home for number, _ in units):
            return units
        until = self.since[job] + run.quote_ns(job, units) - run.quote_ns(job, job.old_units)
        if until <= run.now:
            return units
        its = [other for other in run.running if other not in self.placed + self.thought and self.is_at(other, home)
               and other.since + self.quantum < until and self.will_yield(run, other, job, until)]
        if len(run.cluster.nodes[home].idle()) + sum(other.gpus for other in its) < job.gpus:
            return units
        self.untils.append(until)
        return None

    def put(self, run, job, units):
        run.put(job, units)
        self.placed.append(job)

    def push(self, run, job, only=None):
        due = [other for other in run.running if other not in self.placed and self.is_due(run, other)
               and self.yields(run, other, job) and (only is None or self.is_at(other, only))]
        self.thought, units = [], None
        for other in sorted(due, key=lambda other: (other.since, other.number)):
            self.thought.append(other)
            run.cluster.change(other, 1)
            units = self.find(run, job)
            if units and (only is None or all(number == only for number, _ in units)):
                break
            units = None
        thought, self.thought = self.thought, []
        for other in thought:
            run.cluster.change(other, -1)
        if not units:
            return False
        for other in thought:
            if set(units) & set(other.units):
                run.stop(other)
        self.put(run, job, units)
        return True

    def serve_homes(self, run):
        """On nodes with jobs that are due, longest slice first, the first in line of those with their memory there goes first, if
        it is no further behind than what going home saves: to idle GPUs, or those of jobs that give way."""
        tried, has_placed = set(), False
        for other in sorted(run.running, key=lambda other: (other.since, other.number)):
            numbers = {number for number, _ in other.units}
            if other in self.placed or other not in run.running or not self.is_due(run, other) or len(numbers) != 1 or numbers <= tried or not run.waiting:
                continue
            tried |= numbers
            number, line = min(numbers), self.line(run)
            best = next((job for job in line if self.home(run, job) == number), None)
            if best is None:
                continue
            elsewhere = [((number + 1) % len(run.cluster.nodes), gpu) for gpu in range(best.gpus)]
            saves = run.quote_ns(best, elsewhere) - run.quote_ns(best, best.old_units)
            if self.worth(run, best, line[0]) > saves * best.gpus:
                continue
            units = self.find(run, best) if len(run.cluster.nodes[number].idle()) >= best.gpus else None
            if units and all(its[0] == number for its in units):
                self.put(run, best, units)
                has_placed = True
            else:
                has_placed |= self.push(run, best, number)
        return has_placed

    def decide(self, run):
        """A job that was stopped in no time may find GPUs elsewhere at once."""
        before = None
        while run.stops != before:
            before = run.stops
            self.decide_once(run)

    def decide_once(self, run):
        self.since = {job: self.since.get(job, run.now) for job in run.waiting}
        self.placed, self.thought, self.untils = [], [], []
        has_tried, line = False, self.line(run)
        while line:
            job = line.pop(0)
            if job not in run.waiting:
                continue
            units = self.find(run, job)
            if units:
                self.put(run, job, units)
                continue
            if not has_tried:
                has_tried = True
                if self.serve_homes(run):
                    line = self.line(run)
                    continue
            home = self.home(run, job)
            if not (self.will_yield and home is not None and self.push(run, job, home)):
                self.push(run, job)
        times = [job.since + self.quantum for job in run.running if not self.is_due(run, job)] + self.untils
        if self.placed or any(self.is_due(run, job) for job in run.running):
            times.append(run.now + self.quantum)
        self.next = min(times, default=None) if run.waiting else None
