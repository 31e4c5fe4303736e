# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups of nodes that fail and are unlike, of queues by attained service, and of links that copies share."""
from fractions import Fraction

from touches import Memory, Phase

GIB, S = 2**30, 10**9


class MoreDraws:
    """The kinds of a setup (draw.py) that build on several others."""

    def draw_failing_nodes(self, r):
        """Nodes that fail and are unlike, or jobs that ask for some of them."""
        getattr(self, "draw_" + r.choice(["mixed", "counts", "counts", "partitions", "types", "features", "any", "spread", "shares"]))(r)
        self.draw_mean_times(r)
        self.back_ns = r.choice([0, S, r.randint(1, 9 * S)])
        self.sets.append(f"restart.resume_ns={self.back_ns}ns")

    def draw_attained_turns(self, r):
        """Jobs that a policy of shared GPUs serves by attained service, of one GPU or gangs that fit on a node."""
        self.draw_turns(r)
        self.sets = [its for its in self.sets if not its.startswith(("queue=", "switch"))]
        self.costs.update(room=8 * GIB, preempt=0, idle=0, lookahead=0, ahead=r.choice([S, 5 * S, 10 * S, 3_333_333_333]))
        self.back_ns = r.choice([0, 0, S, r.randint(1, 9 * S)])
        for row in self.rows:
            row["gpus"] = min(row["gpus"], self.width)
        self.sets[0] = f"hbm_bytes={self.costs['room']}B"
        self.sets += ["queue=las", f"queue_quantum={self.costs['ahead']}ns", f"restart.resume_ns={self.back_ns}ns", "restart.stop_ns=0ns"]

    def draw_linked(self, r):
        """Memory that goes to the host and comes back, over links below roots, of a host that carries so much. No two things
        happen at once but by a rule."""
        self.draw_suspends(r)
        at = 0
        for row in self.rows:
            at += r.randint(0, 4 * S)
            row.update(submit=at, duration=row["duration"] + r.randint(S // 1000, S // 100), memory=r.randint(1, 40) * GIB // 4 + r.randint(0, 999))
        rate = lambda: r.choice([10**8, 10**9, 2 * 10**9, 3 * 10**9, 7 * 10**9 + 1])
        self.costs = {key: rate() for key in ("in", "out", "root", "host_in", "host_out", "host_both")}
        for way in ("in", "out"):  # a GPU alone has the rates of its link, which were measured with its host behind it
            self.costs[f"host_{way}"] += self.costs[way]
        self.costs["host_both"] += max(self.costs["host_in"], self.costs["host_out"])
        self.costs.update(root_gpus=min(self.width, r.choice([1, 2, 4])), numa_gpus=min(self.width, r.choice([2, 4, 8])))
        self.sets = ["preempt=suspend", "suspend.free_ns_per_gib=0ns"] + [
            f"pcie.{key}_bytes_per_s={self.costs[way]}B/s" for key, way in (("d2h", "out"), ("h2d", "in"), ("h2d_reused", "in"))]
        self.nodes[0].update({"pcie_root_gpus": self.costs["root_gpus"], "pcie_root_bytes_per_s": f"{self.costs['root']}B/s",
                              "numa_gpus": self.costs["numa_gpus"], "host_mem": None},
                             **{f"{key}_bytes_per_s": f"{self.costs[key]}B/s" for key in ("host_in", "host_out", "host_both")})

    def draw_touched(self, r):
        """Jobs with programs that say what their kernels touch, in phases that have buffers of their own, at once or in the
        midst of each other's iterations."""
        self.draw_tenants(r)
        self.nodes, self.rows = [{"gpus": 1}], self.rows[:r.choice([1, 2, 3, 4])]
        self.sets += ["launch.queue=1000000"]
        for n, row in enumerate(self.rows):
            memory = self.memory(r, f"app{n}.csv")
            times = sum(its[0] for phase in memory.phases for its in phase.kernels())
            iterations = r.choice([1, 2, 3, 5])
            self.rows[n] = {"job_id": row["job_id"], "submit": n * 7 * S // 10 * (iterations % 2), "duration": iterations * times, "gpus": 1, "ppm": row["ppm"],
                            "memory": memory.all_bytes() + n % 3 * GIB, "iterations": iterations, "program": (f"app{n}.csv", memory)}

    def draw_touched_locked(self, r):
        self.draw_touched(r)
        self.costs.update(locked="on", lock=r.choice([S // 2, S, 700_000_001]))
        self.sets += ["anti_thrash=on", f"nvshare.quantum={self.costs['lock']}ns"]

    def memory(self, r, name):
        """A program whose memory fits the GPU."""
        chunk = self.costs["chunk"]
        while True:
            phases = [Phase(r.choice([1, 1, 2, 5]), []) for _ in range(r.choice([1, 1, 2, 3]))]
            buffers = {f"b{n}": (r.choice([chunk, 2 * chunk, 3 * chunk, r.randint(1, 4 * chunk)]), 0, None) for n in range(r.choice([1, 2]))}
            for nth, phase in enumerate(phases):
                if r.random() < 0.6:
                    buffers[f"p{nth}"] = (r.choice([chunk, 3 * chunk, r.randint(1, 4 * chunk)]), r.choice([0, 0, chunk, 12345]), nth)
                for _ in range(r.choice([1, 1, 2, 3])):
                    known = [its for its, (_, _, of) in buffers.items() if of in (None, nth)]
                    touches = [(its, *r.choice([(Fraction(0), Fraction(1)), (Fraction(0), Fraction(1)), (Fraction(1, 10), Fraction(6, 10)), (Fraction(1, 2), Fraction(1)), (Fraction(1, 3), Fraction(2, 3))]))
                               for its in r.sample(known, r.randint(0, len(known)))]
                    touches = [(its, Fraction(int(a * 10**6), 10**6), Fraction(int(b * 10**6), 10**6), ("@r", "@rw", "", "@w")[(len(phase.launches) + n) % 4])
                               for n, (its, a, b) in enumerate(touches)]
                    phase.launches.append((r.choice([S // 100, S // 10, r.randint(S // 500, S // 5)]), r.choice([0, 0, 1000, S // 100]), touches))
            memory = Memory(buffers, phases)
            if any(touches for phase in phases for _, _, touches in phase.launches) and memory.all_bytes() <= self.costs["hbm"]:
                break
        lines = ["kind,name,count,time_us,device,host_us,grow_us,bytes,touches,phase,grow_bytes"]
        us = lambda ns: f"{ns // 1000}.{ns % 1000:03d}"
        lines += [f"buffer,{its},,,,,,{size},,{'' if of is None else f'f{of}'},{grows or ''}" for its, (size, grows, of) in buffers.items()]
        part = lambda its, a, b, access: (its if (a, b) == (0, 1) else f"{its}:{float(a * 100):.4f}%-{float(b * 100):.4f}%") + access
        every = [(nth, k, its) for nth, phase in enumerate(phases) for k, its in enumerate(phase.launches)]
        lines += [f"kernel,k{nth}_{k},,{us(ns)},ideal,,,,{' '.join(part(*its) for its in touches)},," for nth, k, (ns, _, touches) in every]
        for nth, phase in enumerate(phases):
            lines.append(f"phase,f{nth},{phase.count},,,,,,,,")
            lines += [f"launch,k{nth}_{k},,,,0,{us(more) if more else ''},,,," for k, (_, more, _) in enumerate(phase.launches)]
        self.files[name] = "\n".join(lines + ["sync,none,,,,,,,,,"]) + "\n"
        return memory
