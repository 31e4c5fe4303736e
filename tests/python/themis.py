# SPDX-License-Identifier: GPL-3.0-or-later
"""Themis in Python has the results of Themis in C."""
import os
import subprocess
import sys
import threading
import warnings

import tap
from tap import equal

import gsim
import importlib.util

warnings.simplefilter("ignore", gsim.Warning)
_spec = importlib.util.spec_from_file_location("themis_policy", "examples/themis/themis.py")
themis_policy = importlib.util.module_from_spec(_spec)
sys.modules["themis_policy"] = themis_policy
_spec.loader.exec_module(themis_policy)


def test_same_jobs(folder):
    """Themis in Python and in C give each job the same times, on every sample trace."""
    shared = os.path.join(folder, "themis.so")
    os.makedirs(os.path.join(folder, "gsim"))
    lib = subprocess.run(["sh", "tools/lib_header.sh"], check=True, capture_output=True).stdout
    with open(os.path.join(folder, "gsim", "lib.h"), "wb") as file:
        file.write(lib)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Iinclude", f"-I{folder}", "-o", shared,
                    "examples/themis/themis.c"], check=True)
    n_preempted = 0
    for name in sorted(os.listdir("traces/samples")):
        if not name.endswith(".csv"):
            continue
        for named in ({"device": "ideal"}, {"device": "h200", "lease": "5min", "fairness": 0.5}):
            named.update(nodes=2, gpus_per_node=8, trace=os.path.join("traces/samples", name))
            try:
                in_c = gsim.run(policy=shared, **named)
            except gsim.InputError as error:  # a sample for policies that share GPUs
                continue
            in_python = gsim.run(policy=themis_policy.Themis, **named)
            equal(in_python.jobs_csv, in_c.jobs_csv)
            equal({**in_python.summary, "wall_s": 0}, {**in_c.summary, "wall_s": 0})
            n_preempted += in_c["preemptions"]
    assert n_preempted > 100, n_preempted


def test_laws():
    """policies in Python hold the rules of every run, over random traces and clusters."""
    from srtf import Srtf

    for policy in (themis_policy.Themis, Srtf):
        text = gsim.command("check-policy", policy.name, "--reps", "40", policies=[policy])
        assert "40 random traces" in text and "no job is lost" in text, text


def test_laws_beside_threads():
    """check-policy forks its runs beside a thread that computes in Python, and none of them hangs."""
    from srtf import Srtf

    is_over = threading.Event()

    def compute():
        while not is_over.is_set():
            pass

    beside = threading.Thread(target=compute)
    beside.start()
    try:
        text = gsim.command("check-policy", Srtf.name, "--reps", "3", policies=[Srtf])
    finally:
        is_over.set()
        beside.join()
    assert "3 random traces" in text, text


def test_listed():
    """a policy in Python is listed like any other, with its source, deviations and parameters."""
    text = gsim.command("list", "policies", "my-themis", policies=[themis_policy.Themis])
    for part in ("NSDI 2020", "single jobs all or nothing", "--set my-themis.lease=20min",
                 "how long a job that wins holds its GPUs"):
        assert part in text, text


def test_length():
    """Themis in Python is shorter than 120 lines."""
    with open("examples/themis/themis.py", encoding="utf-8") as file:
        assert sum(1 for _ in file) < 120


tap.main(globals())
