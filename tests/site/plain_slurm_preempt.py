# SPDX-License-Identifier: GPL-3.0-or-later
"""Preemption of plain_slurm.py, by slurm.conf(5) (PreemptType, PreemptMode, PreemptParameters, PreemptExemptTime) and,
where these leave an order open, by what Slurm's public select plugin does (_run_now of job_test.c)."""

CUT = 0xffff  # priorities and numbers of nodes that Slurm tells apart


def draw_preemption(site, r):
    """Orders of jobs that give way, times before they do, and lists of QOS of one step more; drawn apart."""
    site.strict_order = r.random() < 0.3
    site.reorder_count = r.choice([None, None, 0, 1, 3])
    site.exempt = r.choice([0, 0, 300, 1800])
    for qos in site.qos.values():
        qos["exempt"] = r.choice([None, None, None, -1, 0, 900])
    if r.random() < 0.5:
        site.qos["normal"]["preempt"] = "low"
    if r.random() < 0.2:
        site.qos["high"]["preempt"] = "normal"


def lines_of(site):
    words = ["youngest_first"] * (site.youngest and site.strict_order) + ["strict_order"] * site.strict_order
    words += [] if site.reorder_count is None else [f"reorder_count={site.reorder_count}"]
    out = [f"PreemptType=preempt/{site.preempt}", f"PreemptMode={site.mode}"]
    out += [f"PreemptParameters={','.join(words)}"] if words else []
    return out + ([f"PreemptExemptTime=0-{site.exempt // 3600:02}:{site.exempt // 60 % 60:02}:00"] if site.exempt else [])


def exempt_text(seconds):
    return "" if seconds is None else "-1" if seconds < 0 else f"00:{seconds // 60:02}:00"


def level_of(site, name):
    """Steps of a QOS above those that can preempt none: "Jobs that can preempt" are looked at first."""
    below = [n for n in site.qos[name]["preempt"].split(",") if n]
    return 1 + max(level_of(site, n) for n in below) if below else 0


class Preemption:
    def outranks(self, job, victim):
        site = self.site
        if site.preempt == "qos":
            return victim["qos"] in site.qos[job["qos"]]["preempt"].split(",")
        tier = {p: v["tier"] for p, v in site.partitions.items()}
        return site.preempt == "partition_prio" and tier[victim["partition"]] < tier[job["partition"]]

    def mode_of(self, victim):
        mode = self.site.modes.get(victim["qos" if self.site.preempt == "qos" else "partition"], self.site.mode)
        return "CANCEL" if mode == "REQUEUE" and not self.site.requeues else mode

    def exempt_until(self, victim):
        times = [self.site.qos[q]["exempt"] for q in self.qos_of(victim)]
        times = [t for t in times if t is not None and t >= 0]
        return victim["start"] + (times[0] if times else self.site.exempt)

    def ends_of_exemption(self):
        return [self.exempt_until(v) for v in self.running] if self.site.preempt != "none" else []

    def candidates(self, job):
        site = self.site

        def rank(v):
            if site.youngest:
                return (-v["start"], v["index"])
            low = site.qos[v["qos"]]["priority"] if site.preempt == "qos" else site.partitions[v["partition"]]["tier"]
            return (min(CUT, low), min(CUT, len(v["on"])), v["index"])

        return sorted((v for v in self.running if self.outranks(job, v) and v["start"] < self.now
                       and self.exempt_until(v) <= self.now and self.mode_of(v) != "OFF"), key=rank)

    def first_that_fits(self, job, closed, victims):
        """How many of them have to go, from the first, for the job to fit, and where it then lies."""
        for n in range(1, len(victims) + 1):
            rest = [j for j in self.running if j not in victims[:n]]
            chosen = self.choose(job, self.usable(job, self.free_by(rest), closed, rest))
            if chosen:
                return n, {node for node, _ in chosen}
        return 0, set()

    def victims_of(self, job, closed):
        victims, tries = self.candidates(job), 1 if self.site.reorder_count is None else self.site.reorder_count
        n, nodes = self.first_that_fits(job, closed, victims)
        tried = 0
        while n and tried <= tries and tried + 1 < len(victims):
            first, last, rest = victims[:n - 1], victims[n - 1], victims[n:]
            if not self.site.strict_order:
                first.sort(key=lambda v: -len(nodes & {node for node, _ in v["on"]}))
            victims, tried = [last, *first, *rest], tried + 1
            n, nodes = self.first_that_fits(job, closed, victims)
        return [v for v in victims[:n] if nodes & {node for node, _ in v["on"]}]

    def preempt(self, job, closed):
        victims = self.victims_of(job, closed)
        for victim in victims:
            self.stop(victim)
            if self.mode_of(victim) == "CANCEL":
                victim["end"] = self.now
                self.ended.append(victim)
                self.over = True
            else:
                self.requeued.append(victim)
        return self.choose(job, self.usable(job, self.free_now(), closed)) if victims else None
