#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws dry runs of gsim drive with bad jobs, and what happens to them: kills, signals, full disks.

    driven.py GSIM [--draws N] [--first SEED] [--verbose]

Jobs die, ignore signals, leave children, stop themselves, talk nonsense, or are a thousand at once; drive, its guard or a
job is killed at any moment, drive is stopped for a while, its disk is full, or its folder of logs is gone or is none. After
each run no process of it is left, each job that had ended still stands in the database, and that is whole; and what drive
says of itself is an exit code of its own.
"""
import argparse
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

COMMANDS = ["", "true", "false", "sleep 0.2", "sleep 3", "exec /no/such/program", "(no_such_command)", "exit 137", "kill -9 $$", "kill -STOP $$",
            "trap '' TERM INT HUP; sleep 4", "trap '' TERM; while :; do sleep 0.1; done & wait", "sleep 30 & sleep 0.1", "printf 'two\nlines\n'; sleep 0.1",
            "echo \"a 'b' \"\"c\"\" $(echo x)\"", "head -c 200000 /dev/urandom", "exec 3<&-; sleep 0.1", "kill -SEGV $$", "sh -c 'sleep 0.3; exit 3'",
            "echo pauses >&$GSIM_JOB_FD; echo begin 5 >&$GSIM_JOB_FD; sleep 0.2", "echo iteration -5 >&$GSIM_JOB_FD; head -c 5000 /dev/zero >&$GSIM_JOB_FD"]
SHORT = ["", "true", "false", "exit 3", "(/no/such/program)", "sleep 0.01"]
POLICIES = ["fifo", "backfill", "sjf", "timeslice", "mps", "srtf preempt=restart", "srtf preempt=pause", "las preempt=discard quantum=200ms",
            "las preempt=pause quantum=100ms", "gang-rr slice=100ms preempt=pause", "gang-rr slice=150ms preempt=pause-iteration",
            "suspend mechanism=checkpoint quantum=200ms"]
EVENTS = ["none", "kill", "kill", "kill one", "kill one", "kill both", "terminate", "interrupt", "stop", "full disk", "no logs", "logs gone"]
MARK = "GSIM_DRIVEN_DRAW"


def marked(folder):
    """Processes of the draw, by a variable that children inherit; zombies are gone."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as env, open(f"/proc/{pid}/stat") as stat:
                if f"{MARK}={folder}\0".encode() in env.read() and stat.read().rsplit(")", 1)[1].split()[0] != "Z":
                    out.append(int(pid))
        except OSError:
            pass
    return out


def write_trace(r, path):
    n = r.choice([1, 3, 8, 20, 20, 200, 1000])
    at, burst = 0, r.random() < 0.4
    with open(path, "w") as trace:
        print("job_id,submit_s,duration_s,gpus,mem_gib,command", file=trace)
        for i in range(n):
            command = r.choice(COMMANDS if n < 100 else SHORT).replace('"', '""')
            print(f'"j{i}",{at:.3f},{r.choice([0.01, 0.1, 0.5, 2]) if n < 100 else 0.01},{r.choice([1, 1, 1, 2, 0.5])},1,"{command}"', file=trace)
            at += 0 if burst else r.uniform(0, 0.3 if n < 100 else 0.01)


def ended(path):
    """By job, when it ended and how; none while there is no database."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5) as db:
            return {job: rest for job, *rest in db.execute("SELECT job, end_ns, exit_code FROM real_job WHERE end_ns IS NOT NULL")}
    except sqlite3.Error:
        return {}


def is_gsim(pid):
    try:
        return os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "gsim"
    except OSError:
        return False


def happen(r, event, run, folder):
    others = [pid for pid in marked(folder) if pid != run.pid]
    if event == "kill both":  # a job and drive: without its guard none ends what a job has put into the background
        others = [pid for pid in others if not is_gsim(pid)]
    if event in ("kill one", "kill both") and others:
        try:
            os.kill(r.choice(others), signal.SIGKILL)
        except ProcessLookupError:
            pass
    if event in ("kill", "kill both"):
        run.kill()
    elif event == "stop":
        run.send_signal(signal.SIGSTOP)
        time.sleep(r.uniform(0.1, 1.5))
        run.send_signal(signal.SIGCONT)
    elif event == "logs gone":
        shutil.rmtree(folder + "/logs", ignore_errors=True)
    elif event in ("terminate", "interrupt"):
        run.send_signal(signal.SIGTERM if event == "terminate" else signal.SIGINT)


def limit_files(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def hold(gsim, seed, folder):
    """What is wrong after the run of this draw; None: nothing."""
    r = random.Random(seed)
    write_trace(r, folder + "/t.csv")
    policy, *sets = r.choice(POLICIES).split()
    event, database, size = r.choice(EVENTS), folder + "/r.db", r.choice([20_000, 120_000, 400_000])
    words = [gsim, "drive", "--quiet", "--dry-run", "--gpus", r.choice(["0,1", "0,1,2,3"]), "--policy", policy, "--logs", folder + "/logs",
             "--grace", r.choice(["20ms", "100ms", "300ms"]), "--until", r.choice(["2s", "3s"]), "--db", database]
    words += [word for its in sets for word in ("--set", its)] + r.choice([[], [], ["--cooperative"], ["--save-command", "sleep 9"]])
    if event == "no logs":
        open(folder + "/logs", "w").close()
    with open(folder + "/err", "w") as err:
        run = subprocess.Popen(words + [folder + "/t.csv"], stdout=subprocess.DEVNULL, stderr=err, cwd=folder, start_new_session=True,
                               env={**os.environ, MARK: folder}, preexec_fn=(lambda: limit_files(size)) if event == "full disk" else None)
    time.sleep(r.uniform(0.1, 2.5))
    before = ended(database)
    happen(r, event, run, folder)
    said = f"seed {seed}, {event}, {policy} {' '.join(sets)}: "
    try:
        code = run.wait(timeout=120)
    except subprocess.TimeoutExpired:
        run.kill()
        run.wait()
        return said + "it does not end"
    until = time.time() + 60
    while marked(folder) and time.time() < until:
        time.sleep(0.05)
    left = marked(folder)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    if left:
        return said + f"{len(left)} processes are left"
    if code not in (0, 1, 2, 3, 4) and not (event.startswith("kill") and code == -signal.SIGKILL):
        return said + f"exit code {code}"
    after = ended(database)
    lost = [job for job in before if after.get(job) != before[job]]
    if lost:
        return said + f"rows of {len(lost)} jobs are lost"
    with open(folder + "/err") as err:
        if after and "nothing of it was written" in err.read():
            return said + "it says that nothing was written, and rows of jobs were"
    if os.path.exists(database):
        with sqlite3.connect(database) as db:
            whole = db.execute("PRAGMA integrity_check").fetchone()[0]
        if whole != "ok":
            return said + whole
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gsim")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    wrong = []
    for seed in range(args.first, args.first + args.draws):
        with tempfile.TemporaryDirectory() as folder:
            found = hold(os.path.abspath(args.gsim), seed, folder)
            if args.verbose:
                with open(folder + "/err") as err:
                    print(seed, found or "fine", len(ended(folder + "/r.db")), err.read()[-120:].replace("\n", " "), flush=True)
        wrong += [found] * (found is not None)
    print(f"{'not ok' if wrong else 'ok'} {args.draws} drives of bad input leave nothing behind")
    for found in wrong:
        print("# " + found)
    sys.exit(bool(wrong))


main()
