# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that fail and are repaired (docs/clusters.md, "Nodes that fail"), and what a job keeps."""
import math
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "plain"))
from failures import Stream  # noqa: E402

SEED = 7


class Node:
    """up, down: the mean times, in ns; up of 0: it never fails."""
    def __init__(self, number, gpus, kind, up, down, seed=SEED):
        self.idle, self.gpus, self.kind, self.is_up, self.means = gpus, gpus, kind, True, (down, up)
        self.stream = Stream(seed, f"failures of node {number}")
        self.turns_ns = self.stream.exponential(up) if up else math.inf

    def turn(self):
        self.is_up = not self.is_up
        self.turns_ns += self.stream.exponential(self.means[self.is_up])


def draw_outages(draw, may_be_long=True):
    """The mean times, and how often jobs write a checkpoint, all in s (0: never): jobs that are often lost have checkpoints."""
    up, down = draw.choice([(0, 0), (3000, 100), (3000, 1500)] + [(20000, 2000)] * may_be_long)
    return up, down, draw.choice([0, 0, 233]) if up != 3000 else 233


def words_of(up, down, every):
    return ([*("--seed", SEED, "--mtbf", f"{up}s", "--mttr", f"{down}s")] if up else []) + (
        ["--checkpoint", f"{every}s"] if up and every else [])


def kept(done, saved, every):
    """Of the work that a job has done: up to its last stop that wrote a checkpoint, or the last one that it wrote by itself."""
    return max(saved, done // every * every if every else 0)


def draw_chain(draw, i, chance=0.3):
    """The job after which another one comes, and how much later, in s."""
    return (draw.randrange(i), 1 + draw.randrange(10**6) / 1000) if i and draw.random() < chance else (None, "")


def comes_at(job, jobs):
    """Never: not before another one has ended."""
    if job["after"] is None:
        return job["submit"]
    end = jobs[job["after"]].get("end")
    return math.inf if end is None else end + job["think"]
