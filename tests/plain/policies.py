# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in plain Python, by the pages of docs/ and the papers that these name."""

from apart import Apart
from asked import Asked, Engines, PausedAsked
from atoms import Atoms
from attained import Attained
from beyond import Beyond
from blocks import Blocks
from bystanders import AntMan
from cluster import WHOLE, Run
from carried import Carried, Imaged
from chosen import Choice, Chosen
from chosen_over import ChoiceOver, ChosenOver
from copies import Linked
from cut_outages import FailingCuts, FailingInstances, FailingLanes
from cuts import Cuts
from draw import KINDS, S
from failing_carried import FailingCarried
from failing_copies import FailingCopies
from failures import Failing, stand
from gang_reservations import FairGangs, ReservedGangs
from gated import Gated
from growth import Growing
from halts import Halts
from homes import Homed
from hosts import Hosts
from lanes import Lanes
from laned_kernels import Laned
from kernel_turns import KernelTurns
from moved_otherwise import MovedOtherwise
from moved_turns import MovedTurns
from predicted import Predicted
from remote import Remote, RemoteTouches
from launches import Classes, Tgs
from quotas import Kueue, Queue, grow
from ranges import Caps, Partitions, Pressed, Ranges
from results import quantile
from servers import Servers
from slices import Server, Sliced, gpu_time
from moves import Moving
from orion import Orion
from outages import FailingShared
from packed import FailingPacking, Packed, PackedMoving, PackedServers, Packing
from paused import Paused
from paused_over import PausedOver
from paged_parts import PagedParts
from pages import Pages
from paid_halts import PaidHalts
from paid_urgent import PaidUrgent
import parts
from reservations import Fair, Reserved
from rooms import Rooms
from rows import FailingMatrix, Matrix
from stored import Stored
from tails import Tails
from sharing import Beside, Faults, Groups, Instances, Paging, Shared, Strict, Tasks, Turns
from touches import Touches
from uneven import UnevenGuests, UnevenTgs
from urgent import Urgent


def paged(job):
    return {"bytes_in": job.bytes_in, "bytes_out": job.bytes_out, "faults": job.faults, "stall_s": job.stall}


class Policy:
    name, sets = None, ()  # None: as in POLICIES
    kinds = None  # of setups; None: all
    again = {}  # by kind, setups that once differed where the first ones did not
    slack = 0  # part of the time since the run's begin by which times may differ

    def run(self, cluster, jobs, setup):
        self.slack = type(self).slack
        if setup.kind == "stored":
            self.slack = 1e-7
            Stored(cluster, jobs, self, setup.costs).go()
        elif setup.kind == "failing_carried":
            FailingCarried(cluster, jobs, self, setup.costs).go()
        elif "net" in setup.costs and setup.kind != "paused_over":
            Carried(cluster, jobs, self, setup.costs).go()
        elif setup.kind == "paused_over":
            PausedOver(cluster, jobs, self, setup.costs).go()
        elif setup.kind == "paged_parts":
            PagedParts(cluster, jobs, self, setup.costs).go()
        elif setup.kind == "paused_in_parts":
            PausedAsked(cluster, jobs, self, setup.costs).go()
        elif setup.kind == "paused":
            Paused(cluster, jobs, self, setup.costs).go()
        elif "numa_gpus" in setup.costs:
            self.slack = 1e-7
            Linked(cluster, jobs, self, setup.costs).go()
        elif setup.kind in ("failing_suspends", "failing_checkpoints"):
            FailingCopies(cluster, jobs, self, setup.stop_ns, setup.back_ns, setup.costs["resume"], setup.costs).go()
        elif setup.kind.endswith("in_parts"):
            walk = Engines(cluster, jobs, self, setup) if "copies" in setup.costs else Asked(cluster, jobs, self, setup.stop_ns, setup.back_ns, setup.loses)
            walk.go()
        elif "mtbf" in setup.costs:
            Failing(cluster, jobs, self, setup.stop_ns, setup.back_ns, setup.costs).go()
        else:
            Run(cluster, jobs, self, setup.stop_ns, setup.back_ns, setup.loses).go()

    def fields(self, jobs):
        """What the result says beside the jobs."""
        took = [time / S for job in jobs if job.period for time in job.host.latencies()]
        if not took:
            return {}
        return {"latency_mean_s": sum(took) / len(took),
                **{f"latency_p{p}_s": quantile(took, p / 100) for p in (50, 90, 99)}}

    def results_of(self, job):
        """What the table of jobs says of a job beside its times."""
        return paged(job) if hasattr(job, "bytes_in") else {}

    def arrived(self, run, job):
        pass

    def wake(self, run):
        return None

    def line(self, run):
        """Waiting jobs in the order in which they are tried."""
        return sorted(run.waiting, key=stand)


class Fifo(Policy):
    kinds = (*KINDS, "failures", "failing_nodes", "paged_parts")

    def decide(self, run):
        for job in self.line(run):
            if not run.place(job):
                break


class Exclusive(Fifo):
    """A share takes a whole GPU."""

    def arrived(self, run, job):
        job.ppm = WHOLE


class Backfill(Policy):
    kinds = (*KINDS, "failures", "failing_nodes", "paged_parts")

    def decide(self, run):
        for job in self.line(run):
            run.place(job)


class Sjf(Backfill):
    def line(self, run):
        return sorted(run.waiting, key=lambda job: (job.thought(), job.number))


class Ranked(Policy):
    """The first in line that does not fit takes the GPUs of running jobs with a worse rank, worst first."""

    kinds = (*KINDS, "suspends", "checkpoints", "discards", "failures", "failing_nodes")

    def key(self, run, job):
        return (self.rank(run, job), job.number)

    def victim_key(self, run, job):
        return self.key(run, job)

    def decide(self, run):
        """A job that was stopped may find GPUs elsewhere at once: in the next round, when all others have been tried.
        Where no GPU has come free, a lone newcomer is the only one that is tried."""
        tried, before = run.waiting if run.has_room or len(run.newcomers) > 1 else run.newcomers, None
        while run.stops != before:
            before, run.fresh = run.stops, []
            for job in sorted(tried, key=lambda job: self.key(run, job)):
                if not run.place(job):
                    self.push(run, job)
            tried = run.waiting

    def worse(self, run, other, job):
        return self.rank(run, other) > self.rank(run, job)

    def push(self, run, job):
        """Stops worse jobs until it fits; those whose GPUs it does not take then go on as if nothing had been."""
        worse = [other for other in run.running if self.worse(run, other, job)]
        stopped = []
        for other in sorted(worse, key=lambda other: self.victim_key(run, other), reverse=True):
            stopped.append((other, other.units))
            run.cluster.change(other, 1)
            units = run.find(job)
            if units:
                break
        else:
            units = []
        for other, its in stopped:
            run.cluster.change(other, -1)
        for other, its in stopped:
            if set(units) & set(its):
                run.stop(other)
        if units:
            run.put(job, units)


class Srtf(Ranked):
    kinds, again = (*Ranked.kinds, "linked", "carried_over", "paused", "paused_over", "stored", "left_at_once", "costs_in_parts", "discards_in_parts", "checkpoints_in_parts", "suspends_in_parts", "paused_in_parts", "failing_suspends", "failing_checkpoints", "failing_carried", "tails_of_suspends", "tails_of_checkpoints"), {"carried_over": (70,), "left_at_once": (40,), "costs_in_parts": (8800006,), "suspends_in_parts": (8803059,), "failing_suspends": (8800010, 8800013, 8805020), "failing_checkpoints": (8800017, 8805022), "failing_carried": (8806010, 8806027)}
    # units of a node apart in a gang's list; an end that makes room for a part; jobs that wait lose what they did; copies that a failure ends; memory on its way to another node

    def rank(self, run, job):
        return max(0, job.thought() - (job.work - job.left_at(run.now)))


class Srsf(Srtf):
    again = {"paused": (1244,), "left_at_once": (24,)}  # a job is stopped in the instant in which it came, and has no memory there

    def rank(self, run, job):
        return Srtf.rank(self, run, job) * job.gpus * job.ppm


class Easy(Policy):
    """Running jobs are taken to end one after the other, in the order of their limits, until the first job that does not
    fit has room: that is its reservation. No job behind it may take GPUs that it then needs, unless its own limit ends
    by then. A job past its limit is taken to end now."""

    kinds = (*KINDS, "failures", "failing_nodes", "paged_parts")

    def over(self, run, job):
        if job.limit is None and job.estimate is None:
            return job.ends() if job in run.running else run.now + int(job.left)
        limit = job.estimate if job.limit is None else job.limit
        return max(run.now, run.now + limit - job.ran_at(run.now))

    def holders(self, run):
        """Jobs on GPUs, also those that are still on their way there: they count as if they began now."""
        return [*run.running, *run.coming, *run.placed]

    def fits_at(self, run, job, then):
        gone = [other for other in self.holders(run) if self.over(run, other) <= then]
        for other in gone:
            run.cluster.change(other, 1)
        fits = run.cluster.find(job) is not None
        for other in gone:
            run.cluster.change(other, -1)
        return fits

    def decide(self, run):
        head = then = None
        for job in self.line(run):
            if head is None and not run.place(job):
                times = sorted({self.over(run, other) for other in self.holders(run)})
                then = next((time for time in times if self.fits_at(run, job, time)), None)
                head = job if then is not None else None
            elif head is not None and run.place(job):
                if self.over(run, job) > then and not self.fits_at(run, head, then):
                    run.take_back(job)


class Killing(Easy):
    """Jobs end when they have run for their limit."""

    name = "easy-backfill"
    sets = ("easy-backfill.kill=on",)
    kinds = ("limits",)

    def arrived(self, run, job):
        job.is_killed = job.limit is not None


class Las(Ranked):
    """A running job gives way once it is a quantum ahead of one that waits; service is time on GPUs."""

    kinds = (*KINDS, "suspends", "failures", "failing_nodes", "carried_over", "paused", "paused_over", "stored", "left_at_once", "costs_in_parts", "checkpoints_in_parts", "suspends_in_parts", "paused_in_parts", "failing_suspends", "failing_checkpoints", "failing_carried")  # jobs that take turns and begin anew each time have no end
    # a gang is on its way off two nodes as one of them fails; several parts leave a GPU in one instant; of equal jobs the last row is the first to come
    again = {"failures": (19,), "loops": (2, 3, 6), "checkpoints_in_parts": (8803013,), "failing_carried": (8806009, 8806018)}
    quantum = 5 * 10**9
    sets = ("las.quantum=5s",)

    def rank(self, run, job):
        return job.ran_at(run.now)

    def worse(self, run, other, job):
        return self.rank(run, other) >= self.rank(run, job) + self.quantum

    def decide(self, run):
        Ranked.decide(self, run)
        self.next = None
        if run.waiting:
            least = min(run.waiting, key=lambda job: self.key(run, job))
            times = [run.now + self.rank(run, least) + self.quantum - self.rank(run, other) for other in run.running
                     if other not in run.fresh]
            self.next = min([time for time in times if time > run.now] + [run.now + self.quantum])

    next = None

    def wake(self, run):
        return self.next


class Tiresias(Ranked):
    """Queues by service (GPUs x time), within a queue by the time of the start. A job gives way to those of a queue
    before its own, the latest arrival first."""

    kinds, again = ("service", "held"), {"held": (1031, 1037, 1081)}

    def run(self, cluster, jobs, setup):
        self.queues = setup.costs["queues"]  # in GPU ns
        Policy.run(self, cluster, jobs, setup)

    def queue(self, run, job):
        service = job.ran_at(run.now) * job.gpus * job.ppm
        return sum(service >= its * WHOLE for its in self.queues)

    def key(self, run, job):
        started = job.has_run or job.preemptions > 0
        return (self.queue(run, job), not started, job.start if started else 0, job.number)

    def victim_key(self, run, job):
        return (self.queue(run, job), job.number)

    def worse(self, run, other, job):
        return self.queue(run, other) > self.queue(run, job)

    next = None

    def decide(self, run):
        Ranked.decide(self, run)
        self.next = min((job.since + -(-its * WHOLE // (job.gpus * job.ppm)) - job.ran
                         for job in run.running for its in self.queues[self.queue(run, job):][:1]), default=None)

    def wake(self, run):
        return self.next


class Suspend(Policy):
    """A job that has run for a quantum gives way to one with a higher priority, or with a like one and less GPU time; in
    the line GPU time is in whole milliseconds."""

    kinds, again = ("quanta", "quanta_of_gangs", "copied_out", "homed"), {
        "quanta_of_gangs": (574, 1081),
        # jobs of one rank that can go home, idle GPUs of a home, a job that waits no longer for it, one that needs no other to stop,
        # a gang for which its home has one GPU alone, and one for which it has too few once the last in line has come there
        "homed": (14, 15, 127, 162, 525, 405, 5400101)}

    def run(self, cluster, jobs, setup):
        if setup.kind == "homed":
            homed = Homed(setup.costs["quantum"], lambda run, job: self.key(run, job, 10**6), self.yields, self.behind,
                          self.will_yield if setup.costs["waits"] else None)
            Carried(cluster, jobs, homed, setup.costs).go()
            return
        sliced = Sliced(setup.costs["quantum"], lambda run, job: self.key(run, job, 10**6), self.yields)
        Run(cluster, jobs, sliced, setup.stop_ns, setup.back_ns, setup.loses).go()

    def key(self, run, job, unit=1):
        return (-job.priority, gpu_time(run, job) // unit)

    def yields(self, run, victim, job):
        return self.key(run, job) < self.key(run, victim)

    def behind(self, run, job, first):
        """In GPU time; no time makes up for a priority."""
        is_lower = job.priority < first.priority
        return float("inf") if is_lower else (self.key(run, job, 10**6)[1] - self.key(run, first, 10**6)[1]) * 10**6

    def will_yield(self, run, victim, job, then):
        time = gpu_time(run, victim) + (then - run.now) * victim.gpus
        return (-job.priority, gpu_time(run, job)) < (-victim.priority, time)


class Adaptive(Policy):
    """A job that has run for a quantum gives way to one that has had at most a third of its GPU time, unless it will, by
    its own past, end before it would be back: one that has run for t is taken to run for another t."""

    kinds, again = ("ways_out", "homed_to_host", "homed_to_image", "homed_resident", "left_resident", "chosen", "chosen_ends", "chosen_over", "chosen_ends_over"), {"homed_to_host": (67,), "homed_resident": (28, 378)}

    def run(self, cluster, jobs, setup):
        self.lead = setup.costs["lead"]
        if setup.kind.startswith("homed"):
            homed = Homed(setup.costs["quantum"], gpu_time, self.yields, lambda run, job, first: gpu_time(run, job) - gpu_time(run, first), None)
            {"homed_to_host": Carried, "homed_to_image": Imaged, "homed_resident": PausedOver}[setup.kind](cluster, jobs, homed, setup.costs).go()
            return
        if setup.kind.startswith("chosen") and setup.kind.endswith("over"):
            ChosenOver(cluster, jobs, ChoiceOver(setup.costs), setup.costs).go()
            return
        if setup.kind.startswith("chosen"):
            Chosen(cluster, jobs, Choice(setup.costs), setup.costs).go()
            return
        if setup.kind == "left_resident":
            Paused(cluster, jobs, Sliced(setup.costs["quantum"], gpu_time, self.yields), setup.costs).go()
            return
        run = Run(cluster, jobs, Sliced(setup.costs["quantum"], gpu_time, self.yields), setup.stop_ns, setup.back_ns, setup.loses)
        run.go()

    def yields(self, run, victim, job):
        is_ahead = gpu_time(run, job) * self.lead <= gpu_time(run, victim)
        return is_ahead and victim.ran_at(run.now) >= run.stop_ns(victim) + run.return_ns(victim)


class Gandiva(Policy):
    kinds = ("server", "servers", "wide_servers", "moving", "moving_memory", "growing", "packed", "packed_over", "packed_moving", "failing_packed", "failing_moving", "failing_server", "failing_servers")
    # gangs over several servers: one that comes pushes out jobs at once; claims make guests of jobs that waited less alone,
    # and of those that give way the ones run on of which no GPU is taken
    # moves: after an end alone, by the trace where several gangs are allotted anew, no gang gathered while others are pushed
    # out, ties, lines that move up as others are emptied; moves that begin to pay, GPUs that newcomers leave, gangs that are
    # gathered by way of storage, GPUs that are given back where others wait, a wait that goes on on another server
    again = {"server": (127, 20261344, 920002), "servers": (2086,), "wide_servers": (28, 43, 60, 116, 1199), "moving": (45, 11, 38, 71, 136, 24),
             "moving_memory": (13, 122, 392, 5400126), "growing": (145, 72, 9, 51, 166, 5400068, 5400199),
             # packing: friends that end, and jobs that are left of a pair as others come
             "packed": (18, 22, 66, 155), "packed_over": (5, 34, 53),
             # a pair that runs in the instant in which it is made, and a job that is thrown back while it waits
             "failing_packed": (14, 110),
             # a gang that can be gathered once a server is repaired, a server that jobs move to after it was served, and one
             # that has waited longer than the claimant of the servers to which it moves
             "failing_moving": (1018, 1044, 1167, 1235), "failing_servers": (2022,)}  # one that a failing server was to let go has been pushed out

    def run(self, cluster, jobs, setup):
        if setup.kind in ("packed_over", "packed_moving"):
            over = setup.kind == "packed_over"
            servers = PackedServers(setup.costs["slice"], jobs, cluster) if over else PackedMoving(setup.costs["slice"], jobs, cluster, setup.costs)
            Packing(cluster, jobs, servers, setup.stop_ns, setup.back_ns, setup.costs).go()
            return
        if setup.kind.endswith("packed"):
            (FailingPacking if "mtbf" in setup.costs else Packing)(cluster, jobs, Packed(setup.costs["slice"], jobs), setup.stop_ns, setup.back_ns, setup.costs).go()
            return
        if "after" in setup.costs:
            cluster.worth, turns = setup.costs["worth"], Growing(setup.costs["slice"], cluster, setup.costs)
        elif "moving" in setup.kind:
            turns = Moving(setup.costs["slice"], cluster, setup.costs)
        else:
            turns = Server(setup.costs["slice"]) if setup.kind.endswith("server") else Servers(setup.costs["slice"], cluster)
        if "net" in setup.costs:
            Carried(cluster, jobs, turns, setup.costs).go()
        elif "mtbf" in setup.costs:
            Failing(cluster, jobs, turns, setup.stop_ns, setup.back_ns, setup.costs).go()
        else:
            Run(cluster, jobs, turns, setup.stop_ns, setup.back_ns, setup.loses).go()


class Fairshare(Easy):
    """The classic priority of Slurm (priority/multifactor): a user's part of all usage against an equal share, age and
    size. Usage is GPU time, and decays at the end of each period."""

    kinds = ("users",)

    def run(self, cluster, jobs, setup):
        self.costs, self.usage, self.then = setup.costs, {job.user: 0.0 for job in jobs}, 0
        self.gpus = sum(node.gpus for node in cluster.nodes)
        Policy.run(self, cluster, jobs, setup)

    def count(self, run):
        """Usage up to now of those that ran since the last instant, with all periods that have ended."""
        period = self.costs["calc_period"]
        while self.then < run.now:
            end = min(run.now, (self.then // period + 1) * period)
            for job in run.jobs:
                if job.start is not None and (job.end is None or job.end > self.then):
                    self.usage[job.user] += job.gpus * (end - self.then)
            self.then = end
            if end % period == 0:
                self.usage = {user: its * 0.5 ** (period / self.costs["half_life"]) for user, its in self.usage.items()}

    def priority(self, run, job):
        costs, total = self.costs, sum(self.usage.values())
        part = self.usage[job.user] / total if total else 0
        age = min(1, (run.now - job.submit) / costs["max_age"])
        return (costs["weight_fairshare"] * 2 ** -(part * len(self.usage)) + costs["weight_age"] * age
                + costs["weight_size"] * job.gpus / self.gpus)

    def line(self, run):
        self.count(run)
        return sorted(Policy.line(self, run), key=lambda job: -self.priority(run, job))

    def decide(self, run):
        {"off": Fifo, "skip": Backfill, "easy": Easy}[self.costs["backfill"]].decide(self, run)


class GangRr(Policy):
    name, kinds = "gang-rr", ("rows", "filled", "rows_of_nodes", "failing_rows")
    # held up by a gang on its way there, which kept its columns when others came; still on its way off as its turn comes;
    # no gang of the turn is lost as a node fails before anything else has happened in it
    again = {"rows_of_nodes": (14, 101, 284), "failing_rows": (7, 53, 65, 194)}

    def run(self, cluster, jobs, setup):
        if "mtbf" in setup.costs:
            matrix = FailingMatrix(setup.costs["slice"], setup.costs["fill"], cluster)
            Failing(cluster, jobs, matrix, setup.stop_ns, setup.back_ns, setup.costs).go()
            return
        matrix = Matrix(setup.costs["slice"], setup.costs["fill"], cluster.nodes)
        Run(cluster, jobs, matrix, setup.stop_ns, setup.back_ns).go()


class Quotas(Policy):
    kinds = ("quotas", "evictions", "flavors", "trees", "reclaims")

    def run(self, cluster, jobs, setup):
        Run(cluster, jobs, Kueue(grow([Queue(name, its) for name, its in setup.costs.items()], setup.cohorts))).go()


GANGS = {"easy": ReservedGangs, "fairshare": FairGangs}


def share(cluster, jobs, lane, setup, shared=Shared):
    if setup.has_tails and setup.kind in ("turns", "beside"):
        shared = Tails
    shared = {"reserved": Reserved, "fair": Fair, "gangs": GANGS.get(setup.costs.get("queue"), Shared)}.get(setup.kind.split("_")[0], shared)
    if "mtbf" in setup.costs or "ahead" in setup.costs:
        (Attained if "ahead" in setup.costs else FailingShared)(cluster, jobs, lane, setup.costs, setup.costs["passes"], setup.back_ns).go()
    else:
        shared(cluster, jobs, lane, setup.costs, setup.costs["passes"]).go()


class Timeslice(Policy):
    kinds = ("turns", "outages_of_turns", "reserved_turns", "fair_turns", "gangs_in_turns", "attained_turns", "attained_gangs", "programs", "mixed_turns", "hosted", "fitted", "requests", "tails_of_turns", "tails_of_mixed_turns")
    lane, shared = Turns, Shared
    # several jobs have been served as much, and not all have to give way; the first on a GPU is stopped as it comes; times
    # that no host of whole nanoseconds gives, a pace of iterations of which every third is longer
    again = {"attained_turns": (7, 14, 64, 71), "fitted": (5400016, 5400084, 5500010)}

    def run(self, cluster, jobs, setup):
        # a host is fitted to what its job takes alone, to a nanosecond an iteration, and a pace to a part of one
        programs = {"programs": (Hosts, 1e-5), "mixed_turns": (Hosts, 1e-5), "hosted": (Hosts, 1e-5), "requests": (Hosts, 1e-5), "fitted": (self.lane, 2e-4)}
        lane, self.slack = programs.get(setup.kind, (self.lane, type(self).slack))
        share(cluster, jobs, lane, setup, self.shared)


class Uvm(Timeslice):
    kinds, shared = ("paged", "tenants", "touched", "remote", "touched_remote"), Paging
    # kernels that touch two buffers, turns that end between two that touch any, a buffer that grows, and memory that is read only
    again = {"touched": (19, 29, 38, 48, 59, 65, 122)}

    def run(self, cluster, jobs, setup):
        self.shared(cluster, jobs, {"touched": Touches, "remote": Remote, "touched_remote": RemoteTouches}.get(setup.kind, Pages if "pages" in setup.costs else Turns), setup.costs, setup.costs["passes"]).go()



class Nvshare(Uvm):
    kinds, again = ("locks", "faults", "locked", "touched_locked", "remote_locked"), {"touched_locked": (30, 59), "faults": (59, 126, 5400033, 5400040)}

    def run(self, cluster, jobs, setup):
        lane = Touches if setup.kind == "touched_locked" else Remote if setup.kind == "remote_locked" else Pages if "pages" in setup.costs else Faults if "copy" in setup.costs else Turns
        self.shared(cluster, jobs, lane, setup.costs, setup.costs["passes"]).go()


class Msched(Uvm):
    kinds, lane, again = ("tasks", "migrations", "kernel_turns", "moved_turns", "predicted", "beyond", "moved_otherwise", "tails_of_migrations"), Tasks, {
        # a turn of several iterations, memory that a newcomer kept from being touched, one that is left alone, turns that
        # are longer since a task has ended, one that comes while the first turn is planned, and one that makes a turn shorter
        "tasks": (318, 1305), "moved_turns": (15, 30, 156, 190, 253, 498, 700099, 700217, 701071, 701265), "moved_otherwise": (29, 61, 309, 700092), "predicted": (78,)}

    def run(self, cluster, jobs, setup):
        lane = {"kernel_turns": KernelTurns, "moved_turns": MovedTurns, "predicted": Predicted, "beyond": Beyond, "moved_otherwise": MovedOtherwise}.get(setup.kind, self.lane)
        (Tails if setup.has_tails else self.shared)(cluster, jobs, lane, setup.costs, setup.costs["passes"]).go()


class Mps(Timeslice):
    """Rates are rounded (docs/limits.md)."""

    kinds, lane, slack = ("beside", "outages_of_beside", "reserved_beside", "fair_beside", "gangs_beside", "blocks", "mixed_blocks", "waved_blocks", "capped_blocks", "lapped_blocks", "pieced_blocks", "roomy_blocks", "tails_of_beside"), Beside, 1e-7
    # one of the jobs that a node loses came after another job; kernels that come at once, or go on as their neighbours leave; a
    # wave that ends as a neighbour's kernel does; a client that comes as another one with an equal cap leaves, and one that has
    # blocks on SMs of others as its own come free; kernels that begin in five to ten pieces; eight small blocks on two SMs
    again = {"outages_of_beside": (30,), "blocks": (39, 180, 282), "waved_blocks": (20, 34, 139), "lapped_blocks": (49, 50, 110), "pieced_blocks": (8800002, 8800031, 8800033), "roomy_blocks": (5,)}

    def run(self, cluster, jobs, setup):
        crowded = 3e-7 if "queue" in setup.costs else type(self).slack  # up to 25 jobs share a GPU
        kernels = {"blocks": Blocks, "mixed_blocks": Blocks, "waved_blocks": Blocks, "capped_blocks": Apart, "grouped_blocks": Apart, "uneven_groups": Ranges, "partitioned_blocks": Partitions, "lapped_blocks": Caps, "pieced_blocks": Pressed, "roomy_blocks": Rooms}
        lane, self.slack = (kernels[setup.kind], 1e-5) if setup.kind in kernels else (self.lane, crowded)
        share(cluster, jobs, lane, setup, self.shared)


class Tally(Policy):
    kinds, slack = ("gated", "gated_twice", "waved_gated", "mixed_gated", "gangs_gated", "tails_of_gated"), 1e-5
    # one comes soon after the last kernel of high priority, or as the one before leaves; kernels that run as one comes
    again = {"gated_twice": (99, 184), "waved_gated": (31, 55, 164)}

    def run(self, cluster, jobs, setup):
        share(cluster, jobs, Gated, setup)


class OrionRule(Policy):
    kinds, slack = ("between", "launched_ahead", "waved_between", "mixed_between", "gangs_between", "tails_of_between"), 1e-5
    # kernels that were launched before the job of high priority came, a job that leaves in its turn, hosts that wait, a client
    # that was alone on its GPU until then, kernels that are let begin as the job of high priority leaves, or as another follows
    again = {"mixed_between": (105, 318, 376), "between": (4, 63, 140, 265, 1209, 1715, 700055, 700065), "launched_ahead": (3, 10, 28, 109, 185, 700154), "waved_between": (25, 5400114, 5400181, 5400186), "gangs_between": (276,)}

    def run(self, cluster, jobs, setup):
        share(cluster, jobs, Orion, setup)


class Lithos(Policy):
    kinds, slack, again = ("atoms", "waved_atoms", "slipped_atoms", "mixed_atoms", "gangs_of_atoms"), 1e-5, {
        "atoms": (59, 126, 154, 203), "slipped_atoms": (95, 96, 99),  # SMs in no quota and idle ones that are owned
        "waved_atoms": (1047,)}  # SMs that are taken back from an atom of which all blocks have begun

    def run(self, cluster, jobs, setup):
        share(cluster, jobs, Atoms, setup)


class Green(Mps):
    kinds, lane, again = ("groups", "gangs_in_groups", "grouped_blocks", "uneven_groups", "partitioned_blocks"), Groups, {}


class Mig(Policy):
    kinds, slack = ("instances", "cuts", "outages_of_instances", "outages_of_cuts"), 1e-7

    def run(self, cluster, jobs, setup):
        if "mtbf" in setup.costs:
            failing = FailingInstances if setup.costs["layout"] else FailingCuts
            failing(cluster, jobs, setup.costs, setup.costs["passes"], setup.back_ns).go()
            return
        (Instances if setup.costs["layout"] else Cuts)(cluster, jobs, setup.costs, setup.costs["passes"]).go()


class Vgpu(Policy):
    kinds = ("vgpus", "outages_of_vgpus", "gangs_in_vgpus")

    def run(self, cluster, jobs, setup):
        share(cluster, jobs, setup.costs["lane"], setup)


class Xsched(Policy):
    kinds = ("levels", "outages_of_levels", "ties_of_levels", "urgent_levels", "mixed_urgent_levels", "paid_levels", "ties_of_paid_levels", "urgent_paid_levels", "gangs_in_levels", "gangs_in_urgent_levels", "tails_of_mixed_urgent_levels")
    again = {"levels": (378,)}  # an urgent job comes in the instant in which a kernel ends

    def run(self, cluster, jobs, setup):
        are_programs = "urgent" in setup.kind
        self.slack = 1e-5 if are_programs else 0  # a host is fitted to a nanosecond an iteration
        is_paid = "paid" in setup.kind
        programs, others = (PaidUrgent, PaidHalts) if is_paid else (Urgent, Halts)
        share(cluster, jobs, programs if are_programs else others, setup)


class Chimera(Xsched):
    kinds = ("ways", "outages_of_ways", "ties_of_ways", "urgent_ways", "mixed_urgent_ways", "paid_ways", "ties_of_paid_ways", "urgent_paid_ways", "gangs_in_ways", "gangs_in_urgent_ways")
    again = {"ties_of_ways": (53,)}  # two ways cost as much, and one frees the SMs sooner


class Reef(Xsched):
    kinds, again = ("resets", "outages_of_resets", "ties_of_resets", "urgent_resets", "mixed_urgent_resets", "paid_resets", "ties_of_paid_resets", "urgent_paid_resets", "gangs_in_resets", "gangs_in_urgent_resets"), {
        "mixed_urgent_resets": (10, 15)}  # hosts that wait and go on at once


class Gpreempt(Xsched):
    kinds = ("slices", "outages_of_slices", "ties_of_slices", "urgent_slices", "mixed_urgent_slices", "paid_slices", "ties_of_paid_slices", "urgent_paid_slices", "gangs_in_slices", "gangs_in_urgent_slices")
    # one comes as a turn ends, and so does another of the rank of the job that had it
    again = {"slices": (443,), "ties_of_slices": (111,)}


class Salus(Policy):
    kinds, again = ("lanes", "outages_of_lanes", "lanes_of_kernels", "tails_of_lanes_of_kernels"), {"lanes": (3171,), "outages_of_lanes": (64, 5400041, 5400033, 5410229)}  # one that was thrown back comes anew, a job of another lane, as much left

    def run(self, cluster, jobs, setup):
        if "mtbf" in setup.costs:
            FailingLanes(cluster, jobs, setup.costs, setup.costs["passes"], setup.back_ns).go()
            return
        self.slack = 1e-5 if setup.kind == "lanes_of_kernels" else 0
        (Laned if self.slack else Lanes)(cluster, jobs, setup.costs, setup.costs["passes"]).go()


class Throttled(Policy):
    kinds = ("guests", "guests_of_kernels")
    again = {"guests": (7,), "guests_of_kernels": (8800006,)}  # a guest ends an iteration beside a job that waits for each kernel; blocks of a program

    def run(self, cluster, jobs, setup):
        Classes(cluster, jobs, UnevenTgs if setup.kind == "guests_of_kernels" else Tgs, setup.costs, setup.costs["passes"]).go()


class Bystanders(Policy):
    kinds = ("bystanders", "bystanders_of_kernels")

    def run(self, cluster, jobs, setup):
        AntMan(cluster, jobs, setup.costs, *[UnevenGuests] * ("of" in setup.kind)).go()


class Together(Policy):
    """Parts of the cluster under policies of their own."""

    kinds, slack, again = ("parts", "mixed_parts"), 1e-7, {"parts": (76,)}  # a class's nodes have jobs of other nodes' partitions

    def run(self, cluster, jobs, setup):
        lanes = {"timeslice": Turns, "mps": Beside, "green": Groups}
        jobs[:] = parts.run(setup, lambda name: lanes.get(name) or POLICIES[name]())


POLICIES = {"parts": Together, "antman": Bystanders, "fifo": Fifo, "backfill": Backfill, "sjf": Sjf, "srtf": Srtf, "srsf": Srsf, "easy-backfill": Easy, "kill=on": Killing, "las": Las, "exclusive": Exclusive,
            "timeslice": Timeslice, "uvm": Uvm, "orion": OrionRule, "lithos": Lithos, "mps": Mps, "mig": Mig, "fairshare": Fairshare, "kueue": Quotas, "gang-rr": GangRr,
            "tiresias": Tiresias, "green": Green, "suspend": Suspend, "tally": Tally, "tgs": Throttled, "vgpu": Vgpu, "xsched": Xsched,
            "chimera": Chimera, "salus": Salus, "reef": Reef, "adaptive": Adaptive, "nvshare": Nvshare, "gandiva": Gandiva, "msched": Msched, "gpreempt": Gpreempt}
