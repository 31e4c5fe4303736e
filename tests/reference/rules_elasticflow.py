# SPDX-License-Identifier: GPL-3.0-or-later
"""ElasticFlow: which jobs are admitted, that each of them ends in time, and that GPUs that no deadline needs are given
out (Gu et al., ASPLOS 2023, section 4)."""
import json
import math

SLOT = 60


def level_of(job, most, free):
    level = most
    while level > 0 and job["levels"][level - 1][0] > free:
        level -= 1
    return level


def periods_of(free):
    """Slots between two changes of the GPUs that are free."""
    periods = []
    for slot, gpus in enumerate(free):
        if periods and free[periods[-1][0]] == gpus:
            periods[-1][1] = slot + 1
        else:
            periods.append([slot, slot + 1])
    return periods


def begin_of(job, periods, free, level):
    made = 0
    for i in range(len(periods) - 1, -1, -1):
        got = level_of(job, level, free[periods[i][0]])
        made += (periods[i][1] - periods[i][0]) * SLOT * job["levels"][got - 1][1] if got else 0
        if got and made >= job["work"]:
            return i
    return None


def share(job, free):
    """GPUs by slot up to the deadline: as few as can be, the level from as late on as can be; None: too late."""
    slots = job["deadline"] // SLOT
    periods, plan = periods_of(free[:slots]), [0] * slots
    for level in range(1, len(job["levels"]) + 1):
        begin = begin_of(job, periods, free, level)
        if begin is not None:
            break
    else:
        return None
    left = job["work"]
    for i, (first, end) in enumerate(periods):
        got = level_of(job, level if i >= begin else level - 1, free[first])
        if not got:
            continue
        gpus, speed = job["levels"][got - 1]
        is_last = i >= begin and (end - first) * SLOT * speed >= left
        end = min(end, first + math.ceil(left / speed / SLOT)) if is_last else end
        plan[first:end] = [gpus] * (end - first)
        left -= (end - first) * SLOT * speed
        if is_last:
            break
    return plan


def are_in_time(jobs, gpus):
    free = [gpus] * max(job["deadline"] // SLOT for job in jobs)
    for job in sorted(jobs, key=lambda job: job["deadline"]):
        plan = share(job, free)
        if plan is None:
            return False
        free = [has - (plan[slot] if slot < len(plan) else 0) for slot, has in enumerate(free)]
    return True


def levels_of(draw, gpus, asked):
    """Powers of two and the job's own number of GPUs, as far as they are faster than fewer."""
    widths = sorted({1 << k for k in range(gpus.bit_length()) if 1 << k <= gpus} | {asked})
    speeds = [draw.choice([1000, 2000, 4000])]
    for k in range(1, len(widths)):
        part = draw.choice([0, 0.25, 0.5, 1, 1, 1.5])
        speeds.append(speeds[-1] + int(part * speeds[0] * (widths[k] - widths[k - 1])))
    rows = list(zip(widths, speeds))
    return rows, [row for k, row in enumerate(rows) if k == 0 or row[1] > rows[k - 1][1]]


def elasticflow(draw, run):
    """All jobs come at once, then more of them at any time: the first are declined as derived, and all meet their
    deadlines. Numbers of iterations are odd, so that no job ends at its deadline to the nanosecond."""
    gpus, jobs, rates = draw.choice([1, 2, 3, 4, 8, 16]), [], ["device,model,gpus,iterations_per_s"]
    n, at_once = draw.choice([1, 2, 4, 8, 20]), draw.random() < 0.6
    submit = 0
    for i in range(n):
        asked = min(gpus, draw.choice([1, 1, 2, 3, 4, 16]))
        rows, levels = levels_of(draw, gpus, asked)
        rates += [f"ideal,m{i},{width},{speed}" for width, speed in rows]
        submit += 0 if at_once else draw.choice([0, draw.randrange(200000)]) / 1000
        deadline = SLOT * draw.randint(1, 60) if at_once else round(submit + draw.uniform(50, 4000), 3)
        jobs.append({"gpus": asked, "levels": levels, "deadline": deadline, "submit": round(submit, 3),
                     "work": 1 + int(levels[0][1] * (deadline - submit) * draw.choice([1, 1, 3]) * draw.random())})
    with open("rates.csv", "w") as to:
        to.write("\n".join(rates) + "\n")
    trace = [("job_id", "submit_s", "gpus", "model", "iterations", "deadline_s")]
    trace += [(i, job["submit"], job["gpus"], f"m{i}", job["work"], job["deadline"]) for i, job in enumerate(jobs)]
    got = run(trace, "--policy", "elasticflow", "--rates", "rates.csv", "--gpus-per-node", gpus)
    admitted, wrong = [], []
    for i, (job, row) in enumerate(zip(jobs, got)):
        is_in = are_in_time(admitted + [job], gpus) if at_once else row["end_s"] != ""
        admitted += [job] if is_in else []
        if is_in != (row["end_s"] != ""):
            wrong.append(f"job {i} is {'admitted' if row['end_s'] else 'declined'}")
        elif is_in and float(row["end_s"]) > job["deadline"]:
            wrong.append(f"job {i} ends at {row['end_s']}, after {job['deadline']}")
    return wrong


# --- spare GPUs -----------------------------------------------------------------------------------
def widths_over_time(n_jobs, n_gpus, path):
    """Between any two changes: the time in the middle, and how many GPUs each job has."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    first = 10  # GPUs are the processes from there on
    held = [(event["ts"] / 1e6, (event["ts"] + event["dur"]) / 1e6, int(event["name"].split()[-1])) for event in events
            if event["ph"] == "X" and 0 <= event["pid"] - first < n_gpus]
    times = sorted({time for begin, end, _ in held for time in (begin, end)})
    for a, b in zip(times, times[1:]):
        widths = [0] * n_jobs
        for begin, end, job in held:
            widths[job] += begin <= a and end >= b
        yield a, b, widths


def elasticflow_spare(draw, run):
    """No GPU with which a job would be faster is idle for longer than a slot, the least time between two plans: level after
    level they are given out."""
    gpus, jobs, rates, submit = draw.choice([1, 2, 3, 4, 8]), [], ["device,model,gpus,iterations_per_s"], 0
    for i in range(draw.choice([1, 2, 3, 5, 8])):
        asked = min(gpus, draw.choice([1, 1, 2, 3, 4]))
        rows, levels = levels_of(draw, gpus, asked)
        rates += [f"ideal,m{i},{width},{speed}" for width, speed in rows]
        submit += draw.choice([0, draw.randrange(400000)]) / 1000
        work = 1 + int(levels[0][1] * draw.uniform(20, 4000))
        deadline = draw.choice(["", round(submit + draw.uniform(0.3, 4) * work / levels[0][1], 3)])
        jobs.append({"gpus": asked, "levels": levels, "submit": round(submit, 3), "work": work, "deadline": deadline})
    with open("rates.csv", "w") as to:
        to.write("\n".join(rates) + "\n")
    trace = [("job_id", "submit_s", "gpus", "model", "iterations", "deadline_s")]
    trace += [(i, job["submit"], job["gpus"], f"m{i}", job["work"], job["deadline"]) for i, job in enumerate(jobs)]
    got = run(trace, "--policy", "elasticflow", "--rates", "rates.csv", "--gpus-per-node", gpus, "--timeline", "timeline.json")
    wrong, since = [], [None] * len(jobs)
    for begin, end, widths in widths_over_time(len(jobs), gpus, "timeline.json"):
        for i, (job, row) in enumerate(zip(jobs, got)):
            wider = [width for width, _ in job["levels"] if widths[i] < width <= widths[i] + gpus - sum(widths)]
            is_short = bool(wider) and row["end_s"] != "" and job["submit"] <= begin and end <= float(row["end_s"])
            since[i] = (begin if since[i] is None else since[i]) if is_short else None
            if is_short and end - since[i] > SLOT + 0.01:
                wrong.append(f"from {since[i]} to {end} job {i} has {widths[i]} GPUs beside {gpus - sum(widths)} idle ones")
    return wrong
