# SPDX-License-Identifier: GPL-3.0-or-later
"""As halts, where it takes time to save a kernel's state and to bring it back, to kill it, and to switch to another job, by the
table of docs/models/preemption.md and docs/models/time-slices.md."""
from exact import Fraction

from cluster import WHOLE
from halts import Halts

SMS = 100  # of the device


class PaidHalts(Halts):
    """costs: launch (of a piece, or of a kernel that ends at once), threshold (kernels in flight), save, restore, reset, switch (away from a job that would run on) and empty (from one that has nothing to run)."""

    is_still = False  # whether the job that has the GPU is on its way off: its state is saved, or it is killed

    def add(self, job, now):
        Halts.add(self, job, now)
        job.owes = 0
        job.block = job.block_ns or job.kernel
        its = self.longer_by(job)
        if its and not job.is_realtime:
            job.left += job.work // job.kernel * its
            job.work, job.kernel, job.iteration = job.left, job.kernel + its, job.iteration // job.kernel * (job.kernel + its)
            job.synchronises = job.synchronises and job.iteration

    def longer_by(self, job):
        """Each of its kernels, in the form in which it can be stopped."""
        if self.costs["way"] == "pieces":
            return (self.costs["pieces"] - 1) * self.costs["launch"]
        return job.kernel * self.costs["slower"] // WHOLE if self.costs["way"] == "incremental" else 0

    def walk(self, now):
        if self.has and not self.is_still:
            self.has.left -= max(0, now - max(self.seen, self.since))
        self.seen = now

    def pass_to(self, job, now, cost):
        """To come back costs a job what it owes, and to another one than had the GPU last this cost."""
        cost = (cost if job is not self.last else 0) + job.owes
        job.owes = 0
        self.give(job, now + cost)

    last, owed = None, 0

    def give(self, job, then):
        Halts.give(self, job, then)
        self.last, self.is_still = job, False

    def stops_at(self, now):
        way, costs = self.costs["way"], self.costs
        if way == "save" or way == "flush" and self.has.is_idempotent:
            self.is_still = True
            return now + (costs["save"] if way == "save" else costs["reset"] + (self.in_flight() - 1) * costs["launch"])
        if way == "block":
            return now + min(self.rest(), -self.into() % self.has.block or self.has.block)
        if way == "incremental":
            point = min(self.rest(), -self.into() % costs["point"])  # the compiler's next one, which may be here
            self.left_then, self.is_still = self.has.left - point, True
            return now + point + self.part(costs["save"])
        if way == "cheapest":
            return now + self.choose_by_sm()
        if way == "launched":
            return now + self.has.kernel - self.into() + (self.in_flight() - 1) * self.has.kernel
        return self.frees_at(now)

    def part(self, cost):
        """Of the state, as much as has changed."""
        return -(-cost * self.costs["dirty"] // WHOLE)

    def rest(self):
        return self.has.kernel - self.into()

    def choose_by_sm(self):
        """For each SM, of blocks evenly out of step, the cheapest way within the bound, or the soonest."""
        costs, block, frees, gained, self.owed = self.costs, int(self.has.block), 0, 0, 0
        for sm in range(SMS):
            done = (self.into() + block * sm // SMS) % block
            ways = [(block - done, 0, block - done, 0), (costs["save"], costs["save"] + costs["restore"], 0, costs["restore"])]
            ways += [(costs["reset"], done, -done, 0)] * self.has.is_idempotent
            within = [its for its in ways if its[0] <= costs["bound"]]
            way = min(within, key=lambda its: (its[1], its[0])) if within else min(ways, key=lambda its: its[0])
            frees, gained, self.owed = max(frees, way[0]), gained + way[2], max(self.owed, way[3])
        self.left_then = min(self.has.left - Fraction(gained, SMS), self.has.left + self.into())
        self.is_still = True
        return frees

    def in_flight(self):
        """With the running kernel, of those up to the next one for which the host waits."""
        every = self.has.synchronises or self.has.work
        return min(self.costs["threshold"], -(-(self.has.left % every or every) // self.has.kernel))

    def halt(self, now):
        way, costs = self.costs["way"], self.costs
        if self.is_still and way == "flush":
            self.has.left += self.into()
        if way in ("incremental", "cheapest"):
            self.has.left = self.left_then
        self.has.owes = {"save": costs["restore"], "cheapest": self.owed}.get(way, self.part(costs["restore"]) if way == "incremental" else 0)
        self.pass_to(self.first(self.after(self.has)), now, costs["switch"] if way == "slice" else 0)

    def begin(self, now):
        self.walk(now)
        if self.has is None and self.jobs:
            self.pass_to(self.first(self.jobs[1 % len(self.jobs)] if self.is_used else self.jobs[0]), now, self.costs["empty"] * self.is_used)
            self.is_used = True
        if self.has and now >= self.since and self.halted is None and self.is_outranked():
            self.halted = self.stops_at(now)
        if self.halted is not None and self.halted <= now:
            self.halt(now)
        if self.has and self.is_up(now):
            self.end_turn(now, True)

    def is_outranked(self):
        return any(self.rank(job) > self.rank(self.has) for job in self.jobs)

    def end_turn(self, now, is_in_time):
        following = self.first(self.after(self.has))
        if following is not self.has:
            self.pass_to(following, now, self.costs["switch"])
        elif is_in_time:  # it is alone up to this instant
            self.until += self.costs["quantum"]

    def remove(self, job, now):
        following = self.after(job)
        self.jobs.remove(job)
        self.last = None if job is self.last else self.last
        if self.has is job:
            self.has = self.halted = None
            if self.jobs:
                self.pass_to(self.first(following), now, self.costs["empty"])

    def next_time(self):
        if self.has is None:
            return None
        if self.seen < self.since and self.is_outranked():
            return self.since
        if self.is_still:
            return self.halted
        every = self.has.synchronises or self.has.work
        ends = self.until if self.halted is None else self.halted
        return min(max(self.seen, self.since) + -(-(self.has.left % every or every) // 1), self.until if self.is_up(self.until) else ends, ends)

    def advance(self, now):
        self.walk(now)
        if self.has and self.has.left <= 0:
            return [self.has]
        if self.has and self.has.synchronises and self.has.left < self.began and (self.has.work - self.has.left) % self.has.synchronises == 0:
            self.pass_to(self.first(self.after(self.has)), now, self.costs["empty"])  # nothing is left to be saved
        elif self.has and self.is_up(now):
            self.end_turn(now, False)
        return []
