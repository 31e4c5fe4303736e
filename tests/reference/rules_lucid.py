# SPDX-License-Identifier: GPL-3.0-or-later
"""Lucid (Hu et al., ASPLOS 2023, section 3): a profiler's pool first, the fewest GPUs first; then jobs in
the order of estimated time times GPUs, the first of which holds up the others. No job is stopped but by the profiler.
The estimate is the mean of the user's jobs that are done, of all jobs where there is none, and else 1 ms."""
import statistics
from fractions import Fraction

from outages import SEED, Node, comes_at, draw_chain, kept, words_of


def nodes_of(draw, gpus):
    """One node, or as many as GPUs: a gang is as fast on several."""
    node_gpus = draw.choice([gpus, 1])
    return "--nodes", gpus // node_gpus, "--gpus-per-node", node_gpus


class Past:
    def __init__(self):
        self.took = {}

    def note(self, job):
        """What a job worked, to the millisecond."""
        for name in (job["user"], None):
            self.took.setdefault(name, []).append(job["length_ms"])

    def key(self, job):
        took = self.took.get(job["user"]) or self.took.get(None) or [1]
        return max(1, sum(took) // len(took)) * job["gpus"]


def start(waiting, free, begins, now):
    """In their order, until one finds too few GPUs."""
    while waiting and waiting[0]["gpus"] <= free:
        job = waiting.pop(0)
        free -= job["gpus"]
        begins(job, now)
    return free


class Outage(Node):
    """Of the only node; times in ms."""
    def __init__(self, up_s, down_s, every_ms):
        super().__init__(0, 0, None, up_s * 10**9, down_s * 10**9)
        self.every_ms = every_ms

    @property
    def turns(self):
        return self.turns_ns / 1e6

    def fall_back(self, job, now):
        """To its last checkpoint, or to where it began from storage."""
        done = job["length_ms"] - job["left"] + now - job["began"]
        job["left"] = job["length_ms"] - kept(done, job["length_ms"] - job["left"], self.every_ms)


def ends(jobs, gpus, pool, profile_ms, keeps, outage):
    now, past, coming = 0, Past(), list(jobs)
    fresh, line, running = [], [], []
    main_free, pool_free = gpus - pool, pool

    def begin_main(job, at):
        job["where"], job["until"], job["began"] = "main", at + job["left"], at
        running.append(job)

    def begin_profile(job, at):
        job["where"], job["until"], job["began"] = "pool", at + min(profile_ms, job["left"]), at
        running.append(job)

    def stand(job):
        job["key"] = past.key(job)
        line.append(job)
        line.sort(key=lambda other: (other["key"], other["came"]))

    def come(job):
        job.setdefault("came", len(jobs) - len(coming))
        if job["gpus"] <= pool:
            fresh.append(job)
            fresh.sort(key=lambda other: (other["gpus"], other["came"]))
        else:
            stand(job)

    while coming or fresh or line or running:
        coming.sort(key=lambda job: comes_at(job, jobs))
        now = min([job["until"] for job in running] + [comes_at(job, jobs) for job in coming[:1]] + [outage.turns])
        stopped = []
        for job in sorted((job for job in running if job["until"] == now), key=lambda job: job["nth"]):
            running.remove(job)
            took = min(profile_ms, job["left"]) if job["where"] == "pool" else job["left"]
            main_free += job["gpus"] * (job["where"] == "main")
            pool_free += job["gpus"] * (job["where"] == "pool")
            if took == job["left"]:
                job["end"] = now
                past.note(job)
                continue
            job["left"] = job["left"] - took if keeps else job["length_ms"]
            stopped.append(job)
        while coming and comes_at(coming[0], jobs) == now:
            come(coming.pop(0))
        for job in stopped:
            stand(job)
        if outage.turns == now:
            outage.turn()
            for job in running:
                outage.fall_back(job, now)
                come(job)
            running.clear()
            main_free, pool_free = gpus - pool, pool
        if not outage.is_up:
            continue
        main_free = start(line, main_free, begin_main, now)
        pool_free = start(fresh, pool_free, begin_profile, now)


def lucid(draw, run):
    """All times but those of failures are whole milliseconds, and no two of them are equal but those of jobs that come together."""
    gpus = draw.randint(2, 8)
    pool, profile_ms, keeps = draw.randint(0, gpus // 2), draw.choice([50, 200]) * 1000 + 1, draw.choice([False, True])
    jobs, submit = [], 0
    for i in range(draw.randint(2, 14)):
        length = draw.choice([draw.randrange(10**3, 3 * 10**5), draw.randrange(10**5, 3 * 10**6)])
        jobs.append({"nth": i, "submit": submit, "length_ms": length, "left": length, "user": draw.choice("abc"),
                     "gpus": min(draw.choice([1, 1, 2, 3, 4]), gpus - pool)})
        submit += draw.choice([0, draw.randrange(10**5), draw.randrange(10**6)])
    nodes, up_s, every = nodes_of(draw, gpus), draw.choice([0, 0, 3000]), draw.choice([0, 233])
    fails = ("--seed", SEED, "--mtbf", f"{up_s}s", "--mttr", "100s") if up_s else ()
    nodes = ("--nodes", 1, "--gpus-per-node", gpus) if up_s else nodes
    fails += ("--checkpoint", f"{every}s") if up_s and every else ()
    has_chains = draw.random() < 0.4
    for job in jobs:
        after, think_s = draw_chain(draw, job["nth"]) if has_chains else (None, "")
        job.update(after=after, think=round(1000 * think_s) if think_s else "")
    rows = [("job_id", "submit_s", "duration_s", "gpus", "user", "after", "think_s")]
    rows += [(job["nth"], job["submit"] / 1000, job["length_ms"] / 1000, job["gpus"], job["user"],
              "" if job["after"] is None else job["after"], job["think"] and job["think"] / 1000) for job in jobs]
    got = run(rows, "--policy", "lucid", *nodes, "--set", f"pool={pool}", "--set", f"profile={profile_ms}ms", "--set",
              "binder=off", "--set", f"keeps={'on' if keeps else 'off'}", *fails)
    ends(jobs, gpus, pool, profile_ms, keeps, Outage(up_s, 100, every * 1000))
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end'] / 1000}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"] / 1000) > 1e-6]


# --- two jobs on a GPU ----------------------------------------------------------------------------
class Binder:
    """GPUs by number, each with the jobs on it; the speeds of models beside each other, as parts of those alone, 0
    where they do not share; the models of jobs that were measured."""

    def __init__(self, gpus, speeds):
        self.jobs_on, self.speeds, self.measured = [[] for _ in range(gpus)], speeds, []

    def group(self, job):
        """0: slows no other, 1: slightly, 2: clearly, by the mean beside all jobs that were measured."""
        mean = statistics.mean(Fraction(str(self.speeds[job["model"]][other])) for other in self.measured)
        return 0 if mean >= Fraction("0.95") else 1 if mean >= Fraction("0.85") else 2

    def may_share(self, job, host):
        are_measured = job["gpus"] == host["gpus"] == 1 and job["is_measured"] and host["is_measured"]
        return are_measured and self.speeds[job["model"]][host["model"]] > 0 and job["key"] <= 2 * host["key"] + 1 and (
            self.group(job) + self.group(host) <= 2)

    def alone(self, job):
        idle = [gpu for gpu, jobs in enumerate(self.jobs_on) if not jobs][:job["gpus"]]
        return idle if len(idle) == job["gpus"] else []

    def beside(self, job):
        hosts = [(self.group(jobs[0]), gpu) for gpu, jobs in enumerate(self.jobs_on)
                 if len(jobs) == 1 and self.may_share(job, jobs[0])]
        return [min(hosts)[1]] if hosts else []

    def serve(self, line):
        """The first that finds no idle GPUs holds up the others, which may still share."""
        is_held_up = False
        for job in list(line):
            found = [] if is_held_up else self.alone(job)
            is_held_up |= not found
            found = found or self.beside(job)
            for gpu in found:
                self.jobs_on[gpu].append(job)
            if found:
                line.remove(job)

    def running(self):
        """Jobs with their speeds."""
        out = {}
        for jobs in self.jobs_on:
            for job in jobs:
                other = next((other for other in jobs if other is not job), None)
                out[job["nth"]] = (job, self.speeds[job["model"]][other["model"]] if other else 1.0)
        return list(out.values())

    def drop(self, job):
        self.jobs_on = [[other for other in jobs if other is not job] for jobs in self.jobs_on]


def shared_ends(jobs, gpus, pool, profile_ms, speeds, outage):
    """Works and times in ms; what a job did in the profiler is lost. A job that failed is profiled again, and counts once among
    those that were measured."""
    now, past, binder, coming = 0.0, Past(), Binder(gpus - pool, speeds), list(jobs)
    fresh, line, profiled = [], [], []
    while coming or fresh or line or profiled or binder.running():
        until = [now + job["left"] / speed for job, speed in binder.running()]
        until += [job["until"] for job in profiled] + [job["submit"] for job in coming[:1]]
        then = min(until + [outage.turns])
        for job, speed in binder.running():
            job["left"] -= (then - now) * speed
        now = then
        over = [job for job, _ in binder.running() if job["left"] < 1e-3]
        stopped = [job for job in profiled if job["until"] == now]
        profiled = [job for job in profiled if job["until"] > now]
        for job in sorted(over + [job for job in stopped if job["left"] <= profile_ms], key=lambda job: job["nth"]):
            job["end"] = now
            past.note(job)
            binder.drop(job)
        came = []
        while coming and coming[0]["submit"] <= now:
            came.append(coming.pop(0))
        if outage.turns <= now:
            outage.turn()
            for job in profiled:
                job["left"] -= now - job["until"] + min(profile_ms, job["left"])
            lost = [job for job, _ in binder.running()] + profiled
            for job in sorted(lost, key=lambda job: job["nth"]):
                job["saved"] = kept(job["length_ms"] - job["left"], job["saved"], outage.every_ms)
                job.update(left=job["length_ms"] - job["saved"], is_measured=False)
                binder.drop(job)
                came.append(job)
            profiled = []
        stopped = [job for job in stopped if "end" not in job]
        for job in stopped:
            job.update(is_measured=True, left=float(job["length_ms"]), saved=0)
            if not job["has_counted"]:
                binder.measured.append(job["model"])
            job["has_counted"] = True
        fresh += [job for job in came if job["gpus"] <= pool]
        fresh.sort(key=lambda job: (job["gpus"], job["nth"]))
        # what was measured counts before the job is off its GPUs and stands in line
        for others in [job for job in came if job["gpus"] > pool], stopped:
            for job in others:
                job["key"] = past.key(job)
            line = sorted(line + others, key=lambda job: (job["key"], job["nth"]))
            if outage.is_up:
                binder.serve(line)
        while outage.is_up and fresh and fresh[0]["gpus"] <= pool - sum(job["gpus"] for job in profiled):
            job = fresh.pop(0)
            job["until"] = now + min(profile_ms, job["left"])
            profiled.append(job)


def lucid_pairs(draw, run):
    """Measured jobs of one GPU that find none idle join others by a table of pairs. Iterations are 1 ms alone, after
    which a job stops: ends are within 1 s."""
    gpus = draw.randint(2, 6)
    pool, profile_ms, n_models = draw.randint(1, gpus // 2), 50001, draw.randint(1, 4)
    speeds = [[draw.choice([0, 0.5, 0.8, 0.875, 0.9, 0.96, 0.99, 1]) for _ in range(n_models)] for _ in range(n_models)]
    speeds = [[speeds[a][b] if speeds[b][a] else 0 for b in range(n_models)] for a in range(n_models)]
    jobs, submit = [], 0
    for i in range(draw.randint(2, 14)):
        length = draw.choice([draw.randrange(10**3, 3 * 10**5), draw.randrange(10**5, 3 * 10**6)])
        jobs.append({"nth": i, "submit": submit, "length_ms": length, "left": float(length), "user": draw.choice("abc"),
                     "gpus": min(draw.choice([1, 1, 1, 1, 2]), gpus - pool), "model": draw.randrange(n_models),
                     "is_measured": False, "has_counted": False, "saved": 0})
        submit += draw.choice([0, draw.randrange(10**5), draw.randrange(10**6)])
    nodes, up, every = nodes_of(draw, gpus), draw.choice([0, 0, 1000]), draw.choice([0, 233])
    nodes = ("--nodes", 1, "--gpus-per-node", gpus) if up else nodes
    for job in jobs:
        job["length_ms"] = min(job["length_ms"], 800 * 1000) if up else job["length_ms"]
        job["left"] = float(job["length_ms"])
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,beside,iterations_per_s\n")
        to.writelines(f"ideal,m{a},{width},,1000\n" for a in range(n_models) for width in (1, 2))
        to.writelines(f"ideal,m{a},1,m{b},{1000 * speed:g}\n" for a, row in enumerate(speeds) for b, speed in enumerate(row) if speed)
    rows = [("job_id", "submit_s", "gpus", "user", "model", "iterations")]
    rows += [(job["nth"], job["submit"] / 1000, job["gpus"], job["user"], f"m{job['model']}", job["length_ms"]) for job in jobs]
    got = run(rows, "--policy", "lucid", *nodes, "--rates", "rates.csv", "--set", f"pool={pool}", "--set",
              f"profile={profile_ms}ms", "--set", "binder=on", *words_of(up, 100, every))
    shared_ends(jobs, gpus, pool, profile_ms, speeds, Outage(up, 100, every * 1000))
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end'] / 1000}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"] / 1000) > 1]
