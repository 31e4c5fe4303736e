# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under gavel's own rounds with objective gandiva, by the head of policies/gavel/packing.c: where jobs want more
GPUs than there are, pairs that make at least what one job makes alone share GPUs, drawn in a random order."""
import random

ROUND_S, LEAST_S, TRIED, SEED = 360, 1920, 1e9, 3


class Entry:
    """A job or a pair: its share, what it has had, and how fast its jobs are, by type."""
    def __init__(self, jobs, n_types, beside):
        self.jobs, self.gpus, self.share = jobs, jobs[0]["gpus"], None
        self.time = [ROUND_S / 2 if len(jobs) == 1 else 0.0] * n_types
        self.deficit = [0.0] * n_types
        self.speed = [[job["speed"][d] for job in jobs] for d in range(n_types)]
        if len(jobs) == 2:
            a, b = (job["nth"] for job in jobs)
            self.speed = [[beside[a, b, d], beside[b, a, d]] if all(both) else [0, 0] for d, both in enumerate(self.speed)]

    def runs(self, d):
        return all(self.speed[d])

    def makes(self, d):
        return sum(speed / job["speed"][d] for speed, job in zip(self.speed[d], self.jobs)) if self.runs(d) else 0


class Gandiva:
    def __init__(self, jobs, gpus, beside):
        self.coming, self.gpus, self.beside, self.draws = list(jobs), gpus, beside, random.Random(SEED)
        self.active, self.entries, self.pairs, self.had = [], [], [], [0.0] * len(gpus)
        self.now, self.reset, self.first, self.is_due = 0.0, 0.0, 0.0, False

    def add(self, job):
        self.entries.append(Entry([job], len(self.gpus), self.beside))
        for other in self.active:
            pair = Entry([other, job], len(self.gpus), self.beside) if other["gpus"] == job["gpus"] else None
            if pair and any(pair.runs(d) for d in range(len(self.gpus))):
                self.entries.append(pair)
        self.active.append(job)
        self.is_due = True

    def is_worth_it(self, pair):
        return sum(n * pair.makes(d) for d, n in enumerate(self.gpus)) >= sum(self.gpus)

    def has_partner(self, job):
        return any(job is other for pair in self.pairs for other in pair.jobs)

    def share_out(self):
        for d in range(len(self.gpus)):
            self.had[d] = 0.0
            for entry in self.entries:
                promised = entry.share[d] * (self.now - self.reset) if entry.share else 0
                entry.deficit[d] += promised - (entry.time[d] - ROUND_S / 2)
                entry.time[d] = ROUND_S / 2
                self.had[d] += ROUND_S / 2
        self.reset, self.is_due = self.now, False
        self.pairs = [pair for pair in self.pairs if pair in self.entries]
        shared = [entry for entry in self.entries if len(entry.jobs) == 1]
        if sum(job["gpus"] for job in self.active) > sum(self.gpus):
            worthy = [entry for entry in self.entries if len(entry.jobs) == 2 and self.is_worth_it(entry)
                      and not any(map(self.has_partner, entry.jobs))]
            self.draws.shuffle(worthy)
            for pair in worthy:
                if not any(map(self.has_partner, pair.jobs)):
                    self.pairs.append(pair)
            shared = [entry for entry in shared if not self.has_partner(entry.jobs[0])] + self.pairs
        for entry in self.entries:
            parts = [n / len(shared) / entry.gpus if entry in shared else 0.0 for n in self.gpus]
            entry.share = [part / max(1.0, sum(parts)) for part in parts]

    def ranked(self, nth, d, has_priority):
        """Where an entry stands among those that may run on a type; None: it may not."""
        entry = self.entries[nth]
        share = entry.share[d] if entry.share else 0
        if not entry.runs(d):
            return None
        part = entry.time[d] / self.had[d] if self.had[d] > 0 else 0
        priority = share / part if part > 0 else share * TRIED
        if has_priority is not None and (priority > 0) != has_priority:
            return None
        if has_priority and entry.time[d] > 0:  # across types the time of all others does not count
            priority = share / entry.time[d]
        return priority, entry.deficit[d], share, -nth, entry.speed[d][0] if has_priority is False else 0, -d

    def choose(self):
        free, chosen, taken = list(self.gpus), [], []
        for has_priority in (None,) if len(self.gpus) == 1 else (True, False):
            ranks = [self.ranked(nth, d, has_priority) for nth in range(len(self.entries)) for d in range(len(self.gpus))]
            for *_, nth, _, d in sorted((rank for rank in ranks if rank), reverse=True):
                entry = self.entries[-nth]
                if entry.gpus <= free[-d] and not any(job["nth"] in taken for job in entry.jobs):
                    chosen.append((entry, -d))
                    taken += [job["nth"] for job in entry.jobs]
                    free[-d] -= entry.gpus
        return chosen

    def run_round(self, chosen):
        """A job goes on alone when its partner ends."""
        left_s, on = ROUND_S, [(entry, d, list(entry.jobs)) for entry, d in chosen]
        while left_s > 0 and any(jobs for _, _, jobs in on):
            speed = {job["nth"]: entry.speed[d][entry.jobs.index(job)] if len(jobs) == len(entry.jobs) else job["speed"][d]
                     for entry, d, jobs in on for job in jobs}
            running = [job for _, _, jobs in on for job in jobs]
            step = min([left_s] + [job["left"] / speed[job["nth"]] for job in running])
            for job in running:
                job["left"] -= step * speed[job["nth"]]
            self.now, left_s = self.now + step, left_s - step
            for job in running:
                if job["left"] <= 1e-6 * max(job["speed"]):
                    job["end"] = self.now
            on = [(entry, d, [job for job in jobs if job["end"] is None]) for entry, d, jobs in on]
        self.now = round(self.now, 9)  # a clock of whole ns: of entries that are as far behind the last digit decides
        return round(ROUND_S - left_s, 9)

    def run(self):
        had_jobs = False
        while self.coming or self.active:
            self.now = self.now if self.active else max(self.now, self.coming[0]["submit"])
            while self.coming and self.coming[0]["submit"] <= self.now:
                self.add(self.coming.pop(0))
            self.first = self.first if had_jobs else self.now
            if self.is_due and not (self.reset > self.first and self.now - self.reset < LEAST_S):
                self.share_out()
            chosen = self.choose()
            if not chosen and self.is_due:
                self.share_out()
                chosen = self.choose()
            took = self.run_round(chosen)
            for entry, d in chosen:
                entry.time[d] += took
                self.had[d] += took
            self.is_due |= any(job["end"] is not None for job in self.active)
            self.active = [job for job in self.active if job["end"] is None]
            self.entries = [entry for entry in self.entries if all(job["end"] is None for job in entry.jobs)]
            had_jobs = bool(self.active) or bool(self.coming) and self.coming[0]["submit"] <= self.now


def gavel_gandiva(draw, run):
    """Iterations are some us, after which a job stops: ends are within 1 s. Some pairs cannot share a type, or lose."""
    gpus = draw.choice([(1,), (2,), (4,), (1, 2), (2, 1, 3)])
    n, submit, jobs, table = draw.choice([2, 3, 5, 8]), 0, [], ["device,model,gpus,beside,iterations_per_s"]
    for i in range(n):
        submit += draw.choice([0, 0, 7, draw.randint(1, 600), draw.randint(1, 3000)])
        width = draw.choice([g for g in (1, 1, 1, 2) if g <= max(gpus)])
        speed = [draw.randint(10**5, 10**6) if width <= n_here else 0 for n_here in gpus]
        table += [f"type{d},m{i},{width},,{per_s}" for d, per_s in enumerate(speed)]
        jobs.append({"nth": i, "submit": submit, "gpus": width, "speed": speed, "left": draw.randint(10**7, 5 * 10**9), "end": None})
    beside = {}
    for a, b in ((a, b) for a in range(n) for b in range(n) if a != b):
        for d in range(len(gpus)):
            beside[a, b, d] = int(jobs[a]["speed"][d] * draw.choice([0, draw.uniform(0.2, 0.5), draw.uniform(0.5, 1)]))
            table.append(f"type{d},m{a},{jobs[a]['gpus']},m{b},{beside[a, b, d]}")
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node t{d}]\ndevice = ideal\ngpus = {n_here}\nrates_as = type{d}\n" for d, n_here in enumerate(gpus))
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{i}", job["left"]) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "gavel", "--rates", "rates.csv", "--cluster", "cluster.ini", "--seed", SEED,
              "--set", "objective=gandiva", "--set", "packing=on")
    Gandiva(jobs, gpus, beside).run()
    return [f"gandiva on {gpus}: job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]
