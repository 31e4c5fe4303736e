# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with GPUs, jobs, and a run of them from instant to instant, written from the pages of docs/ and without a look
at the sources in C. Times are whole nanoseconds, work and speeds are exact fractions."""
from exact import Fraction

WHOLE = 1_000_000


class Node:
    """free: what is left of each GPU, in millionths."""

    def __init__(self, gpus, partitions=(), gpu_type=None, speed=Fraction(1), features=()):
        self.gpus, self.partitions, self.gpu_type, self.speed = gpus, set(partitions), gpu_type, speed
        self.features, self.is_down = set(features), False
        self.free = [WHOLE] * gpus
        self.closed = ()  # GPUs that lack memory for the job that is tried: they count where nodes are put in order

    def idle(self):
        return [gpu for gpu in self.all_idle() if gpu not in self.closed] if self.closed else self.all_idle()

    def all_idle(self):
        return [] if self.is_down else [gpu for gpu, free in enumerate(self.free) if free == WHOLE]

    def lacking(self):
        return len(self.all_idle()) - len(self.idle())


class Job:
    def __init__(self, number, row):
        self.number, self.name = number, row["job_id"]
        self.submit, self.work = row["submit"], row["duration"]
        self.ppm = row["ppm"]  # of one GPU, for shares
        self.gpus = row["gpus"]
        self.user, self.limit, self.estimate = row.get("user"), row.get("limit"), row.get("estimate")
        self.priority = row.get("priority") or 0
        self.partitions, self.types = set(row.get("partitions", ())), set(row.get("types", ()))
        self.features, self.nodes = set(row.get("features", ())), row.get("nodes")  # one of these; how many it asked for
        self.after, self.think = row.get("after"), row.get("think")
        self.queue = row.get("queue")
        self.memory, self.fills = row.get("memory", 0), row.get("fills", Fraction(1))  # on each GPU; part of the SMs
        self.is_idempotent, self.is_realtime = bool(row.get("idempotent")), row.get("class") == "realtime"
        self.kept = row.get("kept", 0)  # of its memory, between iterations
        self.working = row.get("working", self.memory)  # of its memory, in an iteration
        self.is_guest = row.get("class") == "opportunistic"
        self.kernel, self.blocks = row.get("kernel"), row.get("blocks")  # ns and thread blocks of each
        self.block_ns = row.get("block_ns")  # how long a block runs; None: as long as its kernel
        self.iteration = self.kernel and self.kernel * row["kernels"]
        every = {"none": None, "kernel": 1}.get(row.get("sync"), row.get("kernels"))  # kernels, after which it waits
        self.synchronises = self.kernel and every and self.kernel * every
        self.program, self.iterations = row.get("program", (None, row.get("inside")))[1], row.get("iterations", row.get("requests"))
        self.lacks_program = "inside" in row
        self.period, self.requests = row.get("period"), row.get("requests")
        self.tail = row.get("tail", 0)  # of that, what its host does alone at the end
        self.left = Fraction(self.work)
        self.start = self.end = None
        self.units, self.old_units = [], []  # (node, GPU): those that it has, those that it gave up last
        self.has_run = self.is_killed = False
        self.since = self.there = None  # when its time on these units began, and it came to them
        self.came, self.has_come = None, False  # when it came into the line of its policy; whether it ever has
        self.speed = Fraction(1)
        self.ran = 0  # ns on GPUs, without transitions
        self.preemptions = 0

    def left_at(self, now):
        return self.left - (now - self.since) * self.speed if self.since is not None else self.left

    def ran_at(self, now):
        return self.ran + (now - self.since if self.since is not None else 0)

    def ends(self):
        """The nanosecond in which its work is done: the first that is not before."""
        done = self.since + -((-self.left) // self.speed)
        return min(done, self.since + self.limit - self.ran) if self.is_killed else done

    def thought(self):
        """What a policy takes for its duration."""
        return self.work if self.estimate is None else self.estimate


class Cluster:
    def __init__(self, nodes, rule="consolidate", apart=Fraction(1)):
        self.nodes, self.rule = nodes, rule
        self.apart = apart  # speed of a gang over several nodes
        self.worth = Fraction(1)  # of a GPU beyond those that a job asked for
        self.types = {node.gpu_type for node in nodes}  # of the run

    def may_use(self, job, node):
        return not node.is_down and self.would_use(job, node)

    def would_use(self, job, node):
        """Whether it may where the node has not failed."""
        return ((not job.features or bool(job.features & node.features)) and (not job.partitions or not any(n.partitions for n in self.nodes)
                 or bool(job.partitions & node.partitions))
                and (not job.types or not any(self.types) or node.gpu_type in job.types))

    def find(self, job):
        """Units for the job by the rule, or None."""
        nodes = [(number, node) for number, node in enumerate(self.nodes) if self.may_use(job, node)]
        if job.ppm < WHOLE:
            return self.find_share(job, nodes)
        whole = [(number, node) for number, node in enumerate(self.nodes) if self.would_use(job, node)]
        if job.nodes and job.gpus > 1 and self.find_parts(job, whole, lambda node: list(range(node.gpus))):
            return self.find_parts(job, nodes, Node.idle)
        if self.rule != "consolidate":
            return self.find_anywhere(job, nodes)
        rooms = [(len(node.all_idle()), number) for number, node in nodes if len(node.idle()) >= job.gpus]
        if rooms:
            return self.take(min(rooms)[1], job.gpus)
        return self.find_nodes(job, nodes, sorted((node.gpus for _, node in whole), reverse=True))

    def find_parts(self, job, nodes, idle_of):
        """On as many nodes as the job asked for, evenly: the fullest that have room, or the emptiest for rule spread."""
        each, wide = divmod(job.gpus, job.nodes)
        even, units, sign = job.nodes - wide, [], -1 if self.rule == "spread" else 1
        for number, node in sorted(nodes, key=lambda pair: (sign * len(idle_of(pair[1])), pair[0])):
            idle = idle_of(node)
            if wide and len(idle) > each:
                wide, part = wide - 1, each + 1
            elif even and len(idle) >= each:
                even, part = even - 1, each
            else:
                continue
            units += [(number, gpu) for gpu in idle[:part]]
        return None if wide or even else units

    def find_anywhere(self, job, nodes, rule=None):
        """any: fullest nodes first; spread: a GPU of each node in turn, emptiest first."""
        idle = {number: node.idle() for number, node in nodes}
        if sum(map(len, idle.values())) < job.gpus:
            return None
        units = []
        if (rule or self.rule) == "any":
            for number in sorted(idle, key=lambda number: (len(idle[number]) + self.nodes[number].lacking(), number)):
                units += [(number, gpu) for gpu in idle[number]]
            return units[:job.gpus]
        while len(units) < job.gpus:
            number = min((number for number in idle if idle[number]),
                         key=lambda number: (-len(idle[number]) - self.nodes[number].lacking(), number))
            units.append((number, idle[number].pop(0)))
        return units

    def find_share(self, job, nodes):
        partly = [(node.free[gpu], number, gpu) for number, node in nodes for gpu in range(node.gpus)
                  if job.ppm <= node.free[gpu] < WHOLE]
        if partly:
            return [min(partly)[1:]]
        rooms = [(len(node.idle()), number) for number, node in nodes if node.idle()]
        return self.take(min(rooms)[1], 1) if rooms else None

    def find_nodes(self, job, nodes, widths):
        """A gang wider than each node falls into the nodes that it would fill if all were there and idle, the widest
        first, and a rest. Each part takes the fullest node with room for it."""
        parts, rest = [], job.gpus
        if not widths or rest <= widths[0]:
            return None
        for width in widths:
            if rest >= width:
                parts.append(width)
                rest -= width
        units, left = [], {number: node.idle() for number, node in nodes}
        for part in parts + [rest] * (rest > 0):
            rooms = [(len(idle) + self.nodes[number].lacking(), number) for number, idle in left.items() if len(idle) >= part]
            if not rooms:
                return None
            number = min(rooms)[1]
            units += [(number, gpu) for gpu in left[number][:part]]
            left[number] = left[number][part:]
        return units

    def take(self, number, gpus):
        return [(number, gpu) for gpu in self.nodes[number].idle()[:gpus]]

    def change(self, job, by):
        for number, gpu in job.units:
            self.nodes[number].free[gpu] += by * job.ppm


class Walk:
    """What walks of any policy have in common: jobs that come after others, and an instant in two halves."""

    def __init__(self, jobs):
        self.jobs, self.now = jobs, 0
        self.everyone = jobs  # of the run, where this is a walk of one part of its nodes
        self.route = lambda job: self
        self.to_come = [job for job in jobs if job.after is None]
        self.n_come = 0

    def newcomers_now(self):
        """The jobs that come, those that come after others behind the others, and jobs thrown back before all. Each has its
        place in the order in which jobs came first, from then on."""
        jobs = sorted((job for job in self.to_come if job.submit <= self.now),
                      key=lambda job: (not job.has_come, job.after is not None and not job.has_come, job.number))
        for job in jobs:
            self.to_come.remove(job)
            if not job.has_come:
                job.has_come, job.number = True, self.n_come
                self.n_come += 1
        return jobs

    def release(self, job):
        """Jobs that come after this one are on their way."""
        for other in self.everyone:
            if other.after == job.name:
                other.submit = max(other.submit, self.now) if other.think is None else self.now + other.think
                self.route(other).to_come.append(other)

    def instant(self):
        self.leave()
        self.serve()

    def go(self):
        while (then := self.next_time()) is not None:
            assert then >= self.now, "time goes back"
            self.now = then
            self.instant()
        return self.jobs


class Run(Walk):
    """Jobs arrive, end and are decided on; the policy sees waiting and running jobs, places and stops them. A stop keeps
    the GPUs for stop_ns, a job that comes back is on its GPUs for back_ns before it goes on (each a time, or of a job). GPUs from which a job still
    goes away can be given to another one, which then begins when they are clear."""

    def __init__(self, cluster, jobs, policy, stop_ns=0, back_ns=0, loses=False):
        Walk.__init__(self, jobs)
        self.cluster, self.policy = cluster, policy
        self.stop_ns, self.back_ns = (cost if callable(cost) else lambda job, cost=cost: cost for cost in (stop_ns, back_ns))
        self.loses = loses  # a job that is stopped begins anew
        self.stops = 0
        self.waiting, self.running, self.fresh = [], [], []
        self.leaving, self.coming, self.placed = {}, {}, []  # until when; in the order of their placement
        self.moving = set()  # of those that leave, or are placed: they go on elsewhere, by way of the host

    def find(self, job):
        return self.cluster.find(job)

    def return_ns(self, job):
        """What a policy takes for the way back of a running job."""
        return self.back_ns(job)

    def place(self, job):
        units = self.find(job)
        if units is None:
            return False
        self.put(job, units)
        return True

    def put(self, job, units):
        job.units = units
        self.cluster.change(job, -1)
        self.waiting.remove(job)
        self.placed.append(job)
        self.admit()

    def admit(self):
        """Those whose GPUs are clear come to them."""
        held = {unit for job in self.leaving for unit in job.old_units}
        for job in [job for job in self.placed if not held & set(job.units)]:
            self.placed.remove(job)
            job.start = self.now if job.start is None else job.start
            job.there = self.now
            if job.has_run:
                self.come(job)
            else:
                self.begin(job)

    def come(self, job):
        if self.back_ns(job):
            self.coming[job] = self.now + self.back_ns(job)
        else:
            self.begin(job)

    def begin(self, job):
        job.since, job.has_run = self.now, True
        self.moving.discard(job)
        numbers = {number for number, _ in job.units}
        job.speed = min(self.cluster.nodes[number].speed for number in numbers) * (self.cluster.apart if len(numbers) > 1 else 1)
        job.speed *= 1 + Fraction(max(0, len(job.units) - job.gpus), job.gpus) * self.cluster.worth
        self.running.append(job)
        self.fresh.append(job)

    def take_off(self, job):
        job.left, job.ran = job.left_at(self.now), job.ran_at(self.now)
        self.cluster.change(job, 1)
        job.units, job.old_units, job.since = [], job.units, None
        self.running.remove(job)

    def stop(self, job):
        has_run = self.now > job.there or self.stop_ns(job) > 0
        job.preemptions += has_run  # else it was there for no time at all
        job.start = None if job.start == self.now and not has_run else job.start
        job.has_run = has_run or job.preemptions > 0
        self.stops += self.stop_ns(job) == 0
        self.take_off(job)
        if self.loses:
            job.left = Fraction(job.work)
        if self.stop_ns(job):
            self.leaving[job] = self.now + self.stop_ns(job)
        else:
            self.waiting.append(job)

    def move(self, job, units):
        """A running job goes on on these units."""
        self.take_off(job)
        job.units = units
        self.cluster.change(job, -1)
        self.moving.add(job)
        if self.stop_ns(job):
            self.leaving[job] = self.now + self.stop_ns(job)
        else:
            self.placed.append(job)
            self.admit()

    def take_back(self, job):
        """The job has been placed at this instant, and had better not be."""
        if self.coming.pop(job, None):
            self.cluster.change(job, 1)
            job.units = []
        else:
            self.take_off(job)
        job.start = None if job.start == self.now else job.start
        job.has_run = job.left < job.work
        self.waiting.append(job)

    def finish(self, job):
        self.take_off(job)
        job.end = self.now
        self.release(job)

    def change_places(self):
        """Jobs end, are off their GPUs, and go on there; whether any has."""
        ended = [job for job in self.running if job.ends() <= self.now]
        for job in sorted(ended, key=lambda job: job.number):
            self.finish(job)
        left = [job for job, then in self.leaving.items() if then <= self.now]
        for job in left:
            del self.leaving[job]
            (self.placed if job in self.moving else self.waiting).append(job)
        came = [job for job, then in self.coming.items() if then <= self.now]
        for job in came:
            del self.coming[job]
            self.begin(job)
        self.admit()
        return bool(ended or left or came)

    def leave(self):
        wake = self.policy.wake(self)
        self.has_room = self.change_places() or wake is not None and wake <= self.now

    def serve(self):
        """Arrivals, then decisions."""
        self.newcomers = self.newcomers_now()
        for job in self.newcomers:
            self.waiting.append(job)
            job.came = self.now
            self.policy.arrived(self, job)
        self.policy.decide(self)

    def next_time(self):
        times = [job.ends() for job in self.running] + [job.submit for job in self.to_come]
        times += [*self.leaving.values(), *self.coming.values()]
        wake = self.policy.wake(self)
        return min(times + ([wake] if wake is not None else []), default=None)
