# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups: a trace as rows of cells, and the nodes of a cluster. Times are drawn from few values, so that jobs
arrive and end at one instant, have equal lengths, and take no time at all."""
import random
from exact import Fraction

from cluster import WHOLE, Cluster, Job, Node
from draw_kueue import KueueDraws
from draw_mixed import MixedDraws
from draw_more import MoreDraws
from draw_kernels import KernelDraws
from draw_parts import PartDraws
from draw_tails import TailDraws
from hosts import Program
from sharing import Strict, Turns

S, MS = 10**9, 10**6


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def seconds(ns):
    return f"{ns // S}.{ns % S:09d}".rstrip("0").rstrip(".")


KINDS = ("plain", "shares", "loops", "estimates", "limits", "partitions", "types", "features", "counts", "mixed", "costs", "speeds", "networks", "any", "spread")


UNTIMED = ("programs", "touched", "touched_locked", "touched_remote", "hosted", "requests", "blocks", "mixed_blocks", "mixed_between", "mixed_gated", "mixed_atoms", "mixed_turns", "mixed_urgent_levels", "mixed_urgent_ways", "mixed_urgent_resets", "mixed_urgent_slices", "waved_blocks", "waved_gated", "waved_between", "gated", "gated_twice", "capped_blocks", "grouped_blocks", "uneven_groups", "partitioned_blocks", "lapped_blocks", "pieced_blocks", "lanes_of_kernels", "roomy_blocks", "launched_ahead", "between", "kernel_turns", "moved_turns", "moved_otherwise", "atoms", "waved_atoms", "slipped_atoms", "gangs_between", "gangs_gated", "gangs_of_atoms")  # kinds of which jobs are as long as their programs
GIB = 2**30
INSTANCES = {"7g": (100, 8, 8, "0"), "3g": (40, 4, 4, "0,4"), "2g": (28, 2, 2, "0,2,4"), "1g": (14, 1, 1, "0,1,2,3,4,5,6")}


class Setup(KueueDraws, MixedDraws, PartDraws, TailDraws, KernelDraws, MoreDraws):
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
        self.parts, self.widths, self.needs, self.alike = [], [], [], False
        self.rule, self.costs, self.files, self.loses, self.apart = "consolidate", {}, {}, False, Fraction(1)
        self.kind, self.has_tails = kind.removeprefix("tails_of_"), kind.startswith("tails")
        base = self.kind.removeprefix("outages_of_").removeprefix("ties_of_")
        getattr(self, "draw_" + base)(r)
        self.draw_tails(r) if self.has_tails else None
        if kind.startswith("outages"):
            self.draw_outages(r)
        if kind.startswith("ties"):
            self.draw_ties(r)

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

    def draw_features(self, r):
        for node in self.nodes:
            node["features"] = r.choice([None, "ib", "roce", "ib,roce"])
        self.bind(r, "features", [["ib"], ["roce"], ["ib", "roce"]] if any(node["features"] for node in self.nodes) else [])

    def draw_counts(self, r):
        """Jobs that ask for a number of nodes, of which some can have that only as a wish that does not bind."""
        self.draw_mixed(r) if r.random() < 0.5 else None
        if r.random() < 0.3:
            self.rule = r.choice(["any", "spread"])
            self.sets.append(f"placement={self.rule}")
        for row in self.rows:
            if r.random() < 0.7:
                row["nodes"] = r.randint(1, min(row["gpus"], r.choice([1, 2, 2, 3, 4])))

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

    def draw_networks(self, r):
        """Gangs over several nodes are slower, wherever the nodes stand."""
        ppm = r.choice([500_000, 700_000, 999_999, 250_000])
        self.apart = Fraction((ppm << 32) // WHOLE, 1 << 32)
        self.sets += [f"gang.nodes_ppm={ppm}"]
        if r.random() < 0.5:
            self.draw_rule("any", r)

    def draw_costs(self, r):
        self.stop_ns = r.choice([1, S, 3 * S, r.randint(1, 5 * S)])
        self.back_ns = r.choice([1, S, 5 * S, r.randint(1, 9 * S)])
        self.sets += [f"restart.stop_ns={self.stop_ns}ns", f"restart.resume_ns={self.back_ns}ns"]

    def draw_suspends(self, r):
        """Memory goes to the host and comes back, over a link for each GPU; one node, so that it crosses no network."""
        self.nodes = self.nodes[:1]
        out, back, free = (r.choice([GIB // 4, GIB, 10 * GIB, 55_365_000_000]) for _ in range(2)), None, None
        out, back = out
        free = r.choice([0, 450_000, S])
        for row in self.rows:
            row.update(gpus=min(row["gpus"], self.width), memory=r.choice([GIB // 2, GIB, 2 * GIB, 5 * GIB]))
        self.stop_ns = lambda job: -(-job.memory * S // out) + free * job.memory // GIB
        self.back_ns = lambda job: -(-job.memory * S // back)
        self.costs["copies"] = {"out": lambda job: -(-job.memory * S // out), "in": self.back_ns}
        self.sets += ["preempt=suspend", f"pcie.d2h_bytes_per_s={out}B/s", f"pcie.h2d_bytes_per_s={back}B/s",
                      f"pcie.h2d_reused_bytes_per_s={back}B/s", f"suspend.free_ns_per_gib={free}ns"]

    def draw_checkpoints(self, r):
        """The driver's checkpoints, to the host and back on one node."""
        self.nodes = self.nodes[:1]
        costs = {key: r.choice([0, 2, S, 2 * r.randint(1, S)]) for key in ("out_ns", "out_ns_per_gib", "in_ns", "in_ns_per_gib")}
        costs["out_ns"] += 2
        for row in self.rows:
            row.update(gpus=min(row["gpus"], self.width), memory=r.choice([GIB // 2, GIB, 2 * GIB, 5 * GIB]))
        self.stop_ns = lambda job: costs["out_ns"] + costs["out_ns_per_gib"] * job.memory // GIB
        self.back_ns = lambda job: costs["in_ns"] + costs["in_ns_per_gib"] * job.memory // GIB
        self.sets += ["preempt=checkpoint"] + [f"checkpoint.{key}={cost}ns" for key, cost in costs.items()]

    def draw_failures(self, r):
        """Nodes that fail, with or without checkpoints, of jobs that hope to finish."""
        for row in self.rows:
            row["gpus"] = min(row["gpus"], 2 * self.width)
        self.draw_loops(r) if r.random() < 0.3 else None
        self.draw_costs(r) if r.random() < 0.5 else None
        self.draw_mean_times(r)
        if not self.back_ns:
            self.back_ns = r.choice([0, S, r.randint(1, 9 * S)])
            self.sets.append(f"restart.resume_ns={self.back_ns}ns")

    def draw_mean_times(self, r):
        self.costs.update({"mtbf": r.choice([100, 300, 1000]) * S, "mttr": r.choice([S, 10 * S, 60 * S]),
                           "every": r.choice([None, None, S, 7 * S, 3_333_333_333]), "seed": self.seed})
        self.words += ["--mtbf", f"{self.costs['mtbf']}ns", "--mttr", f"{self.costs['mttr']}ns", "--seed", str(self.seed)]
        if self.costs["every"]:
            self.words += ["--checkpoint", f"{self.costs['every']}ns"]

    def draw_outages(self, r):
        """Nodes that fail under jobs that share their GPUs."""
        for row in self.rows:
            row["gpus"] = min(row["gpus"], 2 * self.width)
        self.draw_mean_times(r)
        self.back_ns = r.choice([0, 0, S, r.randint(1, 9 * S)])
        self.sets.append(f"restart.resume_ns={self.back_ns}ns")

    def draw_ties(self, r):
        """Jobs that come to one GPU in instants in which turns, kernels and parts of them end."""
        self.nodes = [{"gpus": 1}]
        for row in self.rows:
            row["gpus"] = 1
            if r.random() < 0.8:
                row.update(submit=r.randrange(12) * self.costs["quantum"] // r.choice([1, 1, 4]), sync="none")
        for row, time in zip(self.rows, sorted(row["submit"] for row in self.rows)):
            row["submit"] = time

    def draw_discards(self, r):
        """A stopped job begins anew."""
        self.stop_ns, self.loses = r.choice([0, 0, 1, S, r.randint(1, 3 * S)]), True
        self.sets += ["preempt=discard", f"context.destroy_ns={self.stop_ns}ns"]

    def draw_filled(self, r):
        """Rows of which each leaves columns idle."""
        self.draw_rows(r)
        self.costs["fill"] = True
        self.sets[-1] = "fill=on"

    def draw_rows(self, r):
        self.nodes = self.nodes[:1]
        self.costs = {"slice": r.choice([S, 5 * S, 3 * S + 7]), "fill": False}
        for row in self.rows:
            row["gpus"] = min(row["gpus"], self.width)
        self.sets += [f"slice={self.costs['slice']}ns", "fill=off"]

    def draw_service(self, r):
        """Queues of service, where stops take no time."""
        self.draw_queues(r)
        getattr(self, "draw_" + r.choice(["plain", "plain", "shares", "loops", "mixed", "any"]))(r)

    def draw_held(self, r):
        """Queues of service where stops take time, so that several jobs may start in one instant in which others leave."""
        self.draw_queues(r)
        self.draw_costs(r)

    def draw_queues(self, r):
        queues = sorted(r.sample([3, 5, 10, 20, 40, 100], r.choice([1, 2, 2, 3])))
        self.costs = {"queues": [its * S for its in queues]}
        self.sets += ["queues=" + ",".join(map(str, queues))]

    def draw_quanta(self, r):
        """Jobs with priorities on one GPU."""
        self.nodes = [{"gpus": 1}]
        self.costs = {"quantum": r.choice([S, 5 * S, 10 * S])}
        for row in self.rows:
            row.update(gpus=1, priority=r.choice([0, 0, 0, 1, 2]))
        self.sets += [f"quantum={self.costs['quantum']}ns"]

    def draw_ousting(self, r):
        """Any of the setups of clusters, with priorities or without, and what a stop and coming back take."""
        getattr(self, "draw_" + r.choice(KINDS))(r)
        for row in self.rows:
            row["priority"] = r.choice([0, 0, 0, 1, 2])
        self.costs = {"quantum": r.choice([S, 5 * S, 10 * S, 3 * S + 7])}
        self.sets.append(f"quantum={self.costs['quantum']}ns")

    def draw_quanta_of_gangs(self, r):
        self.draw_ousting(r)
        self.sets.append("mechanism=restart")

    def draw_ways_out(self, r):
        """One way out for all jobs."""
        way = r.choice(["restart", "restart", "host", "finish", "checkpoint"])
        if way == "restart":
            self.draw_ousting(r)
        else:
            {"host": self.draw_suspends, "finish": self.draw_suspends, "checkpoint": self.draw_checkpoints}[way](r)
            self.sets = self.sets[1:]
            self.costs = {"quantum": r.choice([S, 5 * S, 10 * S, 3 * S + 7])}
            self.sets.append(f"quantum={self.costs['quantum']}ns")
        self.costs["lead"] = r.choice([1, 2, 3, 3, 10])
        self.sets += [f"choice={way}", f"lead={self.costs['lead']}"]

    def draw_server(self, r):
        """One server of Gandiva's, without packing, with or without costs of stops."""
        self.n_nodes, self.nodes = 1, self.nodes[:1]
        for row in self.rows:
            row["gpus"] = min(row["gpus"], self.width)
        self.costs = {"slice": r.choice([S, 5 * S, 10 * S, 3 * S + 7])}
        self.draw_costs(r) if r.random() < 0.4 else None
        self.draw_loops(r) if r.random() < 0.3 else None
        self.sets += [f"slice={self.costs['slice']}ns", "preempt=restart", "packing=off"]

    def draw_users(self, r):
        """Users with unlike numbers of jobs, and how their usage is forgotten. No job is so short, and no usage so long
        ago, that it counts for less than the last bit of a priority."""
        for row in self.rows:
            row["duration"] = max(row["duration"], S // 10)
        self.draw_limits(r) if r.random() < 0.4 else None
        self.draw_loops(r) if r.random() < 0.2 else None
        for row in self.rows:
            row["user"] = r.choice(["ana", "ana", "bo", "cleo", "dan"])
        self.costs = {"half_life": r.choice([20 * S, 60 * S, 10**6 * S]), "calc_period": r.choice([1, 2, 5, 300]) * S,
                      "max_age": r.choice([10, 60, 604800]) * S, "weight_fairshare": r.choice([1, 1000, 100000]),
                      "weight_age": r.choice([0, 1000, 1000, 100000]), "weight_size": r.choice([0, 0, 500]),
                      "backfill": r.choice(["off", "skip", "easy"])}
        self.sets += [f"fairshare.{key}={value}{'ns' if key in ('half_life', 'calc_period', 'max_age') else ''}"
                      for key, value in self.costs.items()]

    def draw_sharing(self, r):
        """Jobs of one GPU and some gangs, with memory, on a device with or without costs."""
        self.draw_loops(r) if r.random() < 0.3 else None
        self.costs = {"room": r.choice([8, 8, 1000]) * GIB, "context": r.choice([0, GIB // 4, GIB]),
                      "clients": r.choice([1_000_000, 2, 3]), "passes": r.random() < 0.5}
        for row in self.rows:
            row["gpus"] = row["gpus"] if r.random() < 0.2 else 1
            row["memory"] = r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 8 * GIB])
            row["fills"] = r.choice([Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 4), Fraction(3, 10)])
        self.sets += [f"hbm_bytes={self.costs['room']}B", f"context.bytes={self.costs['context']}B",
                      f"queue={'backfill' if self.costs['passes'] else 'fifo'}"]

    def draw_turns(self, r):
        self.draw_sharing(r)
        quantum, free = r.choice([S, S // 2, 3 * S, 700_000_001]), r.random() < 0.3
        costs = {key: 0 if free else r.choice([0, 1000, S // 100, r.randint(1, S // 10)]) for key in ("preempt", "idle")}
        self.costs.update(costs, quantum=quantum, lookahead=r.choice([0, 0, S // 10, r.randint(0, quantum)]),
                          clients=256)
        self.sets += [f"quantum={quantum}ns", f"switch.preempt_ns={costs['preempt']}ns",
                      f"switch.preempt_full_ns={costs['preempt']}ns", f"switch.idle_ns={costs['idle']}ns",
                      f"switch.lookahead_ns={self.costs['lookahead']}ns"]

    def draw_programs(self, r, sms=None, grain=1):
        """Turns of jobs with programs: calls of their hosts, and kernels of any length. No two things happen at once
        but by a rule."""
        self.draw_turns(r)
        self.sets[2] = self.sets[2].replace("queue", "timeslice.queue")
        quantum = r.choice([MS, 2 * MS, 5 * MS + 1])
        self.costs.update(quantum=quantum, lookahead=r.choice([0, 0, MS // 5, r.randint(0, quantum)]),
                          launches=r.choice([2, 5, 30, 1000]), room=10**6 * GIB)
        self.costs.update({key: min(cost, r.randint(0, MS // 2)) for key, cost in self.costs.items() if key in ("preempt", "idle")})
        self.sets = self.sets[1:3] + [f"hbm_bytes={self.costs['room']}B", f"launch.queue={self.costs['launches']}"] + [
            f"{key}_ns={self.costs[its]}ns" for key, its in (("slice.quantum", "quantum"), ("switch.preempt", "preempt"), (
                "switch.preempt_full", "preempt"), ("switch.idle", "idle"), ("switch.lookahead", "lookahead"))]
        programs = [self.program(r, f"app{n}.csv", sms, grain) for n in range(r.choice([1, 2, 3]))]
        self.nodes, self.rows, self.costs["sms"] = self.nodes[:2], self.rows[:8], sms
        at = 0
        for row in self.rows:
            at += r.randint(0, 30 * MS)
            row.update(gpus=1, submit=at, iterations=r.choice([1, 2, 5, 30]), program=r.choice(programs), memory=GIB // 2)

    def draw_hosted(self, r):
        """Programs of which rows say what the host, or the kernels, of an iteration take in all: each part of that is
        longer or shorter by one factor."""
        self.draw_programs(r, grain=4)
        for row in self.rows:
            name, program = row["program"]
            host, gpu = (r.choice([Fraction(n, 4) for n in (1, 2, 3, 4, 5, 8, 12)]) if r.random() < 0.7 else 1 for _ in range(2))
            calls = [(what, int(takes * host), (its[0], int(its[1] * gpu)) if what == "launch" else its) for what, takes, its in program.calls]
            row["program"] = name, Program(calls, int(program.gap * host), program.every)
            if host != 1:
                row["host"] = sum(takes for _, takes, _ in calls) + row["program"][1].gap
            if gpu != 1:
                row["gpu_ms"] = Fraction(sum(its[1] for what, _, its in calls if what == "launch"), MS)

    def draw_requests(self, r):
        """Servers beside programs, or alone: requests come one a period."""
        self.draw_programs(r)
        self.costs["lag"] = r.choice([0, 0, r.randint(1, 20_000)])
        self.sets.append(f"launch.host_gap_ns={self.costs['lag']}ns")
        for n, row in enumerate(self.rows):
            if n == 0 or r.random() < 0.5:
                if r.random() < 0.3:  # requests of its program
                    row.update(requests=row.pop("iterations"), period=r.randint(10_000, 20 * MS), arrival="periodic")
                    continue
                kernels, kernel = r.choice([1, 2, 5]), r.choice([r.randint(1000, MS), r.randint(1000, 50_000)])
                del row["iterations"], row["program"]
                row.update(requests=r.choice([1, 5, 50, 200]), period=r.choice([r.randint(10_000, 20 * MS), kernels * kernel + r.randint(0, MS)]),
                           arrival="periodic", kernels=kernels, kernel=kernel, gpu_ms=Fraction(kernel, MS))

    def draw_fitted(self, r):
        """Programs that take as long alone as their rows say, whatever their calls do: each has a GPU to itself."""
        self.draw_programs(r)
        self.nodes = [{"gpus": 8}]
        self.sets = [its for its in self.sets if "switch" not in its]
        self.costs.update(idle=0)
        for row in self.rows:
            program = row["program"][1]
            host = sum(takes for _, takes, _ in program.calls) + program.gap
            gpu = sum(its[1] for what, _, its in program.calls if what == "launch")
            row["iterations"] = r.choice([1, 2, 12, 100, 1000, 3000])
            row["duration"] = row["iterations"] * (r.choice([min, max])(host, gpu) * r.randint(50, 200) // 100)

    def draw_blocks(self, r, sms=(4, 10, 100), rows=None):
        """Kernels of programs beside each other, on SMs of which each holds one block."""
        self.draw_programs(r, sms=r.choice(sms))
        self.sets = [its for its in self.sets if "timeslice" not in its and "quantum" not in its and "switch" not in its]
        self.sets += [f"sms={self.costs['sms']}", "sm.threads=1024"]
        self.costs.update(rank=lambda job: 0, ranked=False, passes=False, clients=1000)
        self.nodes, self.rows = [{"gpus": 1}], self.rows[:rows or r.choice([2, 3, 4])]

    def draw_gated(self, r):
        """Such kernels beside those of a job of high priority, which hold back the other one."""
        self.draw_gates(r, 1, 2)

    def draw_gated_twice(self, r):
        """Several jobs that are held back, and a second job of high priority, which waits for the end of the first."""
        self.draw_gates(r, 2, r.choice([3, 4]))

    def draw_waved_gated(self, r):
        """Kernels that have up to four times as many blocks as there are SMs."""
        sms = self.draw_widths(r, [4, 10, 100])
        self.draw_gates(r, r.choice([1, 2]), r.choice([2, 3, 4]), sms=[sms])

    def draw_gates(self, r, n_high, n, sms=(4, 10, 100)):
        self.draw_blocks(r, sms)
        self.rows = self.rows[:n]
        wait, bound = r.choice([0, 20_000, 300_000]), r.choice([0, 100_000])
        self.costs.update(rank=lambda job: job.is_realtime or job.priority > 0, wait=wait, bound=bound)
        self.sets += [f"tally.wait={wait}ns", f"tally.bound={bound}ns"]
        high = r.sample(self.rows, min(n_high, len(self.rows)))
        for row in self.rows:
            row.update({"class": "realtime" if row in high else r.choice(["batch", "opportunistic"]), "priority": 0})

    def program(self, r, name, sms=None, grain=1):
        """Kernels and calls, of which some wait: the last of them launches, at least. Times are multiples of the grain."""
        kernels = [r.choice([r.randint(1000, 30_000), r.randint(10_000, MS), r.randint(MS, 4 * MS)]) for _ in range(r.choice([1, 2, 4]))]
        kernels = [ns // grain * grain for ns in kernels]
        blocks = [r.choice(self.widths or [sms, sms // 2]) for _ in kernels] if sms else []
        needs = [r.choice(self.needs) for _ in kernels] if self.needs else [(1024,)] * len(kernels)
        calls, known, streams = [], [], ["s0", "s1"][:r.choice([1, 1, 2])]
        for _ in range(r.choice([1, 3, 6, 12])):
            what = r.choice(["launch"] * 6 + ["wait", "record"])
            host, stream = r.choice([r.randint(1000, 20_000), r.randint(1000, MS // 2)]) // grain * grain, r.choice(streams)
            if what == "launch":
                calls.append((what, host, (stream, r.randrange(len(kernels)))))
            elif what == "record":
                known.append(f"e{len(known)}")
                calls.append((what, host, (known[-1], stream)))
            else:
                calls.append((what, host, r.choice([None, stream, *known])))
        calls.append(("launch", r.randint(1000, 50_000) // grain * grain, (r.choice(streams), r.randrange(len(kernels)))))
        gap, every = r.choice([0, 0, r.randint(1000, MS)]) // grain * grain, r.choice([1, 1, 1, 3, None])
        is_known = self.kind in ("between", "launched_ahead", "mixed_between") and r.random() < 0.7
        end = "," * (is_known + bool(self.needs) + self.alike) + "\n"
        text = f"kind,name,count,time_us,device,host_us,stream,blocks,threads{',registers' * bool(self.needs)}{',dram_bytes' * is_known}{',alike' * self.alike}\n"
        text += "".join(f"kernel,k{n},,{us(ns)},ideal,,{f',{blocks[n]},' + ','.join(map(str, needs[n])) if sms else ',,'}{',1' * is_known}{',yes' * self.alike}\n" for n, ns in enumerate(kernels)
                        if any(what == "launch" and its[1] == n for what, _, its in calls))
        for what, host, its in calls:
            if what == "launch":
                text += f"launch,k{its[1]},,,,{us(host)},{its[0]},,{end}"
            elif what == "record":
                text += f"record,{its[0]},,,,{us(host)},{its[1]},,{end}"
            else:
                text += f"wait,{'device' if its is None else 'stream' if its[0] == 's' else its},,,,{us(host)},{its if its and its[0] == 's' else ''},,{end}"
        text += f"host,gap,,{us(gap)},,,,,{end}" * bool(gap) + (f"sync,iteration,{every},,,,,,{end}" if every else f"sync,none,,,,,,,{end}")
        self.files[name] = text
        lengths = list(zip(kernels, blocks, needs)) if self.needs else list(zip(kernels, blocks)) if sms else kernels
        plain = [(what, host, (its[0], lengths[its[1]]) if what == "launch" else its) for what, host, its in calls]
        return name, Program(plain, gap, every, is_known)

    def draw_paged(self, r):
        """Turns of jobs whose memory comes and goes in no time."""
        self.draw_turns(r)
        self.sets[3] = self.sets[3].replace("quantum", "slice.quantum_ns")
        self.costs.update(room=10**9 * GIB, clients=10**6)

    def draw_locks(self, r):
        """A lock that goes round, or the driver's turns without it."""
        self.draw_paged(r)
        is_locked = r.random() < 0.7
        self.sets += [f"anti_thrash={'on' if is_locked else 'off'}"]
        if is_locked:
            self.costs.update(quantum=r.choice([S, 5 * S, 700_000_001]), lookahead=0)
            self.sets.append(f"nvshare.quantum={self.costs['quantum']}ns")

    def draw_tasks(self, r):
        """Turns of one length, or of equal parts of a round, that end with iterations."""
        self.draw_kernels(r)
        slice_ns = r.choice([None, S // 10, S, 700_000_001])
        period = r.choice([S, 3 * S, 900_000_001])
        self.costs.update(slice=slice_ns, period=period, room=10**9 * GIB, hbm=10**9 * GIB, clients=10**6, preempt=0, idle=0, chunk=GIB // 8,
                          out=1, both=2, plan=0, plan_task=0, copies_clean=False, **{"in": 1})
        self.sets = self.sets[2:3] + [f"slice={'period' if slice_ns is None else f'{slice_ns}ns'}", f"period={period}ns"]

    def draw_migrations(self, r):
        """Tasks whose memory is moved before their turns; each chunk takes a whole number of nanoseconds."""
        self.draw_tasks(r)
        per_s = dict(zip(("in", "out", "both"), r.choice([
            (100, 100, 125), (100, 100, 100), (20, 20, 200), (50, 100, 100), (200, 100, 200), (50, 200, 100), (40, 80, 90)])))
        plan, plan_task, copies_clean = r.choice([0, 1000, S // 50]), r.choice([0, 0, 777, S // 100]), r.random() < 0.5
        self.costs.update(per_s, chunk=GIB // 8, hbm=r.choice([8, 9, 12]) * GIB,
                          plan=plan, plan_task=plan_task, copies_clean=copies_clean)
        for row in self.rows:
            row.update(gpus=1, memory=r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 8 * GIB]))
        self.sets += [f"migrate.{key}_bytes_per_s={n * GIB // 8}B/s" for key, n in per_s.items()]
        self.sets += [f"hbm_bytes={self.costs['hbm']}B", f"uvm.chunk_bytes={GIB // 8}B", f"migrate.plan_ns={plan}ns",
                      f"migrate.task_plan_ns={plan_task}ns", f"uvm.clean_copy={'on' if copies_clean else 'off'}",
                      "missed=0", f"early_start={r.choice(['on', 'off'])}"]

    def draw_faults(self, r):
        """A lock on memory that does not fit, and is brought in and out chunk by chunk."""
        self.draw_kernels(r)
        per_s, copies_clean = r.choice([5, 10, 50, 200]), r.random() < 0.5
        self.costs.update(quantum=r.choice([S, 5 * S, 700_000_001]), copy=S // per_s, copies_clean=copies_clean, chunk=GIB // 2,
                          hbm=r.choice([8, 9, 12]) * GIB, room=10**9 * GIB, clients=10**6)
        for row in self.rows:
            row.update(gpus=1, sync="none", memory=r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 8 * GIB]))
        self.sets = self.sets[2:3] + [
            "anti_thrash=on", f"nvshare.quantum={self.costs['quantum']}ns", f"hbm_bytes={self.costs['hbm']}B",
            f"uvm.chunk_bytes={GIB // 2}B", f"uvm.copy_bytes_per_s={per_s * GIB // 2}B/s",
            f"uvm.clean_copy={'on' if copies_clean else 'off'}"]

    def draw_tenants(self, r):
        """Jobs of unlike sizes whose memory is managed, in the driver's turns; every cost is a whole number of nanoseconds."""
        self.draw_kernels(r)
        quantum = r.choice([S // 10, S // 5, 70_000_001, S])
        switches = {key: r.choice([0, 1000, S // 100, r.randint(1, S // 50)]) for key in ("preempt", "idle")}
        self.draw_managed(r)
        self.costs.update(switches, quantum=quantum, locked="off", lookahead=r.choice([0, 0, quantum // 5, r.randint(0, quantum)]))
        self.sets += [f"slice.quantum_ns={quantum}ns", f"switch.preempt_ns={switches['preempt']}ns",
                      f"switch.preempt_full_ns={switches['preempt']}ns", f"switch.idle_ns={switches['idle']}ns",
                      f"switch.lookahead_ns={self.costs['lookahead']}ns"]

    def draw_locked(self, r):
        """As tenants, with a lock, or one while there is too much memory."""
        self.draw_tenants(r)
        self.costs.update(locked=r.choice(["on", "auto", "auto"]), lock=r.choice([S, 5 * S, 700_000_001]))
        if self.costs["locked"] == "auto":  # no lock, since all memory fits
            for row in self.rows:
                row["memory"] = self.costs["hbm"] // self.costs["chunk"] // len(self.rows) * self.costs["chunk"]
        self.sets += [f"anti_thrash={self.costs['locked']}", f"nvshare.quantum={self.costs['lock']}ns"]

    def draw_managed(self, r):
        """What faults cost, and how much memory there is for how much."""
        pages, per_s, chunk = r.choice([1, 2, 4, 8]), r.choice([20, 40, 250, 1000]), GIB // 2
        self.costs.update(pages=pages, batch_faults=r.choice([n for n in (1, 2, 4, 8) if n <= pages]), density=r.choice([510_000, 300_000, 760_000]),
                          copy=S // per_s, block=r.choice([0, 1000, 777_000]), each=r.choice([0, 10, 3_000]), lru=r.random() < 0.4,
                          copies_clean=r.random() < 0.5, hbm=r.choice([3, 4, 8, 9, 12]) * GIB, chunk=chunk, room=10**9 * GIB, clients=10**6)
        self.costs["fault"] = self.costs["block"] + self.costs["each"] + self.costs["copy"] // pages + r.choice([0, 1, 20_000, S // 1000])
        self.rows = self.rows[:6]
        sizes = r.choice([[1, 1, 2, 16], [2, 4, 6, 10, 16], [3, 5, 7, 9, 40], [1, 2, 3], [8]])
        for row in self.rows:
            one = row["kernel"] * row["kernels"]
            row.update(gpus=1, memory=r.choice(sizes) * chunk, duration=max(1, min(row["duration"], 4 * S) // one) * one)
        self.sets = self.sets[2:3] + [
            f"memory={'lru' if self.costs['lru'] else 'uvm'}", f"hbm_bytes={self.costs['hbm']}B", f"uvm.chunk_bytes={chunk}B",
            f"uvm.big_page_bytes={chunk // pages}B", f"uvm.page_bytes={chunk // pages}B", f"uvm.batch_faults={self.costs['batch_faults']}",
            f"uvm.density_ppm={self.costs['density']}", f"uvm.fault_ns={self.costs['fault']}ns", f"uvm.block_ns={self.costs['block']}ns",
            f"uvm.batch_fault_ns={self.costs['each']}ns", f"uvm.copy_bytes_per_s={per_s * chunk}B/s",
            f"uvm.clean_copy={'on' if self.costs['copies_clean'] else 'off'}"]

    def draw_beside(self, r):
        """Rates are rounded, so that ends that would meet may come in either order: none meet."""
        self.draw_sharing(r)
        for row in self.rows:
            row["submit"] += r.randint(0, S // 100)
            row["duration"] += r.randint(S // 1000, S // 100)
        for row, time in zip(self.rows, sorted(row["submit"] for row in self.rows)):
            row["submit"] = time
        cap = r.choice([100, 100, 50, 30, 70])
        self.costs["cap"] = Fraction(cap, 100)
        self.sets += [f"cap={cap}%", f"max_clients={self.costs['clients']}"]

    def draw_reserved_beside(self, r):
        self.draw_beside(r)
        self.draw_reserved(r)

    def draw_reserved_turns(self, r):
        self.draw_turns(r)
        self.draw_reserved(r)

    def draw_fair_turns(self, r):
        self.draw_reserved_turns(r)
        self.draw_fair(r)

    def draw_fair_beside(self, r):
        self.draw_reserved_beside(r)
        self.draw_fair(r)

    def draw_fair(self, r):
        """No usage is so short that it counts for less than the last bit of a priority."""
        self.sets = [its if its != "queue=easy" else "queue=fairshare" for its in self.sets]
        self.costs["half_life"] = r.choice([60, 300, 7 * 86400]) * S
        self.sets.append(f"queue_half_life={self.costs['half_life']}ns")
        for row in self.rows:
            row["user"] = r.choice(["ana", "ana", "bo", "cleo", "dan"])
            row["duration"] = max(row["duration"], S // 10)

    def draw_reserved(self, r):
        """Jobs of one GPU with limits, some of which are passed."""
        self.sets = [its if not its.startswith("queue=") else "queue=easy" for its in self.sets]
        self.costs["room"] = 8 * GIB
        self.sets[0] = f"hbm_bytes={self.costs['room']}B"
        for row in self.rows:
            row.update(gpus=1, limit=int(row["duration"] * r.choice([Fraction(1), Fraction(3, 2), Fraction(1, 2), Fraction(4)])) + 1)

    def draw_groups(self, r):
        """Groups of SMs on a device of 100. Jobs ask for whole GPUs, so that all groups are alike."""
        self.draw_beside(r)
        self.sets = self.sets[:3]
        part, unit = r.choice([50, 50, 30, 25, 100]), r.choice([1, 1, 2, 8])
        self.costs.update(part=Fraction(part, 100), unit=Fraction(unit, 100), clients=1 if part == 100 else 100 // max(unit, part // unit * unit))
        self.sets += [f"part={part}%", f"green.sms={unit}", f"green.least_sms={unit}"]

    def draw_instances(self, r):
        """Half of the profiles of a device of 100 SMs and 8 GiB."""
        self.draw_beside(r)
        self.sets = self.sets[2:3]
        layout = r.choice(["7g", "3g+3g", "3g+2g+1g+1g", "2g+2g+1g", "1g+1g+1g"])
        self.costs["layout"] = [(Fraction(INSTANCES[name][0], 100), INSTANCES[name][1] * GIB) for name in layout.split("+")]
        most = max(memory for _, memory in self.costs["layout"])
        for row in self.rows:
            row.update(gpus=1, memory=min(row["memory"], most))
        self.sets += [f"layout={layout}"]
        for node in self.nodes:
            node["device"] = "mig.ini"

    def draw_cuts(self, r):
        """GPUs that are cut for the jobs that wait."""
        self.draw_beside(r)
        self.sets, self.costs["layout"] = self.sets[2:3], None
        for node in self.nodes:
            node["device"] = "mig.ini"

    def draw_vgpus(self, r):
        """Turns of vGPUs that cost nothing to switch to."""
        self.draw_sharing(r)
        self.rows = self.rows[:12]
        most, scheduler = r.choice([1, 2, 4, 8, 10]), r.choice(["best-effort", "equal-share", "fixed-share"])
        quantum = r.choice([S // 100 * 3, S // 1000 * 7, 12_345_679])
        for row in self.rows:
            row.update(gpus=min(row["gpus"], 2 * self.width), memory=min(row["memory"], GIB // 2), duration=row["duration"] // 10 + 1)
        self.costs.update(room=8 * GIB * 2, context=0, clients=most, quantum=quantum, preempt=0, idle=0, lookahead=0,
                          lane=Turns if scheduler == "best-effort" else Strict, most=most if scheduler == "fixed-share" else None)
        self.sets = [f"hbm_bytes={self.costs['room']}B", f"queue={'backfill' if self.costs['passes'] else 'fifo'}",
                     f"vgpu.per_gpu={most}", f"vgpu.scheduler={scheduler}", f"vgpu.slice={quantum}ns"]

    def draw_kernels(self, r):
        """Jobs of kernels that are whole nanoseconds long, some more urgent than others."""
        self.draw_sharing(r)
        self.rows = self.rows[:10]
        quantum = r.choice([S // 10, S // 5, 70_000_001])
        for row in self.rows:
            kernel = r.choice([S // 100 * 4, S // 20, S // 5, 33_333_336, r.randint(S // 400, S // 8) * 4])
            kernels = r.choice([1, 2, 5])
            row["duration"] = max(1, row["duration"] // (kernel * kernels)) * kernel * kernels
            row.update({"kernel": kernel, "kernels": kernels, "gpu_ms": Fraction(kernel * kernels, 10**6), "sync": r.choice(["none", "iteration"]),
                        "priority": r.choice([0, 0, 1, 2]), "idempotent": r.choice([0, 1, 1]),
                        "class": r.choice(["realtime", "batch", "opportunistic", None])})
        self.costs.update(quantum=quantum, clients=256, rank=lambda job: (job.is_realtime, job.priority))
        self.sets.append(f"slice.quantum_ns={quantum}ns")

    def draw_levels(self, r):
        self.draw_kernels(r)
        level = r.choice([2, 3])
        self.costs["way"] = {2: "drain", 3: "save"}[level]
        self.sets.append(f"xsched.level={level}")

    def draw_ways(self, r):
        self.draw_kernels(r)
        ways = ["drain", "save", "flush", "kernel-slice", "cheapest"]  # the last as save: nothing is cheaper or sooner
        way = r.choice(ways)
        self.costs.update(way={"kernel-slice": "pieces", "cheapest": "save"}.get(way, way), pieces=r.choice([1, 2, 4]))
        for row in self.rows if way == "flush" else []:
            row["idempotent"] = 1
        self.sets += [f"chimera.preempt={way}", f"chimera.pieces={self.costs['pieces']}"]

    def draw_resets(self, r):
        self.draw_kernels(r)
        self.costs.update(way="flush", context=0, rank=lambda job: job.is_realtime, whole=lambda job: job.is_realtime)
        self.sets.append("reef.padding=off")

    def draw_slices(self, r):
        self.draw_kernels(r)
        self.costs.update(way="slice", rank=lambda job: job.is_realtime or job.priority > 0, slice=r.choice([1000, S // 100]))
        self.sets += ["gpreempt.hint=0ns", f"gpreempt.slice={self.costs['slice']}ns"]

    def draw_urgent(self, r):
        """Jobs with programs, some more urgent than others, on GPUs that stop kernels in one way."""
        self.draw_programs(r)
        self.sets = [its for its in self.sets if "timeslice" not in its and "switch" not in its]
        self.costs.update(passes=False, rank=lambda job: (job.is_realtime, job.priority))
        for row in self.rows:
            row.update({"priority": r.choice([0, 0, 1, 2]), "idempotent": r.choice([0, 1, 1]),
                        "class": r.choice(["realtime", "batch", "opportunistic", None])})

    def draw_urgent_levels(self, r):
        self.draw_urgent(r)
        level = r.choice([2, 3])
        self.costs["way"] = {2: "drain", 3: "save"}[level]
        self.sets.append(f"xsched.level={level}")

    def draw_urgent_ways(self, r):
        self.draw_urgent(r)
        way = r.choice(["drain", "save", "flush", "cheapest"])
        self.costs.update(way={"cheapest": "save"}.get(way, way))
        for row in self.rows if way == "flush" else []:
            row["idempotent"] = 1
        self.sets += [f"chimera.preempt={way}"]

    def draw_urgent_resets(self, r):
        self.draw_urgent(r)
        self.costs.update(way="flush", rank=lambda job: job.is_realtime, whole=lambda job: job.is_realtime)
        self.sets.append("reef.padding=off")

    def draw_urgent_slices(self, r):
        self.draw_urgent(r)
        self.costs.update(way="slice", rank=lambda job: job.is_realtime or job.priority > 0, slice=r.choice([1000, MS // 7, MS // 2]))
        self.sets += ["gpreempt.hint=0ns", f"gpreempt.slice={self.costs['slice']}ns"]

    def draw_lanes(self, r):
        self.draw_kernels(r)
        costs = {"room": 8 * GIB, "reserve": r.choice([0, GIB // 2]), "lanes": r.choice(["one", "many", "many"]),
                 "order": r.choice(["fifo", "srtf", "pack", "fair", "preempt"]), "passes": self.costs["passes"]}
        for row in self.rows:
            row.update(sync="iteration", fills=Fraction(1, 50), memory=r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 7 * GIB]))
            row["kept"] = row["memory"] * r.choice([0, 1, 1, 2]) // 4
        self.costs = costs
        self.sets = [f"hbm_bytes={costs['room']}B", f"salus.queue={'backfill' if costs['passes'] else 'fifo'}"] + [
            f"salus.{key}={costs[key]}" for key in ("lanes", "order")] + [f"salus.reserve={costs['reserve']}B"]

    def draw_guests(self, r, most=5):
        """Production jobs and guests, of kernels that are whole nanoseconds long."""
        self.draw_sharing(r)
        self.rows = self.rows[:most]
        quantum = r.choice([S // 10, S // 20, 70_000_001])
        for row in self.rows:
            kernel = r.choice([S // 100, S // 20, S // 5, 33_333_333, r.randint(S // 100, S // 2)])
            kernels = r.choice([1, 2, 5])
            row["duration"] = max(1, row["duration"] // (kernel * kernels)) * kernel * kernels
            row.update({"kernel": kernel, "kernels": kernels, "gpu_ms": Fraction(kernel * kernels, 10**6), "blocks": r.choice([1, 100, 5000, 30000]),
                        "sync": r.choice([None, "none", "kernel", "iteration"]),
                        "class": r.choice(["production", "opportunistic", "opportunistic", "batch", None])})
        self.costs.update(quantum=quantum, report=r.choice([S, 5 * S, S // 2, 10**6 * S]), refill=r.choice([S // 20, S // 7, S]),
                          initial=r.choice([0, 100, 20000]), profile=r.choice([1, 2, 5]), tolerance=30_000, clients=2)
        self.sets[2] = self.sets[2].replace("queue", "tgs.queue")
        self.sets += [f"slice.quantum_ns={quantum}ns"] + [f"tgs.{key}={self.costs[key]}ns" for key in ("report", "refill")] + [
            f"tgs.{key}={self.costs[key]}" for key in ("initial", "profile")]

    def draw_bystanders(self, r):
        """AntMan's jobs, of which memory is never short."""
        self.draw_guests(r, 9)
        self.sets = self.sets[2:4]
        self.sets[0] = f"antman.queue={'backfill' if self.costs['passes'] else 'fifo'}"
        self.costs.update(window=r.choice([S, 5 * S, 10 * S, 3_333_333_333]), busy=r.choice([WHOLE // 2, 800_000, 10 * WHOLE]),
                          tolerance=r.choice([0, 30_000, 200_000, WHOLE]), patience=r.choice([0, 5 * S, 600 * S]), room=10**9 * GIB)
        self.sets += ["antman.preempt=restart"] + [f"antman.{key}={self.costs[key]}ns" for key in ("window", "refill", "patience")] + [
            f"antman.{key}={self.costs[key] / 10_000}%" for key in ("busy", "tolerance")]
        for row in self.rows:  # a gang suspends no guest: that ends kernels first
            row["memory"] = 0
            if row["gpus"] > 1 and row["class"] != "opportunistic":
                row["gpus"] = 1

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
        lines = [[row["job_id"], seconds(row["submit"]), "" if self.kind in UNTIMED or "urgent" in self.kind or "untimed" in row else seconds(row["duration"]),
                  str(row["gpus"]) if row["ppm"] == WHOLE else str(row["ppm"] / WHOLE)] for row in self.rows]
        for name, key, text in (("host_tail_s", "tail", seconds), ("limit_s", "limit", seconds), ("estimate_s", "estimate", seconds),
                                ("iterations", "iterations", str), ("requests", "requests", str), ("arrival", "arrival", str), ("period_ms", "period", lambda ns: f"{ns / MS:.6f}"),
                                ("app", "program", lambda its: its[0]), ("user", "user", str), ("queue", "queue", str), ("priority", "priority", str),
                                ("num_nodes", "nodes", str), ("features", "features", "|".join),
                                ("partition", "partitions", ",".join), ("gpu_type", "types", "|".join),
                                ("mem_gib", "memory", lambda size: str(size / GIB)), ("sm_fraction", "fills", lambda part: str(float(part))),
                                ("gpu_ms", "gpu_ms", lambda time: f"{float(time):.6f}"), ("host_ms", "host", lambda ns: f"{ns / MS:.6f}"), ("kernels", "kernels", str), ("kernel_ms", "block_ns", lambda ns: f"{ns / MS:.6f}"), ("blocks", "blocks", str), ("sync", "sync", str), ("persistent_gib", "kept", lambda size: str(size / GIB)), ("working_set_gib", "working", lambda size: str(size / GIB)), ("idempotent", "idempotent", str),
                                ("class", "class", str), ("after", "after", str), ("think_s", "think", seconds)):
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
                     node.get("gpu_type"), node.get("speed", Fraction(1)),
                     (node.get("features") or "").split(",") if node.get("features") else ()) for node in self.nodes]

    def plain(self):
        return Cluster(self.plain_nodes(), self.rule, self.apart), [Job(i, row) for i, row in enumerate(self.rows)]
