# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory that a program's kernels touch, by docs/models/programs.md and docs/models/paging.md: each kernel touches parts of
buffers one after another, evenly over its run. Buffers of a phase lie behind those that are always there, where those of
the other phases lie, and one that grows has its final size."""
from fractions import Fraction

from pages import Pages


class Phase:
    """launches: pairs of a kernel's time and of what it takes longer each time; touches of each: [(buffer, from, to)] in
    parts of the buffer."""

    def __init__(self, count, launches):
        self.count, self.launches = count, launches

    def kernels(self):
        return [(ns + nth * longer, touches) for nth in range(self.count) for ns, longer, touches in self.launches]


class Memory:
    """buffers: by name (bytes, bytes by which it grows, its phase or None)."""

    def __init__(self, buffers, phases):
        self.buffers, self.phases = buffers, phases
        self.size = {name: size + grows * (phases[phase].count - 1 if phase is not None else 0)
                     for name, (size, grows, phase) in buffers.items()}

    def bounds(self, name):
        """The first and the last byte of it that any kernel touches."""
        parts = [(begin, end) for phase in self.phases for _, _, touches in phase.launches
                 for other, begin, end in touches if other == name]
        low, high = min((begin for begin, _ in parts), default=0), max((end for _, end in parts), default=0)
        return self.size[name] * low // 1, -(-self.size[name] * high // 1)

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
        """When each chunk is touched in an iteration, and how many chunks there are."""
        at, end = self.places()
        now, touched = Fraction(0), []
        for ns, touches in [its for phase in self.phases for its in phase.kernels()]:
            numbers = []
            for name, begin, stop in touches:
                first = at[name] + self.size[name] * begin // 1 - self.bounds(name)[0]
                last = at[name] + -(-self.size[name] * stop // 1) - self.bounds(name)[0]
                numbers += range(first // chunk, -(-last // chunk))
            touched += [(now + Fraction(ns * nth, len(numbers)), number) for nth, number in enumerate(numbers)]
            now += ns
        return touched, -(-end // chunk)


class Touches(Pages):
    """Turns of jobs with a program whose host never waits."""

    def add(self, job, now):
        job.order, n = job.program.chunks(self.costs["chunk"])
        job.memory, job.iteration = n * self.costs["chunk"], sum(ns for phase in job.program.phases for ns, _ in phase.kernels())
        Pages.add(self, job, now)

    def place(self, job):
        return job.order[job.touched][1]

    def goal(self, job):
        return job.order[job.touched][0] if job.touched < len(job.order) else job.iteration
