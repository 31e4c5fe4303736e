# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the Python package begin with: the repository as the working folder, the package,
and results as tests/run.sh counts them."""
import contextlib
import itertools
import os
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.chdir(ROOT)
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "examples", "python"),
                os.path.join(ROOT, "examples", "themis")]
GSIM = os.environ.get("GSIM", "./gsim")
PHILLY = os.path.join(ROOT, "..", "shared", "traces", "philly_via_pollux", "philly.csv")


@contextlib.contextmanager
def philly(jobs):
    """A file of the first jobs of Philly's log."""
    with open(PHILLY) as log, tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        trace.writelines(itertools.islice(log, 1 + jobs))
        trace.flush()
        yield trace.name


class Skip(Exception):
    """A test that this machine cannot run, and why."""


def raises(kind, text, call, *args, **named):
    """The exception of a call that must fail with a message that has the text."""
    try:
        call(*args, **named)
    except kind as error:
        assert text in str(error), f"'{text}' is not in: {error}"
        return error
    raise AssertionError(f"no {kind.__name__} was raised; expected: {text}")


def equal(got, expected):
    assert got == expected, f"\n  got      {got!r}\n  expected {expected!r}"


def main(names):
    """Runs the functions test_... of a module's names, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        for name, test in [item for item in names.items() if item[0].startswith("test_")]:
            title = (test.__doc__ or name).strip().rstrip(".")
            try:
                test(folder) if test.__code__.co_argcount else test()
                print(f"ok {title}", flush=True)
            except Skip as why:
                print(f"not ok {title} # SKIP\n# skipped: {why}", flush=True)
            except BaseException:
                print(f"not ok {title}", flush=True)
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()))
