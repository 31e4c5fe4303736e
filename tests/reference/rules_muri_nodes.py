# SPDX-License-Identifier: GPL-3.0-or-later
"""Muri where the only node fails, and where jobs come after others. Jobs that wait have their memory on its host
(preempt=suspend), or a checkpoint of their last stop (restart, on one GPU, where a job stops when it leaves the packing)."""
from outages import Node, comes_at, draw_chain, draw_outages, kept, words_of
from rules_muri import packings_of, together

LITTLE = 1e-6


def fail(jobs, every):
    """Of what jobs have had of GPUs that counts which is kept, as long as it takes alone."""
    for job in sorted(jobs, key=lambda job: (job["came"], job["number"])):
        before = job["length"] - job["left"]
        job["left"] = job["length"] - kept(before, job["saved"], every)
        job["saved"] = job["length"] - job["left"]
        job["had"] = job["saved"] if job["runs"] else job["had"]


def ends(jobs, node, rule, every, is_stored):
    now, active, coming, runs = 0.0, [], list(jobs), []
    while coming or active:
        speed = {id(job): min(1, job["iteration"] / together(tuple(other["stages"] for other in packing)))
                 if len(packing) > 1 else 1 for packing in runs for job in packing}
        running = [job for packing in runs for job in packing]
        then = min([now + job["left"] / speed[id(job)] for job in running] + [comes_at(job, jobs) for job in coming]
                   + [node.turns_ns / 1e9])
        for job in running:
            job["left"] -= (then - now) * speed[id(job)]
            job["had"] += then - now
        now = then
        for job in [job for job in running if job["left"] <= LITTLE]:
            job["end"] = now
            active.remove(job)
        if node.turns_ns / 1e9 <= now + 1e-9:
            node.turn()
            if not node.is_up:
                fail(active, every)
                active.sort(key=lambda job: job["runs"])  # those that ran come anew
        for job in [job for job in coming if comes_at(job, jobs) <= now]:
            coming.remove(job)
            active.append(job)
            job["came"] = now
        for job in active:
            job["rank"] = (job["left"] if rule == "muri-s" else job["had"]) * job["gpus"]
        runs = packings_of(active, node.gpus, rule) if node.is_up else []
        for job in active:
            will_run = any(job in packing for packing in runs)
            if is_stored and job["runs"] and not will_run:
                job["saved"] = job["length"] - job["left"]
            job["runs"] = will_run


def muri_nodes(draw, run):
    """Iterations are some ms, after which a job stops: ends are within 2 s."""
    is_stored = draw.random() < 0.3
    gpus = 1 if is_stored else draw.choice([1, 2, 3, 4, 8])
    rule = draw.choice(["muri-s", "muri-l", "in-order"])
    widths = [width for width in (1, 1, 1, 2, 2, 4) if width <= gpus]
    up, down, every = draw_outages(draw)
    jobs, submit = [], 0
    for i in range(draw.randint(2, 10)):
        submit += 1 + draw.choice([draw.randrange(200 * 1000), draw.randrange(3000 * 1000)])
        stages = tuple(draw.randrange(200, 3000) / 1e6 for _ in range(3))
        after, think = draw_chain(draw, i)
        length = draw.randrange(100 * 1000, 5000 * 1000) / 1000
        jobs.append({"number": i, "submit": submit / 1000, "length": length, "left": length, "had": 0, "stages": stages,
                     "gpus": draw.choice(widths), "iteration": round(sum(stages) * draw.choice([1, 1, 1.2]), 9), "saved": 0,
                     "after": after, "think": think, "runs": False})
    rows = [("job_id", "submit_s", "duration_s", "gpus", "iteration_ms", "stage_host_ms", "stage_gpu_ms", "stage_net_ms", "after", "think_s")]
    rows += [(i, job["submit"], job["length"], job["gpus"], *("%.6f" % (1000 * time) for time in (job["iteration"], *job["stages"])),
              "" if job["after"] is None else job["after"], job["think"]) for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "muri", "--set", f"rule={rule}", "--gpus-per-node", gpus, "--set",
              f"preempt={'restart' if is_stored else 'suspend'}", *words_of(up, down, every))
    ends(jobs, Node(0, gpus, None, up * 10**9, down * 10**9), rule, every, is_stored)
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in
            zip(got, jobs) if abs(float(row["end_s"]) - job["end"]) > 2]
