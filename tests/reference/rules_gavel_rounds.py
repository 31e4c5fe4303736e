# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under reference=gavel: the loop of Gavel's program, and its shares by isolated and fifo, that with and without
speeds (stanford-futuredata/gavel, scheduler/policies/fifo.py, as of fc065b67), on unequal numbers of GPUs by type. The
order of all sums is the program's, since ties are decided by their last bits: types by name where shares are computed
(policies/policy.py), v100, p100, k80 where a round is filled (scheduler.py)."""
import random

TYPES = ("v100", "p100", "k80")
ROUND_S, LEAST_S, MOST_FAILURES = 360, 1920, 5


def equal(keys, jobs, gpus):
    """An equal part of each type for each; none has more than all of its time."""
    shares = {}
    for key in keys:
        parts = {d: gpus[d] / len(keys) / jobs[key[0]]["gpus"] for d in sorted(gpus)}
        total = 0.0
        for d in sorted(gpus):
            total += parts[d]
        shares[key] = {d: part / max(1.0, total) for d, part in parts.items()}
    return shares


def isolated(jobs, gpus, *_):
    return equal([(k,) for k in jobs], jobs, gpus)


def fifo(jobs, gpus, speeds, _):
    """The fastest type with room, until one job finds none."""
    free, shares = dict(gpus), {}
    for k in sorted(jobs):
        open_types = [d for d in sorted(gpus) if free[d] >= jobs[k]["gpus"]]
        if not open_types:
            break
        best = max(open_types, key=lambda d: speeds[jobs[k]["model"], jobs[k]["gpus"], d])
        if speeds[jobs[k]["model"], jobs[k]["gpus"], best] > 0:
            shares[k,] = {best: 1.0}
            free[best] -= jobs[k]["gpus"]
    return shares


class Blind:
    """Fifo without speeds. Jobs keep their types. One is drawn of those with room, but the last by name of those that
    were free is taken; when that one is full, the one drawn is crossed out."""
    def __init__(self):
        self.type_of, self.draws = {}, random.Random(0)

    def __call__(self, jobs, gpus, speeds, _):
        free, queue = dict(gpus), [k for k in sorted(jobs) if k not in self.type_of]

        def takes(k, d):
            if speeds[jobs[k]["model"], jobs[k]["gpus"], d] > 0:
                self.type_of[k] = d
                free[d] -= jobs[k]["gpus"]
            return self.type_of.get(k) == d

        for k, d in sorted(self.type_of.items()):
            if k in jobs:
                free[d] -= jobs[k]["gpus"]
                continue
            if queue and jobs[queue[0]]["gpus"] <= free[d] and takes(queue[0], d):
                del queue[0]
            del self.type_of[k]
        open_types = [d for d in sorted(gpus) if free[d] > 0]
        while queue and open_types:
            k = queue.pop(0)
            fit = [i for i, d in enumerate(open_types) if free[d] >= jobs[k]["gpus"]]
            if not fit:
                break
            drawn = fit[self.draws.randrange(len(fit))]
            if takes(k, open_types[-1]) and free[open_types[-1]] == 0:
                del open_types[drawn]
        return {(k,): {d: 1.0} for k, d in self.type_of.items()}


class Loop:
    """Gavel's loop of rounds, for jobs in the order of their arrival. What has shares and runs is a job, (k,), or with
    packing a pair (a, b) of jobs of equal gangs."""
    def __init__(self, jobs, gpus, speeds, share_out, is_fifo=False, shuffles=False, packs=False):
        self.jobs, self.gpus, self.speeds, self.share_out = jobs, gpus, speeds, share_out
        self.is_fifo, self.shuffles, self.packs = is_fifo, shuffles, packs
        self.shuffler = random.Random(5)
        self.active, self.time, self.deficit, self.shares, self.running = {}, {}, {}, {}, []
        self.had = dict.fromkeys(gpus, 0.0)
        self.now = self.start = self.reset = 0.0
        self.end, self.is_due, self.known = None, False, {}

    def per_s(self, key, d):
        if (key, d) not in self.known:  # a model and its speeds stay; this is asked in each round
            self.known[key, d] = self.look_up(key, d)
        return self.known[key, d]

    def look_up(self, key, d):
        model = [self.jobs[k]["model"] for k in key]
        other = model[::-1] if len(key) > 1 else [None]
        return [self.speeds[m, self.jobs[key[0]]["gpus"], d, *o] for m, o in zip(model, ([] if n is None else [n] for n in other))]

    def add(self, key, time):
        self.time[key], self.deficit[key] = dict.fromkeys(self.gpus, time), dict.fromkeys(self.gpus, 0.0)

    def arrive(self, k):
        self.add((k,), ROUND_S / 2)
        for other in self.active if self.packs else ():
            if self.jobs[other]["gpus"] == self.jobs[k]["gpus"]:
                self.add((other, k), 0.0)
        self.active[k] = self.jobs[k]
        self.is_due = True

    def leave(self, k):
        del self.active[k]
        for of in (self.time, self.deficit):
            for key in [key for key in of if k in key]:
                del of[key]
        self.is_due = True

    def end_round(self):
        self.start = self.start if self.end is None else self.end
        self.end = self.now = max(finish for *_, finish in self.running)
        for key, d, steps, finish in sorted(self.running, key=lambda run: (-run[3], len(run[0]), run[0])):
            fails = any(n // self.jobs[k]["gpus"] == 0 for k, n in zip(key, steps))
            if fails:
                self.is_due = True
            else:
                self.time[key][d] += finish - self.start
                self.had[d] += finish - self.start
            for k, n in zip(key, steps):
                job = self.jobs[k]
                job["left"] -= 0 if fails else n
                if len(key) == 1:
                    job["failures"] = job["failures"] + 1 if fails else 0
                if job["left"] <= 0:
                    job["end"] = finish
                if job["left"] <= 0 or job["failures"] >= MOST_FAILURES:
                    self.leave(k)

    def settle(self):
        since = self.now - self.reset
        for d in self.gpus:
            self.had[d] = 0.0
            for key, time in self.time.items():
                got = time[d] - ROUND_S / 2
                self.deficit[key][d] += self.shares.get(key, {}).get(d, 0.0) * since - got
                time[d] = ROUND_S / 2
                self.had[d] += ROUND_S / 2
        self.reset, self.is_due = self.now, False
        shares = self.share_out(self.active, self.gpus, self.speeds, self.now)
        self.shares = {key: shares.get(key, {}) for key in self.time}

    def rank(self, key, d):
        share = self.shares.get(key, {}).get(d, 0.0)
        part = self.time[key][d] / self.had[d] if self.had[d] else 0.0
        priority = 0.0 if min(self.per_s(key, d)) <= 0 else share / part if part else share * 1e9
        return priority, self.deficit[key][d], share

    def fill_round(self):
        order, taken, self.running = list(self.gpus), set(), []
        if self.shuffles:
            self.shuffler.shuffle(order)
        for d in order:
            free, rank = self.gpus[d], {key: self.rank(key, d) for key in self.time}
            for key in sorted(rank, key=rank.get, reverse=True):
                per_s, gang = self.per_s(key, d), self.jobs[key[0]]["gpus"]
                if taken.intersection(key) or (self.is_fifo and rank[key][0] <= 0) or min(per_s) <= 0 or gang > free:
                    continue
                free -= gang
                taken.update(key)
                steps = [min(int(speed * ROUND_S), self.jobs[k]["left"]) for k, speed in zip(key, per_s)]
                if key in self.shares:
                    self.running.append((key, d, steps, self.now + max(n / speed for n, speed in zip(steps, per_s))))

    def run(self):
        coming = list(range(len(self.jobs)))
        while coming or self.active:
            if self.running:
                self.end_round()
            elif coming:
                self.now = float(self.jobs[coming[0]]["submit"])
            else:
                self.reset = 0.0
            while coming and self.jobs[coming[0]]["submit"] <= self.now:
                self.arrive(coming.pop(0))
            if self.is_due and (self.now - self.reset >= LEAST_S or not self.reset):
                self.settle()
            self.fill_round()
        return [job.get("end") for job in self.jobs]


def draw_jobs(draw, models, n, wide):
    return [{"model": draw.choice(models), "gpus": draw.choice(wide), "submit": submit, "failures": 0, "left": draw.randint(1, 400000)}
            for submit in sorted(draw.choice([0, draw.randrange(40000)]) for _ in range(n))]


def compare(loop, run, objective, *words):
    """The jobs that end at another time than in the loop, by more than 1 ms."""
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,iterations_per_s,beside\n")
        to.writelines(f"{d},m{m},{g},{per_s!r},{''.join(f'm{other}' for other in beside)}\n"
                      for (m, g, d, *beside), per_s in loop.speeds.items())
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node {d}]\ndevice = ideal\ngpus = {n}\nrates_as = {d}\n" for d, n in loop.gpus.items())
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["left"]) for i, job in enumerate(loop.jobs)]
    got = run(rows, "--policy", "gavel", "--set", "reference=gavel", "--set", f"objective={objective}", "--seed", 0,
              "--rates", "rates.csv", "--cluster", "cluster.ini", *words)
    return [f"{objective} on {loop.gpus}: job {row['job_id']} ends at {row['end_s']}, not {end}"
            for row, end in zip(got, loop.run()) if (row["end_s"] == "") != (end is None) or
            (end is not None and abs(float(row["end_s"]) - end) > 1e-3)]


def gavel_rounds(draw, run):
    """Jobs of few models, of which many are alike, so that ties are frequent. Without speeds a gang may get a type that
    has fewer GPUs, on which it never runs."""
    objective, models = draw.choice(["isolated", "isolated", "fifo", "blind fifo", "blind fifo"]), range(draw.randint(1, 4))
    sizes = [(8, 16, 24), (12, 8, 4), (4, 4, 16), (9, 0, 0), (5, 0, 11)] + [(7, 3, 13)] * (objective != "blind fifo")
    gpus = {d: n for d, n in zip(TYPES, draw.choice(sizes)) if n}
    speeds = {(m, g, d): draw.uniform(0.5, 60) for m in models for g in (1, 2, 4) for d in gpus}
    if objective != "isolated" and len(gpus) > 1:  # as of one model of Gavel's table
        speeds.update(((0, g, "k80"), 0.0) for g in (2, 4))
    jobs = draw_jobs(draw, models, draw.randint(10, 60), (1, 1, 2, 4))
    rule = {"isolated": isolated, "fifo": fifo, "blind fifo": Blind()}[objective]
    loop = Loop(jobs, gpus, speeds, rule, is_fifo=objective != "isolated", shuffles=objective != "fifo")
    return compare(loop, run, objective.split()[-1], "--set", f"sees_speed={'off' if objective == 'blind fifo' else 'on'}")
