# SPDX-License-Identifier: GPL-3.0-or-later
"""Gangs and jobs that share GPUs under queue=easy, on nodes of unlike widths, by docs/compare.md, docs/clusters.md and
policies/lib/vacancy.h: a gang has a reservation of the first nodes that will have room for it, by the limits of jobs."""
from cluster import WHOLE
from halts import Halts
from reservations import Fair, Reserved
from sharing import Turns


class Reservation:
    """then: when the first job that finds no room has it; kept: GPUs that it needs, spare: how many of them it does not;
    beside: the jobs with which it shares the one GPU that is kept, None for a gang."""

    def __init__(self, then, kept, spare, beside):
        self.then, self.kept, self.spare, self.beside = then, set(kept), spare, beside


class ReservedGangs(Reserved):
    def over(self, job):
        """By its limit, or by what is left of its work as if it were alone from now on."""
        return max(self.now, self.now + self.left(job) if job.limit is None else job.start + job.limit)

    def left(self, job):
        if job.gpus > 1:
            return job.start + job.work - self.now
        lane, left = self.lanes[job.units[0]], job.left
        if isinstance(lane, Turns) and not isinstance(lane, Halts) and lane.has is job:  # those of Halts are walked up to now
            left -= max(0, min(self.now, lane.until) - lane.since)
        return -(-left // 1)

    def holders(self):
        return [job for job in self.jobs if job.start is not None and job.end is None]

    def room_of_gang(self, job, there):
        """All empty GPUs of the first node with room, or of those of its parts: the fullest for a part as wide as a node,
        the first for the rest. Other rules count GPUs."""
        nodes = self.cluster.nodes
        empty = [[(number, gpu) for gpu in range(node.gpus) if not there[number, gpu]] for number, node in enumerate(nodes)]
        if self.cluster.rule != "consolidate":
            units = [unit for its in empty for unit in its]
            return units if len(units) >= job.gpus else None
        widths, parts, rest = sorted((node.gpus for node in nodes), reverse=True), [], job.gpus
        for width in widths if rest > widths[0] else []:
            if rest >= width:
                parts.append(width)
                rest -= width
        left, chosen = [len(its) for its in empty], set()
        for nth, part in enumerate(parts + [rest] * (rest > 0)):
            enough = [number for number in range(len(nodes)) if left[number] >= part]
            if not enough:
                return None
            number = min(enough, key=lambda number: (left[number], number)) if nth < len(parts) else enough[0]
            left[number] -= part
            chosen.add(number)
        return [unit for number in chosen for unit in empty[number]]

    def reserve(self, head):
        there = {unit: [] for unit in self.lanes}
        for job in self.holders():
            for unit in job.units:
                there[unit].append(job)
        line = sorted(self.holders(), key=lambda job: (self.over(job), job.number))
        for nth, job in enumerate(line):
            for unit in job.units:
                there[unit].remove(job)
            if head.gpus == 1:
                unit = next((unit for unit in sorted(job.units) if self.would_fit(there[unit] + [head])), None)
                if unit:
                    return Reservation(self.over(job), [unit], 0, there[unit] + [head])
            elif nth + 1 == len(line) or self.over(line[nth + 1]) > self.over(job):
                units = self.room_of_gang(head, there)
                if units:
                    return Reservation(self.over(job), units, len(units) - head.gpus, None)
        raise AssertionError("an empty cluster has room for any job")

    def ends_by(self, job, then):
        return self.now + (job.work if job.limit is None else job.limit) <= then

    def look(self):
        its, self.is_kept = None, lambda job, unit: False
        for job in self.line():
            if its is None:
                if not self.place(job):
                    its = self.reserve(job)
                    self.is_kept = lambda job, unit: self.keeps(its, job, unit)
            else:
                self.pass_by(its, job)

    def keeps(self, its, job, unit):
        """Whether a job of one GPU has to stay away from it."""
        if unit not in its.kept or self.ends_by(job, its.then):
            return False
        return its.spare == 0 if its.beside is None else not self.would_fit(its.beside + [job])

    def place(self, job):
        """A job of one GPU takes an idle one of those that are not kept."""
        kept = [unit for unit in self.lanes if job.gpus == 1 and self.is_kept(job, unit)]
        free = [(unit, self.cluster.nodes[unit[0]].free[unit[1]]) for unit in kept]
        for (number, gpu), _ in free:
            self.cluster.nodes[number].free[gpu] = 0
        units = self.cluster.find(job)
        for (number, gpu), was in free:
            self.cluster.nodes[number].free[gpu] = was
        return self.put(job, units or self.with_fewest(job) * (job.gpus == 1))

    def pass_by(self, its, job):
        if not self.place(job):
            return
        n_kept = len(its.kept & set(job.units))
        if not n_kept or self.ends_by(job, its.then):
            return
        if its.beside is not None and job.gpus == 1:
            its.beside.append(job)
        elif its.beside is None and n_kept <= its.spare:
            its.spare -= n_kept
            its.kept -= set(job.units)
        else:
            self.take_back(job)

    def take_back(self, job):
        job.start = None
        for number, gpu in job.units:
            if job.gpus == 1:
                self.lanes[number, gpu].jobs.remove(job)
            self.cluster.nodes[number].free[gpu] = WHOLE if not self.lanes[number, gpu].jobs else 0
        if job.gpus > 1:
            self.gangs.remove(job)
        self.waiting.append(job)


class FairGangs(ReservedGangs, Fair):
    """In the order of users' usage, of all GPUs of a gang."""
