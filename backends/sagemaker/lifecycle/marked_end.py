"""Ends the jobs of an experiment when somebody has asked for that from elsewhere, by the mark beside the run's state."""

from __future__ import annotations

import math
from collections.abc import Callable

from backends.failures import Cause, Outcome
from backends.sagemaker.aws.call_queue import Call
from backends.sagemaker.jobs.job import CloudJob, JobPhase
from backends.sagemaker.jobs.job_table import JobTable
from backends.sagemaker.lifecycle.stop_watch import StopWatch, words
from backends.stop_mark import StopMark

_OPERATION = "GetObject"
_TAKEN_OVER = 0.5
"""What another experiment saw is taken over where it is younger than this part of the time between two looks."""


class MarkedEnd:
    """Looks for the mark and, once it is there, has all jobs stopped.

    The jobs close as stopped for a cause that nobody in this process gave, by which the loop knows that the experiment is to end.

    Args:
        table: the jobs.
        watch: reads the mark; None where there can be none.
        stop: has a job stopped for a cause.
        every_s: seconds between two looks while jobs run and none is created, before which the mark is read as well.
    """

    def __init__(self, table: JobTable, watch: StopWatch | None, stop: Callable[[str, Cause], None], every_s: float) -> None:
        self._table, self._watch, self._stop, self._every_s = table, watch, stop, every_s
        self.next_at = -math.inf
        self._is_said = False

    def plan(self, now: float) -> None:
        """Begin a look where one is due."""
        if self._watch is None:
            self.next_at = math.inf
        if self._watch is None or now < self.next_at:
            return
        age_s = self._watch.age_s()
        if age_s < self._every_s:
            # A creation has read it meanwhile.
            self.next_at = now + self._every_s - age_s
            return
        self.next_at, watch = math.inf, self._watch

        def over(mark: StopMark | None) -> None:
            # Another experiment may have looked before this one asked: the next look is due when the answer is old, not this one's call.
            age_s = watch.age_s()
            self.next_at = self._table.now() + (self._every_s - age_s if age_s < self._every_s else self._every_s)
            self.seen(mark)

        self._ask(over, self._every_s * _TAKEN_OVER)

    def known(self, cloud: CloudJob, then: Callable[[], None]) -> bool:
        """Find out whether a job that somebody stopped was stopped with its experiment; return whether that is known already.

        Args:
            cloud: the job, whose cause it becomes then.
            then: called once it is known, where it was not.
        """
        if self._watch is None or cloud.is_mark_read:
            return True

        def over(mark: StopMark | None) -> None:
            cloud.is_mark_read = True
            if mark is not None and cloud.stop_reason is None:
                cloud.stop_reason, cloud.stop_message = _cause(mark), words(mark)
            self.seen(mark)
            then()

        self._ask(over, 0.0)
        return False

    def seen(self, mark: StopMark | None) -> None:
        """Have all jobs stopped where there is a mark, and say so."""
        if mark is None:
            return
        if not self._is_said:
            self._is_said = True
            self._table.notify(words(mark))
        for cloud in [*self._table.jobs.values()]:
            if cloud.stop_reason is not None or cloud.phase in (JobPhase.OVER, JobPhase.CLOSED):
                continue
            cloud.stop_message = words(mark)
            self._stop(cloud.spec.name, _cause(mark))

    def refused(self, cloud: CloudJob) -> None:
        """Take in that a job was not created as there is a mark: neither is any other then."""
        mark = None if self._watch is None else self._watch.last
        if mark is None:  # it was lifted meanwhile
            self._table.close_as(cloud, Outcome.STOPPED, Cause.INTERRUPTED, "stopped before it was created")
        self.seen(mark)

    def _ask(self, done: Callable[[StopMark | None], None], within_s: float) -> None:
        watch = self._watch
        assert watch is not None
        # What cannot be read is no mark: the next creation, which is not made without an answer, tells.
        self._table.calls.put(Call(_OPERATION, lambda: watch.mark(within_s), done, lambda _: done(None)))


def _cause(mark: StopMark) -> Cause:
    return Cause.INTERRUPTED if mark.is_of_all else Cause.ALONE
