# SPDX-License-Identifier: GPL-3.0-or-later
"""TGS and AntMan, by docs/one-gpu.md and the head of policies/antman/antman.c, with jobs that have a program: kernels of unlike lengths and blocks, which their hosts launch in no
time. A guest's kernels begin until its budget of blocks has, or as many as take its part of the time in the mean."""
import bystanders
from launches import Capped, Tgs


class Uneven(Capped):
    def add(self, job, now):
        if job.program:
            job.lengths = [its[1] for _, _, its in job.program.calls]
            job.iteration = sum(ns for ns, _ in job.lengths)
            if job.work != job.iteration * job.iterations:
                job.work = job.left = job.iteration * job.iterations
            job.synchronises = job.program.every and job.iteration
            job.kernel = -(-job.iteration // len(job.lengths))  # in the mean
        else:
            job.lengths = [(job.kernel, job.blocks)] * (job.iteration // job.kernel)
        super().add(job, now)

    def into(self, job):
        """The kernel that it is in or about to begin, and how much of it is done."""
        done, n = (job.work - job.left) % job.iteration, 0
        while done >= job.lengths[n][0]:
            done, n = done - job.lengths[n][0], n + 1
        return n, done

    def is_ready(self, job, now):
        if job.kernels is None or self.into(job)[1]:
            return True
        return (now - job.capped_since) // job.refill > job.nth_refill or job.begun < job.kernels

    def walk(self, now):
        job, self.has_run = self.has, self.has is not None and now > self.since
        if not self.has_run:
            return
        n, done = self.into(job)
        if not done and job.kernels is not None:
            nth = (self.since - job.capped_since) // job.refill
            job.nth_refill, job.begun = nth, (job.begun if nth == job.nth_refill else 0) + self.counts(job, n)
        job.left -= now - self.since
        self.busy += now - self.since
        self.since = now

    def kernel_ends(self):
        n, done = self.into(self.has)
        return self.since + self.has.lengths[n][0] - done

    def counts(self, job, n):
        return 1


class UnevenTgs(Uneven, Tgs):
    def most(self, budget):
        """Blocks before the last kernel that begins in a period, and one."""
        return budget + 1

    def counts(self, job, n):
        return job.lengths[n][1]

    def launched(self):
        job = self.host
        if not job.program:
            return Tgs.launched(self)
        return int(job.work - job.left) * sum(blocks for _, blocks in job.lengths) // job.iteration


class UnevenGuests(Uneven, bystanders.Gpu):
    pass
