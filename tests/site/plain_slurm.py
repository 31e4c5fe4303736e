#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Slurm in plain Python, by the documentation and without a look at gsim's sources: factors as exact
fractions, GPUs, CPUs and memory counted by node, every pass from scratch. It writes what a site would have: slurm.conf
with the dumps behind it, and the log that sacct prints. tests/site/slurm.py holds gsim against it."""
import datetime
import random

from plain_slurm_accounts import draw_more
from plain_slurm_jobs import choices_of
from plain_slurm_preempt import Preemption, draw_preemption, exempt_text, level_of, lines_of
from plain_slurm_priority import Priorities

WIDE = 100000  # the first seed of wider sites
GRES = "gres/gpu"


class Site:
    """Settings drawn by a seed; `text` is the site's file."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.rng = r
        self.width = r.choice([2, 4, 8])
        self.n_nodes = r.randint(2, 6)
        self.split = self.n_nodes > 2 and r.random() < 0.6
        self.bf_interval = r.choice([30, 60, 120])
        self.bf_resolution = r.choice([1, 60, 300])
        self.bf_tests = r.choice([0, 5, 500])
        self.bf_window = r.choice([1440, 120])
        self.builtin = r.random() < 0.1
        self.period = r.choice([300, 60])
        self.half_life = r.choice([0, 3600, 604800])
        self.max_age = r.choice([3600, 604800])
        self.weight = {
            "Age": r.choice([0, 1000, 10000]),
            "Fairshare": r.choice([0, 0, 10000, 100000]),
            "JobSize": r.choice([0, 1000]),
            "Partition": r.choice([0, 1000]),
            "QOS": r.choice([0, 10000]),
        }
        self.favor_small = r.random() < 0.3
        self.fair_tree = r.random() < 0.7
        self.has_limits = r.random() < 0.8
        self.stops = r.random() < 0.2
        self.preempt = r.choice(["none", "none", "qos", "partition_prio"])
        self.mode = r.choice(["REQUEUE", "REQUEUE", "CANCEL"]) if self.preempt != "none" else "OFF"
        self.youngest = r.random() < 0.5
        self.node_weight = [r.choice([1, 1, 5]) for _ in range(self.n_nodes)]
        self.draw_hosts(random.Random(-1 - seed))
        self.draw_partitions()
        self.draw_qos()
        self.draw_accounts()
        self.draw_reservations()
        self.begin_rng = random.Random(f"begins {seed}")
        self.draw_wishes(random.Random(-1000000 - seed))
        self.draw_shards(random.Random(f"shards {seed}"))
        self.draw_bills(random.Random(f"bills {seed}"))
        draw_preemption(self, random.Random(f"preemption {seed}"))
        self.bf_most = {"user": 0, "part": 0, "start": 0}
        self.by_gpus, self.default_time, self.modes = 0, {}, {}
        self.wide_rng = random.Random(f"wide {seed}") if seed >= WIDE else None
        if self.wide_rng:
            self.draw_wide(self.wide_rng)
        draw_more(self, random.Random(f"accounts {seed}"))

    def draw_wishes(self, r):
        """What jobs may ask for beside GPUs and a partition: features of nodes, several partitions, arrays whose
        tasks run a few at a time, the end of another job; drawn apart again."""
        self.wish_rng = r
        self.features = [[f for f in ("ib", "roce", "fast") if r.random() < 0.6] for _ in range(self.n_nodes)]
        self.has_wishes = r.random() < 0.7
        self.array_plans = r.choice([20, 0, 1])

    def draw_wide(self, r):
        """Sites from seed WIDE on: four partitions that overlap, accounts in depth, modes of preemption by QOS and by
        partition, jobs without a limit of their own, further limits of backfill, jobs on numbers of nodes."""
        for name in ("long", "debug"):
            nodes = sorted(r.sample(range(self.n_nodes), r.randint(1, self.n_nodes)))
            self.partitions[name] = dict(nodes=nodes, tier=r.choice([1, 2, 3]), factor=r.choice([1, 5, 20]), qos=r.choice(["", "", "part"]),
                                         max=r.choice([3600, 86400]), weights=r.choice([None, None, (1.0, 0.25, 0.125)]))
        depth = [("quantum", "optics"), ("ions", "quantum"), ("genes", "bio"), ("mice", "genes")]
        for name, parent in depth:
            self.accounts[name] = (parent, r.randint(1, 5)) if self.has_assocs else ("root", 1)
            if self.has_assocs and r.random() < 0.3:
                kind = r.choice(["GrpTRES", "MaxJobs", "GrpJobs"])
                self.assoc_limits[name] = {kind: max(1, r.randint(1, self.width * self.n_nodes))}
        for user, (account, shares) in self.users.items():
            self.users[user] = (r.choice([account, *(name for name, _ in depth)]), shares)
        self.bf_most = {"user": r.choice([0, 0, 2]), "part": r.choice([0, 0, 3]), "start": r.choice([0, 0, 1])}
        self.by_gpus = r.choice([0, 0, 1000])
        self.default_time = {p: min(r.choice([1800, 7200]), v["max"]) for p, v in self.partitions.items() if r.random() < 0.5}
        if self.preempt != "none":
            names = self.qos if self.preempt == "qos" else self.partitions
            self.modes = {name: r.choice(["REQUEUE", "CANCEL", "OFF"]) for name in names if r.random() < 0.4}

    def draw_bills(self, r):
        """What a GPU, a CPU and a GiB weigh in each partition, None: nothing is said, and CPUs count; and each QOS' UsageFactor."""
        self.bills_most = r.random() < 0.3
        for partition in self.partitions.values():
            partition["weights"] = r.choice([None, None, (1.0, 0.25, 0), (2.5, 0.5, 0.25), (0.0, 1.0, 0), (2.0, 0.0, 0.5)])
        for qos in self.qos.values():
            qos["factor"] = r.choice([1, 1, 0.5, 2])

    def draw_shards(self, r):
        """Shards of a GPU on all nodes but the last, or none; which GPU of a node a job gets, and limits of shards."""
        self.shard_rng = r
        self.shards = r.choice([0, 0, 4, 10])
        self.least_loaded = r.random() < 0.5
        self.shard_nodes = list(range(max(1, self.n_nodes - 1))) if self.shards else []
        if self.shards and r.random() < 0.3:
            self.limited, self.unit = "gres/shard", 1

    def draw_hosts(self, r):
        """CPUs and memory of nodes, and which TRES limits name; drawn apart, so that a seed's site is its
        site of GPUs alone beside that."""
        self.host_rng = r
        self.select = r.choice(["CR_Core_Memory", "CR_Core_Memory", "CR_CPU", "CR_Memory", "CR_Board"])
        self.counts = (self.select.startswith(("CR_Core", "CR_CPU")), "Memory" in self.select)
        self.room = (self.width, self.width * 8, self.width * 64 * 1024)  # GPUs, CPUs, MiB of a node
        self.limited = r.choice([GRES, GRES, "cpu", "mem", GRES + ":a100"])
        self.unit = {"cpu": 8, "mem": 64 * 1024}.get(self.limited, 1)

    def draw_partitions(self):
        r, nodes = self.rng, list(range(self.n_nodes))
        half = nodes[: self.n_nodes // 2]
        self.partitions = {"gpu": dict(nodes=nodes, tier=1, factor=r.choice([1, 10]), qos="", max=86400)}
        self.partitions["short"] = dict(
            nodes=half if self.split else nodes, tier=r.choice([1, 2]), factor=r.choice([1, 5]),
            qos=r.choice(["", "part"]), max=7200)

    def draw_qos(self):
        r = self.rng
        self.qos = {
            "normal": dict(priority=10, preempt="", limits={}),
            "high": dict(priority=r.choice([10, 100]), preempt="normal,low", limits={}),
            "low": dict(priority=0, preempt="", limits={}),
            "part": dict(priority=0, preempt="", limits={}),
        }
        kinds = ["GrpJobs", "GrpTRES", "GrpTRESRunMins", "MaxJobsPU", "MaxTRESPU", "MaxJobsPA", "MaxTRESPA"]
        for name in self.qos:
            for kind in r.sample(kinds, r.choice([0, 1, 2])):
                self.qos[name]["limits"][kind] = self.draw_limit(kind)
            self.qos[name]["over"] = r.random() < 0.2

    def draw_limit(self, kind):
        gpus = self.width * self.n_nodes
        if "Jobs" in kind:
            return self.rng.randint(1, 6)
        if kind == "GrpTRESRunMins":
            return self.rng.randint(gpus * 20, gpus * 200)
        return self.rng.randint(max(1, gpus // 4), gpus)

    def draw_accounts(self):
        r = self.rng
        self.has_assocs = r.random() < 0.8
        self.accounts = {"phys": ("root", r.randint(1, 5)), "bio": ("root", r.randint(1, 5)),
                         "optics": ("phys", r.randint(1, 5)), "lasers": ("phys", r.randint(1, 5))}
        if not self.has_assocs:  # without a tree all accounts are below the root, with a share each
            self.accounts = {a: ("root", 1) for a in self.accounts}
        self.users = {}
        for i in range(r.randint(3, 8)):
            account = r.choice(["bio", "optics", "lasers"])
            self.users[f"u{i}"] = (account, r.randint(1, 3) if self.has_assocs else 1)
        self.assoc_limits = {}
        for name in list(self.accounts) + list(self.users):
            if self.has_assocs and r.random() < 0.3:
                kind = r.choice(["GrpTRES", "MaxJobs", "GrpJobs"])
                self.assoc_limits[name] = {kind: self.draw_limit(kind)}

    def draw_reservations(self):
        r = self.rng
        self.reservations = []
        for i in range(r.choice([0, 0, 1, 2])):
            start = r.randint(600, 20000)
            nodes = r.sample(range(self.n_nodes), r.randint(1, self.n_nodes))
            self.reservations.append(dict(name=f"r{i}", start=start, end=start + r.randint(600, 7200),
                                          nodes=sorted(nodes), users=r.choice([[], ["u0"]])))

    def clock(self, seconds):
        return (datetime.datetime(2024, 5, 1) + datetime.timedelta(seconds=seconds)).isoformat()

    def text(self):
        out = ["# made by tests/site/plain_slurm.py", "ClusterName=plain", "SlurmctldHost=head",
               "SchedulerType=sched/" + ("builtin" if self.builtin else "backfill"),
               f"SchedulerParameters=bf_interval={self.bf_interval},bf_resolution={self.bf_resolution},"
               f"bf_max_job_test={self.bf_tests},bf_window={self.bf_window}"
               + (f",bf_max_job_array_resv={self.array_plans}" if self.array_plans != 20 else "")
               + "".join(f",bf_max_job_{what}={most}" for what, most in self.bf_most.items() if most)
               + (f",bf_min_age_reserve={self.min_age}" if self.min_age else "")
               + (f",bf_min_prio_reserve={self.min_priority}" if self.min_priority else "")
               + (",assoc_limit_stop" if self.stops else "")
               + (",preempt_youngest_first" if self.youngest and not self.strict_order else ""),
               "PriorityType=priority/multifactor", f"PriorityCalcPeriod={self.period // 60}",
               f"PriorityDecayHalfLife={self.half_life // 3600 // 24}-{self.half_life // 3600 % 24}",
               f"PriorityMaxAge=0-{self.max_age // 3600}",
               f"PriorityFavorSmall={'YES' if self.favor_small else 'NO'}",
               f"PriorityFlags={'FAIR_TREE' if self.fair_tree else 'NO_FAIR_TREE'}" + (",MAX_TRES" if self.bills_most else ""),
               *lines_of(self),
               f"FairShareDampeningFactor={self.dampening}", f"JobRequeue={int(self.requeues)}",
               "AccountingStorageEnforce=associations" + (",limits,qos" if self.has_limits else ""),
               "GresTypes=gpu", "SelectType=select/cons_tres", f"SelectTypeParameters={self.select}" + (",LL_SHARED_GRES" if self.shards and self.least_loaded else "")]
        out += [f"PriorityWeight{k}={v}" for k, v in self.weight.items()]
        out += [f"PriorityWeightTRES=GRES/gpu={self.by_gpus}"] if self.by_gpus else []
        out += ["NodeName=login NodeAddr=10.0.0.1"]
        out += [f"NodeName=n{i:02} \\\n    CPUs={self.room[1]} RealMemory={self.room[2]} Gres=gpu:a100:{self.width}"
                + (f",shard:{self.width * self.shards}" if i in self.shard_nodes else "") + f" Weight={w}"
                + (f" Feature={','.join(self.features[i])}" if self.features[i] else "")
                for i, w in enumerate(self.node_weight)]
        for name, p in self.partitions.items():
            nodes = ",".join(f"n{i:02}" for i in p["nodes"])
            out.append(f"PartitionName={name} Nodes={nodes} Default={'YES' if name == 'gpu' else 'NO'} "
                       f"MaxTime={p['max'] // 60} "
                       + (f"Priority={p['priority']}" if p["priority"] else f"PriorityTier={p['tier']} PriorityJobFactor={p['factor']}")
                       + (f" QOS={p['qos']}" if p["qos"] else "")
                       + (f" DefaultTime={self.default_time[name] // 60}" if name in self.default_time else "")
                       + (f" PreemptMode={self.modes[name]}" if self.preempt == "partition_prio" and name in self.modes else "")
                       + (' TRESBillingWeights="CPU={1},Mem={2}G,GRES/gpu={0}"'.format(*p["weights"]) if p["weights"] else ""))
        return "\n".join(out + self.dumps()) + "\n"

    def dumps(self):
        kinds = ["GrpJobs", "GrpTRES", "GrpTRESRunMins", "MaxJobsPU", "MaxTRESPU", "MaxJobsPA", "MaxTRESPA"]

        def cell(limits, kind):
            if kind not in limits:
                return ""
            return f"node=9999,{self.limited}={limits[kind] * self.unit}" if "TRES" in kind else str(limits[kind])

        out = ["", "Name|Priority|Preempt|PreemptMode|PreemptExemptTime|Flags|UsageFactor|" + "|".join(kinds)]
        for name, q in self.qos.items():
            flags = ",".join(["OverPartQOS"] * q["over"] + ["NoReserve"] * q["no_reserve"])
            out.append(f"{name}|{q['priority']}|{q['preempt']}|{self.modes.get(name, 'cluster').lower() if self.preempt == 'qos' else 'cluster'}|{exempt_text(q['exempt'])}|{flags}|"
                       f"{q['factor']:.6f}|" + "|".join(cell(q["limits"], k) for k in kinds))
        if self.has_assocs:
            kinds = ["GrpJobs", "GrpTRES", "MaxJobs"]
            out += ["", "Cluster|Account|User|Partition|Share|ParentName|" + "|".join(kinds)]
            rows = [("root", "", "", 1)] + [(a, "", p, s) for a, (p, s) in self.accounts.items()]
            rows += [(account, name, "", shares) for name, (_, account, shares) in self.assocs.items()]
            for account, name, parent, shares in rows:
                limits = self.assoc_limits.get(name or account, {})
                out.append(f"plain|{account}|{name.split('@')[0]}||{shares}|{parent}|"
                           + "|".join(cell(limits, k) for k in kinds))
        for resv in self.reservations:
            users, accounts = (",".join(resv[names]) or "(null)" for names in ("users", "accounts"))
            out += ["", f"ReservationName={resv['name']} StartTime={self.clock(resv['start'])} "
                    f"EndTime={self.clock(resv['end'])}", "   Nodes="
                    + ",".join(f"n{i:02}" for i in resv["nodes"]) + " Flags=MAINT,SPEC_NODES",
                    f"   Users={users} Accounts={accounts} State=INACTIVE"]
        return out


class Plain(Preemption, Priorities):
    def __init__(self, site, jobs):
        self.site, self.jobs = site, jobs
        self.pending, self.running = [], []
        # by the time now and a later one: the jobs that still run, and the room beside them; "now": that room now
        self.foreseen = {}
        self.now = 0
        self.kinds, self.known = [], None
        self.usage = {}  # by account or user, billing seconds
        self.usage_at = 0
        self.factors = {}
        self.rank(0)

    def catch_up(self):
        """Every end of a period up to now: usage decays, factors and priorities are computed."""
        period, changed = self.site.period, False
        while self.ticked + period <= self.now:
            self.ticked += period
            self.charge(self.ticked)
            if self.site.half_life:
                decay = 2 ** (-period / self.site.half_life)
                self.usage = {k: v * decay for k, v in self.usage.items()}
            changed = True
        if changed and (self.site.weight["Age"] or self.site.weight["Fairshare"]):
            self.rank(self.ticked)
            for job in self.pending:
                self.prioritise(job)
            return True
        return False

    ticked = 0

    def ways(self, job, partition):
        """The nodes that the job may have in a partition, once for each choice of its features."""
        by_choice = {}
        for n in self.site.partitions[partition]["nodes"]:
            for c, may in enumerate(choices_of(job["features"], self.site.features[n])):
                by_choice.setdefault(c, []).extend([n] if may else [])
        return [by_choice[c] for c in sorted(by_choice)]

    def enter(self, job):
        """Lists the ways of a job by partition: those whose MaxTime and nodes would let it run."""
        empty, alone = {n: self.site.room for n in range(self.site.n_nodes)}, len(job["named"]) == 1
        job["ways"] = {}
        for p in job["named"]:
            ways = self.ways(job, p)
            if not (alone and len(ways) == 1):
                ways = [w for w in ways if sum(self.had_of(job, n, empty[n], []) for n in w) >= job["gpus"]]
                ways = [w for w in ways if not job["lies_on"] or self.choose(job, {n: self.had_of(job, n, empty[n], []) for n in w})]
                if job["limit"] > self.site.partitions[p]["max"]:
                    ways = []
            if ways:
                job["ways"][p] = ways
        if not job["ways"]:
            job["ways"] = {job["named"][0]: [sorted({n for w in self.ways(job, job["named"][0]) for n in w})]}
        job["eligible"] = self.now
        self.prioritise(job)
        self.pending.append(job)

    def prioritise(self, job):
        job["priority"] = {p: self.priority(job, p) for p in job["ways"]}

    def order(self):
        """Jobs by partition: each that a job may run in is an entry of its own."""
        tier = {p: v["tier"] for p, v in self.site.partitions.items()}
        entries = [(job, p) for job in self.pending for p in job["ways"]]
        level = {q: level_of(self.site, q) if self.site.preempt == "qos" else 0 for q in self.site.qos}
        return sorted(entries, key=lambda e: (-level[e[0]["qos"]], -tier[e[1]], -e[0]["priority"][e[1]], e[0]["index"], e[0]["named"].index(e[1])))

    def array_lets(self, job):
        return not job["array"] or sum(j["array"] == job["array"] for j in self.running) < job["at_once"]

    # --- limits
    def counted(self, kind, jobs):
        if "Jobs" in kind:
            return len(jobs)
        if kind == "GrpTRESRunMins":
            # of _handle_tres_run_secs in priority_multifactor.c: the time that has passed is taken off each period
            tick = self.now // self.site.period * self.site.period
            return sum(self.amount(j) * max(0, j["start"] + j["limit"] - max(tick, j["start"])) for j in jobs) // 60 * 60
        return sum(self.amount(j) for j in jobs)

    def amount(self, job):
        name = {"cpu": "cpus", "mem": "mem", "gres/shard": "part"}.get(self.site.limited, "gpus")
        return 0 if name == "gpus" and job["part"] else job[name]

    def asks(self, kind, job):
        if "Jobs" in kind:
            return 1
        if ":" in self.site.limited and not job["type"]:
            return 0  # a limit of a type is asked of jobs that name the type
        return self.amount(job) * (job["limit"] if kind == "GrpTRESRunMins" else 1)

    def room(self, kind, job, most, jobs):
        most = most * 60 if kind == "GrpTRESRunMins" else most
        most = most * self.site.unit if "TRES" in kind else most
        wants = self.asks(kind, job)
        return wants == 0 or wants > most or self.counted(kind, jobs) + wants <= most

    def qos_of(self, job):
        part, own = self.site.partitions[job["partition"]]["qos"], job["qos"]
        if not part or part == own:
            return [own]
        both = [q for q in ([own, part] if self.site.qos[own]["over"] else [part, own]) if q]
        return both[:1] if len(set(both)) == 1 else both

    def limits_let(self, job, part=""):
        """part: only of the limits whose kind has it in its name, "Jobs" or "TRES"."""
        site = self.site
        if not site.has_limits:
            return True
        for kind in [kind for kind in self.kinds_of_limits() if part in kind]:
            of = [q for q in self.qos_of(job) if kind in site.qos[q]["limits"]]
            if of:
                jobs = [j for j in self.running if of[0] in self.qos_of(j)]
                if kind.endswith("PU"):
                    jobs = [j for j in jobs if j["user"] == job["user"]]
                if kind.endswith("PA"):
                    jobs = [j for j in jobs if j["account"] == job["account"]]
                if not self.room(kind, job, site.qos[of[0]]["limits"][kind], jobs):
                    return False
            elif not self.assocs_let(kind, job):
                return False
        return True

    def kinds_of_limits(self):
        """Those that some QOS or association has, in the order in which they are looked at."""
        if not self.kinds:
            its = {kind for qos in self.site.qos.values() for kind in qos["limits"]}
            its |= {"MaxJobsPU" if kind == "MaxJobs" else kind for limits in self.site.assoc_limits.values() for kind in limits}
            kinds = ["GrpJobs", "GrpTRES", "GrpTRESRunMins", "MaxJobsPU", "MaxTRESPU", "MaxJobsPA", "MaxTRESPA"]
            self.kinds = [kind for kind in kinds if kind in its] or ["GrpJobs"]
        return self.kinds

    def assocs_let(self, kind, job):
        for name in self.chain(job) if self.site.assoc_limits else []:
            limits = self.site.assoc_limits.get(name, {})
            if kind.startswith("Grp") and kind in limits:
                jobs = [j for j in self.running if name in self.chain(j)]
                if not self.room(kind, job, limits[kind], jobs):
                    return False
            # of acct_policy.c: not where a QOS of the job has MaxJobsPA
            if kind == "MaxJobsPU" and "MaxJobs" in limits and not any("MaxJobsPA" in self.site.qos[q]["limits"] for q in self.qos_of(job)):
                jobs = [j for j in self.running if self.chain(j)[0] == self.chain(job)[0]]
                return self.room(kind, job, limits["MaxJobs"], jobs)
        return True

    # --- nodes
    def is_clear(self, job, node, at, planned):
        """Whether no window of the node meets the job's time, if it starts then."""
        last = at + self.tested_limit(job, planned)
        for start, end in (planned or {}).get(node, ()):
            # of backfill.c: a job that would end as a plan begins does not start before it
            if (start < last or start == last and at == self.now) and at < end:
                return False
        for r in self.site.reservations:
            may_enter = job["user"] in r["users"] or job["account"] in r["accounts"]
            if r["start"] < last and at < r["end"] and node in r["nodes"] and not may_enter:
                return False
        return True

    def tested_limit(self, job, planned):
        """Backfill tests a job whose QOS has NoReserve as one of a minute, where any job may be preempted."""
        return 60 if planned is not None and self.is_standby(job) and self.site.mode != "OFF" else job["limit"]

    def is_standby(self, job):
        return self.site.qos[job["qos"]]["no_reserve"]

    def choose(self, job, free):
        """Nodes and GPUs of each, from the GPUs that could be had (by node)."""
        site, left, chosen = self.site, job["gpus"], []
        if job["lies_on"]:
            return self.choose_evenly(job, free)
        while left > site.width or (left == site.width and chosen):
            whole = [n for n in free if free[n] == site.width and n not in dict(chosen)]
            if not whole:
                return None
            node = min(whole, key=lambda n: (site.node_weight[n], n))
            chosen.append((node, site.width))
            left -= site.width
        if left:
            some = [n for n in free if free[n] >= left and n not in dict(chosen)]
            if not some:
                return None
            chosen.append((min(some, key=lambda n: (site.node_weight[n], free[n], n)), left))
        return chosen

    def choose_evenly(self, job, free):
        """As many nodes as the job asked for, the larger parts first."""
        chosen, (each, larger) = [], divmod(job["gpus"], job["lies_on"])
        for i in range(job["lies_on"]):
            part = each + (i < larger)
            some = [n for n in free if free[n] >= part and n not in dict(chosen)]
            if not some:
                return None
            chosen.append((min(some, key=lambda n: (self.site.node_weight[n], free[n], n)), part))
        return chosen

    def add(self, room, job, gpus, sign):
        """A room of GPUs, CPUs and MiB, and what the job has on that number of GPUs; GPUs in shards are counted apart."""
        each = (0 if job["part"] else 1, job["cpus"] // job["gpus"], job["mem"] // job["gpus"])
        return tuple(has + sign * gpus * part for has, part in zip(room, each))

    def had(self, job, room):
        """GPUs that the job could have of a room."""
        most = room[0]
        if self.site.counts[0]:
            most = min(most, room[1] // (job["cpus"] // job["gpus"]))
        if self.site.counts[1]:
            most = min(most, room[2] // (job["mem"] // job["gpus"]))
        return most

    def in_use(self, node, jobs):
        """By GPU of the node: None where a job has it as a whole, else how many of its shards are in use by these jobs."""
        use = [0] * self.site.width
        for job in jobs:
            for gpu in job["at"].get(node, []):
                use[gpu] = use[gpu] + job["part"] if job["part"] else None
        return use

    def free_by(self, jobs):
        """The room of each node beside these jobs."""
        free = {n: self.site.room for n in range(self.site.n_nodes)}
        for job in jobs:
            for node, gpus in job["on"]:
                free[node] = self.add(free[node], job, gpus, -1)
        for node in self.site.shard_nodes:
            shared = sum(bool(use) for use in self.in_use(node, jobs))
            free[node] = (free[node][0] - shared, *free[node][1:])
        return free

    def free_now(self):
        if "now" not in self.foreseen:
            self.foreseen["now"] = self.free_by(self.running)
        return self.foreseen["now"]

    def had_of(self, job, node, room, jobs):
        """As `had` of a node beside these jobs: a job with shards could have a GPU of which others have shards, too, or
        one of the free ones; the free ones, and one, are what it is said to have."""
        if not job["part"]:
            return self.had(job, room)
        if node not in self.site.shard_nodes:
            return 0
        has_room = room[0] > 0 or any(use and use + job["part"] <= self.site.shards for use in self.in_use(node, jobs))
        return 1 + room[0] if has_room and self.had(job, (1, *room[1:])) else 0

    def pick(self, job, node):
        """Which GPUs of a node the job gets: the first ones that are free; for shards the first with room, or the one of
        which the fewest are in use."""
        use = self.in_use(node, self.running)
        if not job["part"]:
            return [g for g in range(self.site.width) if use[g] == 0]
        fit = [g for g in range(self.site.width) if use[g] is not None and use[g] + job["part"] <= self.site.shards]
        return sorted(fit, key=lambda g: use[g] if self.site.least_loaded else 0)

    def usable(self, job, free, closed, jobs=None):
        beside = self.running if jobs is None else jobs
        had = {n: self.had_of(job, n, free[n], beside) for n in job["nodes"] if n not in closed}
        return {n: gpus for n, gpus in had.items() if gpus and self.is_clear(job, n, self.now, None)}

    def start(self, job, chosen):
        self.charge(self.now)
        self.foreseen = {}
        job.update(start=self.now, on=chosen, at={n: self.pick(job, n)[:gpus] for n, gpus in chosen})
        if "first" not in job:
            job["first"] = self.now
            self.begun.append(job)
        self.pending.remove(job)
        self.running.append(job)
        self.changed = True

    def stop(self, job):
        self.foreseen = {}
        self.charge(self.now)
        self.running.remove(job)
        self.changed = True

    # --- the two schedulers
    def main_pass(self):
        blocked, closed = set(), set()
        for job, partition in self.order():
            nodes = set(self.site.partitions[partition]["nodes"])
            if partition in blocked or job in self.running or not self.array_lets(job):
                continue
            job["partition"] = partition
            if not self.limits_let(job):
                if self.site.stops:
                    blocked.add(partition)
                    closed |= nodes
                continue
            if self.starts(job, closed):
                continue
            free = {n: self.had_of(job, n, f, self.running) for n, f in self.free_now().items() if n not in closed}
            if not (self.site.reservations and any(self.choose(job, {n: free[n] for n in w if n in free})
                                                   for w in job["ways"][partition])):
                blocked.add(partition)
                closed |= nodes

    def starts(self, job, closed):
        for way in (self.first_fit, self.preempt):
            for job["nodes"] in job["ways"][job["partition"]]:
                chosen = way(job, closed)
                if chosen:
                    self.start(job, chosen)
                    return True
        return False

    def first_fit(self, job, closed):
        return self.choose(job, self.usable(job, self.free_now(), closed))

    def backfill(self):
        site, planned, tests, starts, of_array, had, done = self.site, {}, 0, 0, {}, {}, set()
        step = site.bf_resolution
        self.changed = False
        for job, partition in self.order():
            if not site.shards and not any(room[0] for room in self.free_now().values()):
                break
            if job in self.running or not self.array_lets(job) or (job["array"], partition) in done:
                continue
            job["partition"] = partition
            if not self.limits_let(job, "Jobs"):
                continue
            if (site.bf_tests and tests == site.bf_tests) or (site.bf_most["start"] and starts == site.bf_most["start"]):
                break
            if self.has_had_enough(had, job):
                continue
            tests += 1
            # of an array no further task is looked at, but behind one that starts, or has a plan that is not the last
            own = {(job["array"], partition)} if job["array"] else set()
            done |= own
            at, chosen = self.earliest_way(job, planned)
            if at is None or not self.limits_let(job, "TRES"):
                continue
            if at == self.now:
                self.start(job, chosen)
                starts += 1
                done -= own
            elif (not self.is_standby(job) and self.now - job["eligible"] >= site.min_age
                  and job["priority"][partition] >= site.min_priority):
                of_array[job["array"]] = of_array.get(job["array"], 0) + 1
                if job["array"] and of_array[job["array"]] > site.array_plans:
                    continue
                if of_array[job["array"]] < site.array_plans:
                    done -= own
                begin = max(at // step * step, self.now)
                end = max((at + job["limit"]) // step * step, begin + step)
                for node, _ in chosen:
                    planned.setdefault(node, []).append((begin, end))

    def has_had_enough(self, had, job):
        """Counts a look at a job of this user, in this partition; more than so many of either there are not in a pass."""
        keys = [("part", job["partition"]), ("user", job["user"])]
        if any(0 < self.site.bf_most[key[0]] <= had.get(key, 0) for key in keys):
            return True
        had.update({key: had.get(key, 0) + 1 for key in keys})
        return False

    def earliest_way(self, job, planned):
        best = (None, None)
        for job["nodes"] in job["ways"][job["partition"]]:
            at, chosen = self.earliest(job, planned)
            if at is not None and (best[0] is None or at < best[0]):
                best = (at, chosen)
        return best

    def end_of(self, job):
        """When a running job is thought to end: at its limit, or soon."""
        end = job["start"] + job["limit"]
        return end if end > self.now else self.now + self.site.bf_resolution

    def earliest(self, job, planned):
        site = self.site
        times = {self.now} | {w[1] for ws in planned.values() for w in ws} | {r["end"] for r in site.reservations}
        ends = [(self.end_of(other), other) for other in self.running]
        times |= {end for end, _ in ends}
        for at in sorted(t for t in times if self.now <= t <= self.now + site.bf_window * 60):
            if (self.now, at) not in self.foreseen:
                rest = [other for end, other in ends if end > at]
                self.foreseen[self.now, at] = rest, self.free_by(rest)
            free, (rest, rooms) = {}, self.foreseen[self.now, at]
            for node in job["nodes"]:
                if self.is_clear(job, node, at, planned):
                    free[node] = self.had_of(job, node, rooms[node], rest)
            chosen = self.choose(job, free)
            if chosen:
                return at, chosen
        return None, None

    # --- time
    def run(self):
        site = self.site
        arrivals = sorted([j for j in self.jobs if not j["after"]], key=lambda j: (j["submit"], j["index"]))
        edges = sorted({t for r in site.reservations for t in (r["start"], r["end"])})
        self.changed, self.requeued, self.ended, self.begun = False, [], [], []
        while arrivals or self.pending or self.running:
            self.now = self.next_time(arrivals, edges)
            self.instant(arrivals, edges)
        return self.jobs

    def next_time(self, arrivals, edges):
        site, times = self.site, [j["start"] + j["run"] for j in self.running]
        times += [arrivals[0]["submit"]] if arrivals else []
        if self.pending:
            times.append(self.now // site.period * site.period + site.period)
            times.append(self.now // site.bf_interval * site.bf_interval + site.bf_interval)
            times += [e for e in [*edges, *self.ends_of_exemption()] if e > self.now]
        return min(times)

    def fail(self):
        """What nodes lose at this instant: no node of these fails."""
        return False

    def instant(self, arrivals, edges):
        due = self.catch_up() or self.now in edges or self.now in self.ends_of_exemption()
        self.changed |= due
        for job in [j for j in self.running if j["start"] + j["run"] == self.now]:
            self.stop(job)
            job["end"] = self.now
            self.ended.append(job)
            due = True
        due |= self.fail()
        due |= self.arrive(arrivals)
        is_first = True
        while due or is_first:
            self.over = False
            if due:
                self.main_pass()
            if (is_first and self.changed and self.pending and not self.site.builtin
                    and self.now % self.site.bf_interval == 0):
                self.backfill()
            is_first = False
            due = self.over or bool(self.requeued)
            for job in self.requeued:
                self.enter(job)
                self.changed = True
            self.requeued = []
            due |= self.arrive(arrivals)

    def arrive(self, arrivals):
        """Takes in who is submitted now; those that come after a job that has ended, or begun, are, if their time
        has come. After a begin and some minutes a job is submitted then, though it was asked for later."""
        for job in self.jobs if self.begun or self.ended else []:
            if job["after"] and job["after"] in (self.begun if job.get("is_begin") else self.ended):
                arrivals.append(job)
                job["submit"] = self.now + 60 * job["minutes"] if job["minutes"] else max(job["submit"], self.now)
                job["asked"] = min(job["asked"], job["submit"])
        arrivals.sort(key=lambda j: (j["submit"], j["index"]))
        self.ended, self.begun, found = [], [], False
        while arrivals and arrivals[0]["submit"] == self.now:
            self.enter(arrivals.pop(0))
            found = self.changed = True
        return found
