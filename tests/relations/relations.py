# SPDX-License-Identifier: GPL-3.0-or-later
"""The relations: each is a change of a setup, and the effect that it has on the rows of jobs.

A relation takes a Case and returns the rows that it got and the rows that it should have got. `Skip` says that
the setup is none that the relation speaks of.
"""
import gzip
import json
import os
import random
from decimal import Decimal

import written
from setups import TIMES, Setup, random_runs, seconds, ns


class Skip(Exception):
    pass


class Case:
    def __init__(self, runner, setup, base, lists, seed):
        self.runner, self.setup, self.base, self.lists, self.rng = runner, setup, base, lists, random.Random(seed)

    def run(self, setup):
        return self.runner.run(setup)


def needs(condition):
    if not condition:
        raise Skip


def renamed(setup, column, names):
    return setup.column(column, lambda row: names.get(row.get(column), row.get(column)))


def values(setup, column):
    return sorted({row[column] for row in setup.rows if row.get(column)})


def moved(rows, by):
    return {job: {**row, **{name: row[name] + by for name in ("submit_s", "start_s", "end_s") if row[name] is not None}}
            for job, row in rows.items()}


def last_end(rows):
    needs(all(row["end_s"] is not None for row in rows.values()))
    return max(row["end_s"] for row in rows.values())


# --- names ----------------------------------------------------------------------------------------
def job_names(case, names):
    old = [row["job_id"] for row in case.setup.rows]
    to = dict(zip(old, names))
    new = renamed(case.setup, "job_id", to)
    if any(row.get("after") for row in new.rows):
        new = renamed(new, "after", to)
    return case.run(new), {to[job]: row for job, row in case.base.items()}


def names_of_jobs_in_order(case):
    return job_names(case, ["x%06d" % i for i in range(len(case.setup.rows))])


def names_of_jobs_at_random(case):
    names = ["x%d" % i for i in range(len(case.setup.rows))]
    case.rng.shuffle(names)
    return job_names(case, names)


def names_at_random(column):
    def relation(case):
        old = values(case.setup, column)
        needs(len(old) > 1)
        new = ["name%d" % i for i in range(len(old))]
        case.rng.shuffle(new)
        return case.run(renamed(case.setup, column, dict(zip(old, new)))), case.base
    return relation


def names_of_nodes(case):
    needs(len(case.setup.nodes) == 1)
    new = case.setup.copy()
    new.nodes = [("zeta", new.nodes[0][1])]
    return case.run(new), case.base


# --- time -----------------------------------------------------------------------------------------
def shift(by_s):
    def relation(case):
        needs("deadline_s" not in case.setup.trace()[0] and "--mtbf" not in case.setup.options)
        needs("--until" not in case.setup.options)
        by = -min(ns(row["submit_s"]) for row in case.setup.rows) if by_s is None else by_s * 10**9
        new = case.setup.column("submit_s", lambda row: seconds(ns(row["submit_s"]) + by))
        return case.run(new), moved(case.base, by)
    return relation


AUTO = {("las", "quantum"): "3250s"}  # what `auto` stands for on a cluster of more than one GPU


def doubled_settings(case):
    """--set words that make each time among the policy's settings twice as long."""
    sets = []
    for name, value, allowed in case.lists.settings[case.setup.policy]:
        if value == "as-quantum":
            continue
        if (case.setup.policy, name) == ("tiresias", "queues"):  # GPU seconds
            sets += ["--set", "tiresias.queues=" + ",".join(str(2 * int(bound)) for bound in value.split(","))]
            continue
        value = AUTO.get((case.setup.policy, name), value)
        number = value[:len(value) - len(value.lstrip("0123456789."))]
        unit = value[len(number):]
        if number and unit:
            sets += ["--set", f"{case.setup.policy}.{name}={Decimal(number) * 2}{unit}"]
    return sets


def scale(case):
    needs(all(node[1].get("device") == "ideal" for node in case.setup.nodes) and not case.setup.options)
    new = case.setup.copy()
    for row in new.rows:
        for name in ("submit_s", "duration_s"):
            if row.get(name):
                row[name] = seconds(2 * ns(row[name]))
        for name in ("gpu_ms", "host_gap_ms"):
            if row.get(name):
                row[name] = str(Decimal(row[name]) * 2)
    new.options += doubled_settings(case)
    doubled = {job: {name: value * 2 if name in TIMES and value is not None else value
                     for name, value in row.items()} for job, row in case.base.items()}
    rows = case.run(new)
    parts = {row["job_id"] for row in new.rows if Decimal(row["gpus"]) % 1 != 0}
    for job in parts & set(rows) & set(doubled):  # the time of a part of a GPU is in whole ns
        if abs(rows[job]["held_s"] - doubled[job]["held_s"]) <= 1:
            doubled[job]["held_s"] = rows[job]["held_s"]
    return rows, doubled


# --- the future plays no part ----------------------------------------------------------------------
def before(rows, limit):
    return {job: row for job, row in rows.items() if row["end_s"] is not None and row["end_s"] < limit}


def later_job(case):
    limit = last_end(case.base)
    new = case.setup.copy()
    new.rows.append({**new.rows[0], "job_id": "later", "submit_s": seconds(limit + 10**12)})
    needs("after" not in new.rows[0] and "--until" not in new.options)
    got = case.run(new)
    got.pop("later", None)
    return got, case.base


def cut(case):
    """Jobs that come after some time play no part in what ended before; estimates are drawn row by row."""
    needs("--estimate" not in case.setup.options)
    needs(not any(row.get("after") for row in case.setup.rows))
    submits = sorted(ns(row["submit_s"]) for row in case.setup.rows)
    limit = submits[len(submits) * 2 // 3]
    new = case.setup.copy()
    new.rows = [row for row in new.rows if ns(row["submit_s"]) < limit]
    needs(new.rows)
    return before(case.run(new), limit), before(case.base, limit)


def until(case):
    ends = sorted(row["end_s"] for row in case.base.values() if row["end_s"] is not None)
    needs("--until" not in case.setup.options and ends)
    limit = ends[len(ends) // 2] + 1
    new = case.setup.copy()
    new.options += ["--until", f"{limit}ns"]
    return before(case.run(new), limit), before(case.base, limit)


# --- repetition ------------------------------------------------------------------------------------
def twice(case):
    # paging does not forget which context a GPU had last
    needs(not any(word.startswith("memory=") for word in case.setup.options))
    needs(not {"--until", "--mtbf"} & set(case.setup.options) and "deadline_s" not in case.setup.trace()[0])
    by = (last_end(case.base) // 10**9 // 604800 + 2) * 604800 * 10**9
    new = case.setup.copy()
    for row in case.setup.rows:
        new.rows.append({**row, "job_id": "again" + row["job_id"], "submit_s": seconds(ns(row["submit_s"]) + by),
                         **({"after": "again" + row["after"]} if row.get("after") else {})})
    return case.run(new), {**case.base, **{"again" + job: row for job, row in moved(case.base, by).items()}}


# --- spellings -------------------------------------------------------------------------------------
def zeros(case):
    new = case.setup.copy()
    for row in new.rows:
        for name in ("submit_s", "duration_s", "gpu_ms", "mem_gib"):
            if row.get(name):
                row[name] = "0" + row[name] + ("000" if "." in row[name] else ".000")
    return case.run(new), case.base


def columns_at_random(case):
    table = case.setup.trace()
    order = list(range(len(table[0])))
    case.rng.shuffle(order)
    case.runner.write(case.setup, [[row[i] for i in order] for row in table])
    return case.runner.jobs(case.runner.words(case.setup)), case.base


def quoted(case):
    """A file with a mark of its encoding, quotes and the ends of lines of another system."""
    text = "".join(",".join('"%s"' % str(cell).replace('"', '""') for cell in row) + "\r\n" for row in case.setup.trace())
    case.runner.write(case.setup)
    with open(os.path.join(case.runner.folder, "trace.csv"), "w", newline="", encoding="utf-8-sig") as to:
        to.write(text)
    return case.runner.jobs(case.runner.words(case.setup)), case.base


def packed(case):
    case.runner.write(case.setup)
    path = os.path.join(case.runner.folder, "trace.csv")
    with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as to:
        to.write(file.read())
    return case.runner.jobs(case.runner.words(case.setup, "trace.csv.gz")), case.base


def rows_reversed(case):
    submits = [ns(row["submit_s"]) for row in case.setup.rows]
    needs(len(set(submits)) == len(submits) and not any(row.get("after") for row in case.setup.rows))
    new = case.setup.copy()
    new.rows.reverse()
    return case.run(new), case.base


# --- defaults --------------------------------------------------------------------------------------
def settings_given(case):
    given = {word.split("=")[0].split(".")[-1] for word in case.setup.options}
    new = case.setup.copy()
    for name, value, _ in case.lists.settings[case.setup.policy]:
        if value and name not in given and name not in ("slice", "conf"):
            new.options += ["--set", f"{case.setup.policy}.{name}={value}"]
    needs(len(new.options) > len(case.setup.options))
    return case.run(new), case.base


def constant(column, value):
    """A column that says the same of all jobs is as none."""
    def relation(case):
        needs(not values(case.setup, column) and (column != "model" or "placement=skew" not in case.setup.options))
        return case.run(case.setup.column(column, lambda row: value)), case.base
    return relation


def all_equal(column, one, other):
    """Whatever all jobs have in common, it is the same for all."""
    def relation(case):
        return (case.run(case.setup.column(column, lambda row: one)),
                case.run(case.setup.column(column, lambda row: other)))
    return relation


def option(*words):
    def relation(case):
        needs(words[0] == "--set" or words[0] not in case.setup.options)
        new = case.setup.copy()
        new.options += words
        return case.run(new), case.base
    return relation


def by_assumption(case):
    needs(not values(case.setup, "priority"))
    new = case.setup.copy()
    new.options += ["--assume", "priority=3"]
    return case.run(new), case.run(case.setup.column("priority", lambda row: "3"))


def estimate_is_true(case):
    needs("--estimate" not in case.setup.options)
    needs(all(row.get("duration_s") for row in case.setup.rows) and not values(case.setup, "estimate_s"))
    return case.run(case.setup.column("estimate_s", lambda row: row["duration_s"])), case.base


def limit_is_duration(case):
    """Where a trace has no limits the durations stand in for them, for policies that look at limits."""
    needs("--estimate" not in case.setup.options)
    needs(all(row.get("duration_s") for row in case.setup.rows) and not values(case.setup, "limit_s"))
    return case.run(case.setup.column("limit_s", lambda row: row["duration_s"])), case.base


# --- the cluster -----------------------------------------------------------------------------------
def sections(case):
    """A section of two nodes, or two of one node below one switch and without a bound on it."""
    needs(len(case.setup.nodes) == 1 and case.setup.nodes[0][1].get("count", 1) == 2)
    keys = case.setup.nodes[0][1]
    new = case.setup.copy()
    new.nodes = [("a", {**keys, "count": 1}), ("b", {**keys, "count": 1})]
    one = case.setup.copy()
    one.nodes = [("n", {**keys, "switch_nodes": 1})]
    return case.run(new), case.run(one)


def sections_swapped(case):
    needs(len(case.setup.nodes) == 1 and case.setup.nodes[0][1].get("count", 1) == 2)
    keys = case.setup.nodes[0][1]
    one, other = case.setup.copy(), case.setup.copy()
    one.nodes = [("a", {**keys, "count": 1}), ("b", {**keys, "count": 1})]
    other.nodes = [("b", {**keys, "count": 1}), ("a", {**keys, "count": 1})]
    return case.run(other), case.run(one)


def nodes_as_options(case):
    needs(len(case.setup.nodes) == 1 and set(case.setup.nodes[0][1]) == {"count", "gpus", "device"})
    keys = case.setup.nodes[0][1]
    new = case.setup.copy()
    new.nodes = []
    new.options += ["--nodes", str(keys["count"]), "--gpus-per-node", str(keys["gpus"]), "--device", keys["device"]]
    return case.run(new), case.base


DAYS = 98  # whole weeks, which all intervals that policies have divide


def down_node(case):
    """A node that failed before the first job came, and stays down, is as none. Alike nodes: any may be the one."""
    needs(len(case.setup.nodes) == 1 and case.setup.nodes[0][1].get("count", 1) == 2 and not case.setup.options)
    needs("deadline_s" not in case.setup.trace()[0])
    later = case.setup.column("submit_s", lambda row: seconds(ns(row["submit_s"]) + DAYS * 86400 * 10**9))
    more = later.copy()
    more.nodes[0][1]["count"] = 3
    for seed in range(20):  # about four of ten seeds have one node fail in that time
        new = more.copy()
        new.options += ["--mtbf", "250d", "--mttr", "10000d", "--seed", str(seed), "--format", "json"]
        got, said = case.run(new), json.loads(case.runner.said)
        if said["node_failures"] == 1:
            return got, case.run(later)
    raise Skip


def unused_partition(case):
    """Nodes of a partition that no job may use change nothing."""
    needs("placement=random" not in case.setup.options)  # it draws one of all GPUs
    needs(not values(case.setup, "partition") and not any("partitions" in keys for _, keys in case.setup.nodes))
    new = case.setup.column("partition", lambda row: "main")
    for _, keys in new.nodes:
        keys["partitions"] = "main"
    more = new.copy()
    more.nodes.append(("side", {"count": 1, "gpus": 4, "device": new.nodes[0][1]["device"], "partitions": "side"}))
    return case.run(more), case.run(new)


def halves(case):
    """Two clusters in one run, by partitions, are two runs."""
    needs(len(case.setup.nodes) == 1 and "partitions" not in case.setup.nodes[0][1] and not case.setup.options)
    needs(not any(row.get("after") for row in case.setup.rows) and not values(case.setup, "partition"))
    keys, both, due = case.setup.nodes[0][1], case.setup.copy(), {}
    both.nodes = [(name, {**keys, "partitions": name}) for name in "pq"]
    for number, row in enumerate(both.rows):
        row["partition"] = "pq"[number % 2]
    for name in "pq":
        one = case.setup.copy()
        one.nodes = [(name, {**keys, "partitions": name})]
        one.rows = [row for row in both.rows if row["partition"] == name]
        due.update(case.run(one))
    return case.run(both), due


def split_sets(case):
    """The options without the settings of the policy, and these, by name."""
    names = {name for name, _, _ in case.lists.settings[case.setup.policy]}
    rest, own, words = [], {}, iter(case.setup.options)
    for word in words:
        key, _, value = (next(words) if word == "--set" else "").partition("=")
        if key in names or key.startswith(case.setup.policy + "."):
            own[key.split(".")[-1]] = value
        else:
            rest += [word] if word != "--set" else ["--set", f"{key}={value}"]
    return rest, own


def drawn_sets(case, policy):
    drawn = {name: random_runs.setting(case.rng, value, allowed) for name, value, allowed in case.lists.settings[policy]
             if random_runs.some(case.rng, 0.2)}
    return {name: value for name, value in drawn.items() if value is not None and value != "random"}


def as_words(policy, sets):
    return [word for name, value in sets.items() for word in ("--set", f"{policy}.{name}={value}")]


# Files of a site are for a whole run, a GPU is cut at no cost at the first arrival of a run, and lots are of one stream.
NOT_BESIDE = ("slurm", "kueue", "mig", "pollux", "themis")
OF_ALL = {"--mtbf", "--estimate", "--shake", "--replication", "--load", "--slice-budget"}  # of all jobs or nodes at once


def jobs_beside(case, node):
    """Some of the jobs, once more, on no more GPUs than such nodes have."""
    most, rows = node["count"] * int(node["gpus"]), []
    for row in case.setup.rows:
        if random_runs.some(case.rng, 0.6) and not row.get("after"):
            gpus = row.get("gpus", "1")
            rows.append({**row, "job_id": "o" + row["job_id"], "gpus": gpus if Decimal(gpus) <= most else str(most)})
    return rows


def beside(is_part):
    """Nodes and their jobs beside nodes with another policy and theirs are as each alone. is_part: the setup's own
    policy is the one of the cluster file; else the other one is."""
    def relation(case):
        setup = case.setup
        needs(not OF_ALL & set(setup.options) and not values(setup, "partition") and setup.policy not in NOT_BESIDE)
        needs(not any({"policy", "partitions", "classes"} & set(keys) for _, keys in setup.nodes))
        needs("placement=random" not in setup.options and not set(values(setup, "arrival")) - {"periodic"})
        needs(len({keys["device"] for _, keys in setup.nodes}) == 1)  # durations are those of the first
        other = case.rng.choice([name for name in case.lists.policies if name not in NOT_BESIDE])
        (rest, own_sets), other_sets = split_sets(case), drawn_sets(case, other)
        node = {"count": 1, **case.rng.choice(setup.nodes)[1]}
        own_rows, other_rows = [dict(row) for row in setup.rows], jobs_beside(case, node)
        needs(other_rows)
        alone = Setup(other, other_rows, [("beside", node)], rest + as_words(other, other_sets), setup.files)
        due = {**case.base, **case.run(alone)}
        of_run, of_part = (other, other_sets), (setup.policy, own_sets)
        of_run, of_part = (of_run, of_part) if is_part else (of_part, of_run)
        both = Setup(of_run[0], [], [*setup.copy().nodes, ("beside", dict(node))], rest + as_words(*of_run), setup.files)
        settings = {f"{of_part[0]}.{name}": value for name, value in of_part[1].items()}
        both.partitions = [("part", {"policy": of_part[0], **settings})]
        for name, keys in both.nodes:
            if (name == "beside") != is_part:
                keys["partitions"] = "part"
        for row in own_rows if is_part else other_rows:
            row["partition"] = "part"
        while own_rows or other_rows:
            is_own = own_rows and (not other_rows or random_runs.some(case.rng, 0.5))
            both.rows.append((own_rows if is_own else other_rows).pop(0))
        return case.run(both), due
    return relation


def wider(case):
    """Nodes and gangs with twice as many GPUs each are as before, where they share no link."""
    needs(all(keys.get("device") == "ideal" for _, keys in case.setup.nodes))
    needs(not case.setup.options and all(Decimal(row.get("gpus") or 1) >= 1 for row in case.setup.rows))
    needs(case.setup.policy not in TURNS)
    new = case.setup.column("gpus", lambda row: str(2 * int(row.get("gpus") or 1)))
    for _, keys in new.nodes:
        keys["gpus"] *= 2
    return ends(case.run(new)), ends(case.base)


def farther_priorities(case):
    """Priorities say an order, and above 0 or not, and no distances."""
    needs(values(case.setup, "priority"))
    return case.run(case.setup.column("priority", lambda row: str(7 * int(row["priority"]))
                                      if row.get("priority") else None)), case.base


def less_memory(case):
    """Where memory is no limit and moves at no cost, half of it is as all of it."""
    needs(all(keys.get("device") == "ideal" for _, keys in case.setup.nodes) and not case.setup.options)
    needs(values(case.setup, "mem_gib"))
    got, due = case.run(case.setup.column("mem_gib", lambda row: str(Decimal(row["mem_gib"]) / 2))), case.base
    return ends(got), ends(due)


def cpus_for_all(case):
    needs(not values(case.setup, "cpus") and not any("cpus" in keys for _, keys in case.setup.nodes))
    new = case.setup.column("cpus", lambda row: "1")
    for _, keys in new.nodes:
        keys["cpus"] = 1000
    return case.run(new), case.base


def speeds_by_table(case):
    """Jobs with a model and iterations at the table's speed are as jobs with durations."""
    needs(all(row.get("duration_s") for row in case.setup.rows) and not case.setup.options)
    needs(all(Decimal(row.get("gpus") or 1) >= 1 for row in case.setup.rows) and not values(case.setup, "model"))
    whole = case.setup.column("duration_s", lambda row: "%.3f" % (ns(row["duration_s"]) // 10**6 / 1000))
    whole = whole.column("model", lambda row: "m")
    whole = whole.column("iterations", lambda row: str(ns(row["duration_s"]) // 10**6))
    new = whole.column("duration_s", lambda row: None)
    widths = sorted({int(row.get("gpus") or 1) for row in new.rows})
    new.files["rates.csv"] = "device,model,gpus,iterations_per_s\n" + "".join(
        f"{keys['device']},m,{gpus},1000\n" for _, keys in new.nodes for gpus in widths)
    new.options += ["--rates", "rates.csv"]
    return ends(case.run(new)), ends(case.run(whole))


def none_waits_beside_idle(case):
    """No job of one GPU waits while one is idle."""
    new = whole_gpus(case, "1", 2, 4)
    new.options += ["--format", "json"]
    case.run(new)
    said = json.loads(case.runner.said)
    return {"all": {"idle_wanted": said["idle_wanted"]}}, {"all": {"idle_wanted": 0}}


def alone(case):
    """A job that is alone in a run ends as under exclusive."""
    needs(not any(row.get("after") for row in case.setup.rows) and not case.setup.options)
    row = case.rng.choice(case.setup.rows)
    needs(not row.get("requests") and Decimal(row.get("gpus") or 1) >= 1)
    new = case.setup.copy()
    new.rows = [row]
    plain = new.copy()
    plain.policy, plain.options = "exclusive", []
    pick = lambda rows: {job: {"end_s": row["end_s"]} for job, row in rows.items()}
    return pick(case.run(new)), pick(case.run(plain))


# --- laws of one queue ------------------------------------------------------------------------------
def whole_gpus(case, gpus, nodes, per_node, device="ideal", kept=()):
    """The jobs with durations, each on `gpus` GPUs (None: on as many as it asks for) of other nodes."""
    needs(not case.setup.options and all(row.get("duration_s") for row in case.setup.rows))
    needs(all(Decimal(row.get("gpus") or 1) >= 1 for row in case.setup.rows))
    new = case.setup.copy()
    new.nodes = [("n", {"count": nodes, "gpus": per_node, "device": device})]
    for row in new.rows:
        row["gpus"] = gpus or row["gpus"]
        for name in ("mem_gib", "sm_fraction", "hbm_gbps", "class", "priority"):
            if name not in kept:
                row.pop(name, None)
    return new


def ends(rows):
    return {job: {"end_s": row["end_s"]} for job, row in rows.items()}


def lengths(setup):
    return {row["job_id"]: (ns(row["submit_s"]), ns(row["duration_s"])) for row in setup.rows}


def room_for_all(case):
    """No job waits where there is a node for each: it ends when its duration is over."""
    new = whole_gpus(case, None, len(case.setup.rows), 8)
    return ends(case.run(new)), {job: {"end_s": at + length} for job, (at, length) in lengths(new).items()}


ROUNDED_NS = 10**6  # rates of jobs that share a GPU are rounded: 0.1 ms in 600 s at most


def never_idle(*kept):
    return lambda case: busy_until(whole_gpus(case, "1", 1, 1, kept=kept), case)


def busy_until(new, case):
    """One GPU with jobs is never idle, whichever has it: when it runs out of jobs is known. None ends too soon."""
    idle_ns, due = 0, []
    for at, length in sorted(lengths(new).values()):
        if at > idle_ns or not due:
            due.append(0)
        idle_ns = due[-1] = max(at, idle_ns) + length
    rows, least = case.run(new), {job: at + length for job, (at, length) in lengths(new).items()}
    near = [min((row["end_s"] for row in rows.values()), key=lambda end: abs(end - one)) for one in due]
    got = {n: one if abs(end - one) < ROUNDED_NS else end for n, (end, one) in enumerate(zip(near, due))}
    soon = [job for job, row in rows.items() if row["end_s"] < least[job]]
    return {"busy until": got, "too soon": {"jobs": soon}}, {"busy until": dict(enumerate(due)), "too soon": {"jobs": []}}


def least_mean(setup):
    """The least sum of ends on one GPU at no cost: whatever is left of the shortest job goes first."""
    left, total, now = [], 0, 0
    coming = sorted(lengths(setup).values())
    while coming or left:
        now = now if left else max(now, coming[0][0])
        while coming and coming[0][0] <= now:
            left.append(coming.pop(0)[1])
        left.sort()
        until = min(now + left[0], coming[0][0]) if coming else now + left[0]
        left[0] -= until - now
        now = until
        if left[0] == 0:
            total += now
            left.pop(0)
    return total


def no_better_than_srtf(case):
    """On one GPU no mean JCT is below that of the shortest remaining time first, which reaches it."""
    new = whole_gpus(case, "1", 1, 1)
    least = least_mean(new)
    got = sum(row["end_s"] for row in case.run(new).values())
    return {"all": {"ends": least if got > least and new.policy != "srtf" else got}}, {"all": {"ends": least}}


def one_more_gpu(case):
    """In a line of jobs of one GPU each, one more GPU delays none."""
    needs(case.setup.policy in ("exclusive", "fifo"))
    few, more = case.run(whole_gpus(case, "1", 1, 4)), case.run(whole_gpus(case, "1", 1, 5))
    return {job: {"end_s": max(row["end_s"], few[job]["end_s"])} for job, row in more.items()}, ends(few)


NEVER = "10000d"
# Settings of a policy that leave it no choice of its own, and the policy that it then is. Of kueue and
# easy-backfill that is so for jobs of one GPU, of the oracles for jobs that are equally long.
SIMPLER = {
    "las": ("backfill", [f"las.quantum={NEVER}"]),
    "tiresias": ("backfill", ["tiresias.queues=1000000000", "tiresias.placement=consolidate"]),
    "suspend": ("backfill", [f"suspend.quantum={NEVER}"]),
    "fairshare": ("backfill", ["fairshare.backfill=skip"]),
    "antman": ("backfill", ["antman.queue=backfill", f"antman.patience={NEVER}"]),
    "tgs": ("backfill", ["tgs.queue=backfill"]),
    "exclusive": ("fifo", []), "kueue": ("fifo", []), "easy-backfill": ("fifo", []), "backfill": ("fifo", []),
    "sjf": ("backfill", []), "srtf": ("backfill", []), "srsf": ("fifo", []),
}
OF_ONE_GPU = ("kueue", "easy-backfill", "backfill", "srsf")
EQUALLY_LONG = ("sjf", "srtf", "srsf")


def simpler(case):
    """A policy without a choice of its own is a simpler one."""
    needs(case.setup.policy in SIMPLER)
    policy, settings = SIMPLER[case.setup.policy]
    new = whole_gpus(case, "1" if case.setup.policy in OF_ONE_GPU else None, 2, 4)
    for row in new.rows:
        row["user"] = row["vc"] = "ann"
        row["duration_s"] = "17.511666125" if case.setup.policy in EQUALLY_LONG else row["duration_s"]
    plain = new.copy()
    plain.policy = policy
    new.options += [word for setting in settings for word in ("--set", setting)]
    return ends(case.run(new)), ends(case.run(plain))


def gangs_of_all(case):
    """Gangs of all GPUs are to a cluster as jobs of one GPU are to one; gangs do not share GPUs."""
    needs(case.setup.policy not in TURNS)
    return ends(case.run(whole_gpus(case, "8", 2, 4))), ends(case.run(whole_gpus(case, "1", 1, 1)))


def twice_as_fast(case):
    """GPUs twice as fast as those of the trace halve durations."""
    new = whole_gpus(case, None, 2, 4)
    slow = new.column("duration_s", lambda row: seconds(2 * ns(row["duration_s"])))
    slow.options += ["--set", "speed.ideal=2"]
    return ends(case.run(slow)), ends(case.run(new))


def lawful(case):
    """What a run writes holds the laws of gsim check."""
    new = case.setup.copy()
    new.options += ["--db", "run.db"]
    path = os.path.join(case.runner.folder, "run.db")
    if os.path.exists(path):
        os.remove(path)
    got = case.run(new)
    said = case.runner.call([case.runner.gsim, "check", "run.db"])
    return {**got, "gsim check": {"says": said.stderr.strip()}}, {**case.base, "gsim check": {"says": ""}}


def piped(case):
    case.runner.write(case.setup)
    with open(os.path.join(case.runner.folder, "trace.csv"), "rb") as file:
        return case.runner.jobs(case.runner.words(case.setup, "-"), file), case.base


# Relations of the reader and of what all policies have in common: one policy is enough.
READER = [
    ("zeros before and after numbers", zeros),
    ("columns in another order", columns_at_random),
    ("a file of another system", quoted),
    ("a packed file", packed),
    ("a pipe", piped),
    ("options in place of a cluster file", nodes_as_options),
    ("an assumption in place of a column", by_assumption),
    ("weight 1 for all", constant("weight", "1")),
    ("weights, all equal", all_equal("weight", "2", "5")),
    ("warm-up", option("--warmup", "10%")),
    ("a time scale of 1", option("--time-scale", "1")),
    ("a speed of 1", option("--set", "speed.ideal=1")),
    ("new names of nodes", names_of_nodes),
    ("summaries kept, without jobs", written.kept(needs)),
    ("samples and a timeline", option("--samples", "7", "--timeline", "t.json")),
]
RELATIONS = [
    ("the laws of gsim check", lawful),
    ("new names of jobs, in their old order", names_of_jobs_in_order),
    ("new names of jobs, at random", names_of_jobs_at_random),
    ("new names of users", names_at_random("user")),
    ("new names of virtual clusters", names_at_random("vc")),
    ("all is later by a week", shift(604800)),
    ("all is later by 1000 s", shift(1000)),
    ("all begins at 0", shift(None)),
    ("all takes twice as long", scale),
    ("a job after all others", later_job),
    ("without the jobs that come later", cut),
    ("the clock stops", until),
    ("what is written until the clock stops", written.stopped(needs)),
    ("a window of the timeline", written.window(needs)),
    ("all happens twice", twice),
    ("rows in reverse", rows_reversed),
    ("settings given as they are", settings_given),
    ("priority 0 for all", constant("priority", "0")),
    ("class batch for all", constant("class", "batch")),
    ("one model for all", constant("model", "resnet50")),
    ("priorities, all equal", all_equal("priority", "3", "7")),
    ("one user or another", all_equal("user", "ann", "zoe")),
    ("one user or none", all_equal("user", "ann", None)),
    ("one virtual cluster or none", all_equal("vc", "ann", None)),
    ("a partition of no node", constant("partition", "p")),
    ("deadlines far away", constant("deadline_s", "1000000000")),
    ("another seed", option("--seed", "77")),
    ("without a slice budget", option("--exact")),
    ("no failure within the run", option("--mtbf", "10000d")),
    ("estimates that are true", estimate_is_true),
    ("limits that are durations", limit_is_duration),
    ("sections of one node", sections),
    ("sections swapped", sections_swapped),
    ("a node that is down all the time", down_node),
    ("nodes of a partition that no job may use", unused_partition),
    ("two clusters in one run", halves),
    ("beside nodes with another policy", beside(False)),
    ("nodes with a policy, beside others", beside(True)),
    ("twice the GPUs in nodes and gangs", wider),
    ("priorities, farther apart", farther_priorities),
    ("less memory where it costs nothing", less_memory),
    ("CPUs for all", cpus_for_all),
    ("speeds by a table", speeds_by_table),
    ("none waits beside an idle GPU", none_waits_beside_idle),
    ("a job alone", alone),
    ("a node for each job", room_for_all),
    ("one GPU is never idle", never_idle()),
    ("one GPU is never idle, whatever is urgent", never_idle("class", "priority")),
    ("no mean JCT below srtf's", no_better_than_srtf),
    ("one more GPU", one_more_gpu),
    ("gangs of all GPUs", gangs_of_all),
    ("a policy without its own choice", simpler),
    ("GPUs twice as fast", twice_as_fast),
]

# Where a relation does not hold, and why.
TICKS = {name: "it looks at its jobs at whole intervals from time 0" for name in ("adaptdl", "pollux", "sia", "slurm")}
ROUNDS = {name: "it gives GPUs in rounds, or looks at its jobs at whole intervals" for name in (
    "adaptdl", "gavel", "pollux", "shockwave", "sia", "synergy")}
LOTS = {name: "it draws lots" for name in ("pollux", "themis")}
TURNS = {name: "jobs take turns on a GPU: as long as the device says, and which context a GPU had last counts" for name in (
    "antman", "chimera", "gpreempt", "green", "lithos", "mig", "mps", "msched", "nvshare", "orion", "reef", "salus", "tally",
    "tgs", "timeslice", "uvm", "vgpu", "xsched")}
QUOTA = {"kueue": "its quota has all GPUs of the cluster"}
WIDTHS = {**dict.fromkeys(("tiresias", "adaptdl"), "its queues have bounds of GPU time"), "pollux": "it chooses the GPUs of a job",
          "elasticflow": "jobs get more GPUs than they ask for",
          "shockwave": "what a plan gains goes with the GPUs of a job",
          "themis": "what a lease is worth goes with the GPUs of a job"}
IDLE = {**ROUNDS, "elasticflow": "a job that has begun anew is put off until the next event",
        "green": "a job has a part of the SMs"}
EXCEPT = {
    "all is later by 1000 s": {**TICKS},
    "all begins at 0": {**TICKS},
    "all takes twice as long": {**TURNS, "slurm": "its passes come at intervals of slurm.conf",
                                "pollux": "speeds are rounded to 2^-32",
                                **dict.fromkeys(("elasticflow", "themis"), "times are rounded to whole ns")},
    "all happens twice": {**TURNS, **LOTS, "fairshare": "usage is remembered", "slurm": "usage is remembered",
                          "lucid": "it learns from jobs of the past"},
    "another seed": LOTS,
    "one model for all": {"tiresias": "models say where gangs are placed"},
    "one user or none": {"fairshare": "without users accounts are virtual clusters"},
    "a job alone": {**TICKS, "lucid": "a job that is profiled for too short begins anew",
                    "elasticflow": "jobs get more GPUs than they ask for", "green": "a job has a part of the SMs",
                    "mig": "a job has an instance", "msched": "memory comes as it is touched",
                    "nvshare": "memory comes as it is touched", "uvm": "memory comes as it is touched"},
    "a node for each job": {**ROUNDS, "elasticflow": "jobs get more GPUs than they ask for",
                            "green": "a job has a part of the SMs", "lucid": "jobs are profiled on a few nodes first"},
    "a node that is down all the time": {**LOTS, **QUOTA, "lucid": "its last node profiles, and is waited for"},
    "nodes of a partition that no job may use": QUOTA,
    "two clusters in one run": {"exclusive": "its line is one", "fifo": "its line is one",
                                "easy-backfill": "one job has a reservation", "fairshare": "one job has a reservation",
                                "slurm": "without a slurm.conf all nodes are one of its partitions",
                                "kueue": "without objects of Kueue there is one ClusterQueue",
                                **dict.fromkeys(("suspend", "adaptive"), "it looks at jobs at events, of both clusters")},
    "twice the GPUs in nodes and gangs": WIDTHS,
    "speeds by a table": {"themis": "a lease of fewer GPUs has the table's speed",
                          "elasticflow": "jobs get more GPUs than they ask for"},
    "one GPU is never idle": IDLE,
    "one GPU is never idle, whatever is urgent": {**IDLE, "lithos": "an atom stays on the SMs that its job owns"},
    "none waits beside an idle GPU": {**ROUNDS, "lucid": "jobs are profiled on a few nodes first",
                                      "elasticflow": "a job that has begun anew is put off until the next event",
                                      "gang-rr": "a gang keeps its GPUs of the matrix"},
    "gangs of all GPUs": {"las": "jobs share a single GPU", **WIDTHS},
    "GPUs twice as fast": {"salus": "what a lane costs is time", "msched": "what its driver does takes time"},
}
