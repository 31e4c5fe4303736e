# SPDX-License-Identifier: GPL-3.0-or-later
"""Themis in Python: finish-time fairness by leases and auctions; themis.c beside it has the rules, and
the same results.

    python3 examples/themis/themis.py TRACE NODES GPUS_PER_NODE

Source: Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020. What the paper
has and this does not is listed in themis.c."""
import sys

import gsim

PPM = 1000000
WAITS = {gsim.QUEUED, gsim.PAUSED, gsim.HELD}


class Candidate:
    """A job that waits, or whose lease is over."""

    def __init__(self, view, slot, holds, n_jobs):
        jobs = view.jobs
        self.slot, self.holds, self.wins = slot, holds, False
        self.index, self.gpus = view.nth(slot), jobs.gpus[slot]
        age = view.now_ns - jobs.submit_ns[slot]
        total = age + view.remaining_ns(slot)
        all_gpus = view.cluster.n_gpus
        alone = max(jobs.service_ns[slot], 1) * max(self.gpus * n_jobs, all_gpus)
        self.rho_ppm = total * all_gpus * PPM // alone
        self.cost = total * self.gpus


class Themis(gsim.Policy):
    name = "my-themis"  # gsim has a policy of that name itself
    summary = "the worst finish-time fairness bids first, by leases"
    paper = "Mahajan et al., Themis: Fair and Efficient GPU Cluster Scheduling, NSDI 2020"
    deviations = ("single jobs all or nothing; a greedy auction without hidden payments or placement "
                  "in bids; left-over GPUs by rho, not by lot")
    oracle = True
    params = {
        "lease": gsim.param("time", "20min", "how long a job that wins holds its GPUs",
                            min=10**6, max=2**60),
        "fairness": gsim.param("ratio", "0.8", "the share of the candidates, those with the best rho, "
                               "that may not bid", min=0, max=PPM - 1),
    }

    def open(self):
        self.lease_ns, self.fairness_ppm = self.params["lease"], self.params["fairness"]
        self.lease_end_ns = {}  # by slot

    def on_arrival(self, job):
        self.lease_end_ns[job] = 0

    def decide(self, plan):
        self.settle(plan, self.candidates())
        waits, next_ns = self.look_ahead(plan)
        plan.wake(next_ns if waits else None)

    def candidates(self):
        """The candidates in the order in which they are served: bidders by cost, the others by rho."""
        view = self.view
        active, states = view.jobs.active, view.jobs.state
        n_jobs = sum(states[slot] != gsim.DONE for slot in active)
        found = []
        for slot in active:
            holds = states[slot] == gsim.RUNNING and self.lease_end_ns[slot] <= view.now_ns
            if holds or states[slot] in WAITS:
                found.append(Candidate(view, slot, holds, n_jobs))
        found.sort(key=lambda c: (-c.rho_ppm, c.index))
        n_bidders = -(-len(found) * (PPM - self.fairness_ppm) // PPM)
        return sorted(found[:n_bidders], key=lambda c: (c.cost, c.index)) + found[n_bidders:]

    def settle(self, plan, candidates):
        """Each candidate wins that the GPUs on offer are enough for; whatever else fits comes after."""
        now_ns = self.view.now_ns
        on_offer = self.view.cluster.n_idle_gpus + sum(c.gpus for c in candidates if c.holds)
        for c in candidates:
            c.wins = c.gpus <= on_offer
            on_offer -= c.gpus if c.wins else 0
        for c in candidates:
            if c.holds and c.wins:
                self.lease_end_ns[c.slot] = now_ns + self.lease_ns
            elif c.holds:
                plan.preempt(c.slot, "iteration", "storage")
        for wins in (True, False):
            for c in candidates:
                if not c.holds and c.wins == wins and plan.place(c.slot):
                    self.lease_end_ns[c.slot] = now_ns + self.lease_ns

    def look_ahead(self, plan):
        """Whether a job still waits, and the end of the first lease ahead."""
        view = self.view
        waits, next_ns = False, None
        for slot in view.jobs.active:
            end_ns = self.lease_end_ns[slot]
            if not plan.units(slot):
                waits = waits or view.jobs.state[slot] != gsim.DONE
            elif end_ns > view.now_ns and (next_ns is None or end_ns < next_ns):
                next_ns = end_ns
        return waits, next_ns


if __name__ == "__main__":
    print(gsim.compare(sys.argv[1], ["fifo", "las", Themis], nodes=sys.argv[2],
                       gpus_per_node=sys.argv[3]).verdict[0])
