"""From a host's output to its log stream: cuts lines, finds metrics, delays or repeats as the faults say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from backends.emulator.core.event_loop import EventLoop
from backends.emulator.faults.injector import FaultInjector
from backends.emulator.faults.rules import FaultRule
from backends.emulator.logs.store import LogStore

_SEARCHED_CHARACTERS = 16384

_ESCAPED = {code: f"#{code:03o}" for code in (*range(0x20), 0x7F)}
"""Control characters as the service's log driver writes them: a tab as `#011`, a carriage return as `#015`."""


class LineEffect(NamedTuple):
    """What faults do to one line: seconds by which it is late, whether it is held until the job has ended, and whether it comes twice."""

    delay_s: float = 0.0
    held: bool = False
    twice: bool = False


@dataclass(frozen=True)
class LineFaults:
    """The log faults of one stream, with their numbers, by which they draw."""

    rules: tuple[tuple[int, FaultRule], ...] = ()

    def effect(self, injector: FaultInjector, stream: str, line: int) -> LineEffect:
        """Return what happens to a line.

        Args:
            injector: draws for it.
            stream: its stream's name.
            line: its number, from 1.
        """
        delay_s, held, twice = 0.0, False, False
        for number, fault in self.rules:
            draw = injector.draw(number, stream, line)
            if draw.random() >= fault.probability or line <= fault.get("after_line", 0):
                continue
            if fault.kind == "late_logs":
                delay_s += fault.get("seconds", 0.0)
                held = held or fault.get("after_end", False)
            elif fault.kind == "reordered_logs":
                delay_s += draw.uniform(0.0, fault.get("seconds", 0.0))
            else:
                twice = True
        return LineEffect(delay_s, held, twice)


def metric_finder(definitions: Sequence[Mapping[str, str]]) -> Callable[[str], dict[str, float]]:
    """Return a function that finds a line's metrics by the regular expressions of MetricDefinitions; only finite numbers count."""
    compiled = [(one["Name"], re.compile(one["Regex"])) for one in definitions]

    def find(line: str) -> dict[str, float]:
        found = {}
        for name, regex in compiled:
            match = regex.search(line[:_SEARCHED_CHARACTERS])
            if match is None:
                continue
            try:
                value = float(match.group(1) if regex.groups else match.group())
            except (TypeError, ValueError):
                continue
            if math.isfinite(value):
                found[name] = value
        return found

    return find


class LogDelivery:
    """One stream's way into the store.

    Args:
        on_line: called with each line as it is printed.
        delay_s: from printing to arrival; `limit_bytes`: of one event, so of a piece of a longer line.
    """

    def __init__(
        self,
        stream: str,
        store: LogStore,
        loop: EventLoop,
        injector: FaultInjector,
        faults: LineFaults,
        on_line: Callable[[str], None],
        delay_s: float,
        limit_bytes: int,
    ) -> None:
        self.stream = stream
        self._store, self._loop, self._injector, self._faults = store, loop, injector, faults
        self._on_line, self._delay_s, self._limit_bytes = on_line, delay_s, limit_bytes
        self._rest = bytearray()
        self._lines = 0
        self._held: list[tuple[float, float, str]] = []
        self._ended = False
        self._closed = False

    def close(self) -> None:
        """Lose whatever has not arrived: the rest of a line, what is late, and what is fed from now on."""
        self._closed = True
        self._rest.clear()
        self._held.clear()

    def feed(self, data: bytes) -> None:
        """Take what was printed."""
        if self._closed:
            return
        self._rest += data
        arrived: list[tuple[float, str]] = []
        start = 0
        while True:
            end = self._rest.find(b"\n", start)
            if end < 0 or end - start > self._limit_bytes:
                if len(self._rest) - start <= self._limit_bytes:
                    break
                self._line(bytes(self._rest[start : start + self._limit_bytes]), arrived)
                start += self._limit_bytes
            else:
                self._line(bytes(self._rest[start:end]), arrived)
                start = end + 1
        del self._rest[:start]
        self._store.append(self.stream, arrived)

    def end(self) -> None:
        """The host prints no more: deliver what is left of a line without an end."""
        arrived: list[tuple[float, str]] = []
        if self._rest:
            self._line(bytes(self._rest), arrived)
            self._rest.clear()
        self._store.append(self.stream, arrived)

    def job_ended(self) -> None:
        """Let go of what was held until now."""
        self._ended = True
        held, self._held = self._held, []
        for delay_s, at, text in held:
            self._later(delay_s, at, text)

    def _line(self, raw: bytes, arrived: list[tuple[float, str]]) -> None:
        text = raw.decode("utf-8", "replace").translate(_ESCAPED)
        self._lines += 1
        self._on_line(text)
        at = self._loop.clock.now() + self._injector.clock_ahead_s()
        if not text:
            text = " "  # the service takes no empty event
        delay_s, held, twice = self._faults.effect(self._injector, self.stream, self._lines) if self._faults.rules else LineEffect()
        delay_s += self._delay_s
        for _ in range(2 if twice else 1):
            if held and not self._ended:
                self._held.append((delay_s, at, text))
            elif delay_s > 0:
                self._later(delay_s, at, text)
            else:
                arrived.append((at, text))

    def _later(self, delay_s: float, at: float, text: str) -> None:
        if delay_s <= 0:
            self._store.append(self.stream, [(at, text)])
        else:
            self._loop.call_later(delay_s, lambda: None if self._closed else self._store.append(self.stream, [(at, text)]))
