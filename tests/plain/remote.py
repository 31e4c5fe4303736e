# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory over a coherent link, by docs/models/paging.md: chunks that went out are read where they lie, and move in behind the
reads, where there is room or other memory may go out for them."""
from exact import Fraction

from pages import Pages
from touches import Touches


class Remote(Pages):
    """costs: of Pages, and remote, in, out, both (chunks a second), and evicts."""

    def link(self, n_in, n_out):
        """Of a chunk that is read and may move in. All chunks wait for one of the three, so that it is as if for each alone."""
        inward = Fraction(1, self.costs["remote"]) + Fraction(n_in, self.costs["in"])
        wait = max(inward, Fraction(n_out, self.costs["out"]), Fraction(1 + n_in + n_out, self.costs["both"]))
        return -(-wait * 10**9 // 1)

    def touch(self, job):
        at = self.place(job)
        is_full = len(self.there) == self.costs["hbm"] // self.costs["chunk"]
        if (job, at) not in self.there and is_full and not self.costs["evicts"]:
            job.chunks[at] = "host"  # where it stays, or is made
            job.touched += 1
            return self.read(job, 0, 0)
        if job.chunks[at] != "host":
            return Pages.touch(self, job)
        before = job.bytes_in, job.bytes_out, job.faults, job.stall
        Pages.touch(self, job)
        out = (job.bytes_out - before[1]) // self.costs["chunk"]
        job.bytes_in, _, job.faults, job.stall = before
        return self.read(job, 1, out)

    def read(self, job, n_in, n_out):
        wait = self.link(n_in, n_out)
        job.bytes_in += self.costs["chunk"] * (1 + n_in)
        job.stall += wait
        return wait


class RemoteTouches(Remote, Touches):
    """Of programs that say what their kernels touch."""
