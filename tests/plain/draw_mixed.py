# SPDX-License-Identifier: GPL-3.0-or-later
"""Random jobs with programs beside jobs without one."""
from fractions import Fraction

from hosts import Program

MS = 10**6


class MixedDraws:
    """The kinds of a setup (draw.py) of which some jobs have a program."""

    def draw_mixed_blocks(self, r):
        self.draw_blocks(r)
        self.lack_programs(r, 1)  # several that are left alone share by rates

    def draw_mixed_between(self, r):
        """As launched_ahead or waved_between, with some jobs without a program, of either kind."""
        self.draw_waved_between(r) if r.random() < 0.5 else self.draw_launched_ahead(r)
        self.lack_programs(r, 2)

    def draw_mixed_gated(self, r):
        self.draw_gates(r, r.choice([1, 2]), r.choice([2, 3, 4]))
        self.lack_programs(r, 2)

    def draw_mixed_atoms(self, r):
        self.draw_atoms(r)
        self.lack_programs(r, 2)

    def lack_programs(self, r, most):
        """Jobs have kernels of one length on their part of the SMs, which their hosts launch in no time."""
        sms = self.costs["sms"]
        for row in r.sample(self.rows, r.randint(1, most)):
            kernels, blocks, kernel = r.choice([1, 2, 5]), r.choice([sms, sms // 2, r.randint(1, sms)]), r.choice([r.randint(1000, 30_000), r.randint(10_000, MS)])
            sync = "iteration" if "requests" in row else r.choice(["iteration", "iteration", "kernel", "none"])
            calls = ([("launch", 0, ("s0", (kernel, blocks)))] + [("wait", 0, None)] * (sync == "kernel")) * kernels
            del row["program"]
            row.update(inside=Program(calls, 0, None if sync == "none" else 1, True), kernels=kernels, fills=Fraction(blocks, sms))
            row.update(dict(gpu_ms=Fraction(kernel, MS)) if "requests" in row else dict(gpu_ms=Fraction(kernel * kernels, MS), host=0, sync=sync))
