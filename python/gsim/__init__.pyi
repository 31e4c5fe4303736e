# SPDX-License-Identifier: GPL-3.0-or-later
from os import PathLike
from typing import Any, ClassVar, Iterable, Literal, Mapping, NamedTuple, Sequence

_Path = str | PathLike[str]
_Jobs = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]]
_Trace = _Path | _Jobs | Any  # or a data frame
_PolicyLike = str | type["Policy"]
_Unit = int | tuple[int, int]
_Rule = Literal["consolidate", "any", "spread", "fullest", "affinity", "random", "skew"]
_Stop = Literal["kernel", "iteration", "block", "save", "flush", "incremental", "cheapest", "switch"]
_Keep = Literal["resident", "pageable", "host", "storage", "image", "discard"]

__version__: str
STATES: tuple[str, ...]
FREE: int
QUEUED: int
STARTING: int
RUNNING: int
STOPPING: int
SAVING: int
PAUSED: int
HELD: int
RESUMING: int
DONE: int
QUANTUM_DEFAULT: int
QUANTUM_SHORT: int
QUANTUM_LONG: int
PLACEMENT: Param
PREEMPT: Param
MEMORY: Param
trace_columns: dict[str, str]

class Error(Exception): ...

class UsageError(Error, ValueError):
    status: ClassVar[int]

class InputError(Error, ValueError):
    status: ClassVar[int]

class RunError(Error, RuntimeError):
    status: ClassVar[int]

class Warning(UserWarning): ...

class Result:
    summary: dict[str, Any]
    json: str
    jobs_csv: str
    warnings: list[str]
    notes: list[str]
    @property
    def jobs(self) -> Any: ...  # a data frame of pandas, else a list of dicts
    @property
    def columns(self) -> dict[str, list[Any]]: ...
    def __getitem__(self, field: str) -> Any: ...

class Comparison:
    rows: list[dict[str, Any]]
    verdict: list[str]
    json: str
    warnings: list[str]
    notes: list[str]
    @property
    def table(self) -> Any: ...
    def __getitem__(self, policy: _PolicyLike) -> dict[str, Any]: ...

class Sweep:
    path: str
    text: str
    warnings: list[str]
    notes: list[str]
    def __init__(self, path: _Path, output: Any = None) -> None: ...
    def query(self, sql: str, *values: Any) -> Any: ...
    @property
    def table(self) -> Any: ...

def run(
    trace: _Trace,
    policy: _PolicyLike,
    *,
    set: Mapping[str, Any] | None = None,
    assume: Mapping[str, Any] | None = None,
    **named: Any,
) -> Result: ...
def compare(
    trace: _Trace,
    policies: str | Iterable[_PolicyLike],
    *,
    set: Mapping[str, Any] | None = None,
    assume: Mapping[str, Any] | None = None,
    **named: Any,
) -> Comparison: ...
def sweep(
    grid: _Path | Mapping[str, Any],
    output: _Path,
    *,
    policies: Iterable[type[Policy]] = (),
    **named: Any,
) -> Sweep: ...
def command(*words: _Path, policies: Iterable[type[Policy]] = ()) -> str: ...
def write_trace(jobs: _Jobs | Any, path: _Path) -> None: ...

class Param:
    type: str
    default: str
    choices: str | None
    help: str
    min: int
    max: int
    def __init__(
        self,
        type: str,
        default: str,
        choices: str | None = None,
        help: str = "",
        min: int = 0,
        max: int = 0,
    ) -> None: ...

def param(
    type: Literal["bool", "int", "time", "bytes", "rate", "ratio", "choice", "text"],
    default: Any,
    help: str = "",
    *,
    min: int = 0,
    max: int = 0,
    choices: str | Iterable[str] | None = None,
) -> Param: ...

class Quote(NamedTuple):
    stop_ns: int
    save_ns: int
    resume_ns: int
    lost_ns: int
    bytes_out: int
    bytes_in: int
    is_possible: bool
    missing: str | None

class Rate(NamedTuple):
    pace_q32: int
    digits: int
    exponent: int
    cpus_milli: int
    mem_bytes: int
    most_gpus: int
    iterations_after_epoch: int
    lacks_memory: bool

class Learning(NamedTuple):
    app: int
    init_batch: int
    max_batch: int
    min_local: int
    max_local: int
    most_gpus: int
    own_batch: int
    gpus: int
    nodes: int
    local: int
    summed: int
    step_s: float
    sync_s: float
    grad_sqr: float
    grad_var: float

class Mode(NamedTuple):
    model: int
    epoch_iterations: int
    epoch_ns: int
    made_ppm: int

class Modes(NamedTuple):
    at: int
    epochs_ppm: int
    made_ppm: int
    modes: tuple[Mode, ...]

class Counters(NamedTuple):
    work_ns: int
    kernels: int
    blocks: int
    iterations: int
    busy_ns: int
    taken_ns: int
    gpu_time_ns: int
    bytes_in: int
    bytes_out: int
    faults: int
    stall_ns: int

class Instance(NamedTuple):
    name: str
    mem_bytes: int
    part_ppm: int

class _JobColumns:
    n_slots: int
    n_active: int
    active: memoryview
    index: memoryview
    submit_ns: memoryview
    gpus: memoryview
    share_ppm: memoryview
    state: memoryview
    changed_ns: memoryview
    service_ns: memoryview

class _Changes:
    arrived: memoryview
    completed: memoryview
    settled: memoryview

class _Cluster:
    n_nodes: int
    n_gpus: int
    widest_node: int
    n_idle_gpus: int
    n_failures: int
    n_repairs: int
    node_is_down: memoryview
    node_of_gpu: memoryview
    node_first_gpu: memoryview
    hbm_bytes: memoryview
    mem_used: memoryview
    is_arranged: memoryview
    clients: memoryview
    client_limit: memoryview
    type: memoryview

class _Pool:
    is_used: int
    free_ppm: int
    free_cpus_milli: int

class _TraceView:
    n_jobs: int
    origin_s: int
    def id(self, job: int, /) -> str: ...
    def line(self, job: int, /) -> int: ...
    def get(self, column: str, job: int, /) -> int | str | None: ...
    def column(self, name: str, /) -> list[int | str | None]: ...

class Lots:
    def next(self) -> int: ...
    def below(self, n: int, /) -> int: ...

class View:
    now_ns: int
    seed: int
    replication: int
    jobs: _JobColumns
    changes: _Changes
    cluster: _Cluster
    pool: _Pool
    trace: _TraceView
    def id(self, job: int, /) -> str: ...
    def attained_ns(self, job: int, /) -> int: ...
    def ran_ns(self, job: int, /) -> int: ...
    def remaining_ns(self, job: int, /) -> int: ...
    def nth(self, job: int, /) -> int: ...
    def left_ns(self, job: int, /) -> int: ...
    def memory_bytes(self, job: int, /) -> int: ...
    def home(self, job: int, /) -> list[_Unit]: ...
    def ask(
        self, job: int, stop: _Stop, keep: _Keep, units: Sequence[_Unit] | None = None
    ) -> Quote: ...
    def back_ns(self, job: int, units: Sequence[_Unit]) -> int: ...
    def rate(
        self,
        job: int,
        type: int,
        gpus: int = 0,
        nodes: int = 0,
        cpus_milli: int = 0,
        mem_bytes: int = 0,
        beside: int | None = None,
    ) -> Rate: ...
    def may_use(self, job: int, gpu: int) -> bool: ...
    def nodes(self, job: int, /) -> int: ...
    def wish(self, job: int, /) -> int: ...
    def has_wishes(self, rule: _Rule | str | None = None) -> bool: ...
    def counts_cpus(self) -> bool: ...
    def pauses_in_place(self) -> bool: ...
    def are_alike(self, job: int, other: int) -> bool: ...
    def host(self, node: int, /) -> tuple[int, int]: ...
    def least_ns(self, job: int, /) -> int: ...
    def service_ns(self, job: int, iterations: int) -> int: ...
    def device(self, type: int, /) -> str | None: ...
    def count(self, job: int, /) -> Counters: ...
    def preemption(self, own: _Keep, /) -> tuple[_Stop, _Keep]: ...
    def layout(self, gpu: int, layout: str | None = None) -> list[Instance]: ...
    def learning(self, job: int, /) -> Learning | None: ...
    def learning_on(self, job: int, type: int) -> Learning | None: ...
    def modes(self, job: int, /) -> Modes | None: ...
    def sms(self, gpu: int, part_ppm: int) -> int: ...
    def open_gpu(self, before: int | None = None, mem_bytes: int = -1) -> int | None: ...
    def lots(self, name: str, /) -> Lots: ...
    def is_idle(self, gpu: int, /) -> bool: ...
    def idle_gpus(self) -> list[int]: ...

class Plan:
    def place(
        self,
        job: int,
        rule: _Rule | str = "consolidate",
        *,
        gpus: int | None = None,
        share_ppm: int | None = None,
        cpus_milli: int | None = None,
        within: int | None = None,
        keeps_rate: bool = False,
    ) -> bool: ...
    def place_on(self, job: int, units: Sequence[_Unit], /) -> bool: ...
    def place_whole(self, job: int, units: Sequence[_Unit], /) -> bool: ...
    def place_beside(
        self, job: int, units: Sequence[_Unit], cpus_milli: int = 0, mem_bytes: int = 0
    ) -> bool: ...
    def preempt(self, job: int, stop: _Stop | str, keep: _Keep | str) -> bool: ...
    def move(
        self,
        job: int,
        rule: _Rule | str = "consolidate",
        *,
        gpus: int | None = None,
        share_ppm: int | None = None,
        cpus_milli: int | None = None,
        within: int | None = None,
        keeps_rate: bool = False,
    ) -> bool: ...
    def move_on(
        self, job: int, units: Sequence[_Unit], stop: _Stop | str, keep: _Keep | str
    ) -> bool: ...
    def end(self, job: int, /) -> bool: ...
    def batch(self, job: int, local: int, summed: int = 0) -> bool: ...
    def decline(self, job: int, /) -> bool: ...
    def suppose_over(self, job: int, /) -> bool: ...
    def watch(self, job: int, kind: Literal["attained", "ran", "epochs"], threshold_ns: int) -> None: ...
    def arrange(self, units: Sequence[_Unit], arrangement: Arrangement, /) -> bool: ...
    def partition(self, gpu: int, layout: str) -> bool: ...
    def wake(self, time_ns: int | None, /) -> None: ...
    def mark(self) -> int: ...
    def rollback(self, mark: int, /) -> None: ...
    def units(self, job: int, /) -> list[_Unit]: ...

class Policy:
    name: ClassVar[str | None]
    summary: ClassVar[str]
    paper: ClassVar[str]
    deviations: ClassVar[str]
    oracle: ClassVar[bool]
    oracle_where: ClassVar[str | None]
    names_gpus: ClassVar[bool]
    asks_speeds: ClassVar[bool]
    chooses_widths: ClassVar[bool]
    shares_gpus: ClassVar[bool]
    has_contexts: ClassVar[bool]
    oversubscribes: ClassVar[bool]
    references: ClassVar[Sequence[Literal["tiresias", "pai", "helios"]]]
    params: Any  # in the class a dict of Param, in a run the values
    assumed: str | None
    deviation: str | None
    devices: Arrangement | None
    view: View

class Lane:
    discipline: Literal["exclusive", "ps", "rr", "priority", "boundary", "padding", "pair"]
    first_sm: int
    n_sms: int
    cap_ppm: int
    quantum_ns: int
    idle_release_ns: int
    ends_at_boundary: bool
    caps_launches: bool
    turns: Literal["used", "equal", "fixed"]
    most_vgpus: int
    stop: _Stop
    in_flight: int
    pieces: int
    bound_ns: int
    slice_ns: int
    hint_ns: int
    is_fair: bool
    opens: Literal["open", "apart", "idle"]
    rank: int
    below_sms: int
    bound_ppm: int
    ahead_ppm: int
    wait_ns: int
    whole_ns: int
    atom_ns: int
    borrows: bool
    slip_ppm: int
    def __init__(
        self,
        discipline: str = "rr",
        first_sm: int = 0,
        n_sms: int = 0,
        cap_ppm: int = 0,
        quantum_ns: int = 0,
        idle_release_ns: int = 0,
        ends_at_boundary: bool = False,
        caps_launches: bool = False,
        turns: str = "used",
        most_vgpus: int = 0,
        stop: str = "kernel",
        in_flight: int = 0,
        pieces: int = 0,
        bound_ns: int = 0,
        slice_ns: int = 0,
        hint_ns: int = 0,
        is_fair: bool = False,
        opens: str = "open",
        rank: int = 0,
        below_sms: int = 0,
        bound_ppm: int = 0,
        ahead_ppm: int = 0,
        wait_ns: int = 0,
        whole_ns: int = 0,
        atom_ns: int = 0,
        borrows: bool = False,
        slip_ppm: int = 0,
    ) -> None: ...

class Entry:
    job: int
    lane: int
    quantum_ns: int
    priority: int
    weight: int
    mem_cap_bytes: int
    memory_yields: bool
    keeps_kernels: bool
    launch_cap: int
    launch_refill_ns: int
    launch_share_ppm: int
    def __init__(
        self,
        job: int,
        lane: int = 0,
        quantum_ns: int = 0,
        priority: int = 0,
        weight: int = 0,
        mem_cap_bytes: int = 0,
        memory_yields: bool = False,
        keeps_kernels: bool = False,
        launch_cap: int = 0,
        launch_refill_ns: int = 0,
        launch_share_ppm: int = 0,
    ) -> None: ...

class Migration:
    pipeline: bool
    early_start: bool
    evicts_lru: bool
    predict_by_template: bool
    missed_ppm: int
    spare_ppm: int
    def __init__(
        self,
        pipeline: bool = False,
        early_start: bool = False,
        evicts_lru: bool = False,
        predict_by_template: bool = False,
        missed_ppm: int = 0,
        spare_ppm: int = 0,
    ) -> None: ...

class Arrangement:
    lanes: list[Lane]
    entries: list[Entry]
    memory: Literal["resident", "uvm", "lru", "proactive", "lanes", "overflow"]
    migration: Migration
    max_clients: int
    is_served: bool
    def __init__(
        self,
        lanes: list[Lane] = ...,
        entries: list[Entry] = ...,
        memory: str = "resident",
        migration: Migration = ...,
        max_clients: int = 0,
        is_served: bool = False,
    ) -> None: ...
