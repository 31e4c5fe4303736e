# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of MSched by the settings of its policy and docs/models/migration.md: memory that iterations do not touch, predicted or
not, the order in which memory goes out, and copies one after another."""
from sharing import NEVER, Tasks


class Predicted(Tasks):
    """costs: of Tasks, and predictor, spare (parts of a million), order (belady or lru), pipeline, alternate, early,
    first_touch (parts of a million of an iteration)."""

    def __init__(self, costs):
        Tasks.__init__(self, costs)
        self.there = {}  # chunks on the GPU, that which was used longest ago first
        self.link = 0  # when the last copies end

    def add(self, job, now):
        job.n_used = job.working // self.costs["chunk"]
        job.bytes_in = job.bytes_out = job.faults = job.stall = 0
        Tasks.add(self, job, now)

    def remove(self, job, now):
        self.there = {its: True for its in self.there if its[0] is not job}
        Tasks.remove(self, job, now)

    def predicts(self, job):
        """Numbers of chunks, in the order in which they come: of what an iteration touches, and then of the rest."""
        if self.costs["predictor"] == "allocation":
            return range(len(job.chunks))
        spare = job.n_used * self.costs["spare"] // 10**6
        return [*range(job.n_used - self.n_missed(job)), *range(job.n_used, min(len(job.chunks), job.n_used + spare))]

    def n_missed(self, job):
        """The last ones that an iteration touches are overlooked."""
        return job.n_used * self.costs["missed"] // 10**6

    def next_out(self, job, wanted):
        """What is wanted stays. By known turns the chunk that is used last: of the task that has its turn last, the highest."""
        others = [its for its in self.there if its[0] is not job or its[1] not in wanted] or list(self.there)
        if self.costs["order"] == "lru":
            return others[0]
        at = self.jobs.index(job)
        places = {other: place for place, other in enumerate(self.jobs[at:] + self.jobs[:at])}
        return max(others, key=lambda its: (places[its[0]], its[1]))

    def take_in(self, job, missing, wanted):
        """Chunks come, and others go out for them: how many are copied in, and out."""
        n_in = n_out = 0
        for nth, was in missing:
            if len(self.there) == self.costs["hbm"] // self.costs["chunk"]:
                n_out += self.put_out(job, wanted)
            n_in += was == "host"
            job.chunks[nth] = "clean" if was == "host" else "dirty"
            self.use(job, nth)
        return n_in, n_out

    def move_in(self, job):
        wanted = self.predicts(job)
        for nth in wanted:
            if (job, nth) in self.there:
                self.use(job, nth)
        missing = [(nth, job.chunks[nth]) for nth in wanted if (job, nth) not in self.there]
        missing = missing[:max(0, self.costs["hbm"] // self.costs["chunk"] - len(wanted) + len(missing))]  # as far as there is room
        n_in, n_out = self.take_in(job, missing, wanted)
        job.bytes_in += n_in * self.costs["chunk"]
        job.bytes_out += n_out * self.costs["chunk"]
        now = self.now + (self.costs["plan"] + self.costs["plan_task"] * len(self.jobs)) * (len(self.jobs) > 1)
        starts, takes = now, self.copies(n_in, n_out)
        if n_in or n_out:
            coming = [nth for nth, was in missing if n_out or was == "host"]
            late = [-(-takes * (n + 1) // len(coming)) - self.is_touched(job, nth) for n, nth in enumerate(coming) if nth < job.n_used]
            begins = max(now, self.link)
            starts, self.link = begins + (max([0, *late]) if self.costs["early"] else takes), begins + takes
        self.faults = self.iterate(job)
        job.stall += starts - now + self.faults
        return starts + self.faults - self.now

    def set_until(self, now):
        """The turn goes on while the task waits for what was overlooked."""
        job, turn = self.has, self.costs["slice"] or self.costs["period"] // len(self.jobs)
        self.met = self.since - self.faults if self.met == self.since else self.met
        up = max(1, -(-(self.met - self.since + self.faults) // turn)) * turn - self.faults
        into = int(job.work - job.left) % job.iteration
        ends = -(-(into + max(up, now + 1 - self.since, 1)) // job.iteration) * job.iteration - into
        self.until = self.since + ends if len(self.jobs) > 1 else NEVER

    def iterate(self, job):
        """An iteration touches its memory; the wait for what was overlooked, chunk by chunk."""
        waits = 0
        for nth in range(job.n_used):
            if (job, nth) not in self.there:
                is_full, was, out = len(self.there) == self.costs["hbm"] // self.costs["chunk"], job.chunks[nth], 0
                if is_full:
                    out = self.put_out(job, range(nth + 1, job.n_used) if self.costs["order"] == "belady" else ())
                job.chunks[nth] = "clean" if was == "host" else "dirty"
                job.bytes_in += self.costs["chunk"] * (was == "host")
                job.bytes_out += self.costs["chunk"] * out
                job.faults += 1
                waits += max(self.costs["fault"], self.costs["block"] + self.costs["each"] + self.costs["copy"]) + self.costs["copy"] * ((was == "host") + out - 1)
            self.use(job, nth)
        return waits

    def put_out(self, job, wanted):
        other, n = self.next_out(job, wanted)
        del self.there[other, n]
        is_copied = self.costs["copies_clean"] or other.chunks[n] == "dirty"
        other.chunks[n] = "host"
        return is_copied

    def is_touched(self, job, nth):
        """When an iteration first touches a chunk: all evenly over its first part."""
        return int(job.iteration * self.costs["first_touch"] // 10**6) * nth // job.n_used

    def give(self, job, then):
        self.now = then
        Tasks.give(self, job, then)

    def use(self, job, nth):
        self.there.pop((job, nth), None)
        self.there[job, nth] = True

    def copies(self, n_in, n_out):
        if self.costs["pipeline"]:
            return Tasks.copies(self, n_in, n_out)
        alone = -(-10**9 * n_in // self.costs["in"]) - (-10**9 * n_out // self.costs["out"])
        return alone + 2 * min(n_in, n_out) * self.costs["alternate"]  # there and back for each chunk that another one makes room for
