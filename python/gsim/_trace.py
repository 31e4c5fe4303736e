# SPDX-License-Identifier: GPL-3.0-or-later
"""Traces: a path, or jobs in memory as a data frame, a list of dicts or a dict of columns."""
import csv
import decimal
import io
import os

# What messages call a trace in memory; job i stands on its line i + 2.
NAME = "<jobs>"


def _is_missing(value):
    return value is None or value != value  # NaN, NaT


def _cell(value):
    """A cell as gsim reads it: numbers are exact decimals without an exponent."""
    if isinstance(value, str):
        return value
    if _is_missing(value):
        return ""
    if hasattr(value, "item"):  # a scalar of numpy
        value = value.item()
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return format(decimal.Decimal(repr(value)), "f")
    return str(value)


def _of_rows(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    return names, ([row.get(name) for name in names] for row in rows)


def _of_columns(columns):
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise ValueError(f"columns of a trace are of one length, not of {sorted(lengths)}")
    return list(columns), zip(*columns.values())


def _table(jobs):
    if hasattr(jobs, "columns") and hasattr(jobs, "itertuples"):  # a data frame of pandas
        return [str(name) for name in jobs.columns], jobs.itertuples(index=False, name=None)
    if hasattr(jobs, "to_dicts"):  # a data frame of polars
        return _of_rows(jobs.to_dicts())
    if isinstance(jobs, dict):
        return _of_columns(jobs)
    if isinstance(jobs, (list, tuple)) and jobs and all(isinstance(row, dict) for row in jobs):
        return _of_rows(jobs)
    raise TypeError(
        "a trace is a path, a data frame, a list of dicts or a dict of columns, "
        f"not {type(jobs).__name__}" + (" without jobs" if isinstance(jobs, (list, tuple)) else "")
    )


def to_csv(jobs):
    """The native CSV of jobs in memory."""
    names, rows = _table(jobs)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def write_trace(jobs, path):
    """Writes jobs in memory as a trace file, for sweeps and the program."""
    text = to_csv(jobs)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def take(trace):
    """(operand, name, bytes) of a trace: of a path there are no bytes."""
    if isinstance(trace, (str, os.PathLike)):
        return os.fspath(trace), None, None
    return NAME, NAME, to_csv(trace).encode()
