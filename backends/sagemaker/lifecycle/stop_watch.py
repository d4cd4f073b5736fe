"""Whether somebody has asked from elsewhere that this experiment ends: read before each creation of a job, and now and then besides."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable

from backends.object_store import ObjectStore
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind, as_cloud_errors, failure_of
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.sagemaker.aws.s3 import NoBucketError
from backends.stop_mark import StopMark, left, lift
from definitions.errors import OutriderError

KEPT_S = 2.0
"""Seconds for which an answer is kept: whoever leaves a mark waits for longer than that before no controller starts more."""


class StopWatch:
    """Reads the mark of a run; safe to use from several threads, of which one asks for all.

    Args:
        store: of the run.
        experiment: as the mark names it, `<benchmark>/<method>-<backend>-<number>`.
        monotonic: a clock in seconds.
        kept_s: seconds for which an answer is kept.
    """

    def __init__(
        self, store: ObjectStore, experiment: str, monotonic: Callable[[], float] = time.monotonic, kept_s: float = KEPT_S
    ) -> None:
        self._store, self._experiment, self._monotonic, self._kept_s = store, experiment, monotonic, kept_s
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._mark: StopMark | None = None

    def mark(self, *, at_once: bool = False) -> StopMark | None:
        """Return the mark that concerns this experiment; None where there is none, or where it is not allowed to see whether there is.

        Args:
            at_once: ask anew, whatever is known.

        Raises:
            CloudError: S3 does not answer.
        """
        with self._lock:
            # By when it was asked: the answer is not younger than that.
            now = self._monotonic()
            if at_once or self._asked_at is None or now >= self._asked_at + self._kept_s:
                self._mark, self._asked_at = self._read(), now
            return self._mark

    @property
    def last(self) -> StopMark | None:
        """What was read last."""
        return self._mark

    def age_s(self) -> float:
        """Return how many seconds ago the mark was read; infinity where it never was."""
        asked_at = self._asked_at
        return math.inf if asked_at is None else self._monotonic() - asked_at

    def check(self) -> None:
        """Raise `CloudError` of kind `MARKED` where the experiment is to end; else as `mark`."""
        found = self.mark()
        if found is not None:
            failure = CallFailure(FailureKind.MARKED, "", "StopMark", words(found))
            raise CloudError("no further job is created", failure)

    def _read(self) -> StopMark | None:
        try:
            found = left(self._store)
        except NoBucketError:
            return None  # nothing was ever kept, nor a mark
        except CloudError as error:
            failure = failure_of(error)
            # Where listing is not allowed, S3 answers so for what does not exist.
            if failure is not None and failure.kind is FailureKind.DENIED:
                return None
            raise
        return found if found is not None and found.concerns(self._experiment) else None


def lifted(uri: Callable[[], str], clients: Clients) -> str:
    """Take the mark of a run away, and return what it said; empty where there was none, or where that cannot be known now.

    Args:
        uri: returns the root of the run; what it raises is said where a job needs the same.
        clients: of AWS.
    """
    with contextlib.suppress(OutriderError), as_cloud_errors("the mark of a run"):
        found = lift(S3ObjectStore(uri(), clients))
        return "" if found is None else words(found)
    return ""


def words(mark: StopMark) -> str:
    """Return what a mark says, for a person."""
    when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(mark.at)) if mark.at else "some time ago"
    return f"{mark.by} asked for its end from elsewhere, {when}"
