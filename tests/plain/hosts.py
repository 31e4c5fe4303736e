# SPDX-License-Identifier: GPL-3.0-or-later
"""The ring of docs/models/time-slices.md for jobs whose hosts launch kernels, wait for them and pause, call by call, by
docs/models/programs.md."""


class Host:
    """The host of one process: it makes its calls until it has to wait for the end of a kernel. calls: (what, host time,
    argument): a launch with its kernel's time, a record or a wait with an event or a stream, or a wait for all (None)."""

    def __init__(self, program, iterations, queue, now):
        self.program, self.iterations, self.most = program, iterations, queue
        self.n, self.at, self.free = 0, 0, now  # iterations that it has begun, its next call, when the last one took effect
        self.lengths, self.ends, self.into = [], [], 0  # of kernels in the order of their launches; of the one that runs
        self.last, self.events = {}, {}  # number of the last kernel of a stream, and before an event
        self.is_over, self.waited = False, -1
        self.comes, self.lag, self.took = None, 0, []  # when requests come, and what they took

    def serve(self, period, lag):
        """Each iteration is a request, of which the host makes the calls once it has waited for the one before."""
        self.comes, self.lag = [self.free + period * (n + 1) for n in range(self.iterations)], lag
        self.free = self.comes[0] + lag

    def latencies(self):
        return self.took

    def calls(self):
        is_synced = self.comes or self.program.every and (self.n + 1) % self.program.every == 0 or self.n + 1 == self.iterations
        tail = self.program.tail * (self.n + 1 == self.iterations)
        return self.program.calls + [("wait", 0, None)] * bool(is_synced) + [("gap", self.program.gap + tail, None)]

    def needed(self, what, which):
        """The kernel that has to end before this call takes effect."""
        if what == "launch":
            return len(self.lengths) - self.most
        if what == "wait":
            return len(self.lengths) - 1 if which is None else self.events.get(which, -1) if which[0] == "e" else self.last.get(which, -1)
        return -1

    def effect(self):
        """When the next call takes effect; None: not before another kernel ends."""
        if self.is_over:
            return None
        what, takes, which = self.calls()[self.at]
        needed = self.needed(what, which)
        if needed >= len(self.ends):
            return None
        return max(self.free + takes, self.ends[needed] if needed >= 0 else 0)

    def make(self, now):
        what, takes, which = self.calls()[self.at]
        needed = self.needed(what, which)
        if what == "wait" and needed == len(self.ends) - 1 == len(self.lengths) - 1 and needed >= 0 and self.ends[needed] == now and self.free + takes <= now:
            self.waited = needed  # the queue was empty for an instant
        self.free = now
        if what == "launch":
            stream, ns = which
            self.last[stream] = len(self.lengths)
            self.lengths.append(ns)
        elif what == "record":
            event, stream = which
            self.events[event] = self.last.get(stream, -1)
        self.at += 1
        if self.at == len(self.calls()):
            if self.comes:
                self.took.append(self.ends[-1] - self.comes[self.n])
            self.n, self.at = self.n + 1, 0
            if self.comes and self.n < self.iterations:
                self.free = max(self.free, self.comes[self.n] + self.lag)
            self.is_over = self.n == self.iterations

    def walk(self, now):
        while (then := self.effect()) is not None and then <= now:
            self.make(then)

    def is_ready(self):
        return len(self.ends) < len(self.lengths)

    def left(self):
        return self.lengths[len(self.ends)] - self.into


def alone(host):
    """When a host that has a GPU to itself, from instant 0 on, is over."""
    now, ends = 0, None
    while not host.is_over:
        host.walk(now)
        if ends is None and host.is_ready():
            takes = host.lengths[len(host.ends)]
            ends = now + (takes[0] if isinstance(takes, tuple) else takes)  # some have their blocks beside it
        if ends == now:
            host.ends.append(now)
            ends = None
        else:
            now = min((then for then in (host.effect(), ends) if then is not None), default=now)
    return host.free


class Server:
    """A process that launches each request when it comes, one a period from the first period on."""

    waited = -1

    def __init__(self, takes, period, requests, lag, now):
        self.takes, self.comes = takes, [now + period * (n + 1) for n in range(requests)]
        self.begun, self.lag = now, lag
        self.lengths, self.ends, self.into = [], [], 0

    def effect(self):
        return self.comes[len(self.lengths)] + self.lag if len(self.lengths) < len(self.comes) else None

    def walk(self, now):
        while (then := self.effect()) is not None and then <= now:
            self.lengths.append(self.takes)

    is_over = property(lambda self: len(self.ends) == len(self.comes))
    is_ready, left = Host.is_ready, Host.left

    def latencies(self):
        return [end - came for end, came in zip(self.ends, self.comes)]


class Program:
    tail = 0  # what the host of one row does after the last iteration

    def __init__(self, calls, gap, every, has_bytes=False):
        self.calls, self.gap, self.every = calls, gap, every
        self.has_bytes = has_bytes  # whether the bytes of its kernels are known


class Hosts:
    def __init__(self, costs):
        self.costs, self.jobs = costs, []
        self.has = self.last = self.settled = None
        self.since = self.until = self.seen = 0

    def has_room(self, job):
        return True

    def add(self, job, now):
        self.jobs.append(job)
        if job.period and job.program:
            job.host = Host(job.program, job.iterations, self.costs["launches"], now)
            job.host.serve(job.period, self.costs["lag"])
        elif job.period:
            job.host = Server(job.iteration, job.period, job.requests, self.costs["lag"], now)
        else:
            job.host = Host(job.program, job.iterations, self.costs["launches"], now)

    def remove(self, job, now):
        following = self.after(job)
        self.jobs.remove(job)
        self.anchor = following if following is not job else None
        if self.has is job:
            self.has = None

    anchor = None  # the first in ring order, where the job that ran last has ended

    def after(self, job):
        return self.jobs[(self.jobs.index(job) + 1) % len(self.jobs)]

    def following(self):
        """The first in ring order that is ready, the one that ran last at the end."""
        return next((job for job in self.ring() if job.host.is_ready()), None)

    def ring(self):
        """Where all have left that were there before, the first newcomer stands where the last of them was."""
        if self.last in self.jobs:
            at = self.jobs.index(self.last) + 1
        else:
            at = self.jobs.index(self.anchor) if self.anchor in self.jobs else int(self.last is not None)
        return self.jobs[at:] + self.jobs[:at]

    def give(self, job, now, cost):
        self.settled, self.has_looked, self.since = None, False, now + cost
        self.has = self.last = job
        self.until = self.since + self.costs["quantum"]

    def pass_on(self, now, cost):
        job = self.following()
        if job is None:
            self.has = None
        else:
            self.give(job, now, cost if job is not self.last and self.last is not None else 0)

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
        if self.has and (not self.has.host.is_ready() or self.has.host.waited == len(self.has.host.ends) - 1 >= 0 and self.ended):
            self.pass_on(now, self.costs["idle"])
        elif self.has and self.until <= now:
            following = self.settled or self.following()
            self.give(following, now, self.costs["preempt"] if following is not self.has else 0)
        elif self.has and not self.has_looked and self.settles() <= now:
            following, self.has_looked = self.following(), True
            self.settled = following if following is not self.has else None
        if self.has is None and self.jobs:
            self.pass_on(now, self.costs["idle"])

    def settles(self):
        """When the one to which the GPU goes is settled, if one is ready then."""
        return max(self.since, self.until - self.costs["lookahead"])

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        if self.has:
            times += [max(self.since, self.seen) + self.has.host.left(), self.until]
            times += [self.settles()] if not self.has_looked and self.settles() > self.seen else []
        return min(times, default=None)

    ended = False

    def advance(self, now):
        self.ended = False
        if self.has and now > self.since:
            host = self.has.host
            host.into += now - max(self.since, self.seen)
            if host.left() == 0:
                host.ends.append(now)
                host.into, self.ended = 0, True
        self.seen = now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
