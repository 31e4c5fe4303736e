# SPDX-License-Identifier: GPL-3.0-or-later
"""Shockwave (Zheng et al., NSDI 2023, sections 5 and 6, and its program): plans of the next rounds, found by trying
all. All gangs are as wide: jobs of one epoch, whose length is known, or in phases, whose epochs to come are expected by those
so far."""
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


MILLION = 10**6


def known(job):
    """One epoch, of the job's length."""
    return {"done": job["had"] / job["length"], "all": 1, "epoch": job["length"], "had": job["had"],
            "left": job["length"] - job["had"]}


def expected(job):
    """Epochs of each batch size: as many of all as of the others beforehand, beside which those count that were seen,
    the one under way as a whole (a Dirichlet distribution). Progress is told in millionths of an epoch, rounded down."""
    made, at, begin, had = {}, None, 0, round(job["had"] * 10**9)
    for mode, epochs, seconds in job["phases"]:
        made.setdefault(mode, 0)
        takes = round(epochs * seconds * 10**9)
        if had >= begin:
            made[mode] += epochs * MILLION * min(had - begin, takes) // takes
            at = mode
        begin += takes
    length = {mode: seconds for mode, _, seconds in job["phases"]}
    every = sum(epochs for _, epochs, _ in job["phases"])
    total = sum(made.values())
    begun = (MILLION - total % MILLION) / MILLION
    seen = {mode: n / MILLION + (begun if mode == at else 0) for mode, n in made.items()}
    to_come = {mode: max(0, every * (every / len(seen) + n) / (every + total / MILLION + begun) - n)
               for mode, n in seen.items()}
    mean = sum(n * length[mode] for mode, n in seen.items()) / sum(seen.values())
    of_each = sum(n * length[mode] for mode, n in to_come.items()) / sum(to_come.values()) if any(to_come.values()) else mean
    return {"done": total / MILLION, "all": every, "epoch": mean, "left": of_each * (every - total / MILLION),
            "had": sum(n / MILLION * length[mode] for mode, n in made.items())}


def estimate(job):
    return expected(job) if job["phases"] else known(job)


class Plan:
    """Rounds of each job: the best of all choices that fit the GPUs."""
    def __init__(self, estimates, gpus, n_rounds):
        self.jobs, self.room, self.n_rounds = estimates, gpus * n_rounds, n_rounds

    @staticmethod
    def work(job, n):
        return min(n * ROUND, (job["all"] - job["done"]) * job["epoch"])

    def value(self, rounds, weights):
        works = [self.work(job, n) for job, n in zip(self.jobs, rounds)]
        utilities = [weight * log((job["done"] + work / job["epoch"]) / job["all"])
                     for job, work, weight in zip(self.jobs, works, weights)]
        longest = max(max(0, job["left"] - work) for job, work in zip(self.jobs, works))
        return round(sum(utilities) / (len(self.jobs) * self.n_rounds) - PRICE * longest, 12)

    def best(self, weights, most_left):
        """A job gets no round in which it has nothing to do; of plans that are worth as much one for the first to
        come."""
        choices = []
        for job, most in zip(self.jobs, most_left):
            useful = min(self.n_rounds, math.ceil((job["all"] - job["done"]) * job["epoch"] / ROUND - 1e-9))
            choices.append([n for n in range(useful, -1, -1) if max(0, job["left"] - self.work(job, n)) <= most])
        plans = [rounds for rounds in itertools.product(*choices) if sum(rounds) <= self.room]
        return max(plans, key=lambda rounds: self.value(rounds, weights), default=None)


def mean_fair(job, at):
    """Ends with an equal part, each for the rounds for which it held; a tenth more of the last one."""
    rounds = [r for r, _ in job["fair"]] + [at]
    held = [b - a for a, b in zip(rounds, rounds[1:])]
    mean = sum(n * end for n, (_, end) in zip(held, job["fair"])) / sum(held) if sum(held) else job["fair"][0][1]
    return 0.9 * mean + 0.1 * job["fair"][-1][1]


def make_plan(jobs, gpus, n_rounds, now, at):
    part = min(1, gpus * jobs[0]["gpus"] / len(jobs))
    fair = [mean_fair(job, at) for job in jobs]
    estimates = [estimate(job) for job in jobs]
    plan = Plan(estimates, gpus, n_rounds)
    weights = [1] * len(jobs)
    rounds = plan.best(weights, [(end - now - n_rounds * ROUND) * part + CLOCK for end in fair])
    if rounds is None:
        would_end = [now + job["left"] / part for job in estimates]
        weights = [round(late / end, 9) ** (LAST_POWER if job["left"] < ROUND else POWER) if late > end + CLOCK else 1
                   for job, late, end in zip(estimates, would_end, fair)]
        rounds = plan.best(weights, [math.inf] * len(jobs))
    for job, n, weight, then in zip(jobs, rounds, weights, estimates):
        job["rounds"], job["weight"], job["left_then"] = n, weight, then["left"]


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
            part = min(1, gpus * active[0]["gpus"] / len(active))
            for job in active:
                found = estimate(job)
                job["fair"].append((at, job["submit"] + (found["had"] + found["left"]) / part))
        if is_new or at - planned >= replan:
            make_plan(active, gpus, n_rounds, now, at)
            planned, is_new = at, False
        fair_is_old = False
        chosen = choose(active, gpus, planned + n_rounds - at)
        took = min(ROUND, max(job["length"] - job["had"] for job in chosen))
        for job in chosen:
            jobs[job["number"]]["end"] = now + job["length"] - job["had"]
            job["had"] += min(took, job["length"] - job["had"])
        now += took
        round_ends = now if took == ROUND else now + ROUND - took
        before = len(active)
        active = [job for job in active if job["length"] - job["had"] > 1e-9]
        if len(active) < before:
            is_new = fair_is_old = True


def settings_of(draw):
    """Jobs that run at a time, rounds of a plan, rounds after which it is made anew."""
    return draw.choice([1, 1, 2]), draw.randint(1, 6), draw.randint(1, 8)


def hold(run, jobs, settings, rows, words, most_apart):
    """The ends, in one busy time: jobs come while others run."""
    gpus, n_rounds, replan = settings
    got = run(rows, "--policy", "shockwave", "--gpus-per-node", gpus * jobs[0]["gpus"], "--set", f"rounds={n_rounds}",
              "--set", f"replan={replan}", *words)
    ends(jobs, gpus, n_rounds, min(replan, n_rounds))
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > most_apart]


def shockwave(draw, run):
    """Ends to a microsecond."""
    settings = settings_of(draw)
    n, longest = draw.randint(1, 5), draw.choice([400, 1500])
    jobs = [{"submit": 0, "length": draw.randrange(100, longest) + draw.random()} for _ in range(n)]
    for job in jobs[2:]:
        job["submit"] = draw.choice([0, draw.randrange(300)])
    jobs.sort(key=lambda job: job["submit"])
    width = draw.choice([1, 2, 3])
    for job in jobs:
        job.update(length=round(job["length"], 3), had=0, phases=None, gpus=width)
    rows = [("job_id", "submit_s", "duration_s", "gpus")]
    rows += [(i, job["submit"], job["length"], width) for i, job in enumerate(jobs)]
    return hold(run, jobs, settings, rows, (), 1e-5)


def phases_of(draw, modes):
    """Parts of whole epochs, no two neighbours with one batch size."""
    order = [draw.choice(modes)]
    for _ in range(draw.randint(0, 3)):
        order.append(draw.choice([mode for mode in modes if mode is not order[-1]]))
    return [(mode["name"], draw.randint(1, 5), mode["epoch"]) for mode in order]


def shockwave_phases(draw, run):
    """As above, with jobs that change their batch size, and some that do not. Iterations take a millisecond or more."""
    settings = settings_of(draw)
    modes = [{"name": f"b{i}", "rate": draw.choice([100, 200, 250, 500, 1000]), "epoch": draw.randrange(20000, 150000) / 1000}
             for i in range(draw.randint(2, 4))]
    rates = {mode["name"]: mode["rate"] for mode in modes}
    for mode in modes:
        mode["epoch"] = round(mode["epoch"] * mode["rate"]) / mode["rate"]
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,iterations_per_s\n" + "".join(f"ideal,{name},1,{rate}\n" for name, rate in rates.items()))
    jobs = [{"submit": 0, "had": 0, "phases": phases_of(draw, modes)} for _ in range(draw.randint(1, 4))]
    for job in jobs[2:]:
        job["submit"] = draw.choice([0, draw.randrange(300)])
    jobs.sort(key=lambda job: job["submit"])
    for job in jobs:
        job.update(length=sum(epochs * seconds for _, epochs, seconds in job["phases"]), gpus=1)
    rows = [("job_id", "submit_s", "gpus", "phases")]
    rows += [(i, job["submit"], 1, ";".join("%d/%d %s" % (round(epochs * seconds * rates[mode]), round(seconds * rates[mode]), mode)
                                             for mode, epochs, seconds in job["phases"])) for i, job in enumerate(jobs)]
    return hold(run, jobs, settings, rows, ("--rates", "rates.csv"), 0.1)
