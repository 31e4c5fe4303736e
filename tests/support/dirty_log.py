# SPDX-License-Identifier: GPL-3.0-or-later
"""A month of sacct --parsable2 with all that real ones have in them, and the report of it recomputed from what was
drawn. `write FOLDER` makes log.txt and truth.json, `check FOLDER` reads report.html against them, number by number."""
import codecs
import collections
import datetime
import html
import json
import random
import re
import sys

HEAD = ("JobID|JobIDRaw|JobName|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|Elapsed|ElapsedRaw|TimelimitRaw|"
        "AllocTRES|ReqTRES|NodeList|AllocCPUS")
BEGIN = datetime.datetime(2024, 5, 1)
ROWS = 6000
PRICE = 2.5


def clock(seconds):
    return (BEGIN + datetime.timedelta(seconds=seconds)).isoformat()


def elapsed(seconds):
    days, seconds = divmod(seconds, 86400)
    return (f"{days}-" if days else "") + str(datetime.timedelta(seconds=seconds)).rjust(8, "0")


class Log:
    """Rows, and the runs on GPUs that they tell: user, submission, start, length, GPUs."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.rows, self.runs = [], []
        self.users = [f"u{i}" for i in range(6)] + ["j\xfcrgen", "zo\xeb"]

    def row(self, shown, raw, state, times, tres, like, nodes="n01"):
        submit, start, run = times
        name, user = like
        began = start if isinstance(start, str) else clock(start)
        ended = "Unknown" if run is None else began if isinstance(start, str) else clock(start + run)
        self.rows.append("|".join([
            str(shown), str(raw), name, user, "lab", "gpu", "normal", state, clock(submit), clock(submit), began, ended,
            elapsed(run or 0), str(run or 0), "1440", tres, tres.replace(":a100", ""), nodes, "8"]))

    def job(self, shown, raw, state, times, gpus, like):
        kind = self.rng.choice(["", f",gres/gpu:a100={gpus}"])
        self.row(shown, raw, state, times, f"billing=8,cpu=8,gres/gpu={gpus}{kind},mem=32G,node=1", like)
        self.runs.append((like[1], *times, gpus))

    def steps(self, number, times, gpus):
        for step in "batch", "extern":
            self.row(f"{number}.{step}", f"{number}.{step}", "COMPLETED", times, f"cpu=8,gres/gpu={gpus},mem=4G", (step, ""))

    def draw(self, number, submit):
        """Writes a job, or what is none, and says how many numbers it takes."""
        r = self.rng
        like = r.choice(["train", "eval|ph|2", "a b", "n\xe4me", 't,"q"', ""]), r.choice(self.users)
        gpus, run = r.choice([1, 1, 2, 4, 8]), int(r.lognormvariate(7, 1)) + 1
        times = submit, submit + r.choice([0, r.randint(1, 4000)]), run
        what = r.choices(["job", "array", "running", "never", "cpu", "requeued", "parts", "dirt"],
                         [60, 6, 4, 4, 6, 6, 4, 10])[0]
        if what == "job":
            state = r.choice(["COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED by 1001", "OUT_OF_MEMORY"])
            self.job(number, number, state, times, gpus, like)
            self.steps(number, times, gpus)
        elif what == "array":
            for task in range(1, 5):
                self.job(f"{number}_{task}", number + task, "COMPLETED", (submit, times[1] + 60 * task, run + task), 1, like)
            self.row(f"{number}_[5-10%2]", number, "PENDING", (submit, "Unknown", None), "", like, "None assigned")
            return 5
        elif what == "running":
            self.row(number, number, "RUNNING", (submit, times[1], None), f"cpu=8,gres/gpu={gpus}", like)
        elif what == "never":
            self.row(number, number, "CANCELLED by 7", (submit, "None", None), "", like, "None assigned")
        elif what == "cpu":
            self.row(number, number, "COMPLETED", times, "billing=8,cpu=8,mem=32G,node=1", like)
        elif what == "requeued":  # sacct -D has both runs; the second waits from the end of the first
            self.job(number, number, "NODE_FAIL", times, gpus, like)
            end = times[1] + run
            self.row(number, number, "COMPLETED", (submit, end + 120, run + 9), f"cpu=8,gres/gpu={gpus}", like)
            self.runs.append((like[1], end, end + 120, run + 9, gpus))
        elif what == "parts":  # of a heterogeneous job: one job with the GPUs of both
            for part in 0, 1:
                self.row(f"{number}+{part}", number + part, "COMPLETED", times, f"cpu=8,gres/gpu:a100={gpus}", like)
            self.runs.append((like[1], *times, 2 * gpus))
            return 2
        else:
            self.rows.append(r.choice(["", HEAD, f"{number}|{number}|cut|{like[1]}", "\0\0\0 torn page"]))
        return 1


def write(folder):
    log, number, at = Log(7), 1000, 0
    while len(log.rows) < ROWS:
        at += int(log.rng.expovariate(1 / 600))
        number += log.draw(number, at)
    with open(f"{folder}/log.txt", "wb") as file:
        file.write(b"\xef\xbb\xbf" + "\r\n".join([HEAD, *log.rows, ""]).encode("latin-1"))
    with open(f"{folder}/truth.json", "w", encoding="utf-8") as file:
        json.dump(log.runs, file)


def tables(page):
    for title, text in re.findall(r'<h2>(.*?)</h2>\s*<div class="wide"><table>(.*?)</table>', page, re.S):
        rows = [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
                for row in re.findall(r"<tr>(.*?)</tr>", text, re.S)]
        yield title, [dict(zip(rows[0], row)) for row in rows[1:]]


def seconds(text):
    number, unit = text.split()
    return float(number) * {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}[unit]


def agrees(got, want):
    """Three digits are shown."""
    return abs(seconds(got) - want) <= 0.0051 * want


def as_read(name):
    """Bytes of the log that are no UTF-8 are Latin-1."""
    return name.encode("latin-1").decode("utf-8", "latin-1 else")


codecs.register_error("latin-1 else", lambda error: (error.object[error.start:error.end].decode("latin-1"), error.end))


def check(folder):
    with open(f"{folder}/truth.json", encoding="utf-8") as file:
        runs = json.load(file)
    with open(f"{folder}/report.html", encoding="utf-8") as file:
        of = dict(tables(file.read()))
    by_user = collections.defaultdict(list)
    for run in runs:
        by_user[as_read(run[0])].append(run)
    users = next(rows for title, rows in of.items() if title.startswith("Users"))
    found = [row["user"] for row in users]
    wrong = [] if sorted(found) == sorted(by_user) else [("users", found)]
    for row in users:
        own = by_user[row["user"]]
        hours = sum(run * gpus for _, _, _, run, gpus in own) / 3600
        wait = sum(start - submit for _, submit, start, _, _ in own) / len(own)
        want = len(own), hours, hours * PRICE
        is_right = int(row["jobs"]) == want[0] and abs(float(row["GPU hours"]) - want[1]) < 0.051 and \
            abs(float(row["cost"]) - want[2]) < 0.0051
        if not is_right or not agrees(row["wait as logged"], wait):
            wrong.append((row, want, wait))
    all_hours = sum(run * gpus for _, _, _, run, gpus in runs) / 3600
    bill = next(rows for title, rows in of.items() if title.startswith("GPU hours"))[0]
    logged = next(rows for title, rows in of.items() if title.startswith("As logged"))[0]
    wait = sum(start - submit for _, submit, start, _, _ in runs) / len(runs)
    # held and all GPU hours, and the part of the cost that is idle: by 320 GPUs, from the first submission to the last end
    span = (max(start + run for _, _, start, run, _ in runs) - min(submit for _, submit, *_ in runs)) / 3600 * 320
    if bill["held"] != f"{all_hours:.1f}" or logged["jobs"] != str(len(runs)) or not agrees(logged["wait as logged"], wait):
        wrong.append((bill, all_hours, logged, wait))
    if abs(float(bill["GPU hours"]) - span) > 0.02 * span or \
            abs(float(bill["cost"]) - PRICE * float(bill["GPU hours"])) > 0.5 * PRICE:
        wrong.append((bill, span))
    for each in wrong:
        print("#", each)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit({"write": write, "check": check}[sys.argv[1]](sys.argv[2]))
