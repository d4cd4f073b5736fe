"""One job on this machine: what is known of it, and what its end means."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from backends.common.child_process import Child
from backends.common.file_reports import FileReports
from backends.common.hints import calling_hint
from backends.common.job_output import Output
from backends.common.process_tree import Process
from backends.common.reactor import ScheduledCall
from backends.events import Closed
from backends.failures import METRICS_IN_PART, Cause, Outcome, classify_exit, last_words, says_disk_full, says_shared_memory
from backends.job_spec import JobSpec
from backends.processes.endpoint_job import EndpointShare, measured_of
from backends.processes.share import HeldShare, MachineShare
from backends.tracebacks import Raised
from definitions.quantities import size_text

FULL_BYTES = 16 * 1024**2
"""A disk with less than this free is full: what is written to it next fails, or soon."""

SHARED_MEMORY = Path("/dev/shm")


LEFT_RUNNING = (
    "what it had started and left running was ended with it, as a trial is over when its script is; a script that goes on in the "
    "background has to wait for that, or to stay in the foreground"
)


@dataclass(frozen=True)
class Termination:
    """How a job ended, and why."""

    outcome: Outcome
    cause: Cause | None = None
    message: str = ""


@dataclass
class ProcessJob:
    """A job from its submission to its end.

    Args:
        mark: what all its processes carry in their environment.
        limit_bytes: memory that its processes may use together.
        is_starting: whether a process has been asked for that is not known yet.
        decided: the termination where the back-end and not the script decided it.
        exited_at: when its first process had ended: what is measured ends there.
        ended_at: when nothing of it ran any more.
        kill_at: when what is left of it is killed; None while nothing is being ended.
        known: processes of it seen so far, by number.
        measured_file: what was measured of the script alone, where other commands run before or after it.
        endpoint: what it takes of the machine where it serves an endpoint; `endpoint_file`: what was measured of that.
        is_forked: whether its process was forked from one that had the modules; None where none was asked for.
        left_bytes: what it left on the disk: `spare` is its checkpoint and its model, `lasting` the rest.
        free_bytes: that were left on the disk of the results when it ended.
    """

    spec: JobSpec
    share: MachineShare
    mark: str
    limit_bytes: int
    lease: HeldShare | None = None
    child: Child | None = None
    output: Output | None = None
    files: FileReports | None = None
    started_at: float | None = None
    exit_code: int | None = None
    left_running: bool = False
    exited_at: float | None = None
    ended_at: float | None = None
    decided: Termination | None = None
    kill_at: float | None = None
    pause_s: float = 0.002
    is_starting: bool = False
    incarnation: int = 0
    peak_rss_bytes: int = 0
    known: dict[int, Process] = field(default_factory=dict)
    measured_file: Path | None = None
    endpoint: EndpointShare | None = None
    endpoint_file: Path | None = None
    is_forked: bool | None = None
    left_bytes: Mapping[str, int] | None = None
    free_bytes: int | None = None
    run_timer: ScheduledCall | None = None
    end_timer: ScheduledCall | None = None

    @property
    def cores(self) -> int:
        """How many cores it leases."""
        return self.share.cores if self.endpoint is None else self.endpoint.cores

    @property
    def running(self) -> bool:
        """Whether its first process runs."""
        return self.child is not None and self.exit_code is None

    def closed(self, at: float) -> Closed:
        """Return the last event of this job."""
        parser = self.output.parser if self.output else None
        tail = parser.tail if parser else ()
        counts = parser.counts if parser else None
        raised = parser.tracebacks.raised if parser else None
        reports = (counts.delivered if counts else 0) + (self.files.delivered if self.files else 0)
        found = self.decided or termination_of_exit(
            self.exit_code or 0, reports, counts.alien if counts else 0, tail, raised, self.spec.is_silent
        )
        remarks = [*(parser.remarks() if parser else ()), *(self.files.problems() if self.files else ())]
        if self.left_running and found.cause is Cause.NO_METRICS:
            remarks.append(LEFT_RUNNING)
        if remarks and found.cause is Cause.NO_METRICS:
            found = replace(found, message="; ".join([found.message, *remarks]))
        elif remarks and found.outcome is Outcome.COMPLETED:
            found = replace(found, message=METRICS_IN_PART + "; ".join(remarks))
        found = with_shared_memory(with_disk(found, self.free_bytes), SHARED_MEMORY)
        hint = calling_hint(found.message, self.spec, tail) if found.outcome is Outcome.FAILED else ""
        message = f"{found.message} ({hint})" if hint else found.message
        # What the script left running is chased for up to the grace period, which is none of its time.
        over_at = self.ended_at if self.exited_at is None else self.exited_at
        billable_s = over_at - self.started_at if self.started_at is not None and over_at is not None else 0.0
        return Closed(
            self.spec.name,
            at,
            found.outcome,
            found.cause,
            message,
            self.started_at,
            over_at if self.started_at is not None else None,
            billable_s,
            self._usage(),
            tail,
        )

    def _usage(self) -> dict[str, Any]:
        usage: dict[str, Any] = {}
        if self.output is not None:
            counts = self.output.parser.counts
            usage |= self.output.parser.usage()
            raised = self.output.parser.tracebacks.raised
            if self.exit_code and raised is not None and raised.place:
                usage["raised_in"] = raised.place
            usage |= {"alien_lines": counts.alien, "repeated_reports": counts.repeated, "overlong_lines": counts.too_long}
            if self.output.log.lost_bytes:
                usage["lost_log_bytes"] = self.output.log.lost_bytes
            if self.output.log.left_out_bytes:
                usage["left_out_log_bytes"] = self.output.log.left_out_bytes
        if self.peak_rss_bytes:
            usage["peak_rss_bytes"] = self.peak_rss_bytes
        cpu_s = self.child.cpu_s() if self.child else None
        usage |= {} if cpu_s is None else {"cpu_s": cpu_s}
        usage |= {} if self.is_forked is None or self.child is None else {"forked": self.is_forked}
        usage |= {} if self.left_bytes is None else {"left_bytes": dict(self.left_bytes)}
        served = measured_of(self.endpoint_file)
        return usage | ({"measured": measured} if (measured := self._measured()) else {}) | ({"endpoint": served} if served else {})

    def _measured(self) -> dict[str, Any]:
        try:
            found = json.loads(self.measured_file.read_text(encoding="utf-8")) if self.measured_file is not None else {}
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def with_disk(found: Termination, free_bytes: int | None) -> Termination:
    """Return a termination for which a full disk is the cause, where that is what the script says and the disk of the results is full.

    Args:
        found: as the script's own end has it.
        free_bytes: of the disk of the results; None where not known.
    """
    if found.cause is not Cause.SCRIPT_ERROR or free_bytes is None or not says_disk_full(found.message):
        return found
    free = size_text(free_bytes)
    if free_bytes < FULL_BYTES:
        return replace(found, cause=Cause.DISK_FULL, message=f"{found.message} ({free} are free on the disk of the results)")
    other = "another disk (/tmp? /dev/shm?) is full, or what was to be written is more"
    return replace(found, message=f"{found.message} ({free} are free on the disk of the results: {other})")


def with_shared_memory(found: Termination, folder: Path) -> Termination:
    """Return a termination with the room that processes have to share, and what to do, where it is that room which ran out.

    Args:
        found: as the script's own end has it.
        folder: where shared memory lies.
    """
    if found.cause is not Cause.OUT_OF_MEMORY or not says_shared_memory(found.message) or "loader_workers" in found.message:
        return found
    try:
        size = f"{folder} has {size_text(shutil.disk_usage(folder).total)} in all: "
    except OSError:
        size = ""
    advice = "load with fewer workers or smaller batches, or make it larger (docker run --shm-size)"
    return replace(found, message=f"{found.message} ({size}{advice})")


def termination_of_exit(
    exit_code: int, reports: int, alien: int, tail: Sequence[str], raised: Raised | None = None, is_silent: bool = False
) -> Termination:
    """Return what the script's own end means.

    Args:
        exit_code: 0, or as `classify_exit` takes it.
        reports: number of reports; success without one is a failure.
        alien: number of lines that looked like reports and were none.
        tail: last lines of the log.
        raised: the exception found in the log.
        is_silent: whether no report is expected.
    """
    if exit_code != 0:
        cause, message = classify_exit(exit_code, tail, raised)
        return Termination(Outcome.STOPPED if cause is Cause.OUTSIDE else Outcome.FAILED, cause, message)
    if reports > 0 or is_silent:
        return Termination(Outcome.COMPLETED)
    last = last_words(tail)
    message = "ended with success but reported nothing"
    if alien:
        message += f" that could be read ({alien} malformed)"
    return Termination(Outcome.FAILED, Cause.NO_METRICS, message + (f"; last line: {last}" if last else "; its log is empty"))
