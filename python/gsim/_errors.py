# SPDX-License-Identifier: GPL-3.0-or-later
"""Exceptions. Their texts are gsim's messages; `status` is the program's exit code."""
from ._gsim import Error


class UsageError(Error, ValueError):
    """A wrong option, key or value."""

    status = 2


class InputError(Error, ValueError):
    """A trace, device or cluster file that cannot be used; the text has its line."""

    status = 3


class RunError(Error, RuntimeError):
    """A run failed: a policy raised, or broke a rule. What the policy raised is __cause__."""

    status = 1


class Warning(UserWarning):
    """What gsim warns of."""


def raise_for(status, errors, n_errors, failure):
    """Raises what the program reported; `failure` is what a hook of a policy raised."""
    if failure is not None and not isinstance(failure, Exception):
        raise failure  # KeyboardInterrupt, SystemExit
    text = "\n".join(errors)
    if n_errors > len(errors):
        text += f"\nand {n_errors - len(errors)} more errors"
    kinds = {2: UsageError, 3: InputError}
    raise kinds.get(status, RunError)(text) from failure
