# SPDX-License-Identifier: GPL-3.0-or-later
"""Random jobs with programs under policies that do more with kernels than let them begin."""
from exact import Fraction

GIB, S, MS = 2**30, 10**9, 10**6


from hosts import Program


class KernelDraws:
    """The kinds of a setup (draw.py) of which a walk goes kernel by kernel."""

    def draw_guests_of_kernels(self, r):
        """As guests, of which most have a program: kernels of unlike lengths and blocks, launched in no time."""
        self.draw_guests(r)
        for row in self.rows:
            if row["gpus"] == 1 and r.random() < 0.7:
                self.draw_uneven(r, row)

    def draw_bystanders_of_kernels(self, r):
        self.draw_bystanders(r)
        for row in self.rows:
            if row["gpus"] == 1 and r.random() < 0.7:
                self.draw_uneven(r, row)

    def draw_uneven(self, r, row):
        """The program of a row: about as long as the row was."""
        kernels = [(r.choice([S // 100, S // 20, S // 5, r.randint(S // 100, S // 2)]) // 1000 * 1000, r.choice([1, 100, 5000, 30000])) for _ in range(r.choice([1, 2, 4]))]
        every = r.choice([1, 1, None])
        program = Program([("launch", 0, ("s0", its)) for its in kernels], 0, every)
        name, n = f"app{len(self.files)}.csv", max(1, row["duration"] // sum(ns for ns, _ in kernels))
        lines = ["kind,name,count,time_us,device,host_us,blocks"] + [f"kernel,k{i},,{ns // 1000},ideal,,{blocks}" for i, (ns, blocks) in enumerate(kernels)]
        lines += [f"launch,k{i},,,,0," for i in range(len(kernels))] + [f"sync,iteration,{every},,,," if every else "sync,none,,,,,"]
        self.files[name] = "\n".join(lines) + "\n"
        for key in ("kernel", "kernels", "gpu_ms", "blocks", "sync"):
            del row[key]
        row.update(program=(name, program), iterations=n, duration=n * sum(ns for ns, _ in kernels), untimed=True)

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
