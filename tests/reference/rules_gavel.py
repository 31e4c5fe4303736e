# SPDX-License-Identifier: GPL-3.0-or-later
"""Gavel on GPUs of several types: the last end under makespan and max-min (Narayanan et al., OSDI 2020, section 4)."""
TINY = 1e-9


def highest(costs, rows):
    """The largest sum of costs times x for x >= 0 within rows of coefficients and a bound of at least 0: the simplex
    method, by Bland's rule."""
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
    return table[m][-1]


def level(demands, jobs, n_gpus):
    """Jobs are their speeds by type. The largest factor of all demands, as speeds that shares of the types' time can give together."""
    n, types = len(jobs), range(len(n_gpus))
    rows = []
    for j, job in enumerate(jobs):
        alone = [float(k // len(n_gpus) == j) for k in range(n * len(n_gpus))]
        rows.append(([demands[j]] + [-alone[k] * job[k % len(n_gpus)] for k in range(len(alone))], 0.0))
        rows.append(([0.0] + alone, 1.0))
    for d in types:
        rows.append(([0.0] + [float(k == d) for _ in jobs for k in types], float(n_gpus[d])))
    return highest([1.0] + [0.0] * (n * len(n_gpus)), rows)


def draw_jobs(draw, n_gpus):
    """Of one GPU: gangs leave GPUs idle that a fluid would use."""
    jobs = []
    for _ in range(draw.randint(1, 7)):
        speed = [draw.randint(100, 1000) for _ in n_gpus]
        if draw.random() < 0.2:
            speed[draw.randrange(len(speed))] = 0
        jobs.append(speed)
    return jobs


def types(draw, run):
    """All come at once. By makespan the last ends when it must; by max-min jobs that are as long as they are on an
    equal part of the cluster end at the latest when the one that has least does. A fluid has no rounds: within 3 %."""
    n_gpus = draw.choice([(1, 1), (1, 2), (2, 1), (3, 1), (1, 1, 1), (2, 1, 2)])
    objective, jobs = draw.choice(["makespan", "max-min", "water-filling"]), draw_jobs(draw, n_gpus)
    table = ["device,model,gpus,iterations_per_s"]
    left = []
    for i, speed in enumerate(jobs):
        part = sum(per_s * n for per_s, n in zip(speed, n_gpus)) / sum(n_gpus)
        left.append(draw.randint(10**6, 10**8) if objective == "makespan" else int(part * 10**5))
        table += [f"type{d},m{i},1,{per_s}" for d, per_s in enumerate(speed)]
    with open("rates.csv", "w") as to:
        to.write("\n".join(table) + "\n")
    with open("cluster.ini", "w") as to:
        to.writelines(f"[node t{d}]\ndevice = ideal\ngpus = {n}\nrates_as = type{d}\n" for d, n in enumerate(n_gpus))
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, 0, 1, f"m{i}", work) for i, work in enumerate(left)]
    got = run(rows, "--policy", "gavel", "--rates", "rates.csv", "--cluster", "cluster.ini", "--set",
              f"objective={objective}", "--set", "round=60s")
    last = 1 / level(left, jobs, n_gpus)
    end = max(float(row["end_s"]) for row in got)
    is_wrong = end > 1.03 * last + 60 or (objective == "makespan" and end < 0.9999 * last)
    return [f"{objective} on {n_gpus}: the last job ends at {end}, not at {last}"] if is_wrong else []
