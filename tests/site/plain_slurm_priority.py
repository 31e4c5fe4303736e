# SPDX-License-Identifier: GPL-3.0-or-later
"""Priorities of plain_slurm.py: usage by account and user, fair share (fair tree, or the classic algorithm), and the
sum of the factors."""
from fractions import Fraction

from plain_slurm_accounts import association_of, shared_by

NEVER = 1 << 62


def close(a, b):
    return a == b or abs(a - b) < 1e-11 * max(abs(a), abs(b))


class Priorities:
    # --- usage
    def children(self, parent):
        site = self.site
        kids = [("a", a, s) for a, (p, s) in site.accounts.items() if s != "parent" and shared_by(site, p) == parent]
        return kids + [("u", name, s) for name, (_, a, s) in site.assocs.items() if shared_by(site, a) == parent]

    def chain(self, job):
        if "chain" not in job:
            out, account = [association_of(self.site, job["user"], job["account"])], job["account"]
            while account != "root":
                out.append(account)
                account = self.site.accounts[account][0]
            job["chain"] = out + ["root"]
        return job["chain"]

    def charge(self, until):
        for job in self.running:
            for name in self.chain(job):
                self.usage[name] = self.usage.get(name, 0) + (until - self.usage_at) * self.whole(job)
        self.usage_at = until

    def whole(self, job):
        """What a job is billed: its CPUs, or by the weights of its partition."""
        factor, weights = self.site.qos[job["qos"]]["factor"], self.site.partitions[job["partition"]]["weights"]
        if weights:
            parts = (0 if job["part"] else weights[0] * job["gpus"], weights[1] * job["cpus"],
                     weights[2] * job["mem"] / 1024)
            return factor * (max(parts) if self.site.bills_most else sum(parts))
        return factor * job["cpus"]

    def rank(self, at):
        """Fair-share factors as of a time, which is the end of a period."""
        if self.site.fair_tree:
            users = [u for u in self.site.assocs if u in self.known_users()]
            self.n_users = len(users)
            self.left = self.rank_no = self.n_users
            self.walk([(c, "root") for c in self.kids("root")], False)
        else:
            self.classic("root", Fraction(1), Fraction(1))

    def known_users(self):
        if self.known is None:
            self.known = set(self.site.assocs) if self.site.has_assocs else {self.chain(j)[0] for j in self.jobs}
        return self.known

    def kids(self, parent):
        known, accounts = self.known_users(), None
        if not self.site.has_assocs:
            accounts = {j["account"] for j in self.jobs}
        return [k for k in self.children(parent)
                if (k[0] == "u" and k[1] in known) or (k[0] == "a" and (accounts is None or k[1] in accounts))]

    def level(self, kid, parent):
        if kid[2] == "parent":
            return NEVER
        if kid[2] == 0:
            return 0
        shares = Fraction(kid[2], self.level_shares(parent))
        used, all_used = self.usage.get(kid[1], 0), self.usage.get(parent, 0)
        return NEVER if not used or not all_used else float(shares) / (used / all_used)

    def level_shares(self, parent):
        return sum(k[2] for k in self.kids(parent) if k[2] != "parent")

    def walk(self, kids, tied):
        order = sorted(((-self.level(k, p), k[0] == "a", k) for k, p in kids), key=lambda x: x[:2])
        i = 0
        while i < len(order):
            same = tied if i == 0 else close(order[i][0], order[i - 1][0])
            if order[i][2][0] == "u":
                if not same:
                    self.rank_no = self.left
                self.factors[order[i][2][1]] = Fraction(self.rank_no, self.n_users)
                self.left -= 1
                i += 1
                continue
            level, below = order[i][0], []
            while i < len(order) and close(order[i][0], level):
                below += [(k, order[i][2][1]) for k in self.kids(order[i][2][1])]
                i += 1
            self.walk(below, same)

    def classic(self, parent, usage, shares):
        """What a child of the root uses is its own usage alone; where no child has shares, it is the parent's."""
        total, all_shares = self.usage.get("root", 0), self.level_shares(parent)
        for kind, name, share in self.kids(parent):
            own = self.usage.get(name, 0) / total if total else 0
            if share == "parent":
                effective, part = usage, shares
            else:
                part = shares * Fraction(share, all_shares) if all_shares else Fraction(0)
                effective = (own if parent == "root" else own + (float(usage) - own) * share / all_shares if all_shares
                             else usage)
            if kind == "u":
                self.factors[name] = 2 ** (-effective / float(part) / self.site.dampening) if part else 0
            else:
                self.classic(name, effective, part)

    def size(self, job):
        """The mean of the job's part of all nodes, of which it takes one unless it asks for a number, and of all CPUs. The
        file has a node for logins beside those with GPUs, which says no CPUs and so has one."""
        site = self.site
        parts = Fraction(job["lies_on"] or 1, site.n_nodes + 1), Fraction(job["cpus"], site.room[1] * site.n_nodes + 1)
        return sum(1 - p if site.favor_small else p for p in parts) / 2

    def lasting(self, job, partition):
        """The part of a priority that neither time nor usage changes, as a numerator and a denominator."""
        if partition not in job.setdefault("lasting", {}):
            site, w = self.site, self.site.weight
            all_gpus = site.width * len(site.partitions[partition]["nodes"])
            most_qos = max(q["priority"] for q in site.qos.values())
            most_part = max(p["factor"] for p in site.partitions.values())
            total = w["JobSize"] * self.size(job)
            total += w["Partition"] * Fraction(site.partitions[partition]["factor"], most_part)
            total += Fraction(site.by_gpus * (0 if job["part"] else job["gpus"]), all_gpus)
            total += w["QOS"] * Fraction(site.qos[job["qos"]]["priority"], most_qos)
            job["lasting"][partition] = total.numerator, total.denominator
        return job["lasting"][partition]

    def priority(self, job, partition):
        """Whole numbers in place of fractions, since every waiting job has a new priority in every period."""
        w, (above, below), max_age = self.site.weight, self.lasting(job, partition), self.site.max_age
        age = min(max(0, self.ticked - job["eligible"]), max_age)
        above, below = above * max_age + w["Age"] * age * below, below * max_age
        fair = self.factors.get(self.chain(job)[0], 0)
        if isinstance(fair, Fraction):
            total = above * fair.denominator + w["Fairshare"] * fair.numerator * below
            return max(1, total // (below * fair.denominator))
        return max(1, int(above / below + w["Fairshare"] * fair + 1e-5))
