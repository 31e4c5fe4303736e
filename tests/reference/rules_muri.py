# SPDX-License-Identifier: GPL-3.0-or-later
"""Muri (Zhao et al., SIGCOMM 2022, section 4): at each arrival and end jobs are packed by matchings, found by trying all."""
import functools
import itertools

SLOTS = 4
SLOWER = {2: 1.33 / 1.015, 3: 1.5 / 1.015, 4: 1.37 / 1.015}  # by the number of jobs, as Muri's authors measured
SLOWER_IN_ORDER = {**SLOWER, 4: 1.3 / 1.015}


def length_of_round(ring):
    """Seconds of a round of four slots, each as long as its longest stage; loading spans two slots."""
    ends = [0.0]
    for slot in range(2 * SLOTS):
        sends, computes, loads = ((slot + k) % SLOTS for k in (1, 2, 3))
        at = [0.0]
        at += [ends[slot] + ring[sends][2]] if sends < len(ring) else []
        at += [ends[slot] + ring[computes][1]] if computes < len(ring) else []
        at += [ends[slot - 1] + ring[loads][0]] if slot > 0 and loads < len(ring) else []
        ends.append(max(at))
        if slot >= SLOTS:
            now, before = ends[slot + 1] - ends[slot - 3], ends[slot] - ends[slot - 4]
            if now > 0 and abs(now - before) <= 1e-3 * max(now, before):
                return now
    return ends[8] - ends[4]


@functools.lru_cache(None)
def together(stages):
    best = min(map(length_of_round, itertools.permutations(stages)))
    if len(stages) == 2:
        a, b = stages
        best = min(best, max(a[0], b[1] + b[2]) + max(b[0], a[1] + a[2]))
    return best


def iteration(packing, slower=None):
    """As a decision expects it; on device ideal the interleaving itself costs nothing."""
    stages = tuple(job["stages"] for job in packing)
    return packing[0]["iteration"] if len(packing) == 1 else together(stages) * (slower or SLOWER)[len(packing)]


def heaviest(packings):
    """All pairs of the matching of the largest weight."""
    def weight(a, b):
        both = a + b
        return sum(sum(job["stages"]) for job in both) / (SLOTS * iteration(both)) if len(both) <= SLOTS else 0

    n = len(packings)
    weights = {(u, v): weight(packings[u], packings[v]) for u in range(n) for v in range(u + 1, n)}

    @functools.lru_cache(None)
    def best_from(used):
        u = next((u for u in range(n) if not used >> u & 1), n)
        if u == n:
            return 0, ()
        best = best_from(used | 1 << u)
        for v in range(u + 1, n):
            if not used >> v & 1 and weights[u, v] > 0:
                total, pairs = best_from(used | 1 << u | 1 << v)
                best = max(best, (total + weights[u, v], pairs + ((u, v),)), key=lambda found: found[0])
        return best
    return best_from(0)[1]


def candidates(jobs, gpus):
    """By width: where a job that fits books room, it and the next three of its width may share it."""
    widths, n = {}, {}
    for job in jobs:
        widths.setdefault(job["gpus"], []).append(job)
    for job in jobs:
        width, at = job["gpus"], n.setdefault(job["gpus"], 0)
        if at < len(widths[width]) and widths[width][at] is job and width <= gpus:
            gpus -= width
            n[width] = at + SLOTS
    return [(width, [[job] for job in widths[width][:n[width]]]) for width in widths]


def pair_up(packings, width, demand, gpus):
    """Pairs stand where their second one stood; they join as long as not all fit."""
    other = {b: a for pair in heaviest(packings) for a, b in (pair, pair[::-1])}
    out = []
    for u, packing in enumerate(packings):
        first = other.get(u, u)
        if first < u and demand > gpus:
            out.append(packings[first] + packing)
            demand -= width
        elif first <= u:
            out += [packings[first]] * (first < u) + [packing]
    return out, demand


def in_order(widths, demand, gpus):
    """Four after four of a width share GPUs, as long as not all fit."""
    out = []
    for width, packings in widths:
        made = []
        for at in range(0, len(packings), SLOTS):
            made.append(packings[at])
            for packing in packings[at + 1:at + SLOTS]:
                if demand > gpus:
                    made[-1] = made[-1] + packing
                    demand -= width
                else:
                    made.insert(len(made) - 1, packing)
        out.append((width, made))
    return out


def packings_of(jobs, gpus, rule):
    """The packings that run."""
    jobs, slower = sorted(jobs, key=lambda job: job["rank"]), SLOWER_IN_ORDER if rule == "in-order" else SLOWER
    widths = candidates(jobs, gpus)
    demand = sum(width * len(packings) for width, packings in widths)
    if rule == "in-order":
        widths = in_order(widths, demand, gpus)
    for _ in range(SLOTS if rule != "in-order" else 0):
        for i, (width, packings) in enumerate(widths):
            packings, demand = pair_up(packings, width, demand, gpus)
            widths[i] = width, packings
        if demand <= gpus:
            break
    split = []
    for _, packings in widths:
        for packing in packings:
            is_slower = iteration(packing, slower) > sum(job["iteration"] for job in packing)
            split += [[job] for job in packing] if is_slower else [packing]
    runs = []
    for packing in sorted(split, key=lambda packing: min(job["rank"] for job in packing)):
        if packing[0]["gpus"] <= gpus:
            gpus -= packing[0]["gpus"]
            runs.append(packing)
    return runs


def muri_ends(jobs, gpus, rule):
    now, active, coming, runs = 0.0, [], list(jobs), []
    while coming or active:
        speed = {id(job): min(1, job["iteration"] / together(tuple(other["stages"] for other in packing)))
                 if len(packing) > 1 else 1 for packing in runs for job in packing}
        running = [job for packing in runs for job in packing]
        until = min([now + job["left"] / speed[id(job)] for job in running] + [job["submit"] for job in coming[:1]])
        for job in running:
            job["left"] -= (until - now) * speed[id(job)]
            job["had"] += until - now
            job["end"] = until
        now = until
        active = [job for job in active if job["left"] > 1e-6]
        while coming and coming[0]["submit"] <= now:
            active.append(coming.pop(0))
        for job in active:
            job["rank"] = (job["left"] if rule == "muri-s" else job["had"]) * job["gpus"]
        runs = packings_of(active, gpus, rule)
    return [job["end"] for job in jobs]


def muri(draw, run):
    """Iterations are some ms, after which a job stops: ends are within 2 s."""
    gpus, rule = draw.choice([1, 2, 3, 4, 8]), draw.choice(["muri-s", "muri-l", "in-order"])
    widths = [width for width in (1, 1, 1, 2, 2, 4) if width <= gpus]
    jobs = []
    for submit in sorted(draw.randrange(2000000) / 1000 for _ in range(draw.randint(3, 11))):
        stages = tuple(draw.randrange(200, 3000) / 1e6 for _ in range(3))
        jobs.append({"submit": submit, "left": float(draw.randint(100, 5000)), "had": 0, "stages": stages,
                     "gpus": draw.choice(widths),
                     "iteration": round(sum(stages) * draw.choice([1, 1, 1.2]), 9)})
    rows = [("job_id", "submit_s", "duration_s", "gpus", "iteration_ms", "stage_host_ms", "stage_gpu_ms", "stage_net_ms")]
    rows += [(i, job["submit"], job["left"], job["gpus"], *("%.6f" % (1000 * time) for time in
              (job["iteration"], *job["stages"]))) for i, job in enumerate(jobs)]
    node_gpus = draw.choice([gpus, 1])  # a gang is as fast on several nodes
    got = run(rows, "--policy", "muri", "--set", f"rule={rule}", "--nodes", gpus // node_gpus, "--gpus-per-node", node_gpus)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {end}" for row, end in
            zip(got, muri_ends(jobs, gpus, rule)) if abs(float(row["end_s"]) - end) > 2]
