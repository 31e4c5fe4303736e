# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of gsim as functions. Whatever they return, the program has computed."""
import contextlib
import csv
import functools
import io
import json
import os
import sqlite3
import threading
import urllib.parse
import warnings

from . import _gsim, _policy, _trace
from ._errors import UsageError, Warning, raise_for

try:
    import pandas
except ImportError:
    pandas = None

# Options that functions set themselves, or that make no sense here.
_OWN = {"policy", "policies", "set", "assume", "format", "help", "version", "verbose", "output",
        "list", "emit", "shards"}
_TEXTS = ("job_id", "user", "vc", "model", "class")


# --- arguments ------------------------------------------------------------------------------------

def _text(value):
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(item) for item in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else _trace._cell(value)


def _option(name, about, value):
    takes_value, is_repeatable = about
    if value is None or value is False:
        return []
    if not takes_value:
        if value is not True:
            raise UsageError(f"{name} is on or off: True or False, not {value!r}")
        return [f"--{name}"]
    values = value if is_repeatable and isinstance(value, (list, tuple)) else [value]
    return [word for item in values for word in (f"--{name}", _text(item))]


def _pairs(name, value):
    if value is None:
        return []
    if not hasattr(value, "items"):
        raise UsageError(f"{name} is a dict of keys and values, such as {{'quantum': '10min'}}")
    return [word for key, item in value.items() for word in (f"--{name}", f"{key}={_text(item)}")]


def _arguments(command, set, assume, named):
    """Options by their names, with _ for -; any other name is a key of --set."""
    options = _gsim.options(command)
    words, keys = [], dict(set or {})
    for key, value in named.items():
        name = key.replace("_", "-")
        if name in options and name not in _OWN:
            words += _option(name, options[name], value)
        elif name in _OWN:
            raise UsageError(f"{key} is no argument of gsim.{command}()")
        elif value is not None:
            keys[key] = value
    return words + _pairs("set", keys) + _pairs("assume", assume)


# --- the call -------------------------------------------------------------------------------------

class _Output:
    def __init__(self, out, err, jobs, warned):
        self.text = out.decode()
        self.notes = [line[6:] for line in err.decode().splitlines() if line.startswith("gsim: ")]
        self.jobs_csv = jobs.decode()
        self.warnings = warned


def _in_thread(call):
    """The value of a call that has several threads with hooks in them: the main thread does nothing
    but listen for Ctrl-C, and passes it on to all of them."""
    box, is_interrupted, is_done = {}, False, threading.Event()

    def work():
        try:
            box["value"] = call()
        except BaseException as error:
            box["error"] = error
        finally:
            is_done.set()

    threading.Thread(target=work).start()
    while not is_done.is_set():  # a join that Ctrl-C interrupts takes the thread for dead
        try:
            is_done.wait()
        except KeyboardInterrupt:
            is_interrupted = True
            _gsim.interrupt()
    if is_interrupted:
        raise KeyboardInterrupt
    if "error" in box:
        raise box["error"]
    return box["value"]


def _call(words, policies=(), trace=(None, None), jobs=False):
    classes = [policy for policy in policies if not isinstance(policy, str)]
    name, content = trace
    if classes and any(word.split("=")[0] == "--policy-timeout" for word in words):
        raise UsageError("policy_timeout: a policy in Python runs in this process, where its hooks "
                         "have no limit of time; Ctrl-C ends a run that hangs")
    is_main = threading.current_thread() is threading.main_thread()
    is_apart = bool(classes) and not jobs and is_main  # several runs, in threads of their own
    call = functools.partial(
        _gsim.run,
        args=["gsim", *words],
        policies=[_policy.table(policy) for policy in classes],
        trace_name=name,
        trace=content,
        jobs=jobs,
        is_main=is_main and not is_apart,
    )
    answer = _in_thread(call) if is_apart else call()
    status, out, err, jobs_csv, errors, n_errors, warned, failure = answer
    if status != 0 or failure is not None:
        raise_for(status, errors, n_errors, failure)
    for text in warned:
        warnings.warn(text, Warning, stacklevel=3)
    return _Output(out, err, jobs_csv, warned)


def _name(policy):
    return policy if isinstance(policy, str) else _policy.table(policy)[1]["name"]


def command(*words, policies=()):
    """Runs a command line of the program and returns what it prints: gsim.command("list",
    "policies"). Classes in `policies` are known by their names."""
    return _call([os.fspath(word) for word in words], policies).text


# --- results --------------------------------------------------------------------------------------

def _number(text):
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)


def _frame(text):
    """A table of the program as a data frame, or without pandas as a list of dicts."""
    if pandas is not None:
        head = next(csv.reader(io.StringIO(text)))
        kinds = {name: str for name in _TEXTS if name in head}
        return pandas.read_csv(io.StringIO(text), dtype=kinds, keep_default_na=False,
                               na_values={name: [""] for name in head if name not in _TEXTS})
    rows = csv.DictReader(io.StringIO(text))
    return [{key: cell if key in _TEXTS else _number(cell) for key, cell in row.items()}
            for row in rows]


class Result:
    """A run. `summary` has the fields of `gsim run --format json`, with what was assumed, given and
    outside of what was validated; `jobs` has a row a job."""

    def __init__(self, output):
        self.json = output.text
        self.jobs_csv = output.jobs_csv
        self.warnings = output.warnings
        self.notes = output.notes
        self.summary = json.loads(output.text)
        self._jobs = None

    @property
    def jobs(self):
        """A data frame of pandas; without pandas a list of dicts."""
        if self._jobs is None:
            self._jobs = _frame(self.jobs_csv)
        return self._jobs

    @property
    def columns(self):
        """The jobs as a dict of lists."""
        rows = csv.reader(io.StringIO(self.jobs_csv))
        names = next(rows)
        lists = list(zip(*rows)) or [()] * len(names)
        return {name: list(cells) if name in _TEXTS else [_number(cell) for cell in cells]
                for name, cells in zip(names, lists)}

    def __getitem__(self, field):
        return self.summary[field]

    def __repr__(self):
        s = self.summary
        return (f"<gsim.Result {s['policy']} on {s['trace']}: {s['completed']} of {s['jobs']} jobs, "
                f"mean JCT {s['jct_mean_s']} s>")


class Comparison:
    """Several policies on one trace. `rows` are the objects of `gsim compare --format json`;
    `table` is a data frame of their fields, `verdict` a list of sentences."""

    def __init__(self, output):
        self.json = output.text
        self.warnings = output.warnings
        self.notes = output.notes
        self.rows = json.loads(output.text)
        self.verdict = self.rows[0]["comparison"]["verdict"] if self.rows else []

    @property
    def table(self):
        """The fields of each run, and its statistics with their names joined by '.'."""
        rows = [_flat(row) for row in self.rows]
        return rows if pandas is None else pandas.DataFrame(rows)

    def __getitem__(self, policy):
        """The first row of a policy, by its name or class."""
        name = _name(policy)
        for row in self.rows:
            if row["policy"] == name:
                return row
        raise KeyError(name)

    def __repr__(self):
        names = dict.fromkeys(row["policy"] for row in self.rows)
        return f"<gsim.Comparison of {', '.join(names)}>"


def _flat(row):
    flat = {}
    for key, value in row.items():
        if key != "comparison":
            flat[key] = value
    for key, value in row["comparison"].items():
        if isinstance(value, dict):
            flat.update({f"comparison.{key}.{name}": item for name, item in value.items()})
        elif key != "verdict":
            flat[f"comparison.{key}"] = value
    return flat


class Sweep:
    """A database of runs. `table` has a row a run, with its settings and the fields of its result;
    `query` asks the database."""

    def __init__(self, path, output=None):
        self.path = os.fspath(path)
        self.text = output.text if output else ""
        self.warnings = output.warnings if output else []
        self.notes = output.notes if output else []

    def _open(self):
        path = urllib.parse.quote(os.path.abspath(self.path))
        return contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))

    def query(self, sql, *values):
        """The rows of a query, as a data frame, or without pandas as a list of dicts."""
        with self._open() as db:
            cursor = db.execute(sql, values)
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        if pandas is not None:
            return pandas.DataFrame(rows, columns=names)
        return [dict(zip(names, row)) for row in rows]

    @property
    def table(self):
        """The runs in the order of the grid; settings that are no field of a result stand first."""
        with self._open() as db:
            db.row_factory = sqlite3.Row
            settings = {}
            for run_id, key, value in db.execute("SELECT run_id, key, value FROM setting"):
                settings.setdefault(run_id, {})[key] = value
            rows = [dict(row) for row in db.execute("SELECT * FROM run ORDER BY run_id")]
        names = dict.fromkeys(key for keys in settings.values() for key in sorted(keys))
        names = [name for name in names if not rows or name not in rows[0]]
        rows = [{"run_id": row["run_id"],
                 **{name: settings.get(row["run_id"], {}).get(name) for name in names}, **row}
                for row in rows]
        return rows if pandas is None else pandas.DataFrame(rows)

    def __repr__(self):
        return f"<gsim.Sweep {self.path}>"


# --- commands -------------------------------------------------------------------------------------

def _take(trace, named):
    operand, name, content = _trace.take(trace)
    if content is not None and named.get("db") is not None:
        raise UsageError("db: a database tells runs apart by their trace's file, and this trace is in "
                         "memory; gsim.write_trace(jobs, path) makes a file of it")
    return operand, name, content


def run(trace, policy, *, set=None, assume=None, **named):
    """One policy on one trace. `trace` is a path, a data frame, a list of dicts or a dict of columns;
    `policy` a name or a subclass of gsim.Policy. Other arguments are options of `gsim run`
    (gpus_per_node=8), or keys of --set (quantum="10min")."""
    operand, name, content = _take(trace, named)
    words = ["run", "--policy", _name(policy), "--format", "json", "--verbose",
             *_arguments("run", set, assume, named), operand]
    return Result(_call(words, [policy], (name, content), jobs=True))


def compare(trace, policies, *, set=None, assume=None, **named):
    """Several policies on one trace with the same randomness, as `gsim compare` does."""
    operand, name, content = _take(trace, named)
    if isinstance(policies, str):
        policies = policies.split(",")
    words = ["compare", "--policies", ",".join(_name(policy) for policy in policies), "--format",
             "json", "--verbose", *_arguments("compare", set, assume, named), operand]
    return Comparison(_call(words, policies, (name, content)))


def _grid_value(key, value):
    """A value of a grid, quoted where its commas are part of it."""
    text = _name(value) if isinstance(value, type) else _text(value)
    if '"' in text or "\n" in text:
        raise UsageError(f"grid: the value {text!r} of '{key}' has a quote or a new line")
    return f'"{text}"' if "," in text or ".." in text else text


def _grid_text(grid):
    lines = []
    for key, values in grid.items():
        if isinstance(values, range):
            values = list(values)
        if not isinstance(values, (list, tuple)):
            values = [values]
        # of set.KEY, assume.COLUMN and spec.SECTION.KEY the underscores are the key's own
        name = key if "." in key else key.replace("_", "-")
        lines.append(f"{name} = " + ", ".join(_grid_value(key, value) for value in values))
    return "".join(f"{line}\n" for line in lines)


def _policies_of(grid):
    value = grid.get("policy", ())
    return value if isinstance(value, (list, tuple)) else [value]


_GRID_BEGINS = "# Written by gsim.sweep, which writes it again.\n"


def _write_grid(grid, output):
    """The grid as a file beside the database: `gsim sweep` can go on with it."""
    stem, ending = os.path.splitext(os.fspath(output))
    path = f"{stem if ending == '.db' else os.fspath(output)}.grid.ini"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.readline() != _GRID_BEGINS:
                raise UsageError(f"{path} is there and not from gsim.sweep, which would write its "
                                 "grid there; name another database, or give the file as the grid")
    with open(path, "w", encoding="utf-8") as file:
        file.write(_GRID_BEGINS + _grid_text(grid))
    return path


def sweep(grid, output, *, policies=(), **named):
    """Every combination of a grid into the database `output`, as `gsim sweep` does; runs that are
    there are not repeated. `grid` is a path, or a dict of keys with a value or a list each, which is
    written beside the database; traces in it are paths (gsim.write_trace). `policies` are classes
    that a grid file names."""
    words = ["sweep", *_arguments("sweep", None, None, named), "--output", os.fspath(output)]
    classes = list(policies)
    if isinstance(grid, dict):
        classes += [policy for policy in _policies_of(grid) if isinstance(policy, type)]
        grid = _write_grid(grid, output)
    return Sweep(output, _call([*words, os.fspath(grid)], classes))
