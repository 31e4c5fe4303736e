# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups of nodes that fail and are unlike, of queues by attained service, and of links that copies share."""
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
