"""Reports metrics from a training script to whatever runs it: Outrider on any back-end, or Syne Tune.

One file, standard library only, Python 3.8 or later; copy it or put it on the path. A script calls::

    from outrider_report import checkpoint_dir, phase, report, step

    with phase("load"):
        batch = next(batches)
    with phase("train"):
        loss = model.step(batch)
    step(samples=len(batch))
    report(epoch=1, loss=loss)
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import sys
import threading
import time

# Types are named in comments and annotations only: this file must not pay for importing `typing` or `pathlib` in every container.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Any

REPORT_MARK = "[tune-metric]:"
SUMMARY_MARK = "[outrider-summary]:"
MAX_REPORT_BYTES = 50000

_SAGEMAKER_CHECKPOINTS = "/opt/ml/checkpoints"
_COUNTER = ".outrider-incarnation"


class Reporter:
    """Numbers reports, times phases and counts steps of one process.

    Args:
        environment: variables of the process.
        started: monotonic time at which the process began; None to ask the system.
    """

    def __init__(self, environment: Mapping[str, str], started: float | None = None) -> None:
        self._environment = environment
        self._started = _process_start() if started is None else started
        self._pid = os.getpid()
        # A signal handler may report while its own thread is about to; hence a lock that lets it, and a counter that cannot repeat.
        self._lock = threading.RLock()
        self._local = threading.local()
        self._numbers = itertools.count()
        self._reported = False
        self._incarnation: int | None = None
        self._rank = _rank(environment)
        self._phases: dict[str, float] = {}
        self._started_up = False
        self._steps = 0
        self._samples = 0

    def report(self, **metrics: Any) -> None:
        """Print one line with these metrics.

        Raises:
            ValueError: a reserved name, a value that JSON cannot express, or more than 50,000 bytes.
        """
        for key in metrics:
            if key.startswith(("st_", "outrider_")):
                raise ValueError(f"report: {key!r} may not begin with st_ or outrider_; call the metric something else")
        line = json.loads(_to_json(metrics))
        with self._lock:
            self._end_startup()
            sequence = next(self._numbers)
            line.update(
                st_worker_timestamp=time.time(),
                st_worker_time=round(time.monotonic() - self._started, 6),
                st_worker_iter=sequence,
                outrider_sequence=sequence,
                outrider_incarnation=self._life(),
                outrider_rank=self._rank,
            )
            text = json.dumps(line)
            if len(text) > MAX_REPORT_BYTES:
                raise ValueError(f"report: {len(text)} bytes; at most {MAX_REPORT_BYTES} are read. Report fewer or shorter values")
            self._reported = True
            _print(REPORT_MARK, text)

    def phase(self, name: str) -> Phase:
        """Return a context that adds the time spent in it to the phase; within another phase, time counts for the inner one."""
        return Phase(self, name)

    def step(self, samples: int = 0) -> None:
        """Count one step, and the samples that it used."""
        with self._lock:
            self._steps += 1
            self._samples += int(samples)

    def checkpoint_dir(self) -> Path | None:
        """Return the folder where this trial keeps its checkpoint, created; None where there is none."""
        folder = _checkpoint_folder(self._environment)
        if folder is None:
            return None
        from pathlib import Path

        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 (one call serves both uses of the folder)
        return Path(folder)

    def resumed(self) -> bool:
        """Return whether the checkpoint folder already holds something that a script can go on from."""
        folder = _checkpoint_folder(self._environment)
        return folder is not None and os.path.isdir(folder) and any(name != _COUNTER for name in os.listdir(folder))  # noqa: PTH112, PTH208

    def summary(self) -> dict[str, Any] | None:
        """Return what this process recorded, or None where it recorded nothing (a helper that only imported this file)."""
        if os.getpid() != self._pid or not (self._reported or self._phases or self._steps):
            return None
        return {
            "phases_s": {name: round(seconds, 6) for name, seconds in self._phases.items()},
            "steps": self._steps,
            "samples": self._samples,
            "elapsed_s": round(time.monotonic() - self._started, 6),
            "outrider_incarnation": self._life(),
            "outrider_rank": self._rank,
        }

    def print_summary(self) -> None:
        """Print the summary line; called when the process ends."""
        summary = self.summary()
        if summary is not None:
            _print(SUMMARY_MARK, _to_json(summary))

    def enter(self, name: str) -> None:
        """Begin a phase; see `phase`."""
        with self._lock:
            self._end_startup()
            stack = self._stack()
            self._charge(stack)
            stack.append([name, time.monotonic()])

    def leave(self) -> None:
        """End the innermost phase; see `phase`."""
        with self._lock:
            stack = self._stack()
            self._charge(stack)
            stack.pop()

    def _stack(self) -> list[list[Any]]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[list[Any]] = self._local.stack
        return stack

    def _charge(self, stack: list[list[Any]]) -> None:
        now = time.monotonic()
        if stack:
            name, since = stack[-1]
            self._phases[name] = self._phases.get(name, 0.0) + now - since
        if len(stack) > 1:
            stack[-2][1] = now
        if stack:
            stack[-1][1] = now

    def _end_startup(self) -> None:
        if not self._started_up:
            self._started_up = True
            self._phases["startup"] = time.monotonic() - self._started

    def _life(self) -> int:
        if self._incarnation is None:
            self._incarnation = _incarnation(self._environment, count=self._rank == 0)
        return self._incarnation


class Phase:
    """A running phase; see `Reporter.phase`."""

    def __init__(self, reporter: Reporter, name: str) -> None:
        self._reporter = reporter
        self._name = name

    def __enter__(self) -> None:
        self._reporter.enter(self._name)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._reporter.leave()


def _process_start() -> float:
    """Return the monotonic time at which this process began, so that start-up includes the interpreter and imports."""
    now = time.monotonic()
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123 (pathlib is not imported)
            ticks = int(file.read().rsplit(b")", 1)[1].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return now - max(age, 0.0)


def _rank(environment: Mapping[str, str]) -> int:
    """Return this process's rank among those of the job: of the launcher, else of the host."""
    for name in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        if environment.get(name, "").isdigit():
            return int(environment[name])
    try:
        return int(sorted(json.loads(environment["SM_HOSTS"])).index(environment["SM_CURRENT_HOST"]))
    except (KeyError, ValueError, TypeError):
        return 0


def _checkpoint_folder(environment: Mapping[str, str]) -> str | None:
    named = environment.get("OUTRIDER_CHECKPOINT_DIR")
    if named:
        return named
    return _SAGEMAKER_CHECKPOINTS if os.path.isdir(_SAGEMAKER_CHECKPOINTS) else None  # noqa: PTH112


def _incarnation(environment: Mapping[str, str], count: bool) -> int:
    """Return which life of the script this is within its job, by a counter in the checkpoint folder; another job's does not count."""
    folder = _checkpoint_folder(environment)
    if folder is None:
        return 0
    job = environment.get("OUTRIDER_JOB") or environment.get("TRAINING_JOB_NAME") or ""
    path = os.path.join(folder, _COUNTER)  # noqa: PTH118
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            last = json.load(file)
        lives = int(last["lives"]) if last["job"] == job else 0
    except (OSError, ValueError, KeyError, TypeError):
        lives = 0
    if not count:
        return max(lives - 1, 0)
    try:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        with open(path + ".new", "w", encoding="utf-8") as file:  # noqa: PTH123
            json.dump({"job": job, "lives": lives + 1}, file)
        os.replace(path + ".new", path)  # noqa: PTH105
    except OSError:
        pass  # a full or read-only folder must not end a training
    return lives


def _to_json(values: Mapping[str, Any]) -> str:
    try:
        return json.dumps(values, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        for key, value in values.items():
            try:
                json.dumps(value, default=_plain)
            except (TypeError, ValueError, RecursionError) as reason:
                raise ValueError(f"report: {key}={_shown(value)} cannot be written as JSON: {reason}") from error
        raise ValueError(f"report: cannot be written as JSON: {error}") from error


def _plain(value: Any) -> Any:
    """Return the number in a numpy scalar or a tensor without dimensions."""
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        number = value.item()
        if isinstance(number, (bool, int, float, str)):
            return number
    raise TypeError(f"a {type(value).__name__} is neither a number nor a text" + _advice(value))


def _advice(value: Any) -> str:
    return "; report one number of it, e.g. its mean" if getattr(value, "ndim", 0) else ""


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 (an object's repr is anybody's code, and this is already the error's message)
        text = type(value).__name__
    return text if len(text) <= 80 else text[:77] + "..."


def _print(mark: str, text: str) -> None:
    """Write one line with one call, so that lines of several processes do not mix."""
    line = f"{mark} {text}\n"
    stream = sys.stdout
    try:
        stream.flush()
        descriptor = stream.fileno()
    except (AttributeError, OSError, ValueError):
        if stream is not None and not getattr(stream, "closed", False):
            stream.write(line)
            stream.flush()
        return
    rest = line.encode("ascii")
    while rest:
        rest = rest[os.write(descriptor, rest) :]


_reporter = Reporter(os.environ)
report = _reporter.report
phase = _reporter.phase
step = _reporter.step
checkpoint_dir = _reporter.checkpoint_dir
resumed = _reporter.resumed
atexit.register(_reporter.print_summary)
