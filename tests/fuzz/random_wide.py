# SPDX-License-Identifier: GPL-3.0-or-later
"""What random_runs.py adds to a case: programs, tables of speeds and of goodput, chains, requests, estimates,
nodes with policies of their own, queues of Kueue and sites of Slurm.

Each kind has its own chance, and draws from a generator of its own, so that a case without any of them is the
one that its seed drew before there were any.
"""
import math
import random

GOODPUT = "row,application,placement,nodes,gpus,batch,step_s,sync_s,epoch,progress,grad_sqr,grad_var,iterations," \
          "max_batch,min_local,max_local,most_gpus"


def some(rng, chance):
    return rng.random() < chance


def column(case, name, draw):
    """Fills a column for all jobs, in place of one that is there."""
    head, rows = case.rows[0], case.rows[1:]
    if name not in head:
        head.append(name)
        for row in rows:
            row.append("")
    at = head.index(name)
    for i, row in enumerate(rows):
        row[at] = draw(i, dict(zip(head, row)))


def devices_of(case):
    names = [line[7:] for line in case.files["cluster.ini"].splitlines() if line.startswith("device=")]
    return list(dict.fromkeys(names))


def widest(case):
    at = case.rows[0].index("gpus")
    return max([1] + [int(row[at]) for row in case.rows[1:] if float(row[at]) >= 1])


def programs(case, rng, lists):
    """Some jobs repeat an application's program; their work is a number of iterations."""
    measured = [app for app in lists.apps if app.startswith("h200-")]  # whose kernels have the times of that device alone
    others = [app for app in lists.apps if app not in measured]
    if some(rng, 0.7):
        for name in devices_of(case):
            case.files["cluster.ini"] = case.files["cluster.ini"].replace(f"device={name}\n", "device=h200\n")
    apps = rng.sample(measured if devices_of(case) == ["h200"] else others, 3)
    named = {i for i in range(len(case.rows) - 1) if some(rng, 0.6)}
    column(case, "app", lambda i, row: rng.choice(apps) if i in named else "")
    column(case, "iterations", lambda i, row: rng.randint(1, 30) if i in named else row["iterations"])
    for name in ("duration_s", "gpu_ms", "host_gap_ms", "kernel_ms", "mem_gib", "persistent_gib", "working_set_gib",
                 "sm_fraction", "hbm_gbps", "hbm_loaded", "blocks", "host_ms", "sync"):
        if name in case.rows[0]:
            column(case, name, lambda i, row, name=name: "" if i in named else row[name])


def chains(case, rng, lists):
    column(case, "after", lambda i, row: f"j{rng.randrange(i)}" if i and some(rng, 0.4) else "")
    if some(rng, 0.5):
        column(case, "think_s", lambda i, row: "%.3f" % (case.scale * rng.random()) if row["after"] else "")


def requests(case, rng, lists):
    if not case.has_iterations:
        return
    column(case, "requests", lambda i, row: rng.choice(["", 1, 10, 200]))
    column(case, "period_ms", lambda i, row: rng.choice([1, 30, 500]) if row["requests"] else "")
    column(case, "arrival", lambda i, row: rng.choice(["periodic", "poisson", "uniform:0.5:2", ""]) if row["requests"] else "")
    column(case, "iterations", lambda i, row: "" if row["requests"] else row["iterations"])


def stages(case, rng, lists):
    def stage(share):
        return lambda i, row: "%.3f" % (share * rng.choice([1, 10, 100]) * rng.random())
    column(case, "iteration_ms", lambda i, row: rng.choice([50, 100, 400]))
    for name, share in (("stage_host_ms", 0.3), ("stage_gpu_ms", 0.4), ("stage_net_ms", 0.2)):
        column(case, name, stage(share))


def speeds(case, rng, lists):
    """A table of speeds for some of the devices, the widths and the models of the trace."""
    models, top = ["m0", "m1", "m2"][: rng.randint(1, 3)], widest(case)
    beside, hosts = some(rng, 0.4), some(rng, 0.2)
    rows = ["device,model,gpus,iterations_per_s" + (",beside" if beside else "")
            + (",cpus_per_gpu,host_gib_per_gpu" if hosts else "")]
    for device in devices_of(case):
        for model in models:
            base = rng.uniform(0.5, 20) / case.scale
            for gpus in dict.fromkeys([1, 2, top]):
                rate = base * gpus ** rng.uniform(0.5, 1)
                parts = [(1, 10), (4, 40)] if hosts else [None]
                for part in parts:
                    tail = "" if part is None else ",%d,%d" % part
                    factor = 1 if part is None else 0.5 + part[0] / 8
                    rows.append("%s,%s,%d,%.6f%s%s" % (device, model, gpus, rate * factor, "," if beside else "", tail))
            if beside and not hosts:
                for other in models:
                    rows.append("%s,%s,1,%.6f,%s" % (device, model, base * rng.uniform(0.3, 1), other))
    case.files["rates.csv"] = "\n".join(rows) + "\n"
    case.extra += ["--rates", "rates.csv"]
    named = {i for i in range(len(case.rows) - 1) if some(rng, 0.8)}
    column(case, "model", lambda i, row: rng.choice(models) if i in named else "other")
    column(case, "iterations", lambda i, row: rng.randint(1, 200) if i in named else row["iterations"])
    column(case, "duration_s", lambda i, row: "" if i in named else row["duration_s"])
    column(case, "gpu_ms", lambda i, row: "" if i in named else row["gpu_ms"])
    column(case, "gpus", lambda i, row: 1 if i in named and float(row["gpus"]) < 1 else row["gpus"])
    if some(rng, 0.3):
        column(case, "rescale_s", lambda i, row: rng.choice(["", "0", "%.3f" % (case.scale / 10)]))
    if some(rng, 0.3):
        column(case, "phases", lambda i, row: "%s %s;%d %s" % (rng.randint(1, 50), rng.choice(models), rng.randint(1, 50),
                                                              rng.choice(models)) if i in named and some(rng, 0.5) else "")
        column(case, "iterations", lambda i, row: "" if row["phases"] else row["iterations"])
        column(case, "model", lambda i, row: "" if row["phases"] else row["model"])


def goodput(case, rng, lists):
    """Applications that learn, measured on nodes with one and two GPUs."""
    rows, names = [GOODPUT], ["learner", "other"][: rng.randint(1, 2)]
    for name in names:
        step = case.scale * rng.uniform(0.001, 0.1)
        rows.append(f"limits,{name},,,,,,,,,,,,{rng.choice([32, 128])},4,16,{rng.choice(['', 4])}")
        for placement, factor in (("1", 1), ("2", 1.3), ("11", 1.6), ("4", 1.5), ("22", 2)):
            for batch in (4, 8, 16):
                rows.append("step,%s,%s,,,%d,%.6f,%.6f,,,,,,,,," % (name, placement, batch, step * factor * batch / 8,
                                                                    step * (factor - 1) * 0.5))
        for batch in (8, 32, 128):
            progress = 0
            for epoch in range(rng.randint(1, 4) if batch == 8 else epochs):
                progress += 100
                rows.append("epoch,%s,,,,%d,,,%d,%d,%.3f,%.3f,%d,,,," % (name, batch, epoch, progress, rng.uniform(0.1, 1),
                                                                        rng.uniform(0.1, 5), progress * 8 // batch + 1))
            epochs = progress // 100
    case.files["goodput.csv"] = "\n".join(rows) + "\n"
    case.extra += ["--goodput", "goodput.csv"]
    named = {i for i in range(len(case.rows) - 1) if some(rng, 0.8)}
    column(case, "model", lambda i, row: rng.choice(names) if i in named else "none")
    column(case, "batch", lambda i, row: rng.choice(["", 8, 16]) if i in named else "")
    for name in ("duration_s", "iterations", "gpu_ms"):
        column(case, name, lambda i, row, name=name: "" if i in named else row[name])
    column(case, "gpus", lambda i, row: max(1, min(4, int(float(row["gpus"])))) if i in named else row["gpus"])


def parts(case, rng, lists):
    """The last kind of nodes has a policy of its own, for the jobs of its partition."""
    policy = rng.choice(lists.policies)
    lines = case.files["cluster.ini"].splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("[node")]
    if len(heads) < 2:
        return
    own = [f"policy={policy}", "partitions=side"]
    if some(rng, 0.3):
        own.append("classes=" + rng.choice(["realtime", "batch,opportunistic"]))
    lines[heads[-1] + 1:heads[-1] + 1] = own
    case.files["cluster.ini"] = "\n".join(lines) + "\n"
    column(case, "partition", lambda i, row: "side" if some(rng, 0.4) and float(row["gpus"]) <= 1 else "")


def partitions(case, rng, lists):
    lines = []
    for line in case.files["cluster.ini"].splitlines():
        lines.append(line)
        if line.startswith("[node"):
            lines.append("partitions=" + rng.choice(["all", "all,few"]))
    case.files["cluster.ini"] = "\n".join(lines) + "\n"
    column(case, "partition", lambda i, row: rng.choice(["", "all", "few", "few,all"]) if float(row["gpus"]) <= 1 else "")


def estimates(case, rng, lists):
    case.extra += ["--estimate", rng.choice(["duration x lognormal(0, 0.5)", "duration x uniform(0.2, 3)"])]


def kueue(case, rng, lists):
    queues = ["qa", "qb", "qc"][: rng.randint(1, 3)]
    text = []
    for name in queues:
        lines = ["---", "kind: ClusterQueue", "metadata:", f"  name: {name}", "spec:",
                 "  cohort: " + rng.choice(["lab", '""']),
                 "  queueingStrategy: " + rng.choice(["StrictFIFO", "BestEffortFIFO"]),
                 "  preemption:", "    withinClusterQueue: " + rng.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]),
                 "    reclaimWithinCohort: " + rng.choice(["Never", "Any", "LowerPriority"]),
                 "  resourceGroups:", '  - coveredResources: ["nvidia.com/gpu"]', "    flavors:", "    - name: gpu",
                 "      resources:", "      - name: nvidia.com/gpu", f"        nominalQuota: {rng.randint(0, case.n_gpus)}"]
        lines += [f"        borrowingLimit: {rng.randint(0, case.n_gpus)}"] if some(rng, 0.3) else []
        text += lines
    case.files["kueue.yaml"] = "\n".join(text) + "\n"
    case.extra += ["--kueue-conf", "kueue.yaml"]
    column(case, "queue", lambda i, row: rng.choice(queues))


def rare_columns(case, rng, lists):
    """Columns that few traces have, each with a chance of its own."""
    devices = devices_of(case)
    maybe = {
        "gpu_type": lambda i, row: rng.choice(["", devices[0], "|".join(devices)]),
        "estimate_s": lambda i, row: "%.3f" % (case.scale * rng.choice([0.1, 1, 10])),
        "kernels": lambda i, row: rng.choice(["", 1, 10]) if row.get("gpu_ms") and not row.get("app") else "",
        "after_begin": lambda i, row: rng.choice(["", "yes", "no"]) if row.get("after") else "",
        "slo": lambda i, row: rng.choice(["", 2, 5]),
        "host_mem_gib": lambda i, row: rng.choice(["", 1, 8]),
        "array": lambda i, row: rng.choice(["", "a1", "a2"]),
    }
    for name, draw in maybe.items():
        if some(rng, 0.3):
            column(case, name, draw)
    if "array" in case.rows[0]:
        column(case, "array_limit", lambda i, row: {"a1": 2, "a2": 3}.get(row["array"], ""))


def startups(case, rng, lists):
    column(case, "startup_s", lambda i, row: "%.3f" % (case.scale * rng.random()) if some(rng, 0.7) else "")


def rare_flags(case, rng, lists):
    """Flags that change the trace or what is counted."""
    for words in (["--shake", "20%", "--replication", "2"], ["--cooldown", "10%"],
                  rng.choice([["--time-scale", "0.5"], ["--load", "0.7"]]), ["--exact"],
                  ["--timeline-window", f"0s:{case.scale:.3f}s"]):
        if some(rng, 0.2):
            case.extra += words


SHARES_SMS = ("mps", "tally", "orion", "lithos", "green", "timeslice", "salus", "xsched", "chimera", "gpreempt", "reef", "tgs")
SHORT = ("app", "duration_s", "gpu_ms", "iterations", "mem_gib", "persistent_gib", "working_set_gib", "load_gib", "host_gap_ms",
         "host_ms", "host_tail_s", "sync", "kernel_ms", "kernels", "blocks", "sm_fraction", "hbm_gbps", "hbm_loaded")


def short_row(rng, apps, pages):
    """The work of a job of a few ms: a program, a time by iterations, requests, or a duration alone."""
    new = dict.fromkeys(SHORT, "") | {"requests": "", "period_ms": "", "arrival": ""}
    kind = rng.choice(["program", "program", "program's requests", "iterations", "iterations", "requests", "duration"])
    if kind.startswith("program"):
        new["app"] = rng.choice(apps)
    elif kind == "duration":
        return {**new, "duration_s": "%.6f" % (10 ** rng.uniform(-4, -1)), "mem_gib": 2 if pages else ""}
    else:
        new["gpu_ms"] = rng.choice([0.05, 1, 3.5, 20])
        for name, cells in (("kernel_ms", [0.01, 0.1, 2]), ("kernels", [1, 3, 20]), ("blocks", [1, 100, 5000]),
                            ("sm_fraction", [0.1, 0.5, 1]), ("hbm_gbps", [10, 800, 3000]), ("host_ms", [0, 0.05]),
                            ("host_gap_ms", [0, 0.02, 2]), ("sync", ["kernel", "iteration", "none"])):
            new[name] = rng.choice(cells) if some(rng, 0.3) else ""
        new["kernels"] = "" if new["kernel_ms"] else new["kernels"]
        new["mem_gib"] = rng.choice([1, 20] if pages else ["", 1, 20])
    if kind.endswith("requests"):
        return {**new, "requests": rng.randint(1, 20), "period_ms": rng.choice([0.5, 5, 30]),
                "arrival": rng.choice(["", "poisson", "periodic"])}
    return {**new, "iterations": rng.randint(1, 12)}


def mixture(case, rng, lists):
    """Programs of an H200 beside jobs of which only the time is known, all on a GPU or two within some ms."""
    case.scale, case.sets = 0.2, [text for text in case.sets if not text.startswith("speed.")]
    case.files = {"cluster.ini": f"[node n]\ncount=1\ngpus={rng.choice([1, 1, 1, 2])}\ndevice=h200\n"}
    case.n_gpus = int(case.files["cluster.ini"].split("gpus=")[1].split()[0])
    case.extra, rows = [], []
    apps = rng.sample([app for app in lists.apps if app.startswith("h200-")], 3)
    for i in range(rng.choice([2, 3, 3, 4, 6, 9])):
        rows.append({"job_id": f"j{i}", "submit_s": "%.6f" % rng.choice([0, 0, rng.uniform(0, 0.05)]), "gpus": 1}
                    | {"class": rng.choice(["", "realtime", "batch", "opportunistic"]), "priority": rng.choice(["", 0, 5])}
                    | {"idempotent": rng.choice(["", 1])} | short_row(rng, apps, case.pages))
    head = [name for name in rows[0] if name in ("job_id", "submit_s", "gpus", "duration_s", "iterations", "gpu_ms")
            or any(row[name] != "" for row in rows)]
    case.rows = [head] + [[row[name] for name in head] for row in rows]


def rates_of(case):
    """The table of speeds: its head, and its rows by column."""
    head, *rows = [line.split(",") for line in case.files["rates.csv"].splitlines()]
    return head, [dict(zip(head, row)) for row in rows]


def put_rates(case, head, rows):
    case.files["rates.csv"] = "".join(",".join(cells) + "\n" for cells in [head, *([row[name] for name in head] for row in rows)])


def cannot_run(case, rng):
    """Rows of 0, where another device runs the model on as many GPUs."""
    head, rows = rates_of(case)
    for row in rows:
        others = [other for other in rows if other["device"] != row["device"] and other["iterations_per_s"] != "0"
                  and [other.get(name) for name in ("model", "gpus", "beside")] == [row.get(name) for name in ("model", "gpus", "beside")]]
        if others and some(rng, 0.3):
            row["iterations_per_s"] = "0"
    put_rates(case, head, rows)


def packed(case, rng):
    """Gavel shares GPUs in pairs of gangs of any width, some of which cannot share them, by objectives that allow it."""
    head, rows = rates_of(case)
    if "cpus_per_gpu" in head:
        return
    head = head if "beside" in head else [*head, "beside"]
    rows = [{**row, "beside": ""} for row in rows if not row.get("beside")]
    models = list(dict.fromkeys(row["model"] for row in rows))
    rows += [{**row, "beside": other, "iterations_per_s": "%.6f" % (float(row["iterations_per_s"]) * part)} for row in rows
             for other in models for part in [rng.choice([0, rng.uniform(0.2, 0.6), rng.uniform(0.5, 1.1)])]]
    put_rates(case, head, rows)
    objective = rng.choice(["fifo", "max-min", "max-sum", "makespan", "finish-time", "gandiva", "water-filling"])
    case.sets = [text for text in case.sets if text.split("=")[0] not in ("packing", "objective", "sees_speed", "users")]
    case.sets += ["packing=on", f"objective={objective}"]


def several_policies(case, rng, lists):
    """The last two kinds of nodes have a policy each, for the jobs of their partitions."""
    lines = case.files["cluster.ini"].splitlines()
    heads = [i for i, line in enumerate(lines) if line.startswith("[node")]
    if len(heads) < 3 or any(line.startswith(("policy=", "partitions=")) for line in lines):
        return
    left = sum(int(line[6:]) * int(lines[i + 1][5:]) for i, line in enumerate(lines[:heads[-2]]) if line.startswith("count="))
    column(case, "gpus", lambda i, row: min(left, int(row["gpus"])) if float(row["gpus"]) > 1 else row["gpus"])
    for name, at in (("second", heads[-1]), ("first", heads[-2])):
        lines[at + 1:at + 1] = [f"policy={rng.choice(lists.policies)}", f"partitions={name}"]
    case.files["cluster.ini"] = "\n".join(lines) + "\n"
    column(case, "partition", lambda i, row: rng.choice(["", "", "first", "second"]) if float(row["gpus"]) <= 1 else "")


CHOOSES_NODES = ("exclusive", "fifo", "backfill", "easy-backfill", "fairshare", "sjf", "srtf", "srsf", "las", "tiresias", "suspend", "adaptive", "slurm")


def features(case, rng, lists):
    if case.policy not in CHOOSES_NODES or "policy=" in case.files["cluster.ini"]:
        return
    lines = []
    for line in case.files["cluster.ini"].splitlines():
        lines.append(line)
        if line.startswith("[node"):
            lines.append("features=" + rng.choice(["ib", "ib,roce"]))
    case.files["cluster.ini"] = "\n".join(lines) + "\n"
    with_roce = any("roce" in line for line in lines)
    column(case, "features", lambda i, row: rng.choice(["", "ib", "ib|roce", "roce" if with_roce else "ib"]) if float(row["gpus"]) <= 1 else "")


def counts_of_nodes(case, rng, lists):
    column(case, "num_nodes", lambda i, row: rng.randint(1, min(4, int(float(row["gpus"])))) if float(row["gpus"]) > 1 and some(rng, 0.5) else "")


def few_rounds(case):
    """A search of pollux takes some 10 to 100 ms of processor time, and there is one each interval as long as there are jobs."""
    rounds = 10 if case.is_long else 1
    if not case.is_long:
        case.sets = [text for text in case.sets if not text.startswith("generations=")] + ["generations=10"]
    case.sets = [text for text in case.sets if not text.startswith("interval=")] + [f"interval={math.ceil(case.scale / rounds)}s"]


# These came later, and have a generator of their own, so that seeds without them draw what they drew.
ASKED = [(0.05, several_policies), (0.2, features), (0.05, counts_of_nodes)]
RARE = [(0.1, rare_columns), (0.1, rare_flags), (0.05, startups)]
OF_MIXTURES = 0.2  # of the runs under policies that share SMs
KINDS = [(0.06, programs), (0.08, chains), (0.05, requests), (0.05, stages), (0.08, speeds), (0.05, goodput),
         (0.06, parts), (0.03, partitions), (0.06, estimates)]
# The kind of table or row that a policy was made for: without it a run reaches little of the policy.
MADE_FOR = {"gavel": speeds, "shockwave": speeds, "synergy": speeds, "lucid": speeds, "themis": speeds, "elasticflow": speeds,
            "adaptdl": goodput, "pollux": goodput, "sia": goodput, "muri": stages, "orion": programs, "tally": programs,
            "lithos": programs, "gpreempt": programs, "reef": requests}


def widen(case, lists):
    """Adds kinds to a case whose rows and files are drawn and not yet written."""
    rng = random.Random(f"wide {case.seed}")
    kinds = [kind for chance, kind in KINDS if some(rng, chance)]
    if MADE_FOR.get(case.policy) and some(rng, 0.7) and MADE_FOR[case.policy] not in kinds:
        kinds.append(MADE_FOR[case.policy])
    if case.policy == "kueue":
        kinds.append(kueue)
    if speeds in kinds and goodput in kinds:
        kinds.remove(goodput)  # a job's work is counted by one of the tables
    for kind in kinds:
        kind(case, rng, lists)
    rng = random.Random(f"rare {case.seed}")
    for chance, kind in RARE:
        if some(rng, chance):
            kind(case, rng, lists)
    rng = random.Random(f"asked {case.seed}")
    for chance, kind in ASKED:
        if some(rng, chance):
            kind(case, rng, lists)
    if case.policy == "pollux" and (case.scale > 1000 or not case.is_long):
        few_rounds(case)
    rng = random.Random(f"rates {case.seed}")
    if "rates.csv" in case.files and some(rng, 0.5):
        cannot_run(case, rng)
    if "rates.csv" in case.files and case.policy == "gavel" and some(rng, 0.6):
        packed(case, rng)
    rng = random.Random(f"mixture {case.seed}")
    if case.policy in SHARES_SMS and some(rng, case.of_mixtures):
        mixture(case, rng, lists)
