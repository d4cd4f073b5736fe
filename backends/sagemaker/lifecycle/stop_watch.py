"""Whether somebody has asked from elsewhere that this experiment ends: read before each creation of a job, and now and then besides."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

from backends.object_store import ObjectStore
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, CloudError, FailureKind, as_cloud_errors, failure_of
from backends.sagemaker.aws.object_store import S3ObjectStore
from backends.sagemaker.aws.s3 import NoBucketError
from backends.sagemaker.aws.shared_pace import key_of
from backends.sagemaker.lifecycle.known_absence import KnownAbsence
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
        absence: what other experiments of the run on this machine have seen; None where this is the only one.
    """

    def __init__(
        self,
        store: ObjectStore,
        experiment: str,
        monotonic: Callable[[], float] = time.monotonic,
        kept_s: float = KEPT_S,
        absence: KnownAbsence | None = None,
    ) -> None:
        self._store, self._experiment, self._monotonic, self._kept_s = store, experiment, monotonic, kept_s
        self._absence = absence
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._mark: StopMark | None = None

    def mark(self, within_s: float | None = None) -> StopMark | None:
        """Return the mark that concerns this experiment; None where there is none, or where it is not allowed to see whether there is.

        Args:
            within_s: the answer is no older; 0 asks anew, whatever is known. None: as old as answers are kept.

        Raises:
            CloudError: S3 does not answer.
        """
        within_s = self._kept_s if within_s is None else within_s
        with self._lock:
            if self.age_s() >= within_s:
                self._ask(within_s)
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

    def _ask(self, within_s: float) -> None:
        with contextlib.nullcontext() if self._absence is None else self._absence.in_turn() as seen:
            seen_at = None if seen is None else seen.at()
            # What others know of a mark is never taken over: it may have been lifted since.
            if seen_at is not None and self._monotonic() < seen_at + within_s:
                self._mark, self._asked_at = None, seen_at
                return
            # By when it was asked: the answer is not younger than that.
            now = self._monotonic()
            found = self._read()
            self._mark, self._asked_at = found if found is not None and found.concerns(self._experiment) else None, now
            if seen is not None and found is None:
                seen.tell(now)

    def _read(self) -> StopMark | None:
        try:
            return left(self._store)
        except NoBucketError:
            return None  # nothing was ever kept, nor a mark
        except CloudError as error:
            failure = failure_of(error)
            # Where listing is not allowed, S3 answers so for what does not exist.
            if failure is not None and failure.kind is FailureKind.DENIED:
                return None
            raise


def watch_of(run_uri: str, experiment: str, clients: Clients, shared: Path) -> StopWatch:
    """Return what reads the mark of a run for an experiment.

    Args:
        run_uri: where the run's state is, or would be.
        experiment: as the mark names it.
        clients: of AWS.
        shared: folder in which processes of this user on this machine tell each other of what they read with the same credentials.
    """
    key = key_of(f"mark of {run_uri} {clients.access_key}", clients.region, clients.endpoint("s3"))
    return StopWatch(S3ObjectStore(run_uri, clients), experiment, absence=KnownAbsence(shared, key))


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
