# SPDX-License-Identifier: GPL-3.0-or-later
"""Lucid (Hu et al., ASPLOS 2023, section 3) on one node: a profiler's pool first, the fewest GPUs first; then jobs in
the order of estimated time times GPUs, the first of which holds up the others. No job is stopped but by the profiler.
The estimate is the mean of the user's jobs that are done, of all jobs where there is none, and else 1 ms."""


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


def ends(jobs, gpus, pool, profile_ms, keeps):
    now, past, coming = 0, Past(), list(jobs)
    fresh, line, running = [], [], []
    main_free, pool_free = gpus - pool, pool

    def begin_main(job, at):
        job["where"], job["until"] = "main", at + job["left"]
        running.append(job)

    def begin_profile(job, at):
        job["where"], job["until"] = "pool", at + min(profile_ms, job["left"])
        running.append(job)

    def stand(job):
        job["key"] = past.key(job)
        line.append(job)
        line.sort(key=lambda other: (other["key"], other["nth"]))

    while coming or fresh or line or running:
        now = min([job["until"] for job in running] + [job["submit"] for job in coming[:1]])
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
            job["left"] -= took if keeps else 0
            stopped.append(job)
        while coming and coming[0]["submit"] == now:
            job = coming.pop(0)
            if job["gpus"] <= pool:
                fresh.append(job)
                fresh.sort(key=lambda other: (other["gpus"], other["nth"]))
            else:
                stand(job)
        for job in stopped:
            stand(job)
        main_free = start(line, main_free, begin_main, now)
        pool_free = start(fresh, pool_free, begin_profile, now)


def lucid(draw, run):
    """All times are whole milliseconds, and no two of them are equal but those of jobs that come together."""
    gpus = draw.randint(2, 8)
    pool, profile_ms, keeps = draw.randint(0, gpus // 2), draw.choice([50, 200]) * 1000 + 1, draw.choice([False, True])
    jobs, submit = [], 0
    for i in range(draw.randint(2, 14)):
        length = draw.choice([draw.randrange(10**3, 3 * 10**5), draw.randrange(10**5, 3 * 10**6)])
        jobs.append({"nth": i, "submit": submit, "length_ms": length, "left": length, "user": draw.choice("abc"),
                     "gpus": min(draw.choice([1, 1, 2, 3, 4]), gpus - pool)})
        submit += draw.choice([0, draw.randrange(10**5), draw.randrange(10**6)])
    rows = [("job_id", "submit_s", "duration_s", "gpus", "user")]
    rows += [(job["nth"], job["submit"] / 1000, job["length_ms"] / 1000, job["gpus"], job["user"]) for job in jobs]
    got = run(rows, "--policy", "lucid", "--gpus-per-node", gpus, "--set", f"pool={pool}", "--set",
              f"profile={profile_ms}ms", "--set", "binder=off", "--set", f"keeps={'on' if keeps else 'off'}")
    ends(jobs, gpus, pool, profile_ms, keeps)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end'] / 1000}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"] / 1000) > 1e-6]
