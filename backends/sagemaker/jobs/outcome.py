"""From what DescribeTrainingJob and the log say of an ended job to its `Closed`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backends.events import Closed
from backends.failures import LOG_INCOMPLETE, METRICS_IN_PART, Cause, Outcome, classify_exit, last_words, says_memory
from backends.last_lines import TAIL_LINES
from backends.sagemaker.aws.errors import one_line
from backends.sagemaker.jobs.job import seconds

FINAL = ("Completed", "Failed", "Stopped")
STAGES = ("Starting", "Pending", "Downloading", "Training", "Interrupted", "Restarting", "Uploading", "Stopping")

# All of these are looked for in their own places alone: the rest of a reason may hold any words of a script, a name, or an address.
_REASON = re.compile(r"(?:(?P<kind>AlgorithmError|ClientError|InternalServerError|\w*Capacity\w*): ?)?(?P<text>.*)", re.DOTALL)
_EXIT_CODE = re.compile(r"(?:,\s*|\b)exit code:?\s*(-?\d+)\s*$", re.IGNORECASE)
_KILLED = 137
_CAPACITY = re.compile(
    r"unable to provision|there is not enough capacity|not enough capacity|insufficient (?:instance )?capacity"
    r"|we currently do not have sufficient",
    re.IGNORECASE,
)
_SPOT = re.compile(r"(?:the |managed )?spot (?:instances?|capacity|training)\b.{0,40}\binterrupt", re.IGNORECASE)
_MORE_MEMORY = re.compile(r"please use an instance type with more memory", re.IGNORECASE)
_ENTRY_POINT_S = re.compile(r".{1,400} ended (?:with exit code \d+|by signal \w+)")
"""What the job's entry point writes where the script itself has not said why it failed."""
_TOOLKIT_S = re.compile(r"\w+Error:\s+ExitCode ")
_QUOTED = re.compile(r'\bErrorMessage "(.*)"\s+(?:ExtraInfo|Command) ', re.DOTALL)
"""What the toolkit of framework containers writes there, and what of the script's own output it quotes."""


@dataclass(frozen=True)
class JobEvidence:
    """What the back-end knows of a job beside the service's description.

    Args:
        job: its name; `at`: now.
        offset_s: by how much the service's clock is ahead of ours.
        stop_reason: why it was asked to stop; None where it was not.
        reports: how many arrived, from this or an earlier controller.
        exit_code: of the script, as the job's entry point said; None where it did not; `kernel_kills`: as it said beside 137.
        tail: last lines of the log of the host that failed, else of the first, as many as there are; `usage`: totals.
        host: that failed; empty where it is the first or not known.
        elsewhere: hosts but the first that printed reports.
        asked_for: instance type; `is_silent`: whether no report is expected.
        remarks: on what kept metrics from being found.
        is_log_incomplete: whether the end of the log was awaited in vain, or reports are missing by their numbers.
    """

    job: str
    at: float
    offset_s: float
    stop_reason: Cause | None
    reports: int
    exit_code: int | None
    tail: Sequence[str]
    usage: Mapping[str, Any]
    asked_for: str
    is_silent: bool = False
    is_log_incomplete: bool = False
    remarks: Sequence[str] = ()
    kernel_kills: int | None = None
    host: str = ""
    elsewhere: Sequence[str] = ()


def closed_event(described: Mapping[str, Any], evidence: JobEvidence) -> Closed:
    """Return what became of a job.

    Args:
        described: DescribeTrainingJob's answer for a job that has ended.
        evidence: what is known otherwise.
    """
    outcome, cause, message = _judged(described, evidence)
    started_at, ended_at = (seconds(described.get(key)) for key in ("TrainingStartTime", "TrainingEndTime"))
    if evidence.is_log_incomplete and (outcome is Outcome.COMPLETED or cause is Cause.NO_METRICS):
        message = "; ".join(part for part in (message, LOG_INCOMPLETE) if part)
    if evidence.remarks and (outcome is Outcome.COMPLETED or cause is Cause.NO_METRICS):
        message = "; ".join(part for part in (message, METRICS_IN_PART + "; ".join(evidence.remarks)) if part)
    used = instance_type(described)
    stages = stage_seconds(described)
    at = evidence.at
    if ended_at is not None:
        ended_at = min(at, ended_at - evidence.offset_s)
    if started_at is not None:
        started_at = min(started_at - evidence.offset_s, at if ended_at is None else ended_at)
    usage = {**evidence.usage, **({"stages_s": stages} if stages else {})}
    if "Starting" in stages:
        usage["waited_s"] = stages["Starting"]
    return Closed(
        evidence.job,
        at,
        outcome,
        cause,
        message,
        started_at,
        ended_at if started_at is not None else None,
        float(described.get("BillableTimeInSeconds") or 0.0),
        usage,
        tuple(evidence.tail)[-TAIL_LINES:],
        used if used and used != evidence.asked_for else None,
    )


def is_of_somebody_else(described: Mapping[str, Any], stop_reason: Cause | None) -> bool:
    """Return whether a job that has ended was stopped by somebody else: not by this program, and not at one of its limits."""
    limits = ("MaxRuntimeExceeded", "MaxWaitTimeExceeded")
    return stop_reason is None and described.get("TrainingJobStatus") == "Stopped" and described.get("SecondaryStatus") not in limits


def _judged(described: Mapping[str, Any], evidence: JobEvidence) -> tuple[Outcome, Cause | None, str]:
    status, secondary = str(described.get("TrainingJobStatus", "")), str(described.get("SecondaryStatus", ""))
    reason = one_line(str(described.get("FailureReason", "")), 1024)
    if status == "Completed":
        if evidence.reports == 0 and not evidence.is_silent:
            last = last_words(evidence.tail)
            message = "it ended well, but reported nothing" + (f"; its last line: {last}" if last else "")
            if evidence.elsewhere:
                message += f"; {', '.join(evidence.elsewhere)} printed reports, but only those of the first host count"
            return Outcome.FAILED, Cause.NO_METRICS, message
        return Outcome.COMPLETED, None, ""
    if status == "Stopped":
        if secondary == "MaxRuntimeExceeded":
            limit_s = described.get("StoppingCondition", {}).get("MaxRuntimeInSeconds")
            return Outcome.FAILED, Cause.TIME_OUT, f"ran longer than max_run = {limit_s} s"
        if secondary == "MaxWaitTimeExceeded":
            limit_s = described.get("StoppingCondition", {}).get("MaxWaitTimeInSeconds")
            return Outcome.FAILED, Cause.SPOT, f"no spot capacity within max_wait = {limit_s} s"
        if evidence.stop_reason is not None:
            return Outcome.STOPPED, evidence.stop_reason, ""
        return Outcome.STOPPED, Cause.OUTSIDE, "somebody else stopped the training job"
    if evidence.stop_reason is not None and evidence.exit_code in (None, 143, -15):
        # Asked to stop, it failed on the way; what was wanted has happened.
        return Outcome.STOPPED, evidence.stop_reason, reason
    is_spot = bool(described.get("EnableManagedSpotTraining", True))
    cause, message = failure(reason, evidence.exit_code, evidence.tail, evidence.kernel_kills, is_spot=is_spot)
    if evidence.host and cause is not Cause.SERVICE_ERROR:
        message = f"{evidence.host}: {message}"
    return Outcome.STOPPED if cause is Cause.OUTSIDE else Outcome.FAILED, cause, message


def failure(
    reason: str, exit_code: int | None, tail: Sequence[str], kernel_kills: int | None = None, *, is_spot: bool = True
) -> tuple[Cause, str]:
    """Return the cause of a training job's failure, and one line that says it.

    What the script wrote of its failure says it best, then the log, then the service.

    Args:
        reason: the service's FailureReason, on one line.
        exit_code: of the script, as the job's entry point said; None where it did not.
        tail: last lines of the log, empty where they are not known.
        kernel_kills: processes that the kernel killed for lack of memory while the job ran; None where that is not known.
        is_spot: whether the job asked for spot instances.
    """
    parts = _REASON.match(reason)
    kind, text = (parts["kind"] or "", parts["text"]) if parts else ("", reason)
    by_script = kind == "AlgorithmError"
    if not by_script and ("Capacity" in kind or _CAPACITY.match(text)):
        return Cause.CAPACITY, reason
    if kind == "InternalServerError":
        return Cause.SERVICE_ERROR, reason
    if not by_script and is_spot and _SPOT.match(text):
        return Cause.SPOT, reason
    if kind == "ClientError":
        return (Cause.OUT_OF_MEMORY if _MORE_MEMORY.match(text) else Cause.BAD_REQUEST), reason
    found = _EXIT_CODE.search(reason)
    code = exit_code if exit_code is not None else int(found[1]) if found else None
    if not by_script and code is None:
        return Cause.SERVICE_ERROR, reason or "the training job failed, and the service gives no reason"
    said, quoted = (written_by_script(text), _QUOTED.search(text)) if by_script else ("", None)
    lines = quoted[1].splitlines() if quoted else []
    tail = tail or lines
    cause, message = classify_exit(code or 1, tail)
    if any(says_memory(line.strip()) for line in (said, *lines)):
        cause = Cause.OUT_OF_MEMORY
    if code in (_KILLED, -9) and cause is Cause.OUTSIDE:
        if kernel_kills == 0:
            return cause, "killed from outside (SIGKILL): the kernel killed nothing for lack of memory meanwhile"
        # Without the kernel's own record: hardly anybody reaches into a container to kill what runs there.
        return Cause.OUT_OF_MEMORY, "killed (exit code 137), as a program is that takes more memory than the instance has"
    return cause, said or (message if tail else reason or message)


def written_by_script(text: str) -> str:
    """Return what a script wrote to its failure file, of an AlgorithmError's text; empty where only a launcher did."""
    said = " ".join(_EXIT_CODE.sub("", text).split())
    return "" if _ENTRY_POINT_S.fullmatch(said) or _TOOLKIT_S.match(said) else said


def instance_type(described: Mapping[str, Any]) -> str:
    """Return what a job really ran on; empty where that is not said."""
    resources = described.get("ResourceConfig", {})
    return str(resources.get("SelectedInstanceType") or resources.get("InstanceType") or "")


def stage_seconds(described: Mapping[str, Any]) -> dict[str, float]:
    """Return the seconds that a job spent in each secondary status, over all its lives."""
    found: dict[str, float] = {}
    for step in described.get("SecondaryStatusTransitions", ()):
        begun, over = seconds(step.get("StartTime")), seconds(step.get("EndTime"))
        if begun is not None and over is not None and step.get("Status") not in FINAL:
            found[str(step["Status"])] = round(found.get(str(step["Status"]), 0.0) + max(0.0, over - begun), 3)
    return found
