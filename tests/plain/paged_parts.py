# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of one GPU beside each other whose memory is managed, by docs/models/paging.md and docs/limits.md: each job has a
lane of its own and runs at its full rate, all have one memory, and a lane sees what others have moved once a quantum."""
from exact import Fraction

from cluster import Walk
from pages import Pages
from sharing import NEVER

KEPT = ("left", "touched", "wait", "bytes_in", "bytes_out", "faults", "stall")


class Lane(Pages):
    """One job. What it reaches in a quantum from a chunk on is touched at once with that chunk, up to the end of the sweep."""

    def __init__(self, gpu, job, now):
        Pages.__init__(self, gpu.costs)
        self.gpu, self.there, self.has, self.ends = gpu, gpu.there, job, NEVER
        self.add(job, now)
        self.swept = None  # what was there as it touched what it reached, and when
        self.look_at = now  # when the next chunk is due

    def begin(self, now):
        if self.look_at <= now:
            job, then = self.has, self.look_at
            self.swept = [getattr(job, name) for name in KEPT], dict(self.there), list(job.chunks), then
            self.go_on(then, then + self.costs["quantum"])

    def go_on(self, then, until):
        """What is due before until is touched, and the job runs to what is due next."""
        job, now, self.look_at, self.ends = self.has, Fraction(then), NEVER, NEVER
        while self.look_at == NEVER and self.ends == NEVER:
            into, goal = (job.work - job.left) % job.iteration, self.goal(job)
            now, job.wait = now + job.wait, 0
            if into < goal:
                job.left -= goal - into
                now += goal - into
            if goal == job.iteration and into < goal:
                job.touched = 0
                self.look_at = now if job.left else NEVER
                self.ends = NEVER if job.left else now
            elif now < until:
                job.wait = self.touch(job)
            else:
                self.look_at = now

    def cut(self, now):
        """A job that was alone has touched what it reached by now."""
        (kept, there, chunks, then), job = self.swept, self.has
        for name, value in zip(KEPT, kept):
            setattr(job, name, value)
        self.there.clear()
        self.there.update(there)
        job.chunks = chunks
        self.go_on(then, now)

    def next_time(self):
        return -(-min(self.look_at, self.ends) // 1)

    def advance(self, now):
        return [self.has] if self.ends <= now else []


class Gpu:
    def __init__(self, costs):
        self.costs, self.there, self.lanes = costs, {}, []

    def add(self, job, now):
        if len(self.lanes) == 1 and self.lanes[0] and self.lanes[0].swept and self.lanes[0].swept[3] < now:
            self.lanes[0].cut(now)
        lane = Lane(self, job, now)
        if None in self.lanes:
            self.lanes[self.lanes.index(None)] = lane
        else:
            self.lanes.append(lane)

    def remove(self, job):
        at = next(at for at, lane in enumerate(self.lanes) if lane and lane.has is job)
        self.lanes[at] = None
        for its in [its for its in self.there if its[0] is job]:
            del self.there[its]

    def present(self):
        return [lane for lane in self.lanes if lane]


class PagedParts(Walk):
    """policy: one that stops no job."""

    def __init__(self, cluster, jobs, policy, costs):
        Walk.__init__(self, jobs)
        self.cluster, self.policy, self.waiting = cluster, policy, []
        self.gpus = {(number, gpu): Gpu(costs) for number, node in enumerate(cluster.nodes) for gpu in range(node.gpus)}

    def place(self, job):
        units = self.cluster.find(job)
        if units:
            job.units, job.start = units, self.now
            self.cluster.change(job, -1)
            self.waiting.remove(job)
            self.gpus[units[0]].add(job, self.now)
        return bool(units)

    def leave(self):
        for job in [job for gpu in self.gpus.values() for lane in gpu.present() for job in lane.advance(self.now)]:
            job.end = self.now
            self.gpus[job.units[0]].remove(job)
            self.cluster.change(job, 1)
            self.release(job)

    def serve(self):
        for job in self.newcomers_now():
            self.waiting.append(job)
            job.came = self.now
            self.policy.arrived(self, job)
        self.policy.decide(self)
        for gpu in self.gpus.values():
            for lane in gpu.present():
                lane.begin(self.now)

    def next_time(self):
        times = [job.submit for job in self.to_come]
        times += [lane.next_time() for gpu in self.gpus.values() for lane in gpu.present()]
        return min(times, default=None)
