# SPDX-License-Identifier: GPL-3.0-or-later
"""Sia with jobs that learn and starts that take time (Jayaram Subramanya et al., SOSP 2023, section 3): on GPUs of up to
three types, on nodes of one, two or four GPUs, beside rigid jobs that make other jobs move."""
import itertools
import math

from rules_pollux import HEAD, Even, Known

TICK, RESTART, IDLE = 60, 30, 1.1


class OnType:
    """An application on one type of GPU: epochs are of the application, steps of the type."""
    def __init__(self, app, draw):
        self.app = app
        self.base, self.each = draw.randint(10**3, 10**4) * 1e-7, draw.randint(10**2, 10**3) * 1e-7
        locals_ = sorted({1, app.max_local})  # a batch without parts within the limits has smaller ones
        self.steps = {(1, 1): [(local, self.base + self.each * local, 0) for local in locals_]}

    def __getattr__(self, name):
        return getattr(self.app, name)

    def step_s(self, nodes, gpus, batch):
        return Even.step_s(self, nodes, gpus, batch)

    def epoch_s(self, *args):
        return Even.epoch_s(self, *args)

    def largest_per_s(self):
        return self.max_local / self.step_s(1, 1, (self.max_local, 0))


class Learner:
    """What a job has measured by type, and its way through its epochs."""
    def __init__(self, there, batch, keeps):
        self.there, self.batch, self.keeps = there, batch, keeps
        self.known = {t: Known(app) for t, app in there.items()}
        self.epoch, self.done, self.with_batch = 0, 0.0, None

    def kept(self, app):
        return app.within(app.divided(self.batch))

    def take_batch(self, t):
        app = self.there[t]
        self.with_batch = self.kept(app) if self.keeps else self.known[t].best()

    def measure(self, t, epoch):
        """The noise of gradients is the job's, on whatever GPUs it was measured."""
        self.known[t].measure(self.with_batch, epoch)
        for known in self.known.values():
            known.sqr, known.var = self.known[t].sqr, self.known[t].var

    def goodput(self, t):
        if not any(known.seen for known in self.known.values()):
            return 1.0
        at = t if self.known[t].seen else next(u for u, known in self.known.items() if known.seen)
        known = self.known[at]
        batch = self.kept(known.app) if self.keeps else known.best()
        return known.goodput(batch) * self.there[t].largest_per_s() / known.app.largest_per_s()

    def run(self, t, begin, end):
        """When it is done, or None."""
        app = self.there[t]
        while True:
            all_s = app.epoch_s(self.epoch, 1, 1, 0, self.with_batch)
            until = begin + (1 - self.done) * all_s
            if until > end:
                self.done += (end - begin) / all_s
                return None
            self.measure(t, self.epoch)
            self.epoch, self.done, begin = self.epoch + 1, 0.0, until
            if self.epoch == app.n_epochs:
                return until
            self.take_batch(t)


def choices(job, now, kinds):
    age = now - job["submit"]
    left = 1 if age < RESTART else max(age - job["changes"] * RESTART, 0) / (age + RESTART)
    values = {}
    for k, kind in enumerate(kinds):
        if job["learner"] is None and job["gpus"] <= kind["gpus"] * kind["count"]:
            values[k] = 1.0
        elif job["learner"] and kind["type"] in job["learner"].there:
            values[k] = job["learner"].goodput(kind["type"])
    least = min(values.values())
    speeds = {k: value / least * (1 if job["kind"] == k and job["on"] else left) for k, value in values.items()}
    costs = {k: round(10**9 / math.sqrt(speed)) for k, speed in speeds.items() if speed > 0}
    return {k: cost for k, cost in costs.items() if cost <= IDLE * 10**9}


def cheapest(rows, capacity):
    """By what is used of the kinds. Of equal ones the least of the last kind, then of the one before it; then later jobs
    have none, or their first choice."""
    states = {tuple([0] * len(capacity)): (0, ())}
    for gpus, row in rows:
        after = {}
        for (used, (cost, given)), k in itertools.product(states.items(), [None, *row]):
            use = tuple(n + gpus * (at == k) for at, n in enumerate(used))
            if any(n > has for n, has in zip(use, capacity)):
                continue
            new = cost + (round(IDLE * 10**9) if k is None else row[k]), (*given, k)
            key = new[0], [-1 if at is None else at for at in new[1][::-1]]
            if use not in after or key < after[use][0]:
                after[use] = key, new
        states = {use: new for use, (_, new) in after.items()}
    return min(states.items(), key=lambda state: (state[1][0], state[0][::-1]))[1][1]


class Places:
    """Jobs by node. Wide ones come first, each on the fullest node with room; where none has, narrower ones leave the
    node that has, or could have, the most room, the narrowest first."""
    def __init__(self, jobs, kinds, now):
        self.jobs, self.now, self.kinds = jobs, now, kinds
        self.kind_of = [k for k, kind in enumerate(kinds) for _ in range(kind["count"])]
        self.free = [kinds[k]["gpus"] for k in self.kind_of]

    def is_fixed(self, job):
        return bool(job["on"]) and job["from"] > self.now

    def may_leave(self, job, node, width):
        return not job["to_place"] and 0 < len(job["on"]) < width and set(job["on"]) == {node} and not self.is_fixed(job)

    def node_for(self, k, width):
        nodes = [node for node, at in enumerate(self.kind_of) if at == k]
        fits = [node for node in nodes if self.free[node] >= width]
        if fits:
            return min(fits, key=lambda node: self.free[node])
        could = {node: self.free[node] + sum(len(job["on"]) for job in self.jobs if self.may_leave(job, node, width))
                 for node in nodes}
        fits = [node for node in nodes if could[node] >= width]
        return max(fits, key=lambda node: self.free[node]) if fits else None

    def make_room(self, node, width):
        leaving = [job for job in self.jobs if self.may_leave(job, node, width)]
        for job in sorted(leaving, key=lambda job: len(job["on"])):
            if self.free[node] < width:
                job["to_place"] = True
                self.free[node] += len(job["on"])

    def settle(self, job):
        each, had = self.kinds[job["kind"]]["gpus"], job["on"]
        job["to_place"] = False
        if had and len(had) == job["gpus"] < each and self.kind_of[had[0]] == job["kind"] and \
                self.free[had[0]] >= job["gpus"]:
            self.free[had[0]] -= job["gpus"]
            return
        job["on"], job["is_changed"] = [], True
        while len(job["on"]) < job["gpus"]:
            here = min(each, job["gpus"] - len(job["on"]))
            node = self.node_for(job["kind"], here)
            if node is None:
                for at in job["on"]:
                    self.free[at] += 1
                job["on"] = []
                return
            self.make_room(node, here)
            self.free[node] -= here
            job["on"] += [node] * here

    def all(self, given):
        """Jobs that stay as wide on a kind stay, unless they have to leave."""
        for job in self.jobs:
            k = given.get(job["nth"])
            stays = bool(job["on"]) and k == job["kind"]
            job["to_place"], job["is_changed"] = k is not None and not stays, k is None and bool(job["on"])
            if stays:
                for node in job["on"]:
                    self.free[node] -= 1
            elif k is None:
                job["on"] = []
            else:
                job["kind"] = k
        for width in range(max(kind["gpus"] for kind in self.kinds), 0, -1):
            for job in self.jobs:
                if job["to_place"] and min(job["gpus"], self.kinds[job["kind"]]["gpus"]) == width:
                    self.settle(job)


def tick(jobs, kinds, now):
    capacity = [kind["gpus"] * kind["count"] for kind in kinds]
    places, given, rows = Places(jobs, kinds, now), {}, []
    for job in jobs:
        if places.is_fixed(job):
            given[job["nth"]] = job["kind"]
            capacity[job["kind"]] -= job["gpus"]
        else:
            rows.append(job)
            if job["on"] and job["learner"] and job["from"] < now:
                job["learner"].measure(kinds[job["kind"]]["type"], job["learner"].epoch)
    chosen = cheapest([(job["gpus"], choices(job, now, kinds)) for job in rows], capacity)
    given.update({job["nth"]: k for job, k in zip(rows, chosen)})
    places.all(given)
    for job in jobs:
        if job["is_changed"] and job["on"]:
            job["changes"] += job["has_run"]
            job["has_run"], job["from"] = True, now + job["start_s"]
        if job["learner"] and job["on"]:
            job["learner"].take_batch(kinds[job["kind"]]["type"])


def ends(jobs, kinds):
    now, active, coming = 0, [], list(jobs)
    while coming or active:
        for job in active:
            begin = max(now - TICK, job["from"])
            if not job["on"] or begin >= now:
                continue
            if job["learner"]:
                job["end"] = job["learner"].run(kinds[job["kind"]]["type"], begin, now)
            else:
                job["end"] = begin + job["left"] if job["left"] <= now - begin else None
                job["left"] -= now - begin
        active = [job for job in active if job["end"] is None]
        if not active and coming:
            now = max(now, math.ceil(coming[0]["submit"] / TICK) * TICK)
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        tick(active, kinds, now)
        now += TICK


def rows_of(name, there):
    """The table of an application: its limits and epochs, and steps by type."""
    app = next(iter(there.values())).app
    out = [row.replace(",", ",,", 1) for row in Even.rows(app, name) if not row.startswith("step")]
    for t, on in there.items():
        out += [f"step,t{t},{name},,{nodes},{gpus},{local},{step:.9f},{sync:.9f},,,,,,,,,"
                for (nodes, gpus), steps in on.steps.items() for local, step, sync in steps]
    return out


def sia_learners(draw, run):
    """A job that learns has one GPU, so that its model is exact; rigid ones have up to all of a type. A job stops at the
    end of an iteration, of some ms: ends are within 1 s."""
    kinds = []
    for t in range(draw.randint(1, 3)):
        for gpus in draw.sample([1, 2, 4], draw.choice([1, 1, 2])):
            kinds.append({"type": t, "gpus": gpus, "count": draw.randint(1, 2)})
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node k{k}]\ndevice = ideal\ncount = {kind['count']}\ngpus = {kind['gpus']}\n"
                      f"rates_as = t{kind['type']}\n" for k, kind in enumerate(kinds))
    types, keeps = sorted({kind["type"] for kind in kinds}), draw.random() < 0.4
    apps = []
    for _ in range(draw.randint(1, 3)):
        app = Even(draw, 1, 1)
        can = types if draw.random() < 0.7 else sorted(draw.sample(types, draw.randint(1, len(types))))
        apps.append({t: OnType(app, draw) for t in can})
    with open("goodput.csv", "w") as to:
        to.write("\n".join([HEAD.replace("row,", "row,device,")] +
                           [row for i, there in enumerate(apps) for row in rows_of(f"app{i}", there)]) + "\n")
    widest, submit, jobs = max(kind["gpus"] * kind["count"] for kind in kinds), 0, []
    for i in range(draw.choice([1, 2, 3, 5, 8])):
        submit += draw.choice([0, draw.randrange(100), draw.randrange(2000)])
        job = {"nth": i, "submit": submit, "gpus": 1, "learner": None, "left": 0, "changes": 0, "has_run": False, "on": [],
               "kind": 0, "from": 0, "start_s": 0, "end": None, "model": "", "batch": "", "length": ""}
        if draw.random() < 0.6:
            app = draw.randrange(len(apps))
            even = next(iter(apps[app].values())).app
            batch = draw.choice([size for size in even.sizes if size <= even.max_batch])
            job.update(learner=Learner(apps[app], batch, keeps), start_s=draw.choice([0, 25, 45, 130]), model=f"app{app}",
                       batch=batch)
        else:
            job["gpus"] = draw.choice([n for n in (1, 2, 3, 4, 6) if n <= widest])
            job["length"] = job["left"] = draw.randint(20, 3000) + 0.5
        jobs.append(job)
    rows = [("job_id", "submit_s", "duration_s", "gpus", "model", "batch", "rescale_s")]
    rows += [(job["nth"], job["submit"], job["length"], job["gpus"], job["model"], job["batch"], job["start_s"]) for job in jobs]
    got = run(rows, "--policy", "sia", "--goodput", "goodput.csv", "--cluster", "cluster.ini", "--set", "widest=1",
              "--set", f"adapts={'gpus' if keeps else 'batch'}")
    ends(jobs, kinds)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]
