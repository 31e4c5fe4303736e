# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that learn by a table of goodput (Qiao et al., OSDI 2021, sections 3 and 5), and Optimus on them as Pollux'
simulator has it (Peng et al., EuroSys 2018): GPUs one by one to the job that they save the most time."""
import math

TICK = 60


def up(x):
    return math.ceil(x - 1e-8)


class Application:
    """The rows of a table, and what follows from them."""
    def __init__(self, draw, n_nodes, node_gpus):
        first = draw.choice([4, 8, 16, 32])
        self.sizes = [first << k for k in range(draw.randint(1, 4))]
        self.max_batch = draw.choice([self.sizes[-1], self.sizes[-1] + 5, 2 * self.sizes[-1]])
        self.max_local = min(self.max_batch, draw.choice([8, 16, 64]))
        self.min_local = min(self.max_local, draw.choice([2, 4, 8]))
        self.n_epochs = draw.randint(1, 6)
        self.epochs = {size: self.draw_epochs(draw, size) for size in self.sizes}
        self.steps = self.draw_steps(draw, n_nodes, node_gpus)

    def draw_epochs(self, draw, size):
        rows, progress, iterations = [], 0.0, 0
        for _ in range(self.n_epochs):
            progress += draw.randint(10**5, 10**6)
            iterations += draw.randint(10**4, 10**6)
            rows.append((progress, draw.randint(1, 100), draw.randint(1, 10000), iterations))
        return rows

    def draw_steps(self, draw, n_nodes, node_gpus):
        """Seconds of a step and of its synchronisation, by nodes and GPUs, then by the batch of a GPU."""
        steps = {}
        for gpus in range(1, n_nodes * node_gpus + 1):
            for nodes in range(math.ceil(gpus / node_gpus), min(gpus, n_nodes) + 1):
                locals_ = sorted(draw.sample(range(self.min_local, self.max_local + 2), draw.randint(1, 2)))
                sync = draw.randint(0, 20 * nodes) / 1e6 if gpus > 1 else 0
                steps[nodes, gpus] = [(local, round(draw.randint(10, 30) * local / 1e6 + sync, 9), sync) for local in locals_]
        return steps

    def batch(self, gpus, all_, least=0):
        """Of a GPU in a step, and the steps that only sum."""
        each = up(all_ / gpus)
        summed = up(each / self.max_local) - 1
        if gpus == 1 and all_ > self.sizes[0]:
            summed = max(1, summed)
        summed = max(summed, least)
        return min(up(each / (summed + 1)), self.max_batch // (gpus * (summed + 1))), summed

    def step_s(self, nodes, gpus, batch):
        rows, (local, summed) = self.steps[nodes, gpus], batch
        below = [row for row in rows if row[0] <= local] or rows[:1]
        above = [row for row in rows if row[0] >= local] or rows[-1:]
        (a, step, sync), (b, more, more_sync) = below[-1], above[0]
        part = (local - a) / (b - a) if b > a else 0
        step, sync = step + part * (more - step), sync + part * (more_sync - sync)
        return step + (step - sync) * summed

    def between(self, size, epoch, k):
        low, high = max([s for s in self.sizes if s <= size], default=self.sizes[0]), \
            min([s for s in self.sizes if s >= size], default=self.sizes[-1])
        a, b = self.epochs[low][epoch][k], self.epochs[high][epoch][k]
        return a + (b - a) * (size - low) / (high - low) if high > low else a

    def epoch_s(self, epoch, nodes, gpus, all_, batch=None):
        """All of an epoch: the fastest way to its end."""
        batch = batch or self.batch(gpus, all_)
        size = gpus * batch[0] * (batch[1] + 1)
        sqr, var = self.between(size, epoch, 1), self.between(size, epoch, 2)
        gain = (var + sqr) / (var * self.sizes[0] / size + sqr)
        ends = [min(rows[e][0] for rows in self.epochs.values()) if e >= 0 else 0 for e in (epoch - 1, epoch)]
        return (ends[1] - ends[0]) / (gain / self.step_s(nodes, gpus, batch))

    def rows(self, name):
        out = [f"limits,{name},,,,,,,,,,,,{self.max_batch},{self.min_local},{self.max_local},"]
        for (nodes, gpus), steps in self.steps.items():
            out += [f"step,{name},,{nodes},{gpus},{local},{step:.9f},{sync:.9f},,,,,,,,," for local, step, sync in steps]
        for size, epochs in self.epochs.items():
            out += [f"epoch,{name},,,,{size},,,{e},{progress:.1f},{sqr},{var},{iterations},,,,"
                    for e, (progress, sqr, var, iterations) in enumerate(epochs)]
        return out


HEAD = "row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,iterations," \
    "max_batch,min_local,max_local,most_gpus"


# --- the world ------------------------------------------------------------------------------------
def learn(job, takes):
    """A job runs on its nodes for so long."""
    app, idle = job["app"], min(takes, job["starts"])
    job["starts"] -= idle
    left = takes - idle
    while job["epoch"] < app.n_epochs:
        all_s = app.epoch_s(job["epoch"], len(set(job["on"])), len(job["on"]), job["batch"])
        needs = (1 - job["done"]) * all_s
        if needs > left:
            job["done"] += left / all_s
            return None
        left -= needs
        job["epoch"], job["done"] = job["epoch"] + 1, 0.0
    return takes - left


def widths(jobs, n_gpus, node_gpus):
    """The first in line get one GPU each; then again and again the largest saving, the first of equals."""
    def step(job, gpus):
        app = job["app"]
        return app.step_s(math.ceil(gpus / node_gpus), gpus, app.batch(gpus, job["batch"], int(gpus == 1)))

    given = {id(job): 1 for job in jobs[:n_gpus]}
    left = n_gpus - len(given)
    while left > 0:
        best = None
        for job in jobs:
            app, gpus = job["app"], given.get(id(job), 0)
            if not gpus or gpus >= max(1, job["batch"] // app.min_local):
                continue
            rest = int(app.between(job["batch"], app.n_epochs - 1, 3) - app.between(job["batch"], job["epoch"], 3)) or 1
            gain = (step(job, gpus) - step(job, gpus + 1)) * rest if gpus < n_gpus else 0
            if gain > 0 and (best is None or gain > best[0] * (1 + 1e-12)):
                best = gain, job
        if best is None:
            break
        given[id(best[1])] += 1
        left -= 1
    return given


def take(free, gpus):
    """From the node with the most free GPUs, again and again."""
    on = []
    while len(on) < gpus:
        node = max(range(len(free)), key=lambda node: (free[node], -node))
        n = min(free[node], gpus - len(on))
        free[node] -= n
        on += [node] * n
    return on


def ends(jobs, n_nodes, node_gpus, start_s):
    now, active, coming = 0, [], list(jobs)
    while coming or active:
        for job in active:
            after = learn(job, TICK) if job["on"] else None
            job["end"] = None if after is None else now - TICK + after
        active = [job for job in active if job["end"] is None]
        if not active and coming:
            now = max(now, math.ceil(coming[0]["submit"] / TICK) * TICK)
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        given, free = widths(active, n_nodes * node_gpus, node_gpus), [node_gpus] * n_nodes
        moves = [job for job in active if given.get(id(job), 0) != len(job["on"])]
        for job in moves:
            job["on"] = []
        for job in active:
            for node in job["on"]:
                free[node] -= 1
        for job in sorted(moves, key=lambda job: given.get(id(job), 0)):
            job["on"] = take(free, given.get(id(job), 0))
            job["starts"] = start_s
        now += TICK


def optimus(draw, run):
    """A job stops at the end of a step, of up to some ms, so that ends are within 1 s."""
    n_nodes, node_gpus, start_s = draw.randint(1, 4), draw.choice([1, 2, 4]), draw.choice([0, 0, 25])
    apps = [Application(draw, n_nodes, node_gpus) for _ in range(draw.randint(1, 3))]
    with open("goodput.csv", "w") as to:
        to.write("\n".join([HEAD] + [row for i, app in enumerate(apps) for row in app.rows(f"app{i}")]) + "\n")
    jobs, submit = [], 0
    for _ in range(draw.choice([1, 2, 4, 8, 12])):
        submit += draw.choice([0, draw.randrange(200), draw.randrange(2000)])
        app = draw.choice(apps)
        size = draw.choice([size for size in app.sizes + [app.sizes[0] + 1] if size <= app.max_batch])
        jobs.append({"submit": submit, "app": app, "batch": size, "epoch": 0, "done": 0.0, "on": [], "starts": 0})
    rows = [("job_id", "submit_s", "gpus", "model", "batch", "rescale_s")]
    rows += [(i, job["submit"], 1, f"app{apps.index(job['app'])}", job["batch"], start_s) for i, job in enumerate(jobs)]
    with open("cluster.ini", "w") as to:
        to.write(f"[node]\ndevice = ideal\ncount = {n_nodes}\ngpus = {node_gpus}\n")
    got = run(rows, "--policy", "adaptdl", "--set", "rule=optimus", "--goodput", "goodput.csv", "--cluster", "cluster.ini")
    ends(jobs, n_nodes, node_gpus, start_s)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or 0) - job["end"]) > 1]


# --- a job alone ----------------------------------------------------------------------------------
SIZES = 50


class Even(Application):
    """On one GPU. A step takes what its model says: linear in the batch."""
    def draw_steps(self, draw, _n_nodes, _node_gpus):
        self.base, self.each = draw.randint(10**3, 10**4) * 1e-7, draw.randint(10**2, 10**3) * 1e-7
        locals_ = sorted({self.min_local, self.max_local})
        return {(1, 1): [(local, self.base + self.each * local, 0) for local in locals_]}

    def divided(self, each):
        summed = max(up(each / self.max_local) - 1, int(each > self.sizes[0] + 1e-8), 0)
        return up(each / (summed + 1)), summed

    def within(self, batch):
        return max(1, min(batch[0], self.max_batch // (batch[1] + 1))), batch[1]


class Known:
    """What a job has measured. With two batches it knows the times of all; with one, half of that is the batch's."""
    def __init__(self, app):
        self.app, self.seen, self.sqr, self.var = app, set(), 0, 0

    def measure(self, batch, epoch):
        size = batch[0] * (batch[1] + 1)
        self.seen.add(batch[0])
        self.sqr, self.var = self.app.between(size, epoch, 1), self.app.between(size, epoch, 2)

    def goodput(self, batch):
        app, first = self.app, min(self.seen)
        sums = app.base + app.each * batch[0]
        if len(self.seen) == 1:
            sums = (app.base + app.each * first) * (1 + batch[0] / first) / 2
        size = batch[0] * (batch[1] + 1)
        scale = size / app.sizes[0]
        return size / (batch[1] * sums + sums) * (self.var + self.sqr) / (self.var / scale + self.sqr) / scale

    def best(self):
        """Of batches in equal ratios, as far as the limits allow them."""
        app = self.app
        least = max(app.sizes[0], app.min_local)
        if not self.seen:
            return app.within(app.divided(least))
        batches = [app.divided(least * (app.max_batch / least) ** (i / (SIZES - 1))) for i in range(SIZES)]
        goodputs = [self.goodput(batch) if app.min_local <= batch[0] <= app.max_local else 0 for batch in batches]
        return app.within(batches[goodputs.index(max(goodputs))])


def end_alone(app, submit, start_s):
    """The job measures at ticks and at the ends of its epochs, and takes a batch then."""
    now = math.ceil(submit / TICK) * TICK
    known, epoch, done, tick = Known(app), 0, 0.0, now + TICK
    now, batch = now + start_s, known.best()
    while True:
        all_s = app.epoch_s(epoch, 1, 1, 0, batch)
        until = min(tick, now + (1 - done) * all_s)
        done += (until - now) / all_s
        now = until
        known.measure(batch, epoch)
        batch = known.best()
        if until == tick:
            tick += TICK
            continue
        epoch, done = epoch + 1, 0.0
        if epoch == app.n_epochs:
            return now


def pollux(draw, run):
    """A job alone on a GPU: with which batch. Its own model is found by a descent, so that ends are within 1 % of
    the time that it takes. On several GPUs the descent stops short of what the job has measured, as in the program."""
    start_s, app = draw.choice([0, 25]), Even(draw, 1, 1)
    with open("goodput.csv", "w") as to:
        to.write("\n".join([HEAD, *app.rows("app")]) + "\n")
    submit = draw.randrange(1000)
    got = run([("job_id", "submit_s", "gpus", "model", "rescale_s"), (0, submit, 1, "app", start_s)],
              "--policy", "pollux", "--goodput", "goodput.csv", "--gpus-per-node", 1, "--set", "generations=2")
    end, got_end = end_alone(app, submit, start_s), float(got[0]["end_s"])
    return [f"the job ends at {got_end}, not {end}"] if abs(got_end - end) > 0.01 * (end - submit) else []
