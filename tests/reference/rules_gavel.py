# SPDX-License-Identifier: GPL-3.0-or-later
"""Gavel on GPUs of several types, and with two jobs on a GPU: ends under makespan, max-min, water-filling, max-sum and
finish-time fairness (Narayanan et al., OSDI 2020, section 4)."""
import itertools

TINY = 1e-9


def highest(costs, rows):
    """The largest sum of costs times x for x >= 0 within rows of coefficients and a bound of at least 0, and x: the
    simplex method, by Bland's rule."""
    n, m = len(costs), len(rows)
    table = [list(row) + [float(k == i) for k in range(m)] + [bound] for i, (row, bound) in enumerate(rows)]
    table.append([-cost for cost in costs] + [0.0] * (m + 1))
    basis = [n + i for i in range(m)]
    while (enters := next((k for k in range(n + m) if table[m][k] < -TINY), None)) is not None:
        leaves = min((i for i in range(m) if table[i][enters] > TINY),
                     key=lambda i: (table[i][-1] / table[i][enters], basis[i]))
        pivot, basis[leaves] = table[leaves][enters], enters
        table[leaves] = [cell / pivot for cell in table[leaves]]
        for i in range(m + 1):
            factor = table[i][enters]
            if i != leaves and factor:
                table[i] = [cell - factor * other for cell, other in zip(table[i], table[leaves])]
    x = [0.0] * (n + m)
    for row, k in zip(table, basis):
        x[k] = row[-1]
    return table[m][-1], x[:n]


def limits(n, n_gpus):
    """No job has more than all of its time, no type more than its GPUs."""
    types, rows = len(n_gpus), []
    for j in range(n):
        rows.append(([float(k // types == j) for k in range(n * types)], 1.0))
    for d in range(types):
        rows.append(([float(k % types == d) for k in range(n * types)], float(n_gpus[d])))
    return rows


def level(demands, jobs, n_gpus):
    """Jobs are their speeds by type. The largest factor of all demands, as speeds that shares of the types' time can give together."""
    n, types = len(jobs), len(n_gpus)
    rows = [([0.0] + row, bound) for row, bound in limits(n, n_gpus)]
    for j, job in enumerate(jobs):
        rows.append(([demands[j]] + [-job[k % types] * float(k // types == j) for k in range(n * types)], 0.0))
    return highest([1.0] + [0.0] * (n * types), rows)[0]


def fastest(jobs, n_gpus):
    """The speeds with the largest sum."""
    types = len(n_gpus)
    x = highest([float(per_s) for job in jobs for per_s in job], limits(len(jobs), n_gpus))[1]
    return [sum(per_s * part for per_s, part in zip(job, x[j * types:(j + 1) * types])) for j, job in enumerate(jobs)]


def isolated(jobs, n_gpus):
    """Speeds with an equal part of each type; no job has more than one GPU."""
    return [sum(per_s * n for per_s, n in zip(job, n_gpus)) / max(len(jobs), sum(n_gpus)) for job in jobs]


def draw_jobs(draw, n_gpus):
    """Of one GPU: gangs leave GPUs idle that a fluid would use."""
    jobs = []
    for _ in range(draw.randint(1, 7)):
        speed = [draw.randint(10**4, 10**5) for _ in n_gpus]
        if draw.random() < 0.2:
            speed[draw.randrange(len(speed))] = 0
        jobs.append(speed)
    return jobs


def works_of(draw, objective, jobs, n_gpus):
    """What jobs have to do, when they then end by the programme, and which of them that is known of."""
    each = range(len(jobs))
    if objective == "makespan":
        work = [draw.randint(10**8, 10**10) for _ in jobs]
        return work, 1 / level(work, jobs, n_gpus), each
    if objective == "max-sum":  # some jobs have no part of it, and go on afterwards
        speeds = fastest(jobs, n_gpus)
        return [int(per_s * 10**5) or 10**10 for per_s in speeds], 10**5, [j for j in each if speeds[j] > 0]
    alone = isolated(jobs, n_gpus)
    if objective == "finish-time":  # until a job ends, which changes what the others would have alone
        longer = [draw.choice([1, 1, 4]) for _ in jobs]
        shortest = [j for j in each if longer[j] == min(longer)]
        takes = 10**5 * min(longer) / level(alone, jobs, n_gpus)
        return [int(per_s * 10**5 * k) for per_s, k in zip(alone, longer)], takes, shortest
    work = [int(per_s * 10**5) for per_s in alone]
    return work, 1 / level(work, jobs, n_gpus), each


def types(draw, run):
    """All come at once. By makespan the last ends when it must; by the other objectives jobs have as much to do as
    their speeds by the programme make in one time; by finish-time fairness the
    first of the shortest. A fluid has no rounds: within 3 %."""
    n_gpus = draw.choice([(1, 1), (1, 2), (2, 1), (3, 1), (1, 1, 1), (2, 1, 2)])
    objective = draw.choice(["makespan", "max-min", "water-filling", "max-sum", "finish-time"])
    jobs = draw_jobs(draw, n_gpus)
    left, last, known = works_of(draw, objective, jobs, n_gpus)
    table = ["device,model,gpus,iterations_per_s"]
    table += [f"type{d},m{i},1,{per_s}" for i, speed in enumerate(jobs) for d, per_s in enumerate(speed)]
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node t{d}]\ndevice = ideal\ngpus = {n}\nrates_as = type{d}\n" for d, n in enumerate(n_gpus))
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, 0, 1, f"m{i}", work) for i, work in enumerate(left)]
    got = run(rows, "--policy", "gavel", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set",
              f"objective={objective}", "--set", "round=60s")
    end = (min if objective == "finish-time" else max)(float(got[i]["end_s"]) for i in known)
    is_wrong = end > 1.03 * last + 60 or (objective == "makespan" and end < 0.9999 * last)
    return [f"{objective} on {n_gpus}: the last job ends at {end}, not at {last}"] if is_wrong else []


def paired_level(demands, alone, beside):
    """The largest factor of all demands on one GPU, which has one job or a pair at any time."""
    n = len(alone)
    entries = [{j: alone[j]} for j in range(n)]
    entries += [{a: beside[a][b], b: beside[b][a]} for a, b in itertools.combinations(range(n), 2)
                if beside[a][b] and beside[b][a]]
    rows = [([0.0] + [1.0] * len(entries), 1.0)]
    rows += [([demands[j]] + [-float(entry.get(j, 0)) for entry in entries], 0.0) for j in range(n)]
    return highest([1.0] + [0.0] * len(entries), rows)[0]


def pairs(draw, run):
    """On one GPU rounds can follow any shares of jobs and pairs. The works of all jobs are what they make alone in one
    time, so that by each objective the last ends when the programme says; by finish-time fairness the first of the
    shortest, since an end changes what the others would have alone. Within 3 %, and two rounds of 60 s."""
    n, objective = draw.randint(2, 5), draw.choice(["makespan", "max-min", "water-filling", "finish-time"])
    alone = [draw.randint(10**4, 10**5) for _ in range(n)]
    beside = [[int(alone[a] * draw.choice([0, draw.uniform(0.2, 1)])) for b in range(n)] for a in range(n)]
    longer = [draw.choice([1, 1, 4]) if objective == "finish-time" else 1 for _ in range(n)]
    work = [per_s * 10**4 * times for per_s, times in zip(alone, longer)]
    first = 10**4 * min(longer) / paired_level(alone, alone, beside)
    last = 1 / paired_level(work, alone, beside)
    with open("rates.csv", "w") as to:
        to.write("device,model,gpus,beside,iterations_per_s\n")
        to.writelines(f"ideal,m{a},1,,{alone[a]}\n" for a in range(n))
        to.writelines(f"ideal,m{a},1,m{b},{beside[a][b]}\n" for a in range(n) for b in range(n) if a != b)
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(j, 0, 1, f"m{j}", work[j]) for j in range(n)]
    ends = [float(row["end_s"]) for row in run(rows, "--policy", "gavel", "--rates", "rates.csv", "--set", "packing=on",
                                               "--set", f"objective={objective}", "--set", "round=60s", "--gpus-per-node", 1)]
    wrong = []
    if min(end for end, times in zip(ends, longer) if times == min(longer)) > 1.03 * first + 120:
        wrong.append(f"{objective}: the first of the shortest ends at {min(ends)}, not at {first}")
    if max(longer) == 1 and max(ends) > 1.03 * last + 120:
        wrong.append(f"{objective}: the last ends at {max(ends)}, not at {last}")
    if max(ends) < 0.9999 * last:
        wrong.append(f"{objective}: the last ends at {max(ends)}, before {last}, the first time that any shares allow")
    return wrong
