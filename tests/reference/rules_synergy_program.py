# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under reference=synergy: rounds of Synergy's simulator (msr-fiddle/synergy @ 1bb2bed) on equal servers, of the
modes fair, greedy and tune, in its four orders. Jobs make whole iterations in a round, and end with one."""
import math

ROUND, LITTLE = 300, 1e-9


class Server:
    def __init__(self, gpus, host):
        self.gpus, self.host, self.jobs = gpus, list(host), []

    def room(self, each, most):
        n = 0
        while n < min(most, self.gpus) and all((n + 1) * a <= has + LITTLE for a, has in zip(each, self.host)):
            n += 1
        return n

    def charge(self, gpus, each, sign=1):
        self.host = [has - sign * gpus * a for has, a in zip(self.host, each)]


def by_free(servers):
    return sorted((server for server in servers if server.gpus > 0), key=lambda server: server.gpus)


def place(servers, job, each, is_packed):
    """GPU by GPU over the servers: with is_packed a gang goes to one that has all, else to the fullest first."""
    order, need, spot = by_free(servers) if is_packed else servers, job["gpus"], []
    if is_packed and need > 1:
        order = [server for server in order if server.room(each, need) == need][:1] or order
    for server in order:
        n = server.room(each, need)
        spot += [(server, n)] * (n > 0)
        need -= n
    if need > 0:
        return False
    job["spot"], job["each"] = spot, each
    for server, n in spot:
        server.gpus -= n
        server.charge(n, each)
        server.jobs.append(job)
    return True


def is_more(each, fair):
    return any(a > b + LITTLE for a, b in zip(each, fair))


def make_room(servers, job, each, fair):
    """Jobs with more than their part are put back to it: those on the fewest servers first, then those with the most."""
    need = job["gpus"]
    whole = [server for server in servers if server.gpus >= need] if need > 1 else []
    for server in whole[:1] or by_free(servers):
        n = min(server.gpus, need)
        need -= n
        for other in sorted(server.jobs, key=lambda other: (len(other["spot"]), *(-a for a in other["each"]))):
            if n == 0 or all(n * a <= has + LITTLE for a, has in zip(each, server.host)):
                break
            if is_more(other["each"], fair):
                for at, k in other["spot"]:
                    at.charge(k, other["each"], -1)
                    at.charge(k, fair)
                other["each"], other["speedup"] = fair, 1.0


def tune(servers, job, fair, is_packed):
    if place(servers, job, job["wants"], is_packed):
        return True
    each = job["wants"]
    if is_more(each, fair):
        each, job["speedup"] = fair, 1.0
    if place(servers, job, each, is_packed):
        return True
    make_room(servers, job, each, fair)
    return place(servers, job, each, is_packed)


def left_s(job, mode):
    left = job["iteration"] * job["left"]
    return left if mode == "fair" else left / job["speedup"]


def in_line(jobs, now, mode, order, n_gpus):
    """ftf begins with the job that is slowed down least. By las only the first for which there are GPUs are offered any."""
    keys = {"fifo": lambda _: 0, "srtf": lambda job: left_s(job, mode), "las": lambda job: job["had"] * job["gpus"],
            "ftf": lambda job: (now - job["submit"] + left_s(job, mode)) / (job["iteration"] * job["iterations"])}
    line = sorted(jobs, key=lambda job: (keys[order](job), job["submit"]))
    if order != "las" or mode == "fair":
        return line
    first = []
    for job in line:
        if job["gpus"] <= n_gpus:
            first.append(job)
            n_gpus -= job["gpus"]
    return sorted(first, key=lambda job: -job["gpus"]) if mode == "tune" else first


def a_round(active, now, among, mode, order, is_packed):
    n, gpus, host = among
    servers, fair, left = [Server(gpus, host) for _ in range(n)], tuple(has / gpus for has in host), n * gpus
    line = in_line(active, now, mode, order, left)
    for job in active:
        job["speedup"] = job["full"]
    chosen = []
    for job in line:
        if job["gpus"] > left:
            continue
        can = mode == "fair" or (tune(servers, job, fair, is_packed) if mode == "tune" else
                                 place(servers, job, job["wants"], is_packed))
        if can:
            left -= job["gpus"]
            chosen.append(job)
    for job in chosen:
        job["left"] -= math.floor(ROUND / (job["iteration"] if mode == "fair" else job["iteration"] / job["speedup"]))
        job["had"] += ROUND
        job["end"] = now + ROUND if job["left"] <= 0 else None


def ends(jobs, among, mode, order, is_packed, first):
    now = first or math.ceil(jobs[0]["submit"] / ROUND) * ROUND
    coming, active = list(jobs), []
    while coming or active:
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        a_round(active, now, among, mode, order, is_packed)
        active = [job for job in active if job["end"] is None]
        now += ROUND


def model_of(draw, fair):
    """What it wants for each GPU, seconds of an iteration, and how much faster it is with that: no model wants more in vain,
    and none is faster with no more CPUs than its part."""
    cpus = draw.choice([0.5, 1, 2, 3, 4])
    wants = fair[0] * cpus, fair[1] * draw.choice([0.5, 1, 2, 3] if cpus > 1 else [0.5, 1])
    return wants, draw.choice([0.6, 0.78, 0.011, 0.12, 2.5]), draw.choice([1.15, 1.5, 2.9]) if is_more(wants, fair) else 1.0


def at_width(model, gpus, server_gpus, host, fair):
    """Capped at a server, by which it speeds up less; a gang that is wider than a server has its part."""
    (cpus, mem), iteration, speedup = model
    if gpus > server_gpus:
        return fair, iteration, 1.0
    has = min(cpus * gpus, host[0])
    if has < cpus * gpus:
        speedup = 1 + (speedup - 1) / (cpus * gpus - fair[0] * gpus) * (has - fair[0] * gpus)
    return (math.floor(has / gpus * 1000 + 1e-6) / 1000, min(mem * gpus, host[1]) / gpus), iteration, speedup


def rows_of(job, mode, fair):
    """In mode fair no job is faster than with its part."""
    name, iteration, wants = f"ideal,m{job['model']},{job['gpus']}", job["iteration"], job["wants"]
    if mode != "fair":
        yield f"{name},{wants[0]},{wants[1]},{1 / (iteration / job['full'])!r}"
    if mode == "fair" or is_more(wants, fair):
        yield f"{name},{fair[0]},{fair[1]},{1 / iteration!r}"


def synergy_program(draw, run):
    gpus, fair = draw.choice([1, 2, 4, 8]), (draw.choice([3, 4]), draw.choice([50, 60]))
    among = draw.randint(1, 4), gpus, tuple(gpus * a for a in fair)
    mode, order = draw.choice(["fair", "greedy", "tune", "tune"]), draw.choice(["fifo", "srtf", "las", "ftf"])
    is_packed, first = draw.random() < 0.5, draw.choice([None, 1])
    models = [model_of(draw, fair) for _ in range(draw.randint(1, 5))]
    widths, jobs, submit = [width for width in (1, 1, 1, 2, 4, 8, 16) if width <= among[0] * gpus], [], 0
    for _ in range(draw.choice([2, 5, 20, 40])):
        submit += draw.choice([0, 1, draw.randrange(50), draw.randrange(2000)]) if first is None else 0
        model, width = draw.randrange(len(models)), draw.choice(widths)
        wants, iteration, full = at_width(models[model], width, gpus, among[2], fair)
        iterations = max(1, int(draw.choice([1, 300, 3000, 30000]) / iteration * draw.uniform(0.2, 2)))
        jobs.append({"submit": submit, "gpus": width, "model": model, "wants": wants, "iteration": iteration, "full": full,
                     "speedup": full, "iterations": iterations, "left": iterations, "had": 0, "end": None})
    table = {row for job in jobs for row in rows_of(job, mode, fair)}
    with open("rates.csv", "w") as to:
        to.write("\n".join(["device,model,gpus,cpus_per_gpu,host_gib_per_gpu,iterations_per_s", *sorted(table)]) + "\n")
    with open("cluster.ini", "w") as to:
        to.write(f"[node]\ndevice = ideal\ncount = {among[0]}\ngpus = {gpus}\ncpus = {among[2][0]}\nhost_mem = {among[2][1]}GiB\n")
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{job['model']}", job["iterations"]) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "synergy", "--set", "reference=synergy", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set",
              f"mode={mode}", "--set", f"order={order}", "--set", f"consolidate={'on' if is_packed else 'off'}", "--set",
              f"first={first or 0}s")
    ends(jobs, among, mode, order, is_packed, first)
    return [f"{mode}, {order}: job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"] or -1) - job["end"]) > 1e-3]
