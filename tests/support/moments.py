# SPDX-License-Identifier: GPL-3.0-or-later
"""moments.py ALLOCATOR FOLDER <CASES: runs commands under an allocator that fails once, at any moment (tests/cli/no_memory.sh).

A line of CASES is "NAME<tab>MOMENTS<tab>COMMAND", in words as of a shell; MOMENTS moments are tried, spread over the
allocations of the command. One process looks at all that thousands of runs left: a shell would start ten programs for each."""
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys

ALLOCATOR, FOLDER = sys.argv[1:]
UNDISTURBED, NOW = os.path.join(FOLDER, "all"), os.path.join(FOLDER, "now")
COUNT = os.path.join(FOLDER, "n")


def once(folder, words, **variables):
    """The exit code of a command in an empty folder of its own, where it may write."""
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    with open(os.path.join(folder, "out"), "wb") as out, open(os.path.join(folder, "err"), "wb") as err:
        return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                              env=dict(os.environ, LD_PRELOAD=ALLOCATOR, **variables)).returncode


def text(folder, name):
    """A file without what two runs of a command may differ in."""
    with open(os.path.join(folder, name), "rb") as file:
        return re.sub(rb'"wall_s":[^,}]*', b"", file.read())


def ask(folder, name, *questions):
    base = sqlite3.connect(os.path.join(folder, name))
    try:
        return [base.execute(question).fetchall() for question in questions]
    finally:
        base.close()


def outputs(folder):
    return sorted(name for name in os.listdir(folder) if not name.endswith("-journal") and name != "err")


def settled(folder):
    """What a command that ended well left."""
    return {name: ask(folder, name, "pragma integrity_check", "select count(*) from run", "select count(*) from job",
                      "select jct_mean_s, argv is not null from run order by run_id")
            if name.endswith(".db") else text(folder, name) for name in outputs(folder)}


def is_whole(name):
    """A database without the run is whole as well; another file is there as a whole or not at all."""
    if not name.endswith(".db"):
        return name == "out" or text(NOW, name) == text(UNDISTURBED, name)
    if ask(NOW, name, "pragma integrity_check") != [[("ok",)]]:
        return False
    if ask(NOW, name, "select count(*) from sqlite_master where name = 'job'") != [[(1,)]]:
        return True
    return ask(NOW, name, "select count(*) from run where jobs <> (select count(*) from job where "
                          "job.run_id = run.run_id)") == [[(0,)]]


def judge(code, whole):
    """What is wrong with a run that was disturbed; None where nothing is."""
    said = text(NOW, "err")
    if code == 0:
        # a report goes on without a figure, an advice without an alternative, and says so
        if re.search(rb"without figure .*: out of memory", said) or \
                re.search(rb"cannot run .*: out of memory", text(NOW, "out")) or settled(NOW) == whole:
            return None
        return "another output"
    if code != 1:
        return f"exit code {code}: {said.decode(errors='replace').splitlines()[-1:]}"
    if not said.strip():
        return "no word of it"
    return None if all(map(is_whole, outputs(NOW))) else "something is half written"


def at_any_moment(name, moments, command):
    words = shlex.split(command)
    code = once(UNDISTURBED, words, COUNT_TO=COUNT)
    if code != 0:
        print(f"not ok {name}, undisturbed\n# exit code {code}")
        return
    whole = settled(UNDISTURBED)
    with open(COUNT, encoding="ascii") as file:
        n = int(file.read())
    wrong = []
    for i in range(moments):
        moment = (2 * i + 1) * n // (2 * moments) + 1
        try:
            what = judge(once(NOW, words, FAIL_AT=str(moment)), whole)
        except (sqlite3.Error, OSError) as error:
            what = f"what it left cannot be read: {error}"
        if what:
            wrong.append(f"# moment {moment}: {what}")
    print("\n".join([f"{'not ' if wrong else ''}ok {name}: {moments} of {n} moments", *wrong[:40]]), flush=True)


for line in sys.stdin:
    title, tried, command_line = line.rstrip("\n").split("\t")
    at_any_moment(title, int(tried), command_line)
