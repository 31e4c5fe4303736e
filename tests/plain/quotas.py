# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue, by docs/kueue.md and the pages of Kueue's documentation that it names: queues of one cohort or of none, with
quotas, borrowing, lending and the classic preemption."""
from fractions import Fraction


class Circle(Exception):
    """The run has no end, and is an error (docs/kueue.md)."""


class Queue:
    def __init__(self, name, spec):
        self.name = name
        self.cohort, self.nominal, self.borrowing, self.lending = (spec[key] for key in ("cohort", "nominal", "borrowing", "lending"))
        self.strict, self.within, self.reclaim = spec["strict"], spec["within"], spec["reclaim"]
        self.below = spec["below"]  # borrowWithinCohort: None where it is Never, the threshold, or "any"
        self.active, self.parked, self.sticky = [], [], None

    def guaranteed(self):
        return self.nominal - self.lending if self.lending is not None else 0


class Cohort:
    """Quotas and what is used of them: usage by queue."""

    def __init__(self, queues):
        self.queues, self.usage = queues, {queue: 0 for queue in queues}

    def available(self, queue):
        """To a queue without a cohort its quota, to others that and what the cohort has left, up to borrowingLimit."""
        if not queue.cohort:
            return queue.nominal - self.usage[queue]
        left = sum(its.nominal - its.guaranteed() - max(0, self.usage[its] - its.guaranteed())
                   for its in self.queues if its.cohort == queue.cohort)
        if queue.borrowing is not None:
            lent = queue.nominal - queue.guaranteed() - max(0, self.usage[queue] - queue.guaranteed())
            left = min(left, lent + queue.borrowing)
        return max(0, queue.guaranteed() - self.usage[queue]) + left

    def borrows(self, queue, more=0):
        return bool(queue.cohort) and self.usage[queue] + more > queue.nominal

    def most(self, queue):
        """What the queue could have if nothing else ran."""
        kept, self.usage = self.usage, {its: 0 for its in self.queues}
        most, self.usage = self.available(queue), kept
        return most


class Kueue:
    def __init__(self, queues):
        self.queues, self.cohort = queues, Cohort(queues)
        self.by_name = {queue.name: queue for queue in queues}
        self.admitted = {}  # job: the number of its admission
        self.admissions = 0
        self.leaving = []  # those evicted; they use their quota until no cycle of the instant changes more

    def queue(self, job):
        return self.by_name[job.queue]

    def arrived(self, run, job):
        self.queue(job).active.append(job)

    def wake(self, run):
        return None

    def place(self, job, queue):
        return (queue.sticky is not job, -job.priority, job.submit, job.number)

    def release(self, job):
        """The job's quota is free; jobs of the cohort that had been passed over are looked at again."""
        queue = self.queue(job)
        del self.admitted[job]
        self.cohort.usage[queue] -= job.gpus
        for its in self.queues:
            if its is queue or its.cohort and its.cohort == queue.cohort:
                its.active, its.parked = its.active + its.parked, []

    def decide(self, run):
        for job in [job for job in self.admitted if job.end is not None]:
            self.release(job)
        for rounds in range(1000):
            while self.cycle(run):
                pass
            leaving, self.leaving = self.leaving, []
            for job in leaving:
                self.evict(run, job)
            if not leaving:
                return
        raise Circle("jobs are evicted for each other in a circle")

    def fits(self, job, targets=()):
        """If these jobs were gone."""
        for target in targets:
            self.cohort.usage[self.queue(target)] -= target.gpus
        fits = job.gpus <= self.cohort.available(self.queue(job))
        for target in targets:
            self.cohort.usage[self.queue(target)] += target.gpus
        return fits

    def head(self, queue):
        """The job, what is to be done with it, and those that it would have evicted."""
        job = min(queue.active, key=lambda job: self.place(job, queue))
        if self.fits(job):
            return job, "fits", []
        if job.gpus <= self.cohort.most(queue) and (job.gpus <= queue.nominal or queue.below is not None):
            return job, "preempts", self.targets(job)
        return job, "waits", []

    def key(self, head):
        job, _, targets = head
        for target in targets:
            self.cohort.usage[self.queue(target)] -= target.gpus
        borrows = self.cohort.borrows(self.queue(job), job.gpus)
        for target in targets:
            self.cohort.usage[self.queue(target)] += target.gpus
        return (borrows, -job.priority, job.submit, job.number)

    def cycle(self, run):
        """The heads of all queues; whether anything has come of it."""
        before, moved = dict(self.cohort.usage), False
        admitted, evicted = [], []
        for job, what, targets in sorted([self.head(queue) for queue in self.queues if queue.active], key=self.key):
            queue = self.queue(job)
            skipped = what == "fits" and not self.fits(job, evicted) or targets and (
                set(targets) & set(evicted) or not self.fits(job, evicted + targets))
            if what == "preempts" and not targets and queue.reclaim != "Any":
                self.cohort.usage[queue] += self.held(job, queue)
            if skipped:
                pass  # it comes again in the next cycle
            elif what == "fits":
                self.cohort.usage[queue] += job.gpus
                admitted.append(job)
            elif targets:
                self.cohort.usage[queue] += job.gpus
                evicted += targets
                queue.sticky = job
            else:
                moved = self.park(job, queue) or moved
        self.cohort.usage = before
        fresh = [job for job in evicted if job not in self.leaving]
        self.leaving += fresh
        for job in admitted:
            self.admit(run, job)
        return bool(admitted or fresh or moved)

    def held(self, job, queue):
        """The quota that a head keeps from others in this cycle."""
        used = self.cohort.usage[queue]
        if self.cohort.borrows(queue, job.gpus):
            return job.gpus if queue.borrowing is None else min(job.gpus, queue.nominal + queue.borrowing - used)
        return max(0, min(job.gpus, queue.nominal - used))

    def park(self, job, queue):
        queue.sticky = None if queue.sticky is job else queue.sticky
        if queue.strict:
            return False
        queue.active.remove(job)
        queue.parked.append(job)
        return True

    def admit(self, run, job):
        queue = self.queue(job)
        queue.active.remove(job)
        queue.sticky = None if queue.sticky is job else queue.sticky
        self.cohort.usage[queue] += job.gpus
        self.admissions += 1
        self.admitted[job] = self.admissions
        assert run.place(job), "nodes never bind here"

    def evict(self, run, job):
        self.release(job)
        run.stop(job)
        job.left = Fraction(job.work)
        self.queue(job).active.append(job)

    def candidates(self, job):
        """Jobs that may be evicted for this one, in the order in which they are tried."""
        queue, found = self.queue(job), []
        for other, nth in self.admitted.items():
            its = self.queue(other)
            if its is queue:
                newer = queue.within == "LowerOrNewerEqualPriority" and other.priority == job.priority and (
                    other.submit, other.number) > (job.submit, job.number)
                if queue.within != "Never" and (other.priority < job.priority or newer):
                    found.append((other not in self.leaving, True, other.priority, -nth, other))
            elif queue.cohort and its.cohort == queue.cohort and self.cohort.borrows(its):
                if queue.reclaim == "Any" or queue.reclaim == "LowerPriority" and other.priority < job.priority:
                    found.append((other not in self.leaving, False, other.priority, -nth, other))
        return [row[-1] for row in sorted(found, key=lambda row: row[:-1])]

    def targets(self, job):
        queue, all_of_them = self.queue(job), self.candidates(job)
        own = [other for other in all_of_them if self.queue(other) is queue]
        if len(own) == len(all_of_them):
            return self.least(job, own, True)
        under = self.cohort.usage[queue] < queue.nominal
        if queue.below is not None:
            below = job.priority if queue.below == "any" else min(job.priority, queue.below + 1)
            stays = not self.cohort.borrows(queue, job.gpus)  # within its quota: the threshold is of no account
            low = [other for other in all_of_them if self.queue(other) is queue or other.priority < below or stays]
            return self.least(job, low, True) or self.least(job, all_of_them, False)
        return under and self.least(job, all_of_them, False) or self.least(job, own, True)

    def may_run(self, job, may_borrow):
        queue = self.queue(job)
        return (may_borrow or not self.cohort.borrows(queue, job.gpus)) and self.fits(job)

    def least(self, job, candidates, may_borrow):
        """One after the other until the job fits; then those that need not go stay, the last first."""
        kept, targets, queue = dict(self.cohort.usage), [], self.queue(job)
        for other in candidates:
            its = self.queue(other)
            if its is not queue and not self.cohort.borrows(its):
                continue
            self.cohort.usage[its] -= other.gpus
            targets.append(other)
            if self.may_run(job, may_borrow):
                break
        else:
            targets = []
        for other in targets[-2::-1]:
            self.cohort.usage[self.queue(other)] += other.gpus
            if self.may_run(job, may_borrow):
                targets.remove(other)
            else:
                self.cohort.usage[self.queue(other)] -= other.gpus
        self.cohort.usage = kept
        return targets
