# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that fails under jobs of which memory is copied to its host and back, by docs/clusters.md ("Nodes that fail"): what is on
the host, or on its way there or from there, is lost, and a job comes back from storage."""
from failures import Failing, fall_back


class FailingCopies(Failing):
    """stop_ns: of a job; copy_ns: its way back from the host; resume_ns: from storage. One node."""

    def __init__(self, cluster, jobs, policy, stop_ns, copy_ns, resume_ns, costs):
        Failing.__init__(self, cluster, jobs, policy, stop_ns, self.way_back_ns, costs)
        self.copy_ns, self.resume_ns, self.on_host = copy_ns, resume_ns, set()

    def way_back_ns(self, job):
        return self.copy_ns(job) if job in self.on_host else self.resume_ns

    def return_ns(self, job):
        """Of a running job: it would be on the host."""
        return self.copy_ns(job)

    def note_saved(self, job):
        if job not in self.on_host:
            Failing.note_saved(self, job)
        self.on_host.discard(job)

    def stop(self, job):
        Failing.stop(self, job)
        if job.has_run:
            self.on_host.add(job)

    def fail(self, job):
        was_on_host = job in self.on_host and job not in self.leaving
        if was_on_host:  # it was on its way back
            fall_back(job, self.saved[job], self.costs["every"])
        self.on_host.discard(job)
        Failing.fail(self, job)

    def change_places(self):
        was_down = self.cluster.nodes[0].is_down
        has_changed = Failing.change_places(self)
        if self.cluster.nodes[0].is_down and not was_down:
            for job in [job for job in self.waiting if job in self.on_host]:
                fall_back(job, self.saved[job], self.costs["every"])
                job.old_units = []
                self.on_host.discard(job)
        return has_changed
