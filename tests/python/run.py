# SPDX-License-Identifier: GPL-3.0-or-later
"""gsim.run, compare and sweep: what they return is what the program prints."""
import csv
import io
import json
import locale
import os
import shutil
import subprocess
import warnings

import tap
from tap import equal, raises

import gsim

THREE = "tests/golden/three.csv"
warnings.simplefilter("ignore", gsim.Warning)


def program(*words):
    return subprocess.run([tap.GSIM, *words], check=True, capture_output=True, text=True).stdout


def without_time(row):
    return {key: value for key, value in row.items() if key != "wall_s"}


def test_bytes(folder):
    """the summary and the jobs of a run are those of the program, byte for byte."""
    for policy, named in (("srtf", {}), ("las", {"quantum": "10s"}), ("timeslice", {}),
                          ("gandiva", {"assume": {"mem_gib": "4GiB"}})):
        words = [f"--set=quantum=10s"] if named.get("quantum") else []
        words += ["--assume=mem_gib=4GiB"] if "assume" in named else []
        path = os.path.join(folder, "jobs.csv")
        text = program("--policy", policy, "--format", "json", "--quiet", "--jobs-csv", path,
                       "--force", "--gpus-per-node", "2", *words, THREE)
        result = gsim.run(THREE, policy, gpus_per_node=2, **named)
        equal(result.json.split(',"wall_s"')[0], text.split(',"wall_s"')[0])
        equal(without_time(result.summary), without_time(json.loads(text)))
        with open(path, encoding="utf-8") as file:
            equal(result.jobs_csv, file.read())


def test_language(folder):
    """in a program that writes numbers with a comma, results have points, and so have settings."""
    if not shutil.which("localedef") or subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                                                       capture_output=True, check=False).returncode > 1:
        raise tap.Skip("no language with commas is installed")
    words = ["--quiet", "--format", "json", "--policies", "fifo,las", "--gpus-per-node=2", "--set=las.quantum=2.5s", "--shake=2.5%", "--reps=3"]
    plain = program("compare", *words, THREE)
    os.environ["LOCPATH"] = folder
    before = locale.setlocale(locale.LC_NUMERIC)
    locale.setlocale(locale.LC_NUMERIC, "de_DE.UTF-8")
    try:
        equal(locale.localeconv()["decimal_point"], ",")
        result = gsim.compare(THREE, ["fifo", "las"], gpus_per_node=2, set={"las.quantum": "2.5s"}, shake="2.5%", reps=3)
        equal(locale.str(1.5), "1,5")  # the program has its own language back
    finally:
        locale.setlocale(locale.LC_NUMERIC, before)
        del os.environ["LOCPATH"]
    equal([without_time(row) for row in json.loads(result.json)], [without_time(row) for row in json.loads(plain)])


def test_provenance():
    """a summary says what was assumed, given and outside of what was validated."""
    result = gsim.run(THREE, "srtf", gpus_per_node=2, set={"restart.resume_ns": "5s"})
    assert "restart.resume_ns" in result["given"], result["given"]
    assert "job.iteration_ns" in result["assumed"], result["assumed"]
    assert result["outside_validated"], result.summary
    assert any("assumed" in note for note in result.notes), result.notes


def test_columns():
    """jobs come as rows and as columns, times as numbers and ids as texts."""
    result = gsim.run(THREE, "fifo", gpus_per_node=2)
    rows = list(csv.DictReader(io.StringIO(result.jobs_csv)))
    columns = result.columns
    equal(columns["job_id"], [row["job_id"] for row in rows])
    equal(columns["end_s"], [float(row["end_s"]) for row in rows])
    equal(columns["gpus"], [int(row["gpus"]) for row in rows])
    equal(list(columns), list(rows[0]))


def test_memory():
    """a trace in memory runs as its file does."""
    with open(THREE, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = gsim.run(THREE, "srtf", gpus_per_node=2).jobs_csv
    equal(gsim.run(rows, "srtf", gpus_per_node=2).jobs_csv, expected)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    equal(gsim.run(columns, "srtf", gpus_per_node=2).jobs_csv, expected)
    numbers = [{**row, "submit_s": float(row["submit_s"]), "gpus": int(row["gpus"])} for row in rows]
    equal(gsim.run(numbers, "srtf", gpus_per_node=2).jobs_csv, expected)


def test_long_memory():
    """a trace in memory may be longer than what is read at once."""
    jobs = [{"job_id": f"job-{i}", "submit_s": i, "duration_s": 0.5} for i in range(40000)]
    result = gsim.run(jobs, "fifo", device="ideal")
    equal((result["jobs"], result["completed"], result["jct_mean_s"]), (40000, 40000, 0.5))


def test_small_numbers():
    """numbers of Python are exact decimals, and what is missing is an empty cell."""
    jobs = [{"job_id": "a", "submit_s": 1e-7, "duration_s": 1e-05, "user": None},
            {"job_id": "b", "submit_s": 2, "duration_s": 3, "user": "eve, adam"}]
    columns = gsim.run(jobs, "fifo", device="ideal").columns
    equal(columns["submit_s"], [1e-7, 2.0])
    equal(columns["service_s"], [1e-05, 3.0])
    equal(columns["user"], ["", "eve, adam"])


def test_frame():
    """a data frame goes in and comes out."""
    try:
        import pandas
    except ImportError:
        raise tap.Skip("pandas is not here (python3-pandas)")
    frame = pandas.read_csv(THREE)
    result = gsim.run(frame, "srtf", gpus_per_node=2)
    equal(result.jobs_csv, gsim.run(THREE, "srtf", gpus_per_node=2).jobs_csv)
    jobs = result.jobs
    assert isinstance(jobs, pandas.DataFrame)
    equal(list(jobs["job_id"]), list(frame["job_id"].astype(str)))
    equal(list(jobs.columns), result.jobs_csv.splitlines()[0].split(","))
    comparison = gsim.compare(frame, ["fifo", "srtf"], gpus_per_node=2)
    equal(list(comparison.table["policy"]), ["fifo", "srtf"])


def test_errors(folder):
    """errors are exceptions with gsim's message, its file, line and what is accepted."""
    bad = os.path.join(folder, "bad.csv")
    with open(bad, "w", encoding="utf-8") as file:
        file.write("job_id,submit_s,duration_s\na,0,1x\n")
    error = raises(gsim.InputError, f"{bad}:2: column 'duration_s': '1x' is not a time", gsim.run,
                   bad, "fifo")
    equal(error.status, 3)
    assert isinstance(error, gsim.Error) and isinstance(error, ValueError)
    raises(gsim.InputError, "<jobs>:3: column 'gpus'", gsim.run,
           {"job_id": ["a", "b"], "submit_s": [0, 0], "duration_s": [1, 1], "gpus": [1, -2]}, "fifo")
    raises(gsim.InputError, "nowhere.csv: the file cannot be read", gsim.run, "nowhere.csv", "fifo")
    raises(gsim.UsageError, "did you mean 'srtf'", gsim.run, THREE, "srtg")
    raises(gsim.UsageError, "is not", gsim.run, THREE, "las", quantum="soon")
    raises(gsim.UsageError, "neither the policy nor the device knows 'quantim'; did you mean "
           "'quantum'", gsim.run, THREE, "las", quantim="1h")
    raises(gsim.UsageError, "no argument", gsim.run, THREE, "las", format="csv")
    raises(gsim.UsageError, "True or False", gsim.run, THREE, "las", exact="yes")
    raises(TypeError, "a data frame", gsim.run, 7, "las")
    raises(ValueError, "one length", gsim.run, {"job_id": ["a"], "submit_s": []}, "las")
    raises(gsim.UsageError, "write_trace", gsim.run, [{"job_id": "a"}], "las", db="x.db")


def test_compare():
    """a comparison is the program's, statistics and verdict with it."""
    text = program("compare", "--quiet", "--policies", "fifo,srtf,las", "--shake", "5%", "--reps",
                   "3", "--format", "json", "--gpus-per-node", "2", THREE)
    got = gsim.compare(THREE, "fifo,srtf,las", shake="5%", reps=3, gpus_per_node=2)
    equal([without_time(row) for row in got.rows], [without_time(row) for row in json.loads(text)])
    equal(got.verdict, got.rows[0]["comparison"]["verdict"])
    assert got.verdict and got["las"]["policy"] == "las"
    raises(KeyError, "sjf", got.__getitem__, "sjf")


def test_sweep(folder):
    """a sweep fills a database once, with the runs of its grid."""
    path, trace = os.path.join(folder, "s.db"), os.path.join(folder, "t.csv")
    gsim.write_trace([{"job_id": i, "submit_s": i, "duration_s": 100 - i} for i in range(30)], trace)
    grid = {"trace": trace, "policy": ["fifo", "las"], "gpus_per_node": [1, 2], "device": "ideal",
            "set.las.quantum": ["1s", "10s"]}
    rows = gsim.sweep(grid, path).query("SELECT policy, gpus, jct_mean_s FROM run ORDER BY run_id")
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    equal(len(rows), 6)
    for row in rows:
        if row["policy"] == "fifo":
            alone = gsim.run(trace, "fifo", gpus_per_node=row["gpus"], device="ideal")
            equal(row["jct_mean_s"], alone["jct_mean_s"])
    again = gsim.sweep(grid, path)
    assert "0 of them new" in again.text, again.text
    table = again.table
    names = list(table.columns) if hasattr(table, "columns") else list(table[0])
    equal(names[:2], ["run_id", "gpus-per-node"])
    assert "set.las.quantum" in names
    with open(os.path.join(folder, "s.grid.ini"), encoding="utf-8") as file:
        assert "set.las.quantum = 1s, 10s" in file.read()
    rows = gsim.sweep({"trace": trace, "policy": "las", "assume.mem_gib": ["10GiB", "20GiB"],
                       "set.preempt": "restart", "set.restart.resume_ns": "20s"},
                      os.path.join(folder, "u.db")).query("SELECT assumed FROM run ORDER BY run_id")
    rows = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    assert ["10GiB" in rows[0]["assumed"], "20GiB" in rows[1]["assumed"]] == [True, True], rows
    raises(gsim.InputError, "no policy is called 'lass'", gsim.sweep, {**grid, "policy": "lass"},
           os.path.join(folder, "n.db"))


def test_command():
    """any other command of the program can be given."""
    equal(gsim.command("list", "policies"), program("list", "policies"))
    raises(gsim.UsageError, "no command", gsim.command, "swep")


def test_shared_object(folder):
    """a policy that is a shared object runs in Python."""
    source, path = "examples/policy/narrow_first.c", os.path.join(folder, "narrow.so")
    headers = os.path.join(folder, "gsim")
    os.makedirs(headers, exist_ok=True)
    lib = subprocess.run(["sh", "tools/lib_header.sh"], check=True, capture_output=True).stdout
    with open(os.path.join(headers, "lib.h"), "wb") as file:
        file.write(lib)
    subprocess.run(["gcc", "-shared", "-fPIC", "-Iinclude", f"-I{folder}", "-o", path, source],
                   check=True)
    result = gsim.run(THREE, path, gpus_per_node=2)
    equal(result["policy"], "narrow-first")
    text = program("--policy", path, "--format", "json", "--quiet", "--gpus-per-node", "2", THREE)
    equal(without_time(result.summary), without_time(json.loads(text)))


def test_driven(folder):
    """a database of gsim drive is read as one of simulations, and has the jobs of its trace."""
    path, db = os.path.join(folder, "driven.csv"), os.path.join(folder, "driven.db")
    with open(path, "w", encoding="utf-8") as file:
        file.write("job_id,submit_s,duration_s,gpus\na,0,20,1\nb,1,10,1\nc,2,5,2\n")
    program("drive", "--quiet", "--dry-run", "--speed-up", "40", "--gpus", "0,1", "--policy",
            "fifo", "--db", db, "--logs", os.path.join(folder, "logs"), path)
    driven = gsim.Sweep(db)
    jobs = driven.query("select job_id, submit_ns, start_ns, end_ns, gpus_ppm from job order by job")
    rows = jobs.to_dict("records") if hasattr(jobs, "to_dict") else jobs
    with open(path, encoding="utf-8") as file:
        trace = list(csv.DictReader(file))
    equal([row["job_id"] for row in rows], [row["job_id"] for row in trace])
    equal([row["submit_ns"] for row in rows], [int(row["submit_s"]) * 10**9 for row in trace])
    equal([row["gpus_ppm"] for row in rows], [int(row["gpus"]) * 10**6 for row in trace])
    # a process sleeps for its duration at least; c waits for the GPU of a
    for row, of in zip(rows, trace):
        equal(row["end_ns"] - row["start_ns"] >= int(of["duration_s"]) * 10**9, True)
    equal(rows[2]["start_ns"] >= rows[0]["end_ns"], True)
    real = driven.query("select job_id, begin_ns, end_ns from real_job order by job")
    real = real.to_dict("records") if hasattr(real, "to_dict") else real
    equal([tuple(row.values()) for row in real],
          [(row["job_id"], row["start_ns"], row["end_ns"]) for row in rows])
    table = driven.table
    table = table.to_dict("records") if hasattr(table, "to_dict") else table
    equal([(row["policy"], row["completed"]) for row in table], [("fifo", 3)])


tap.main(globals())
