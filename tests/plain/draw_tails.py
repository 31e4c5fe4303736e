# SPDX-License-Identifier: GPL-3.0-or-later
"""Random tails of jobs: what their hosts do once the GPU has done its part (host_tail_s)."""
from copy import copy

MS = 10**6


class TailDraws:
    """The kinds of a setup (draw.py) with tails_of_ before another kind."""

    def draw_tails(self, r):
        for row in self.rows:
            program = row.get("program", (None, row.get("inside")))[1]
            if "requests" in row or r.random() < 0.3:
                continue
            if program is None and "kernel" in row:  # beside whole iterations
                row["tail"] = r.choice([0, 1, r.randint(1, 1000 * MS), r.randint(1, 10_000 * MS)])
                row["duration"] += row["tail"]
            elif program is None:  # of its duration
                row["tail"] = r.choice([0, 1, row["duration"] // 2, row["duration"] // 7, row["duration"] - 1, row["duration"]])
            if program is None:
                continue
            row["tail"] = r.choice([0, 1, r.randint(1, MS), r.randint(MS, 100 * MS), r.randint(MS, 100 * MS)])
            row["duration"] += row["tail"]
            ended = copy(program)
            ended.tail = row["tail"]
            row.update({"program": (row["program"][0], ended)} if "program" in row else {"inside": ended})
