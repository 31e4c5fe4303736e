# SPDX-License-Identifier: GPL-3.0-or-later
"""Shortest remaining time first, preemptive: a policy in Python that keeps up with 82 247 jobs.

    python3 examples/python/srtf.py TRACE [NODES GPUS_PER_NODE]

Schrage, "A proof of the optimality of the shortest remaining processing time discipline" (1968),
greedy over gangs. A running job's remaining time falls as fast as time passes, so that the order of
running jobs is that of their ends, and both lists stay sorted from one decide to the next."""
import bisect
import sys
import time

import gsim

WAITS = {gsim.QUEUED, gsim.PAUSED, gsim.HELD}


class Srtf(gsim.Policy):
    name = "py-srtf"
    summary = "shortest remaining time first, preemptive, in Python"
    paper = "Schrage, Operations Research 16(3), 1968"
    deviations = "greedy over gangs; victims are chosen worst first, by their ends without what starting costs"
    oracle = True
    params = {"placement": gsim.PLACEMENT, "preempt": gsim.PREEMPT}

    def open(self):
        self.stop, self.keep = self.view.preemption("storage")
        self.rule = self.params["placement"]
        self.waiting = []  # (remaining, place in the order of submission, slot)
        self.running = []  # (end, place in the order of submission, slot)
        self.stopped = []  # slots, within a decide

    def on_arrival(self, job):
        self._wait(job)

    def on_completion(self, job):
        nth = self.view.nth(job)
        self.running = [entry for entry in self.running if entry[1] != nth]

    def _wait(self, job):
        view = self.view
        bisect.insort(self.waiting, (view.remaining_ns(job), view.nth(job), job))

    def decide(self, plan):
        jobs, now = self.view.jobs, self.view.now_ns
        gpus, states = jobs.gpus, jobs.state
        too_wide = 1 << 32  # a gang that did not fit; a later job has fewer victims
        left = []
        for at, entry in enumerate(self.waiting):
            remaining, index, job = entry
            if states[job] not in WAITS:  # it is still being stopped
                left.append(entry)
            elif gpus[job] >= too_wide or not self._start(plan, job, now + remaining):
                too_wide = min(too_wide, gpus[job])
                left.append(entry)
                if too_wide == 1:
                    left += self.waiting[at + 1:]
                    break
            else:
                bisect.insort(self.running, (now + remaining, index, job))
        self.waiting = left
        for job in self.stopped:
            self._wait(job)
        self.stopped.clear()

    def _start(self, plan, job, end):
        """Places the job, in place of running jobs that end later if need be."""
        if plan.place(job, self.rule):
            return True
        states, gpus = self.view.jobs.state, self.view.jobs.gpus
        needed, mark, victims = gpus[job], plan.mark(), []
        for at in range(len(self.running) - 1, -1, -1):
            its_end, _, victim = self.running[at]
            if its_end <= end:
                break
            if states[victim] != gsim.RUNNING:
                continue
            plan.preempt(victim, self.stop, self.keep)
            victims.append(at)
            needed -= gpus[victim]
            if needed <= 0 and plan.place(job, self.rule):
                self.stopped += [self.running.pop(at)[2] for at in victims]
                return True
        plan.rollback(mark)
        return False


if __name__ == "__main__":
    nodes, gpus_per_node = sys.argv[2:4] if len(sys.argv) > 3 else (64, 8)
    begin = time.process_time()
    result = gsim.run(sys.argv[1], Srtf, nodes=nodes, gpus_per_node=gpus_per_node, device="ideal")
    print(result)
    print(f"{time.process_time() - begin:.1f} s of processor time")
