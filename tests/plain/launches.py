# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs on which an opportunistic job (a guest) launches kernels beside a job that goes first, by docs/one-gpu.md and
docs/models/time-slices.md: turns, of which a guest gets none while its launches are capped, and the feedback of TGS."""
from cluster import WHOLE
from sharing import Shared, Turns


class Throttle:
    """The feedback of TGS: reports of launches make a budget of thread blocks."""

    def __init__(self, costs):
        self.initial, self.profile, self.tolerance = costs["initial"], costs["profile"], costs["tolerance"]
        self.phase, self.budget, self.best, self.window = "profile", 0, 0, []
        self.n_profiled = self.n_far = 0

    def most(self):
        return max([(one + other) // 2 for one, other in zip(self.window, self.window[1:])], default=0)

    def apart(self, rate):
        if self.best == 0:
            return WHOLE if rate else 0
        return abs(rate - self.best) * WHOLE // self.best

    def report(self, rate):
        most = self.most()
        if self.best == 0 and rate > 0 and self.phase != "profile":
            self.__init__({"initial": self.initial, "profile": self.profile, "tolerance": self.tolerance})
            return
        self.window = [rate] + self.window[:4]
        if self.phase == "profile":
            self.n_profiled += 1
            if self.n_profiled >= self.profile:
                self.best, self.phase = max(self.most(), rate), "closed"
        elif self.phase == "again":
            self.profile_again(most)
        elif self.follow(most, 100_000, 200_000) > 200_000:
            self.resumed, self.phase, self.n_profiled = self.phase, "again", 0
        elif self.phase == "closed":
            self.phase, self.budget = "slow", self.initial if self.best else None
        else:
            self.control(self.apart(rate))

    def follow(self, most, near, far):
        apart = self.apart(most)
        if apart <= near:
            self.best = max(self.best, most)
        elif apart > far and most > self.best:
            self.best = max(self.best, most - most * 25 // 1000)
        elif apart > far:
            self.best = min(self.best, most + most * 25 // 1000)
        return apart

    def profile_again(self, most):
        settled = self.follow(most, 50_000, 50_000) <= 50_000
        self.n_profiled += 1
        if self.n_profiled >= self.profile and settled:
            self.phase = self.resumed
            self.budget = self.budget if self.best else None

    def control(self, lost):
        if self.budget is None:
            return
        if self.phase == "slow":
            if lost <= self.tolerance:
                self.budget += self.budget // 2 + 1
            else:
                self.budget, self.phase = self.budget * 2 // 3, "avoid"
        else:
            if lost <= self.tolerance:
                self.budget += max(1000, self.best * 250 // WHOLE)
            else:
                self.budget -= max(1000, self.budget * 80 // 1000)
            self.budget = max(0, self.budget)
            if lost >= 3 * self.tolerance:
                self.budget, self.phase = self.budget // 10, "slow"
        self.n_far = self.n_far + 1 if lost >= 120_000 else 0
        if self.n_far == 20:
            self.n_far, self.phase = 0, "slow"
            self.best -= self.best // 5
            self.budget //= 2


class Capped(Turns):
    """Turns of jobs that always have a kernel to run, but for a guest that has begun as many in this period as it may.
    Switches cost nothing."""

    def __init__(self, costs):
        Turns.__init__(self, {**costs, "preempt": 0, "idle": 0, "lookahead": 0})
        self.busy, self.has_run = 0, False

    guest = property(lambda self: next((job for job in self.jobs if job.is_guest), None))
    host = property(lambda self: next((job for job in self.jobs if not job.is_guest), None))

    def add(self, job, now):
        Turns.add(self, job, now)
        job.capped_since, job.kernels, job.refill = None, None, None

    def accepts(self, job):
        return (self.guest if job.is_guest else self.host) is None

    def is_ready(self, job, now):
        """Whether it is within a kernel, or may begin one."""
        if job.kernels is None or (job.work - job.left) % job.kernel:
            return True
        nth = (now - job.capped_since) // job.refill
        return nth > job.nth_refill or job.begun < job.kernels

    def cap(self, job, kernels, refill, now):
        """Another period begins now."""
        if job.kernels is None or refill != job.refill:
            job.capped_since, job.nth_refill, job.begun = now, 0, 0
        job.kernels, job.refill = kernels, refill

    def walk(self, now):
        """The job that has the GPU up to now; its kernels never end within the time."""
        job, self.has_run = self.has, self.has is not None and now > self.since
        if not self.has_run:
            return
        if (job.work - job.left) % job.kernel == 0 and job.kernels is not None:
            nth = (self.since - job.capped_since) // job.refill
            job.nth_refill, job.begun = nth, (job.begun if nth == job.nth_refill else 0) + 1
        job.left -= now - self.since
        self.busy += now - self.since
        self.since = now

    def control(self, now):
        pass

    def begin(self, now):
        self.control(now)
        self.step(now, self.has and self.until <= now)
        if self.has is None and self.jobs:
            self.pass_on(self.last if self.last in self.jobs else self.jobs[0 if self.is_used else -1], now)

    def step(self, now, is_over):
        """The slice is over, or there is nothing to run."""
        if self.has and (is_over or self.waits(self.has) or not self.is_ready(self.has, now)):
            self.until, self.has_run = now + self.costs["quantum"], False
            self.pass_on(self.has, now)

    def waits(self, job):
        """Its host sees the end of an iteration, so that its queue is empty, if only for an instant."""
        return self.has_run and job.synchronises and (job.work - job.left) % job.synchronises == 0 and job.left < job.work

    def pass_on(self, job, now):
        """To the next one in the ring that is ready, or it goes on."""
        at = self.jobs.index(job)
        ready = [job for job in self.jobs[at + 1:] + self.jobs[:at + 1] if self.is_ready(job, now)]
        if not ready:
            self.last, self.has = job, None
        elif ready[0] is not self.has:
            self.give(ready[0], now)
            self.is_used = True

    def remove(self, job, now):
        at = self.jobs.index(job)
        self.last = self.jobs[at - 1]
        others = self.jobs[at + 1:] + self.jobs[:at]
        self.jobs.remove(job)
        if self.has is job:
            self.has, self.has_run = None, False
            ready = [other for other in others if self.is_ready(other, now)]
            if ready:
                self.give(ready[0], now)

    last = None

    def opens(self):
        """When guests that wait for it may begin kernels again."""
        return [job.capped_since + (job.nth_refill + 1) * job.refill for job in self.jobs if job.kernels is not None]

    def reports(self):
        return []

    def next_time(self):
        times = self.opens() if self.has is None else [self.over(), self.until, self.kernel_ends()]
        return min(times + self.reports(), default=None)

    def kernel_ends(self):
        job = self.has
        return self.since + (job.left % job.kernel or job.kernel)

    def advance(self, now):
        """A newcomer in the instant in which an iteration ends is too late for it."""
        self.walk(now)
        if self.has and self.has.left <= 0:
            return [self.has]
        self.step(now, False)
        return []


class Tgs(Capped):
    """Beside a production job a guest's budget is 0 at first, then by the feedback."""

    pair = None

    def control(self, now):
        pair = (self.host, self.guest) if self.host and self.guest else None
        if pair != self.pair:
            self.pair = pair
            if pair:
                self.throttle, self.due, self.count = Throttle(self.costs), now + self.costs["report"], self.launched()
                self.cap(self.guest, 1, self.costs["refill"], now)
            elif self.guest:
                self.guest.kernels = None
        elif pair and now >= self.due:
            self.throttle.report(self.launched() - self.count)
            self.due, self.count = self.due + self.costs["report"], self.launched()
            budget = (1 << 40) if self.throttle.budget is None else self.throttle.budget
            self.cap(self.guest, self.most(budget), self.costs["refill"], now)

    def most(self, budget):
        """Kernels that begin in a period."""
        return budget // self.guest.blocks + 1

    def launched(self):
        return int(self.host.work - self.host.left) // self.host.kernel * self.host.blocks

    def reports(self):
        return [self.due] if self.pair else []


class Classes(Shared):
    """A queue of each class, production first. A GPU has one job of each at most."""

    def has_room(self, job, unit):
        return self.lanes[unit].accepts(job) and Shared.has_room(self, job, unit)

    def decide(self):
        for guests in (False, True):
            for job in sorted(self.waiting, key=lambda job: (job.submit, job.after is not None, job.number)):
                if job.is_guest == guests and not self.place(job) and not self.passes:
                    break
