"""Reports metrics from a training script to whatever runs it: Outrider on any back-end, or Syne Tune.

One file, however long, as it is copied into containers; standard library only, Python 3.8 or later. A script calls::

    from outrider_report import checkpoint_dir, phase, progress, report, step

    with phase("load"):
        batch = next(batches)
    with phase("train"):
        loss = model.step(batch)
    step(samples=len(batch))
    progress(done=1, total=5000)
    report(epoch=1, loss=loss)

A script of which only the beginning is wanted is ended by its first `progress` after OUTRIDER_STOP_AFTER_S seconds.

From the first such call on, the use of processors, memory, disk, network and GPUs is sampled once a second. OUTRIDER_SAMPLING sets other
seconds, and 0 turns it off.
"""

from __future__ import annotations

import atexit
import itertools
import json
import math
import os
import sys
import threading
import time

# Types are named in comments and annotations only: this file must not pay for importing `typing` or `pathlib` in every container.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Any

REPORT_MARK = "[tune-metric]:"
SUMMARY_MARK = "[outrider-summary]:"
PROGRESS_MARK = "[outrider-progress]:"
MAX_REPORT_BYTES = 50000

_SAGEMAKER_CHECKPOINTS = "/opt/ml/checkpoints"
_COUNTER = ".outrider-incarnation"
_FIRST_SUMMARY_S = 10.0
_SUMMARIES_APART_S = 60.0
_PROGRESS_APART_S = (0.1, 10.0)
_PROGRESS_SHARE = 0.05
_MAX_PHASES = 32
_OTHER = "other"
_CPU = "cpu_cores"
_CHILDREN_CPU = "children_cpu_s"
_IO_WAIT = "io_wait_s"
_MAX_SAMPLING_LOAD = 0.005
_GPU_FILES = ("/dev/nvidiactl", "/dev/dxg")


class Reporter:
    """Numbers reports, times phases and counts steps of one process.

    Args:
        environment: variables of the process.
        started: monotonic time at which the process began; None to ask the system.
        sampling: whether the use of resources is sampled, unless the environment forbids it.
    """

    def __init__(self, environment: Mapping[str, str], started: float | None = None, sampling: bool = False) -> None:
        self._environment = environment
        self._sampling = sampling
        self.begin_anew(started)

    def begin_anew(self, started: float | None = None) -> None:
        """Forget everything, as this process is a fresh copy of one that only imported this file."""
        environment = self._environment
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
        self._cpu_s: dict[str, float] = {}
        self._open: dict[int, list[list[Any]]] = {}
        self._started_up = False
        self._steps = 0
        self._samples = 0
        self._progress_numbers = itertools.count()
        self._progress_from: float | None = None
        self._progress_at = 0.0
        self._is_complete = False
        self._tells = False
        self._stop_after_s = _stop_after_s(environment)
        self._is_stopping = False
        self._sampler: Sampler | None = None
        self._sampling_decided = not self._sampling
        self._summary_apart_s = _FIRST_SUMMARY_S
        self._summary_at = time.monotonic() + _FIRST_SUMMARY_S

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
            self._start_sampling()
            # A job that is stopped has no chance to say goodbye, so it says now and then how far it is; the last such line counts.
            if self._sampling and time.monotonic() >= self._summary_at:
                self._summary_apart_s = min(2 * self._summary_apart_s, _SUMMARIES_APART_S)
                self._summary_at = time.monotonic() + self._summary_apart_s
                self._print_summary()

    def phase(self, name: str) -> Phase:
        """Return a context that adds the time spent in it to the phase; within another phase, time counts for the inner one."""
        return Phase(self, name)

    def step(self, samples: int = 0) -> None:
        """Count one step, and the samples that it used; as long as `progress` is not called, it says how many were made."""
        with self._lock:
            self._start_sampling()
            self._steps += 1
            self._samples += int(samples)
        if not self._tells and time.monotonic() >= self._progress_at and self._is_first():
            self._tell(self._steps, None, None, by_step=True)

    def progress(self, done: float, total: float | None = None, at_most: float | None = None) -> None:
        """Say how far the script is: steps, batches, trees, iterations, rows, whatever it counts.

        It may be called as often as the script likes: a line is printed for the first call, for the last of a known total, and between them
        every 10 s at most, more often in the beginning. What is no finite number says nothing, and only the first rank's lines count.

        Args:
            done: how many are behind it, from 0.
            total: how many there will be; None where that is not known beforehand (early stopping, convergence).
            at_most: how many there will be at most, where it may stop early.
        """
        # Nearly all calls end here, so that they cost next to nothing.
        if time.monotonic() < self._progress_at and self._tells and (self._is_complete or total is None or done < total):
            return
        if self._is_first() and math.isfinite(done) and done >= 0:
            self._tells = True
            self._tell(done, total, at_most, by_step=False)

    def _is_first(self) -> bool:
        """Return whether this is the process whose progress counts."""
        return os.getpid() == self._pid and self._rank == 0

    def _tell(self, done: float, total: float | None, at_most: float | None, by_step: bool) -> None:
        """Print how far the script is."""
        total, at_most = _amount(total), _amount(at_most)
        with self._lock:
            self._end_startup()
            self._start_sampling()
            now = time.monotonic()
            if self._progress_from is None:
                self._progress_from = now
            shortest_s, longest_s = _PROGRESS_APART_S
            self._progress_at = now + min(max(shortest_s, _PROGRESS_SHARE * (now - self._progress_from)), longest_s)
            if now < self._started + self._stop_after_s < self._progress_at:
                self._progress_at = self._started + self._stop_after_s
            self._is_complete = total is not None and done >= total
            self._charge(self._stack())
            line = {
                "done": float(done),
                "total": total,
                "number": next(self._progress_numbers),
                "elapsed_s": round(now - self._started, 6),
                "cpu_s": round(time.process_time() + sum(os.times()[2:4]), 6),
                "phases_s": {name: round(seconds, 6) for name, seconds in self._phases.items()},
                "peak_bytes": _peak_bytes(),
                "delayed_s": _delayed_s(),
                "outrider_incarnation": self._life(),
                "outrider_rank": self._rank,
            }
            if at_most is not None:
                line["at_most"] = at_most
            if by_step:
                line["by_step"] = True
            _print(PROGRESS_MARK, json.dumps(line))
        if now - self._started >= self._stop_after_s and not self._is_complete:
            self._stop()

    def _stop(self) -> None:
        """End the script, as it was asked for no more than its beginning; the gentle way, and at once where a script goes on after it."""
        if self._is_stopping:
            self.print_summary()
            os._exit(0)
        self._is_stopping, self._progress_at = True, 0.0
        raise SystemExit(0)

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
        with self._lock:
            self._charge(self._stack())
        found = {
            "phases_s": {name: round(seconds, 6) for name, seconds in self._phases.items()},
            "steps": self._steps,
            "samples": self._samples,
            "elapsed_s": round(time.monotonic() - self._started, 6),
            "outrider_incarnation": self._life(),
            "outrider_rank": self._rank,
        }
        delayed_s = _delayed_s()
        if delayed_s:
            found["delayed_s"] = delayed_s
        if self._sampler is not None:
            found["usage"] = self._sampler.usage()
        return found

    def print_summary(self) -> None:
        """Print the summary line; called when the process ends."""
        if self._sampler is not None and os.getpid() == self._pid:
            self._sampler.finish()
        self._print_summary()

    def _print_summary(self) -> None:
        summary = self.summary()
        if summary is not None:
            _print(SUMMARY_MARK, _fitting(summary))

    def spent(self) -> dict[str, tuple[float, float]]:
        """Return the seconds, and this process's processor seconds, spent in each phase so far, the running ones included."""
        found = {name: (seconds, self._cpu_s.get(name, 0.0)) for name, seconds in list(self._phases.items())}
        now, cpu_now = time.monotonic(), time.process_time()
        # Without the lock, as its owner may be forked meanwhile; what is missed or counted twice is put right by the next call.
        for stack in list(self._open.values()):
            for name, since, cpu_since in stack[-1:]:
                seconds, cpu_s = found.get(name, (0.0, 0.0))
                found[name] = seconds + max(now - since, 0.0), cpu_s + max(cpu_now - cpu_since, 0.0)
        return found

    def enter(self, name: str) -> None:
        """Begin a phase; see `phase`."""
        with self._lock:
            self._end_startup()
            self._start_sampling()
            stack = self._stack()
            self._charge(stack)
            stack.append([name, time.monotonic(), time.process_time()])
            self._open[threading.get_ident()] = stack

    def leave(self) -> None:
        """End the innermost phase; see `phase`."""
        with self._lock:
            stack = self._stack()
            self._charge(stack)
            stack.pop()
            if not stack:
                self._open.pop(threading.get_ident(), None)

    def _stack(self) -> list[list[Any]]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[list[Any]] = self._local.stack
        return stack

    def _charge(self, stack: list[list[Any]]) -> None:
        if not stack:
            return
        now, cpu_now = time.monotonic(), time.process_time()
        name, since, cpu_since = stack[-1]
        self._phases[name] = self._phases.get(name, 0.0) + now - since
        self._cpu_s[name] = self._cpu_s.get(name, 0.0) + cpu_now - cpu_since
        for entry in stack[-2:]:
            entry[1:] = now, cpu_now

    def _end_startup(self) -> None:
        if not self._started_up:
            self._started_up = True
            self._phases["startup"] = time.monotonic() - self._started
            self._cpu_s["startup"] = time.process_time()

    def _start_sampling(self) -> None:
        if self._sampling_decided or os.getpid() != self._pid:
            return
        self._sampling_decided = True
        every_s = _sampling_period_s(self._environment)
        if every_s > 0:
            self._sampler = Sampler(self._environment, self.spent, every_s)
            self._sampler.start(time.monotonic() - self._started)

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


class Series:
    """One quantity over time: its integral and peak are exact, and its quantiles come from a record of bounded length.

    Args:
        capacity: length of the record at which every second entry is dropped.
    """

    def __init__(self, capacity: int = 512) -> None:
        self._capacity = capacity + capacity % 2
        self._record: list[tuple[float, float, float]] = []  # value, seconds and integral of as many samples as the stride says
        self._stride = 1
        self._begun: list[float] = []
        self._count = 0
        self.total = 0.0
        self.peak = 0.0

    def add(self, value: float, seconds: float) -> None:
        """Add a value that held for so many seconds."""
        self.peak = max(self.peak, value) if self._record or self._begun else value
        self.total += value * seconds
        if not self._begun:
            self._begun, self._count = [value, 0.0, 0.0], 0
        self._begun[1] += seconds
        self._begun[2] += value * seconds
        self._count += 1
        if self._count < self._stride:
            return
        self._record.append((self._begun[0], self._begun[1], self._begun[2]))
        self._begun = []
        if len(self._record) >= self._capacity:
            even, odd = self._record[::2], self._record[1::2]
            self._record = [(one[0], one[1] + odd[at][1], one[2] + odd[at][2]) for at, one in enumerate(even[: len(odd)])]
            self._stride *= 2

    def summary(self) -> dict[str, float]:
        """Return the mean of the steady state (without the first quarter of the time), three quantiles, and the peak."""
        record = list(self._record)
        if self._begun:
            record.append((self._begun[0], self._begun[1], self._begun[2]))
        found = {"mean": steady_mean([entry[1:] for entry in record])}
        held = sorted(entry[:2] for entry in record)
        found.update((name, quantile(held, share)) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)))
        found["peak"] = self.peak
        return found


def steady_mean(record: list[tuple[float, float]]) -> float:
    """Return the mean over time without its first quarter.

    Args:
        record: (seconds, integral over them) in the order of time; an entry that the border falls into counts for its part.
    """
    skipped_s = sum(seconds for seconds, _ in record) / 4
    kept_s = kept = 0.0
    for seconds, integral in record:
        part = 1.0 if seconds <= 0 else min(max(seconds - skipped_s, 0.0) / seconds, 1.0)
        skipped_s = max(skipped_s - seconds, 0.0)
        kept_s += part * seconds
        kept += part * integral
    return kept / kept_s if kept_s > 0 else 0.0


def quantile(record: list[tuple[float, float]], share: float) -> float:
    """Return the smallest value below or at which the quantity was for at least this share of the time.

    Args:
        record: (value, seconds).
        share: in (0, 1].
    """
    wanted_s = share * sum(seconds for _, seconds in record) * (1 - 1e-9)
    seen_s = 0.0
    for value, seconds in sorted(record):
        seen_s += seconds
        if seen_s >= wanted_s:
            return value
    return 0.0


class Usage:
    """What was used in each phase.

    Args:
        cores: the job's share of the machine, by which percentages go.
    """

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._seconds: dict[str, float] = {}
        self._series: dict[str, dict[str, Series]] = {}

    def note(
        self,
        seconds: float,
        spent: Mapping[str, tuple[float, float]],
        own_cpu_s: float,
        increases: Mapping[str, float],
        levels: Mapping[str, float],
    ) -> None:
        """Note what happened in an interval.

        A sample counts for the phases that its interval covers, by their seconds; what no phase covers is called `other`.
        The processor seconds of the process itself are known for each phase, all else is spread evenly.

        Args:
            seconds: length of the interval.
            spent: seconds of it, and processor seconds of the process in them, by phase.
            own_cpu_s: all processor seconds of the process.
            increases: of counters over the interval: `_CHILDREN_CPU`, `_IO_WAIT`, and bytes by the name of their rate.
            levels: values (bytes, percent) at its end.
        """
        if seconds <= 0:
            return
        parts: dict[str, list[float]] = {}
        for name, (spent_s, cpu_s) in spent.items():
            if spent_s > 0:
                known = name in self._series or len(self._series) + len(parts) < _MAX_PHASES
                part = parts.setdefault(name if known else _OTHER, [0.0, 0.0])
                part[0] += spent_s
                part[1] += cpu_s
        rest_s = seconds - sum(part[0] for part in parts.values())
        if rest_s > 0.001 * seconds:
            part = parts.setdefault(_OTHER, [0.0, 0.0])
            part[1] += max(own_cpu_s - sum(part[1] for part in parts.values()), 0.0)
            part[0] += rest_s
        values = {name: increase / seconds for name, increase in increases.items()}
        children, waiting = values.pop(_CHILDREN_CPU, None), values.pop(_IO_WAIT, None)
        if waiting is not None:
            values["io_wait_percent"] = min(100 * waiting, 100.0)
        values.update(levels)
        for phase_name, (spent_s, cpu_s) in parts.items():
            self._seconds[phase_name] = self._seconds.get(phase_name, 0.0) + spent_s
            series = self._series.setdefault(phase_name, {})
            if children is not None:
                series.setdefault(_CPU, Series()).add(cpu_s / spent_s + children, spent_s)
            for name, value in values.items():
                series.setdefault(name, Series()).add(value, spent_s)

    def by_phase(self) -> dict[str, Any]:
        """Return, for each phase, the seconds that were sampled and each quantity's mean, quantiles and peak; counters have a total too."""
        return {name: self._of_phase(self._seconds[name], series) for name, series in list(self._series.items())}

    def _of_phase(self, seconds: float, series: Mapping[str, Series]) -> dict[str, Any]:
        found: dict[str, Any] = {"sampled_s": round(seconds, 3)}
        for name, one in list(series.items()):
            summary = one.summary()
            if name == _CPU:
                found["cpu_s"] = _short(one.total)
                found["cpu_percent"] = {key: _short(100 * value / self._cores) for key, value in summary.items()}
            elif name.endswith("_per_s"):
                found[name[: -len("_per_s")]] = _short(one.total)
            # A disk or a network at rest takes no room in the line: a total of 0 says it all.
            if one.peak > 0 or not name.endswith("_per_s"):
                found[name] = {key: _short(value) for key, value in summary.items()}
        return found


class Sampler:
    """Samples the use of resources by this process and its descendants, in a thread that never keeps the process from ending.

    Args:
        environment: variables of the process.
        spent: returns the seconds and processor seconds spent in each phase so far.
        every_s: seconds between samples; more where they would take more than half a percent of a core.
    """

    def __init__(self, environment: Mapping[str, str], spent: Callable[[], dict[str, tuple[float, float]]], every_s: float) -> None:
        self._environment = environment
        self._spent = spent
        self._every_s = every_s
        self._gpus: Gpus | None = None
        self._usage = Usage(_share_of_cores(environment))
        self._busy = threading.Lock()
        self._over = threading.Event()
        self._at = self._cpu_s = 0.0
        self._phases: dict[str, tuple[float, float]] = {}
        self._counters: dict[str, float] = {}

    def start(self, startup_s: float) -> None:
        """Note what starting up took, and begin."""
        self._counters, levels = read_usage(os.getpid())
        self._at, self._cpu_s, self._phases = time.monotonic(), time.process_time(), self._spent()
        # Traffic and waiting before this moment are not the job's alone.
        own = {name: value for name, value in self._counters.items() if not name.startswith(("network", _IO_WAIT))}
        self._usage.note(startup_s, {"startup": (startup_s, self._cpu_s)}, self._cpu_s, own, levels)
        threading.Thread(target=self._run, name="outrider-sampler", daemon=True).start()

    def usage(self) -> dict[str, Any]:
        """Return what was used so far, by phase."""
        return self._usage.by_phase()

    def finish(self) -> None:
        """Take a last sample, unless one is being taken, and end."""
        self._over.set()
        if time.monotonic() - self._at >= min(self._every_s / 4, 0.25):
            self._sample()

    def _run(self) -> None:
        pause_s = self._every_s
        self._gpus = Gpus.find(self._environment)  # here, as the driver may take its time
        while not self._over.wait(pause_s):
            before = time.thread_time()
            self._sample()
            pause_s = max(self._every_s, (time.thread_time() - before) / _MAX_SAMPLING_LOAD)

    def _sample(self) -> None:
        if not self._busy.acquire(timeout=0.1):
            return
        try:
            counters, levels = read_usage(os.getpid())
            if self._gpus is not None:
                levels.update(self._gpus.read(tree_of(os.getpid())))
            now, cpu_s, spent = time.monotonic(), time.process_time(), self._spent()
            phases = {}
            for name, (phase_s, phase_cpu_s) in spent.items():
                before_s, before_cpu_s = self._phases.get(name, (0.0, 0.0))
                phases[name] = phase_s - before_s, max(phase_cpu_s - before_cpu_s, 0.0)
            # Counters go back when a process ends that nobody waits for.
            increases = {name: max(value - self._counters.get(name, value), 0.0) for name, value in counters.items()}
            self._usage.note(now - self._at, phases, cpu_s - self._cpu_s, increases, levels)
            self._at, self._cpu_s, self._phases, self._counters = now, cpu_s, spent, counters
        except Exception:  # noqa: BLE001 (whatever a kernel or a driver answers, a training must not end by being watched)
            self._over.set()
        finally:
            self._busy.release()


def read_usage(pid: int, root: str = "/proc") -> tuple[dict[str, float], dict[str, float]]:
    """Return what a process and its descendants have used so far, and what they use now; what the system does not tell is left out.

    Counters: processor seconds of the descendants, those that have ended included, and bytes under the name of their rate. Traffic is
    all of the container's or the machine's but its own loop. So is I/O wait, which no kernel tells by process: seconds in which a
    processor had nothing to do but wait for a disk, over the number of processors. Levels: `rss_bytes`, in which pages that processes
    share count for each.
    """
    ticks_per_s, page_bytes = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    counters: dict[str, float] = {}
    levels: dict[str, float] = {}
    for one in tree_of(pid, root):
        fields = _stat(one, root)
        if fields is None:
            continue
        ticks = sum(map(int, fields[13:15] if one == pid else fields[11:15]))
        counters[_CHILDREN_CPU] = counters.get(_CHILDREN_CPU, 0.0) + ticks / ticks_per_s
        levels["rss_bytes"] = levels.get("rss_bytes", 0.0) + int(fields[21]) * page_bytes
        for line in _content(f"{root}/{one}/io").splitlines():
            name, _, value = line.partition(b": ")
            rate = {b"read_bytes": "disk_read_bytes_per_s", b"write_bytes": "disk_written_bytes_per_s"}.get(name)
            if rate:
                counters[rate] = counters.get(rate, 0.0) + int(value)
    for line in _content(f"{root}/{pid}/net/dev").splitlines()[2:]:
        interface, _, numbers = line.partition(b":")
        columns = numbers.split()
        if interface.strip() != b"lo" and len(columns) >= 9:
            for rate, column in (("network_received_bytes_per_s", 0), ("network_sent_bytes_per_s", 8)):
                counters[rate] = counters.get(rate, 0.0) + int(columns[column])
    waited_s = _io_wait_s(root, ticks_per_s)
    if waited_s is not None and levels:
        counters[_IO_WAIT] = waited_s
    return counters, levels


def _io_wait_s(root: str, ticks_per_s: int) -> float | None:
    lines = _content(f"{root}/stat").splitlines()
    processors = sum(line.startswith(b"cpu") for line in lines) - 1
    columns = lines[0].split() if lines else []
    return int(columns[5]) / ticks_per_s / processors if processors > 0 and len(columns) > 5 else None


def tree_of(pid: int, root: str = "/proc") -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for one in found:
        try:
            threads = os.listdir(f"{root}/{one}/task")  # noqa: PTH208
        except OSError:
            continue
        for thread in threads:
            found += map(int, _content(f"{root}/{one}/task/{thread}/children").split())
    return found


def _stat(pid: int, root: str) -> list[bytes] | None:
    fields = _content(f"{root}/{pid}/stat").rpartition(b")")[2].split()
    return fields if len(fields) > 21 else None


def _content(path: str) -> bytes:
    """Return a small file of the kernel's, or nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = os.read(descriptor, 65536)
        while content and (more := os.read(descriptor, 65536)):
            content += more
        return content
    except OSError:
        return b""
    finally:
        os.close(descriptor)


class Gpus:
    """The GPUs that this process may use, asked through NVIDIA's management library.

    Args:
        library: `libnvidia-ml.so.1` or a stand-in with the same functions.
        visible: CUDA_VISIBLE_DEVICES; None for all.

    Raises:
        OSError: the library does not work here.
    """

    def __init__(self, library: Any, visible: str | None) -> None:
        import ctypes

        class Utilisation(ctypes.Structure):
            _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))

        class Memory(ctypes.Structure):
            _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))

        class Process(ctypes.Structure):
            _fields_ = (
                ("pid", ctypes.c_uint),
                ("used", ctypes.c_ulonglong),
                ("instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint),
            )

        self._c: Any = ctypes
        self._kinds: tuple[Any, Any, Any] = (Utilisation, Memory, Process)
        self._library = library
        if library.nvmlInit_v2() != 0:
            raise OSError("the NVIDIA driver does not answer")
        self._devices = self._find(visible)

    @classmethod
    def find(cls, environment: Mapping[str, str]) -> Gpus | None:
        """Return the visible GPUs; None where there are none."""
        visible = environment.get("CUDA_VISIBLE_DEVICES")
        # Without a device the library is not even looked for, as loading it takes longer than all the rest.
        if visible in ("", "-1") or not any(map(os.path.exists, _GPU_FILES)):
            return None
        import ctypes

        try:
            found = cls(ctypes.CDLL("libnvidia-ml.so.1"), visible)
        except (OSError, AttributeError):
            return None
        return found if found._devices else None

    def read(self, pids: list[int]) -> dict[str, float]:
        """Return `gpu_percent`, the mean over the devices, and `gpu_memory_bytes` of these processes on all of them.

        Where the driver tells processes by numbers of another container, memory is all that is used on the devices.
        """
        kind_of_use, kind_of_memory, _ = self._kinds
        busy: list[float] = []
        of_devices = of_processes = 0.0
        known = False
        for device in self._devices:
            use, memory = kind_of_use(), kind_of_memory()
            if self._library.nvmlDeviceGetUtilizationRates(device, self._c.byref(use)) == 0:
                busy.append(use.gpu)
            if self._library.nvmlDeviceGetMemoryInfo(device, self._c.byref(memory)) == 0:
                of_devices += memory.used
            for pid, used in self._processes(device):
                if pid in pids:
                    known = True
                    of_processes += used
        found: dict[str, float] = {"gpu_percent": sum(busy) / len(busy)} if busy else {}
        if known or of_devices:
            found["gpu_memory_bytes"] = of_processes if known else of_devices
        return found

    def _find(self, visible: str | None) -> list[Any]:
        count = self._c.c_uint()
        if self._library.nvmlDeviceGetCount_v2(self._c.byref(count)) != 0:
            raise OSError("the NVIDIA driver does not tell how many GPUs there are")
        names = [str(number) for number in range(count.value)] if visible is None else [name.strip() for name in visible.split(",")]
        found = []
        for name in names:
            device = self._c.c_void_p()
            if name.isdigit():
                failed = self._library.nvmlDeviceGetHandleByIndex_v2(self._c.c_uint(int(name)), self._c.byref(device))
            else:
                failed = self._library.nvmlDeviceGetHandleByUUID(self._c.c_char_p(name.encode()), self._c.byref(device))
            if failed:
                break  # as CUDA does: what follows a name that is none is not visible
            found.append(device)
        return found

    def _processes(self, device: Any) -> list[tuple[int, int]]:
        count = self._c.c_uint(64)
        infos = (self._kinds[2] * count.value)()
        for name in ("nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"):
            ask = getattr(self._library, name, None)
            if ask is not None:
                if ask(device, self._c.byref(count), infos) != 0:
                    return []
                # A driver that does not know says all ones.
                return [(info.pid, info.used) for info in infos[: count.value] if info.used < 2**63]
        return []


def _share_of_cores(environment: Mapping[str, str]) -> int:
    for name in ("OUTRIDER_CORES", "SM_NUM_CPUS"):
        if environment.get(name, "").isdigit() and int(environment[name]) > 0:
            return int(environment[name])
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _sampling_period_s(environment: Mapping[str, str]) -> float:
    """Return the seconds between samples, 0 for no sampling."""
    try:
        every_s = float(environment.get("OUTRIDER_SAMPLING", "1"))
    except ValueError:
        return 1.0
    return max(every_s, 0.05) if every_s > 0 else 0.0


def _amount(value: float | None) -> float | None:
    """Return a number of things to do; None where it is none that can be done."""
    return float(value) if value is not None and math.isfinite(value) and value > 0 else None


def _stop_after_s(environment: Mapping[str, str]) -> float:
    """Return after how many seconds of the script its first word of progress is its last; infinity for a script that runs to its end."""
    try:
        seconds = float(environment.get("OUTRIDER_STOP_AFTER_S", ""))
    except ValueError:
        return math.inf
    return seconds if seconds > 0 else math.inf


def _peak_bytes() -> int:
    """Return the most resident memory that this process has had; 0 where the system does not tell."""
    for line in _content("/proc/self/status").splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def _delayed_s() -> float:
    """Return the seconds that this process could have run and others had the processor; 0 where the system does not tell.

    It is the main thread's run delay of Linux' scheduler statistics (Documentation/scheduler/sched-stats.rst).
    """
    fields = _content("/proc/self/schedstat").split()
    return round(int(fields[1]) / 1e9, 6) if len(fields) > 1 else 0.0


def _short(value: float) -> float:
    """Return the value with five digits, whole where that is enough."""
    short = float(f"{value:.5g}")
    return int(short) if short == int(short) else short


def _fitting(summary: dict[str, Any]) -> str:
    """Return the summary as JSON, without the usage of the shortest phases where it would be too long."""
    text = _to_json(summary)
    usage = summary.get("usage")
    while len(text) > MAX_REPORT_BYTES and usage:
        shortest = min(usage, key=lambda name: float(usage[name]["sampled_s"]))
        del usage[shortest]
        text = _to_json(summary)
    return text


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


_reporter = Reporter(os.environ, sampling=True)
report = _reporter.report
phase = _reporter.phase
step = _reporter.step
progress = _reporter.progress
checkpoint_dir = _reporter.checkpoint_dir
resumed = _reporter.resumed
begin_anew = _reporter.begin_anew
atexit.register(_reporter.print_summary)
