#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random runs of the program, and `gsim check` over what each wrote.

    random_runs.py GSIM [--cases CASES] [--runs N] [--first SEED] [--keep FOLDER] [--limit SECONDS] [--why] [--mixtures]

A seed draws a cluster (kinds of nodes, devices, switches, PCIe roots, hosts, failures), a trace (any
columns) and a policy with any of its settings, which are read from the program's own lists. A run may
refuse its inputs (exit codes 2 and 3); whatever else is not a run that ends and passes the check is a
finding. Its folder is kept, with the command in `cmd`. A run that takes longer than --limit is named and
kept too, and fails nothing: how long that is depends on the machine. Without --first the seeds begin at
the clock, so that each day tries others; a seed draws one case on every machine. --mixtures draws programs of an
H200 beside jobs without one, under policies that share SMs. undrawn.py lists what no seed draws.
"""
import argparse
import collections
import math
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import random_wide

REFUSALS = (2, 3)
# The words of a run in which no job gets anything done, as the case had to expect.
HOPELESS = "none has got anything done"
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def lines_of(gsim, *words):
    done = subprocess.run([gsim, "list", *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Lists:
    """What the program can do, as it lists it."""

    def __init__(self, gsim):
        self.devices = [line.split()[0] for line in lines_of(gsim, "devices")]
        self.policies = [line.split()[0] for line in lines_of(gsim, "policies")]
        self.apps = [line.split()[0] for line in lines_of(gsim, "apps")]
        self.settings = collections.defaultdict(list)
        for line in lines_of(gsim, "parameters"):
            owner, name, value, allowed = re.fullmatch(
                r"([^.]+)\.([^=]+)=(\S*)(?: \[(.*)\])?", line).groups()
            self.settings[owner].append((name, value, allowed))
        self.keys = [line.split("=")[0].split()[0] for line in lines_of(gsim, "devices", "h200")
                     if re.match(r"(switch|checkpoint|suspend|restart|uvm)\.\S+", line)]


def amount(rng, value, allowed):
    """A setting near its default: a time, a size or a number, with the unit that the default has."""
    number, unit = re.fullmatch(r"(-?[0-9.]+)(.*)", value).groups()
    low, high = -1e18, 1e18
    for bound, text in re.findall(r"(at least|to) ([0-9.]+)", allowed or ""):
        low, high = (float(text), high) if bound == "at least" else (low, float(text))
    span = re.match(r"([0-9.]+) to", allowed or "")
    low = float(span.group(1)) if span else low
    percent = re.match("([0-9.]+)% to ([0-9.]+)%", allowed or "")
    if percent and not unit:
        low, high = map(float, percent.groups())
        return f"{min(high, max(low, 100 * float(number) * rng.choice([0.5, 1, 2]) + rng.choice([0, 0, 1]))):.4f}%"
    if unit:
        drawn, most = max(1, round(float(number) * rng.choice([0.5, 1, 2]))), re.search("to ([0-9]+)%", allowed or "")
        return f"{min(drawn, int(most.group(1))) if most else drawn}{unit}"
    drawn = round(float(number) * rng.choice([0, 0.5, 1, 2, 10]) + rng.choice([0, 0, 1]))
    return str(int(min(high, max(low, drawn))))


def setting(rng, value, allowed):
    """None: the setting has no values that can be drawn, such as a file."""
    words, _, bounds = (allowed or "").partition(", ")
    if "|" in words:
        return rng.choice(words.split("|"))
    if value in ("on", "off"):
        return rng.choice(["on", "off"])
    if not re.fullmatch(r"-?[0-9.]+[a-zA-Z/%]*", value):
        return None
    return amount(rng, value, allowed)


def some(rng, chance):
    return rng.random() < chance


class Case:
    def __init__(self, seed, lists, of_mixtures=random_wide.OF_MIXTURES):
        self.rng = random.Random(seed)
        self.seed, self.of_mixtures = seed, of_mixtures
        # One case in five may take a hundred times as long as most; what breaks mostly breaks with few jobs.
        self.is_long = random.Random(f"long {seed}").random() < LONG
        self.policy = self.rng.choice(random_wide.SHARES_SMS if of_mixtures == 1 else lists.policies)
        self.sets = []
        self.files = {}
        self.draw_settings(lists)
        self.draw_cluster(lists)
        self.extra = []
        self.draw_trace()
        random_wide.widen(self, lists)
        self.files["trace.csv"] = "".join(",".join(map(quoted, row)) + "\n" for row in self.rows)
        self.draw_run()

    def draw_settings(self, lists):
        rng = self.rng
        for name, value, allowed in lists.settings[self.policy]:
            drawn = setting(rng, value, allowed) if some(rng, 0.35) else None
            if drawn is not None:
                self.sets.append(f"{self.policy}.{name}={drawn}" if name == "sms" else f"{name}={drawn}")
        self.pages = any(re.match(r"memory=(uvm|lru|proactive)", text) for text in self.sets)
        if not self.pages and "preempt=paging" in self.sets:
            self.sets.remove("preempt=paging")
        self.pages |= self.policy in ("uvm", "msched", "nvshare")

    # --- the cluster ----------------------------------------------------------------------------
    def draw_nodes(self, lists, name, device):
        rng = self.rng
        nodes, gpus = rng.randint(1, 3), rng.choice([1, 2, 4, 8])
        text = [f"[node {name}]", f"count={nodes}", f"gpus={gpus}", f"device={device}"]
        roots = rng.choice([n for n in (1, 2, 4) if gpus % n == 0])
        for chance, line in [
                (0.2, f"switch_nodes={rng.randint(1, 3)}"),
                (0.2, f"network_bytes_per_s={rng.choice(['100 MB/s', '12.5 GB/s', '50 GB/s'])}"),
                (0.2, f"pcie_root_gpus={roots}\npcie_root_bytes_per_s={rng.choice(['1 GB/s', '63 GB/s'])}"),
                (0.2, f"host_mem={rng.choice(['64GiB', '256GiB', '1TiB'])}"),
                (0.2, f"cpus={gpus * rng.choice([1, 4, 16])}")]:
            if some(rng, chance):
                text.append(line)
        return nodes * gpus, "\n".join(text)

    def draw_cluster(self, lists):
        rng = self.rng
        devices = [rng.choice(lists.devices + ["ideal"] * 8)]
        kinds = rng.randint(1, 3)
        if some(rng, 0.3):
            devices = [rng.choice(lists.devices) for _ in range(kinds)]
        groups = [self.draw_nodes(lists, f"n{i}", devices[i % len(devices)]) for i in range(kinds)]
        self.n_gpus = sum(n for n, _ in groups)
        self.files["cluster.ini"] = "\n".join(text for _, text in groups) + "\n"
        if some(rng, 0.1):
            self.sets.append(f"speed.{devices[-1]}={rng.choice(['0.01', '0.5', '2'])}")

    # --- the trace ------------------------------------------------------------------------------
    def draw_columns(self):
        rng = self.rng
        columns = {"mem_gib": lambda: rng.choice(["", 1, 2, 6, 9.5]) if not self.pages
                   else rng.choice([1, 4, 9, 30])}
        maybe = {
            "limit_s": lambda: "%.3f" % (self.scale * rng.choice([0.5, 3, 30])),
            "user": lambda: rng.choice("abcd"), "vc": lambda: rng.choice(["v1", "v2", "odd 'vc\""]),
            "class": lambda: rng.choice(["", "production", "opportunistic", "realtime", "batch"]),
            "priority": lambda: rng.choice(["", 0, 1, 10]), "weight": lambda: rng.choice(["", 1, 4]),
            "cpus": lambda: rng.choice(["", 1, 2]), "idempotent": lambda: rng.choice(["", 0, 1]),
            "host_tail_s": lambda: "%.6f" % (self.scale * rng.random() / 10),
            "idle_after_s": lambda: "%.6f" % (self.scale * rng.random() / 10),
            "load_gib": lambda: rng.choice(["", 0.5, 1]), "model": lambda: rng.choice(["vgg16", "resnet50", ""]),
            "sm_fraction": lambda: rng.choice(["", 0.1, 0.5, 1]), "hbm_gbps": lambda: rng.choice(["", 10, 500]),
            "hbm_loaded": lambda: rng.choice(["", 0.4, 0.7, 1]),
            "host_gap_ms": lambda: rng.choice(["", 0, 1.5, 20]), "host_ms": lambda: rng.choice(["", 0, 0.1]),
            "sync": lambda: rng.choice(["", "kernel", "iteration", "none"]),
            "kernel_ms": lambda: rng.choice(["", 0.01, 0.1, 1]), "blocks": lambda: rng.choice(["", 1, 100, 10000]),
            "persistent_gib": lambda: rng.choice(["", 0.5]), "working_set_gib": lambda: rng.choice(["", 0.5, 1]),
            "deadline_s": lambda: rng.choice(["", 100]),
        }
        if not self.pages and some(rng, 0.4) and "host_mem" not in self.files["cluster.ini"]:
            del columns["mem_gib"]
        if "host_mem" in self.files["cluster.ini"]:
            columns["mem_gib"] = lambda: rng.choice([1, 2, 9.5])
        for name, draw in maybe.items():
            if some(rng, 0.15):
                columns[name] = draw
        return columns

    def draw_work(self, i):
        """The cells submit_s, duration_s, gpus, iterations, gpu_ms."""
        rng = self.rng
        submit = rng.choice([0, self.scale * rng.random() * 10, self.scale * rng.randint(0, 5)])
        length = self.scale * 10 ** rng.uniform(-2, 0.7)
        width = rng.choice([1, 1, 1, 1, 2, 2, 4, 8, rng.randint(1, self.n_gpus)])
        gpus = min(width, self.n_gpus)
        if self.has_shares and gpus == 1 and some(rng, 0.5):
            gpus = rng.choice([0.1, 0.25, 0.5])
        if not self.has_iterations:
            return ["%.9f" % submit, "%.9f" % length, gpus, "", ""]
        gpu_ms = rng.choice([1, 10, 90.574563996, length * 100])
        return ["%.9f" % submit, "", gpus, max(1, round(length * 1000 / gpu_ms)), "%.9f" % gpu_ms]

    def draw_trace(self):
        rng = self.rng
        shares = self.policy in SHARING or self.pages
        self.scale = 10 ** rng.uniform(-1, 4.5 if not shares else 0.5 if self.is_long else -0.3)
        self.has_iterations, self.has_shares = some(rng, 0.5), some(rng, 0.15)
        n = rng.choice([1, 3, 8, 12, 20, 40, 80] if self.is_long else [1, 2, 3, 4, 6, 8, 12, 20])
        n = min(n, 40 if self.is_long else 6) if self.policy == "pollux" else n
        columns = self.draw_columns()
        self.rows = [["job_id", "submit_s", "duration_s", "gpus", "iterations", "gpu_ms", *columns]]
        for i in range(n):
            self.rows.append([f"j{i}", *self.draw_work(i), *[draw() for draw in columns.values()]])

    # --- the command ----------------------------------------------------------------------------
    def draw_run(self):
        rng = self.rng
        words = ["run", "--policy", self.policy, "--cluster", "cluster.ini", "--seed", str(rng.randint(0, 9)), *self.extra]
        for text in self.sets:
            words += ["--set", text]
        mtbf_s = self.scale * rng.choice([5, 50])
        if "device=ideal" not in self.files["cluster.ini"]:
            mtbf_s = max(mtbf_s, 300)  # the way back from storage takes a minute
        self.fails = some(rng, 0.25) and "requests" not in self.rows[0]  # these cannot begin anew
        # what is discarded at each slice, or paged over a slow root, is not done within a slice
        self.is_hopeless = ((self.fails and mtbf_s < 200) or "preempt=discard" in self.sets
                            or (self.pages and "1 GB/s" in self.files["cluster.ini"]))
        if self.fails:
            words += ["--mtbf", f"{mtbf_s:.3f}s",
                      "--mttr", f"{self.scale * rng.choice([0.01, 0.1, 2]):.3f}s"]
            words += ["--checkpoint", f"{self.scale * rng.choice([0.01, 0.5]):.3f}s"] if some(rng, 0.6) else []
        words += ["--slice-budget", rng.choice(["10", "1000", "100000"])] if some(rng, 0.2) else []
        # where nodes fail more often than jobs get through, a run goes on for a million failures of each
        until = [1, 5] if some(rng, 0.07) else [2000 if self.is_long else 200] if self.fails else []
        words += ["--until", f"{self.scale * rng.choice(until):.3f}s"] if until else []
        words += ["--warmup", "10%"] if some(rng, 0.05) else []
        self.words = words + ["--quiet", "--format", "json", "--jobs-csv", "jobs.csv", "--db", "run.db",
                              "--samples", str(rng.choice([1, 8, 64])), "--timeline", "timeline.json",
                              "--jobs", str(rng.choice([1, 1, 3])), "trace.csv"]


LONG = 0.2
SHARING = {"timeslice", "mps", "mig", "vgpu", "xsched", "chimera", "reef", "orion", "gpreempt", "tally", "lithos", "green", "tgs", "antman", "salus", "lucid", "uvm",
           "msched", "nvshare"}


def quoted(cell):
    text = str(cell)
    return '"%s"' % text.replace('"', '""') if '"' in text or "," in text else text


WAITS = 10  # a run may be there for so many times its processor time: others use the machine and its disk


def ran(words, folder, limit, out=None):
    """The exit code (124: out of processor time, negative: a signal) and the last line that was said."""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))
    late = f"it did not end in {limit} s of processor time"
    with open(os.path.join(folder, out or "said"), "w") as to:
        try:
            done = subprocess.run(words, cwd=folder, stdout=to, stderr=subprocess.PIPE, timeout=WAITS * limit,
                                  preexec_fn=bound)
        except subprocess.TimeoutExpired:
            return 124, late
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return 124, late
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return done.returncode, said[0] if said else ""


def write_files(case, folder):
    for name, text in case.files.items():
        with open(os.path.join(folder, name), "w") as to:
            to.write(text)


def judged(case, code, said, checked, why):
    """('run', ''), ('refused', why) or ('found', what), by the exit codes of the run and of its check."""
    if code in REFUSALS or (code == 1 and HOPELESS in said and case.is_hopeless):
        return "refused", said
    if 124 in (code, checked):
        return "slow", said or why
    if code != 0:
        return "found", f"exit {code}: {said}"
    return ("run", "") if checked == 0 else ("found", f"check: exit {checked}: {why}")


class Processes:
    """Each case by the commands that a user types."""

    def __init__(self, gsim):
        self.gsim = gsim

    def end(self):
        pass

    def tried(self, case, folder, limit):
        with open(os.path.join(folder, "cmd"), "w") as to:
            to.write(shlex.join(["gsim", *case.words]) + "\n")
        code, said = ran([self.gsim, *case.words], folder, limit, "run.json")
        if code != 0:
            return judged(case, code, said, None, "")
        # the database first: it says of which run the others are
        return judged(case, code, said, *ran([self.gsim, "check", "run.db", "run.json", "jobs.csv", "timeline.json"], folder, limit))


class Forks:
    """Each case in a fork of one process (cases.c), at a tenth of the time; one in ONE_IN, and what is found, by processes too."""
    ONE_IN = 50

    def __init__(self, program, processes):
        self.forks = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes = processes

    def tried(self, case, folder, limit):
        if case.seed % self.ONE_IN == 0:
            return self.processes.tried(case, folder, limit)
        self.forks.stdin.write("\t".join([folder, str(math.ceil(limit)), *case.words]) + "\n")
        self.forks.stdin.flush()
        code, checked, ended, used_s = map(float, self.forks.stdout.readline().split())
        code, checked, ended = int(code), int(checked), int(ended)
        said = ""
        if code != 0 or checked != 0:
            with open(os.path.join(folder, "said"), errors="replace") as text:
                said = text.readline().strip()
        if ended in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM):
            code, said = 124, f"it did not end in {limit} s of processor time"
        kind, text = judged(case, -ended if ended and code != 124 else code, said, checked, said)
        if kind not in ("found", "slow"):
            return kind, text
        for name in ("run.db", "jobs.csv", "timeline.json"):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        again = self.processes.tried(case, folder, limit)
        return again if again[0] == kind else (kind, f"{text} (in a fork alone; the command: {again})")

    def end(self):
        self.forks.stdin.close()
        self.forks.wait()


def processor_s():
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def emptied(folder):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--runs", type=int, default=150)
    parser.add_argument("--first", type=int, default=int(time.time()) // 60 * 1000)
    parser.add_argument("--keep", default="build/random-runs")
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--mixtures", action="store_true", help="each run is of programs beside other jobs that share SMs")
    parser.add_argument("--cases", help="the program of cases.c; without it each case is two processes")
    parser.add_argument("--why", action="store_true", help="count the reasons of refusals")
    args = parser.parse_args()
    gsim, lists = os.path.abspath(args.gsim), Lists(args.gsim)
    counts, why, kinds = collections.Counter(), collections.Counter(), collections.Counter()
    tool = Forks(os.path.abspath(args.cases), Processes(gsim)) if args.cases else Processes(gsim)
    memory = "/dev/shm"  # files of a case are written, read once and removed
    folder = tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None)
    print(f"# seeds {args.first} to {args.first + args.runs - 1}", flush=True)
    for seed in range(args.first, args.first + args.runs):
        case = Case(seed, lists, 1) if args.mixtures else Case(seed, lists)
        write_files(case, folder)
        kind, text = tool.tried(case, folder, args.limit)
        counts[kind] += 1
        if kind == "refused":
            why[re.sub(r"[0-9.]+|'[^']*'", "#", text)] += 1
        if kind in ("found", "slow"):
            kept = os.path.join(args.keep, str(seed))
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            kinds[re.sub(r"[0-9.]+|'[^']*'", "#", text)] += 1
            if kinds[re.sub(r"[0-9.]+|'[^']*'", "#", text)] <= 3:
                print(f"# seed {seed}, kept in {kept}: {text}", flush=True)
        emptied(folder)
    shutil.rmtree(folder, ignore_errors=True)
    tool.end()
    if args.why:
        for text, n in why.most_common():
            print(f"# refused {n}: {text}")
    print(f"# {counts['run']} runs, {counts['refused']} refused, {counts['found']} findings, "
          f"{counts['slow']} without an end in {args.limit:g} s of processor time; {processor_s():.1f} s of it in all")
    print(f"{'not ok' if counts['found'] else 'ok'} random {'mixtures' if args.mixtures else 'runs'} from seed {args.first} on hold the rules")
    enough = counts["run"] * 3 >= args.runs
    print(f"{'ok' if enough else 'not ok'} most of them are no refusals")
    return counts["found"] > 0 or not enough


if __name__ == "__main__":
    sys.exit(main())
