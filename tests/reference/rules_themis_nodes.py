# SPDX-License-Identifier: GPL-3.0-or-later
"""Themis where more happens than jobs that come and end: nodes fail, jobs come after others, change their model while they run,
pay for another number of GPUs, and run on GPUs of unlike types. Jobs are on one node, or have a GPU each on nodes of one."""
import math

from outages import SEED, Node, kept
from rules_themis import Lots, auction, value

SLACK = 1e-4  # stops wait for the end of an iteration, of some us


class Job:
    """parts: the work of each, in s alone with all GPUs on the first type, and the pace by type and GPUs."""
    def __init__(self, drawn):
        self.__dict__.update(drawn, done=0.0, has=0, had=0, until=0.0, node=None, left_on=None, saved=0.0, goes=0.0, crowd=None, end=None)
        self.work = sum(work for work, _ in self.parts)

    def pace(self, k, kinds=None):
        """Of the part that it is in; it may be on any GPU where kinds, of all GPUs, are given."""
        left = self.done
        for work, by_kind in self.parts:
            if left < work - 1e-9:
                break
            left -= work
        if k == 0 or not kinds:
            return by_kind[self.node.kind][k] if k else 0.0
        return sum(by_kind[kind][k] for kind in kinds) / len(kinds)

    def ends_at(self, now):
        at, before = max(now, self.goes), 0.0
        for work, by_kind in self.parts:
            at += max(0.0, work - max(0.0, self.done - before)) / by_kind[self.node.kind][self.has]
            before += work
        return at

    def run(self, now, then):
        span = then - max(now, self.goes)
        while span > 1e-12 and self.done < self.work - 1e-9:
            before = left = 0.0
            for work, by_kind in self.parts:
                before += work
                left = before - self.done
                if left > 1e-9:
                    break
            step = min(span, left / by_kind[self.node.kind][self.has])
            self.done += step * by_kind[self.node.kind][self.has]
            span -= step

    def take_off(self, is_stored):
        self.saved = self.done if is_stored else self.saved
        self.had, self.left_on = self.has, None if is_stored else self.node
        self.node.idle += self.has
        self.has, self.node = 0, None

    def put(self, node, k, now):
        self.goes = now + (self.rescale if self.had not in (0, k) else 0)
        self.has, self.node, self.left_on = k, node, None
        node.idle -= k

    def fail(self, now, every):
        """A job that loses its GPUs comes back from storage, if it has a checkpoint there, and has had as many GPUs as before."""
        self.done = self.saved = kept(self.done, self.saved, every)
        if self.has:
            had = self.has if now >= self.goes else self.had
            self.take_off(False)
            self.had = had
        self.had = self.had if self.done else 0
        self.left_on = None


class Walk:
    def __init__(self, jobs, nodes, fairness, lease, every, is_stored):
        self.is_stored, self.jobs, self.nodes, self.lease, self.every, self.fairness = is_stored, jobs, nodes, lease, every, fairness
        self.kinds = [node.kind for node in nodes for _ in range(node.gpus)]
        self.now, self.crowd, self.active, self.lots = 0.0, 0.0, [], Lots(SEED, "themis")

    def submit_of(self, job):
        """When it comes; never: not before another one has ended."""
        if job.after is None:
            return job.submit
        end = self.jobs[job.after].end
        return math.inf if end is None else end + job.think

    def go(self):
        coming = list(self.jobs)
        while coming or self.active:
            runs = [job for job in self.active if job.has]
            then = min([job.ends_at(self.now) for job in runs] + [job.until for job in runs if job.until > self.now + SLACK]
                       + [self.submit_of(job) for job in coming] + [node.turns_ns / 1e9 for node in self.nodes])
            for job in runs:
                job.run(self.now, then)
            self.now, self.crowd = then, self.crowd + len(self.active) * (then - self.now)
            for job in [job for job in runs if job.done > job.work - SLACK / 2]:
                job.end = then
                job.take_off(False)
                self.active.remove(job)
            self.turn_nodes()
            for job in [job for job in coming if self.submit_of(job) <= then + SLACK]:
                coming.remove(job)
                self.active.append(job)
                job.submit, job.crowd = then, self.crowd
            self.offer()

    def turn_nodes(self):
        for node in self.nodes:
            if node.turns_ns / 1e9 > self.now + 1e-7:
                continue
            node.turn()
            for job in sorted((job for job in self.active if node in (job.node, job.left_on)), key=lambda job: (job.submit, job.number)):
                if job.has:  # it comes behind those that wait
                    self.active.remove(job)
                    self.active.append(job)
                job.fail(self.now, self.every)

    def offer(self):
        waiting = [job for job in self.active if job.has == 0 or (job.until <= self.now + SLACK and self.now >= job.goes)]
        pool = sum(node.idle for node in self.nodes if node.is_up) + sum(job.has for job in waiting)
        if not waiting or pool == 0:
            return
        for job in waiting:
            job.bid = {"submit": job.submit, "speed": [job.pace(k, self.kinds) for k in range(job.gpus + 1)], "gpus": job.gpus,
                       "crowd": job.crowd, "work": job.work, "left": job.work - job.done, "job": job}
            full = job.bid["speed"][-1]
            job.bid["work"] *= full  # the time alone is that on the first type, in every part
            value(job.bid, self.now, self.crowd, len(self.active), len(self.kinds), self.lease)
        bids = [job.bid for job in waiting]
        auction(bids, max(1, math.ceil((1 - self.fairness) * len(self.active) - 1e-9)), pool, self.lots)
        self.hand_out(sorted(bids, key=lambda bid: -bid["rho"]))

    def hand_out(self, bids):
        for bid in bids:
            job = bid["job"]
            job.was_on = job.node
            if job.has and bid["gets"] != job.has:
                job.take_off(self.is_stored)
        for bid in sorted(bids, key=lambda bid: bid["job"].was_on is None):
            job = bid["job"]
            if bid["gets"] and not job.has:
                room = [node for node in self.nodes if node.is_up and node.idle >= bid["gets"]]
                job.put(min(room, key=lambda node: node.idle), bid["gets"], self.now)
            job.until = self.now + self.lease


def draw_job(draw, i, gpus, kinds, rates):
    """Its parts and the rows of their models. Speeds grow with the GPUs."""
    n_gpus, parts, words = draw.randint(1, gpus), [], []
    for part in range(draw.choice([1, 1, 2, 3])):
        speed = {}
        for kind in kinds:
            speed[kind] = [0]
            for k in range(1, n_gpus + 1):
                speed[kind].append(speed[kind][-1] + draw.randint(10, 100) * 1000 // k)
                rates.append(f"{kind},m{i}p{part},{k},{speed[kind][k]}")
        full = speed[kinds[0]][-1]
        work = draw.randrange(10, 3000) * full + draw.randrange(full)
        words.append(f"{work} m{i}p{part}")
        parts.append((work / full, {kind: [per_s / full for per_s in speed[kind]] for kind in kinds}))
    return {"number": i, "gpus": n_gpus, "parts": parts, "phases": ";".join(words)}


def themis_nodes(draw, run):
    """Ends are within 0.5 s. No two jobs come together, nor does one at the end of another."""
    is_one = draw.random() < 0.5
    n_nodes, gpus = (1, draw.choice([1, 2, 3, 4, 8])) if is_one else (draw.randint(2, 6), 1)
    kinds = ["k0"] if is_one or draw.random() < 0.4 else ["k0", "k1"]
    node_kinds = [kinds[0]] + [draw.choice(kinds) for _ in range(n_nodes - 1)]
    kinds = sorted(set(node_kinds))
    fairness, lease, rescale = draw.choice([0, 0.5, 0.8]), draw.choice([300, 1200]), draw.choice([0, 5, 50])
    up, down = draw.choice([(0, 0), (3000, 100), (20000, 2000)])
    every = draw.choice([0, 0, 233]) if up != 3000 else 233
    way = draw.choice(["restart", "restart", "pause", "suspend"])
    jobs, rates, submit = [], ["device,model,gpus,iterations_per_s"], 0
    for i in range(draw.choice([1, 2, 4, 8, 15])):
        submit += 1 + draw.choice([draw.randrange(2000000), draw.randrange(200000)])
        job = draw_job(draw, i, gpus, kinds, rates)
        job.update(submit=submit / 1000, rescale=rescale, after=None, think="")
        if i and draw.random() < 0.3:
            job.update(after=draw.randrange(i), think=1 + draw.randrange(10**6) / 1000)
        jobs.append(Job(job))
    with open("rates.csv", "w") as to:
        to.write("\n".join(rates) + "\n")
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node n{i}]\ndevice = ideal\nrates_as = {kind}\ngpus = {gpus}\n" for i, kind in enumerate(node_kinds))
    rows = [("job_id", "submit_s", "gpus", "phases", "rescale_s", "after", "think_s")]
    rows += [(i, job.submit, job.gpus, job.phases, rescale or "", "" if job.after is None else job.after, job.think)
             for i, job in enumerate(jobs)]
    fails = ["--mtbf", f"{up}s", "--mttr", f"{down}s"] if up else []
    fails += ["--checkpoint", f"{every}s"] if up and every else []
    got = run(rows, "--policy", "themis", "--rates", "rates.csv", "--set", f"f={fairness}", "--set", f"lease={lease}s",
              "--cluster", "cluster.ini", "--seed", SEED, "--set", f"preempt={way}", *fails)
    nodes = [Node(i, gpus, kind, up * 10**9, down * 10**9) for i, kind in enumerate(node_kinds)]
    Walk(jobs, nodes, fairness, lease, every, way == "restart").go()
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job.end}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job.end) > 0.5]
