# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that run as atoms, by the head of policies/lithos.c and docs/models/sm-sharing.md, on SMs of which each holds one
block: ranges of blocks, of whole waves, each on SMs that are chosen when it begins, and lost to their owner as it needs them."""
from exact import Fraction

from blocks import NEAR, Blocks, Kernel, Waves
from sharing import NEVER


class Atom(Kernel):
    """sms: with blocks of it; only: on which further ones may begin."""

    def __init__(self, piece, chosen, blocks, sms):
        Kernel.__init__(self, piece.job, 0, piece.then, Fraction(piece.length * blocks, piece.all), blocks, sms)
        self.most = min(piece.all, sms)
        self.whole, self.width = piece.all, sms
        self.chosen, self.only, self.sms, self.total = chosen, chosen, set(), blocks

    def last_wave(self, each):
        """As of a kernel, with places in proportion to its blocks."""
        waves, most = self.waves(each), min(self.whole, self.width)
        places = -(-self.whole // most) * most * self.blocks // self.whole
        return self.all * min(Fraction(1, waves), max(0, 1 - Fraction((waves - 1) * each, places)))

    def strays(self):
        return sorted(self.sms - self.only)

    def run_out(self):
        """Blocks on SMs that it has lost leave as they end, all at once if they are in step, else a third at a time."""
        going = len(self.strays()) if self.pace < self.blocks and self.waiting else 0
        if not going:
            self.leaving = 0
        elif not self.leaving:
            each = self.in_step()
            self.leaving = going if each else -(-going // 3)
            self.leaves_at = self.all - (self.waves_over(each) + 1) * self.wave(each) if each else self.left - self.all * Fraction(self.on, self.blocks * 3)

    def leave(self):
        while self.leaving and self.on and self.left <= self.leaves_at:
            out, each, had = self.strays()[:self.leaving], self.in_step(), self.on
            if not out:
                break
            self.sms -= set(out)
            self.on -= len(out)
            self.leaves_at -= self.all * Fraction(self.on, self.blocks * 3)
            self.pace = self.on
            self.each = 0 if self.each and self.each != self.pace else self.each
            if each and not self.on:
                self.blocks, self.all, self.each = self.blocks - self.waves_over(each) * each, self.left, None
                self.waiting, self.most = self.blocks, min(self.blocks, self.most)
        return 0  # they are off its SMs

    def settle(self):
        """The first of its SMs get free."""
        n = Kernel.settle(self)
        self.sms -= set(sorted(self.sms)[:n])

    def looks(self):
        """Also when its last block begins: then none leaves early any more."""
        leaving, self.leaving = self.leaving, 0
        look = Kernel.looks(self)
        self.leaving = leaving
        return max(look, self.leaves_at) if leaving and self.pace and self.pace < self.blocks else look

    def fill(self, held):
        sms = sorted(self.only - held)[:self.waiting]
        if sms:
            self.sms |= set(sms)
            Kernel.begin(self, len(sms))


class Piece:
    """The kernel that is under way of a job, and its present atom."""

    def __init__(self, job, now, length, blocks):
        self.job, self.then, self.length, self.left, self.all = job, now, length, blocks, blocks
        self.atom = None


class Atoms(Blocks):
    """costs: as those of Blocks, and atom, steal, and owned (SMs of a job)."""

    are_by_rates = False

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

    def remove(self, job, now):
        self.has_changed = True
        Blocks.remove(self, job, now)

    def is_busy(self, job):
        return any(its.job is job for its in self.kernels)

    def choose(self, piece, now):
        """A job keeps its own for its next atom, and lends those that this one leaves. It takes back those that it has lent."""
        used = {sm for its in self.kernels if its.atom for sm in its.atom.chosen}
        own = sorted(piece.job.owns, key=lambda sm: sm in used)
        if self.costs["steal"] or not piece.job.owns:
            kept = {sm for its in self.kernels if not its.atom for sm in its.job.owns}
            owned = {sm for job in self.jobs for sm in job.owns}
            free = [sm for sm in range(self.costs["sms"]) if sm not in used | kept and sm not in piece.job.owns]
            own += sorted(free, key=lambda sm: sm in owned)
        n = min(len(own), piece.left, self.fewest(piece))
        if n == 0:
            return
        waves = max(1, self.costs["atom"] * piece.all // (piece.length * min(piece.all, self.costs["sms"])))  # of those of the kernel alone
        piece.atom = Atom(piece, set(own[:n]), min(piece.left, n * waves), self.costs["sms"])
        self.has_changed = True

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
                self.has_changed = True
        line = sorted(self.kernels, key=lambda its: (-self.costs["rank"](its.job), its.then, its.job.place))
        for piece in line:
            if piece.atom is None:
                self.choose(piece, now)
                self.refuse_near(piece, now)
        self.serve_atoms([piece.atom for piece in line if piece.atom])

    def serve_atoms(self, atoms):
        for atom in atoms:
            others = [other for other in atoms if other is not atom]
            atom.only = atom.chosen - {sm for other in others for sm in other.chosen & set(other.job.owns)} | atom.chosen & set(atom.job.owns)
        if self.has_changed or any(atom.is_due for atom in atoms):
            for atom in atoms:
                atom.settle()
                atom.is_due = False
            for atom in atoms:
                self.serve_one(atom, atoms)
        self.has_changed = False
        for atom in atoms:
            atom.is_watched = any(other.waiting > 0 for other in atoms if other is not atom) or any(not its.atom for its in self.kernels)

    def serve_one(self, atom, atoms):
        held = lambda: {sm for other in atoms for sm in other.sms}
        was = atom.each
        atom.fill(held())
        if was and not atom.each:
            atom.settle()
            atom.fill(held())
        atom.run_out()

    def refuse_near(self, piece, now):
        """Of jobs that choose in one instant, or nearly, the one that has had a part of its blocks at one time may come first or last."""
        if not piece.atom:
            return
        piece.job.chose = now
        near = [job for job in self.jobs if now - getattr(job, "chose", -NEVER) <= 4 * NEAR]
        if len(near) > 1 and any(getattr(job, "is_rounded", False) for job in near):
            raise Waves

    def refuse_ties(self):
        """Rates are rounded, so that of atoms that end in one instant, or nearly, one may end first and choose alone: if one goes on
        as a part of its kernel's blocks that no rate is exactly."""
        for its in self.kernels:
            if its.atom and 0 < its.atom.pace < its.atom.most:
                its.job.is_rounded = True
        near = [its.atom for its in self.kernels if its.atom and its.atom.pace and its.atom.left * its.atom.most <= 4 * NEAR * its.atom.pace]
        if any(atom.left <= 0 for atom in near) and len(near) > 1 and any((atom.pace << 32) % atom.most for atom in near):
            raise Waves

    def next_time(self):
        times = [then for job in self.jobs if (then := job.host.effect()) is not None]
        times += [then for its in self.kernels if its.atom and (then := its.atom.next_time(self.now)) is not None]
        return min(times, default=None)

    def advance(self, now):
        for piece in list(self.kernels):
            atom = piece.atom
            if atom:
                atom.walk(now - self.now)
        self.refuse_ties()
        for piece in list(self.kernels):
            atom = piece.atom
            if atom and atom.left <= 0:
                piece.left -= atom.total
                piece.atom, piece.then, self.has_changed = None, now, True
                if piece.left == 0:
                    self.kernels.remove(piece)
                    piece.job.host.ends.append(now)
        self.now = now
        for job in self.jobs:
            job.host.walk(now)
        return [job for job in self.jobs if job.host.is_over]
