"""Why a job did not do what it was asked: the causes, and how a script's end is classified. Pure."""

from __future__ import annotations

import enum
import re
import signal
from collections.abc import Sequence


class Cause(enum.StrEnum):
    """Cause of an outcome other than plain completion."""

    SCRIPT_ERROR = "script_error"
    NO_METRICS = "no_metrics"
    TIME_OUT = "time_out"
    OUT_OF_MEMORY = "out_of_memory"
    DIVERGED = "diverged"
    THROTTLED = "throttled"
    QUOTA = "quota"
    CAPACITY = "capacity"
    SPOT = "spot_interruption"
    SERVICE_ERROR = "service_error"
    LOST = "lost"
    CREDENTIALS = "credentials_expired"
    BAD_REQUEST = "bad_request"
    SCHEDULER = "stopped_by_method"
    PAUSED = "paused_by_method"
    OUTSIDE = "stopped_from_outside"
    BUDGET = "budget_spent"
    ALIKE = "all_fail_alike"
    INTERRUPTED = "interrupted"


class Outcome(enum.StrEnum):
    """How a job ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


_MEMORY_MARKS = ("MemoryError", "CUDA out of memory", "OutOfMemoryError", "std::bad_alloc", "Cannot allocate memory")


_OURS = re.compile(r"\s*\[(tune-metric|outrider-\w+)\]:")
"""Begins a line that the reporter or a job's entry point prints, not the script: reports, and the summary after a traceback."""


def last_words(log_tail: Sequence[str]) -> str:
    """Return the last line that a script itself printed, as it says why it ended; empty where there is none.

    Args:
        log_tail: the last lines of the log.
    """
    return next((line.strip() for line in reversed(log_tail) if line.strip() and not _OURS.match(line)), "")


def classify_exit(exit_code: int, log_tail: Sequence[str]) -> tuple[Cause, str]:
    """Return the cause of a script's own unsuccessful end, and one line that says it.

    Args:
        exit_code: as in `subprocess.Popen.returncode`: not 0, negative for a signal.
        log_tail: the last lines of the log.
    """
    last = last_words(log_tail)
    printed = [line for line in log_tail if not _OURS.match(line)]
    if any(mark in line for line in printed[-5:] for mark in _MEMORY_MARKS):
        return Cause.OUT_OF_MEMORY, last
    if exit_code < 0:
        try:
            name = signal.Signals(-exit_code).name
        except ValueError:
            name = str(-exit_code)
        return Cause.SCRIPT_ERROR, f"ended by signal {name}" + (f": {last}" if last else "")
    return Cause.SCRIPT_ERROR, last or f"exit code {exit_code}"


def signature(cause: Cause, message: str) -> str:
    """Return what two failures of one kind have in common: the cause and the message without numbers, addresses, paths."""
    text = re.sub(r"0x[0-9a-fA-F]+|\d+|(?:/[\w.+-]+){2,}", "#", message)
    return f"{cause}: {text}"
