"""That somebody asked an experiment to end: who interrupts this program, or whoever asks the back-end from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

from backends.events import Closed, Rejected
from backends.failures import Cause
from benchmarking.controller.rows import JobState

_OF_ALL = (Cause.INTERRUPTED, Cause.ALONE)
"""Causes of jobs that end together with all others of their experiment."""


@dataclass
class EndRequest:
    """Whether and how the end was asked for.

    Args:
        is_made: whether it was.
        alone: whether other experiments of the same command are to go on.
        why: who asked, in words; empty where that is whoever runs this program.
        detached: whether it is to end and leave everything to the next controller.
        earlier: names of jobs that an earlier controller saw the end of, which tell nothing of what is wanted now.
    """

    is_made: bool = False
    alone: bool = False
    why: str = ""
    earlier: frozenset[str] = frozenset()
    detached: bool = False

    def make(self, *, alone: bool = False, why: str = "") -> None:
        """Take in a request; the first that is for all counts, and is not taken back by one for this experiment alone."""
        self.alone = alone and (self.alone or not self.is_made)
        self.is_made, self.why, self.detached = True, self.why or why, False

    def detach(self, *, stops: bool) -> None:
        """Take in that everything is left to the next controller, unless the end was asked for.

        Args:
            stops: whether what runs is to be stopped, as it does not outlive this controller.
        """
        if not self.is_made:
            self.is_made, self.detached = stops, True

    def taken_in(self, job: JobState, event: Closed | Rejected) -> Closed | Rejected:
        """Take in the end of a job, and return it as what it is then.

        What nobody here asked to stop, and was stopped with its experiment, tells that this is to end. What somebody else stopped while
        this ends was stopped with it: who ends this program together with its jobs, a service manager say, wants the trials to go on at
        a resume.

        Args:
            job: the job.
            event: how it was closed.
        """
        if job.stop_reason is None and event.cause in _OF_ALL and job.name not in self.earlier and not self.is_made:
            self.make(alone=event.cause is Cause.ALONE, why=event.message)
        if self.is_made and isinstance(event, Closed) and event.cause is Cause.OUTSIDE and job.stop_reason is not Cause.OUTSIDE:
            return replace(event, cause=Cause.INTERRUPTED, message="")
        return event
