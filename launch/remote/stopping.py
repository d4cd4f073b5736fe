"""Stops a run from anywhere: a mark that its controllers read, then the jobs that they run in, then all others, then what is kept warm."""

from __future__ import annotations

import contextlib
import getpass
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from backends.object_store import ObjectStore
from backends.sagemaker.admin.stop_endpoints import EndpointStopper
from backends.sagemaker.admin.stop_jobs import JobStopper, StopResult
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.s3 import NoBucketError
from backends.sagemaker.lifecycle.poll_intervals import AWS_INTERVALS, EMULATED_INTERVALS
from backends.sagemaker.lifecycle.stop_watch import KEPT_S
from backends.stop_mark import StopMark, leave
from backends.stopped_endpoints import tell
from benchmarking.remote.marked import EVERY_S
from definitions.errors import OutriderError

_CREATION_S = 13.0
"""Seconds that a controller's call to create a job may be on its way after it has read that there is no mark."""
_EMULATED_CREATION_S = 1.0


@dataclass(frozen=True)
class Stopped:
    """What came of stopping a run.

    Args:
        jobs: what came of its jobs and endpoints.
        unmarked: why no mark could be left, so that controllers may start more; empty where it was left, or where nothing is kept in S3.
    """

    jobs: StopResult
    unmarked: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left and no controller can start more."""
        return not self.jobs.left and not self.unmarked


class RunStopper:
    """Stops one run, or experiments of it.

    Args:
        clients: of the region of its jobs.
        tag: of the run.
        stores: where its state is kept, or would be: of each bucket and prefix that its jobs use.
        say: takes what is waited for.
    """

    def __init__(self, clients: Clients, tag: str, stores: Sequence[ObjectStore], say: Callable[[str], None]) -> None:
        self._clients, self._tag, self._stores, self._say = clients, tag, stores, say

    def stop(self, *, wait: bool = True, longest_s: float = 900.0, experiments: Sequence[tuple[str, str]] | None = None) -> Stopped:
        """Stop it.

        Args:
            wait: until all is gone, and no controller can start more.
            longest_s: most seconds to wait.
            experiments: those that are to end, each as its folder below the tag's and the beginning of its jobs' names, empty
                for one that has not begun; None for all.

        Raises:
            CloudError: AWS refuses to list the jobs, so that nothing is known of them; the mark is left.
        """
        names = None if experiments is None else tuple(name for name, _ in experiments)
        unmarked = self._mark(StopMark(time.time(), _who(), names))
        emulated = self._clients.emulated
        settle_s = KEPT_S + (_EMULATED_CREATION_S if emulated else _CREATION_S)
        if experiments is not None:
            # Its controller may run others too, so that no end of a job tells that it has seen the mark: it has after its next look.
            intervals = EMULATED_INTERVALS if emulated else AWS_INTERVALS
            settle_s += max(intervals.mark_s, EVERY_S)
        prefixes = None if experiments is None else tuple(prefix for _, prefix in experiments if prefix)
        jobs = JobStopper(self._clients, self._tag, page_gap_s=0.0 if emulated else 1.0, prefixes=prefixes)
        poll_s = 0.2 if emulated else 5.0
        result = jobs.stop(wait, longest_s, poll_s, self._say, settle_s)
        # After the jobs, as a controller that is one deletes its endpoints itself while it winds down.
        endpoints = EndpointStopper(self._clients, self._tag, prefixes, gone=self._gone).stop(wait, longest_s, poll_s, self._say)
        trouble = "; ".join(part for part in (result.trouble, endpoints.trouble) if part)
        return Stopped(StopResult((*result.jobs, *endpoints.jobs), trouble), unmarked)

    def _gone(self, endpoint: str) -> None:
        """Keep until when an endpoint was billed; where that cannot be kept, the mark cannot either, which is said."""
        for store in self._stores:
            with contextlib.suppress(OutriderError):
                tell(store, endpoint, time.time())

    def _mark(self, mark: StopMark) -> str:
        """Leave the mark wherever the run may look for it; return why it could not be left."""
        problems = []
        for store in self._stores:
            try:
                leave(store, mark)
            except NoBucketError:
                continue  # nothing can be kept there, nor do jobs find their code: no controller has begun
            except OutriderError as error:
                problems.append(str(error))
        return "; ".join(problems)


def _who() -> str:
    """Return who asks, as far as a person can be told by it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
