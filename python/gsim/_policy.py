# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: a class with hooks, and how jobs share a GPU."""
import dataclasses
import inspect
import os
import re

from . import _gsim
from ._errors import UsageError

_TYPES = ("bool", "int", "time", "bytes", "rate", "ratio", "choice", "text")
_HOOKS = ("on_arrival", "on_completion", "on_watch", "on_timer", "open", "decide")
_REFERENCES = {"tiresias": 1, "pai": 2, "helios": 3}


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter of a policy. In `self.params` a time is in ns, a size in bytes, a ratio in
    millionths; min and max are in these units."""

    type: str
    default: str
    choices: str = None
    help: str = ""
    min: int = 0
    max: int = 0


def param(type, default, help="", *, min=0, max=0, choices=None):
    """A parameter: gsim.param("time", "20min", "length of a lease")."""
    if type not in _TYPES:
        raise UsageError(f"param: '{type}' is not one of {', '.join(_TYPES)}")
    if choices is not None and not isinstance(choices, str):
        choices = "|".join(choices)
    if (type == "choice") != (choices is not None):
        raise UsageError("param: a choice has choices, and nothing else has")
    if isinstance(default, bool):
        default = "on" if default else "off"
    return Param(type, str(default), choices, help, min, max)


class Policy:
    """The base of policies. A subclass has `decide(self, plan)`, and may have `open(self)`,
    `on_arrival(self, job)`, `on_completion(self, job)`, `on_watch(self, job, kind)` and
    `on_timer(self)`. Hooks note what happens; only decide changes the world, through the plan. Each
    run has an instance of its own."""

    name = None  # default: the name of the class
    summary = "a policy in Python"
    paper = "none"
    deviations = "none known"
    oracle = False  # sees true durations
    oracle_where = None
    names_gpus = False  # it chooses GPUs itself, without regard to partitions and types
    asks_speeds = False  # with names_gpus: it asks for speeds before it gives GPUs
    chooses_widths = False  # jobs get more or fewer GPUs than they ask for
    shares_gpus = False
    has_contexts = False
    oversubscribes = False
    references = ()
    params = {}
    assumed = None  # open may set it: "key=value"
    deviation = None  # open may set it: how it deviates with these parameters
    devices = None  # open may set it: an Arrangement of all GPUs
    view = None


@dataclasses.dataclass
class Lane:
    """A part of a GPU's SMs with a discipline of its own (include/gsim/arrangement.h)."""

    discipline: str = "rr"
    first_sm: int = 0
    n_sms: int = 0
    cap_ppm: int = 0
    quantum_ns: int = 0
    idle_release_ns: int = 0
    ends_at_boundary: bool = False
    caps_launches: bool = False
    turns: str = "used"
    most_vgpus: int = 0
    stop: str = "kernel"
    in_flight: int = 0
    pieces: int = 0
    bound_ns: int = 0
    slice_ns: int = 0
    hint_ns: int = 0
    is_fair: bool = False
    opens: str = "open"
    rank: int = 0
    below_sms: int = 0
    bound_ppm: int = 0
    ahead_ppm: int = 0
    wait_ns: int = 0
    whole_ns: int = 0
    atom_ns: int = 0
    borrows: bool = False
    slip_ppm: int = 0


@dataclasses.dataclass
class Entry:
    """A job's place in an arrangement."""

    job: int
    lane: int = 0
    quantum_ns: int = 0
    priority: int = 0
    weight: int = 0
    mem_cap_bytes: int = 0
    memory_yields: bool = False
    keeps_kernels: bool = False
    launch_cap: int = 0
    launch_refill_ns: int = 0
    launch_share_ppm: int = 0


@dataclasses.dataclass
class Migration:
    """How memory is moved ahead of a turn (memory="proactive")."""

    pipeline: bool = False
    early_start: bool = False
    evicts_lru: bool = False
    predict_by_template: bool = False
    missed_ppm: int = 0
    spare_ppm: int = 0


@dataclasses.dataclass
class Arrangement:
    """How units share: lanes, the jobs' entries in them, and the way memory is moved."""

    lanes: list = dataclasses.field(default_factory=lambda: [Lane("exclusive")])
    entries: list = dataclasses.field(default_factory=list)
    memory: str = "resident"
    migration: Migration = dataclasses.field(default_factory=Migration)
    max_clients: int = 0
    is_served: bool = False

    def __getattr__(self, name):  # the rule of migration stands in a structure of its own
        if name in Migration.__dataclass_fields__:
            return getattr(self.migration, name)
        raise AttributeError(name)


def name_of(policy):
    """The name of a policy's class, checked."""
    name = policy.name or policy.__name__
    if not re.fullmatch(r"[A-Za-z0-9_+-]+", name):
        raise UsageError(
            f"'{name}' cannot be the name of a policy: letters, digits, '-', '_' and '+' make one"
        )
    if name in _gsim.policies:
        raise UsageError(
            f"the policy {policy.__qualname__} is called '{name}', and so is one that is built in: "
            "results must tell them apart"
        )
    return name


def _file_of(policy):
    """The source that stands for the policy's code in a database; None in a notebook."""
    try:
        path = inspect.getsourcefile(policy)
    except (OSError, TypeError):
        return None
    return os.path.relpath(path) if path and os.path.exists(path) else None


def _check_hooks(policy):
    """A hook that is never called, or does nothing when it is, would leave a plausible result."""
    for name in dir(policy):
        hook = getattr(policy, name, None)
        if name.startswith("on_") and name not in _HOOKS and callable(hook):
            raise UsageError(
                f"{policy.__qualname__}.{name} is no hook, and would never be called; "
                f"{', '.join(_HOOKS)} are (a helper's name begins otherwise)"
            )
        if name in _HOOKS and any(is_lazy(hook) for is_lazy in (
                inspect.isgeneratorfunction, inspect.iscoroutinefunction,
                inspect.isasyncgenfunction)):
            raise UsageError(f"{policy.__qualname__}.{name} has a yield, or is async: it would be "
                             "made and never run; a hook is a plain function")


def _params(policy):
    rows = []
    for name, value in policy.params.items():
        if not isinstance(value, Param):
            raise UsageError(f"{policy.__qualname__}.params['{name}'] is no gsim.param(...)")
        rows.append(
            (name, value.type, value.default, value.min, value.max, value.choices, value.help)
        )
    return rows


def table(policy):
    """(class, what the module needs of it)."""
    if not (isinstance(policy, type) and issubclass(policy, Policy)):
        if isinstance(policy, Policy):
            raise UsageError(
                f"pass the class {type(policy).__qualname__}, not an object of it: each run makes "
                "its own; what differs between runs is a parameter (params)"
            )
        raise UsageError(f"{policy!r} is neither a policy's name nor a subclass of gsim.Policy")
    if not callable(getattr(policy, "decide", None)):
        raise UsageError(f"{policy.__qualname__} has no decide(self, plan)")
    _check_hooks(policy)
    about = {
        key: getattr(policy, key)
        for key in ("summary", "paper", "deviations", "oracle", "oracle_where", "names_gpus",
                    "asks_speeds", "chooses_widths", "shares_gpus", "has_contexts",
                    "oversubscribes")
    }
    about["name"] = name_of(policy)
    about["file"] = _file_of(policy)
    about["params"] = _params(policy)
    for name in policy.references:
        if name not in _REFERENCES:
            known = ", ".join(_REFERENCES)
            raise UsageError(f"{policy.__qualname__}.references: '{name}' is not one of {known}")
    about["references"] = sum(1 << _REFERENCES[name] for name in policy.references)
    return policy, about
