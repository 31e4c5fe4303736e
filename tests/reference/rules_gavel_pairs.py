# SPDX-License-Identifier: GPL-3.0-or-later
"""Every end under reference=gavel by the rules of Gavel's program that share GPUs in pairs, fifo with packing and gandiva,
and by AlloX (stanford-futuredata/gavel, scheduler/policies/fifo.py, gandiva.py and allox.py), in its loop of rounds."""
import random

from rules_gavel_rounds import TYPES, Loop, compare, draw_jobs, equal, fifo


def made(pair, jobs, speeds, d):
    """What each of two jobs makes beside the other, as a part of what it makes alone."""
    (a, b), g = [jobs[k]["model"] for k in pair], jobs[pair[0]]["gpus"]
    return [speeds[a, g, d, b] / speeds[a, g, d] if speeds[a, g, d] else 0.0,
            speeds[b, g, d, a] / speeds[b, g, d] if speeds[b, g, d] else 0.0]


def fifo_pairs(jobs, gpus, speeds, now):
    """After fifo the next of the queue joins the job beside which both make most, if that is more than 1.5, until one
    finds none. The queue begins behind the job that found no type."""
    shares, free, queue = fifo(jobs, gpus, speeds, now), dict(gpus), sorted(jobs)
    for k in sorted(jobs):
        if not any(free.values()):
            break
        queue.remove(k)
        if (k,) in shares:
            free[next(iter(shares[k,]))] -= jobs[k]["gpus"]
        elif all(n < jobs[k]["gpus"] for n in free.values()):
            break
    for k in queue:
        best, most = None, 1.5
        for key, of in shares.items():
            if len(key) == 1 and jobs[key[0]]["gpus"] == jobs[k]["gpus"]:
                total = sum(made((key[0], k), jobs, speeds, next(iter(of))))
                best, most = (key, total) if total > most else (best, most)
        if best is None:
            break
        shares[best[0], k] = shares.pop(best)
    return shares


class Gandiva:
    """Where jobs want more GPUs than there are, those without a partner are drawn in pairs. A pair is parted when the
    parts that it makes add up to less than 1 over all types, or when it does not run on one of them."""
    def __init__(self):
        self.pairs, self.draws = [], random.Random(0)

    def is_kept(self, pair, jobs, gpus, speeds):
        if any(k not in jobs for k in pair):
            return False
        parts = [made(pair, jobs, speeds, d) for d in sorted(gpus)]
        return all(part > 0 for both in parts for part in both) and sum(map(sum, parts)) >= 1

    def __call__(self, jobs, gpus, speeds, _):
        self.pairs = [pair for pair in self.pairs if self.is_kept(pair, jobs, gpus, speeds)]
        if sum(job["gpus"] for job in jobs.values()) <= sum(gpus.values()):
            return equal([(k,) for k in jobs], jobs, gpus)
        alone = [k for k in jobs if not any(k in pair for pair in self.pairs)]
        for _ in range(len(alone)):
            if len(alone) < 2:
                break
            a, b = self.draws.sample(alone, 2)
            if jobs[a]["gpus"] == jobs[b]["gpus"]:
                alone = [k for k in alone if k not in (a, b)]
                self.pairs.append((min(a, b), max(a, b)))
        return equal(self.pairs + [(k,) for k in alone], jobs, gpus)


def assign(cost):
    """The column of each row, at the least sum: shortest paths as scipy's linear_sum_assignment looks for them, by which
    ties are decided (Crouse, IEEE TAES 52, 2016)."""
    n = len(cost[0])
    of_row, of_column = [0.0] * len(cost), [0.0] * n
    row_at, column_at = [None] * n, [None] * len(cost)
    for first in range(len(cost)):
        far, came, reached, rows = [float("inf")] * n, [None] * n, [], [first]
        left, least, sink = list(range(n))[::-1], 0.0, None
        while sink is None:
            row, nearest, at = rows[-1], float("inf"), None
            for place, column in enumerate(left):
                way = least + cost[row][column] - of_row[row] - of_column[column]
                if way < far[column]:
                    far[column], came[column] = way, row
                if far[column] < nearest or (far[column] == nearest and row_at[column] is None):
                    nearest, at = far[column], place
            least, column = nearest, left[at]
            reached.append(column)
            left[at] = left[-1]
            left.pop()
            if row_at[column] is None:
                sink = column
            else:
                rows.append(row_at[column])
        of_row[first] += least
        for row in rows[1:]:
            of_row[row] += least - far[column_at[row]]
        for column in reached:
            of_column[column] -= least - far[column]
        column = sink
        while column is not None:
            row_at[column] = row = came[column]
            column, column_at[row] = column_at[row], column
    return column_at


class Allox:
    """Jobs that have a GPU keep it. The others get places in the queues of the free ones, at which they delay as many
    jobs as are behind them and themselves; the first of each queue gets the GPU."""
    def __init__(self):
        self.type_of = {}

    def __call__(self, jobs, gpus, speeds, now):
        self.type_of = {k: d for k, d in self.type_of.items() if k in jobs}
        free = [d for d in sorted(gpus) for _ in range(gpus[d] - list(self.type_of.values()).count(d))]
        waiting = [k for k in jobs if k not in self.type_of]
        takes = [[jobs[k]["left"] / speeds[jobs[k]["model"], 1, d] for d in free] for k in waiting]
        cost = [[place * time + (now - jobs[k]["submit"]) for place in range(1, len(waiting) + 1) for time in row]
                for k, row in zip(waiting, takes)]
        queues = {}
        for k, column in zip(waiting, assign(cost) if waiting and free else ()):
            place, queue = divmod(column, len(free))
            queues[queue] = max(queues.get(queue, (-1, None)), (place, k))
        self.type_of.update((k, free[queue]) for queue, (_, k) in queues.items())
        return {(k,): {d: 1.0} for k, d in self.type_of.items()}


def gavel_program_pairs(draw, run):
    """Some pairs cannot share a GPU, or not one of a type."""
    objective, models = draw.choice(["fifo", "gandiva", "gandiva"]), range(draw.randint(1, 4))
    gpus = {d: n for d, n in zip(TYPES, draw.choice([(1, 1, 1), (2, 4, 3), (4, 1, 5), (5, 0, 0), (4, 0, 3), (0, 2, 8)])) if n}
    wide = [g for g in draw.choice([(1,), (1, 1, 2), (1, 2, 4)]) if g <= max(gpus.values())]
    speeds = {(m, g, d): draw.uniform(0.5, 60) for m in models for g in wide for d in gpus}
    if objective == "fifo" and len(gpus) > 1:
        speeds.update(((0, g, max(gpus, key=gpus.get)), 0.0) for g in wide if g == 2)
    for a in models:
        for b in range(a + 1):
            never = draw.random() < 0.15
            for g, d in [(g, d) for g in sorted(set(wide)) for d in gpus]:
                of = draw.choice([0.0, 0.6, 0.8]) * (not never)
                speeds[a, g, d, b] = speeds[a, g, d] * of * draw.uniform(0.2 if objective == "gandiva" else 0.9, 1.25)
                speeds[b, g, d, a] = speeds[a, g, d, b] if a == b else speeds[b, g, d] * of * draw.uniform(0.2, 1.25)
    jobs = draw_jobs(draw, models, draw.randint(4, 40), wide)
    rule = fifo_pairs if objective == "fifo" else Gandiva()
    loop = Loop(jobs, gpus, speeds, rule, is_fifo=objective == "fifo", packs=True)
    return compare(loop, run, objective, "--set", "packing=on")


def gavel_program_allox(draw, run):
    """On types with several GPUs, whose queues are as good as one another."""
    models = range(draw.randint(1, 4))
    gpus = {d: n for d, n in zip(TYPES, draw.choice([(1, 1, 1), (2, 4, 3), (4, 1, 5), (5, 0, 0), (4, 0, 3), (0, 2, 8)])) if n}
    speeds = {(m, 1, d): draw.choice([draw.uniform(0.5, 60), draw.randint(1, 60)]) for m in models for d in gpus}
    jobs = draw_jobs(draw, models, draw.randint(4, 30), (1,))
    for job in jobs:
        job["left"] = draw.choice([job["left"], 100000])
    return compare(Loop(jobs, gpus, speeds, Allox()), run, "allox")
