# SPDX-License-Identifier: GPL-3.0-or-later
"""Synergy where nodes fail, and where jobs come after others: a job that fails waits for the next round, in its place of the
line. A job that gets its place anew, with as much beside its GPUs, runs on; one that gets another has a checkpoint there."""
from outages import Node, comes_at, draw_chain, draw_outages, kept, words_of
from rules_synergy import LITTLE, ROUND, Servers, any_rates, draw_models, draw_servers, in_line, speed, write_servers


class Walk:
    """Works in iterations; checkpoints are one after each such time alone, with the fastest row. had: of GPUs, alone."""
    def __init__(self, jobs, cluster, nodes, mode, order, every, is_stored):
        self.jobs, self.among, self.fair, self.is_packed, self.nodes = jobs, *cluster, nodes
        self.mode, self.order, self.every, self.is_stored = mode, order, every, is_stored
        self.now, self.active, self.n_round_gpus = 0.0, [], 0

    def pass_to(self, then):
        for job in self.active:
            if job["runs"]:
                job["left"] -= speed(job["rows"], job["each"]) * (then - self.now)
                job["had"] += then - self.now
        self.now = then

    def made(self, job):
        return (job["work"] - job["left"]) / job["fastest"]

    def stop(self, job):
        job["left_on"] = [] if self.is_stored else list(job["spot"])
        job["saved"] = self.made(job) if self.is_stored else job["saved"]
        job["runs"] = False

    def fail(self, at):
        for job in self.active:
            if at in (job["spot"] if job["runs"] else job["left_on"]):
                job["saved"] = kept(self.made(job), job["saved"], self.every)
                job["left"] = job["work"] - job["saved"] * job["fastest"]
                job["had"] = job["saved"] if job["runs"] else job["had"]
                job["runs"], job["left_on"], job["last"] = False, [], None

    def begin(self):
        """The jobs that run in the round, all placed anew."""
        among = [(gpus if node.is_up else 0, host) for node, (gpus, host) in zip(self.nodes, self.among)]
        servers, left = Servers(among, self.fair, self.is_packed), sum(gpus for gpus, _ in among)
        chosen = []
        for job in in_line(self.active, self.now, self.mode, self.order, left):
            each = {"fair": self.fair, "greedy": job["wants"]}
            job["had_each"] = job.get("each")
            if job["gpus"] <= left and (servers.tune(job) if self.mode == "tune" else servers.give(job, each[self.mode])):
                left -= job["gpus"]
                chosen.append(job)
        for job in self.active:
            place = (list(job["spot"].items()), job["each"]) if job in chosen else None
            if job["runs"] and place != job["last"]:
                job["spot"], spot = dict(job["last"][0]), job.get("spot")
                self.stop(job)
                job["spot"] = spot
            if place and not job["runs"]:
                job["runs"], job["left_on"] = True, []
            job["last"] = place if job["runs"] else None

    def go(self):
        coming, ends = list(self.jobs), None
        while coming or self.active:
            runs = [job for job in self.active if job["runs"]]
            then = min([self.now + max(0, job["left"]) / speed(job["rows"], job["each"]) for job in runs]
                       + [comes_at(job, self.jobs) for job in coming] + [node.turns_ns / 1e9 for node in self.nodes]
                       + ([ends] if ends is not None else []))
            self.pass_to(then)
            for job in [job for job in runs if job["left"] < 0.5]:
                job["end"] = then
                self.active.remove(job)
            for at, node in enumerate(self.nodes):
                if node.turns_ns / 1e9 <= then + 1e-9:
                    node.turn()
                    self.fail(at)
            for job in [job for job in coming if comes_at(job, self.jobs) <= then]:
                coming.remove(job)
                self.active.append(job)
                job["submit"] = then
            if ends is None or then >= ends - 1e-9:
                ends = then + ROUND if self.active else None
                if self.active:
                    self.begin()


def synergy_nodes(draw, run):
    """Iterations are some us, after which a job stops: ends are within 1 s. No two jobs come together."""
    servers, fair = draw_servers(draw, draw.random() < 0.3)
    mode, order, is_packed = draw.choice(["fair", "greedy", "tune"]), draw.choice(["fifo", "srtf"]), draw.random() < 0.5
    is_stored = draw.random() < 0.6
    up, down, every = draw_outages(draw)
    widths = [width for width in (1, 2, 4, 8) if width <= sum(gpus for gpus, _ in servers)]
    models = draw_models(draw, fair, widths, any_rates)
    table = ["device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s"]
    table += [f"ideal,m{m},{width},{cpus},{mem},{per_s}" for (m, width), rows in models.items() for cpus, mem, per_s in rows]
    jobs, submit = [], 0
    gpus, host = max(servers, key=lambda server: server[0])
    for i in range(draw.choice([1, 2, 5, 10, 25])):
        submit += 1 + draw.choice([draw.randrange(10**5), draw.randrange(10**6), draw.randrange(4 * 10**6)])
        (model, width), (after, think) = draw.choice(list(models)), draw_chain(draw, i)
        rows = models[model, width]
        wants = fair if width > gpus else tuple(map(min, rows[-1][:2], [int(1000 * amount / width + 1e-6) / 1000 for amount in host]))
        rate = {"fair": speed(rows, fair), "greedy": speed(rows, wants), "tune": speed(rows, wants)}
        work = draw.randint(10**6, 2 * 10**8)
        jobs.append({"number": i, "submit": submit / 1000, "gpus": width, "rows": rows, "wants": wants, "rate": rate, "model": model,
                     "work": work, "left": work, "had": 0, "saved": 0, "fastest": rows[-1][2], "after": after, "think": think,
                     "runs": False, "left_on": [], "last": None})
    rows = [("job_id", "submit_s", "gpus", "model", "iterations", "after", "think_s")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["work"], "" if job["after"] is None else job["after"], job["think"])
             for i, job in enumerate(jobs)]
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    write_servers(servers)
    got = run(rows, "--policy", "synergy", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set", f"mode={mode}", "--set",
              f"order={order}", "--set", f"consolidate={'on' if is_packed else 'off'}", "--set",
              f"preempt={'restart' if is_stored else 'suspend'}", *words_of(up, down, every))
    nodes = [Node(i, gpus, None, up * 10**9, down * 10**9) for i, (gpus, _) in enumerate(servers)]
    Walk(jobs, (servers, fair, is_packed), nodes, mode, order, every, is_stored).go()
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1]
