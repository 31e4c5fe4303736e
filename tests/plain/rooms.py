# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels of programs under MPS, block by block, on SMs that hold as many of them as threads, registers and places are left for,
with caps or without (docs/models/sm-sharing.md)."""
from blocks import Kernel
from ranges import Caps, Pieces


def up_to(value, step):
    return -(-value // step) * step


class Rooms(Caps):
    """costs: sm, the threads, bytes of registers and blocks that an SM has room for."""

    def __init__(self, costs):
        Caps.__init__(self, costs)
        self.room = [costs["sm"]] * costs["sms"]

    def need(self, threads, registers):
        """Warps are whole, and the registers of a thread are given out by eight."""
        threads = up_to(threads, 32)
        return threads, min(up_to(registers, 8) * 4 * threads, self.costs["sm"][1]), 1

    def fits(self, room, need):
        return min(has // needs for has, needs in zip(room, need))

    def lay_out(self, job):
        """The first SMs beside each other that no other cap begins with, else the last ones."""
        width = self.width(job)
        if not self.is_capped(job):
            return range(width)
        taken = {sm for other in self.jobs if self.is_capped(other) for sm in other.range}
        first = next((first for first in range(self.costs["sms"] - width + 1) if not taken & set(range(first, first + width))), self.costs["sms"] - width)
        return range(first, first + width)

    def kernel(self, job, rank, now):
        nth, calls = len(job.host.ends), job.program.calls
        length, blocks, needs = job.host.lengths[nth]
        need = self.need(*needs)
        each = self.fits(self.costs["sm"], need)
        of = Pieces if self.is_capped(job) and each == 1 and blocks <= self.width(job) else Kernel
        kernel = of(job, rank, now, length, blocks, each * self.costs["sms"])
        kernel.left -= job.spare if nth % sum(what == "launch" for what, _, _ in calls) else 0
        kernel.need, kernel.held, kernel.order = need, [0] * self.costs["sms"], []
        return kernel

    def serve(self, now):
        self.pass_over_ties()
        Caps.serve(self, now)

    def fill(self, kernel):
        """One by one to the SM with the most room, of those that it may use."""
        fits = [self.fits(room, kernel.need) for room in self.room]
        may = self.may_use(kernel, fits)
        n = min(kernel.waiting, sum(fits[sm] for sm in may))
        for _ in range(n):
            sm = max(may, key=lambda sm: (fits[sm], -sm))
            fits[sm] -= 1
            self.change(kernel, sm, 1)
            kernel.order += [sm] * isinstance(kernel, Pieces)
        if n:
            kernel.begin(n)

    def may_use(self, kernel, fits):
        """A client with a cap takes its own first, and then any others, up to as many as its cap leaves."""
        its, held = kernel.job.range, [sm for sm, n in enumerate(kernel.held) if n]
        if not self.is_capped(kernel.job) or sum(fits[sm] for sm in its) >= kernel.waiting and not set(held) - set(its):
            return its
        line = [(its[0] + n) % self.costs["sms"] for n in range(self.costs["sms"])]
        others = [sm for sm in line if fits[sm] and sm not in held]
        return sorted(held + others[:self.width(kernel.job) - len(held)])

    def change(self, kernel, sm, n):
        kernel.held[sm] += n
        self.room[sm] = tuple(has - n * needs for has, needs in zip(self.room[sm], kernel.need))

    def give_back(self, kernel, n):
        """Blocks leave the SM that has the most of them, the first of equals; or those that began first."""
        for _ in range(n):
            sm = max(range(self.costs["sms"]), key=lambda sm: (kernel.held[sm], -sm))
            self.change(kernel, kernel.order.pop(0) if kernel.order else sm, -1)
