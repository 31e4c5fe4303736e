# SPDX-License-Identifier: GPL-3.0-or-later
"""Relations between what runs of one setup write: up to a time at which the clock stops, within a window, with less kept.

Spans of timelines are compared by what they show and when, not by their rows: a row is free again when a span ends.
"""
import collections
import json
import os
import sqlite3

from setups import ns


class Written:
    """What one run wrote: rows of jobs, spans and counters of the timeline, and what else is asked for."""

    def __init__(self, case, options=()):
        new = case.setup.copy()
        new.options += [*options, "--timeline", "t.json", "--db", "t.db"]
        folder = case.runner.folder
        for name in ("t.db", "t.db-wal", "t.db-shm"):
            if os.path.exists(os.path.join(folder, name)):
                os.remove(os.path.join(folder, name))
        self.jobs = case.run(new)
        with open(os.path.join(folder, "t.json")) as file:
            self.events = json.load(file)["traceEvents"]
        self.checked = case.runner.call([case.runner.gsim, "check", "t.db", "jobs.csv", "t.json"]).stderr
        self.folder = folder

    def spans(self, begin_ns, end_ns, kernels=False):
        """How often each span is there, cut to the part between two times."""
        found = collections.Counter()
        for event in self.events:
            if event["ph"] == "X" and (kernels or event.get("cat") != "kernel"):
                at = ns(str(event["ts"]) + "e-6")
                begin, end = max(at, begin_ns), min(at + ns(str(event["dur"]) + "e-6"), end_ns)
                if begin < end:
                    found[event["pid"], event.get("cat"), event["name"], begin, end] += 1
        return found

    def counters(self, before_ns):
        """The steps of queue length and busy GPUs."""
        return [(event["name"], event["ts"], event["args"]) for event in self.events
                if event["ph"] == "C" and event["pid"] == 2 and ns(str(event["ts"]) + "e-6") < before_ns]


def doubled(written):
    """A slice that begins before another one of its job on its GPU has ended, or None. Kernels of streams may overlap."""
    last = {}
    for pid, kind, name, begin, end in sorted(written.spans(0, 2**62).elements(), key=lambda span: span[3]):
        if kind == "slice" and begin < last.get((pid, name), 0):
            return pid, name, begin
        last[pid, name] = max(end, last.get((pid, name), 0)) if kind == "slice" else last.get((pid, name), 0)
    return None


def without_open_copies(spans, at_ns):
    """A copy over a link is written when it ends: one that the clock stops is not there."""
    return collections.Counter({span: n for span, n in spans.items() if not (span[1].startswith("copy") and span[4] == at_ns)})


def one_off(got, due):
    """The spans that one has and the other has not, the earliest of each."""
    return {"more": min((got - due).elements(), key=lambda span: span[3], default=None),
            "less": min((due - got).elements(), key=lambda span: span[3], default=None)}


NONE = {"more": None, "less": None}


def some_time(case, needs):
    """A time within the run, most often one at which nothing happens."""
    times = [row[name] for row in case.base.values() for name in ("start_s", "end_s", "submit_s") if row[name]]
    needs(times and "--timeline-window" not in case.setup.options)
    whole = max(times)
    return case.rng.choice([case.rng.choice(times), case.rng.randrange(1, whole + 1), case.rng.randrange(1, whole + 1)])


def stopped(needs):
    """What has happened when the clock stops has happened in the whole run by then."""
    def relation(case):
        needs("--until" not in case.setup.options and "--slice-budget" not in case.setup.options)
        at = some_time(case, needs)
        whole, part = Written(case), Written(case, ["--until", f"{at}ns"])
        off = one_off(without_open_copies(part.spans(0, at, True), at), without_open_copies(whole.spans(0, at, True), at))
        got, due = {"spans": off, "gsim check": {"says": part.checked}}, {"spans": NONE, "gsim check": {"says": ""}}
        got["slices"], due["slices"] = {"twice": doubled(whole)}, {"twice": None}
        got["steps"], due["steps"] = {"": part.counters(at)}, {"": whole.counters(at)}
        for job, row in whole.jobs.items():
            for name in ("start_s", "end_s"):
                if row[name] is not None and row[name] < at:
                    due.setdefault(job, {})[name] = row[name]
        for job, row in part.jobs.items():
            for name in ("start_s", "end_s"):
                if row[name] is not None and row[name] < at:
                    got.setdefault(job, {})[name] = row[name]
        return got, due
    return relation


def window(needs):
    """A part of the timeline shows what the whole one does, and the run is as it was."""
    def relation(case):
        one, other = sorted((some_time(case, needs), some_time(case, needs)))
        whole, part = Written(case), Written(case, ["--timeline-window", f"{one}ns:{other}ns"])
        off = one_off(part.spans(0, 2**62), whole.spans(one, other))
        return ({**part.jobs, "spans": off, "gsim check": {"says": part.checked}},
                {**case.base, "spans": NONE, "gsim check": {"says": ""}})
    return relation


# Columns of a run that tell one from another of its kind, or how long the program computed.
APART = ("run_id", "config", "argv", "kept", "computing_s", "trace_jobs", "build")


def rows_of_run(written):
    db = sqlite3.connect(os.path.join(written.folder, "t.db"))
    db.row_factory = sqlite3.Row
    rows = {"run": {name: value for name, value in dict(db.execute("SELECT * FROM run").fetchone()).items() if name not in APART}}
    rows["jobs"] = {"n": db.execute("SELECT count(*) FROM job").fetchone()[0]}
    db.close()
    return rows


def kept(needs):
    """A database that keeps summaries alone has the numbers of one that keeps jobs too."""
    def relation(case):
        needs("--keep" not in case.setup.options)
        more = Written(case, ["--keep", "jobs"])
        due = rows_of_run(more)
        less = Written(case, ["--keep", "summary"])
        got = rows_of_run(less)
        due["jobs"]["n"], more_jobs = 0, due["jobs"]["n"]
        needs(more_jobs == len(more.jobs))
        return ({**less.jobs, **got, "gsim check": {"says": more.checked + less.checked}},
                {**more.jobs, **due, "gsim check": {"says": ""}})
    return relation
