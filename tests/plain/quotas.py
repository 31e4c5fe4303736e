# SPDX-License-Identifier: GPL-3.0-or-later
"""Kueue, by docs/kueue.md and the pages of Kueue's documentation that it names: queues of one cohort or of none, with
quotas of one flavor or of several, borrowing, lending and the classic preemption, and trees of cohorts."""
from exact import Fraction

S = 10**9


class Circle(Exception):
    """The run has no end, and is an error (docs/kueue.md)."""


class Node:
    """A queue or a cohort of a tree. quotas: by flavor, in the order in which a queue tries them: nominal, borrowing and
    lending, None where there is no limit."""

    def __init__(self, name, quotas):
        self.name, self.quotas, self.parent, self.children = name, quotas, None, []

    def subtree(self, flavor):
        """Its own quota and what the nodes below lend."""
        return self.quotas.get(flavor, (0, None, None))[0] + sum(its.subtree(flavor) - its.kept(flavor) for its in self.children)

    def kept(self, flavor):
        """What it lends to no other."""
        lending = self.quotas.get(flavor, (0, None, None))[2]
        return 0 if lending is None else max(0, self.subtree(flavor) - lending)

    def height(self):
        return 1 + max(its.height() for its in self.children) if self.children else 0

    def root(self):
        return self.parent.root() if self.parent else self


class Queue(Node):
    def __init__(self, name, spec):
        super().__init__(name, spec["quotas"])
        self.cohort = spec["cohort"]
        self.strict, self.within, self.reclaim = spec["strict"], spec["within"], spec["reclaim"]
        self.below = spec["below"]  # borrowWithinCohort: None where it is Never, the threshold, or "any"
        self.next_first, self.preempts_first = spec.get("next_first", False), spec.get("preempts_first", False)
        self.active, self.parked, self.sticky = [], [], None


def grow(queues, cohorts):
    """Hangs queues and cohorts (name: parent and quotas) below their parents; a name alone is a cohort as well."""
    nodes = {name: Node(name, quotas) for name, (_, quotas) in cohorts.items()}
    for queue in queues:
        if queue.cohort:
            nodes.setdefault(queue.cohort, Node(queue.cohort, {}))
    pairs = [(queue, queue.cohort) for queue in queues] + [(nodes[name], parent) for name, (parent, _) in cohorts.items()]
    for node, parent in pairs:
        if parent:
            node.parent = nodes.setdefault(parent, Node(parent, {}))
            node.parent.children.append(node)
    return queues


class Cohort:
    """What is used of quotas: by queue and flavor."""

    def __init__(self, queues):
        self.queues, self.usage = queues, {(queue, flavor): 0 for queue in queues for flavor in queue.quotas}

    def used(self, node, flavor):
        """Of a cohort: what the nodes below use beyond what they keep."""
        if isinstance(node, Queue):
            return self.usage.get((node, flavor), 0)
        return sum(max(0, self.used(its, flavor) - its.kept(flavor)) for its in node.children)

    def left(self, node, flavor):
        if not node.parent:
            return node.subtree(flavor) - self.used(node, flavor)
        kept, used, left = node.kept(flavor), self.used(node, flavor), self.left(node.parent, flavor)
        borrowing = node.quotas.get(flavor, (0, None, None))[1]
        if borrowing is not None:
            left = min(left, node.subtree(flavor) - kept - max(0, used - kept) + borrowing)
        return max(0, kept - used) + left

    def available(self, queue, flavor):
        return max(0, self.left(queue, flavor))

    def borrows(self, queue, flavor, more=0):
        return bool(queue.parent) and self.used(queue, flavor) + more > queue.subtree(flavor)

    def lowest(self, queue, flavor, more):
        """The lowest node on the way up whose quota has room for as many more."""
        node = queue
        while node.parent and self.used(node, flavor) + more > node.subtree(flavor):
            more -= max(0, node.kept(flavor) - self.used(node, flavor))
            node = node.parent
        return node

    def most(self, queue, flavor):
        """What the queue could have if nothing else ran."""
        kept, self.usage = self.usage, dict.fromkeys(self.usage, 0)
        most, self.usage = self.available(queue, flavor), kept
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
        self.cohort.usage[queue, job.flavor] -= job.gpus
        for its in self.queues:
            if its.root() is queue.root():
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

    def without(self, targets, question):
        """The answer if these jobs were gone."""
        for target in targets:
            self.cohort.usage[self.queue(target), target.flavor] -= target.gpus
        answer = question()
        for target in targets:
            self.cohort.usage[self.queue(target), target.flavor] += target.gpus
        return answer

    def fits(self, job, flavor, targets=()):
        return self.without(targets, lambda: job.gpus <= self.cohort.available(self.queue(job), flavor))

    MODES = ("no", "waits", "preempts", "reclaims", "fits")

    def way(self, job, flavor):
        """What could be done with the job in this flavor, how high up the tree it borrows then, and the jobs that it would
        have evicted."""
        queue, cohort = self.queue(job), self.cohort
        level = cohort.lowest(queue, flavor, job.gpus).height
        if job.gpus > cohort.most(queue, flavor):
            return "no", 0, []
        if self.fits(job, flavor):
            return "fits", level(), []
        if job.gpus > queue.quotas[flavor][0] and queue.below is None and not cohort.lowest(queue, flavor, job.gpus).parent:
            return "no", level(), []
        targets = self.targets(job, flavor)
        borrowed = self.without(targets, lambda: cohort.lowest(queue, flavor, job.gpus).height())
        if not targets:
            return "waits", borrowed, []
        return "preempts" if any(self.queue(other) is queue for other in targets) else "reclaims", borrowed, targets

    def head(self, queue):
        """The job, what is to be done with it in which flavor, its level and targets. Flavors are tried in the queue's
        order until one ends the search (flavorFungibility); the best of those that were tried counts."""
        job, best = min(queue.active, key=lambda job: self.place(job, queue)), None
        for flavor in queue.quotas:
            what, level, targets = self.way(job, flavor)
            if what != "no" and (best is None or (-self.MODES.index(what), level) < (-self.MODES.index(best[0]), best[2])):
                best = what, flavor, level, targets
            ends = what == "fits" or what in ("preempts", "reclaims") and queue.preempts_first
            if ends and (level == 0 or not queue.next_first):
                break
        return (job, *(best or ("no", None, 0, [])))

    def key(self, head):
        job, _, _, level, _ = head
        return (level, -job.priority, job.submit, job.number)

    def cycle(self, run):
        """The heads of all queues; whether anything has come of it."""
        before, moved = dict(self.cohort.usage), False
        admitted, evicted = [], []
        heads = [self.head(queue) for queue in self.queues if queue.active]
        for job, what, flavor, level, targets in sorted(heads, key=self.key):
            queue = self.queue(job)
            skipped = what == "fits" and not self.fits(job, flavor, evicted) or targets and (
                set(targets) & set(evicted) or not self.fits(job, flavor, evicted + targets))
            if what == "waits" and queue.reclaim != "Any":
                self.cohort.usage[queue, flavor] += self.held(job, queue, flavor, level)
            if skipped:
                pass  # it comes again in the next cycle
            elif what == "fits":
                self.cohort.usage[queue, flavor] += job.gpus
                admitted.append((job, flavor))
            elif targets:
                self.cohort.usage[queue, flavor] += job.gpus
                evicted += targets
                queue.sticky = job
            else:
                moved = self.park(job, queue) or moved
        self.cohort.usage = before
        fresh = [job for job in evicted if job not in self.leaving]
        self.leaving += fresh
        for job, flavor in admitted:
            self.admit(run, job, flavor)
        return bool(admitted or fresh or moved)

    def held(self, job, queue, flavor, level):
        """The quota that a head keeps from others in this cycle."""
        used, (nominal, borrowing, _) = self.cohort.usage[queue, flavor], queue.quotas[flavor]
        if level > 0:
            return job.gpus if borrowing is None else min(job.gpus, nominal + borrowing - used)
        return max(0, min(job.gpus, nominal - used))

    def park(self, job, queue):
        queue.sticky = None if queue.sticky is job else queue.sticky
        if queue.strict:
            return False
        queue.active.remove(job)
        queue.parked.append(job)
        return True

    def admit(self, run, job, flavor):
        queue, job.flavor = self.queue(job), flavor
        queue.active.remove(job)
        queue.sticky = None if queue.sticky is job else queue.sticky
        self.cohort.usage[queue, flavor] += job.gpus
        self.admissions += 1
        self.admitted[job] = self.admissions
        assert run.place(job), "nodes never bind here"

    def evict(self, run, job):
        self.release(job)
        run.stop(job)
        job.left = Fraction(job.work)
        self.queue(job).active.append(job)

    def in_order(self, targets):
        """Those that are being evicted already first, then the lowest priority, then the last that was admitted."""
        return sorted(targets, key=lambda its: (its[0] not in self.leaving, its[0].priority, -self.admitted[its[0]]))

    def own(self, job, flavor):
        """Jobs of its queue that it may have evicted."""
        within = self.queue(job).within

        def may_go(other):
            newer = other.submit // S > job.submit // S  # of one second none is newer
            is_equal = within == "LowerOrNewerEqualPriority" and other.priority == job.priority
            return within != "Never" and (other.priority < job.priority or is_equal and newer)
        return [(other, None, False) for other in self.admitted
                if self.queue(other) is self.queue(job) and other.flavor == flavor and may_go(other)]

    def of_others(self, job, flavor):
        """Jobs of other queues that borrow in cohorts that borrow: each with the lowest cohort that it has in common with
        the job, and whether it stays where the job would borrow. Those above a cohort in whose quota the job fits, and
        those of a lower one."""
        queue, above, beside = self.queue(job), [], []
        if queue.reclaim == "Never":
            return above, beside
        node, more, fits = queue, job.gpus, False
        while node.parent:
            fits = fits or self.cohort.used(node, flavor) + more <= node.subtree(flavor)
            more = max(0, more - max(0, node.kept(flavor) - self.cohort.used(node, flavor)))
            for other in self.below(node.parent, node, flavor):
                if queue.reclaim == "Any" or other.priority < job.priority:
                    (above if fits else beside).append((other, node.parent, not fits and self.is_high(job, other)))
            node = node.parent
        return above, beside

    def below(self, cohort, without, flavor):
        """Jobs below this cohort, but for the branch from which the search comes, and branches within their quota."""
        for child in cohort.children:
            if child is without or not self.cohort.borrows(child, flavor):
                continue
            if isinstance(child, Queue):
                yield from [job for job in self.admitted if self.queue(job) is child and job.flavor == flavor]
            else:
                yield from self.below(child, None, flavor)

    def is_high(self, job, other):
        """borrowWithinCohort lets a job that borrows evict those below the threshold."""
        below = self.queue(job).below
        return below is None or other.priority >= job.priority or below != "any" and other.priority > below

    def targets(self, job, flavor):
        queue, own = self.queue(job), self.own(job, flavor)
        above, beside = self.of_others(job, flavor)
        under = self.cohort.usage[queue, flavor] < queue.quotas[flavor][0]
        lists = [self.in_order(its) for its in (above, beside, own)]
        line = [its for is_going in (True, False) for targets in lists for its in targets
                if (its[0] in self.leaving) == is_going]
        if not above and not beside or queue.below is None and not under:
            return self.least(job, flavor, line, True)
        ways = (False, True) if queue.below is None and not above else (True, False)
        return self.least(job, flavor, line, ways[0]) or self.least(job, flavor, line, ways[1])

    def is_valid(self, job, target, flavor, may_borrow):
        """Jobs that went before may have brought its queue, or a cohort on the way up, within its quota."""
        other, common, stays = target
        node = self.queue(other)
        if node is self.queue(job):
            return True
        while node is not common and self.cohort.borrows(node, flavor):
            node = node.parent
        return node is common and not (may_borrow and stays)

    def may_run(self, job, flavor, may_borrow):
        queue = self.queue(job)
        return (may_borrow or not self.cohort.borrows(queue, flavor, job.gpus)) and self.fits(job, flavor)

    def least(self, job, flavor, candidates, may_borrow):
        """One after the other until the job fits; then those that need not go stay, the last first."""
        kept, targets = dict(self.cohort.usage), []
        for target in candidates:
            other = target[0]
            if not self.is_valid(job, target, flavor, may_borrow):
                continue
            self.cohort.usage[self.queue(other), flavor] -= other.gpus
            targets.append(other)
            if self.may_run(job, flavor, may_borrow):
                break
        else:
            targets = []
        for other in targets[-2::-1]:
            self.cohort.usage[self.queue(other), flavor] += other.gpus
            if self.may_run(job, flavor, may_borrow):
                targets.remove(other)
            else:
                self.cohort.usage[self.queue(other), flavor] -= other.gpus
        self.cohort.usage = kept
        return targets
