# SPDX-License-Identifier: GPL-3.0-or-later
"""Random clusters of which some nodes have policies of their own: sections with a policy, partitions with one, nodes for
classes of jobs."""
from exact import Fraction

from cluster import Cluster, Job
from parts import Part, part_of

GIB, S = 2**30, 10**9
EXCLUSIVE = ("fifo", "backfill", "sjf", "srtf", "srsf", "easy-backfill", "las", "exclusive")
SHARING = ("timeslice", "mps", "green")


class PartDraws:
    """The kinds of a setup (draw.py) with several policies."""

    def draw_parts(self, r):
        """Lengths and times of jobs are such that no two things happen at once but by a rule: rates of mps are rounded."""
        self.costs = {"room": r.choice([8, 1000]) * GIB, "context": r.choice([0, GIB]), "clients": r.choice([1_000_000, 2])}
        self.sets += [f"hbm_bytes={self.costs['room']}B", f"context.bytes={self.costs['context']}B", f"max_clients={self.costs['clients']}"]
        at = 0
        for row in self.rows:
            at += r.randint(0, 4 * S)
            row.update(submit=at, duration=row["duration"] + r.randint(S // 1000, S // 100), memory=r.choice([1, 2, 4, 8]) * GIB // 2,
                       fills=r.choice([Fraction(1), Fraction(1, 2), Fraction(3, 10)]), partitions=[])
        self.nodes, self.sections, self.parts = [], [], []
        self.add_part(r, None)
        for n in range(r.choice([1, 1, 2, 3])):
            self.add_part(r, n)
        self.shuffle_nodes(r)
        self.draw_types_of_parts(r) if self.kind == "mixed_parts" and r.random() < 0.6 else None
        self.send(r)
        if r.random() < 0.3:
            self.draw_mean_times(r)
            self.back_ns = r.choice([0, S, r.randint(1, 9 * S)])
            self.sets.append(f"restart.resume_ns={self.back_ns}ns")
        self.files["cluster.ini"] = self.parts_file()

    def draw_costs_in_parts(self, r):
        """Parts of GPUs beside each other and beside whole ones, with what a stop and coming back take."""
        self.draw_costs(r)
        self.draw_asked(r)

    def draw_discards_in_parts(self, r):
        self.draw_discards(r)
        self.draw_asked(r)

    def draw_checkpoints_in_parts(self, r):
        self.draw_checkpoints(r)
        self.draw_asked(r)

    def draw_suspends_in_parts(self, r):
        self.draw_suspends(r)
        self.draw_asked(r)

    def draw_paused_in_parts(self, r):
        self.draw_paused(r)
        self.draw_asked(r)

    def draw_failing_suspends(self, r):
        """A node fails while jobs are on their way to its host and back, or wait there."""
        self.draw_suspends(r)
        self.draw_mean_times(r)
        self.costs["resume"] = r.choice([0, S, r.randint(1, 9 * S)])
        self.sets.append(f"restart.resume_ns={self.costs['resume']}ns")

    def draw_failing_checkpoints(self, r):
        """As these, in the driver's images."""
        self.draw_checkpoints(r)
        self.draw_mean_times(r)
        self.costs["resume"] = r.choice([0, S, r.randint(1, 9 * S)])
        self.sets.append(f"restart.resume_ns={self.costs['resume']}ns")

    def draw_failing_carried(self, r):
        """Nodes fail that have memory of jobs which go on elsewhere."""
        self.draw_carried_over(r)
        self.draw_mean_times(r)
        self.costs["resume"] = r.choice([0, S, r.randint(1, 9 * S)])
        self.sets.append(f"restart.resume_ns={self.costs['resume']}ns")

    def draw_asked(self, r):
        for row in self.rows:
            if row["gpus"] == 1 or r.random() < 0.3:
                row.update(gpus=1, ppm=r.choice([100_000, 250_000, 500_000, 500_000, 600_000, 900_000, 1_000_000]))

    def add_part(self, r, n):
        """n: None for the nodes of --policy."""
        policy = r.choice(EXCLUSIVE * 3 + SHARING * 7)
        form = "rest" if n is None else r.choice(["name", "node", "partition", "partition", "class", "both"])
        if form == "class" and any(part.classes for part in self.parts):
            form = "name"
        names = {"rest": set(), "class": set(), "name": {f"own{n}"}}.get(form, {f"a{n}", f"b{n}"} if r.random() < 0.5 else {f"a{n}"})
        count = r.choice([1, 2, 3]) if form in ("rest", "partition") else 1
        in_all = policy in SHARING  # a policy that chooses GPUs has jobs that may run on all nodes of its part
        at, its = len(self.nodes), sorted(names)
        rest = ["gpu", "long"] if form == "rest" and r.random() < 0.5 else []
        for i in range(count):
            mine = rest or (its if form not in ("name", "class") else [])
            if not in_all and len(mine) > 1 and form == "rest":
                mine = r.choice([[], mine[:1], mine])
            elif not in_all and len(mine) > 1 and count > 1:
                mine = r.choice([mine[:1], mine])
            self.nodes.append({"gpus": r.choice([1, 2, 3, 4, 8]), "partitions": ",".join(mine) or None})
        part = Part(policy, set(range(at, at + count)), names or None if n is not None else None,
                    {"realtime"} if form in ("class", "both") else None)
        self.give_settings(r, part)
        part.form, part.n = form, n
        self.parts.append(part)

    def give_settings(self, r, part):
        sets = []
        if part.policy in SHARING:
            part.costs["passes"] = r.random() < 0.5
            sets.append(f"queue={'backfill' if part.costs['passes'] else 'fifo'}")
        elif r.random() < 0.4 and part.policy != "exclusive":
            part.rule = r.choice(["any", "spread"])
            sets.append(f"placement={part.rule}")
        if part.policy == "las":
            sets.append("quantum=5s")
        if part.policy == "timeslice":
            part.costs.update(quantum=r.choice([S, S // 2, 700_000_001]), preempt=0, idle=0, lookahead=0, clients=256)
            sets.append(f"quantum={part.costs['quantum']}ns")
        if part.policy == "mps":
            cap = r.choice([100, 50, 30])
            part.costs["cap"] = Fraction(cap, 100)
            sets.append(f"cap={cap}%")
        if part.policy == "green":
            size = r.choice([50, 30, 100])
            part.costs.update(part=Fraction(size, 100), unit=Fraction(1, 100), clients=100 // size)
            sets.append(f"part={size}%")
        part.sets = [f"{part.policy}.{its}" for its in sets]

    def shuffle_nodes(self, r):
        """Sections of parts in any order."""
        order = list(range(len(self.nodes)))
        r.shuffle(order)
        self.nodes = [self.nodes[n] for n in order]
        for part in self.parts:
            part.nodes = {order.index(n) for n in part.nodes}

    def send(self, r):
        """Each job to a part that has nodes for it."""
        tags = [None] + [[name] for part in self.parts for name in sorted(part.names or ())]
        tags += [["gpu"], ["long"]] if any("gpu" in (self.nodes[n]["partitions"] or "") for n in self.parts[0].nodes) else []
        tags += [sorted(part.names) for part in self.parts if part.names]
        tags += self.mixed_tags(r) if self.kind == "mixed_parts" else []
        nodes = self.plain_nodes()
        for row in self.rows:
            part = None
            while part is None or not self.fits(part, nodes, row):
                row["partitions"] = r.choice(tags) or []
                row["class"] = r.choice(["realtime", "batch", "opportunistic", "production", None])
                if row.get("types"):
                    row["types"] = r.choice([[], ["k80"], ["v100"], ["k80", "v100"]])
                part = part_of(self.parts, row)
                if part and not self.fits(part, nodes, row):
                    row["gpus"] = max(1, row["gpus"] - 1)
        self.draw_followers(r)

    def draw_mixed_parts(self, r):
        """Jobs that name partitions of several policies, of which one at the most is on nodes with a policy of their own, and
        types of GPU."""
        self.draw_parts(r)

    def draw_types_of_parts(self, r):
        """Policies that share GPUs have those of one type."""
        for part in self.parts:
            its = [r.choice(["k80", "v100"])] if part.policy in SHARING else ["k80", "v100"]
            for n in part.nodes:
                self.nodes[n]["gpu_type"] = r.choice(its)
        for row in self.rows:
            row["types"] = r.choice([[], [], ["k80"], ["v100"], ["k80", "v100"]])

    def mixed_tags(self, r):
        """Partitions of a part beside those of the other nodes, and beside one that no node has."""
        own = [sorted(part.names) for part in self.parts if part.names]
        others = ["gpu", "long", "nowhere"]
        return [r.sample(names, r.randint(1, len(names))) + r.sample(others, r.choice([1, 2])) for names in own * 3]

    def fits(self, part, nodes, row):
        """A job of a partition of nodes for one class has that class, or no nodes."""
        names = set(row["partitions"])
        if part.names is None and any(names & (other.names or set()) for other in self.parts if other is not part):
            return False
        mine = [nodes[n] for n in sorted(part.nodes)]
        if part.policy in SHARING and names and any(node.partitions and not names & node.partitions for node in mine):
            return False
        cluster = Cluster(mine, part.rule)
        cluster.types = {node.gpu_type for node in nodes}
        may_use = [cluster.would_use(Job(0, {**row, "partitions": ()}), node) for node in mine]
        return cluster.find(Job(0, row)) is not None and (part.policy not in SHARING or all(may_use))

    def draw_followers(self, r):
        """Jobs that come after others, also of other parts; those of mps end a little later than they ought to."""
        exact = [i for i, row in enumerate(self.rows) if part_of(self.parts, row).policy not in ("mps", "green")]
        for i, row in enumerate(self.rows if r.random() < 0.5 else []):
            firsts = [n for n in exact if n < i]
            if firsts and r.random() < 0.5:
                row["after"], row["think"] = self.rows[r.choice(firsts)]["job_id"], r.choice([None, 0, 5 * S, r.randint(0, 20 * S)])

    def parts_file(self):
        text = ""
        for n, node in enumerate(self.nodes):
            part = next(part for part in self.parts if n in part.nodes)
            name = f"own{part.n}" if part.form == "name" else f"n{n}"
            text += f"[node {name}]\ngpus = {node['gpus']}\ndevice = ideal\n"
            text += f"partitions = {node['partitions']}\n" if node["partitions"] else ""
            text += f"gpu_type = {node['gpu_type']}\n" if node.get("gpu_type") else ""
            text += self.policy_of(part) if part.form not in ("rest", "partition") else ""
        for part in self.parts:
            if part.form == "partition":
                text += f"[partition a{part.n}]\n" + self.policy_of(part)
        return text

    def policy_of(self, part):
        classes = "classes = realtime\n" if part.classes else ""
        return f"policy = {part.policy}\n" + classes + "".join(f"{its.replace('=', ' = ', 1)}\n" for its in part.sets)
