# SPDX-License-Identifier: GPL-3.0-or-later
"""Gandiva's jobs that grow on their server, by the head of policies/gandiva/moves.c and docs/reference/parameters.md: once no
job has waited or come for some time, each gets as many idle GPUs of its server again, and gives them back for others."""
from moves import Moving


class Growing(Moving):
    """costs: after, and migrates: whether jobs move between servers too."""

    calm, has_waited = 0, False  # since when no job has waited or come; whether any waited when it was last decided

    def decide(self, run):
        if run.waiting:
            self.shrink(run)
        self.has_waited |= bool(run.waiting)
        Moving.decide(self, run)
        if self.has_waited or run.waiting:
            self.calm = run.now
        self.has_waited = self.lack(run)
        if not self.lack(run) and self.idle(run):
            self.grow_or_look(run)

    def lack(self, run):
        return bool(run.waiting or set(run.leaving) - run.moving)

    def idle(self, run):
        return sum(len(node.idle()) for node in run.cluster.nodes)

    def grow_or_look(self, run):
        then = self.calm + self.costs["after"]
        if run.now < then:
            self.next = min(then, self.next or then)
            return
        for number, node in enumerate(self.cluster.nodes):
            its = [job for job in self.on_servers(run) if number in self.on[job]]
            idle, gpus, before = len(node.idle()), {job: len(job.units) for job in its}, None
            while before != idle:
                before = idle
                for job in its:
                    if gpus[job] <= idle:
                        idle, gpus[job] = idle - gpus[job], 2 * gpus[job]
            for job in its:
                if gpus[job] > len(job.units):
                    self.resize(run, job, gpus[job])

    def on_servers(self, run):
        """Server by server, the longest slice first."""
        its = [job for job in run.running if len(self.on[job]) == 1]
        return sorted(its, key=lambda job: (min(self.on[job]), job.since, job.number))

    def resize(self, run, job, gpus):
        number = job.units[0][0]
        run.cluster.change(job, 1)
        idle = run.cluster.nodes[number].idle()
        run.cluster.change(job, -1)
        if len(idle) < gpus:
            return False
        self.allot(job, {number: gpus})
        run.move(job, [(number, gpu) for gpu in idle[:gpus]])
        return True

    def shrink(self, run):
        """On each server until its line finds as many idle, on one for each that comes, then on all until as many are idle as
        jobs ask for that wait or come."""
        wanted = [0] * len(self.cluster.nodes)
        for job in [job for job in run.waiting if job not in run.newcomers and len(self.on.get(job, ())) == 1 and not self.is_wide(job)]:
            wanted[min(self.on[job])] += job.gpus
        for number in range(len(wanted)):
            self.shrink_until(run, number, lambda: self.idle_on(number) >= wanted[number])
        for job in sorted(run.newcomers, key=lambda job: (job.after is not None, job.number)):
            fit = [number for number in range(len(wanted)) if self.idle_on(number) - wanted[number] >= job.gpus]
            fit = fit or [number for number in range(len(wanted)) if self.idle_on(number) + self.grown_on(run, number) - wanted[number] >= job.gpus]
            for number in fit[:1]:
                wanted[number] += job.gpus
                self.shrink_until(run, number, lambda: self.idle_on(number) >= wanted[number])
        for number in range(len(wanted)):
            self.shrink_until(run, number, lambda: self.idle(run) >= sum(job.gpus for job in run.waiting))

    def idle_on(self, number):
        return len(self.cluster.nodes[number].idle())

    def grown_on(self, run, number):
        return sum(len(job.units) - job.gpus for job in self.on_servers(run) if number in self.on[job] and len(job.units) > job.gpus)

    def shrink_until(self, run, number, is_enough):
        for job in [job for job in self.on_servers(run) if number in self.on[job]]:
            if not is_enough() and len(job.units) > job.gpus:
                self.resize(run, job, job.gpus)

    def note(self, run):
        """One that was pushed out while it had more GPUs is allotted anew."""
        for job in sorted(run.waiting, key=lambda job: job.number):
            if len(self.on.get(job, ())) == 1 and sum(self.on[job].values()) > job.gpus:
                del self.on[job]
                self.allot(job, self.choose(job))
        Moving.note(self, run)

    def use_idle(self, run, newcomers):
        if self.costs["migrates"]:
            Moving.use_idle(self, run, newcomers)

    def balance(self, run):
        return Moving.balance(self, run) if self.costs["migrates"] else False

    def gather(self, run):
        if self.costs["migrates"]:
            Moving.gather(self, run)
