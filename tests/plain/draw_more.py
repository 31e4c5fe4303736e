# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups of nodes that fail and are unlike, of queues by attained service, of links that copies share, of kernels on
SMs of their own or behind a gate, and of programs that say what they touch."""
from exact import Fraction

from cluster import WHOLE, Cluster, Job
from touches import Memory, Phase

GIB, S, MS = 2**30, 10**9, 10**6


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

    def draw_waved_blocks(self, r):
        """Kernels that have up to four times as many blocks as there are SMs, so that alone they go on in waves as well."""
        self.draw_blocks(r, sms=[self.draw_widths(r, [4, 10, 100])])

    def draw_widths(self, r, sms):
        sms = r.choice(sms)
        self.widths = [sms, r.randint(1, sms), r.randint(sms + 1, 4 * sms), r.randint(sms + 1, 4 * sms)]
        return sms

    def draw_capped_blocks(self, r):
        """As many clients as have SMs of their own, or fewer."""
        self.draw_blocks(r)
        cap, unit = r.choice([20, 25, 30, 50]), r.choice([1, 2])
        self.costs["wide"] = max(1, self.costs["sms"] * cap // 100 // unit) * unit
        self.rows = self.rows[:self.costs["sms"] // self.costs["wide"]]
        self.sets += [f"mps.cap={cap}%", f"mps.sms={unit}", f"mps.least_sms={unit}"]

    def draw_grouped_blocks(self, r):
        """Groups of SMs, for which jobs wait."""
        self.draw_blocks(r)
        sms, part, unit = self.costs["sms"], r.choice([50, 50, 30, 25, 100]), r.choice([1, 2, 4])
        self.costs["wide"] = sms if part == 100 else max(1, sms * part // 100 // unit) * unit
        self.sets += [f"part={part}%", f"green.sms={unit}", f"green.least_sms={unit}"]

    def draw_uneven_groups(self, r):
        """Groups of SMs of several widths, between which there may be room."""
        self.draw_asked_parts(r, r.choice([100, 50, 30]), r.choice([1, 2, 3]))
        self.sets += [f"part={self.costs['part'] // 10**4}%", f"green.sms={self.costs['unit']}", f"green.least_sms={self.costs['unit']}"]

    def draw_lapped_blocks(self, r):
        """Caps that lie over each other, and jobs without one, of which blocks may all do as much."""
        self.alike = r.random() < 0.5
        self.draw_asked_parts(r, r.choice([100, 100, 70, 40]), r.choice([1, 2, 3]))
        self.costs["alike"] = self.alike
        self.sets += [f"mps.cap={self.costs['part'] // 10**4}%", f"mps.sms={self.costs['unit']}", f"mps.least_sms={self.costs['unit']}"]

    def draw_pieced_blocks(self, r):
        """Caps that lie over each other, of more clients with kernels of more lengths, so that some begin in many pieces."""
        self.draw_asked_parts(r, 100, 1, rows=r.choice([6, 8]), sms=r.choice([10, 20]), parts=[r.choice([70, 80, 90]), r.choice([10, 20, 30])])
        self.sets += ["mps.cap=100%", "mps.sms=1", "mps.least_sms=1"]
        for row in self.rows:
            row["submit"] //= 8
            row["ppm"] = min(row["ppm"], 90 * 10**4)

    def draw_roomy_blocks(self, r):
        """As lapped_blocks, with blocks of which an SM holds several: as many as threads, registers and places are left for."""
        self.needs = [(r.choice([1024, 512, 512, 256, 320, 100]), r.choice([1, 1, 32, 40])) for _ in range(3)]
        self.costs["sm"] = (1024, r.choice([4 * 1024 * 256, 4 * 1024 * 40, 4 * 1024 * 40]), r.choice([32, 32, 3]))
        room = dict(zip(("threads", "register_bytes", "blocks"), self.costs["sm"]))
        sm, caps = self.costs["sm"], r.random() < 0.7
        self.draw_asked_parts(r, 100, r.choice([1, 2, 3]), times=[1, 2, 3])
        self.costs["sm"] = sm
        self.sets = [its for its in self.sets if not its.startswith("sm.")] + [f"sm.{key}={its}" for key, its in room.items()]
        self.sets += ["mps.cap=100%", f"mps.sms={self.costs['unit']}", f"mps.least_sms={self.costs['unit']}"]
        for row in self.rows:
            row["ppm"] = row["ppm"] if caps else WHOLE

    def draw_asked_parts(self, r, most, unit, times=(), rows=None, sms=None, parts=None):
        parts, sms = parts or r.sample([10, 20, 30, 50, 60], 2), sms or r.choice([4, 10, 100])
        self.widths = [max(1, sms * part // 100 // unit) * unit for part in (*parts, most)]
        self.widths += [r.choice([its // 2 or 1 for its in self.widths]), r.randint(1, sms)]
        self.widths += [its * n for its in self.widths for n in times]
        self.draw_blocks(r, sms=[sms], rows=rows)
        self.costs.update(part=most * 10**4, unit=unit)
        for row in self.rows:
            row["ppm"] = r.choice([*parts, 100]) * 10**4

    def draw_partitioned_blocks(self, r):
        """Clients of static partitions, several in each."""
        sms, chunk = r.choice([(4, 1), (10, 1), (10, 2), (100, 10), (100, 7)])
        cuts = [r.randint(1, sms // chunk) for _ in range(r.choice([1, 2, 3]))]
        while sum(cuts) > sms // chunk:
            cuts.pop()
        self.widths = [its * chunk for its in cuts]
        self.widths += [r.choice([its // 2 or 1 for its in self.widths]), r.choice([1, r.randint(1, sms)])]
        self.draw_blocks(r, sms=[sms])
        for row in self.rows:
            row["ppm"] = r.choice([WHOLE, WHOLE, WHOLE // 4])
        self.costs["cuts"] = [its * chunk for its in cuts]
        self.sets += [f"partitions={','.join(map(str, cuts))}", f"green.sms={chunk}", f"green.least_sms={chunk}"]

    def draw_between(self, r):
        """Kernels of best effort, one at a time, beside iterations or requests of a client of high priority."""
        self.draw_blocks(r, sms=[100])
        sms = self.costs["sms"]
        self.sets.remove(f"sms={sms}")  # the policy has a parameter of that name, and the device as many
        below, bound = r.choice([0, 0, sms // 2, sms // 2 + 1, sms + 1]), r.choice([30, 50, 51, 60, 100])
        self.costs.update(rank=lambda job: job.is_realtime, below=below or sms, bound=Fraction(bound, 100), lag=0, let=0)
        self.sets += [f"orion.sms={below}", f"orion.bound={bound}%", "orion.ahead=0%"]
        high = r.choice(self.rows)
        for row in self.rows:
            row.update({"class": "realtime" if row is high else r.choice(["batch", "opportunistic"]), "priority": 0})
        if r.random() < 0.5:
            high.update(requests=high.pop("iterations"), arrival="periodic", period=r.randint(MS, 40 * MS))

    def draw_waved_between(self, r):
        """As launched_ahead, with kernels that have up to four times as many blocks as there are SMs."""
        self.draw_widths(r, [100])
        self.draw_launched_ahead(r)

    def draw_launched_ahead(self, r):
        """Several kernels of best effort at a time."""
        self.draw_between(r)
        self.costs["let"] = r.choice([10_000, 25_000, 100_000, 500_000, 10**6])
        self.sets[-1] = f"orion.ahead={self.costs['let'] / 10**4}%"

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

    def draw_kernel_turns(self, r):
        """Such programs in turns that end with kernels, with room for all; some come later."""
        self.draw_touched(r)
        slice_ns, period = r.choice([None, S // 10, S // 3, 70_000_001]), r.choice([S, S // 2, 900_000_001])
        self.costs.update(slice=slice_ns, period=period, hbm=10**9 * GIB, out=1, both=2, plan=0, plan_task=0, preempt=0, idle=0,
                          lookahead=0, **{"in": 1})
        self.sets = [f"slice={'period' if slice_ns is None else f'{slice_ns}ns'}", f"period={period}ns",
                     f"hbm_bytes={10**6 * GIB}B", f"uvm.chunk_bytes={self.costs['chunk']}B", "launch.queue=1000000"]
        at = 0
        for row in self.rows:
            at += r.choice([0, r.randint(0, S)])
            row["submit"] = at

    def draw_moved_turns(self, r):
        """Such programs where memory is short, and moves before each turn."""
        self.draw_kernel_turns(r)
        per_s = dict(zip(("in", "out", "both"), r.choice([
            (100, 100, 125), (100, 100, 100), (20, 20, 200), (50, 100, 100), (200, 100, 200), (50, 200, 100), (40, 80, 90)])))
        plan, plan_task, copies_clean, early = r.choice([0, 1000, S // 50]), r.choice([0, 0, 777, S // 100]), r.random() < 0.5, r.random() < 0.5
        largest, all_bytes = (of(-(-row["program"][1].places()[1] // self.costs["chunk"]) for row in self.rows) for of in (max, sum))
        self.costs.update(per_s, plan=plan, plan_task=plan_task, copies_clean=copies_clean, early=early,
                          hbm=r.randint(largest, max(largest, all_bytes - 1)) * self.costs["chunk"])
        self.sets = self.sets[:2] + self.sets[3:] + [f"migrate.{key}_bytes_per_s={n * self.costs['chunk']}B/s" for key, n in per_s.items()]
        self.sets += [f"hbm_bytes={self.costs['hbm']}B", f"migrate.plan_ns={plan}ns", f"migrate.task_plan_ns={plan_task}ns",
                      f"uvm.clean_copy={'on' if copies_clean else 'off'}", f"early_start={'on' if early else 'off'}", "missed=0"]

    def draw_remote(self, r):
        """Tenants of a GPU with a coherent link, of which one bound holds for each chunk: the way in, or both ways."""
        self.draw_tenants(r)
        self.draw_coherent(r)

    def draw_touched_remote(self, r):
        self.draw_touched(r)
        self.draw_coherent(r)

    def draw_remote_locked(self, r):
        self.draw_locked(r)
        self.draw_coherent(r)

    def draw_coherent(self, r):
        rates = r.choice([(400, 500, 500, 5000), (1000, 250, 250, 1000), (200, 1000, 1000, 100), (500, 500, 500, 250), (1000, 1000, 1000, 500)])
        self.costs.update(zip(("remote", "in", "out", "both"), rates))
        self.costs["evicts"] = r.random() < 0.5
        self.sets += ["uvm.remote=on", f"uvm.remote_evicts={'on' if self.costs['evicts'] else 'off'}", f"uvm.remote_bytes_per_s={rates[0] * self.costs['chunk']}B/s"]
        self.sets += [f"migrate.{key}_bytes_per_s={self.costs[key] * self.costs['chunk']}B/s" for key in ("in", "out", "both")]

    def draw_predicted(self, r):
        """Tasks that touch a part of their memory, with the settings of what moves."""
        self.draw_migrations(r)
        self.sets.remove("missed=0")
        chunk, pipeline, alternate = self.costs["chunk"], r.random() < 0.6, r.choice([0, 0, 12_345, MS])
        self.costs.update(predictor=r.choice(["template", "allocation"]), spare=r.choice([0, 0, 50_000, 333_333, 1_000_000]),
                          order=r.choice(["belady", "lru"]), pipeline=pipeline, alternate=alternate,
                          missed=r.choice([0, 0, 50_000, 250_000, 1_000_000]), block=r.choice([0, 1000, 777_000]), each=r.choice([0, 10, 3_000]),
                          copy=S // r.choice([20, 40, 250, 1000]), early=r.random() < 0.6, first_touch=r.choice([0, 0, 1_000_000, 300_000, 77_777]))
        for row in self.rows:
            row["working"] = row["memory"] if r.random() < 0.4 else r.randint(1, row["memory"] // chunk) * chunk
        self.sets += [f"predictor={self.costs['predictor']}", f"spare={self.costs['spare'] / 10**4}%", f"msched.eviction={self.costs['order']}",
                      f"pipeline={'on' if pipeline else 'off'}", f"pcie.alternate_ns={alternate}ns",
                      f"early_start={'on' if self.costs['early'] else 'off'}", f"job.first_touch_ppm={self.costs['first_touch']}",
                      f"missed={self.costs['missed'] / 10**4}%", "uvm.batch_faults=1", f"uvm.big_page_bytes={chunk}B", f"uvm.page_bytes={chunk}B",
                      f"uvm.block_ns={self.costs['block']}ns", f"uvm.batch_fault_ns={self.costs['each']}ns", f"uvm.copy_bytes_per_s={S // self.costs['copy'] * chunk}B/s"]
        self.costs["fault"] = self.costs["block"] + self.costs["each"] + self.costs["copy"] + r.choice([0, 1, 20_000, MS])
        self.sets.append(f"uvm.fault_ns={self.costs['fault']}ns")

    def draw_beyond(self, r):
        """As predicted, also jobs with more memory than the GPU."""
        self.draw_predicted(r)
        for row in self.rows[:6]:
            row["memory"] = r.choice([row["memory"], 9 * GIB, 10 * GIB, 14 * GIB])
            row["working"] = row["memory"] if r.random() < 0.5 else r.randint(1, row["memory"] // self.costs["chunk"]) * self.costs["chunk"]
            row["duration"] = max(1, min(row["duration"], 4 * S) // (row["kernel"] * row["kernels"])) * row["kernel"] * row["kernels"]
        self.rows = self.rows[:6]

    def draw_moved_otherwise(self, r):
        """Such programs where more moves than their kernels touch, or other memory goes out."""
        self.draw_moved_turns(r)
        predictor, spare, order = r.choice([("template", 0, "lru"), ("allocation", 0, r.choice(["belady", "lru"])),
                                            ("template", r.choice([50_000, 333_333, 1_000_000]), r.choice(["belady", "lru"]))])
        least = max(-(-row["memory"] // self.costs["chunk"]) for row in self.rows)
        self.costs.update(predictor=predictor, spare=spare, order=order, first_touch=r.choice([0, 0, 1_000_000, 300_000]),
                          hbm=max(self.costs["hbm"], least * self.costs["chunk"]))
        self.sets = [its for its in self.sets if not its.startswith("hbm_bytes")] + [
            f"hbm_bytes={self.costs['hbm']}B", f"predictor={predictor}", f"spare={spare / 10**4}%", f"msched.eviction={order}",
            f"job.first_touch_ppm={self.costs['first_touch']}"]

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

    def draw_gangs_in_turns(self, r):
        self.draw_turns(r)
        self.draw_gangs(r)

    def draw_gangs_beside(self, r):
        self.draw_beside(r)
        self.draw_gangs(r)

    def draw_gangs_in_vgpus(self, r):
        self.draw_vgpus(r)
        self.sets = ["queue=" if its.startswith("queue=") else its for its in self.sets]
        self.draw_gangs(r)

    def draw_gangs_in_levels(self, r):
        self.draw_levels(r)
        self.draw_gangs(r)

    def draw_gangs_in_ways(self, r):
        self.draw_ways(r)
        self.draw_gangs(r)

    def draw_gangs_in_resets(self, r):
        self.draw_resets(r)
        self.draw_gangs(r)

    def draw_gangs_in_slices(self, r):
        self.draw_slices(r)
        self.draw_gangs(r)

    def draw_gangs_between(self, r):
        self.draw_launched_ahead(r) if r.random() < 0.5 else self.draw_between(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_gated(self, r):
        self.draw_gated(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_of_atoms(self, r):
        self.draw_atoms(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_in_urgent_levels(self, r):
        self.draw_urgent_levels(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_in_urgent_ways(self, r):
        self.draw_urgent_ways(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_in_urgent_resets(self, r):
        self.draw_urgent_resets(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_in_urgent_slices(self, r):
        self.draw_urgent_slices(r)
        self.draw_gangs_of_programs(r)

    def draw_gangs_of_programs(self, r):
        """Gangs, and jobs of one GPU on several GPUs: each of these again and again, later."""
        self.costs["lag"] = self.costs.get("lag", 0)
        self.costs["passes"] = r.random() < 0.5
        self.sets.append(f"queue={'backfill' if self.costs['passes'] else 'fifo'}")
        self.nodes = [{"gpus": r.choice([1, 2, 2, 3, 4])} for _ in range(r.choice([1, 1, 2, 3]))]
        last, part = self.rows[-1]["submit"], r.choice([0.2, 0.5])
        self.rows = [{**row, "job_id": f"{row['job_id']}_{n}", "submit": row["submit"] + n * r.randint(0, last + 1)}
                     | ({"after": f"{row['after']}_{n}"} if row.get("after") else {})
                     for n in range(r.choice([1, 2, 4])) for row in self.rows]
        self.rows.sort(key=lambda row: row["submit"])
        for row in self.rows:
            row["gpus"] = r.choice([2, 2, 3, 4, 5]) if r.random() < part else 1
            while not Cluster(self.plain_nodes(), self.rule).find(Job(0, row)):
                row["gpus"] -= 1

    def draw_attained_gangs(self, r):
        """As attained_turns, on nodes of unlike widths, with gangs that fit on one."""
        self.draw_attained_turns(r)
        for node in self.nodes:
            node["gpus"] = r.choice([1, 2, 3, 4, 8])
        for row in self.rows:
            row["gpus"] = min(r.choice([1, 1, 2, 3, 4, 8]), max(node["gpus"] for node in self.nodes))

    def draw_gangs_in_groups(self, r):
        self.draw_groups(r)
        self.draw_gangs(r)

    def draw_gangs(self, r):
        """Gangs and jobs that share, with limits or without, on nodes of unlike widths."""
        queue = r.choice(["easy", "easy", "easy", "fairshare", "backfill"])
        self.sets = [its if not its.startswith("queue=") else f"queue={queue}" for its in self.sets]
        self.costs.update(queue=queue, passes=True, half_life=r.choice([60, 300, 7 * 86400]) * S)
        if queue == "fairshare":
            self.sets.append(f"queue_half_life={self.costs['half_life']}ns")
        for node in self.nodes:
            node["gpus"] = r.choice([1, 2, 3, 4, 8])
        if r.random() < 0.4:
            self.rule = r.choice(["any", "spread"])
            self.sets.append(f"placement={self.rule}")
        part, limited = r.choice([0.2, 0.5, 0.8]), r.choice([0, 0.9, 1, 1])
        for row in self.rows:
            row["gpus"] = r.choice([2, 2, 3, 4, 5, 8, 12, 16]) if r.random() < part else 1
            row["user"] = r.choice(["ana", "ana", "bo", "cleo", "dan"])
            while not Cluster(self.plain_nodes(), self.rule).find(Job(0, row)):
                row["gpus"] -= 1
            if r.random() < limited:
                row["limit"] = int(row["duration"] * r.choice([Fraction(1), Fraction(3, 2), Fraction(1, 2), Fraction(4)])) + 1

    def draw_rows_of_nodes(self, r):
        """Rows over several nodes, of unlike widths or not, with what stops and coming back take."""
        self.n_nodes = len(self.nodes)
        for node in self.nodes if r.random() < 0.5 else []:
            node["gpus"] = r.choice([1, 2, 4, 8])
        for row in self.rows:
            row["gpus"] = min(row["gpus"], sum(node["gpus"] for node in self.nodes))
        self.costs = {"slice": r.choice([S, 5 * S, 3 * S + 7]), "fill": r.random() < 0.6}
        nodes = self.nodes
        self.draw_ways_back(r)
        self.nodes = nodes
        self.sets += [f"slice={self.costs['slice']}ns", f"fill={'on' if self.costs['fill'] else 'off'}"]

    def draw_failing_rows(self, r):
        """Rows of which nodes fail; jobs come from storage."""
        for node in self.nodes if r.random() < 0.5 else []:
            node["gpus"] = r.choice([1, 2, 4, 8])
        for row in self.rows:
            row["gpus"] = min(row["gpus"], sum(node["gpus"] for node in self.nodes), 2 * self.width)
        self.costs = {"slice": r.choice([S, 5 * S, 3 * S + 7]), "fill": r.random() < 0.6}
        self.draw_costs(r) if r.random() < 0.5 else None
        self.draw_mean_times(r)
        if not self.back_ns:
            self.back_ns = r.choice([0, S, r.randint(1, 9 * S)])
            self.sets.append(f"restart.resume_ns={self.back_ns}ns")
        self.sets += [f"slice={self.costs['slice']}ns", f"fill={'on' if self.costs['fill'] else 'off'}", "preempt=restart"]

    def draw_ways_back(self, r):
        """Memory that goes to the host, storage from which jobs come, or neither."""
        way = r.choice(["suspend", "suspend", "restart", "free"])
        if way == "suspend":
            gpus = [row["gpus"] for row in self.rows]
            self.draw_suspends(r)
            for row, n in zip(self.rows, gpus):
                row["gpus"] = n
        elif way == "restart":
            self.draw_costs(r)
            self.sets.append("preempt=restart")

    def draw_wide_servers(self, r):
        self.draw_servers(r, r.choice([0.1, 0.3]))

    def draw_servers(self, r, wide=0):
        """Several of Gandiva's servers, of unlike widths or not, without packing. wide: part of the jobs that need several."""
        nodes = self.nodes if len(self.nodes) > 1 else self.nodes * 2
        self.nodes = [{"gpus": r.choice([1, 2, 4, 8])} for _ in nodes] if r.random() < 0.5 else [dict(node) for node in nodes]
        for row in self.rows:
            widths = sum(node["gpus"] for node in self.nodes), max(node["gpus"] for node in self.nodes)
            row["gpus"] = r.randint(*reversed(widths)) if r.random() < wide else min(row["gpus"], widths[1])
        self.costs = {"slice": r.choice([S, 5 * S, 10 * S, 3 * S + 7])}
        self.draw_costs(r) if r.random() < 0.4 else None
        self.draw_loops(r) if r.random() < 0.3 else None
        self.rule = r.choice(["consolidate", "affinity"])
        self.sets += [f"slice={self.costs['slice']}ns", "preempt=restart", "packing=off", "migration=off", f"placement={self.rule}"]

    def draw_copied_out(self, r):
        """One node, of which stopped jobs have their memory on the host."""
        self.draw_suspends(r)
        for row in self.rows:
            row["priority"] = r.choice([0, 0, 0, 1, 2])
        self.costs = {"quantum": r.choice([S, 5 * S, 10 * S, 3 * S + 7])}
        self.sets = self.sets[1:] + [f"quantum={self.costs['quantum']}ns", "mechanism=copy"]

    def draw_moving(self, r):
        """Servers between which jobs move; coming back takes as long anywhere."""
        self.draw_servers(r)
        self.sets.remove("migration=off")

    def draw_moving_memory(self, r):
        """Servers between which jobs move with their memory."""
        self.draw_moving(r)
        self.stop_ns = self.back_ns = 0
        self.sets = [its for its in self.sets if not its.startswith(("restart", "preempt"))] + ["preempt=suspend"]
        self.draw_carried(r)

    def draw_growing(self, r):
        """Jobs that grow, with or without memory, and that move between servers or not."""
        getattr(self, r.choice(["draw_moving", "draw_moving_memory"]))(r)
        self.rows = self.rows[:15]
        for row in self.rows:
            row["gpus"] = r.choice([1, row["gpus"]])
            row["submit"] *= r.choice([1, 3])
        for row, time in zip(self.rows, sorted(row["submit"] for row in self.rows)):
            row["submit"] = time
        worth = r.choice([1_000_000, 500_000, 250_000, 0])
        self.costs.update(after=r.choice([1, S, 5 * S, 60 * S]), worth=Fraction(worth, 10**6), migrates=r.random() < 0.5)
        self.sets += ["grow=on", f"grow_after={self.costs['after']}ns", f"gang.grown_ppm={worth}",
                      f"migration={'on' if self.costs['migrates'] else 'off'}"]

    def draw_packed(self, r):
        """One server, short of GPUs, whose jobs of one GPU can be stopped at any time, which takes time."""
        self.nodes = [{"gpus": r.choice([1, 1, 2, 3])}]
        self.rows = self.rows[:r.choice([2, 3, 5, 8, 12])]
        self.draw_costs(r)
        times = [r.choice([0, 0, r.randint(0, 30 * S), r.randint(0, 6) * 5 * S]) for _ in self.rows]
        for row, time in zip(self.rows, sorted(times)):
            row.update(submit=time, gpus=1 if r.random() < 0.9 else self.nodes[0]["gpus"], memory=GIB, gpu_ms=Fraction(1, MS), kernels=1, sync="none")
            row["duration"] = r.choice([5, 20, 40, 100]) * r.choice([S, S, 900_000_001])
        self.costs = {"slice": r.choice([S, 5 * S, 10 * S, 3 * S + 7]), "quantum": r.choice([20 * MS, 50 * MS, 100 * MS + 1, S // 3]),
                      "lookahead": 0, "preempt": r.choice([0, 0, 1000, MS, 100 * MS]), "idle": r.choice([0, MS]), "context": 0, "room": 1000 * GIB}
        self.sets += [f"{key}={value}" for key, value in (
            ("slice", f"{self.costs['slice']}ns"), ("preempt", "restart"), ("packing", "on"), ("migration", "off"), ("hbm_bytes", f"{self.costs['room']}B"),
            ("context.bytes", "0B"), ("slice.quantum_ns", f"{self.costs['quantum']}ns"), ("switch.preempt_ns", f"{self.costs['preempt']}ns"),
            ("switch.preempt_full_ns", f"{self.costs['preempt']}ns"), ("switch.idle_ns", f"{self.costs['idle']}ns"), ("switch.lookahead_ns", "0ns"))]

    def draw_packed_over(self, r):
        """As these, on several servers."""
        self.draw_packed(r)
        self.nodes = [{"gpus": r.choice([1, 1, 2, 3])} for _ in range(r.choice([2, 2, 3]))]
        for row in self.rows:
            row["gpus"] = 1 if r.random() < 0.9 else max(node["gpus"] for node in self.nodes)
        self.rule = r.choice(["consolidate", "affinity"])
        self.sets.append(f"placement={self.rule}")

    def draw_packed_moving(self, r):
        """As these, between which jobs move."""
        self.draw_packed_over(r)
        self.sets.remove("migration=off")

    def draw_waved_atoms(self, r):
        """Atoms of several waves, of kernels that go on in waves alone as well."""
        self.draw_atoms(r, [self.draw_widths(r, [4, 10, 100])])
        self.sets = [its for its in self.sets if not its.startswith("lithos.atom")]
        self.costs["atom"] = r.choice([2 * MS, 5 * MS, 20 * MS, r.randint(MS, 50 * MS)])
        self.sets.append(f"lithos.atom={self.costs['atom']}ns")

    def draw_atoms(self, r, sms=(4, 10, 100)):
        """Kernels in atoms, on quotas and on SMs that others leave idle."""
        self.draw_blocks(r, sms)
        sms, part, unit, steal = self.costs["sms"], r.choice([50, 30, 70, 0]), r.choice([1, 2]), r.random() < 0.6
        owned = max(1, sms * part // 100 // unit) * unit if part else 0
        rank = lambda job: job.is_realtime or job.priority > 0
        self.costs.update(rank=rank, atom=r.choice([1000, 500_000, 5 * MS]), steal=steal, owned=lambda job: owned if rank(job) else 0)
        self.sets += [f"lithos.quota={part}%", f"lithos.atom={self.costs['atom']}ns", f"lithos.steal={'on' if steal else 'off'}",
                      f"green.sms={unit}", f"green.least_sms={unit}", "job.memory_ppm=0"]
        for row in self.rows:
            row.update({"class": r.choice(["realtime", "realtime", "batch", "opportunistic"]), "priority": 0})

    def draw_slipped_atoms(self, r):
        """Atoms that may take longer than alone, on fewer SMs."""
        self.draw_atoms(r)
        self.costs["slip"] = r.choice([100_000, 500_000, 1_000_000, r.randint(1, 1_000_000)])
        self.sets.append(f"lithos.slip={self.costs['slip'] / 10**4:.4f}%")

    def draw_carried_over(self, r):
        """Several nodes, of unlike widths or not, of which stopped jobs have their memory on the hosts."""
        nodes = self.nodes if len(self.nodes) > 1 else self.nodes * 2
        self.nodes = [{"gpus": r.choice([1, 2, 4, 8])} for _ in nodes] if r.random() < 0.5 else [dict(node) for node in nodes]
        self.rule = r.choice(["consolidate", "consolidate", "any", "spread"])
        for row in self.rows:
            while not Cluster(self.plain_nodes(), self.rule).find(Job(0, row)):
                row["gpus"] -= 1
        self.sets += ["preempt=suspend", f"placement={self.rule}"]
        self.draw_carried(r)

    def draw_homed(self, r):
        """Jobs that go home to the node of their memory, or wait for it, by priority or without."""
        self.draw_carried_over(r)
        self.sets.remove("preempt=suspend")
        if self.rule == "spread":
            self.rule = "consolidate"
            self.sets[self.sets.index("placement=spread")] = "placement=consolidate"
        for row in self.rows:
            row["priority"] = r.choice([0, 0, 0, 1, 2])
        self.costs.update(quantum=r.choice([S, 5 * S, 10 * S, 3 * S + 7]), waits=r.random() < 0.7)
        self.sets += [f"quantum={self.costs['quantum']}ns", "mechanism=copy", f"home={'on' if self.costs['waits'] else 'off'}"]

    def draw_homed_to_host(self, r):
        """As these, with one way out of several."""
        self.draw_homed(r)
        self.costs["lead"] = r.choice([1, 2, 3, 3, 10])
        self.sets = self.sets[:-2] + ["choice=host", f"lead={self.costs['lead']}"]

    def draw_homed_to_image(self, r):
        """As these, in the driver's images."""
        self.draw_homed_to_host(r)
        self.costs["image"] = [r.choice([0, 1, S // 4, S, 2 * r.randint(1, S)]) for _ in range(4)]
        self.costs["image"][0] += 1
        self.sets[self.sets.index("choice=host")] = "choice=checkpoint"
        self.sets += [f"checkpoint.{key}={cost}ns" for key, cost in zip(("out_ns", "out_ns_per_gib", "in_ns", "in_ns_per_gib"), self.costs["image"])]

    def draw_homed_resident(self, r):
        """As these, of jobs that leave their memory on the GPUs."""
        self.draw_paused_over(r)
        self.rule = "any" if self.rule == "spread" else self.rule
        self.costs.update(quantum=r.choice([S, 5 * S, 10 * S, 3 * S + 7]), lead=r.choice([1, 2, 3, 3, 10]))
        self.sets = [its for its in self.sets if not its.startswith(("preempt=", "placement="))]
        self.sets += [f"placement={self.rule}", "choice=resident", f"lead={self.costs['lead']}", f"quantum={self.costs['quantum']}ns"]

    def draw_carried(self, r):
        """Memory that goes to a host and comes back, over the network to other nodes."""
        rate = lambda: r.choice([GIB // 4, GIB, 10 * GIB, 55_365_000_000])
        self.costs.update(out=rate(), back=rate(), free=r.choice([0, 450_000, S]), net=r.choice([GIB // 8, GIB // 2, GIB, 5 * GIB]))
        for row in self.rows:
            row["memory"] = r.choice([GIB // 2, GIB, 2 * GIB, 5 * GIB])
        self.sets += [f"pcie.d2h_bytes_per_s={self.costs['out']}B/s", f"pcie.h2d_bytes_per_s={self.costs['back']}B/s",
                      f"pcie.h2d_reused_bytes_per_s={self.costs['back']}B/s", f"suspend.free_ns_per_gib={self.costs['free']}ns",
                      f"network.bytes_per_s={self.costs['net']}B/s"]

    def draw_paused(self, r):
        """Jobs that are paused and keep their memory on the GPUs of one node, where others have room beside it or not."""
        rate = lambda: r.choice([GIB // 4, GIB, 10 * GIB, 55_365_000_000])
        self.nodes = self.nodes[:1]
        self.costs.update(out=rate(), back=rate(), free=r.choice([0, 450_000, S]), stop=r.choice([0, 1, 1000, S // 100, S]),
                          room=r.choice([8, 8, 12, 1000]) * GIB, context=r.choice([0, GIB // 4, GIB]))
        for row in self.rows:
            row.update(gpus=min(row["gpus"], self.width), memory=r.choice([GIB // 2, GIB, 2 * GIB, 3 * GIB, 5 * GIB, 8 * GIB]))
        self.sets += ["preempt=pause", f"switch.idle_ns={self.costs['stop']}ns", f"hbm_bytes={self.costs['room']}B",
                      f"context.bytes={self.costs['context']}B", f"pcie.d2h_bytes_per_s={self.costs['out']}B/s",
                      f"pcie.h2d_bytes_per_s={self.costs['back']}B/s", f"pcie.h2d_reused_bytes_per_s={self.costs['back']}B/s",
                      f"suspend.free_ns_per_gib={self.costs['free']}ns"]

    def draw_left_at_once(self, r):
        """Jobs that are off their GPUs in no time and take some to come back, of one node: those that were stopped as they came
        have nothing to come back with."""
        self.nodes = self.nodes[:1]
        costs = {key: r.choice([0, S, 2 * r.randint(1, S)]) for key in ("in_ns", "in_ns_per_gib")}
        for row in self.rows:
            row.update(gpus=min(row["gpus"], self.width), memory=r.choice([GIB // 2, GIB, 2 * GIB, 5 * GIB]))
        self.back_ns = lambda job: costs["in_ns"] + costs["in_ns_per_gib"] * job.memory // GIB
        self.sets += ["preempt=checkpoint", "checkpoint.out_ns=0ns", "checkpoint.out_ns_per_gib=0ns"]
        self.sets += [f"checkpoint.{key}={cost}ns" for key, cost in costs.items()]

    def draw_left_resident(self, r):
        """Jobs that take turns and leave their memory where it is."""
        self.draw_paused(r)
        self.costs.update(quantum=r.choice([S, 5 * S, 10 * S, 3 * S + 7]), lead=r.choice([1, 2, 3, 3, 10]))
        self.sets = self.sets[1:] + ["choice=resident", f"lead={self.costs['lead']}", f"quantum={self.costs['quantum']}ns"]

    def draw_chosen(self, r):
        """As these, with a way out for each job, which is the one that costs least."""
        self.draw_left_resident(r)
        self.draw_ways_out_of_several(r)

    def draw_chosen_over(self, r):
        """As these, on several nodes."""
        self.draw_homed_resident(r)
        self.draw_ways_out_of_several(r)

    def draw_ways_out_of_several(self, r):
        self.costs["restart"] = (r.choice([1, S, 3 * S]), r.choice([S, 5 * S, 20 * S]))
        self.costs["image"] = [r.choice([0, 1, S // 4, S]) for _ in range(4)]
        self.sets = [its for its in self.sets if not its.startswith("choice=")]
        self.sets += [f"restart.{key}={cost}ns" for key, cost in zip(("stop_ns", "resume_ns"), self.costs["restart"])]
        self.sets += [f"checkpoint.{key}={cost}ns" for key, cost in zip(("out_ns", "out_ns_per_gib", "in_ns", "in_ns_per_gib"), self.costs["image"])]

    def draw_chosen_ends(self, r):
        """As these, of jobs that stop with a kernel or an iteration."""
        self.draw_chosen(r)
        self.draw_units(r)

    def draw_chosen_ends_over(self, r):
        """As these, on several nodes."""
        self.draw_chosen_over(r)
        self.draw_units(r)

    def draw_units(self, r):
        for row in self.rows:
            kernel, kernels = r.choice([S // 10, S // 2, S, r.randint(S // 400, S) * 4]), r.choice([1, 2, 5, 20])
            row["duration"] = max(1, row["duration"] // (kernel * kernels)) * kernel * kernels
            row.update(kernel=kernel, kernels=kernels, gpu_ms=Fraction(kernel * kernels, 10**6))

    def draw_paid(self, r, is_one_process=True):
        """What it takes to stop kernels and to switch. In one process nothing is switched where nothing has to be saved."""
        self.costs.update({key: r.choice([0, 1, S // 1000, S // 50, r.randint(1, S // 10)]) for key in ("save", "restore", "reset", "switch", "empty")})
        costs = self.costs
        costs["launch"] = r.choice([0, 1000, S // 1000])
        self.sets += [f"launch.kernel_ns={costs['launch']}ns"] + [f"preempt.{key}_ns={costs[key]}ns" for key in ("save", "restore", "reset")] + [
            f"switch.{key}_ns={costs[its]}ns" for key, its in (("preempt", "switch"), ("preempt_full", "switch"), ("idle", "empty"))]
        if is_one_process:
            costs.update(empty=0)

    def draw_paid_levels(self, r):
        self.draw_levels(r)
        self.costs["threshold"] = r.choice([1, 2, 3, 8])
        if r.random() < 0.4:
            self.costs["way"] = "launched"
            self.sets += ["xsched.level=1", f"xsched.threshold={self.costs['threshold']}"]
        self.draw_paid(r)

    def draw_paid_ways(self, r):
        self.draw_kernels(r)
        way = r.choice(["drain", "save", "flush", "kernel-slice", "block", "incremental", "cheapest", "cheapest"])
        costs = {"dirty": r.choice([100_000, 1_000_000, 333_333]), "slower": r.choice([0, 250_000]), "bound": r.choice([0, S // 100, S // 20, S]),
                 "point": r.choice([S // 1000, S // 50, S // 7])}
        self.costs.update(costs)
        for row in self.rows if way in ("block", "cheapest") else []:
            row["block_ns"] = r.choice([None, row["kernel"] // 4, row["kernel"] // 2, row["kernel"] // 3 + 1])
            row["sync"] = "none" if way == "cheapest" else row["sync"]  # SMs leave parts of a nanosecond
        self.sets += [f"preempt.dirty_ppm={costs['dirty']}", f"preempt.incremental_ppm={costs['slower']}",
                      f"preempt.checkpoint_ns={costs['point']}ns", f"chimera.bound={costs['bound']}ns"]
        self.costs.update(way={"kernel-slice": "pieces"}.get(way, way), pieces=r.choice([1, 2, 4]), threshold=1)
        for row in self.rows if way == "flush" else []:
            row["idempotent"] = 1
        self.sets += [f"chimera.preempt={way}", f"chimera.pieces={self.costs['pieces']}"]
        self.draw_paid(r)

    def draw_paid_resets(self, r):
        self.draw_resets(r)
        self.costs["threshold"] = r.choice([2, 2, 3, 8])
        self.sets.append(f"reef.in_flight={self.costs['threshold']}")
        self.draw_paid(r)

    def draw_paid_slices(self, r):
        self.draw_slices(r)
        self.draw_paid(r, is_one_process=False)

    def draw_paused_over(self, r):
        """As paused, on several nodes."""
        self.draw_paused(r)
        sets, costs, memory = self.sets, dict(self.costs), [row["memory"] for row in self.rows]
        self.sets, self.nodes = [], [{"gpus": self.width} for _ in range(self.n_nodes)]
        self.draw_carried_over(r)
        for row, its in zip(self.rows, memory):
            row["memory"] = its
        self.costs = {**costs, "net": self.costs["net"]}
        self.sets = sets + [f"placement={self.rule}", self.sets[-1]]

    def draw_stored(self, r):
        """As carried_over, of hosts without room."""
        self.draw_carried_over(r)
        self.nodes = self.nodes[:1] if r.random() < 0.4 else self.nodes
        for row in self.rows:
            while not Cluster(self.plain_nodes(), self.rule).find(Job(0, row)):
                row["gpus"] -= 1
        for row in self.rows:  # of unlike sizes, so that few copies go on in one instant
            row["memory"] = r.randint(500, 5000) * GIB // 1000
        self.costs["disk"] = r.choice([GIB // 4, GIB, 3 * GIB])
        self.sets.append(f"storage.bytes_per_s={self.costs['disk']}B/s")
        for node in self.nodes:
            node["host_mem"] = "1B"

    def draw_failing_packed(self, r):
        """Jobs that are packed on a server that fails."""
        self.draw_packed(r)
        self.draw_failing(r)

    def draw_failing_moving(self, r):
        """Servers between which jobs move, of which some fail."""
        self.draw_failing_servers(r)
        self.sets.remove("migration=off")

    def draw_failing_server(self, r):
        """Turns on a server that fails."""
        self.draw_server(r)
        self.draw_failing(r)

    def draw_failing_servers(self, r):
        """Turns on several servers of which some fail."""
        self.draw_servers(r, r.choice([0, 0, 0.1, 0.3]))
        self.draw_failing(r)

    def draw_failing(self, r):
        self.draw_mean_times(r)
        self.back_ns = r.choice([0, S, r.randint(1, 9 * S)])
        self.sets = [its for its in self.sets if not its.startswith("restart.resume_ns")] + [f"restart.resume_ns={self.back_ns}ns"]

    def draw_paid_programs(self, r, is_one_process=True):
        """What stops and switches take of kernels of programs. in_flight of reef counts launches, which take no time here."""
        self.draw_paid(r, is_one_process)
        for key in ("save", "restore", "reset", "switch", "empty"):
            self.costs[key] = self.costs[key] // 1000
        self.sets = [its for its in self.sets if not its.startswith(("preempt.save", "preempt.restore", "preempt.reset", "switch.", "launch.kernel"))]
        names = {"preempt.save": "save", "preempt.restore": "restore", "preempt.reset": "reset", "switch.preempt": "switch",
                 "switch.preempt_full": "switch", "switch.idle": "empty"}
        costs = {**self.costs, "empty": r.choice([0, 1000])} if is_one_process else self.costs
        self.sets += [f"{name}_ns={costs[key]}ns" for name, key in names.items()]

    def draw_urgent_paid_levels(self, r):
        self.draw_urgent_levels(r)
        self.draw_paid_programs(r)

    def draw_urgent_paid_ways(self, r):
        self.draw_urgent(r)
        way = r.choice(["drain", "save", "flush"])
        self.costs.update(way=way)
        for row in self.rows if way == "flush" else []:
            row["idempotent"] = 1
        self.sets += [f"chimera.preempt={way}"]
        self.draw_paid_programs(r)

    def draw_urgent_paid_resets(self, r):
        self.draw_urgent_resets(r)
        self.draw_paid_programs(r)

    def draw_urgent_paid_slices(self, r):
        self.draw_urgent_slices(r)
        self.draw_paid_programs(r, is_one_process=False)

    def draw_paged_parts(self, r):
        """Parts of GPUs, beside each other and beside whole ones, with managed memory that fits or does not."""
        self.draw_tenants(r)
        self.sets = [its for its in self.sets if not its.startswith(("queue=", "switch."))]
        self.costs.update(preempt=0, idle=0, lookahead=0)
        for row in self.rows:
            row.update(ppm=r.choice([100_000, 250_000, 250_000, 500_000, 600_000, WHOLE]), submit=row["submit"] % (6 * S) + r.randint(1, S))
            row.pop("fills")
        for row, time in zip(self.rows, sorted(row["submit"] for row in self.rows)):
            row["submit"] = time
