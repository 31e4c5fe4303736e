# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with policies of their own in one run, by docs/clusters.md: which policy each job goes to, and walks of the parts
side by side, of which each knows its nodes and its jobs alone."""
from cluster import Cluster, Job, Run
from failures import Failing
from outages import FailingShared
from sharing import Shared


class Part:
    """A policy with its nodes (numbers by place in the cluster file). names: partitions of its jobs, classes: theirs;
    None: of all. The part that has neither has all other jobs."""

    def __init__(self, policy, nodes, names=None, classes=None, sets=(), rule="consolidate", costs=None):
        self.policy, self.nodes, self.names, self.classes = policy, nodes, names, classes
        self.sets, self.rule, self.costs = sets, rule, costs or {}

    def takes(self, row):
        if self.names is None and self.classes is None:
            return False
        has_class = self.classes is None or row.get("class") in self.classes
        return has_class and (self.names is None or bool(self.names & set(row.get("partitions") or ())))


def part_of(parts, row):
    """Of the parts, the one that takes the job, else the first one, which is of --policy; None: several take it."""
    takers = [part for part in parts if part.takes(row)]
    return None if len(takers) > 1 else (takers or parts)[0]


def numbered(parts):
    """Each part's first node: nodes are numbered part by part, in the order of their first ones in the file."""
    first, at = {}, 0
    for part in sorted((part for part in parts if part.nodes), key=lambda part: min(part.nodes)):
        first[part], at = at, at + len(part.nodes)
    return first


class Parts:
    """Instants of several walks: what ends in any part is over before jobs come to any, and each policy is asked only
    where something has changed in its part."""

    def __init__(self, walks, jobs, home):
        self.walks, self.jobs = walks, jobs
        for walk in walks:
            walk.everyone, walk.route = jobs, lambda job: home[job]

    def go(self):
        while times := [(then, walk) for walk in self.walks if (then := walk.next_time()) is not None]:
            now = min(then for then, _ in times)
            due = [walk for then, walk in times if then == now]
            for walk in due:
                walk.now = now
                walk.leave()
            due += [walk for walk in self.walks if walk not in due and any(job.submit <= now for job in walk.to_come)]
            for walk in due:
                if walk.now != now:
                    walk.now = now
                    walk.leave()
                walk.serve()
        return self.jobs


def walk_of(part, nodes, jobs, setup, policy, first):
    """policy: of Run, or a lane; first: the number of the part's first node in the run."""
    cluster, costs = Cluster(nodes, part.rule), {**setup.costs, **part.costs, "first": first}
    cluster.types = {node.get("gpu_type") for node in setup.nodes}
    if hasattr(policy, "decide"):
        fails = "mtbf" in costs
        return (Failing(cluster, jobs, policy, 0, setup.back_ns, costs) if fails else Run(cluster, jobs, policy, 0, setup.back_ns))
    if "mtbf" in costs:
        return FailingShared(cluster, jobs, policy, costs, costs["passes"], setup.back_ns)
    return Shared(cluster, jobs, policy, costs, costs["passes"])


def run(setup, policy_of):
    nodes, jobs = setup.plain_nodes(), [Job(i, row) for i, row in enumerate(setup.rows)]
    first, home, walks = numbered(setup.parts), {}, []
    for part in first:
        mine = [job for job, row in zip(jobs, setup.rows) if part_of(setup.parts, row) is part]
        walks.append(walk_of(part, [nodes[n] for n in sorted(part.nodes)], mine, setup, policy_of(part.policy), first[part]))
        home.update((job, walks[-1]) for job in mine)
    return Parts(walks, jobs, home).go()
