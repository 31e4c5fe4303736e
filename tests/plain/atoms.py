# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that run as atoms, by the head of policies/lithos.c and docs/models/sm-sharing.md, on SMs of which each holds one
block: ranges of blocks, of whole waves, each on SMs that are chosen when it begins."""
from fractions import Fraction

from blocks import Blocks, Waves


class Piece:
    """The kernel that is under way of a job, and its present atom."""

    def __init__(self, job, now, length, blocks):
        self.job, self.then, self.length, self.left, self.all = job, now, length, blocks, blocks
        self.sms, self.blocks, self.ends = (), 0, None

    pace = 0  # it has its SMs to its end


class Atoms(Blocks):
    """costs: as those of Blocks, and atom, steal, and owned (SMs of a job)."""

    def has_room(self, job):
        return self.costs["owned"](job) == 0 or self.room_for(job) is not None

    def room_for(self, job):
        """The first SMs that no job owns."""
        taken, n = {sm for other in self.jobs for sm in other.owns}, self.costs["owned"](job)
        return next((first for first in range(self.costs["sms"] - n + 1) if not taken & set(range(first, first + n))), None)

    def add(self, job, now):
        n = self.costs["owned"](job)
        first = self.room_for(job) if n else 0
        job.owns = range(first, first + n)
        Blocks.add(self, job, now)

    def is_busy(self, job):
        return any(its.job is job for its in self.kernels)

    def choose(self, piece, now):
        """A job keeps its own for its next atom, and lends those that this one leaves."""
        held = {sm for its in self.kernels for sm in its.sms}
        own = [sm for sm in piece.job.owns if sm not in held]
        if len(own) < min(len(piece.job.owns), piece.left):
            raise Waves  # others have some, which come back block by block
        if self.costs["steal"] or not piece.job.owns:
            kept = {sm for its in self.kernels if its.ends is None for sm in its.job.owns}
            owned = {sm for job in self.jobs for sm in job.owns}
            free = [sm for sm in range(self.costs["sms"]) if sm not in held | kept and sm not in piece.job.owns]
            own += sorted(free, key=lambda sm: sm in owned)
        n = min(len(own), piece.left, self.fewest(piece))
        if n == 0:
            return
        waves = max(1, self.costs["atom"] // piece.length)
        piece.sms, piece.blocks = tuple(own[:n]), min(piece.left, n * waves)
        piece.ends = now + -(-Fraction(piece.blocks, n) * piece.length // 1)  # as any kernel on a part of the SMs

    def fewest(self, piece):
        """SMs on which its kernel, in whole waves, takes no longer than alone but for the slip."""
        alone, most = min(piece.all, self.costs["sms"]), Fraction(10**6 + self.costs.get("slip", 0), 10**6)
        waves = lambda n: -(-piece.all // n)
        return next(n for n in range(1, alone + 1) if waves(n) <= most * waves(alone) and alone <= most * n)

    def begin(self, now):
        for job in self.jobs:
            job.host.walk(now)
            if job.host.is_ready() and not self.is_busy(job):
                length, blocks = job.host.lengths[len(job.host.ends)]
                self.kernels.append(Piece(job, now, length, blocks))
        for piece in sorted(self.kernels, key=lambda its: (-self.costs["rank"](its.job), its.then, its.job.place)):
            if piece.ends is None:
                self.choose(piece, now)

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        return min(times + [its.ends for its in self.kernels if its.ends is not None], default=None)

    def advance(self, now):
        self.now = now
        for piece in list(self.kernels):
            if piece.ends is not None and piece.ends <= now:
                piece.left -= piece.blocks
                piece.sms, piece.ends, piece.then = (), None, now
                if piece.left == 0:
                    self.kernels.remove(piece)
                    piece.job.host.ends.append(now)
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
