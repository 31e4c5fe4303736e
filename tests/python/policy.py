# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: hooks, the view, verbs, questions, and what is refused."""
import gc
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings

import tap
from tap import equal, raises

import gsim

THREE = "tests/golden/three.csv"
warnings.simplefilter("ignore", gsim.Warning)


class Fifo(gsim.Policy):
    """The head of the queue first."""

    name = "py-fifo"
    params = {"placement": gsim.PLACEMENT}

    def open(self):
        self.queue = []

    def on_arrival(self, job):
        self.queue.append(job)

    def decide(self, plan):
        while self.queue and plan.place(self.queue[0], self.params["placement"]):
            self.queue.pop(0)


def run(policy, trace=THREE, **named):
    return gsim.run(trace, policy, **{"gpus_per_node": 2, "device": "ideal", **named})


def made(**hooks):
    """A policy with these hooks."""
    return type("Made", (Fifo,), {"name": "made", **hooks})


def jobs(n, **columns):
    return [{"job_id": f"j{i}", "submit_s": i, "duration_s": 10,
             **{name: values[i] for name, values in columns.items()}} for i in range(n)]


def test_same_as_c():
    """a policy in Python has the results of its like in C, on every sample trace."""
    for name in sorted(os.listdir("traces/samples")):
        if name.endswith(".csv"):
            trace = os.path.join("traces/samples", name)
            for placement in ("consolidate", "spread"):
                equal(run(Fifo, trace, gpus_per_node=8, placement=placement).jobs_csv,
                      run("fifo", trace, gpus_per_node=8, placement=placement).jobs_csv)


def test_view():
    """columns of the view have what the trace says, and states by their names."""
    seen = {}

    def on_arrival(self, job):
        Fifo.on_arrival(self, job)
        view = self.view
        index = view.jobs.index[job]
        seen[view.id(job)] = (
            index, view.jobs.submit_ns[job], view.jobs.gpus[job], view.jobs.share_ppm[job],
            gsim.STATES[view.jobs.state[job]], view.now_ns, view.trace.get("user", index),
            view.trace.get("mem_bytes", index), view.trace.id(index), view.trace.line(index))

    def open(self):
        Fifo.open(self)
        view = self.view
        equal(view.trace.column("user"), ["eve", None, "adam"])
        equal(view.trace.column("MEM_BYTES"), [1 << 30, None, 3 << 29])
        equal((view.trace.n_jobs, view.trace.origin_s, view.cluster.n_gpus, view.cluster.n_nodes), (3, 0, 4, 2))
        equal(list(view.cluster.node_of_gpu), [0, 0, 1, 1])
        equal(list(view.cluster.node_first_gpu), [0, 2, 4])
        equal((view.idle_gpus(), view.is_idle(3)), ([0, 1, 2, 3], True))
        equal((list(view.jobs.active), view.now_ns, view.pool.is_used), ([], 0, 0))

    trace = jobs(3, user=["eve", "", "adam"], mem_gib=[1, "", 1.5], gpus=[1, 2, 2])
    run(made(on_arrival=on_arrival, open=open), trace, nodes=2, gpus_per_node=2)
    second = 1000000000
    equal(seen, {"j0": (0, 0, 1, 1000000, "queued", 0, "eve", 1 << 30, "j0", 2),
                 "j1": (1, second, 2, 1000000, "queued", second, None, None, "j1", 3),
                 "j2": (2, 2 * second, 2, 1000000, "queued", 2 * second, "adam", 3 << 29, "j2", 4)})


def test_rates_of_gpus_in_any_order():
    """a gang on two nodes has the row of two nodes, in whatever order its GPUs are named."""
    with tempfile.TemporaryDirectory() as folder:
        rates = os.path.join(folder, "rates.csv")
        with open(rates, "w") as to:
            to.write("device,model,gpus,nodes,iterations_per_s\n"
                     "ideal,m,3,1,4\nideal,m,3,2,2\nideal,m,3,3,1\n")
        trace = jobs(1, gpus=[3], model=["m"], iterations=[8])
        for gpus in ([0, 1, 2], [0, 2, 1], [2, 0, 3]):
            def decide(self, plan, gpus=gpus):
                for job in self.view.changes.arrived:
                    plan.place_on(job, gpus)
            equal(run(made(decide=decide), trace, nodes=2, gpus_per_node=2,
                      rates=rates)["jct_mean_s"], 4)


def test_changes():
    """changes, completions, the timer and watches are told when they happen."""
    told = []

    def decide(self, plan):
        changes = self.view.changes
        told.append((self.view.now_ns // 10**9, [self.view.id(j) for j in changes.arrived],
                     [self.view.id(j) for j in changes.completed]))
        for job in changes.arrived:
            plan.place(job)
            plan.watch(job, "ran", 4 * 10**9)
        if self.view.now_ns == 0:
            plan.wake(7 * 10**9)

    run(made(decide=decide, on_timer=lambda self: told.append("timer"),
             on_watch=lambda self, job, kind: told.append((self.view.id(job), kind)),
             on_completion=lambda self, job: told.append(("over", self.view.id(job)))),
        jobs(2))
    equal(told, [(0, ["j0"], []), (1, ["j1"], []), ("j0", "ran"), (4, [], []), ("j1", "ran"),
                 (5, [], []), "timer", (7, [], []), ("over", "j0"), (10, [], ["j0"]),
                 ("over", "j1"), (11, [], ["j1"])])


def test_verbs():
    """verbs answer whether a job fits; marks take them back."""
    seen = []

    def decide(self, plan):
        jobs = sorted(self.view.changes.arrived)
        if not jobs:
            return
        a, b, c = jobs
        mark = plan.mark()
        seen.append((plan.place(a, gpus=2), plan.place(b), plan.units(a)))
        plan.rollback(mark)
        seen.append((plan.place_on(a, [1]), plan.place_on(b, [1]), plan.place_on(b, [(0, 0)]),
                     plan.units(b), self.view.cluster.n_idle_gpus, self.view.is_idle(0)))
        plan.place(c)

    trace = [{"job_id": name, "submit_s": 0, "duration_s": 5} for name in "abc"]
    result = run(made(decide=decide, on_completion=lambda self, job: None), trace, until="100s")
    equal(seen, [(True, False, [0, 1]), (True, False, True, [0], 0, False)])
    equal(result["unfinished"], 1)


def test_public_calls():
    """Python has each verb and each question that policies in C have."""
    with open("include/gsim/policy.h", encoding="utf-8") as file:
        calls = re.findall(r"\bgsim_(plan|ask)_([a-z_]+)\(", file.read())
    kinds = {"plan": gsim._gsim.Plan, "ask": gsim._gsim.View}
    missing = {f"{kind}.{name}" for kind, name in calls
               if not hasattr(kinds[kind], name) and not hasattr(kinds[kind], name + "_ns")}
    equal(missing, {"plan.scratch", "ask.has_wishes_under"})  # memory of C; an argument of has_wishes
    assert len(calls) > 20


def test_rate():
    """a job's speed on a type of device is told before it runs there; a job may be declined."""
    seen = []

    def decide(self, plan):
        view = self.view
        for job in sorted(view.changes.arrived):
            seen.append([view.device(0), view.device(9), view.rate(job, 0), view.rate(job, 0, 2, 2),
                         view.service_ns(job, 4), view.service_ns(job, 99)])
            if view.jobs.index[job] == 1:
                plan.decline(job)
            else:
                plan.place(job)

    with tempfile.TemporaryDirectory() as folder:
        rates = os.path.join(folder, "rates.csv")
        with open(rates, "w", encoding="utf-8") as to:
            to.write("device,model,gpus,nodes,iterations_per_s\n"
                     "ideal,m,1,1,4\nideal,m,2,2,2\nideal,other,1,1,1\n")
        result = run(made(decide=decide, on_completion=lambda self, job: None),
                     jobs(2, gpus=[1, 1], model=["m", "other"], iterations=[8, 8]),
                     gpus_per_node=2, nodes=2, rates=rates)
    equal((seen[0][:2], seen[0][2].digits * 2.0**seen[0][2].exponent), (["ideal", None], 4))
    equal(seen[0][3].digits * 2.0**seen[0][3].exponent, 2)
    equal(seen[0][4] * 2, seen[0][5])
    equal((result["unfinished"], result["completed"]), (1, 1))
    assert seen[0][2].pace_q32 == 2 * seen[0][3].pace_q32 > 0

    def ask_wrongly(self, plan):
        self.view.rate(self.view.changes.arrived[0], 7)

    try:
        run(made(decide=ask_wrongly))
    except gsim.RunError as error:
        assert "there is no type of device 7" in str(error), error
    else:
        raise AssertionError("a type that is not there has a speed")


def test_names_of_gpus():
    """a policy that names GPUs asks where a job can run, or is refused where it cannot run on all."""
    def decide(self, plan):
        for job in list(self.queue):
            if plan.place_on(job, [gpu for gpu in self.view.idle_gpus()
                                   if self.view.rate(job, self.view.cluster.type[gpu]).pace_q32][:1]):
                self.queue.remove(job)

    with tempfile.TemporaryDirectory() as folder:
        rates, cluster = os.path.join(folder, "rates.csv"), os.path.join(folder, "cluster.ini")
        with open(rates, "w", encoding="utf-8") as to:
            to.write("device,model,gpus,iterations_per_s\na,n,1,4\nb,n,1,4\nb,m,1,2\na,m,1,0\n")
        with open(cluster, "w", encoding="utf-8") as to:
            to.write("".join(f"[node {d}]\ngpus = 1\ndevice = ideal\nrates_as = {d}\n" for d in "ab"))
        known = {"rates": rates, "cluster": cluster, "gpus_per_node": None, "device": None}
        trace = jobs(1, model=["m"], iterations=[8])
        raises(gsim.InputError, "chooses GPUs without regard to that", run,
               made(decide=decide, names_gpus=True), trace, **known)
        result = run(made(decide=decide, names_gpus=True, asks_speeds=True), trace, **known)
    equal(result.columns["jct_s"], [4.0])


def test_phases_and_neighbours():
    """the modes of a job in phases, its speed beside another job, groups of SMs, and open GPUs are told."""
    seen = []

    def decide(self, plan):
        view = self.view
        first, second = (sorted(view.changes.arrived) + [None, None])[:2]
        if second is None:
            return
        modes = view.modes(first)
        rate = view.rate(first, 0, beside=second)
        seen.extend([modes.at, modes.epochs_ppm, [mode.epoch_iterations for mode in modes.modes],
                     view.modes(second), view.learning(first), view.learning_on(first, 0),
                     rate.digits * 2.0**rate.exponent, view.sms(0, 500000), view.open_gpu(),
                     view.open_gpu(0), view.open_gpu(1)])
        plan.place(first)
        seen.append(view.open_gpu())
        plan.place(second)

    trace = [{"job_id": "a", "submit_s": 0, "gpus": 1, "phases": "8/4 small; 8/2 large"},
             {"job_id": "b", "submit_s": 0, "gpus": 1, "model": "large", "iterations": 10}]
    with tempfile.TemporaryDirectory() as folder:
        rates = os.path.join(folder, "rates.csv")
        with open(rates, "w", encoding="utf-8") as to:
            to.write("device,model,gpus,iterations_per_s,beside\n"
                     "h200,small,1,4,\nh200,large,1,2,\nh200,small,1,3,large\nh200,large,1,1,small\n")
        result = run(made(decide=decide, on_completion=lambda self, job: None), trace,
                     gpus_per_node=2, device="h200", rates=rates)
    # 8 / 4 + 8 / 2 epochs; half of 132 SMs in groups of 8
    equal(seen, [0, 6000000, [4, 2], None, None, None, 3, 64, 0, 1, None, 1])
    equal(result["completed"], 2)


def test_hosts_and_widths():
    """a job has a part of its host beside its GPUs, and moves to more of them in one transition."""
    seen = []

    def decide(self, plan):
        view = self.view
        for job in sorted(view.changes.arrived):
            seen.append((view.host(0), view.may_use(job, 3), tuple(view.rate(job, 0))[3:],
                         plan.place_beside(job, [0], cpus_milli=1000, mem_bytes=0)))
            plan.wake(10 * 10**9)
        for job in [job for job in range(1) if view.now_ns == 10 * 10**9]:
            seen.append((plan.move_on(job, [0, 1], "iteration", "host"), plan.units(job)))

    trace = [{"job_id": "a", "submit_s": 0, "duration_s": 100, "gpus": 1, "mem_gib": 1}]
    result = run(made(decide=decide, on_completion=lambda self, job: None), trace,
                 gpus_per_node=4, cpus_per_node=8, until="20s")
    equal(seen, [((8000, 0), True, (0, 0, 0, -1, False), True), (True, [0, 1])])
    equal(result["unfinished"], 1)

    def move_nowhere(self, plan):
        plan.move_on(self.view.changes.arrived[0], [0], "iteration", "resident")

    try:
        run(made(decide=move_nowhere))
    except gsim.RunError as error:
        assert "only a running job" in str(error), error
    else:
        raise AssertionError("a job that waits was moved")


def test_numbers_of_nodes():
    """a policy sees on how many nodes a gang asks to lie, and the core keeps to it."""
    seen = []

    def decide(self, plan):
        for job in sorted(self.view.changes.arrived):
            seen.append((self.view.nodes(job), self.view.has_wishes(), plan.place(job),
                         plan.units(job)))

    trace = [{"job_id": "a", "submit_s": 0, "duration_s": 5, "gpus": 2, "num_nodes": 2}]
    run(made(decide=decide, on_completion=lambda self, job: None), trace, nodes=2, gpus_per_node=4)
    equal(seen, [(2, True, True, [0, 4])])


def test_what_binds_nothing():
    """counts of nodes that a rule keeps anyhow are no wishes under it, CPUs that no host counts are none."""
    seen = []

    def decide(self, plan):
        for job in sorted(self.view.changes.arrived):
            seen.append((self.view.has_wishes(), self.view.has_wishes("consolidate"), self.view.has_wishes(rule="spread"),
                         self.view.counts_cpus()))
            assert not self.view.pauses_in_place()  # no process, but a simulated job
            plan.place(job)

    row = {"job_id": "a", "submit_s": 0, "duration_s": 5, "cpus": 6}
    for gpus, nodes, cpus, want in ((2, 1, None, (True, False, True, False)), (8, 2, 8, (True, False, True, True)),
                                    (6, 2, None, (True, True, True, False))):
        more = {} if cpus is None else {"cpus_per_node": cpus}
        run(made(decide=decide, on_completion=lambda self, job: None), [row | {"gpus": gpus, "num_nodes": nodes}], nodes=2,
            gpus_per_node=4, **more)
        equal(seen.pop(), want)


def test_jobs_that_are_alike():
    """jobs are alike that ask for as many nodes."""
    seen = []

    def decide(self, plan):
        jobs = sorted(self.view.changes.arrived)
        if len(jobs) == 3:
            seen.extend([self.view.are_alike(jobs[0], jobs[1]), self.view.are_alike(jobs[0], jobs[2])])
            wishes = [self.view.wish(job) for job in jobs]
            seen.extend([wishes[0] == wishes[1], wishes[0] == wishes[2]])
        for job in jobs:
            plan.place(job)

    trace = [{"job_id": name, "submit_s": 0, "duration_s": 5, "gpus": 2, "num_nodes": nodes}
             for name, nodes in (("a", 2), ("b", 2), ("c", 1))]
    run(made(decide=decide, on_completion=lambda self, job: None), trace, nodes=2, gpus_per_node=4)
    equal(seen, [True, False, True, False])


def test_preempt_and_ask():
    """a running job is stopped for what the quote says, and its counters tell what it did."""
    seen = []

    def decide(self, plan):
        view = self.view
        if view.now_ns == 0:
            plan.place(view.changes.arrived[0])
            plan.wake(5 * 10**9)
        elif not seen:
            job = view.jobs.active[0]
            quote = view.ask(job, "iteration", "storage")
            seen.extend([quote.is_possible, quote.bytes_out >= 0, view.attained_ns(job),
                         view.ran_ns(job), view.count(job).work_ns])
            seen.append(plan.preempt(job, "iteration", "storage"))
            plan.wake(6 * 10**9)
        elif view.now_ns == 6 * 10**9:
            plan.place(view.jobs.active[0])

    result = run(made(decide=decide), jobs(1))
    equal(seen, [True, True, 5 * 10**9, 5 * 10**9, 5 * 10**9, True])
    equal((result["preemptions"], result["preempted_by"]), (1, "restart"))


def test_arrange():
    """GPUs are shared as an arrangement says, from the start or later."""
    half = gsim.Arrangement([gsim.Lane("ps")])

    def opened(self):
        Fifo.open(self)
        self.devices = half

    def arranged(self, plan):
        if self.view.now_ns == 0:
            plan.arrange([0], half)
        for job in self.view.changes.arrived:
            plan.place_on(job, [0])

    trace = [{"job_id": name, "submit_s": 0, "duration_s": 5} for name in "ab"]

    def on_gpu(self, plan):
        for job in self.view.changes.arrived:
            plan.place_on(job, [self.view.open_gpu()])

    for policy in (made(open=opened, decide=on_gpu, shares_gpus=True),
                   made(decide=arranged, shares_gpus=True)):
        result = run(policy, trace, gpus_per_node=1)
        equal(result.columns["end_s"], [10.0, 10.0])


def test_params():
    """parameters are set like those of other policies, and checked."""
    seen = {}

    class Tuned(Fifo):
        name = "tuned"
        params = {"lease": gsim.param("time", "20min", "length of a lease", min=1, max=10**15),
                  "size": gsim.param("bytes", "4GiB"), "share": gsim.param("ratio", "5%"),
                  "mode": gsim.param("choice", "a", choices=["a", "b"]),
                  "on": gsim.param("bool", True), "n": gsim.param("int", 3, min=1, max=9),
                  "placement": gsim.PLACEMENT}

        def decide(self, plan):
            seen.update(self.params)
            Fifo.decide(self, plan)

    run(Tuned, lease="10min", mode="b", on=False, set={"tuned.n": 5})
    equal(seen, {"lease": 600 * 10**9, "size": 4 << 30, "share": 50000, "mode": "b", "on": False,
                 "n": 5, "placement": "consolidate"})
    raises(gsim.UsageError, "'c' is not one of", run, Tuned, mode="c")
    raises(gsim.UsageError, "n: ", run, Tuned, n=10)
    raises(gsim.UsageError, "leas", run, Tuned, leas="1h")
    least = made(params={"n": gsim.param("int", 3, min=2), "placement": gsim.PLACEMENT})
    equal(run(least, n=2**40)["completed"], 4)
    raises(gsim.UsageError, "n: '1' is not a whole number, at least 2", run, least, n=1)
    raises(gsim.UsageError, "made.t: the default 'soon' is not a time", run,
           made(params={"t": gsim.param("time", "soon")}))


def test_lots():
    """random numbers are fixed by the seed and a name, and differ between replications."""
    drawn = []

    def open(self):
        Fifo.open(self)
        self.lots = self.view.lots("lottery")
        other = self.view.lots("other")
        drawn.append((self.view.seed, self.lots.next(), self.lots.below(10), other.next()))

    for seed in (3, 3, 4):
        run(made(open=open), seed=seed)
    equal(drawn[0], drawn[1])
    equal([seed for seed, *_ in drawn], [3, 3, 4])
    assert drawn[2][1] != drawn[0][1] and drawn[0][3] != drawn[0][1] and 0 <= drawn[0][2] < 10
    raises(gsim.RunError, "at least 1", run,
           made(decide=lambda self, plan: self.view.lots("x").below(0)))


def test_arguments():
    """what is wrong with the arguments of a verb or a question names it."""
    for name, call in {
        "place": lambda self, plan: plan.place(self.view.jobs.active[0], no_such=1),
        "move": lambda self, plan: plan.move(),
        "preempt": lambda self, plan: plan.preempt(self.view.jobs.active[0]),
        "sms": lambda self, plan: self.view.sms(0),
    }.items():
        raises(gsim.RunError, name + "()", run, made(decide=call))


def test_oracle():
    """true durations are hidden from a policy that is no oracle."""
    peeks = {"decide": lambda self, plan: self.view.jobs.service_ns[0]}
    raises(gsim.RunError, "only an oracle", run, made(**peeks))
    asks = {"decide": lambda self, plan: self.view.remaining_ns(self.view.jobs.active[0])}
    raises(gsim.RunError, "only an oracle", run, made(**asks))
    seen = []

    def decide(self, plan):
        seen.extend(self.view.jobs.service_ns[job] for job in self.view.changes.arrived)
        Fifo.decide(self, plan)

    run(made(decide=decide, oracle=True), jobs(2))
    equal(seen, [10 * 10**9] * 2)


def test_exceptions():
    """what a hook raises ends the run, with its line, the policy, the job and the time."""
    def on_arrival(self, job):
        if self.view.now_ns > 0:
            raise KeyError("lost")

    error = raises(gsim.RunError, "policy 'made' failed at 1.000000000 s in on_arrival of job 'b': "
                   "KeyError: 'lost' (policy.py:", run, made(on_arrival=on_arrival))
    assert isinstance(error.__cause__, KeyError)
    text = "".join(traceback.format_exception(error))
    assert 'raise KeyError("lost")' in text and "on_arrival" in text, text
    refuses = {"open": lambda self: (_ for _ in ()).throw(gsim.InputError("t.csv:3: limit_s is needed"))}
    equal(str(raises(gsim.InputError, "limit_s", run, made(**refuses))), "t.csv:3: limit_s is needed")


def test_rules():
    """a verb that breaks a rule raises at its line, with gsim's message."""
    def twice(self, plan):
        job = self.view.jobs.active[0]
        plan.place(job)
        plan.place(job)

    error = raises(gsim.RunError, "policy 'made' broke a rule at 0.000000000 s: placing job 'a' "
                   "(queued): this plan has placed or preempted it already (policy.py:", run,
                   made(decide=twice))
    assert "plan.place(job)" in "".join(traceback.format_exception(error))

    def supposes(self, plan):
        if self.view.now_ns == 0:
            plan.place(self.view.jobs.active[0])
        else:
            plan.suppose_over(self.view.jobs.active[0])

    raises(gsim.RunError, "a question, to be rolled back", run, made(decide=supposes))


def test_nonsense():
    """arguments out of range raise, and never crash."""
    far = 1 << 31
    calls = {
        "slot 77 holds no job": lambda v, p: p.place(77),
        "slot 4294967296": lambda v, p: p.place(1 << 32),
        "OverflowError": lambda v, p: p.place(-1),
        "is not one of consolidate": lambda v, p: p.place(0, "anywhere"),
        "gpus: 0 is not between": lambda v, p: p.place(0, gpus=0),
        "share_ppm": lambda v, p: p.place(0, share_ppm=1000001),
        "within: 5": lambda v, p: p.place(0, within=5),
        "there is no GPU 2": lambda v, p: p.place_on(0, [2]),
        "GPU 1 is named twice": lambda v, p: p.place_on(0, [1, 1]),
        "one GPU at least": lambda v, p: p.place_on(0, []),
        "no instance 17": lambda v, p: p.place_on(0, [(0, 17)]),
        "a pair": lambda v, p: p.place_on(0, [(0, 1, 2)]),
        "no mark": lambda v, p: p.rollback(3),
        "the time of a timer lies after now": lambda v, p: p.wake(0),
        "no column": lambda v, p: v.trace.column("colour"),
        "the trace has no job 9": lambda v, p: v.trace.id(9),
        "no GPU 2147483648": lambda v, p: v.is_idle(far),
        "is not one of kernel": lambda v, p: v.ask(0, "soon", "host"),
        "is not one of attained": lambda v, p: p.watch(0, "slept", 1),
        "1 to 256 lanes": lambda v, p: p.arrange([0], gsim.Arrangement([])),
        "lane: 1": lambda v, p: p.arrange([0], gsim.Arrangement([gsim.Lane("rr")],
                                                                [gsim.Entry(0, lane=1)])),
        "is not one of exclusive": lambda v, p: p.arrange([0], gsim.Arrangement([gsim.Lane("x")])),
        "'lanes'": lambda v, p: p.arrange([0], 7),
        "read-only": lambda v, p: v.jobs.gpus.__setitem__(0, 1),
        "preemption() is for": lambda v, p: v.preemption("storage"),
        "out of bounds": lambda v, p: v.jobs.gpus[far],
    }
    for text, call in calls.items():
        raises(gsim.RunError, text.replace("read-only", "read-only memory"), run,
               made(decide=lambda self, plan: call(self.view, plan)))


def index(value):
    """A whole number of another package, as numpy.int64 is one."""
    return type("Number", (), {"__index__": lambda self: value})()


def test_numbers():
    """slots and GPUs may be whole numbers of another package: an order that numpy sorted."""
    got = []

    def decide(self, plan):
        self.queue = [job for job in self.queue if not plan.place_on(index(job), [index(1)])]
        if got:
            return
        zero = index(0)
        got.append((self.view.nth(zero), self.view.host(zero), self.view.trace.get("user", zero),
                    self.view.lots("x").below(index(1))))

    equal(run(made(decide=decide, names_gpus=True), jobs(2)).columns["end_s"], [10.0, 20.0])
    equal(got, [(0, (0, 0), None, 0)])
    raises(gsim.RunError, "'float' object cannot be interpreted as an integer", run,
           made(decide=lambda self, plan: plan.place(0.0)))
    raises(gsim.RunError, "negative", run, made(decide=lambda self, plan: plan.place(index(-1))))


def test_classes():
    """what is no policy is refused before the run."""
    raises(gsim.UsageError, "pass the class", run, Fifo())
    raises(gsim.UsageError, "neither a policy's name", run, 7)
    raises(gsim.UsageError, "no decide", run, type("Idle", (gsim.Policy,), {}))
    raises(gsim.UsageError, "so is one that is built in", run, made(name="srtf"))
    raises(gsim.UsageError, "cannot be the name", run, made(name="a b"))
    raises(gsim.UsageError, "no gsim.param", run, made(params={"x": 3}))
    raises(gsim.UsageError, "'slurm' is not one of tiresias", run, made(references=["slurm"]))
    raises(gsim.UsageError, "on_complete is no hook, and would never be called; on_arrival, "
           "on_completion, ", run, made(on_complete=lambda self, job: None))
    raises(gsim.UsageError, "made and never run", run, made(decide=lambda self, plan: (yield)))
    raises(gsim.UsageError, "Ctrl-C ends a run that hangs", run, Fifo, policy_timeout="2s")
    twin = made(name="py-fifo")
    raises(gsim.Error, "must tell", gsim.compare, THREE, [Fifo, twin], gpus_per_node=2)


def test_late_use():
    """a view, a plan or a column that is used after its hook raises."""
    kept = []

    def decide(self, plan):
        view = self.view
        kept.append((view, plan, view.jobs, view.jobs.submit_ns, view.jobs.submit_ns[0]))
        Fifo.decide(self, plan)

    run(made(decide=decide))
    view, plan, its_jobs, column, number = kept[0]
    equal(number, 0)
    raises(gsim.Error, "within a hook", lambda: view.now_ns)
    raises(gsim.Error, "within a hook", lambda: its_jobs.gpus)
    raises(gsim.Error, "within a hook", view.attained_ns, 0)
    raises(gsim.Error, "within the decide", plan.place, 0)
    raises(ValueError, "released", lambda: column[0])
    later = {"on_arrival": lambda self, job: (kept.append(self.view.jobs.gpus),
                                              Fifo.on_arrival(self, job)),
             "decide": lambda self, plan: kept[-1][0]}
    raises(gsim.RunError, "released", run, made(**later))
    of_plan = {"decide": lambda self, plan: kept.append(plan),
               "on_arrival": lambda self, job: kept[-1].place(job) if job else None}
    raises(gsim.RunError, "within the decide", run, made(**of_plan))


def test_slices():
    """a slice that outlives its hook ends the run, and its memory stays."""
    kept = []

    def on_arrival(self, job):
        kept.append(self.view.jobs.submit_ns[0:1])

    raises(gsim.RunError, "outlives its hook", run, made(on_arrival=on_arrival))
    gc.collect()
    noise = [bytearray(1 << 16) for _ in range(200)]
    equal(list(kept[0]), [0])
    del noise
    kept.clear()


def test_arrays():
    """columns are arrays of numpy without a copy, and a kept one ends the run."""
    try:
        import numpy
    except ImportError:
        raise tap.Skip("numpy is not here (python3-numpy)")
    kept, seen = [], []

    def decide(self, plan):
        gpus = numpy.asarray(self.view.jobs.gpus)
        seen.append((str(gpus.dtype), gpus.flags.owndata, gpus.flags.writeable,
                     int(gpus[list(self.view.jobs.active)].sum())))
        Fifo.decide(self, plan)

    run(made(decide=decide))
    equal(seen[0], ("uint32", False, False, 1))
    keeps = {"decide": lambda self, plan: kept.append(numpy.asarray(self.view.jobs.submit_ns))}
    raises(gsim.RunError, "outlives its hook", run, made(**keeps))
    equal(int(kept[0][0]), 0)


def test_state():
    """each run has an instance of its own, also in threads."""
    made_ones = []

    class Counted(Fifo):
        name = "counted"

        def __init__(self):
            made_ones.append(self)

    got = gsim.compare("traces/samples/bursty.csv", [Counted, "fifo"], gpus_per_node=8, jobs=4,
                       shake="5%", reps=4, device="ideal")
    equal(len(made_ones), 5)
    rows = [row for row in got.rows if row["policy"] == "counted"]
    others = [row for row in got.rows if row["policy"] == "fifo"]
    equal([row["jct_mean_s"] for row in rows], [row["jct_mean_s"] for row in others])


def test_nested():
    """a hook may run simulations of its own, also in a thread."""
    seen = []

    def open(self):
        Fifo.open(self)
        seen.append(run("fifo")["completed"])
        thread = threading.Thread(target=lambda: seen.append(run(Fifo)["completed"]))
        thread.start()
        thread.join()
        equal(self.view.cluster.n_gpus, 2)

    equal(run(made(open=open))["completed"], 4)
    equal(seen, [4, 4])

    def fails(self):
        raise ValueError("no object")

    raises(gsim.RunError, "in open: ValueError: no object", run, made(__init__=fails))


REPEATED = """
import sys
sys.path[:0] = ["python", "tests/python", "examples/python"]
import warnings; warnings.simplefilter("ignore")
import gsim
from srtf import Srtf
sys.stdout.write(gsim.run("traces/samples/bursty.csv", Srtf, nodes=1, gpus_per_node=8).jobs_csv)
"""


def test_deterministic():
    """a policy in Python gives the same bytes in every process."""
    texts = {subprocess.run([sys.executable, "-c", REPEATED], check=True, capture_output=True,
                            env={**os.environ, "PYTHONHASHSEED": str(seed)}).stdout
             for seed in (0, 1, 2)}
    equal(len(texts), 1)
    assert texts.pop().count(b"\n") > 10


ENDLESS = """
import os, sys
sys.path[:0] = ["python", "tests/python", "examples/python"]
import gsim
class Endless(gsim.Policy):
    def decide(self, plan):
        os.write(1, b"begun\\n")  # at once, whatever other threads write
        while True:
            pass
try:
    if sys.argv[1] == "hook":
        gsim.run("tests/golden/three.csv", Endless)
    elif sys.argv[1] == "threads":
        gsim.compare("traces/samples/bursty.csv", [Endless, "fifo"], shake="5%", reps=3, jobs=4)
    else:
        print("begun", flush=True)
        gsim.compare("traces/samples/bursty.csv", "fifo,las,srtf,gandiva", shake="5%", reps=1000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
gsim.run("tests/golden/three.csv", "fifo")
print("and on")
"""


def hear_interrupts():
    """A shell's background jobs, such as the suites, begin with Ctrl-C ignored, and so would
    their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupt():
    """Ctrl-C ends a run, in a hook and in the program, and the next run is unharmed."""
    for where in ("hook", "threads", "program"):
        child = subprocess.Popen([sys.executable, "-c", ENDLESS, where], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts)
        try:
            equal(child.stdout.readline(), "begun\n")
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()  # one that Ctrl-C does not end would run for ever
        out = out.replace("begun\n", "")  # of other threads
        equal((out, child.returncode), ("interrupted\nand on\n", 0))


def test_leaks():
    """runs that end well or badly leave nothing behind."""
    def fails(self, plan):
        self.view.jobs.gpus[0]
        raise ValueError("no")

    def all_kinds():
        run(Fifo)
        for policy in (made(decide=fails), made(open=fails)):
            try:
                run(policy)
            except gsim.RunError:
                pass
        try:
            run("srtg")
        except gsim.UsageError:
            pass

    def grown(n):
        gc.collect()
        blocks, peak = sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(n):
            all_kinds()
        gc.collect()
        return (sys.getallocatedblocks() - blocks,
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak)

    grown(100)  # the interpreter's caches of names fill
    blocks, peak = grown(200)
    assert blocks < 200 and peak < 8192, (blocks, peak)


def test_philly():
    """Philly under a Python SRTF takes less than 60 s of processor time, a fifth of it less than 12."""
    if not os.path.exists(tap.PHILLY):
        raise tap.Skip("the trace is not here (shared/traces)")
    from srtf import Srtf

    part = 1 if os.environ.get("CASES") == "all" else 5  # a fifth of the jobs, in a fifth of the time
    with tap.philly(82247 // part) as trace:
        begin = time.process_time()
        result = gsim.run(trace, Srtf, nodes=64, gpus_per_node=8, device="ideal")
    took = time.process_time() - begin
    equal((result["jobs"], result["completed"]), (82247 // part, 82247 // part))
    assert took < 60 / part, f"{took} s"
    print(f"# {took:.1f} s")


tap.main(globals())
