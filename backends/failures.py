"""Why a job did not do what it was asked: the causes, and how a script's end is classified. Pure."""

from __future__ import annotations

import enum
import re
import signal
from collections.abc import Sequence

from backends.tracebacks import Raised, find_raised


class Cause(enum.StrEnum):
    """Cause of an outcome other than plain completion."""

    SCRIPT_ERROR = "script_error"
    NO_METRICS = "no_metrics"
    TIME_OUT = "time_out"
    OUT_OF_MEMORY = "out_of_memory"
    DISK_FULL = "disk_full"
    DIVERGED = "diverged"
    THROTTLED = "throttled"
    QUOTA = "quota"
    CAPACITY = "capacity"
    SPOT = "spot_interruption"
    SERVICE_ERROR = "service_error"
    LOST = "lost"
    CONTROLLER = "controller_ended"
    """Its controller ended, and it with it."""
    CREDENTIALS = "credentials_expired"
    BAD_REQUEST = "bad_request"
    SCHEDULER = "stopped_by_method"
    PREFIX = "prefix_measured"
    PAUSED = "paused_by_method"
    OUTSIDE = "stopped_from_outside"
    BUDGET = "budget_spent"
    ALIKE = "all_fail_alike"
    INTERRUPTED = "interrupted"
    ALONE = "experiment_stopped"
    """Somebody ended its experiment alone, of several that run or are to run."""


class Outcome(enum.StrEnum):
    """How a job ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"


METRICS_IN_PART = "metrics read in part: "
"""What the message of a completed job begins with where not all that was printed or written could be read."""

LOG_INCOMPLETE = "log incomplete: its end was not seen"
"""Said of a job that ended well, and of whose reports some may have been lost or come later."""

_MEMORY = re.compile(
    r"""^(?: [\w.]*(?:MemoryError|OutOfMemoryError|ResourceExhaustedError|bad_alloc)(?=:|\s*$)
    | terminate\ called\b.*\bstd::bad_alloc
    | (?:[\w.]*(?:RuntimeError|OSError|BlockingIOError|AcceleratorError|InternalError):\ )?
      (?: (?:CUDA|HIP|XPU|MPS\ backend)\ out\ of\ memory | CUDA\ error:\ (?:out\ of\ memory|CUBLAS_STATUS_ALLOC_FAILED)
      | cuDNN\ error:\ CUDNN_STATUS_ALLOC_FAILED | RESOURCE_EXHAUSTED:\ Out\ of\ memory | Caught\ OutOfMemoryError\b
      | (?:\[enforce\ fail\ at\ [^\]]*\].{0,40})?DefaultCPUAllocator:\ (?:can't\ allocate|not\ enough)\ memory
      | DataLoader\ worker\ \(pid\b.*\bout\ of\ shared\ memory | unable\ to\ (?:allocate|mmap|open|write\ to)\ shared\ memory
      | (?:\[Errno\ 12\]\ )?Cannot\ allocate\ memory )
    ) | :\ Cannot\ allocate\ memory$ """,
    re.VERBOSE,
)
"""How a line begins, or ends, that says a program got no more memory: an exception of this name, or a library's own sentence."""

_DISK_MARKS = ("No space left on device", "Disk quota exceeded", "database or disk is full")

_OURS = re.compile(r"\s*\[(tune-metric|outrider-\w+)\]:")
"""Begins a line that the reporter or a job's entry point prints, not the script: reports, and the summary after a traceback."""

_AT_SHUTDOWN = re.compile(
    r"""resource_tracker: | leaked\ .*objects?\ to\ clean\ up | ^\s*Exception\ ignored\  | ^\s*\S*:\d+:\ \w*Warning\b
    | ^\s*\w*Warning:\s | ^\s+warnings\.warn\( """,
    re.VERBOSE,
)
"""What the interpreter says while it ends, and warnings, as the `warnings` module prints them."""

_OF_A_SHELL = re.compile(
    r"^(Aborted|Killed|Terminated|Segmentation fault)( \(core dumped\))?$|: line \d+:\s+\d+ (Aborted|Killed|Terminated|Segm)"
)
"""What a shell prints of a program that a signal has ended."""

_OF_ANOTHER = re.compile(
    r"""killed\ by\ signal:\ Killed | SIGKILL | \b[Ss]ignal:?\ 9\b | exit\s?code\s*:?\ -9\b | \b(?:code|status)\ (?:-9|137)\b | ^Killed$
    | :\ line\ \d+:\s+\d+\ Killed | terminated\ abruptly""",
    re.VERBOSE,
)
"""What a program says of another that it had started and that was killed, as the kernel does for lack of memory."""

_SAYS_WHY = re.compile(r"error|fault|fatal|abort|terminate|assert|exception|panic|corrupt|what\(\)", re.IGNORECASE)

_BY_HAND = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
"""Signals that nobody but a person, or another program of theirs, sends to a script that is neither ours to stop nor the kernel's."""


def last_words(log_tail: Sequence[str]) -> str:
    """Return the last line in which a script itself says something; empty where there is none.

    Args:
        log_tail: the last lines of the log.
    """
    lines: list[str] = []
    after_warning = False
    for line in log_tail:
        if not line.strip() or _OURS.match(line):
            continue
        # A warning is followed by the line of source that it is about.
        is_source = after_warning and line[0] in " \t"
        after_warning = _AT_SHUTDOWN.search(line) is not None
        if not (after_warning or is_source):
            lines.append(line.strip())
    return next((line for line in reversed(lines) if not _OF_A_SHELL.search(line)), lines[-1] if lines else "")


def signal_of(exit_code: int) -> signal.Signals | None:
    """Return the signal that an exit code tells of: a negative number, or 128 and more as shells and containers pass it on."""
    number = -exit_code if exit_code < 0 else exit_code - 128
    try:
        return signal.Signals(number) if number > 0 else None
    except ValueError:
        return None


def classify_exit(exit_code: int, log_tail: Sequence[str], raised: Raised | None = None) -> tuple[Cause, str]:
    """Return the cause of a script's own unsuccessful end, and one line that says it.

    An exception weighs more than anything that is printed after it; without one the signal, then the last line, then the exit code says it.

    Args:
        exit_code: as in `subprocess.Popen.returncode`: not 0, negative for a signal.
        log_tail: the last lines of the log.
        raised: the exception found in the whole log, as `TracebackFinder` finds it; None to look for it in the last lines.
    """
    raised = raised or find_raised(line for line in log_tail if not _OURS.match(line))
    last = last_words(log_tail)
    number = signal_of(exit_code)
    if raised is not None and not (raised.is_survived and (last or number is not None)):
        said = raised.message
        if says_memory(raised.because) and not says_memory(said):
            return Cause.OUT_OF_MEMORY, f"{said}, raised from {raised.because}"
    elif number is not None:
        said = last if _SAYS_WHY.search(last) else ""
    else:
        said = last
    if says_memory(said):
        return Cause.OUT_OF_MEMORY, said
    if number in _BY_HAND:
        return Cause.OUTSIDE, f"ended by {number.name}, which neither this program nor the kernel sent"
    if number is None:
        return Cause.SCRIPT_ERROR, said or (f"exit code {exit_code}" if exit_code > 0 else f"ended by signal {-exit_code}")
    return Cause.SCRIPT_ERROR, f"ended by signal {number.name}" + (f": {said}" if said else "")


def says_memory(message: str) -> bool:
    """Return whether a message is one of memory that ran out, and not one that has words of it somewhere."""
    return _MEMORY.search(message) is not None


def says_shared_memory(message: str) -> bool:
    """Return whether memory that ran out is that which processes share."""
    return says_memory(message) and re.search("shared ?memory", message, re.IGNORECASE) is not None


def says_killed(lines: Sequence[str]) -> bool:
    """Return whether a program says that one which it had started was killed: a worker of a loader, a rank, a pipe's part."""
    return any(_OF_ANOTHER.search(line) for line in lines)


def says_disk_full(message: str) -> bool:
    """Return whether a message tells of a disk, any disk, that had no room left."""
    return any(mark in message for mark in _DISK_MARKS)


def signature(cause: Cause, message: str, place: str = "") -> str:
    """Return what two failures of one kind have in common: cause, place, and message without numbers, booleans, addresses and paths.

    Args:
        cause: of the failure.
        message: of it, on one line.
        place: file and function in which an exception was raised; empty where it is not known.
    """
    text = re.sub(r"0x[0-9a-fA-F]+|\d+|\b(?:[Tt]rue|[Ff]alse)\b|(?:/[\w.+-]+){2,}", "#", message)
    return f"{cause}: {text} {place}".rstrip()
