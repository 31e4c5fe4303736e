# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that several jobs share, by docs/one-gpu.md and the pages of docs/models: a queue of jobs of which each goes to
the GPU with the fewest jobs, and what the jobs of one GPU do there. Gangs have their GPUs to themselves."""
from exact import Fraction

from cluster import WHOLE, Walk
from hosts import Host, alone


NEVER = 10**30


class Turns:
    """The ring of docs/models/time-slices.md, for jobs that always have a kernel to run. It ends no job itself."""

    def __init__(self, costs):
        self.costs, self.jobs = costs, []
        self.has = self.next = None  # the job that has the GPU, or to which it is on its way; the one that is settled
        self.is_used = False  # the GPU keeps the context of the last job that it had
        self.since = self.until = 0  # of its slice
        self.ran = None  # the job that ran last, beside the one that has the GPU
        self.before = None  # on an idle GPU, where the first has left at once: the job behind which the ring goes on

    def add(self, job, now):
        self.jobs.append(job)

    def stop(self, job, now):
        """A job is taken off. A slice that ends in this instant ends before that."""
        if self.has and self.until <= now and self.next not in (None, self.has):
            self.has.left -= self.until - self.since
            self.give(self.next, now + self.costs["preempt"])
        self.settle(now)
        self.since = max(self.since, min(now, self.until)) if self.has else self.since
        self.remove(job, now)

    def begin(self, now):
        """All decisions of this instant are made. Of several newcomers on an idle GPU that has been used, the second
        is the first to run; where the first has left in this instant, the one behind the last that was there then. A
        newcomer in the instant in which a slice ends has come in time, and to a job that is alone until its slice ends."""
        if self.has and self.until <= now:
            self.next = self.after(self.has) if self.next in (None, self.has) else self.next
            self.has.left -= self.until - self.since
            self.give(self.next, now + (self.costs["preempt"] if self.next is not self.has else 0))
        if self.has is None and self.jobs:
            first = self.after(self.before or self.jobs[0]) if self.is_used else self.jobs[0]
            self.give(first, now + (self.costs["idle"] if self.is_used else 0))
            self.is_used = True
        self.before = None

    def give(self, job, then):
        self.ran = self.has or self.ran
        self.has, self.next, self.since, self.until = job, None, then, then + self.costs["quantum"]

    def has_room(self, job):
        return True

    def after(self, job):
        return self.jobs[(self.jobs.index(job) + 1) % len(self.jobs)]

    def remove(self, job, now):
        following = self.after(job)
        if self.has is None and job is (self.before or self.jobs[0]):
            self.before = self.jobs[self.jobs.index(job) - 1] if following is not job else None
        self.jobs.remove(job)
        self.next = None if self.next is job else self.next
        if self.has is job:
            is_coming, self.has = self.since > now, None
            self.ran = self.ran if is_coming else job
            if self.jobs:
                self.give(following, now + self.costs["idle"] * (not is_coming or following is not self.ran))

    def settle(self, now):
        """Notes what the job of the slice has done."""
        if self.has:
            self.has.left -= max(0, min(now, self.until) - self.since)

    def over(self):
        return self.since + self.has.left

    def settles(self):
        return max(self.since, self.until - self.costs["lookahead"])

    def next_time(self):
        if self.has is None:
            return None
        return min(self.over(), self.until if self.next else self.settles())

    def advance(self, now):
        """What the ring does at this instant; the jobs that are over."""
        if self.has is None:
            return []
        if self.over() <= now:
            self.has.left = 0
            return [self.has]
        if self.next in (None, self.has) and self.settles() <= now:
            self.next = self.after(self.has)
        return []



class Tasks(Turns):
    """Turns of MSched in a ring, by the head of policies/msched.c and docs/models/migration.md: of one length, or of an
    equal part of a round, and to the end of the iteration in which that is up."""

    def __init__(self, costs):
        Turns.__init__(self, {"preempt": 0, "idle": 0, "lookahead": 0, "quantum": 0, **costs})

    def give(self, job, then):
        then += self.move_in(job)
        Turns.give(self, job, then)
        self.met = then  # when another task has been there first in this turn
        self.set_until(then)

    def move_in(self, job):
        """What the task misses comes in; what it touches for the first time needs room alone."""
        n_in = job.chunks.count("host")
        n_out = self.make_room(job, n_in + job.chunks.count("new"))
        job.chunks = [{"host": "clean", "new": "dirty"}.get(its, its) for its in job.chunks]
        planned = self.costs["plan"] + self.costs["plan_task"] * len(self.jobs)
        return planned * (len(self.jobs) > 1) + self.copies(n_in, n_out)

    def copies(self, n_in, n_out):
        """Each way alone has its rate; together each has half of what both have, or what the other one leaves."""
        rates, left = (self.costs["in"], self.costs["out"]), [Fraction(n_in), Fraction(n_out)]
        half = Fraction(self.costs["both"], 2)
        beside = [min(rate, max(half, self.costs["both"] - other)) for rate, other in zip(rates, reversed(rates))]
        together = min(n / rate for n, rate in zip(left, beside))
        left = [n - together * rate for n, rate in zip(left, beside)]
        return -((-together - max(n / rate for n, rate in zip(left, rates))) * 10**9 // 1)

    def make_room(self, job, n):
        """Chunks of those go out that have their turns last, the highest first; how many are copied."""
        at, n_out = self.jobs.index(job), 0
        there = sum(its in ("clean", "dirty") for other in self.jobs for its in other.chunks)
        places = [(other, n) for other in self.jobs[at + 1:] + self.jobs[:at] for n, its in enumerate(other.chunks)
                  if its in ("clean", "dirty")]
        for other, nth in places[len(places) - max(0, there + n - self.costs["hbm"] // self.costs["chunk"]):]:
            n_out += self.costs["copies_clean"] or other.chunks[nth] == "dirty"
            other.chunks[nth] = "host"
        return n_out

    def set_until(self, now):
        """The first end of an iteration after now at which the turn is up. Parts of a round are those of the tasks that
        are there. A task that was alone is taken to have had turn after turn of the length that they have now, at
        whatever point of its iterations."""
        job, turn = self.has, self.costs["slice"] or self.costs["period"] // len(self.jobs)
        up = max(1, -(-(self.met - self.since) // turn)) * turn
        into = int(job.work - job.left) % job.iteration
        ends = -(-(into + max(up, now + 1 - self.since)) // job.iteration) * job.iteration - into
        self.until = self.since + ends if len(self.jobs) > 1 else NEVER

    def add(self, job, now):
        """In the instant in which a turn is up it is in time, and too late for an iteration that ends."""
        job.chunks = ["new"] * (job.memory // self.costs["chunk"])
        if len(self.jobs) == 1:
            self.met = now
        Turns.add(self, job, now)

    def begin(self, now):
        if self.has and self.until > now:
            self.set_until(now)
        Turns.begin(self, now)


class Faults(Turns):
    """Turns in which a job walks through its memory chunk by chunk, evenly over an iteration, and waits for each that is
    not there (docs/models/paging.md); the chunk that came first goes out for it."""

    def __init__(self, costs):
        Turns.__init__(self, {**costs, "preempt": 0, "idle": 0, "lookahead": 0})
        self.there, self.ends = {}, NEVER  # chunks in the order in which they came; when the job is over
        self.rests_at = None  # when the queue of the job is empty for an instant

    def add(self, job, now):
        job.chunks, job.touched, job.wait = ["new"] * (job.memory // self.costs["chunk"]), 0, 0
        Turns.add(self, job, now)

    def goal(self, job):
        """When the next chunk is touched in an iteration, or the iteration ends."""
        return Fraction(job.iteration * job.touched, len(job.chunks)) if job.touched < len(job.chunks) else job.iteration

    def touch(self, job):
        """The wait for the next chunk of the sweep."""
        at, wait = job.touched, 0
        job.touched += 1
        if (job, at) in self.there:
            return 0
        if len(self.there) == self.costs["hbm"] // self.costs["chunk"]:
            other, n = next(iter(self.there))
            del self.there[other, n]
            wait += self.costs["copy"] * (self.costs["copies_clean"] or other.chunks[n] == "dirty")
            other.chunks[n] = "host"
        wait += self.costs["copy"] * (job.chunks[at] == "host")
        job.chunks[at] = "clean" if job.chunks[at] == "host" else "dirty"
        self.there[job, at] = True
        return wait

    def give(self, job, then):
        Turns.give(self, job, then)
        self.walk(job, then)

    def walk(self, job, then):
        """No other job sees the memory before the turn ends, so it is walked at once."""
        now, self.ends, self.rests_at = Fraction(then), NEVER, None
        while now < self.until and self.ends == NEVER and self.rests_at is None:
            into, goal = (job.work - job.left) % job.iteration, self.goal(job)
            if job.wait:
                step = min(job.wait, self.until - now)
                job.wait -= step
            elif into >= goal:
                step, job.wait = 0, self.touch(job)
            else:
                step = min(goal - into, self.until - now)
                job.left -= step
                if into + step == job.iteration:
                    job.touched = 0
                    self.end_iteration(job, now + step)
                self.ends = now + step if job.left == 0 else NEVER
            now += step

    def end_iteration(self, job, now):
        """The job goes on in its turn."""

    def begin(self, now):
        if self.has and self.until <= now:
            self.give(self.after(self.has) if self.next in (None, self.has) else self.next, now)
        if self.has is None and self.jobs:
            self.give(self.jobs[1 % len(self.jobs) if self.is_used else 0], now)
            self.is_used = True

    def remove(self, job, now):
        self.there = {its: True for its in self.there if its[0] is not job}
        Turns.remove(self, job, now)

    def next_time(self):
        return min(-(-self.ends // 1), self.until) if self.has else None

    def advance(self, now):
        """The one that follows is settled before others come in this instant, if it is another one."""
        if self.has and self.ends > now >= self.until:
            self.next = self.after(self.has)
        return [self.has] if self.has and self.ends <= now else []


class Beside:
    """SMs of docs/models/sm-sharing.md, for jobs that draw no bandwidth: a job's blocks are those that it fills, at
    most its cap; where all jobs have more than there are SMs, SMs go by blocks."""

    is_used = False  # no context is left to switch from

    def __init__(self, costs):
        self.cap, self.jobs, self.now = costs["cap"], [], 0

    def speeds(self):
        blocks = [min(job.fills, self.cap) for job in self.jobs]
        crowd = max(1, sum(blocks))
        return [its / crowd / job.fills for its, job in zip(blocks, self.jobs)]

    def walk(self, now):
        for job, speed in zip(self.jobs, self.speeds()):
            job.left -= speed * (now - self.now)
        self.now = now

    def settle(self, now):
        self.walk(now)

    def add(self, job, now):
        self.walk(now)
        self.jobs.append(job)

    def begin(self, now):
        pass

    def remove(self, job, now):
        self.walk(now)
        self.jobs.remove(job)

    def next_time(self):
        return min((self.now + -((-job.left) // speed) for job, speed in zip(self.jobs, self.speeds())), default=None)

    def has_room(self, job):
        return True

    def advance(self, now):
        self.walk(now)
        return [job for job in self.jobs if job.left <= 0]


class Groups(Beside):
    """Each job has SMs of its own, one part of all."""

    def __init__(self, costs):
        Beside.__init__(self, {"cap": 1})
        part, unit = costs["part"], costs["unit"]
        self.size = 1 if part == 1 else max(1, part // unit) * unit

    def speeds(self):
        return [min(job.fills, self.size) / job.fills for job in self.jobs]

    def has_room(self, job):
        return (len(self.jobs) + 1) * self.size <= 1


class Shared(Walk):
    """A run of jobs on GPUs that they share. room: memory of a GPU; context: what each process needs besides its own."""

    def __init__(self, cluster, jobs, lane, costs, passes):
        Walk.__init__(self, jobs)
        self.cluster, self.costs, self.passes = cluster, costs, passes
        self.lanes = {(number, gpu): lane(costs) for number, node in enumerate(cluster.nodes) for gpu in range(node.gpus)}
        self.waiting, self.gangs = [], []

    def finish(self, job):
        job.end = self.now
        for unit in job.units:
            if job.gpus == 1:
                self.lanes[unit].remove(job, self.now)
            if not self.lanes[unit].jobs:
                self.cluster.nodes[unit[0]].free[unit[1]] = WHOLE
        self.release(job)

    def has_room(self, job, unit):
        """A job that is alone on its GPU always fits; each of several needs its context as well."""
        lane = self.lanes[unit]
        if not lane.jobs:
            return self.cluster.nodes[unit[0]].free[unit[1]] == WHOLE
        memory = sum(other.memory + self.costs["context"] for other in lane.jobs + [job])
        return memory <= self.costs["room"] and len(lane.jobs) < self.costs["clients"] and lane.has_room(job)

    def with_fewest(self, job):
        units = [unit for unit in self.lanes if self.has_room(job, unit)]
        return units and [min(units, key=lambda unit: (len(self.lanes[unit].jobs), unit))]

    def place(self, job):
        return self.put(job, self.cluster.find(job) or self.with_fewest(job) * (job.gpus == 1))

    def put(self, job, units):
        for number, gpu in units or []:
            self.cluster.nodes[number].free[gpu] = 0
        if units and job.gpus == 1:
            self.lanes[units[0]].add(job, self.now)
        elif units:
            self.gangs.append(job)
            if job.program and job.iterations:
                self.run_alone(job)
        if units:
            job.units, job.start = units, self.now
            self.waiting.remove(job)
        return bool(units)

    def run_alone(self, job):
        """A gang with a program launches it on GPUs of its own."""
        job.host = Host(job.program, job.iterations, self.costs["launches"], 0)
        if job.period:
            job.host.serve(job.period, self.costs["lag"])
        job.work = alone(job.host)

    def decide(self):
        for job in sorted(self.waiting, key=lambda job: (job.submit, job.after is not None, job.number)):
            if not self.place(job) and not self.passes:
                break

    def leave(self):
        ended = [job for lane in self.lanes.values() for job in lane.advance(self.now)]
        over = [job for job in self.gangs if job.start + job.work <= self.now]
        self.gangs = [job for job in self.gangs if job not in over]
        for job in ended + over:
            self.finish(job)

    def serve(self):
        for job in self.newcomers_now():
            self.waiting.append(job)
        self.decide()
        for lane in self.lanes.values():
            lane.begin(self.now)

    def next_time(self):
        times = [job.submit for job in self.to_come] + [job.start + job.work for job in self.gangs]
        times += [then for then in (lane.next_time() for lane in self.lanes.values()) if then is not None]
        return min(times, default=None)


class Paging(Shared):
    """A gang pages on its GPUs; it is a process of the first of them, which pays for it and keeps its context."""

    def place(self, job):
        placed = Shared.place(self, job)
        if placed and job.gpus > 1:
            first = self.lanes[job.units[0]]
            job.work += self.costs["idle"] * first.is_used
            first.is_used = True
        return placed


class Instances(Shared):
    """GPUs that are cut into instances (MIG) by one layout: a job gets the smallest free one that its memory fits, and
    runs on the SMs that it has there."""

    def __init__(self, cluster, jobs, costs, passes):
        Shared.__init__(self, cluster, jobs, lambda costs: Beside({"cap": 1}), costs, passes)
        self.lanes = {}
        self.free = [(sms, memory) for node in cluster.nodes for _ in range(node.gpus) for sms, memory in costs["layout"]]

    def place(self, job):
        fit = [instance for instance in self.free if instance[1] >= job.memory]
        if fit:
            job.instance, job.start = min(fit), self.now
            self.free.remove(job.instance)
            self.waiting.remove(job)
            speed = min(job.fills, job.instance[0]) / job.fills
            job.work = -(-job.left // speed)
            self.gangs.append(job)
        return bool(fit)

    def finish(self, job):
        self.free.append(job.instance)
        Shared.finish(self, job)


class Strict(Turns):
    """vGPUs of which each has a turn whether it can use it or not: those that are there (most: None), or as many as a
    GPU could have. A round grows at its end, and the turn of one that leaves is at once that of the next; where a round
    never changes each keeps its turn, and a newcomer has the first that is free."""

    def __init__(self, costs):
        Turns.__init__(self, costs)
        self.most = costs["most"]
        self.owners = [None] * (self.most or 0)  # of turns

    def add(self, job, now):
        if not self.jobs:
            self.began, self.turn = now, 0
        self.jobs.append(job)
        if None not in self.owners:
            self.owners.append(None)
        self.owners[self.owners.index(None)] = job

    def remove(self, job, now):
        at = self.owners.index(job)
        self.jobs.remove(job)
        self.owners[at] = None
        if self.most is None:
            self.owners.pop(at)
            self.began = now if at == self.turn else self.began
            self.turn -= at < self.turn
            self.turn %= max(1, len(self.owners))

    def settle(self, now):
        owner = self.owners[self.turn] if self.jobs else None
        if owner:
            owner.left -= now - self.seen

    def begin(self, now):
        self.seen = now

    def next_time(self):
        if not self.jobs:
            return None
        owner, end = self.owners[self.turn], self.began + self.costs["quantum"]
        return min(end, self.seen + owner.left) if owner else end

    def advance(self, now):
        if not self.jobs:
            return []
        owner = self.owners[self.turn]
        if owner:
            owner.left -= now - self.seen
        self.seen = now
        if now >= self.began + self.costs["quantum"]:
            self.began, self.turn = now, (self.turn + 1) % len(self.owners)
        return [job for job in self.jobs if job.left <= 0]
