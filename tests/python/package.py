# SPDX-License-Identifier: GPL-3.0-or-later
"""The package: its stubs, pip, and what the page and the notebook show."""
import ast
import importlib.util
import inspect
import os
import shutil
import subprocess
import sys

import tap
from tap import equal

import gsim
from gsim import _gsim


def stub():
    with open("python/gsim/__init__.pyi", encoding="utf-8") as file:
        return ast.parse(file.read())


def members(node):
    """{name: names of its arguments, or None of an attribute} of a class in the stub."""
    out = {}
    for item in node.body:
        if isinstance(item, ast.FunctionDef):
            args = item.args
            is_property = any(getattr(d, "id", "") == "property" for d in item.decorator_list)
            out[item.name] = None if is_property else [
                arg.arg for arg in args.posonlyargs + args.args + args.kwonlyargs][1:]
        elif isinstance(item, ast.AnnAssign):
            out[item.target.id] = None
    return out


def test_stub_names():
    """the stubs have each public name of the package, and no other."""
    known = set()
    for node in stub().body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            known.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            known.add(node.target.id)
    here = {name for name in known if not name.startswith("_")} - {"View", "Plan", "Lots"}
    equal(sorted(here - {"Quote", "Counters", "Rate", "Learning", "Mode", "Modes", "Instance"}), sorted(gsim.__all__))


def test_stub_members():
    """the stubs' classes have the members of the package's."""
    classes = {node.name: members(node) for node in stub().body if isinstance(node, ast.ClassDef)}
    real = {"View": _gsim.View, "Plan": _gsim.Plan, "_JobColumns": _gsim.Jobs,
            "_Changes": _gsim.Changes, "_Cluster": _gsim.Cluster, "_Pool": _gsim.Pool,
            "_TraceView": _gsim.Trace, "Lots": _gsim.Lots, "Result": gsim.Result, "Comparison": gsim.Comparison}
    for name, kind in real.items():
        expected = {member for member in vars(kind) if not member.startswith("_")}
        got = {member for member in classes[name] if not member.startswith("__")}
        if name in ("Result", "Comparison"):
            got -= {"summary", "json", "jobs_csv", "warnings", "notes", "rows", "verdict"}
        equal((name, sorted(got)), (name, sorted(expected)))
    for name in ("Quote", "Counters", "Rate", "Instance"):
        equal(list(classes[name]), [item for item in getattr(_gsim, name).__match_args__])
    for name in ("Lane", "Entry", "Migration", "Arrangement", "Param"):
        equal(classes[name]["__init__"], list(inspect.signature(getattr(gsim, name)).parameters))
    equal(sorted(set(classes["Policy"]) - {"name"}),
          sorted(set(vars(gsim.Policy)) - {"name", "__module__", "__doc__", "__dict__",
                                           "__weakref__"}))


def test_types():
    """the examples are well typed."""
    if not shutil.which("mypy"):
        raise tap.Skip("mypy is not here")
    run = subprocess.run(["mypy", "--no-error-summary", "examples/python/srtf.py"],
                         env={**os.environ, "MYPYPATH": "python"}, capture_output=True, text=True)
    equal((run.stdout, run.returncode), ("", 0))


def test_pip(folder):
    """pip installs the package without a network or another package, and the installed one runs."""
    if importlib.util.find_spec("pip") is None:
        raise tap.Skip("pip is not here (python3-pip)")
    to = os.path.join(folder, "site")
    subprocess.run([sys.executable, "-m", "pip", "install", "-q",
                    "--no-deps", "--no-index", "--disable-pip-version-check",
                    "--root-user-action", "ignore", "--target", to, "./python"],
                   check=True, env={**os.environ, "WERROR": "1"}, stdout=sys.stderr)
    code = ("import gsim; print(gsim.__file__, gsim.run('tests/golden/three.csv', 'fifo', "
            "gpus_per_node=2)['completed'])")
    text = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": to}).stdout
    equal(text.split(), [os.path.join(to, "gsim", "__init__.py"), "4"])
    assert {"py.typed", "__init__.pyi"} <= set(os.listdir(os.path.join(to, "gsim")))


def test_page(folder):
    """the blocks of docs/python.md print what the page shows (make docs-python)."""
    shutil.copytree("traces/samples", os.path.join(folder, "traces", "samples"))
    run = subprocess.run([sys.executable, "tools/python_page.py", "docs/python.md", folder],
                         capture_output=True, text=True,
                         env={**os.environ, "PYTHONPATH": os.path.join(tap.ROOT, "python")})
    equal((run.stderr, run.returncode), ("", 0))
    with open("docs/python.md", encoding="utf-8") as file:
        page = file.read()
    assert page.count("```text") >= 5
    equal(run.stdout.splitlines(), page.splitlines())


def test_notebook(folder):
    """the notebook of the first hour runs, from its first cell to its last."""
    for module, package in (("nbconvert", "jupyter-nbconvert"), ("ipykernel", "python3-ipykernel"),
                            ("pandas", "python3-pandas")):
        if importlib.util.find_spec(module) is None:
            raise tap.Skip(f"{module} is not here ({package})")
    run = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute",
                          "--output-dir", folder, "examples/first_hour.ipynb"],
                         capture_output=True, text=True,
                         env={**os.environ, "JUPYTER_DATA_DIR": folder,
                              "IPYTHONDIR": os.path.join(folder, "ipython"),
                              "PYTHONPATH": os.pathsep.join(
                                  [os.path.join(tap.ROOT, "python"),
                                   os.environ.get("PYTHONPATH", "")])})
    assert run.returncode == 0, run.stderr


tap.main(globals())
