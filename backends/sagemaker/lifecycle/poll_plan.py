"""What the service is asked next, and when: one listing and one sweep of logs for all jobs, what is due at a job's end, and pools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.jobs.status_poller import StatusPoller
from backends.sagemaker.lifecycle.marked_end import MarkedEnd
from backends.sagemaker.lifecycle.poll_intervals import PollIntervals, listing_s
from backends.sagemaker.lifecycle.termination import JobTerminator
from backends.sagemaker.logs.poller import LogPoller
from backends.sagemaker.pools.keeper import PoolKeeper


@dataclass(frozen=True)
class PollPlan:
    """Has those that ask do so when it is due.

    Args:
        table: the jobs.
        statuses, logs: look at all of them, or at what they print.
        marked: looks for a mark that the run is to end.
        terminator, keeper: end jobs, and pools.
        intervals: at which the service is asked.
        sharers: how many processes of this machine make listings in turns, itself included.
    """

    table: JobTable
    statuses: StatusPoller
    logs: LogPoller
    marked: MarkedEnd
    terminator: JobTerminator
    keeper: PoolKeeper
    intervals: PollIntervals
    sharers: Callable[[], int]

    def begin_due(self, now: float) -> None:
        """Begin what is due: sweeps while something runs, last looks at logs, the end of pools."""
        live = self.table.live()
        if live:
            self.marked.plan(now)
            every_s = self.intervals.every_s(now - max(cloud.submitted_at for cloud in live))
            rest_s = listing_s(live, self.statuses.begun_at, every_s, self.table.shortest_start_s, self.sharers())
            self.statuses.plan(now, rest_s)
            if self._reads():
                self.logs.plan(now, every_s)
        if self.terminator.awaits_sweep:
            self.logs.plan(now, self.intervals.shortest_s)
        self.terminator.plan(now)
        self.keeper.plan()

    def next_at(self) -> float:
        """Return when something is due next, by the back-end's clock; infinity where nothing will be."""
        looks = [self.statuses.next_at, self.marked.next_at] if self.table.live() else []
        if self._reads() or self.terminator.awaits_sweep:
            looks.append(self.logs.next_at)
        return min([*looks, self.terminator.next_at(), self.keeper.next_at()])

    def _reads(self) -> bool:
        return any(cloud.runs_script or cloud.stage == "Stopping" for cloud in self.table.live())
