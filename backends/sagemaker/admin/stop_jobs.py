"""Stops the training jobs of a tag from anywhere, those with its controllers first, and releases their warm pools."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backends.naming import TAG_KEY, controller_mark
from backends.sagemaker.admin.tagged_jobs import TaggedJob, list_jobs, tags_of
from backends.sagemaker.aws.clients import Clients
from backends.sagemaker.aws.errors import CallFailure, FailureKind, failure_of

_CONTROLLERS_S = 300.0
"""Seconds that controllers have to wind down, before what they run is stopped by us."""


@dataclass(frozen=True)
class StoppedJob:
    """What was done about one job.

    Args:
        before, now: its status when it was found and when it was last seen.
        done: in words.
        left: whether it may still cost money although it should not.
    """

    job: str
    before: str
    now: str
    done: str
    left: bool


@dataclass(frozen=True)
class StopResult:
    """What came of stopping a tag.

    Args:
        jobs: in the order in which they were found.
        trouble: why the end could not be awaited; empty where it was.
    """

    jobs: tuple[StoppedJob, ...]
    trouble: str = ""

    @property
    def left(self) -> tuple[str, ...]:
        """Names of the jobs that may still cost money although they should not."""
        return tuple(one.job for one in self.jobs if one.left)


@dataclass
class _Entry:
    before: TaggedJob
    now: TaggedJob
    ours: bool | None = None
    asked: bool = False
    released: bool = False
    problem: CallFailure | None = None


class JobStopper:
    """The training jobs of one tag.

    Names say which jobs may belong to it, and the tag `outrider:tag` says which do; a job whose tags cannot be read is left alone.

    Args:
        clients: of the region to look in.
        tag: of the experiments.
        page_gap_s: seconds between two list calls, of which an account has two a second in all.
        prefixes: what the names of the jobs begin with that are meant; None for all of the tag.
        monotonic: a clock in seconds; `sleep`: waits so many of them.
    """

    def __init__(
        self,
        clients: Clients,
        tag: str,
        page_gap_s: float = 1.0,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        prefixes: tuple[str, ...] | None = None,
    ) -> None:
        self._clients, self._tag, self._prefixes = clients, tag, prefixes
        self._page_gap_s, self._monotonic, self._sleep = page_gap_s, monotonic, sleep
        self._entries: dict[str, _Entry] = {}
        self._newest: datetime.datetime | None = None

    def running(self) -> list[str]:
        """Return the names of the jobs that run; also of those that might be the tag's but whose tags cannot be read.

        Raises:
            ClientError, BotoCoreError: AWS refuses the listing.
        """
        self._refresh(None)
        return [name for name, entry in self._entries.items() if entry.now.runs and entry.ours is not False]

    def stop(
        self,
        wait: bool = True,
        longest_s: float = 900.0,
        poll_s: float = 5.0,
        say: Callable[[str], None] = lambda line: None,
        settle_s: float = 0.0,
    ) -> StopResult:
        """Stop them all and release their warm pools: controllers, which wind down what they run themselves, and then what is left.

        Args:
            wait: until they are gone; jobs that start meanwhile are stopped too, and pools that form are released.
            longest_s: most seconds to wait.
            poll_s: seconds between two looks.
            say: takes what is waited for.
            settle_s: seconds to go on looking although nothing is left, as a controller that has not read the mark yet may create a job.

        Raises:
            ClientError, BotoCoreError: AWS refuses the first listing, so that nothing is known.
        """
        began = self._monotonic()
        end, settled_at = began + longest_s, began + settle_s
        self._refresh(None)
        trouble = said = ""
        while True:
            waited = [entry for entry in self._entries.values() if entry.ours and entry.now.live and not _hopeless(entry)]
            # Whoever does not wind down in time does not keep us from what costs money.
            is_patient = wait and self._monotonic() < began + min(_CONTROLLERS_S, longest_s / 2)
            first = [entry for entry in waited if is_patient and self._is_controller(entry) and entry.now.runs]
            for entry in first or list(self._entries.values()):
                self._act(entry)
            waited = [entry for entry in waited if not _hopeless(entry)]
            if not wait or not (waited or self._monotonic() < settled_at):
                break
            if self._monotonic() + poll_s > end:
                trouble = f"not all were gone after {longest_s:.0f} s"
                break
            line = self._waiting_line(waited, first)
            if line and line != said:
                said = line
                say(line)
            self._sleep(poll_s)
            known = set(self._entries)
            try:
                self._refresh(min((entry.before.created_at for entry in waited), default=self._newest))
            except Exception as error:
                failure = failure_of(error)
                if failure is None:
                    raise
                trouble = f"their end could not be awaited: {failure}"
                break
            if any(entry.ours for name, entry in self._entries.items() if name not in known):
                say("jobs of the tag still start: a controller of it runs somewhere that has not seen the mark yet")
        return StopResult(tuple(_handled(entry, wait) for entry in self._entries.values() if entry.ours is not False), trouble)

    def _is_controller(self, entry: _Entry) -> bool:
        return entry.now.name.startswith(controller_mark(self._tag))

    def _waiting_line(self, waited: Sequence[_Entry], first: Sequence[_Entry]) -> str:
        if first:
            return f"waiting for {len(first)} controller{'s' * (len(first) > 1)} to wind down"
        ours = sum(entry.ours is True for entry in self._entries.values())
        return f"waiting for {len(waited)} of {ours} jobs" if waited else ""

    def _refresh(self, since: datetime.datetime | None) -> None:
        """Look at all jobs, or those created since; ended ones that hold nothing are not looked at further."""
        for job in list_jobs(self._clients, self._tag, since, lambda: self._sleep(self._page_gap_s)):
            if self._prefixes is not None and not job.name.startswith(self._prefixes):
                continue
            entry = self._entries.get(job.name)
            self._newest = job.created_at if self._newest is None else max(self._newest, job.created_at)
            if entry is None:
                if not job.live:
                    continue
                entry = self._entries[job.name] = _Entry(job, job)
            entry.now = job
            if entry.ours is None:
                self._recognise(entry)

    def _recognise(self, entry: _Entry) -> None:
        try:
            entry.ours, entry.problem = tags_of(self._clients, entry.now.arn).get(TAG_KEY) == self._tag, None
        except Exception as error:
            entry.problem = failure_of(error)
            if entry.problem is None:
                raise

    def _act(self, entry: _Entry) -> None:
        if not entry.ours or _hopeless(entry):
            return
        sagemaker = self._clients.get("sagemaker")
        name = entry.now.name
        if entry.now.runs and entry.now.status != "Stopping" and not entry.asked:
            entry.asked = self._try(entry, sagemaker.stop_training_job, TrainingJobName=name)
        elif not entry.now.runs and entry.now.pool == "Available" and not entry.released:
            ended = {"KeepAlivePeriodInSeconds": 0}
            entry.released = self._try(entry, sagemaker.update_training_job, TrainingJobName=name, ResourceConfig=ended)

    def _try(self, entry: _Entry, call: Callable[..., Any], **arguments: Any) -> bool:
        try:
            call(**arguments)
        except Exception as error:
            entry.problem = failure_of(error)
            if entry.problem is None:
                raise
            return False
        entry.problem = None
        return True


def _hopeless(entry: _Entry) -> bool:
    # All else may be that the job or its pool ended meanwhile, which the next look shows.
    return entry.problem is not None and entry.problem.kind in (FailureKind.DENIED, FailureKind.CREDENTIALS)


def _handled(entry: _Entry, waited: bool) -> StoppedJob:
    before, now = entry.before, entry.now
    shown = [one.status + (f", warm pool {one.pool}" if one.pool == "Available" else "") for one in (before, now)]
    if entry.ours is None:
        return StoppedJob(before.name, shown[0], shown[1], f"left alone, as its tags cannot be read: {entry.problem}", True)
    if entry.problem is not None and now.live:
        return StoppedJob(before.name, shown[0], shown[1], f"could not be {'stopped' if now.runs else 'released'}: {entry.problem}", True)
    done = []
    if before.status == "Stopping":
        done.append("was stopping already")
    elif before.runs:
        done.append("stopped" if now.status == "Stopped" else "asked to stop" if now.runs else f"ended by itself ({now.status})")
    if entry.released:
        done.append("warm pool released")
    elif before.runs and now.runs and not waited and before.pool:
        done.append("its warm pool stays until its keep-alive ends; run stop again to release it")
    return StoppedJob(before.name, shown[0], shown[1], "; ".join(done), waited and now.live)
