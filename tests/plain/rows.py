# SPDX-License-Identifier: GPL-3.0-or-later
"""Ousterhout's matrix over several nodes, with what stops and coming back take, by docs/clusters.md and the head of
policies/gang_rr/gang_rr.c."""
from blocks import Waves


class Matrix:
    """Columns are GPUs. A gang is in the first row that has columns for it, on one node where it fits one, and rows take
    turns; a turn counts from when all gangs of the row run. With fill, gangs of the rows behind it run where all of their
    columns are idle."""

    def __init__(self, slice_ns, fills, nodes):
        self.slice, self.fills, self.widths = slice_ns, fills, [node.gpus for node in nodes]
        self.rows, self.at, self.began = [], 0, None
        self.columns, self.had = {}, []  # had: the gangs that were chosen last

    def arrived(self, run, job):
        taken = [{unit for other in row if other.end is None for unit in self.columns[other]} for row in self.rows]
        for at, its in enumerate(taken + [set()]):
            columns = self.find(job, its)
            if columns:
                break
        if at == len(self.rows):
            self.rows.append([])
        self.rows[at].append(job)
        self.columns[job] = columns

    def find(self, job, taken):
        free = [[(number, gpu) for gpu in range(width) if (number, gpu) not in taken] for number, width in enumerate(self.widths)]
        if job.gpus <= max(self.widths):
            enough = [its for its in free if len(its) >= job.gpus]
            return min(enough, key=lambda its: (len(its), its[0]))[:job.gpus] if enough else None
        units = [unit for its in free for unit in its]
        return units[:job.gpus] if len(units) >= job.gpus else None

    def turn(self):
        for _ in self.rows:
            self.at = (self.at + 1) % len(self.rows)
            if self.rows[self.at]:
                return

    def chosen(self, run, is_new):
        """Those that have got their columns in this turn keep them, unless the row needs one; one that was on its way when
        the turn came, and has no columns by it, is stopped as soon as it runs."""
        order = self.rows[self.at:] + self.rows[:self.at]
        chosen = list(order[0])
        on = [] if is_new else [job for job in [*run.running, *run.coming, *run.placed] if job in self.had]
        for job in [job for row in [on] + order[1:] for job in row if self.fills and job not in chosen]:
            if not any(set(self.columns[job]) & set(self.columns[other]) for other in chosen):
                chosen.append(job)
        return chosen

    def decide(self, run):
        self.rows = [[job for job in row if job.end is None] for row in self.rows]
        if not any(self.rows):
            self.rows, self.at, self.began = [], 0, None
            return
        others = any(row for row in self.rows if row is not self.rows[self.at])
        is_over = others and self.began is not None and run.now >= self.began + self.slice
        is_new = not self.rows[self.at] or is_over
        if is_new:
            self.turn()
            self.began = None
        self.had = chosen = self.chosen(run, is_new)
        for job in [job for job in run.running if job not in chosen]:
            run.stop(job)
        for job in [job for job in chosen if job in run.waiting]:
            if all(run.cluster.nodes[number].free[gpu] for number, gpu in self.columns[job]):
                run.put(job, self.columns[job])
                self.note_placed(run, job)
        late = [] if is_new else self.late(run)  # the slice does not wait for a gang that comes as all others run
        if self.began is None and all(job in run.running for job in self.rows[self.at] if job not in late):
            self.began = run.now

    def late(self, run):
        return run.newcomers

    def note_placed(self, run, job):
        pass

    def wake(self, run):
        if self.began is None or sum(map(bool, self.rows)) < 2:
            return None
        return max(run.now, self.began + self.slice)


class Cut(Waves):
    """A gang whose coming has had a turn begin anew loses its GPUs in that turn: since when it counts is open."""


class FailingMatrix(Matrix):
    """Nodes fail: a gang that loses its GPUs, or that waits for its turn on such a node, leaves its row and gets columns anew,
    of nodes that are up, as soon as there are any: those that have none first, then those that waited. In a row without gangs a
    gang may have columns of several nodes where none that is up is as wide."""

    def __init__(self, slice_ns, fills, cluster):
        Matrix.__init__(self, slice_ns, fills, cluster.nodes)
        self.nodes, self.outside, self.new, self.turned = cluster.nodes, [], [], None
        self.again = set()  # gangs that came to their GPUs later in this turn

    def arrived(self, run, job):
        if job in self.again:
            raise Cut
        self.leave(job)
        self.new.append(job)

    def leave(self, job):
        for row in self.rows:
            if job in row:
                row.remove(job)

    def find(self, job, taken):
        free = [[(number, gpu) for gpu in range(width) if (number, gpu) not in taken and not self.nodes[number].is_down]
                for number, width in enumerate(self.widths)]
        enough = [its for its in free if len(its) >= job.gpus]
        if enough:
            return min(enough, key=lambda its: (len(its), its[0]))[:job.gpus]
        units = [unit for its in free for unit in its]
        may_part = job.gpus > max(self.widths) or not taken
        return units[:job.gpus] if may_part and len(units) >= job.gpus else None

    def decide(self, run):
        self.rows = [[job for job in row if job.end is None] for row in self.rows]
        lost = [job for row in self.rows for job in row if job in run.waiting
                and any(self.nodes[number].is_down for number, _ in self.columns[job])]
        for job in lost:
            self.leave(job)
        gangs, self.outside, self.new = self.outside + self.new + lost, [], []
        for job in gangs:
            before = [list(row) for row in self.rows]
            Matrix.arrived(self, run, job)
            if not self.columns[job]:
                self.rows = before
                self.outside.append(job)
        self.now = run.now
        self.turned = run.now if self.turned is None else self.turned
        Matrix.decide(self, run)
        self.turned = self.turned if self.rows else None

    def turn(self):
        Matrix.turn(self)
        self.turned, self.again = self.now, set()

    def late(self, run):
        """Not those that come anew."""
        return [job for job in run.newcomers if job.submit == run.now]

    def note_placed(self, run, job):
        """A gang that comes anew to the row that has the turn has that begin anew."""
        if job in self.rows[self.at] and job.submit <= self.turned:
            self.began = None
            self.again |= {job} if any(other in run.running for other in self.rows[self.at] if other is not job) else set()
