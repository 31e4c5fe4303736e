# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva's packing on one server, by docs/clusters.md and the head of policies/gandiva/pairs.c: two jobs of one GPU take turns
on it (docs/models/time-slices.md), as long as that does more than slices with a suspension between them."""
from cluster import WHOLE, Run
from failures import Failing
from moves import Moving
from sharing import NEVER, Turns
from servers import Servers
from slices import Server

TRIES = 3


class Packing(Run):
    """A job that is packed is in the ring of its GPU."""

    def __init__(self, cluster, jobs, policy, stop_ns, back_ns, costs):
        super().__init__(cluster, jobs, policy, stop_ns, back_ns)
        self.open_rings(costs)

    def open_rings(self, costs):
        self.costs, self.rings = costs, {}  # by GPU
        for job in self.jobs:
            job.ring = job.pair = None

    def begin(self, job):
        super().begin(job)
        job.since_began = self.now
        if job.pair:
            self.join(job)

    def join(self, job):
        """A job that runs is packed, in the instant in which it began."""
        if job in self.running:
            job.ring = self.rings.setdefault(job.units[0], Turns(self.costs))
            job.ring.add(job, self.now)
            job.speed, job.ends = 0, lambda: NEVER
            if all(its in self.running for its in job.pair.members):
                self.policy.time(self, job.pair)

    def take_off(self, job):
        if job.ring:
            had, is_coming = job.ring.has, job.ring.since > self.now
            job.ring.stop(job, self.now) if job.left > 0 else job.ring.remove(job, self.now)
            if job.left > 0 and had is job and job.ring.has and not is_coming:  # it would have run on
                job.ring.give(job.ring.has, self.now + self.costs["preempt"])
            job.ring = None
            del job.ends
        super().take_off(job)

    def done(self, job):
        """Its work so far."""
        if job.ring:
            job.ring.settle(self.now)
            job.ring.since = max(job.ring.since, min(self.now, job.ring.until))
            return job.work - job.left
        return job.work - job.left_at(self.now)

    def change_places(self):
        ended = [job for ring in self.rings.values() for job in ring.advance(self.now)]
        for job in sorted(ended, key=lambda job: job.number):
            self.finish(job)
        self.coming = dict(sorted(self.coming.items(), key=lambda its: its[0].number))
        return super().change_places() or bool(ended)

    def serve(self):
        super().serve()
        for ring in self.rings.values():
            ring.begin(self.now)

    def next_time(self):
        times = [then for ring in self.rings.values() if (then := ring.next_time()) is not None]
        return min(times + [then for then in [super(Packing, self).next_time()] if then is not None], default=None)


class FailingPacking(Packing, Failing):
    """On a node that fails."""

    def __init__(self, cluster, jobs, policy, stop_ns, back_ns, costs):
        Failing.__init__(self, cluster, jobs, policy, stop_ns, back_ns, costs)
        self.open_rings(costs)

    def fail(self, job):
        """No job of its ring has the GPU afterwards; what each has done in its slices counts up to this instant."""
        if job.ring:
            job.ring.settle(self.now)
            job.ring.jobs.remove(job)
            job.ring.has = job.ring.next = job.ring.before = job.ring = None
            del job.ends
        Failing.fail(self, job)


class Pair:
    def __init__(self, members, unit, joins_later):
        self.members, self.unit, self.joins_later = members, unit, joins_later
        self.since, self.done, self.is_over = None, None, False

    def there(self):
        return [job for job in self.members if job]

    def is_whole(self):
        return None not in self.members


class Packed(Server):
    def __init__(self, quantum, jobs):
        Server.__init__(self, quantum)
        self.pairs = []
        for job in jobs:
            job.friend = job.foe = None
            job.foes, job.alone, job.seen = 0, 0, 0

    def arrived(self, run, job):
        """One that has lost its GPUs is a new job, of which nothing is known but the service of what it kept."""
        Server.arrived(self, run, job)
        if job.pair:
            self.leave_pair(job.pair, job)
        self.part(job)
        job.foe, job.foes, job.alone, job.seen = None, 0, 0, 0

    def leave_pair(self, pair, job):
        pair.members[pair.members.index(job)] = None
        job.pair = None

    def profile(self, run, job):
        ran = job.ran_at(run.now)
        job.alone += 0 if job.pair else ran - job.seen
        job.seen = ran

    def is_packable(self, run, job):
        """It has run alone for a slice, and has not failed thrice."""
        self.profile(run, job)
        return job.gpus == 1 and job.foes < TRIES and job.alone >= self.quantum

    def partner(self, run, job):
        """Its friend, else the first in line, then the first that it has pushed out; all are as busy."""
        its = [other for other in self.line(run) + self.victims if other is not job and not other.pair and self.is_packable(run, other)]
        free = [other for other in its if not other.friend and job.foe is not other and other.foe is not job]
        return next((other for other in its if job.friend is other), free[0] if free else None)

    def pack(self, run, job):
        if self.is_any_idle(run, job) or not self.is_packable(run, job):
            return
        other = self.partner(run, job)
        if other is None or job.memory + other.memory + 2 * run.costs["context"] > run.costs["room"]:
            return
        pair = Pair([job, other], job.units[0], other not in run.waiting)
        self.profile(run, job)
        self.profile(run, other)
        job.pair = other.pair = pair
        self.pairs.append(pair)
        self.hold(run, pair, -1)
        run.join(job)
        if not pair.joins_later:
            run.put(other, [pair.unit])

    def hold(self, run, pair, by):
        """No other job has its GPU until both have left it."""
        number, gpu = pair.unit
        run.cluster.nodes[number].free[gpu] += by * WHOLE

    def serve(self, run, line):
        """A job that is pushed out may leave more GPUs than it was for: the line is served again."""
        was = None
        while was != len(run.leaving):
            was = len(run.leaving)
            for job in [job for job in line if job in run.waiting]:
                self.serve_one(run, job)

    def serve_one(self, run, job):
        self.victims = []
        if job in run.waiting and (self.place(run, job) or self.push(run, job)):
            self.pack(run, job)

    def is_any_idle(self, run, job):
        return any(node.idle() for node in run.cluster.nodes)

    def push(self, run, job):
        if not self.yields(run, None, job):
            return False
        due, thought, units = [other for other in run.running if self.is_due(run, other) and not other.pair], [], None
        for other in sorted(due, key=lambda other: (other.since, other.number)):
            thought.append(other)
            run.cluster.change(other, 1)
            units = self.find(run, job)
            if units:
                break
        for other in thought:
            run.cluster.change(other, -1)
        if units:
            self.victims = [other for other in thought if set(units) & set(other.units)]
            for other in self.victims:
                run.stop(other)
            run.put(job, units)
        return bool(units)

    def drop(self, run, pair, job):
        self.profile(run, job)
        self.leave_pair(pair, job)

    def part(self, job):
        if job.friend:
            job.friend.friend = None
        job.friend = None

    def packed_ppm(self, run, pair):
        work = sum(run.done(job) for job in pair.members) - pair.done
        return int(work * WHOLE // (run.now - pair.since)) if run.now > pair.since else 0

    def judge(self, run, pair):
        costs = sum(run.stop_ns(job) + run.back_ns(job) for job in pair.members)
        pays = self.packed_ppm(run, pair) > 2 * self.quantum * WHOLE // (2 * self.quantum + costs)
        for job, other in (pair.members, pair.members[::-1]):
            if pays or job.friend is other:
                self.part(job)
            job.foe = None if pays else other
            job.foes += not pays
        if pays:
            pair.members[0].friend, pair.members[1].friend = pair.members[1], pair.members[0]
        return pays

    def time(self, run, pair):
        pair.since, pair.done = run.now, sum(run.done(job) for job in pair.members)

    def split(self, run, pair):
        """The second one goes to an idle GPU where what the two lack of two jobs alone is more, in a slice."""
        job, idle = pair.members[1], self.elsewhere(run, pair)
        lacks = (2 * WHOLE - self.packed_ppm(run, pair)) * self.quantum // WHOLE
        if not idle or lacks <= run.stop_ns(job) + run.back_ns(job):
            return False
        self.drop(run, pair, job)
        run.move(job, idle[:1])
        return True

    def elsewhere(self, run, pair):
        return [(0, gpu) for gpu in run.cluster.nodes[0].idle()]

    def end_slice(self, run, pair, is_wanted):
        its = pair.there()
        if any(job not in run.running or not self.is_due(run, job) for job in its) or not is_wanted and not pair.is_whole():
            return
        pays = pair.is_whole() and self.judge(run, pair)
        if not is_wanted and self.split(run, pair):
            return
        if not is_wanted and pays:
            self.time(run, pair)
            for job in its:
                job.ran, job.since = job.ran_at(run.now), run.now
            return
        pair.is_over = True
        for job in its:
            run.stop(job)

    def keep(self, run, pair):
        one, other = pair.members
        for job in [job for job in pair.there() if job.end is not None]:
            self.part(job)
            pair.members[pair.members.index(job)] = None
        if pair.joins_later and other in run.waiting:
            pair.joins_later = False
            if one and one.end is None and not pair.is_over:
                run.put(other, [pair.unit])
            else:
                self.drop(run, pair, other)
        for job in pair.there():
            if pair.is_over and job in run.waiting:
                self.drop(run, pair, job)
        if not pair.there():
            self.pairs.remove(pair)
            self.hold(run, pair, 1)
        elif not pair.is_over:
            self.end_slice(run, pair, self.is_wanted(pair, [job for job in run.waiting if job not in run.newcomers]))

    def is_wanted(self, pair, waiting):
        """Whether any job waits for its GPU."""
        return bool(waiting)

    def decide(self, run):
        self.victims = []
        for job in run.jobs:
            if job.end is not None and not job.pair:
                self.part(job)
        for pair in list(self.pairs):
            self.keep(run, pair)
        Server.decide(self, run)
        self.end_slices(run)
        times = [job.since + self.quantum for job in run.running] + [self.rests_until(job) for job in run.waiting if job in self.since]
        if self.pairs or run.waiting:
            self.next = min((time for time in times if time > run.now), default=None)

    def end_slices(self, run):
        for pair in self.pairs:
            if not pair.is_over:
                self.end_slice(run, pair, self.is_wanted(pair, run.waiting))


class PackedServers(Packed, Servers):
    """On several servers: a job is packed with one of its own, while no GPU of any is idle. Idle GPUs of others are those that
    are left there when all lines have come to a job that may be packed, which has one of them."""

    def __init__(self, quantum, jobs, cluster):
        Packed.__init__(self, quantum, jobs)
        servers = Servers(quantum, cluster)
        self.__dict__.update({name: its for name, its in vars(servers).items() if name not in vars(self)})

    def arrived(self, run, job):
        Packed.arrived(self, run, job)
        Servers.arrived(self, run, job)

    def partner(self, run, job):
        """Of those in the line of its server."""
        line, self.own = self.line, set(self.on[job])
        self.line = lambda run: [other for other in line(run) if set(self.on.get(other, ())) == self.own]
        its = Packed.partner(self, run, job)
        self.line = line
        return its

    def is_any_idle(self, run, job):
        number, = self.on[job]
        return bool(self.elsewhere_idle or run.cluster.nodes[number].idle())

    serve = Servers.serve

    def serve_lines(self, run, lines):
        """Each server up to a job that may be packed, then the rest of each."""
        for number, its in enumerate(lines):
            while its and not (its[0].gpus == 1 and len(run.cluster.nodes[number].idle()) <= 1):
                self.serve_one(run, its.pop(0))
        self.elsewhere_idle = any(node.idle() for node, its in zip(run.cluster.nodes, lines) if not its)
        Servers.serve_lines(self, run, lines)

    def push(self, run, job):
        """A job of a pair gives way at the end of its own slice alone."""
        ran, due = list(run.running), self.is_due
        self.is_due = lambda run, other: not other.pair and due(run, other)
        Servers.push(self, run, job)
        self.is_due = due
        self.victims = sorted((other for other in ran if other not in run.running), key=lambda other: (other.since_began, other.number))
        return job not in run.waiting

    def is_wanted(self, pair, waiting):
        return any(pair.unit[0] in self.on.get(job, ()) for job in waiting)

    def elsewhere(self, run, pair):
        """On its own server if it can."""
        number = pair.unit[0]
        idle = [(number, gpu) for gpu in run.cluster.nodes[number].idle()]
        return idle or run.cluster.find_anywhere(pair.members[1], list(enumerate(run.cluster.nodes)), "any")

    def split(self, run, pair):
        job = pair.members[1]
        has_moved = Packed.split(self, run, pair)
        if has_moved:
            self.allot(job, {number: 1 for number, _ in job.units})
        return has_moved


class PackedMoving(PackedServers, Moving):
    """Jobs that wait move between these servers."""

    def __init__(self, quantum, jobs, cluster, costs):
        PackedServers.__init__(self, quantum, jobs, cluster)
        moving = Moving(quantum, cluster, costs)
        self.__dict__.update({name: its for name, its in vars(moving).items() if name not in vars(self)})

    def arrived(self, run, job):
        was = job in self.on
        PackedServers.arrived(self, run, job)
        self.is_free |= was
        self.is_loose |= was

    def decide(self, run):
        self.look_at_changes()
        PackedServers.decide(self, run)
        self.next = min(self.pays_at + ([self.next] if self.next else []), default=None)

    def end_slices(self, run):
        PackedServers.end_slices(self, run)
        self.gather(run)
