# SPDX-License-Identifier: GPL-3.0-or-later
"""Shockwave (Zheng et al., NSDI 2023, sections 5 and 6, and its program): plans of the next rounds, found by trying
all. Jobs of one GPU and one epoch, whose length is known."""
import itertools
import math

ROUND, PRICE, POWER, LAST_POWER = 120, 1e-3, 12, 100
CLOCK = 1e-9  # lateness below it is rounding
BASES = [0, 0.2, 0.4, 0.6, 0.8, 1]
LOGS = [math.log(base or 1e-6) for base in BASES]


def log(part):
    """In straight pieces between the bases."""
    at = max(i for i in range(len(BASES) - 1) if part >= BASES[i] or i == 0)
    return LOGS[at] + (LOGS[at + 1] - LOGS[at]) * (part - BASES[at]) / (BASES[at + 1] - BASES[at])


class Plan:
    """Rounds of each job: the best of all choices that fit the GPUs."""
    def __init__(self, jobs, gpus, n_rounds):
        self.jobs, self.room, self.n_rounds = jobs, gpus * n_rounds, n_rounds

    def value(self, rounds, weights):
        works = [min(n * ROUND, job["left"]) for job, n in zip(self.jobs, rounds)]
        utilities = [weight * log((job["length"] - job["left"] + work) / job["length"])
                     for job, work, weight in zip(self.jobs, works, weights)]
        longest = max(job["left"] - work for job, work in zip(self.jobs, works))
        return round(sum(utilities) / (len(self.jobs) * self.n_rounds) - PRICE * longest, 12)

    def best(self, weights, most_left):
        """A job gets no round in which it has nothing to do; of plans that are worth as much one for the first to
        come."""
        choices = []
        for job, most in zip(self.jobs, most_left):
            useful = min(self.n_rounds, math.ceil(job["left"] / ROUND - 1e-9))
            choices.append([n for n in range(useful, -1, -1) if max(0, job["left"] - n * ROUND) <= most])
        plans = [rounds for rounds in itertools.product(*choices) if sum(rounds) <= self.room]
        return max(plans, key=lambda rounds: self.value(rounds, weights), default=None)


def mean_fair(job, at):
    """Ends with an equal part, each for the rounds for which it held; a tenth more of the last one."""
    rounds = [r for r, _ in job["fair"]] + [at]
    held = [b - a for a, b in zip(rounds, rounds[1:])]
    mean = sum(n * end for n, (_, end) in zip(held, job["fair"])) / sum(held) if sum(held) else job["fair"][0][1]
    return 0.9 * mean + 0.1 * job["fair"][-1][1]


def make_plan(jobs, gpus, n_rounds, now, at):
    part = min(1, gpus / len(jobs))
    fair = [mean_fair(job, at) for job in jobs]
    plan = Plan(jobs, gpus, n_rounds)
    weights = [1] * len(jobs)
    rounds = plan.best(weights, [(end - now - n_rounds * ROUND) * part + CLOCK for end in fair])
    if rounds is None:
        would_end = [now + job["left"] / part for job in jobs]
        weights = [round(late / end, 9) ** (LAST_POWER if job["left"] < ROUND else POWER) if late > end + CLOCK else 1
                   for job, late, end in zip(jobs, would_end, fair)]
        rounds = plan.best(weights, [math.inf] * len(jobs))
    for job, n, weight in zip(jobs, rounds, weights):
        job["rounds"], job["weight"], job["left_then"] = n, weight, job["left"]


def choose(jobs, gpus, rest):
    """First those that need every round that is left of the plan, then the heavier, those that ran, the first to
    come; GPUs that are idle then go to those with the most left when the plan was made."""
    planned = sorted((job for job in jobs if job["rounds"] > 0),
                     key=lambda job: (job["rounds"] < rest, -job["weight"], not job["runs"]))[:gpus]
    others = sorted((job for job in jobs if job not in planned), key=lambda job: -job["left_then"])
    chosen = planned + others[:gpus - len(planned)]
    for job in jobs:
        job["runs"] = job in chosen
        job["rounds"] -= job["runs"] and job["rounds"] > 0
    return chosen


def ends(jobs, gpus, n_rounds, replan):
    """A round ends before its time only where all of its jobs have. Times count from the first submission."""
    now, at, planned, active, coming, is_new, fair_is_old = 0.0, 0, 0, [], list(jobs), False, False
    round_ends = 0.0
    while coming or active:
        if not active:
            now = max(now, coming[0]["submit"])
        while coming and coming[0]["submit"] <= now:
            active.append({**coming.pop(0), "fair": [], "runs": False, "rounds": 0, "number": len(jobs) - len(coming) - 1})
            is_new = fair_is_old = True
        at += 1 + int(max(0, now - round_ends) // ROUND)
        if fair_is_old:
            part = min(1, gpus / len(active))
            for job in active:
                job["fair"].append((at, job["submit"] + job["length"] / part))
        if is_new or at - planned >= replan:
            make_plan(active, gpus, n_rounds, now, at)
            planned, is_new = at, False
        fair_is_old = False
        chosen = choose(active, gpus, planned + n_rounds - at)
        took = min(ROUND, max(job["left"] for job in chosen))
        for job in chosen:
            jobs[job["number"]]["end"] = now + job["left"]
            job["left"] -= min(took, job["left"])
        now += took
        round_ends = now if took == ROUND else now + ROUND - took
        before = len(active)
        active = [job for job in active if job["left"] > 1e-9]
        if len(active) < before:
            is_new = fair_is_old = True


def shockwave(draw, run):
    """Ends to a microsecond, in one busy time: jobs come while others run."""
    gpus, n_rounds, replan = draw.choice([1, 1, 2]), draw.randint(1, 6), draw.randint(1, 8)
    n, longest = draw.randint(1, 5), draw.choice([400, 1500])
    jobs = [{"submit": 0, "length": draw.randrange(100, longest) + draw.random()} for _ in range(n)]
    for job in jobs[2:]:
        job["submit"] = draw.choice([0, draw.randrange(300)])
    jobs.sort(key=lambda job: job["submit"])
    for job in jobs:
        job["length"] = job["left"] = round(job["length"], 3)
    rows = [("job_id", "submit_s", "duration_s", "gpus")]
    rows += [(i, job["submit"], job["length"], 1) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "shockwave", "--gpus-per-node", gpus, "--set", f"rounds={n_rounds}",
              "--set", f"replan={replan}")
    ends(jobs, gpus, n_rounds, min(replan, n_rounds))
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1e-5]
