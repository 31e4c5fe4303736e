# SPDX-License-Identifier: GPL-3.0-or-later
"""gsim: a trace-driven simulator of how jobs share GPUs, from Python.

    import gsim
    result = gsim.run("trace.csv", policy="srtf", gpus_per_node=8)
    result.summary["jct_mean_s"], result.jobs

The package has the whole program in it: what `gsim run --format json` prints is what `summary` has.
docs/python.md is its page.
"""
import os as _os
import sys as _sys

# Policies that are shared objects (policy="./mine.so") find gsim's functions in the module.
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_flags | _os.RTLD_GLOBAL)
try:
    from . import _gsim  # noqa: F401
finally:
    _sys.setdlopenflags(_flags)

from ._gsim import common_params as _common
from ._gsim import states as _states
from ._gsim import trace_columns, version as __version__
from ._errors import Error, InputError, RunError, UsageError, Warning
from ._policy import Arrangement, Entry, Lane, Migration, Param, Policy, param
from ._program import Comparison, Result, Sweep, command, compare, run, sweep
from ._trace import write_trace

# The states of a job, as numbers in view.jobs.state: gsim.QUEUED, gsim.RUNNING, ...
STATES = tuple(_states.split("|"))
for _number, _name in enumerate(STATES):
    globals()[_name.upper()] = _number

# Parameters that policies have in common, for `params` of a policy.
PLACEMENT, PREEMPT, MEMORY = (
    Param("choice", *_common[name]) for name in ("placement", "preempt", "memory")
)

# Quanta by the driver's names; the device profile gives their lengths.
QUANTUM_DEFAULT, QUANTUM_SHORT, QUANTUM_LONG = 0, -1, -2

__all__ = [
    "run", "compare", "sweep", "command", "Result", "Comparison", "Sweep",
    "Policy", "param", "Param", "Arrangement", "Lane", "Entry", "Migration",
    "PLACEMENT", "PREEMPT", "MEMORY", "STATES",
    "QUANTUM_DEFAULT", "QUANTUM_SHORT", "QUANTUM_LONG", "trace_columns", "write_trace",
    "Error", "UsageError", "InputError", "RunError", "Warning",
    *(name.upper() for name in STATES),
]
