# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under reference=gavel: the loop of Gavel's program and its shares by isolated and fifo, that with and
without speeds (stanford-futuredata/gavel, scheduler/policies/fifo.py, as of fc065b67), on unequal numbers of GPUs by type. The order of all sums is the program's, since ties are decided by their last bits: types
by name where shares are computed (policies/policy.py), v100, p100, k80 where a round is filled (scheduler.py)."""
import random

TYPES = ("v100", "p100", "k80")
ROUND_S, LEAST_S, MOST_FAILURES = 360, 1920, 5


def isolated(jobs, gpus, _):
    """An equal part of each type; no job has more than all of its time."""
    shares = {}
    for k, job in jobs.items():
        parts = {d: gpus[d] / len(jobs) / job["gpus"] for d in sorted(gpus)}
        total = 0.0
        for d in sorted(gpus):
            total += parts[d]
        shares[k] = {d: part / max(1.0, total) for d, part in parts.items()}
    return shares


def fifo(jobs, gpus, speeds):
    """The fastest type with room, until one job finds none."""
    free, shares = dict(gpus), {k: dict.fromkeys(gpus, 0.0) for k in jobs}
    for k in sorted(jobs):
        open_types = [d for d in sorted(gpus) if free[d] >= jobs[k]["gpus"]]
        if not open_types:
            break
        best = max(open_types, key=lambda d: speeds[jobs[k]["model"], jobs[k]["gpus"], d])
        if speeds[jobs[k]["model"], jobs[k]["gpus"], best] > 0:
            shares[k][best] = 1.0
            free[best] -= jobs[k]["gpus"]
    return shares


class Blind:
    """Fifo without speeds. Jobs keep their types. One is drawn of those with room, but the last by name of those that
    were free is taken; when that one is full, the one drawn is crossed out."""
    def __init__(self):
        self.type_of, self.draws = {}, random.Random(0)

    def __call__(self, jobs, gpus, speeds):
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
        return {k: {d: float(self.type_of.get(k) == d) for d in gpus} for k in jobs}


class Loop:
    """Gavel's loop of rounds, for jobs in the order of their arrival."""
    def __init__(self, jobs, gpus, speeds, objective):
        self.jobs, self.gpus, self.speeds = jobs, gpus, speeds
        self.share_out = {"isolated": isolated, "fifo": fifo, "blind fifo": Blind()}[objective]
        self.is_fifo, self.shuffles = objective != "isolated", objective != "fifo"
        self.shuffler = random.Random(5)
        self.active, self.shares, self.running = {}, {}, []
        self.had = dict.fromkeys(gpus, 0.0)
        self.now = self.start = self.reset = 0.0
        self.end, self.is_due = None, False

    def per_s(self, k, d):
        return self.speeds[self.jobs[k]["model"], self.jobs[k]["gpus"], d]

    def end_round(self):
        self.start = self.start if self.end is None else self.end
        self.end = self.now = max(finish for *_, finish in self.running)
        for k, d, steps, finish in sorted(self.running, key=lambda run: (-run[3], run[0])):
            job, ran = self.jobs[k], finish - self.start
            if steps // job["gpus"] == 0:
                job["failures"], self.is_due = job["failures"] + 1, True
            else:
                job["failures"], job["left"] = 0, job["left"] - steps
                job["time"][d] += ran
                self.had[d] += ran
            if job["left"] <= 0:
                job["end"] = finish
            if job["left"] <= 0 or job["failures"] >= MOST_FAILURES:
                del self.active[k]
                self.is_due = True

    def settle(self):
        since = self.now - self.reset
        for d in self.gpus:
            self.had[d] = 0.0
            for k, job in self.active.items():
                got = job["time"][d] - ROUND_S / 2
                job["deficit"][d] += self.shares.get(k, {}).get(d, 0.0) * since - got
                job["time"][d] = ROUND_S / 2
                self.had[d] += ROUND_S / 2
        self.reset, self.is_due = self.now, False
        self.shares = self.share_out(self.active, self.gpus, self.speeds)

    def priority(self, k, d):
        share = self.shares.get(k, {}).get(d, 0.0)
        part = self.active[k]["time"][d] / self.had[d] if self.had[d] else 0.0
        return share / part if part else share * 1e9

    def fill_round(self):
        order, taken, self.running = list(self.gpus), set(), []
        if self.shuffles:
            self.shuffler.shuffle(order)
        for d in order:
            free, rank = self.gpus[d], {k: (self.priority(k, d), self.active[k]["deficit"][d], self.shares.get(k, {}).get(d, 0.0))
                                        for k in self.active}
            for k in sorted(self.active, key=rank.get, reverse=True):
                if k in taken or (self.is_fifo and rank[k][0] <= 0) or self.jobs[k]["gpus"] > free:
                    continue
                free -= self.jobs[k]["gpus"]
                taken.add(k)
                steps = min(int(self.per_s(k, d) * ROUND_S), self.jobs[k]["left"])
                if k in self.shares:
                    self.running.append((k, d, steps, self.now + steps / self.per_s(k, d)))

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
                k = coming.pop(0)
                self.active[k] = self.jobs[k]
                self.is_due = True
            if self.is_due and (self.now - self.reset >= LEAST_S or not self.reset):
                self.settle()
            self.fill_round()
        return [job.get("end") for job in self.jobs]


def gavel_rounds(draw, run):
    """Jobs of few models, of which many are alike, so that ties are frequent: each ends within 1 ms. Without speeds a
    gang may get a type that has fewer GPUs, on which it never runs."""
    objective, models = draw.choice(["isolated", "isolated", "fifo", "blind fifo", "blind fifo"]), range(draw.randint(1, 4))
    sizes = [(8, 16, 24), (12, 8, 4), (4, 4, 16), (9, 0, 0), (5, 0, 11)] + [(7, 3, 13)] * (objective != "blind fifo")
    gpus = {d: n for d, n in zip(TYPES, draw.choice(sizes)) if n}
    speeds = {(m, g, d): draw.uniform(0.5, 60) for m in models for g in (1, 2, 4) for d in gpus}
    if objective != "isolated" and len(gpus) > 1:  # as of one model of Gavel's table
        speeds.update(((0, g, "k80"), 0.0) for g in (2, 4))
    jobs = [{"model": draw.choice(models), "gpus": draw.choice([1, 1, 2, 4]), "submit": submit, "failures": 0,
             "left": draw.randint(1, 400000), "time": dict.fromkeys(gpus, ROUND_S / 2), "deficit": dict.fromkeys(gpus, 0.0)}
            for submit in sorted(draw.choice([0, draw.randrange(40000)]) for _ in range(draw.randint(10, 60)))]
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,iterations_per_s\n")
        to.writelines(f"{d},m{m},{g},{per_s!r}\n" for (m, g, d), per_s in speeds.items())
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node {d}]\ndevice = ideal\ngpus = {n}\nrates_as = {d}\n" for d, n in gpus.items())
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["left"]) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "gavel", "--set", "reference=gavel", "--set", f"objective={objective.split()[-1]}",
              "--set", f"sees_speed={'off' if objective == 'blind fifo' else 'on'}", "--seed", 0, "--rates", "rates.csv", "--cluster", "cluster.ini")
    ends = Loop(jobs, gpus, speeds, objective).run()
    return [f"{objective} on {gpus}: job {row['job_id']} ends at {row['end_s']}, not {end}" for row, end in zip(got, ends)
            if (row["end_s"] == "") != (end is None) or (end is not None and abs(float(row["end_s"]) - end) > 1e-3)]
