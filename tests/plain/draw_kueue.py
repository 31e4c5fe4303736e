# SPDX-License-Identifier: GPL-3.0-or-later
"""Random setups of Kueue: queues with quotas of flavors, cohorts and what they may lend, and which jobs give way."""
from quotas import Cohort, Queue, grow


class KueueDraws:
    """The kinds of a setup (draw.py) that have a file of Kueue's objects."""

    def draw_quotas(self, r):
        self.draw_kueue(r, False)

    def draw_evictions(self, r):
        self.draw_kueue(r, True)

    def draw_kueue(self, r, preempts, flavors=(), cohorts=None):
        """Queues of one cohort or of none, on a node with the GPUs of all quotas."""
        queues = {}
        for name in "abcd"[:r.choice([1, 2, 2, 3, 4])]:
            queues[name] = {
                "cohort": r.choice(["lab", "lab", "lab", None]), "nominal": r.choice([0, 1, 2, 4, 4, 6]),
                "borrowing": r.choice([None, None, 0, 1, 3]), "lending": r.choice([None, None, 0, 1, 2]),
                "strict": r.random() < 0.3, "below": None,
                "within": r.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"]) if preempts else "Never",
                "reclaim": r.choice(["Never", "LowerPriority", "Any"]) if preempts else "Never"}
            its = queues[name]
            if not its["cohort"]:
                its.update(borrowing=None, lending=None, nominal=max(1, its["nominal"]))
            if its["lending"] is not None:
                its["lending"] = min(its["lending"], its["nominal"])
            if preempts and its["cohort"] and its["reclaim"] != "Never" and r.random() < 0.4:
                its["below"] = r.choice(["any", 0, 1, 2])
        self.costs, self.cohorts = queues, cohorts or {}
        if flavors:
            self.draw_quotas_of(r, list(flavors), queues, self.cohorts)
        for its in queues.values():
            its.setdefault("quotas", {"gpu": (its["nominal"], its["borrowing"], its["lending"])})
        cohort = Cohort(grow([Queue(name, its) for name, its in queues.items()], self.cohorts))
        quotas = [its["quotas"] for its in queues.values()] + [quotas for _, quotas in self.cohorts.values()]
        self.nodes = [{"gpus": max(1, sum(nominal for its in quotas for nominal, _, _ in its.values()))}]
        most = {queue.name: max(cohort.most(queue, flavor) for flavor in queue.quotas) for queue in cohort.queues}
        if not any(most.values()):
            return self.draw_kueue(r, preempts, flavors, cohorts)
        names = [name for name in most if most[name] > 0]
        for row in self.rows:
            name = r.choice(names)
            row.update(queue=name, priority=r.choice([0, 0, 1, 2, 5]), gpus=min(row["gpus"], most[name]))
        self.files["q.yaml"] = "".join([self.queue_file(name, its) for name, its in queues.items()]
                                       + [self.cohort_file(name, *its) for name, its in self.cohorts.items()])
        self.words += ["--kueue-conf", "q.yaml"]

    def draw_flavors(self, r):
        """One to three flavors a queue, in an order of its own, with or without preemption."""
        self.draw_kueue(r, r.random() < 0.5, flavors=["f0", "f1", "f2"])

    def draw_trees(self, r):
        """Cohorts below cohorts, with quotas and limits of their own; queues take from themselves alone."""
        self.draw_tree(r, False)

    def draw_reclaims(self, r):
        """Queues of a tree that take from each other."""
        self.draw_tree(r, True)

    def draw_tree(self, r, preempts):
        self.draw_kueue(r, preempts, flavors=r.choice([["f0"], ["f0", "f1"]]), cohorts={
            name: (parent, {}) for name, parent in (("root", None), ("left", "root"), ("right", "root"), ("low", "left"))})

    def quota(self, r, has_cohort):
        lending = r.choice([None, None, 0, 1, 2]) if has_cohort else None
        nominal = r.choice([0, 1, 2, 4, 4, 6])
        return nominal, r.choice([None, None, 0, 1, 3]) if has_cohort else None, lending if lending is None else min(lending, nominal)

    def draw_quotas_of(self, r, flavors, queues, cohorts):
        for its in queues.values():
            its["cohort"] = r.choice([*cohorts, None]) if cohorts else its["cohort"]
            its["quotas"] = {flavor: self.quota(r, its["cohort"]) for flavor in r.sample(flavors, r.randint(1, len(flavors)))}
            its.update(next_first=r.random() < 0.4, preempts_first=r.random() < 0.4)
            if cohorts:
                its["within"] = r.choice(["Never", "LowerPriority", "LowerOrNewerEqualPriority"])
            if not its["cohort"]:
                its.update(reclaim="Never", below=None)
        for name, (parent, quotas) in cohorts.items():
            quotas.update({flavor: self.quota(r, parent) for flavor in flavors if r.random() < 0.5})

    def quota_lines(self, quotas):
        """The flavors of a queue or a cohort."""
        text = "  resourceGroups:\n  - coveredResources: [\"nvidia.com/gpu\"]\n    flavors:\n" if quotas else ""
        for flavor, (nominal, borrowing, lending) in quotas.items():
            limits = "".join(f"        {key}Limit: {most}\n" for key, most in (("borrowing", borrowing), ("lending", lending)) if most is not None)
            text += f"    - name: {flavor}\n      resources:\n      - name: nvidia.com/gpu\n        nominalQuota: {nominal}\n{limits}"
        return text

    def cohort_file(self, name, parent, quotas):
        return (f"---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata:\n  name: {name}\n"
                + (f"spec:\n  parentName: {parent or ''}\n" if parent else "spec:\n") + self.quota_lines(quotas))

    def queue_file(self, name, its):
        below = "" if its["below"] is None else "    borrowWithinCohort:\n      policy: LowerPriority\n" + (
            "" if its["below"] == "any" else f"      maxPriorityThreshold: {its['below']}\n")
        return (f"---\nkind: ClusterQueue\nmetadata:\n  name: {name}\nspec:\n  cohort: \"{its['cohort'] or ''}\"\n"
                f"{self.quota_lines(its['quotas'])}  queueingStrategy: {'StrictFIFO' if its['strict'] else 'BestEffortFIFO'}\n"
                f"  flavorFungibility:\n    whenCanBorrow: {'TryNextFlavor' if its.get('next_first') else 'Borrow'}\n"
                f"    whenCanPreempt: {'Preempt' if its.get('preempts_first') else 'TryNextFlavor'}\n"
                f"  preemption:\n    withinClusterQueue: {its['within']}\n"
                f"    reclaimWithinCohort: {its['reclaim']}\n{below}")
