# SPDX-License-Identifier: GPL-3.0-or-later
"""Shockwave where nodes fail, and where jobs come after others, in several busy times. A round without any of its jobs is over;
while all nodes are down there is none. A job that fails stays the job that came first, with the fair ends that it had."""
import math

from outages import Node, comes_at, draw_chain, draw_outages, kept, words_of
from rules_shockwave import ROUND, choose, estimate, make_plan, settings_of

CLOCK = 1e-7  # times within it are one


class Walk:
    """Jobs of one GPU. is_stored: each stop writes a checkpoint; else the memory stays on the host of the node."""
    def __init__(self, jobs, nodes, n_rounds, replan, every, is_stored):
        self.jobs, self.nodes, self.n_rounds, self.replan, self.every = jobs, nodes, n_rounds, replan, every
        self.is_stored, self.now, self.at, self.planned, self.ends, self.origin = is_stored, 0.0, 0, 0, 0.0, 0.0
        self.active, self.chosen, self.is_new, self.fair_is_old = [], [], False, False

    def gpus(self):
        return sum(node.gpus for node in self.nodes if node.is_up)

    def go(self):
        coming = list(self.jobs)
        while coming or self.active:
            running = [job for job in self.active if job["node"]]
            then = min([self.now + job["length"] - job["had"] for job in running] + [comes_at(job, self.jobs) for job in coming]
                       + [node.turns_ns / 1e9 for node in self.nodes] + [self.ends] * (self.ends > self.now + CLOCK))
            for job in running:
                job["had"] += then - self.now
            self.now = then
            for job in [job for job in running if job["length"] - job["had"] < CLOCK]:
                job["end"] = then
                self.take_off(job)
                self.active.remove(job)
                self.is_new = self.fair_is_old = True
            for node in self.nodes:
                if node.turns_ns / 1e9 < then + CLOCK:
                    node.turn()
                    self.fail(node)
            for job in [job for job in coming if comes_at(job, self.jobs) < then + CLOCK]:
                coming.remove(job)
                self.origin = self.origin if self.active else then
                job.update(submit=then - self.origin, came=then)
                self.come(job)
            is_over = then > self.ends - CLOCK or not any(job["node"] for job in self.chosen)
            if is_over and self.active and self.gpus() > 0:
                self.begin()

    def come(self, job):
        self.active.append(job)
        job.update(runs=False, rounds=0)
        self.is_new = self.fair_is_old = True

    def take_off(self, job):
        job["node"].idle += 1
        job["left_on"] = None if self.is_stored else job["node"]
        job["saved"] = job["had"] if self.is_stored else job["saved"]
        job["node"] = None

    def fail(self, node):
        for job in sorted((job for job in self.active if node in (job["node"], job["left_on"])), key=lambda job: (job["came"], job["number"])):
            job["had"] = job["saved"] = kept(job["had"], job["saved"], self.every)
            job["left_on"] = None
            if job["node"]:
                node.idle += 1
                job["node"] = None
                self.active.remove(job)
                self.come(job)

    def begin(self):
        self.at += 1 + int(max(0, self.now - self.ends) // ROUND)
        gpus, now = self.gpus(), self.now - self.origin
        if self.is_new or self.at - self.planned >= self.replan:
            part = min(1, gpus / len(self.active))
            for job in self.active if self.fair_is_old else []:
                found = estimate(job)
                job["fair"].append((self.at, job["submit"] + (found["had"] + found["left"]) / part))
            make_plan(self.active, gpus, self.n_rounds, now, self.at)
            self.planned, self.is_new, self.fair_is_old = self.at, False, False
        self.chosen = choose(self.active, gpus, self.planned + self.n_rounds - self.at)
        for job in self.active:
            if job["node"] and not job["runs"]:
                self.take_off(job)
        for job in self.active:
            if job["runs"] and not job["node"]:
                job["node"] = next(node for node in self.nodes if node.is_up and node.idle > 0)
                job["node"].idle -= 1
                job["left_on"] = None
        self.ends = self.now + ROUND


def shockwave_nodes(draw, run):
    """Ends to 10 us. No two jobs come together."""
    gpus, n_rounds, replan = settings_of(draw)
    is_stored = draw.random() < 0.6
    n_nodes = draw.choice([1, gpus]) if is_stored else 1
    up, down, every = draw_outages(draw)
    jobs, submit = [], 0
    for i in range(draw.randint(1, 6)):
        submit += 1 + draw.choice([draw.randrange(300 * 1000), draw.randrange(3000 * 1000)])
        after, think = draw_chain(draw, i)
        jobs.append({"number": i, "submit": submit / 1000, "length": round(draw.randrange(100, 1500) + draw.random(), 3), "had": 0,
                     "phases": None, "gpus": 1, "after": after, "think": think, "fair": [], "node": None, "left_on": None, "saved": 0})
    rows = [("job_id", "submit_s", "duration_s", "gpus", "after", "think_s")]
    rows += [(i, job["submit"], job["length"], 1, "" if job["after"] is None else job["after"], job["think"])
             for i, job in enumerate(jobs)]
    got = run(rows, "--policy", "shockwave", "--nodes", n_nodes, "--gpus-per-node", gpus // n_nodes, "--set", f"rounds={n_rounds}",
              "--set", f"replan={replan}", "--set", f"preempt={'restart' if is_stored else 'suspend'}", *words_of(up, down, every))
    nodes = [Node(i, gpus // n_nodes, None, up * 10**9, down * 10**9) for i in range(n_nodes)]
    Walk(jobs, nodes, n_rounds, min(replan, n_rounds), every, is_stored).go()
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 1e-5]
