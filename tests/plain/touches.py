# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory that a program's kernels touch, by docs/models/programs.md and docs/models/paging.md: each kernel touches parts of
buffers one after another, evenly over its run. Buffers of a phase lie behind those that are always there, where those of
the other phases lie, and one that grows is touched in the size that it has then."""
from exact import Fraction

from pages import Pages


class Phase:
    """launches: pairs of a kernel's time and of what it takes longer each time; touches of each: [(buffer, from, to, access)]
    in parts of the buffer."""

    def __init__(self, count, launches):
        self.count, self.launches = count, launches

    def kernels(self):
        return [(ns + nth * longer, touches, nth) for nth in range(self.count) for ns, longer, touches in self.launches]


class Memory:
    """buffers: by name (bytes, bytes by which it grows, its phase or None)."""

    def __init__(self, buffers, phases):
        self.buffers, self.phases = buffers, phases
        self.size = {name: size + grows * (phases[phase].count - 1 if phase is not None else 0)
                     for name, (size, grows, phase) in buffers.items()}

    def part(self, nth, name, begin, end):
        """The first and the last byte that a kernel touches when its phase is made for the nth time."""
        size, grows, _ = self.buffers[name]
        return (size + nth * grows) * begin // 1, -(-(size + nth * grows) * end // 1)

    def bounds(self, name):
        """The first and the last byte of it that any kernel touches."""
        parts = [self.part(nth, *its) for phase in self.phases for _, touches, nth in phase.kernels() for *its, _ in touches if its[0] == name]
        return min((low for low, _ in parts), default=0), max((high for _, high in parts), default=0)

    def places(self):
        """Where each buffer begins, and how much memory an iteration touches."""
        at, ends = {}, {None: 0}
        for wanted in (None, *range(len(self.phases))):
            ends[wanted] = ends[None]
            for name, (_, _, phase) in self.buffers.items():
                if phase == wanted:
                    at[name] = ends[wanted]
                    low, high = self.bounds(name)
                    ends[wanted] += high - low
        return at, max(ends.values())

    def all_bytes(self):
        its = {phase: sum(self.size[name] for name, (_, _, other) in self.buffers.items() if other == phase)
               for phase in (None, *range(len(self.phases)))}
        return its.pop(None) + max(its.values())

    def chunks(self, chunk):
        """When each chunk is touched in an iteration, whether it is written, and how many chunks there are."""
        at, end = self.places()
        now, touched = Fraction(0), []
        for ns, touches, nth in [its for phase in self.phases for its in phase.kernels()]:
            numbers = []
            for *its, access in touches:
                first, last = (at[its[0]] + byte - self.bounds(its[0])[0] for byte in self.part(nth, *its))
                numbers += [(number, "w" in access) for number in range(first // chunk, -(-last // chunk))]
            touched += [(now + Fraction(ns * n, len(numbers)), *number) for n, number in enumerate(numbers)]
            now += ns
        return touched, -(-end // chunk)


class Touches(Pages):
    """Turns of jobs with a program whose host never waits."""

    def add(self, job, now):
        job.order, n = job.program.chunks(self.costs["chunk"])
        job.memory, job.iteration = n * self.costs["chunk"], sum(its[0] for phase in job.program.phases for its in phase.kernels())
        Pages.add(self, job, now)

    def place(self, job):
        return job.order[job.touched][1]

    def writes(self, job):
        return job.order[job.touched][2]

    def goal(self, job):
        return job.order[job.touched][0] if job.touched < len(job.order) else job.iteration
