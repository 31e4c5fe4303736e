# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns of MSched for programs that say what their kernels touch, where memory does not fit, by docs/models/migration.md:
before a turn comes in what the kernels touch that begin within it, in the order in which they touch it, and for it goes
out what is used after the most turns of its job."""
from kernel_turns import KernelTurns
from sharing import NEVER


class MovedTurns(KernelTurns):
    """costs: of Tasks, and early (whether a turn begins ahead of its memory)."""

    link, more, turn_began, has_left = 0, None, None, False  # when the last copies end; when more memory is moved

    def add(self, job, now):
        KernelTurns.add(self, job, now)
        chunk, (touched, n) = self.costs["chunk"], job.program.chunks(self.costs["chunk"])
        job.chunks, begins = ["new"] * n, [0] + job.kernel_ends[:-1]
        job.touches = [[(at, writes) for when, at, writes in touched if begin <= when < end] for begin, end in zip(begins, job.kernel_ends)]
        job.bytes_in = job.bytes_out = job.stall = job.faults = 0

    def quantum(self):
        return self.costs["slice"] or self.costs["period"] // (len(self.jobs) + self.has_left)

    def kernels_to_come(self, job):
        """Numbers of the kernels of a job's turns, from the next one on, turn by turn: each ends with the kernel in which its
        time is up; in the instant in which a kernel ends the next one of its iteration has begun."""
        n, at = len(job.kernel_ends), job.kernel_ends.index(self.into(job)) + 1 if self.into(job) else 0
        left = job.left // job.iteration * n + (n - at if self.into(job) else 0)
        ran, turn, turns = 0, [], []
        for nth in range(int(min(left, 2 * n))):
            kernel = (at + nth) % n
            if ran > self.quantum() or ran == self.quantum() and kernel == 0:
                turns.append(turn)
                ran, turn = 0, []
            turn.append((kernel, ran))
            ran += job.kernel_ends[kernel] - (job.kernel_ends[kernel - 1] if kernel else 0)
        return turns + [turn]

    def into(self, job):
        return int(job.work - job.left) % job.iteration

    def turns_before(self, job):
        """How many of its turns end before the one in which a chunk is touched."""
        before = {}
        for nth, turn in enumerate(self.kernels_to_come(job)):
            for kernel, _ in turn:
                for at, _ in job.touches[kernel]:
                    before.setdefault(at, nth)
        return [before.get(at, 10**9) for at in range(len(job.chunks))]

    def remove(self, job, now):
        """The next turn is longer, for which more is moved behind what was moved for one as turns were."""
        self.has_left = self.costs["slice"] is None
        KernelTurns.remove(self, job, now)
        self.has_left = False

    def move_in(self, job):
        takes = self.move(job, self.now, (self.costs["plan"] + self.costs["plan_task"] * len(self.jobs)) * (len(self.jobs) > 1))
        if self.has_left:
            self.has_left = False
            takes += self.move(job, self.now + takes, 0)
        return takes

    def move(self, job, since, planned):
        now, wanted = since, {}  # chunks in the order of touches, and when the kernel begins
        for kernel, begins in self.kernels_to_come(job)[0]:
            for at, _ in job.touches[kernel]:
                wanted.setdefault(at, begins)
        missing = [its for its in wanted.items() if job.chunks[its[0]] in ("host", "new")]
        n_in, n_out = sum(job.chunks[at] == "host" for at, _ in missing), self.make_room(job, len(missing))
        coming = [its for its in missing if n_out or job.chunks[its[0]] == "host"]
        for at, _ in missing:
            job.chunks[at] = {"host": "clean", "new": "dirty"}[job.chunks[at]]
        now += planned
        starts, takes = now, self.copies(n_in, n_out)
        if n_in or n_out:
            late = max([-(-takes * (nth + 1) // len(coming)) - begins for nth, (_, begins) in enumerate(coming)] + [0])
            starts = max(now, self.link) + (late if self.costs["early"] else takes)
            self.link = max(now, self.link) + takes
        job.bytes_in += n_in * self.costs["chunk"]
        job.bytes_out += n_out * self.costs["chunk"]
        job.stall += starts - now
        return starts - since

    def make_room(self, job, n):
        """The chunks that the next turn does not use, by the turns before they are used, their job's place in the ring and
        their own; how many are copied."""
        at, uses, n_out = self.jobs.index(job), [], 0
        there = sum(its in ("clean", "dirty") for other in self.jobs for its in other.chunks)
        for place, other in enumerate(self.jobs[at:] + self.jobs[:at]):
            uses += [(turns, place, nth, other) for nth, turns in enumerate(self.turns_before(other))
                     if other.chunks[nth] in ("clean", "dirty") and (turns or place)]
        uses.sort(key=lambda its: its[:3])
        for _, _, nth, other in uses[len(uses) - max(0, there + n - self.costs["hbm"] // self.costs["chunk"]):]:
            n_out += self.costs["copies_clean"] or other.chunks[nth] == "dirty"
            other.chunks[nth] = "host"
        return n_out

    def give(self, job, then):
        if self.has:
            self.touch(self.has, self.began, then - self.since)
        self.now, self.began, self.turn_began = then, self.into(job), None
        KernelTurns.give(self, job, then)
        self.set_more(job, len(self.jobs) == 1)

    def set_more(self, job, is_alone):
        """A turn that goes on alone has more moved, if the task has memory elsewhere: when a kernel begins that touches any,
        after the time is up for which memory was moved, or when the iteration ends. So has one that was alone as its time
        was up and ends later, since it is taken to be another turn."""
        turn, ends, self.more = self.kernels_to_come(job)[0], job.iteration - self.into(job), None
        if is_alone:
            ran = sum(job.kernel_ends[kernel] - (job.kernel_ends[kernel - 1] if kernel else 0) for kernel, _ in turn)
            begins = [end - self.into(job) for end, touches in zip(job.kernel_ends, job.touches[1:]) if touches]
            then = min([ends] + [then for then in begins if then >= ran])
            self.more = self.since + then if then < job.left else None

    def begin(self, now):
        are_others = len(self.jobs) > 1
        if self.has and self.until > now:
            self.set_until(now)
        if self.has and self.more and are_others and not self.turn_start() + self.quantum() <= self.more < self.until:
            self.more = None
        if self.has and self.more == now:
            job, began = self.has, self.turn_start()
            self.touch(job, self.began, now - self.since)
            job.left -= now - self.since
            self.now, self.began, self.turn_began = now, self.into(job), began
            self.met = self.met if are_others else NEVER
            self.since = self.now + (self.move(job, now, 0) if self.lacks(job) else 0)
            self.set_more(job, True)
        KernelTurns.begin(self, now)

    def lacks(self, job):
        """Whether memory that its iterations touch is not there."""
        return any(its in ("host", "new") for its in job.chunks)

    def turn_start(self):
        return self.since if self.turn_began is None else self.turn_began

    def next_time(self):
        return min((then for then in (KernelTurns.next_time(self), self.more) if then is not None), default=None)

    def set_until(self, now):
        """As for other kernel turns; that of a task which was alone began before memory was moved for more of it."""
        job, turn = self.has, self.quantum()
        began = self.turn_start()
        up = began + max(1, -(-(self.met - began) // turn)) * turn
        into = self.into(job)
        at = into + max(up, now, self.since) - self.since
        ends = at // job.iteration * job.iteration + next(end for end in job.kernel_ends if end > at % job.iteration)
        ends = at if at % job.iteration == 0 and self.since + at - into > now else ends
        self.until = self.since + ends - into if len(self.jobs) > 1 else NEVER

    def touch(self, job, at, ran):
        """What the kernels of a turn have touched and written."""
        while ran > 0:
            kernel = job.kernel_ends.index(at) + 1 if at else 0
            for nth, writes in job.touches[kernel]:
                assert job.chunks[nth] != "host", "it was not moved"
                if writes or job.chunks[nth] == "new":
                    job.chunks[nth] = "dirty"
            ran -= job.kernel_ends[kernel] - at
            at = job.kernel_ends[kernel] % job.iteration
