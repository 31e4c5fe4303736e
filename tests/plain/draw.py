# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups: a trace as rows of cells, and the nodes of a cluster. Times are drawn from few values, so that jobs
arrive and end at one instant, have equal lengths, and take no time at all."""
import random
from fractions import Fraction

from cluster import WHOLE, Cluster, Job, Node

S = 10**9


def seconds(ns):
    return f"{ns // S}.{ns % S:09d}".rstrip("0").rstrip(".")


KINDS = ("plain", "shares", "loops", "estimates", "limits", "partitions", "types", "mixed", "costs", "speeds", "any", "spread")


class Setup:
    """kind: what the setup has beside gangs on equal nodes."""

    def __init__(self, seed, kind="plain"):
        r = random.Random(seed)
        self.seed, self.kind = seed, kind
        self.n_nodes, self.width = r.choice([1, 1, 2, 3, 4, 6]), r.choice([1, 2, 3, 4, 8])
        self.sets, self.words, self.stop_ns, self.back_ns, self.speed_milli = [], [], 0, 0, 1000
        self.nodes = [{"gpus": self.width} for _ in range(self.n_nodes)]
        self.rows = [self.row(r, i) for i in range(r.choice([3, 6, 12, 25, 40]))]
        for row, time in zip(self.rows, sorted(row["submit"] for row in self.rows)):
            row["submit"] = time
        self.rule = "consolidate"
        getattr(self, "draw_" + kind)(r)

    def draw_plain(self, r):
        pass

    def draw_shares(self, r):
        for row in self.rows:
            if row["gpus"] == 1 and r.random() < 0.7:
                row["ppm"] = r.choice([100_000, 250_000, 500_000, 500_000, 600_000, 900_000])

    def draw_loops(self, r):
        for i, row in enumerate(self.rows):
            if i and r.random() < 0.5:
                row["after"] = self.rows[r.randrange(i)]["job_id"]
                row["think"] = r.choice([None, 0, 1, 5 * S, r.randint(0, 20 * S)])

    def draw_estimates(self, r):
        for row in self.rows:
            if True:
                factor = r.choice([Fraction(1), Fraction(1, 2), Fraction(2), Fraction(r.randint(1, 300), 100)])
                row["estimate"] = max(1, int(row["duration"] * factor)) if r.random() < 0.9 else 0

    def draw_limits(self, r):
        for row in self.rows:
            if r.random() < 0.8:
                row["limit"] = max(1, int(row["duration"] * r.choice([Fraction(1), Fraction(3, 2), Fraction(1, 2), Fraction(4)])))

    def draw_partitions(self, r):
        for node in self.nodes:
            node["partitions"] = r.choice([None, "a", "b", "a,b"])
        self.bind(r, "partitions", [["a"], ["b"], ["a", "b"]])

    def draw_types(self, r):
        for node in self.nodes:
            node["gpu_type"] = r.choice(["k80", "v100"])
        present = {node["gpu_type"] for node in self.nodes}
        self.bind(r, "types", [["k80"], ["v100"], ["k80", "v100"]] if len(present) == 2 else [])

    def bind(self, r, key, choices):
        """Binds some jobs to nodes that they can run on."""
        for row in self.rows if choices else []:
            wish = r.choice(choices)
            if r.random() < 0.6 and Cluster(self.plain_nodes()).find(Job(0, {**row, key: wish})):
                row[key] = wish
        for row in self.rows:  # one partition or type that no job may run on alone
            if not Cluster(self.plain_nodes()).find(Job(0, row)):
                row["gpus"] = 1

    def draw_mixed(self, r):
        for node in self.nodes:
            node["gpus"] = r.choice([1, 2, 4, 8])
        for row in self.rows:
            while not Cluster(self.plain_nodes()).find(Job(0, row)):
                row["gpus"] -= 1

    def draw_any(self, r):
        self.draw_rule("any", r)

    def draw_spread(self, r):
        self.draw_rule("spread", r)

    def draw_rule(self, rule, r):
        self.sets.append(f"placement={rule}")
        self.rule = rule
        for node in self.nodes:
            node["gpus"] = r.choice([self.width, self.width, 1, 4])
        for row in self.rows:
            row["gpus"] = min(row["gpus"], sum(node["gpus"] for node in self.nodes))

    def draw_speeds(self, r):
        """A rate of work is a multiple of 2^-32."""
        self.speed_milli = r.choice([500, 2000, 300, 700, 1250, 1000])
        for node in self.nodes[1:]:
            node.update({"device": "other.ini", "speed": Fraction((self.speed_milli << 32) // 1000, 1 << 32)} if r.random() < 0.5 else {})

    def draw_costs(self, r):
        self.stop_ns = r.choice([1, S, 3 * S, r.randint(1, 5 * S)])
        self.back_ns = r.choice([1, S, 5 * S, r.randint(1, 9 * S)])
        self.sets += [f"restart.stop_ns={self.stop_ns}ns", f"restart.resume_ns={self.back_ns}ns"]

    def row(self, r, i):
        most = self.n_nodes * self.width
        gpus = min(most, r.choice([1, 1, 1, 2, 2, 3, 4, 5, 8, 12, 16]))
        unit = r.choice([S, S, S, S // 2, 1])
        duration = r.choice([r.choice([1, 2, 5, 10, 20]) * S, r.randint(1, 60) * S,
                             r.randint(1, 30 * S), 1])
        return {"job_id": f"j{i}", "submit": r.choice([0, r.randint(0, 60 * S // unit) * unit, r.randint(0, 12) * 5 * S]),
                "duration": duration, "gpus": gpus, "ppm": WHOLE}

    def cells(self):
        columns = ["job_id", "submit_s", "duration_s", "gpus"]
        lines = [[row["job_id"], seconds(row["submit"]), seconds(row["duration"]),
                  str(row["gpus"]) if row["ppm"] == WHOLE else str(row["ppm"] / WHOLE)] for row in self.rows]
        for name, key, text in (("limit_s", "limit", seconds), ("estimate_s", "estimate", seconds),
                                ("user", "user", str), ("priority", "priority", str),
                                ("partition", "partitions", ",".join), ("gpu_type", "types", "|".join),
                                ("after", "after", str), ("think_s", "think", seconds)):
            if any(key in row for row in self.rows):
                columns.append(name)
                for line, row in zip(lines, self.rows):
                    line.append('"%s"' % text(row[key]) if row.get(key) is not None else "")
        return "\n".join(",".join(line) for line in [columns] + lines) + "\n"

    def cluster_file(self):
        text = ""
        for i, node in enumerate(self.nodes):
            text += f"[node n{i}]\ncount = 1\n"
            keys = {"device": "ideal", **node}
            text += "".join(f"{key} = {value}\n" for key, value in keys.items() if value is not None and key != "speed")
        return text

    def plain_nodes(self):
        return [Node(node["gpus"], (node.get("partitions") or "").split(",") if node.get("partitions") else (),
                     node.get("gpu_type"), node.get("speed", Fraction(1))) for node in self.nodes]

    def plain(self):
        return Cluster(self.plain_nodes(), self.rule), [Job(i, row) for i, row in enumerate(self.rows)]
