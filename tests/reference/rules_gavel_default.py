# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under gavel's own rounds with shares by a rule: isolated, proportional, fifo and AlloX on up to three types of
GPU, fifo with pairs (Narayanan et al., OSDI 2020, sections 4 and 5; Le et al., EuroSys 2020)."""
import itertools

ROUND_S, LEAST_S, TRIED = 360, 1920, 1e9


def isolated(jobs, gpus, _):
    """An equal part of each type; no job has more than all of its time."""
    for job in jobs:
        parts = [n / len(jobs) / job["gpus"] for n in gpus]
        job["share"] = [part / max(1.0, sum(parts)) for part in parts]


def proportional(jobs, gpus, _):
    for job in jobs:
        job["share"] = [n / max(sum(gpus), len(jobs)) for n in gpus]


def fastest(job, free):
    can = [d for d, n in enumerate(free) if n >= job["gpus"] and job["speed"][d] > 0]
    return max(can, key=lambda d: job["speed"][d], default=None)


def fifo(jobs, gpus, _):
    free = list(gpus)
    for job in jobs:
        job["share"] = [0.0] * len(gpus)
    for job in jobs:
        d = fastest(job, free)
        if d is None:
            return
        job["share"][d] = 1.0
        free[d] -= job["gpus"]


def allox(jobs, gpus, _):
    """Jobs with a GPU keep it. The others get places in the queues of the free ones: a job that is k from the end of one
    delays k jobs, itself among them. The first of each queue gets the GPU. All ways are tried; on one GPU of each type
    no two of them are as good."""
    waiting = [job for job in jobs if not job["share"] or max(job["share"]) < 1]
    free = [d for d in range(len(gpus)) if not any(job["share"] and job["share"][d] >= 1 for job in jobs)]
    for job in waiting:
        job["share"] = [0.0] * len(gpus)
    waiting = [job for job in waiting if any(job["speed"][d] > 0 for d in free)]
    best = None
    for queues in itertools.product(range(len(free)), repeat=len(waiting) if free else 0):
        total, firsts = 0, {}
        for q, d in enumerate(free):
            line = [job for job, at in zip(waiting, queues) if at == q]
            if any(job["speed"][d] <= 0 for job in line):
                break
            line.sort(key=lambda job: -job["left"] / job["speed"][d])  # from the end: the longest delays itself alone
            total += sum((k + 1) * job["left"] / job["speed"][d] for k, job in enumerate(line))
            if line:
                firsts[q] = line[-1]
        else:
            if best is None or total < best[0] - 1e-9:
                best = total, firsts
    for q, job in (best[1] if best else {}).items():
        job["share"][free[q]] = 1.0


RULES = {"isolated": isolated, "proportional": proportional, "fifo": fifo, "allox": allox}


class Rounds:
    """A job that comes back takes some time before it runs, and is not stopped while it does."""
    def __init__(self, jobs, gpus, objective, resume_s=0):
        self.coming, self.gpus, self.objective, self.resume_s = list(jobs), gpus, objective, resume_s
        self.active, self.had, self.now, self.reset = [], [0.0] * len(gpus), 0.0, 0.0
        self.is_due, self.first = False, 0.0

    def settle(self):
        """What the old shares promised, and what jobs had; half a round is a head start."""
        since = self.now - self.reset
        for d in range(len(self.gpus)):
            self.had[d] = 0.0
            for job in self.active:
                got = job["time"][d] - ROUND_S / 2
                job["deficit"][d] += (job["share"][d] * since if job["share"] else 0) - got
                job["time"][d] = ROUND_S / 2
                self.had[d] += ROUND_S / 2
        self.reset, self.is_due = self.now, False
        RULES[self.objective](self.active, self.gpus, self.now)

    def ranks(self):
        """By type: the share over what it has had of the time, on several types in s."""
        for nth, job in enumerate(self.active):
            for d in range(len(self.gpus)):
                share = job["share"][d] if job["share"] else 0
                if job["speed"][d] <= 0:
                    continue
                part = job["time"][d] / self.had[d] if self.had[d] > 0 else 0
                rank = 0 if share <= 0 else share / part if part > 0 else share * TRIED
                if rank > 0 and len(self.gpus) > 1 and job["time"][d] > 0 and self.objective != "fifo":
                    rank = share / job["time"][d]
                yield rank, job["deficit"][d], share, -nth, job["speed"][d] if rank == 0 else 0, -d

    def choose(self):
        free, chosen = list(self.gpus), {nth: job["on"] for nth, job in enumerate(self.active) if job["runs_at"] > self.now}
        for nth, d in chosen.items():
            free[d] -= self.active[nth]["gpus"]
        for rank, _, _, nth, _, d in sorted(self.ranks(), reverse=True):
            job = self.active[-nth]
            if -nth not in chosen and job["gpus"] <= free[-d] and (rank > 0 or self.objective != "fifo"):
                chosen[-nth] = -d
                free[-d] -= job["gpus"]
        for nth, job in enumerate(self.active if self.objective == "fifo" else []):
            if nth in chosen:
                continue
            d = fastest(job, free)
            if d is None:
                break
            chosen[nth] = d
            free[d] -= job["gpus"]
        return [(self.active[nth], d) for nth, d in chosen.items()]

    def run(self):
        had_jobs = False
        while self.coming or self.active:
            if not self.active:
                self.now = max(self.now, self.coming[0]["submit"])
            while self.coming and self.coming[0]["submit"] <= self.now:
                self.active.append(self.coming.pop(0))
                self.is_due = True
            self.first = self.first if had_jobs else self.now
            had_jobs = True
            if self.is_due and not (self.reset > self.first and self.now - self.reset < LEAST_S):
                self.settle()
            chosen = self.choose()
            if not chosen and self.is_due:
                self.settle()
                chosen = self.choose()
            for job in self.active:
                job["on"] = job["on"] if any(job is other and job["on"] == d for other, d in chosen) else None
            for job, d in chosen:
                if job["on"] is None:
                    job["runs_at"] = self.now + (self.resume_s if job["has_run"] else 0)
                job["on"], job["has_run"] = d, True
                job["end"] = max(self.now, job["runs_at"]) + job["left"] / job["speed"][d]
            took = min(ROUND_S, max(job["end"] for job, _ in chosen) - self.now)
            for job, d in chosen:
                job["time"][d] += took
                self.had[d] += took
                job["left"] -= max(0, self.now + took - max(self.now, job["runs_at"])) * job["speed"][d]
            self.now += took
            over = [job for job in self.active if job["left"] <= 1e-6 * max(job["speed"])]
            self.active = [job for job in self.active if job not in over]
            self.is_due |= bool(over)
            had_jobs = bool(self.active) or bool(self.coming) and self.coming[0]["submit"] <= self.now


def gavel_default(draw, run):
    """Iterations are some us, after which a job stops: ends are within 1 s."""
    objective = draw.choice(list(RULES))
    gpus = draw.choice([(1,), (4,), (8,), (1, 2), (4, 2), (2, 1, 3)] if objective != "allox" else [(1,), (1, 1), (1, 1, 1)])
    jobs, submit, table = [], draw.choice([0, 500]), ["device,model,gpus,iterations_per_s"]
    for i in range(draw.choice([1, 2, 4, 8, 12]) if objective != "allox" else draw.choice([1, 2, 4, 6])):
        submit += draw.choice([0, 7, draw.randint(1, 600), draw.randint(1, 600), 5000])
        width = 1 if objective == "allox" else draw.choice([n for n in (1, 1, 1, 2, 4) if n <= max(gpus)])
        speed = [draw.randint(10**5, 10**6) if width <= n else 0 for n in gpus]
        if draw.random() < 0.2 and sum(per_s > 0 for per_s in speed) > 1:
            speed[draw.choice([d for d, per_s in enumerate(speed) if per_s])] = 0
        table += [f"type{d},m{i},{width},{per_s}" for d, per_s in enumerate(speed)]
        jobs.append({"submit": submit, "gpus": width, "speed": speed, "left": draw.randint(10**7, 5 * 10**9), "share": None,
                     "time": [ROUND_S / 2] * len(gpus), "deficit": [0.0] * len(gpus), "on": None, "has_run": False, "runs_at": 0})
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node t{d}]\ndevice = ideal\ngpus = {n}\nrates_as = type{d}\n" for d, n in enumerate(gpus))
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{i}", job["left"]) for i, job in enumerate(jobs)]
    resume_s = draw.choice([0, 0, 100, 500])
    got = run(rows, "--policy", "gavel", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set", f"objective={objective}",
              "--set", f"restart.resume_ns={resume_s}s")
    Rounds(jobs, gpus, objective, resume_s).run()
    return [f"{objective} on {gpus}: job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]


# --- fifo with pairs ------------------------------------------------------------------------------
class Pairs:
    """On one type, jobs of one GPU. The next of the queue joins the job beside which both lose least, if they make more
    than 1.5 times what one does alone; where a job of a pair ends, the other goes on alone, and is the next of the queue
    until shares are computed again."""
    def __init__(self, jobs, n_gpus):
        self.coming, self.n_gpus, self.active, self.now, self.reset = list(jobs), n_gpus, [], 0.0, 0.0
        self.alone, self.pairs = [], []

    def share_out(self):
        self.alone, queue, self.pairs = self.active[:self.n_gpus], self.active[self.n_gpus:], []
        for job in queue:
            def made(other, job=job):
                return job["beside"][other["nth"]] / job["per_s"] + other["beside"][job["nth"]] / other["per_s"]
            best = max(self.alone, key=made, default=None)
            if best is None or made(best) <= 1.5:
                return
            self.alone.remove(best)
            self.pairs.append((best, job))

    def on_gpus(self):
        """What a round has on its GPUs: those with shares, then the next of the queue."""
        def is_there(job):
            return any(job is other for other in self.active)
        on = [pair for pair in self.pairs if all(map(is_there, pair))] + [(job,) for job in self.alone if is_there(job)]
        for job in self.active:
            if len(on) < self.n_gpus and not any(job is other for jobs in on for other in jobs):
                on.append((job,))
        return on

    def round(self, on):
        left_s = ROUND_S
        while left_s > 0 and any(on):
            speed = {job["nth"]: job["beside"][jobs[1 - i]["nth"]] if len(jobs) == 2 else job["per_s"]
                     for jobs in on for i, job in enumerate(jobs)}
            step = min([left_s] + [job["left"] / speed[job["nth"]] for jobs in on for job in jobs])
            for jobs in on:
                for job in jobs:
                    job["left"] -= step * speed[job["nth"]]
            self.now, left_s = self.now + step, left_s - step
            for job in [job for jobs in on for job in jobs if job["left"] <= 1e-6 * job["per_s"]]:
                job["end"] = self.now
            on = [tuple(job for job in jobs if job["end"] is None) for jobs in on]

    def run(self):
        is_due, first, had_jobs = False, 0.0, False
        while self.coming or self.active:
            self.now = self.now if self.active else max(self.now, self.coming[0]["submit"])
            first = first if had_jobs else self.now
            while self.coming and self.coming[0]["submit"] <= self.now:
                self.active.append(self.coming.pop(0))
                is_due = True
            if is_due and not (self.reset > first and self.now - self.reset < LEAST_S):
                self.share_out()
                self.reset, is_due = self.now, False
            self.round(self.on_gpus())
            is_due |= any(job["end"] is not None for job in self.active)
            self.active = [job for job in self.active if job["end"] is None]
            had_jobs = bool(self.active) or bool(self.coming) and self.coming[0]["submit"] <= self.now


def gavel_fifo_pairs(draw, run):
    """Iterations are some us: ends are within 1 s."""
    n_gpus, n, submit, jobs = draw.randint(1, 3), draw.randint(2, 9), 0, []
    per_s = [draw.randint(10**5, 10**6) for _ in range(n)]
    beside = [[int(per_s[a] * draw.choice([0.4, draw.uniform(0.6, 1)])) for _ in range(n)] for a in range(n)]
    for i in range(n):
        submit += draw.choice([0, 7, draw.randint(1, 600), draw.randint(1, 3000)])
        jobs.append({"nth": i, "submit": submit, "per_s": per_s[i], "beside": beside[i], "left": draw.randint(10**7, 5 * 10**9),
                     "end": None})
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,beside,iterations_per_s\n")
        to.writelines(f"ideal,m{a},1,,{per_s[a]}\n" for a in range(n))
        to.writelines(f"ideal,m{a},1,m{b},{beside[a][b]}\n" for a in range(n) for b in range(n) if a != b)
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], 1, f"m{i}", job["left"]) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "gavel", "--rates", "rates.csv", "--set", "packing=on", "--set", "objective=fifo",
              "--gpus-per-node", n_gpus)
    Pairs(jobs, n_gpus).run()
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]
