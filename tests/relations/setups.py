# SPDX-License-Identifier: GPL-3.0-or-later
"""Setups of runs: a trace, a cluster and options, which relations.py changes, and what a run of one gives."""
import csv
import os
import random
import subprocess
import sys
from decimal import Decimal

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz"))
import random_runs


class Refused(Exception):
    """The program does not take the setup."""


class Broke(Exception):
    """The program ended in another way than by a result or a refusal."""


class Setup:
    """rows: cells by column; nodes, partitions: sections of the cluster file; options: words of the command."""

    def __init__(self, policy, rows, nodes, options=(), files=None):
        self.policy, self.rows, self.nodes = policy, rows, nodes
        self.options, self.files, self.partitions = list(options), dict(files or {}), []

    def copy(self):
        return Setup(self.policy, [dict(row) for row in self.rows], [(name, dict(keys)) for name, keys in self.nodes],
                     self.options, self.files)

    def column(self, name, draw):
        """The setup with the cells of a column as draw(row) gives them; None leaves a cell away."""
        new = self.copy()
        for row in new.rows:
            value = draw(row)
            if value is None:
                row.pop(name, None)
            else:
                row[name] = value
        return new

    def trace(self):
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        return [names] + [[row.get(name, "") for name in names] for row in self.rows]

    def cluster(self):
        sections = [("node", *node) for node in self.nodes] + [("partition", *part) for part in self.partitions]
        return "".join("[%s %s]\n%s\n" % (kind, name, "".join(f"{key}={value}\n" for key, value in keys.items()))
                       for kind, name, keys in sections)


NUMBERS = ("preemptions", "migrations", "faults", "bytes_in", "bytes_out")
TIMES = ("submit_s", "start_s", "end_s", "service_s", "stall_s", "held_s")


def ns(text):
    return int(Decimal(text) * 10**9) if text else None


class Runner:
    def __init__(self, gsim, folder, limit):
        self.gsim, self.folder, self.limit, self.count = os.path.abspath(gsim), folder, limit, 0

    def write(self, setup, table=None):
        with open(os.path.join(self.folder, "trace.csv"), "w", newline="") as to:
            csv.writer(to, lineterminator="\n").writerows(table or setup.trace())
        for name, text in {**setup.files, "cluster.ini": setup.cluster()}.items():
            with open(os.path.join(self.folder, name), "w") as to:
                to.write(text)

    def words(self, setup, trace="trace.csv"):
        cluster = ["--cluster", "cluster.ini"] if setup.nodes else []
        return [self.gsim, "run", "--policy", setup.policy, *cluster, *setup.options, "--quiet", "--jobs-csv",
                "jobs.csv", "--force", trace]

    def call(self, words, stdin=None):
        self.count += 1
        try:
            return subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=self.limit,
                                  stdin=stdin, close_fds=False)
        except subprocess.TimeoutExpired:
            raise Refused(f"it did not end in {self.limit} s") from None

    def jobs(self, words, stdin=None):
        """Rows of jobs by job_id, in whole ns."""
        done = self.call(words, stdin)
        self.said = done.stdout
        said = (done.stderr.strip().splitlines() or [""])[0]
        if done.returncode in (2, 3) or "got anything done" in said:
            raise Refused(said)
        if done.returncode != 0:
            raise Broke(f"exit {done.returncode}: {said}")
        with open(os.path.join(self.folder, "jobs.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        return {row["job_id"]: {**{name: ns(row[name]) for name in TIMES},
                                **{name: int(row[name] or 0) for name in NUMBERS}} for row in rows}

    def run(self, setup):
        self.write(setup)
        return self.jobs(self.words(setup))


def seconds(whole_ns):
    return "%d.%09d" % divmod(whole_ns, 10**9)


FEW = {"pollux": 8}  # with 24 its search takes a quarter of the time of all policies
KINDS = ("plain", "iterations", "classes", "shares")


def small(policy, seed, kind):
    """A busy cluster of two nodes with four GPUs, and 24 jobs or FEW; no two are submitted at one time."""
    rng = random.Random(seed)
    rows, at = [], 0
    for i in range(FEW.get(policy, 24)):
        at += rng.randrange(1, 4 * 10**9)
        row = {"job_id": f"j{i:02d}", "submit_s": seconds(at),
               "gpus": str(rng.choice([1, 1, 1, 1, 2, 2, 4, 8]))}
        length = rng.choice([1, 1, 10]) * rng.randrange(10**9, 10**10)
        row["mem_gib"] = str(rng.choice([1, 2, 4, 20]))
        row["user"], row["vc"] = rng.choice(["ann", "bob", "cem"]), rng.choice(["v", "w"])
        row["duration_s"] = seconds(length)
        if kind == "iterations":
            gpu_us = rng.randrange(1000, 100000)
            del row["duration_s"]
            row["gpu_ms"], row["iterations"] = "%d.%03d" % divmod(gpu_us, 1000), str(length // (gpu_us * 1000) + 1)
            row["host_gap_ms"] = rng.choice(["0", "0.5", "2"])
        if kind == "classes":
            row["class"] = rng.choice(["production", "opportunistic", "realtime", "batch"])
            row["priority"] = rng.choice(["0", "1", "5"])
            row["sm_fraction"], row["hbm_gbps"] = rng.choice(["0.2", "0.5", "1"]), rng.choice(["10", "500"])
        if kind == "shares" and row["gpus"] == "1":
            row["gpus"] = rng.choice(["0.25", "0.5", "1"])
        rows.append(row)
    device = "ideal" if seed % 2 == 0 else "h200"
    nodes = [("n", {"count": 2, "gpus": 4, "device": device})]
    return Setup(policy, rows, nodes)


LOGS = {"philly": "philly_via_pollux/philly.csv", "pai": "derived/openb_pai_effective_7000.csv",
        "openb": "openb2023/openb_pod_list_default.csv", "tiresias": "derived/phillymix2000_job.csv"}


class Logs:
    """Public traces as rows of a native one, where they lie beside the repository (shared/traces)."""

    def __init__(self, gsim, folder):
        self.gsim, self.folder, self.known = os.path.abspath(gsim), folder, {}

    def names(self):
        return [name for name, path in LOGS.items() if os.path.exists(os.path.join(self.folder, path))]

    def rows(self, name):
        if name not in self.known:
            done = subprocess.run([self.gsim, "import", "--quiet", name, os.path.join(self.folder, LOGS[name])],
                                  capture_output=True, text=True, check=True)
            self.known[name] = sorted(csv.DictReader(done.stdout.splitlines()), key=lambda row: ns(row["submit_s"]))
        return self.known[name]

    def part(self, policy, seed, name):
        """Jobs of a log that follow each other, on two nodes; an hour is a minute, and no two come at one time."""
        rows = [row for row in self.rows(name) if Decimal(row["gpus"]) <= 8 and ns(row["duration_s"])]
        n = FEW.get(policy, 24)
        first = random.Random(seed).randrange(len(rows) - n)
        start, out = ns(rows[first]["submit_s"]), []
        for i, row in enumerate(rows[first:first + n]):
            at, length = (ns(row["submit_s"]) - start) // 60 + i * 1000, ns(row["duration_s"]) // 60
            out.append({name: cell for name, cell in row.items() if cell and name not in ("cpus", "after")})
            out[-1].update(job_id=f"j{i:02d}", submit_s=seconds(at), duration_s=seconds(length))
        device = "ideal" if seed % 2 == 0 else "h200"
        return Setup(policy, out, [("n", {"count": 2, "gpus": 4, "device": device})])


def drawn(seed, lists):
    """A setup of fuzz/random_runs.py: any policy with any settings on any cluster."""
    case = random_runs.Case(seed, lists)
    rows = [{name: str(cell) for name, cell in zip(case.rows[0], row) if cell != ""} for row in case.rows[1:]]
    nodes = []
    for line in case.files.pop("cluster.ini").splitlines():
        if line.startswith("[node "):
            nodes.append((line[6:-1], {}))
        elif "=" in line:
            key, _, value = line.partition("=")
            nodes[-1][1][key.strip()] = int(value) if key == "count" else value.strip()
    del case.files["trace.csv"]
    options = case.words[5:case.words.index("--quiet")]
    return Setup(case.policy, rows, nodes, options, case.files)
