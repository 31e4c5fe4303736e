# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that fail, by docs/clusters.md ("Nodes that fail"): when, from the streams of random numbers that
sim/base/random.h names, and what their jobs keep."""
from cluster import Run

MASK = 2**64 - 1


def mix(x):
    """The next state of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), and its output."""
    x = x + 0x9E3779B97F4A7C15 & MASK
    y = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    y = (y ^ y >> 27) * 0x94D049BB133111EB & MASK
    return x, y ^ y >> 31


def turned(word, by):
    return (word << by | word >> 64 - by) & MASK


class Stream:
    """xoshiro256**, from the FNV-1a sum of a name, a seed and a replication."""

    def __init__(self, seed, name, replication=0):
        x = 0xCBF29CE484222325
        for letter in name.encode():
            x = (x ^ letter) * 0x100000001B3 & MASK
        x, y = mix(x ^ mix(seed)[1])
        state = mix(y ^ replication)[1]
        self.words = []
        for _ in range(4):
            state, word = mix(state)
            self.words.append(word)

    def next(self):
        a, b, c, d = self.words
        c, d = c ^ a, d ^ b
        self.words = [a ^ d, b ^ c, c ^ (b << 17 & MASK), turned(d, 45)]
        return turned(b * 5 & MASK, 7) * 9 & MASK

    def exponential(self, mean):
        """By von Neumann's falling runs of uniforms, in steps of 2 to the -32."""
        whole = 0
        while True:
            run = [self.next() & 0xFFFFFFFF, self.next() & 0xFFFFFFFF]
            while run[-1] < run[-2]:
                run.append(self.next() & 0xFFFFFFFF)
            if len(run) % 2 == 0:
                return max(1, mean * (whole << 32 | run[0]) >> 32)
            whole += 1


class Outages:
    """mtbf, mttr: of each node; first: the number of the first node in the run. turns: when each fails or is repaired."""

    def __init__(self, cluster, costs):
        self.nodes, self.costs = cluster.nodes, costs
        self.streams = [Stream(costs["seed"], f"failures of node {costs.get('first', 0) + i}") for i in range(len(self.nodes))]
        self.turns = [stream.exponential(costs["mtbf"]) for stream in self.streams]

    def turn(self, now):
        """Numbers of the nodes that fail or are repaired at this instant."""
        turned = [number for number, then in enumerate(self.turns) if then <= now]
        for number in turned:
            node = self.nodes[number]
            node.is_down = not node.is_down
            self.turns[number] = now + self.streams[number].exponential(self.costs["mttr" if node.is_down else "mtbf"])
        return turned


def fall_back(job, saved, every):
    """To the last checkpoint, of those after each such time of work, or the one that it came from."""
    done = job.work - job.left
    job.left = job.work - max(saved, done // every * every if every else 0)
    job.has_run = job.left < job.work


def stand(job):
    """Where a job stands that waits: those that a failure throws back in the order in which they first came."""
    return (job.came, job.submit, job.after is not None, job.number)


class Failing(Run):
    """every: the work between two checkpoints of a job, or None."""

    def __init__(self, cluster, jobs, policy, stop_ns, back_ns, costs):
        Run.__init__(self, cluster, jobs, policy, stop_ns, back_ns)
        self.costs, self.saved, self.outages = costs, {}, Outages(cluster, costs)

    def next_time(self):
        if not self.to_come and all(job.end is not None for job in self.jobs):
            return None
        return min([then for then in [Run.next_time(self)] if then is not None] + self.outages.turns)

    def change_places(self):
        has_changed, turned = Run.change_places(self), self.outages.turn(self.now)
        for number in [number for number in turned if self.cluster.nodes[number].is_down]:
            for job in [job for job in self.jobs if any(its[0] == number for its in self.held(job))]:
                self.fail(job)
        self.admit()  # a job that was on its way off GPUs of other nodes too is off these at once
        return has_changed or bool(turned)

    def held(self, job):
        """Its GPUs; those that it leaves count too, and those to which it moves."""
        return job.units + (job.old_units if job in self.leaving else [])

    def begin(self, job):
        Run.begin(self, job)
        self.note_saved(job)

    def note_saved(self, job):
        """A checkpoint that a job brings from storage stays there."""
        self.saved[job] = job.work - job.left

    def fail(self, job):
        """It falls back to its last checkpoint, and comes anew. One that has not begun yet loses nothing."""
        has_begun = job in self.running or job in self.leaving
        if job in self.running:
            job.left, job.ran, job.since = job.left_at(self.now), job.ran_at(self.now), None
            self.running.remove(job)
        fall_back(job, self.saved[job] if has_begun else job.work - job.left, self.costs["every"])
        job.old_units = []
        is_leaving = self.leaving.pop(job, None) is not None
        if is_leaving and job not in self.moving:  # it has been stopped, and waits already
            self.waiting.append(job)
            return
        self.moving.discard(job)
        job.ran = job.work - job.left
        if job.units:
            self.cluster.change(job, 1)
        job.units = []
        self.coming.pop(job, None)
        if job in self.placed:
            self.placed.remove(job)
        self.to_come.append(job)
