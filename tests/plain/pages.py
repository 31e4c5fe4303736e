# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns over memory that is managed, by docs/models/paging.md and docs/models/time-slices.md: jobs of unlike sizes walk
through their memory chunk by chunk, in the driver's turns or under a lock, and each wait is that of the driver's batches."""
from sharing import NEVER, Faults, Turns


def batches(costs):
    """Batches and faults of a chunk whose pages are touched one behind another. A fault brings its page, and the largest
    aligned part of the chunk around it of which more than a density is there or faulting."""
    pages, there, n_batches, n_faults = costs["pages"], set(), 0, 0
    while len(there) < pages:
        faulting = [page for page in range(pages) if page not in there][:costs["batch_faults"]]
        n_batches, n_faults, seen = n_batches + 1, n_faults + len(faulting), there | set(faulting)
        there = seen | {page for fault in faulting for size in (2, 4, 8) for page in range(fault // size * size, fault // size * size + size)
                        if size <= pages and sum(at // size == fault // size for at in seen) * 10**6 > costs["density"] * size}
    return n_batches, n_faults


class Pages(Faults):
    """costs: of switches and slices (Turns), of faults; lock: the quantum of a lock, which there is always (on), never
    (off), or where the jobs have more memory than the GPU (auto)."""

    empty_at = None  # when an iteration of the job ended last after which its host waits

    def __init__(self, costs):
        Faults.__init__(self, costs)
        self.costs = costs

    def add(self, job, now):
        job.bytes_in = job.bytes_out = job.faults = job.stall = 0
        Faults.add(self, job, now)

    def place(self, job):
        return job.touched % len(job.chunks)

    def writes(self, job):
        """Whether it is known that the job writes the chunk that it touches next."""
        return False

    def touch(self, job):
        at, writes = self.place(job), self.writes(job)
        before, out = job.chunks[at], 0
        job.touched += 1
        if (job, at) in self.there:
            if self.costs["lru"]:
                self.there[job, at] = self.there.pop((job, at))
            job.chunks[at] = "dirty" if writes else before
            return 0
        if len(self.there) == self.costs["hbm"] // self.costs["chunk"]:
            other, n = next(iter(self.there))
            del self.there[other, n]
            out = self.costs["copies_clean"] or other.chunks[n] == "dirty"
            other.chunks[n] = "host"
        job.chunks[at] = "clean" if before == "host" and not writes else "dirty"
        self.there[job, at] = True
        n_batches, n_faults = batches(self.costs)
        job.bytes_in += self.costs["chunk"] * (before == "host")
        job.bytes_out += self.costs["chunk"] * out
        job.faults += n_faults
        fixed = max(0, self.costs["fault"] - self.costs["block"] - self.costs["each"] - self.costs["copy"] // self.costs["pages"])
        wait = n_batches * (fixed + self.costs["block"]) + n_faults * self.costs["each"] + self.costs["copy"] * ((before == "host") + out)
        job.stall += wait
        return wait

    def is_locked(self):
        is_too_much = sum(len(job.chunks) for job in self.jobs) > self.costs["hbm"] // self.costs["chunk"]
        return self.costs["locked"] == "on" or self.costs["locked"] == "auto" and is_too_much

    def lookahead(self):
        return 0 if self.is_locked() else self.costs["lookahead"]

    def settles(self):
        return max(self.since, self.until - self.lookahead())

    def give(self, job, then):
        Turns.give(self, job, then)
        if self.is_locked():
            self.until = then + self.costs["lock"]
        self.walk(job, then)

    def end_iteration(self, job, now):
        if job.synchronises and job.left:
            self.empty_at = now
            self.rests_at = None if self.is_locked() else now

    def begin(self, now):
        if self.has and self.until <= now:
            self.next = self.after(self.has) if self.next in (None, self.has) else self.next
            cost = self.costs["idle" if self.empty_at == self.until else "preempt"]  # an iteration has ended as the lock goes on
            self.give(self.next, now + (cost if self.next is not self.has else 0))
        if self.has is None and self.jobs:
            self.give(self.jobs[1 % len(self.jobs) if self.is_used else 0], now + (self.costs["idle"] if self.is_used else 0))
            self.is_used = True

    def next_time(self):
        times = [self.ends, self.until if self.next else self.settles()] + [self.rests_at] * (self.rests_at is not None)
        return -(-min(times) // 1) if self.has else None

    def advance(self, now):
        if self.has is None:
            return []
        if self.ends <= now:
            return [self.has]
        if self.rests_at is not None and self.rests_at <= now:
            following = self.after(self.has)
            self.give(following, now + (self.costs["idle"] if following is not self.has else 0))
        elif self.next in (None, self.has) and self.settles() <= now:
            self.next = self.after(self.has)
        return []
