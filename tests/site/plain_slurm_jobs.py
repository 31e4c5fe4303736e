# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of a site of plain_slurm.py, and which features let them have a node."""

from plain_slurm_accounts import draw_accounts_of_jobs


def draw_jobs(site, n):
    r, at, jobs = site.rng, 0, []
    widest = site.width * site.n_nodes
    for i in range(n):
        at += int(r.expovariate(1 / 150)) if r.random() < 0.7 else 0
        partition = r.choice(["gpu", "gpu", "short"])
        wide = len(site.partitions[partition]["nodes"]) * site.width
        gpus = min(wide, r.choice([1, 1, 1, 2, site.width, site.width, 2 * site.width, widest]))
        limit = min(site.partitions[partition]["max"], 60 * r.choice([5, 30, 60, 120, 600]))
        run = r.randint(1, limit) if r.random() < 0.9 else limit
        user = r.choice(list(site.users))
        h = site.host_rng
        wide_each = h.choice([1, 2]) if gpus * 2 <= site.width else 1
        cpus, mem = gpus * h.choice([1, 4, 8]) * wide_each, gpus * h.choice([8, 48, 64]) * 1024 * wide_each
        jobs.append(dict(id=str(100 + i), index=i, submit=at if i else 0, run=run, limit=limit, gpus=gpus,
                         user=user, account=site.users[user][0], partition=partition, named=[partition],
                         qos=r.choice(["normal", "normal", "high", "low"]), cpus=cpus, mem=mem,
                         type=h.choice(["a100", ""]), features="", array="", at_once=0, after=None, asked=at if i else 0))
        at = jobs[0]["submit"] if i == 0 else at
    if site.has_wishes:
        draw_wishes(site, jobs)
    if site.wide_rng:
        draw_widely(site, jobs)
    draw_accounts_of_jobs(site, jobs)
    for job in jobs:
        job.setdefault("lies_on", 0)
        job.setdefault("says_limit", True)
        draw_shards(site, job)
    make_tasks_alike(jobs)
    return jobs


def make_tasks_alike(jobs):
    """Tasks of an array ask for what its first one asks for."""
    first = {}
    for job in jobs:
        if job["array"]:
            its = first.setdefault(job["array"], job)
            job.update({key: its[key] for key in ("gpus", "cpus", "mem", "limit", "user", "account", "partition", "named",
                                                  "qos", "type", "features", "lies_on", "says_limit", "part")})
            job["run"] = min(job["run"], job["limit"])


def draw_widely(site, jobs):
    """Other partitions, jobs without a limit, and numbers of nodes that some nodes of one partition can give."""
    r = site.wide_rng
    for job in jobs:
        if not job["array"] and r.random() < 0.6:
            job["named"] = r.sample(list(site.partitions), r.choice([1, 1, 2, 3]))
            job["partition"] = job["named"][0]
            job["limit"] = min(job["limit"], min(site.partitions[p]["max"] for p in job["named"]))
            job["run"] = min(job["run"], job["limit"])
        if most_nodes(site, job) == 0:
            job["features"] = ""
        gpus = min(job["gpus"], most_nodes(site, job) * site.width)
        job["cpus"], job["mem"], job["gpus"] = job["cpus"] // job["gpus"] * gpus, job["mem"] // job["gpus"] * gpus, gpus
        nodes = r.choice([1, 2, 2, 3, 4])
        if gpus > 1 and r.random() < 0.6 and nodes <= gpus and any(may_lie(site, job, nodes, p) for p in job["named"]):
            job["lies_on"] = nodes
        if len(job["named"]) == 1 and r.random() < 0.2:  # its limit is the partition's
            partition = job["partition"]
            job["limit"] = site.default_time.get(partition, site.partitions[partition]["max"])
            job["run"], job["says_limit"] = min(job["run"], job["limit"]), False


def most_nodes(site, job):
    """Of one partition and one choice of the job's features."""
    tables = [[choices_of(job["features"], site.features[n]) for n in site.partitions[p]["nodes"]] for p in job["named"]]
    return max(sum(of) for table in tables for of in zip(*table))


def may_lie(site, job, nodes, partition):
    """Whether so many nodes of the partition could each have their part of the job, for one choice of its features."""
    part = -(-job["gpus"] // nodes)
    each = (job["cpus"] // job["gpus"] * part, job["mem"] // job["gpus"] * part)
    fits = part <= site.width and all(wants <= has for wants, has, counts in zip(each, site.room[1:], site.counts) if counts)
    choices = [choices_of(job["features"], site.features[n]) for n in site.partitions[partition]["nodes"]]
    return fits and max(sum(of) for of in zip(*choices)) >= nodes


def draw_shards(site, job):
    """Some jobs of one GPU have shards of it instead, where one of their nodes has any."""
    r, job["part"] = site.shard_rng, 0
    lets = {n for p in job["named"] for n in site.partitions[p]["nodes"] if any(choices_of(job["features"], site.features[n]))}
    if site.shards and job["gpus"] == 1 and r.random() < 0.7 and all(
            set(site.partitions[p]["nodes"]) & set(site.shard_nodes) for p in job["named"]) and lets & set(site.shard_nodes):
        job["part"] = r.choice([1, 1, 2, site.shards // 2, site.shards - 1])
        job["type"] = ""


FORMS = ["ib", "ib&fast", "ib|fast", "[ib|roce]", "(ib|roce)&fast", "[fast|ib|roce]", "ib|roce&fast", "roce,ib"]


def choices_of(features, has):
    """Whether a node with these features may be had, by choice: sbatch's operators as Python's, from left to right."""
    tests = {"": [True], "ib": ["ib" in has], "ib&fast": ["ib" in has and "fast" in has],
             "ib|fast": ["ib" in has or "fast" in has], "[ib|roce]": ["ib" in has, "roce" in has],
             "(ib|roce)&fast": [("ib" in has or "roce" in has) and "fast" in has],
             "[fast|ib|roce]": ["fast" in has, "ib" in has, "roce" in has],
             "ib|roce&fast": [("ib" in has or "roce" in has) and "fast" in has],
             "roce,ib": ["roce" in has and "ib" in has]}
    return tests[features]


def draw_wishes(site, jobs):
    r, left, array, at_once = site.wish_rng, 0, "", 0
    r_begin = site.begin_rng
    for job in jobs:
        if r.random() < 0.3:
            job["named"] = r.choice([["gpu", "short"], ["short", "gpu"]])
        wide = max(len(site.partitions[p]["nodes"]) for p in job["named"]) * site.width
        job["gpus"] = min(job["gpus"], wide)
        job["features"] = r.choice(FORMS) if r.random() < 0.4 else ""
        if most_nodes(site, job) * site.width < job["gpus"]:
            job["features"] = ""  # the job would wait for ever
        if left == 0 and r.random() < 0.08:
            left, array, at_once = r.randint(3, 9), job["id"], r.randint(1, 3)
        if left:
            job["array"], job["at_once"], left = array, at_once, left - 1
        if job["index"] and not job["array"] and r.random() < 0.1:
            job["after"] = jobs[r.randrange(job["index"])]
            job["is_begin"] = r_begin.random() < 0.5
            job["minutes"] = r_begin.choice([0, 0, 5, 60]) if job["is_begin"] else 0
