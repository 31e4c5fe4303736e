# SPDX-License-Identifier: GPL-3.0-or-later
"""`adaptive` that chooses the way out of each job, by the head of policies/adaptive.c and docs/models/preemption.md, on one node:
a job that gives way stays on its GPUs, or has its memory on the host, in the driver's image or on storage."""
from paused import GIB, S, Paused
from slices import Sliced, gpu_time

WAYS = ("restart", "resident", "host", "checkpoint", "finish")  # of ways that cost as much the first is taken


class Chosen(Paused):
    """costs: as those of Paused, and of restart and checkpoint. job.way: how it left its GPUs last."""

    def __init__(self, cluster, jobs, policy, costs):
        Paused.__init__(self, cluster, jobs, policy, costs)
        self.stop_ns = lambda job: self.out_ns(job, job.way)
        for job in jobs:
            job.way, job.is_called = None, False

    def rest_ns(self, job, way):
        """Of its kernel or, where a process ends or may finish, its iteration, before it stops."""
        unit = job.iteration if way in ("finish", "restart") else job.kernel
        return int(job.left_at(self.now)) % unit if unit else 0

    def stop(self, job):
        rest = self.rest_ns(job, job.way)
        Paused.stop(self, job)
        if rest:  # until then it runs
            job.left, job.ran = job.left - rest, job.ran + rest
            if job in self.waiting:
                self.waiting.remove(job)
                self.stops -= 1
            self.leaving[job] = self.now + rest + (self.stop_ns(job) if job.left else 0)

    def change_places(self):
        """A job may end as it is to stop."""
        for job, then in list(self.leaving.items()):
            if then <= self.now and not job.left:
                del self.leaving[job]
                job.end = self.now
                self.release(job)
        return Paused.change_places(self)

    def out_ns(self, job, way):
        costs = self.costs
        return {"resident": costs["stop"], "restart": costs["restart"][0],
                "checkpoint": costs["image"][0] + -(-costs["image"][1] * job.memory // GIB)}.get(
                    way, -(-job.memory * S // costs["out"]) + -(-costs["free"] * job.memory // GIB))

    def way_back(self, job, way):
        costs = self.costs
        return {"resident": 0, "restart": costs["restart"][1],
                "checkpoint": costs["image"][2] + -(-costs["image"][3] * job.memory // GIB)}.get(way, -(-job.memory * S // costs["back"]))

    def in_ns(self, job):
        return Paused.in_ns(self, job) if job.way == "resident" else self.way_back(job, job.way)

    def has_memory_on(self, job, unit):
        return Paused.has_memory_on(self, job, unit) and (bool(job.units) or job.way == "resident")

    def begin(self, job):
        Paused.begin(self, job)
        job.way = None

    def find(self, job):
        if job.way == "resident":
            return Paused.find(self, job)
        its, job.has_run = job.has_run, False  # no GPU is its own
        units = Paused.find(self, job)
        job.has_run = its
        return units


class Choice(Sliced):
    def __init__(self, costs):
        Sliced.__init__(self, costs["quantum"], lambda run, job: -1 if job.is_called else gpu_time(run, job), self.is_behind)
        self.costs, self.seen, self.sorted, self.first = costs, [], 0, None
        self.since = {}  # when each began to wait

    def arrived(self, run, job):
        self.first = run.now if self.first is None else self.first
        self.seen.append((job.memory + self.costs["context"]) >> 20)
        if (len(self.seen) - self.sorted) * 16 >= self.sorted:
            self.sorted = len(self.seen)

    def is_behind(self, run, victim, job):
        is_ahead = job.is_called or gpu_time(run, job) * self.costs["lead"] <= gpu_time(run, victim)
        return is_ahead and min(self.cost(run, victim, way) for way in WAYS) <= victim.ran_at(run.now)

    def cost(self, run, victim, way):
        """What it does until it stops is no cost: it spreads that of the way out over more work."""
        cost = (run.out_ns(victim, way) + run.way_back(victim, way)) * self.quantum // (self.quantum + run.rest_ns(victim, way))
        if way != "resident":
            return cost
        return float("inf") if victim.is_called else cost + self.blocks(run, victim)

    def blocks(self, run, victim):
        """How long others will wait for its memory."""
        room = min((run.costs["room"] - sum(other.memory + run.costs["context"] for other in run.jobs if run.has_memory_on(other, unit)))
                   >> 20 for unit in victim.units)
        gpus = sum(node.gpus for node in run.cluster.nodes)
        away = (len(run.waiting) + gpus) // gpus * self.quantum
        blocked = 1000 * sum(job.way != "resident" and (job.memory + run.costs["context"]) >> 20 > room for job in run.waiting)
        if run.now > self.first:
            larger = sum(memory > room for memory in self.seen[:self.sorted])
            blocked += len(self.seen) * 1000 * away // (run.now - self.first) * larger // self.sorted
        return (self.quantum + away) * blocked // 1000

    def decide(self, run):
        """Looks again a quantum after a job was placed, too, whether it has come to its GPUs or not."""
        before, self.has_placed, last = None, False, self.next
        while run.stops != before:
            before = run.stops
            self.since = {job: self.since.get(job, run.now) for job in run.waiting}
            self.call_back(run)
            for job in self.line(run):
                self.has_placed |= self.place(run, job) or self.push(run, job)
        self.wake_later(run)
        if run.waiting and self.has_placed:
            self.next = min(self.next or run.now + self.quantum, run.now + self.quantum)
        if self.next is None and last is not None and last > run.now:
            self.next = last  # it has no reason to look at another time

    def call_back(self, run):
        first = min(run.waiting, key=lambda job: (self.rank(run, job), job.number), default=None)
        if first and first.way != "resident" and run.now - self.since[first] >= 2 * self.quantum:
            for job in run.waiting:
                job.is_called |= job.way == "resident"

    placed = ()  # in this round
    put = staticmethod(Paused.put)

    def push(self, run, job, only=None):
        """As many as it needs, in thought; one that stays on its GPUs leaves them idle, and its memory there. only: of this node."""
        due = [other for other in run.running if other not in self.placed and self.is_due(run, other)
               and self.yields(run, other, job) and (only is None or self.is_at(other, only))]
        thought, units = [], None
        for other in sorted(due, key=lambda other: (other.since, other.number)):
            way = min(WAYS, key=lambda way: self.cost(run, other, way))
            thought.append((other, other.units, other.old_units))
            run.cluster.change(other, 1)
            other.units, other.old_units, other.way = [], other.units, way
            units = self.find(run, job)
            if units and (only is None or all(number == only for number, _ in units)):
                break
            units = None
        ways = [(other, its, old, other.way) for other, its, old in thought]
        for other, its, old, _ in ways:
            other.units, other.old_units, other.way = its, old, None
            run.cluster.change(other, -1)
        for other, its, _, way in ways if units else ():
            if set(units) & set(its):
                other.way, other.is_called = way, False
                run.stop(other)
        if units:
            self.put(run, job, units)
        return bool(units)
