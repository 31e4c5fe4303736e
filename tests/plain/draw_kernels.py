# SPDX-License-Identifier: GPL-3.0-or-later
"""Random jobs with programs under policies that do more with kernels than let them begin."""
from exact import Fraction

GIB, S, MS = 2**30, 10**9, 10**6


class KernelDraws:
    """The kinds of a setup (draw.py) of which a walk goes kernel by kernel."""

    def draw_lanes_of_kernels(self, r):
        """Programs in lanes of memory, of which some share one."""
        self.draw_programs(r)
        costs = {"room": 8 * GIB, "reserve": r.choice([0, GIB // 2]), "lanes": r.choice(["one", "many", "many"]),
                 "order": r.choice(["fifo", "pack", "fair", "preempt"]), "passes": r.random() < 0.5}
        close = r.choice([1, 5, 20])
        for row in self.rows:
            row["submit"] //= close
            row["memory"] = r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 7 * GIB])
            row["fills"] = r.choice([Fraction(1), Fraction(1, 2), Fraction(3, 10)])
            row["kept"] = row["memory"] * r.choice([0, 1, 1, 2]) // 4
        self.costs.update(costs)
        self.sets = [its for its in self.sets if not its.startswith(("context", "hbm", "timeslice", "switch", "slice"))]
        self.sets += [f"hbm_bytes={costs['room']}B", f"salus.queue={'backfill' if costs['passes'] else 'fifo'}"] + [
            f"salus.{key}={costs[key]}" for key in ("lanes", "order")] + [f"salus.reserve={costs['reserve']}B"]
