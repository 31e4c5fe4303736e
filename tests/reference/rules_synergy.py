# SPDX-License-Identifier: GPL-3.0-or-later
"""Synergy: rounds in which jobs get CPUs and memory beside their GPUs (Mohan et al., OSDI 2022, section 4)."""
ROUND = 300
LITTLE = 1e-9  # of a CPU or a GiB


def speed(rows, each):
    """Linear in the CPUs, among the rows for which there is memory."""
    have = {}
    for cpus, mem, per_s in rows:
        if mem <= each[1] + LITTLE:
            have[cpus] = max(have.get(cpus, 0), per_s)
    have = sorted(have.items())
    if not have or each[0] <= have[0][0]:
        return have[0][1] * each[0] / have[0][0] if have else 0
    for (a, slow), (b, fast) in zip(have, have[1:]):
        if each[0] <= b:
            return slow + (fast - slow) * (each[0] - a) / (b - a)
    return have[-1][1]


class Servers:
    """What a round has given out."""
    def __init__(self, n, gpus, host, fair, is_packed):
        self.free = [[gpus, *host] for _ in range(n)]
        self.jobs = [[] for _ in range(n)]
        self.fair, self.is_packed = fair, is_packed

    def room(self, node, each, most):
        gpus, *host = self.free[node]
        return max(0, min([gpus, most] + [int((has + LITTLE) / wants) for has, wants in zip(host, each) if wants > 0]))

    def by_free(self):
        return sorted((node for node, free in enumerate(self.free) if free[0] > 0), key=lambda node: self.free[node][0])

    def charge(self, job, sign):
        for node, n in job["spot"].items():
            for k, amount in enumerate((1, *job["each"])):
                self.free[node][k] -= sign * n * amount

    def find(self, job, each):
        need, spot = job["gpus"], {}
        order = self.by_free() if self.is_packed else range(len(self.free))
        if self.is_packed and need > 1:
            whole = [node for node in order if self.room(node, each, need) == need]
            order = whole[:1] or order
        for node in order:
            n = self.room(node, each, need - sum(spot.values()))
            if n > 0:
                spot[node] = n
        return spot if sum(spot.values()) == need else None

    def give(self, job, each):
        job["spot"] = self.find(job, each)
        if job["spot"] is None:
            return False
        job["each"] = each
        self.charge(job, 1)
        for node in job["spot"]:
            self.jobs[node].append(job)
        return True

    def least(self, job):
        """The fair part where the job wants more than that of anything."""
        return self.fair if any(a > b + LITTLE for a, b in zip(job["wants"], self.fair)) else job["wants"]

    def put_back(self, job):
        """Unless one of its servers then lacks something, of which the job had less."""
        before = job["each"]
        self.charge(job, -1)
        job["each"] = self.least(job)
        self.charge(job, 1)
        if any(amount < -LITTLE for node in job["spot"] for amount in self.free[node]):
            self.charge(job, -1)
            job["each"] = before
            self.charge(job, 1)

    def make_room(self, node, each, n):
        """First those on the fewest servers, then those with the most CPUs, then memory."""
        lacks = [max(0, n * wants - has) for wants, has in zip(each, self.free[node][1:])]
        for job in sorted(self.jobs[node], key=lambda job: (len(job["spot"]), *(-amount for amount in job["each"]))):
            if max(lacks) <= LITTLE:
                break
            lacks = [max(0, lack - job["spot"][node] * max(0, had - fair))
                     for lack, had, fair in zip(lacks, job["each"], self.fair)]
            self.put_back(job)

    def tune(self, job):
        each, need = self.least(job), job["gpus"]
        if self.give(job, job["wants"]) or self.give(job, each):
            return True
        whole = [node for node, free in enumerate(self.free) if free[0] >= need] if need > 1 else []
        for node in whole[:1] or self.by_free():
            n = min(self.free[node][0], need)
            need -= n
            if n > 0:
                self.make_room(node, each, n)
        return self.give(job, each)


def ends(jobs, cluster, mode, order):
    """A round begins with the first job that comes; a job that ends in it leaves its GPUs to the next one."""
    n, gpus, host, fair, is_packed = cluster
    now, coming, active = 0, list(jobs), []
    while coming or active:
        now = now if active else max(now, coming[0]["submit"])
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        servers, left, chosen = Servers(n, gpus, host, fair, is_packed), n * gpus, []
        for job in sorted(active, key=lambda job: (job["left"] / job["rate"][mode], job["submit"])) \
                if order == "srtf" else list(active):
            each = {"fair": fair, "greedy": job["wants"]}
            if job["gpus"] <= left and (servers.tune(job) if mode == "tune" else servers.give(job, each[mode])):
                left -= job["gpus"]
                chosen.append(job)
        for job in chosen:
            per_s = speed(job["rows"], job["each"])
            job["end"] = now + job["left"] / per_s
            job["left"] -= per_s * ROUND
        active = [job for job in active if job["left"] > LITTLE]
        now += ROUND


def synergy(draw, run):
    """Iterations are some us, after which a job stops: ends are within 1 s. Orders that compare the past of jobs
    (las, ftf) have ties, which such a part of an iteration decides; they are left out."""
    n, gpus = draw.randint(1, 3), draw.choice([1, 2, 4, 8])
    fair = draw.choice([1, 2, 3, 4]), draw.choice([10, 20, 50])
    host = gpus * fair[0], gpus * fair[1]
    mode, order, is_packed = draw.choice(["fair", "greedy", "tune"]), draw.choice(["fifo", "srtf"]), draw.random() < 0.5
    widths = [width for width in (1, 2, 4, 8, 16) if width <= n * gpus]
    table, models = ["device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s"], {}
    for m in range(draw.randint(1, 4)):
        wants = fair[0] * draw.choice([0.5, 1, 2, 3, gpus]), fair[1] * draw.choice([0.5, 1, 1.5, 2])
        for width in widths:
            slow = draw.randint(10000, 100000)
            rows = [(*wants, slow)]
            if wants[0] > fair[0] or wants[1] > fair[1]:
                rows = [(*fair, slow), (*map(max, wants, fair), round(slow * draw.choice([1.2, 1.5, 2, 3])))]
            models[m, width] = rows
            table += [f"ideal,m{m},{width},{cpus},{mem},{per_s}" for cpus, mem, per_s in rows]
    jobs, submit = [], draw.choice([0, 500])
    for _ in range(draw.choice([1, 2, 5, 10, 25])):
        submit += draw.choice([0, 0, 7, 300, draw.randint(1, 600), draw.choice([8, 5000])])
        model, width = draw.choice(list(models))
        rows = models[model, width]
        most = [int(1000 * amount / width + 1e-6) / 1000 for amount in host]
        wants = fair if width > gpus else tuple(map(min, rows[-1][:2], most))
        rate = {"fair": speed(rows, fair), "greedy": speed(rows, wants), "tune": speed(rows, wants)}
        jobs.append({"submit": submit, "gpus": width, "rows": rows, "wants": wants, "rate": rate, "model": model,
                     "left": draw.randint(10**6, 2 * 10**8)})
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["left"]) for i, job in enumerate(jobs)]
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    with open("cluster.ini", "w") as to:
        to.write(f"[node]\ndevice = ideal\ncount = {n}\ngpus = {gpus}\ncpus = {host[0]}\nhost_mem = {host[1]}GiB\n")
    got = run(rows, "--policy", "synergy", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set", f"mode={mode}",
              "--set", f"order={order}", "--set", f"consolidate={'on' if is_packed else 'off'}")
    ends(jobs, (n, gpus, host, fair, is_packed), mode, order)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1]
