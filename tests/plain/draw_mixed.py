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

    def draw_mixed_urgent(self, r):
        """As urgent_levels, _ways, _resets or _slices."""
        {"levels": self.draw_urgent_levels, "ways": self.draw_urgent_ways, "resets": self.draw_urgent_resets, "slices": self.draw_urgent_slices}[self.kind.split("_")[-1]](r)
        self.lack_host_time(r)

    def draw_mixed_turns(self, r):
        self.draw_programs(r)
        self.lack_host_time(r)

    def lack_host_time(self, r):
        """Jobs of which the host takes no time, with a program or without."""
        for row in r.sample(self.rows, min(len(self.rows), r.choice([1, 2]))):
            kernels, kernel = r.choice([1, 2, 5]), r.choice([r.randint(1000, 30_000), r.randint(10_000, MS)])
            sync = r.choice(["iteration", "iteration", "kernel", "none"])
            calls = ([("launch", 0, ("s0", kernel))] + [("wait", 0, None)] * (sync == "kernel")) * kernels
            program = Program(calls, 0, None if sync == "none" else 1)
            if r.random() < 0.5:
                row["program"] = self.write(f"app{len(self.files)}.csv", program, kernel), program
                continue
            del row["program"]
            row.update(inside=program, kernels=kernels, gpu_ms=Fraction(kernel * kernels, MS), host=0, sync=sync)

    def write(self, name, program, kernel):
        """A file of kernels of one length, of which the host's calls take no time."""
        lines = ["kind,name,count,time_us,device,host_us", f"kernel,k,,{kernel // 1000}.{kernel % 1000:03d},ideal,"]
        lines += ["launch,k,,,,0" if what == "launch" else "wait,device,,,,0" for what, _, _ in program.calls]
        lines.append(f"sync,iteration,{program.every},,," if program.every else "sync,none,,,,")
        self.files[name] = "\n".join(lines) + "\n"
        return name

    draw_mixed_urgent_levels = draw_mixed_urgent_ways = draw_mixed_urgent_resets = draw_mixed_urgent_slices = draw_mixed_urgent

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
