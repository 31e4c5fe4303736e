# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that learn, on several GPUs of several nodes and types (docs/models/goodput.md): a job has run for as long as
its epochs take where it ran. Where that was, and when, is read from the timeline, under policies that keep its batch;
which GPUs those are to be is not held here. Tables lack rows, have rows of placements, and name types."""
import copy
import json
import os

from rules_pollux import HEAD, Application


class Placed(Application):
    """An application on some type of GPU, with some of the rows of steps, and rows by placement."""
    def draw_steps(self, draw, n_nodes, node_gpus):
        steps = super().draw_steps(draw, n_nodes, node_gpus)
        kept = draw.sample(sorted(steps), draw.randint(1, len(steps)))
        self.places = {}
        for _ in range(draw.choice([0, 0, 1, 3])):
            place = least_turn([draw.randint(1, node_gpus) for _ in range(draw.randint(1, n_nodes))])
            sync = draw.randint(0, 20) / 1e6 if sum(place) > 1 else 0
            self.places[place] = [(local, round(draw.randint(10, 30) * local / 1e6 + sync, 9), sync)
                                  for local in sorted(draw.sample(range(1, self.max_local + 2), 2))]
        return {key: steps[key] for key in kept}

    def step_s(self, place, _gpus, batch):
        steps, self.steps = self.steps, {(0, 0): self.rows_for(place)}
        try:
            return super().step_s(0, 0, batch)
        finally:
            self.steps = steps

    def rows_for(self, place):
        """Of the placement; else of as many nodes and GPUs; else with the nearest number of GPUs, then of nodes. Rows of
        another placement come behind those by nodes and GPUs; of equals, the table's first in order."""
        if place in self.places:
            return self.places[place]
        known = [((len(p), sum(p)), 1, p, rows) for p, rows in self.places.items()]
        known += [(key, 0, (), rows) for key, rows in self.steps.items()]

        def far(one):
            (nodes, gpus), is_place = one[:2]
            return abs(gpus - sum(place)), abs(nodes - len(place)), is_place
        least = min(map(far, known))
        nearest = [one for one in known if far(one) == least]
        return nearest[0][3] if len(nearest) == 1 else None

    def rows(self, name):
        return super().rows(name) + [f"step,{name},{''.join(map(str, place))},,,{local},{step:.9f},{sync:.9f},,,,,,,,,"
                                     for place, rows in self.places.items() for local, step, sync in rows]


def least_turn(gpus):
    return min(tuple(gpus[i:] + gpus[:i]) for i in range(len(gpus)))


def on_types(name, there):
    """The rows of an application, those of steps by type."""
    out = [row.replace(",", ",,", 1) for row in next(iter(there.values())).rows(name) if not row.startswith("step")]
    return out + [row.replace(",", f",{t},", 1) for t, app in there.items() for row in app.rows(name) if row.startswith("step")]


# --- what ran where -------------------------------------------------------------------------------
def runs_of(path, gpus_of_node):
    """By job: begin, end and GPUs by node of each stretch on the same GPUs, and whether it ran."""
    node_of = [node for node, n in enumerate(gpus_of_node) for _ in range(n)]
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    held = {}
    for event in events:
        if event["ph"] == "X" and 10 <= event["pid"] < 10 + len(node_of):
            key = event["name"].split()[-1], round(event["ts"] * 1000), round((event["ts"] + event["dur"]) * 1000), event["cat"]
            held.setdefault(key, []).append(node_of[event["pid"] - 10])
    runs = {}
    for (job, begin, end, what), nodes in sorted(held.items(), key=lambda one: one[0][1:3]):
        runs.setdefault(job, []).append((begin / 1e9, end / 1e9, sorted(nodes), what == "running"))
    return runs


def place_of(nodes):
    """GPUs of each node, in the order of the nodes, from any of them on."""
    return least_turn([nodes.count(node) for node in sorted(set(nodes))])


def epoch_s(job, epoch, nodes, types):
    """On the slowest of its types; None: which rows hold is open."""
    place, all_s = place_of(nodes), []
    for app in {types[node]: job["there"][types[node]] for node in nodes}.values():
        if app.rows_for(place) is None:
            return None
        all_s.append(app.epoch_s(epoch, place, len(nodes), job["batch"]))
    return max(all_s)


def parted(name, runs, met):
    """The stretches of a job, and how fast it is in each beside other gangs on several nodes that it meets on one."""
    gangs = [run for other in runs if other != name for run in runs[other] if len(set(run[2])) > 1]
    for begin, end, nodes, is_running in runs[name]:
        near = [run for run in gangs if len(set(nodes)) > 1 and set(run[2]) & set(nodes)]
        times = sorted({begin, end} | {time for run in near for time in run[:2] if begin < time < end})
        for a, b in zip(times, times[1:]):
            meets = any(run[0] <= a and run[1] >= b for run in near)
            yield a, b, nodes, is_running, met if meets else 1


def lasts(job, runs, types):
    """Seconds by which the job's stretches are too long or too short for its epochs; None: which rows hold is open."""
    epoch, done, n, all_s, end = 0, 0.0, job["app"].n_epochs, 0, 0
    for begin, end, nodes, is_running, speed in runs:
        while is_running and epoch < n and begin < end:
            if (all_s := epoch_s(job, epoch, nodes, types)) is None:
                return None
            needs = (1 - done) * all_s / speed
            if begin + needs > end + 1e-6:
                done, begin = done + (end - begin) * speed / all_s, end
            else:
                epoch, done, begin = epoch + 1, 0.0, begin + needs
    return end - begin if epoch == n else (1 - done) * all_s + 1e9 * (n - 1 - epoch)


def starts_of(job, runs):
    """What is wrong with its starts: each new placement begins with the time that a start takes."""
    before = None
    for begin, end, nodes, is_running in runs:
        is_new = before is None or before[2] != nodes or abs(before[1] - begin) > 1e-6
        if is_running and is_new and job["starts"] > 0:
            return f"runs at {begin} without a start"
        if not is_running and abs(end - begin - job["starts"]) > 1e-6:
            return f"starts from {begin} to {end}, not for {job['starts']}"
        before = begin, end, nodes
    return None


EQUAL = [("pollux",), ("adaptdl", "--set", "rule=optimus"), ("pollux", "--set", "interference=allow")]
ANY = [("adaptdl", "--set", "rule=tiresias"), ("sia", "--set", "adapts=gpus"), ("sia", "--set", "adapts=type"), ("fifo",),
       ("srtf",), ("las",)]


def draw_apps(draw, types, n_nodes, node_gpus):
    """By type: epochs are of the application."""
    apps = []
    for _ in range(draw.randint(1, 3)):
        apps.append({types[0]: Placed(draw, n_nodes, node_gpus)})
        for t in types[1:]:
            apps[-1][t] = copy.copy(apps[-1][types[0]])
            apps[-1][t].steps = apps[-1][t].draw_steps(draw, n_nodes, node_gpus)
    return apps


def draw_jobs(draw, apps, most_gpus):
    jobs, submit = [], 0
    for _ in range(draw.choice([1, 2, 4, 8])):
        submit += draw.choice([0, draw.randrange(200), draw.randrange(2000)])
        nth = draw.randrange(len(apps))
        app = next(iter(apps[nth].values()))
        size = draw.choice([size for size in app.sizes + [app.sizes[0] + 1] if size <= app.max_batch])
        most = max(1, min(most_gpus, size // app.min_local))
        gpus = draw.choice([draw.randint(1, most), min(most, 3)])
        jobs.append({"submit": submit, "app": app, "there": apps[nth], "model": f"app{nth}", "batch": size, "gpus": gpus,
                     "starts": draw.choice([0, 25])})
    return jobs


def learners(draw, run):
    """To 0.1 ms for each stretch: a job stops at the end of an iteration, and its work is whole ns."""
    n_nodes, node_gpus, policy, met = draw.randint(1, 4), draw.choice([1, 2, 4]), draw.choice(EQUAL + ANY), draw.choice([1, 0.5])
    if met < 1:
        n_nodes, node_gpus = draw.randint(2, 4), draw.choice([2, 2, 4])
    kinds = ["t0", "t1"] if policy in ANY and n_nodes > 1 and draw.random() < 0.5 else ["t0"]
    types = [kinds[node % len(kinds)] for node in range(n_nodes)]
    apps = draw_apps(draw, kinds, n_nodes, node_gpus)
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node n{i}]\ndevice = ideal\ngpus = {node_gpus}\nrates_as = {t}\n" for i, t in enumerate(types))
    rows = [row for i, there in enumerate(apps) for row in on_types(f"app{i}", there)]
    if policy[0] == "pollux":  # else it would choose batches
        rows = [row + str(n_nodes * node_gpus) if row.startswith("limits") else row for row in rows]
    with open("goodput.csv", "w") as to:
        to.write("\n".join([HEAD.replace("row,", "row,device,")] + rows) + "\n")
    jobs = draw_jobs(draw, apps, n_nodes // len(kinds) * node_gpus)
    trace = [("job_id", "submit_s", "gpus", "model", "batch", "rescale_s")]
    trace += [(i, job["submit"], job["gpus"], job["model"], job["batch"], job["starts"]) for i, job in enumerate(jobs)]
    if os.path.exists("timeline.json"):
        os.remove("timeline.json")
    got = run(trace, "--policy", *policy, "--goodput", "goodput.csv", "--cluster", "cluster.ini", "--timeline", "timeline.json",
              "--set", f"gang.met_ppm={round(met * 10**6)}")
    runs, wrong = runs_of("timeline.json", [node_gpus] * n_nodes), []
    for i, (row, job) in enumerate(zip(got, jobs)):
        if row["end_s"] == "":
            wrong.append(f"{policy}: job {i} does not end")
            continue
        stretches = list(parted(str(i), runs, met))
        off, start = lasts(job, stretches, types), starts_of(job, runs[str(i)])
        if off is not None and abs(off) > 1e-4 * len(stretches):
            wrong.append(f"{policy}: job {i} ends at {row['end_s']}, {off} s off")
        if start:
            wrong.append(f"{policy}: job {i} {start}")
    return wrong
