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
    def __init__(self, servers, fair, is_packed):
        self.free = [[gpus, *host] for gpus, host in servers]
        self.jobs = [[] for _ in servers]
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


def in_line(jobs, now, mode, order, left):
    """By las only as many as there are GPUs for are offered any; tune offers the widest of these first."""
    keys = {"fifo": lambda _: 0, "srtf": lambda job: job["left"] / job["rate"][mode],
            "las": lambda job: job["had"] * job["gpus"],
            "ftf": lambda job: -(now - job["submit"] + job["left"] / job["rate"][mode]) / (job["work"] / job["rate"]["fair"])}
    line = sorted(jobs, key=lambda job: (keys[order](job), job["submit"]))
    if order != "las":
        return line
    first = []
    for job in line:
        if job["gpus"] <= left:
            left -= job["gpus"]
            first.append(job)
    return sorted(first, key=lambda job: -job["gpus"]) if mode == "tune" else first


def ends(jobs, cluster, mode, order):
    """A round begins with the first job that comes; a job that ends in it leaves its GPUs to the next one."""
    among, fair, is_packed = cluster
    now, coming, active = 0, list(jobs), []
    while coming or active:
        now = now if active else max(now, coming[0]["submit"])
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        servers, left, chosen = Servers(among, fair, is_packed), sum(gpus for gpus, _ in among), []
        for job in in_line(active, now, mode, order, left):
            each = {"fair": fair, "greedy": job["wants"]}
            if job["gpus"] <= left and (servers.tune(job) if mode == "tune" else servers.give(job, each[mode])):
                left -= job["gpus"]
                chosen.append(job)
        for job in chosen:
            per_s = speed(job["rows"], job["each"])
            job["end"] = now + job["left"] / per_s
            job["left"] -= per_s * ROUND
            job["had"] += ROUND
        active = [job for job in active if job["left"] > LITTLE]
        now += ROUND


def draw_servers(draw, is_unlike):
    fair = draw.choice([1, 2, 3, 4]), draw.choice([10, 20, 50])
    servers = []
    for _ in range(draw.randint(2, 3) if is_unlike else 1):
        gpus, more = draw.choice([1, 2, 4, 8]), [draw.choice([1, 1, 2]) if is_unlike else 1 for _ in fair]
        servers.append((gpus, tuple(gpus * amount * times for amount, times in zip(fair, more))))
    if is_unlike:
        fair = tuple(min(host[k] / gpus for gpus, host in servers) for k in range(2))
        return servers, fair
    return servers * draw.randint(1, 3), fair


def draw_models(draw, fair, widths, rates):
    """By model and width: what it wants and how fast it is."""
    models = {}
    for m in range(draw.randint(1, 4)):
        wants = fair[0] * draw.choice([0.5, 1, 2, 3, max(widths)]), fair[1] * draw.choice([0.5, 1, 1.5, 2])
        for width in widths:
            slow, fast = rates(draw)
            models[m, width] = [(*wants, slow)]
            if wants[0] > fair[0] or wants[1] > fair[1]:
                models[m, width] = [(*fair, slow), (*map(max, wants, fair), fast)]
    return models


def write_servers(servers):
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node s{i}]\ndevice = ideal\ngpus = {gpus}\ncpus = {host[0]}\nhost_mem = {host[1]}GiB\n"
                      for i, (gpus, host) in enumerate(servers))


def hold(draw, run, order, is_unlike, rates):
    servers, fair = draw_servers(draw, is_unlike)
    mode, is_packed = draw.choice(["fair", "greedy", "tune"]), draw.random() < 0.5
    widths = [width for width in (1, 2, 4, 8, 16) if width <= sum(gpus for gpus, _ in servers)]
    models = draw_models(draw, fair, widths, rates)
    table = ["device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s"]
    table += [f"ideal,m{m},{width},{cpus},{mem},{per_s}" for (m, width), rows in models.items() for cpus, mem, per_s in rows]
    jobs, submit = [], draw.choice([0, 500])
    gpus, host = max(servers, key=lambda server: server[0])
    for _ in range(draw.choice([1, 2, 5, 10, 25])):
        submit += draw.choice([0, 0, 7, 300, draw.randint(1, 600), draw.choice([8, 5000])])
        model, width = draw.choice(list(models))
        rows = models[model, width]
        most = [int(1000 * amount / width + 1e-6) / 1000 for amount in host]
        wants = fair if width > gpus else tuple(map(min, rows[-1][:2], most))
        rate = {"fair": speed(rows, fair), "greedy": speed(rows, wants), "tune": speed(rows, wants)}
        jobs.append({"submit": submit, "gpus": width, "rows": rows, "wants": wants, "rate": rate, "model": model,
                     "work": draw.randint(10**6, 2 * 10**8) if rates is any_rates else draw.randint(10**5, 10**7), "had": 0})
        jobs[-1]["left"] = jobs[-1]["work"]
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["left"]) for i, job in enumerate(jobs)]
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    write_servers(servers)
    got = run(rows, "--policy", "synergy", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set", f"mode={mode}",
              "--set", f"order={order}", "--set", f"consolidate={'on' if is_packed else 'off'}")
    ends(jobs, (servers, fair, is_packed), mode, order)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1]


def any_rates(draw):
    slow = draw.randint(10000, 100000)
    return slow, round(slow * draw.choice([1.2, 1.5, 2, 3]))


def even_rates(draw):
    """Rounds have whole iterations."""
    slow = draw.choice([1000, 2000, 2500, 5000])
    return slow, slow * draw.choice([2, 4, 5])


def synergy(draw, run):
    """Iterations are some us, after which a job stops: ends are within 1 s."""
    return hold(draw, run, draw.choice(["fifo", "srtf"]), draw.random() < 0.3, any_rates)


def synergy_ftf(draw, run):
    """Jobs that are slowed down alike have ties, which a part of an iteration would decide."""
    return hold(draw, run, "ftf", draw.random() < 0.3, even_rates)


def synergy_las(draw, run):
    """Jobs without iterations, since a part of one would decide ties: their GPUs count alone. Ends to the microsecond."""
    (servers, fair), jobs, submit = draw_servers(draw, draw.random() < 0.3), [], 0
    mode, is_packed, n_gpus = draw.choice(["fair", "greedy", "tune"]), draw.random() < 0.5, sum(gpus for gpus, _ in servers)
    for _ in range(draw.choice([1, 2, 5, 10, 25])):
        submit += draw.choice([0, 0, 7, 300, draw.randint(1, 600), draw.choice([8, 5000])])
        jobs.append({"submit": submit, "gpus": draw.choice([n for n in (1, 1, 2, 3, 4, 8, 16) if n <= n_gpus]), "had": 0,
                     "rows": [(*fair, 1)], "wants": fair, "left": draw.randint(10**3, 5 * 10**6) / 1000})
    rows = [("job_id", "submit_s", "gpus", "duration_s", "mem_gib")]
    rows += [(i, job["submit"], job["gpus"], job["left"], 1) for i, job in enumerate(jobs)]
    write_servers(servers)
    got = run(rows, "--policy", "synergy", "--cluster", "cluster.ini", "--set", f"mode={mode}", "--set", "order=las", "--set",
              f"consolidate={'on' if is_packed else 'off'}")
    ends(jobs, (servers, fair, is_packed), mode, "las")
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1e-6]
