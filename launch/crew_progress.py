"""Live progress of several experiments at once: their lines told apart by a prefix, and one panel over all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchmarking.archive.identity import ExperimentSpec
from benchmarking.report.text import duration
from launch.at_once import Stage
from launch.progress import Progress

_FEW = 2
"""Experiments of which all trials have room in the panel."""


class CrewProgress:
    """Writes what several experiments say, each line whole.

    Args:
        progress: of the command.
        count: how many experiments there are.
        clock: monotonic seconds.
    """

    def __init__(self, progress: Progress, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress, self._count, self._clock = progress, count, clock
        self._began = clock()
        self._over = 0
        self._once: set[str] = set()
        self._running: dict[str, tuple[Stage, str]] = {}

    @property
    def has_panel(self) -> bool:
        """Whether a panel shows how all stand."""
        return self._progress.has_panel

    def start(self) -> None:
        """Show the panel, where there is one."""
        self._progress.show(self.text)

    def stop(self) -> None:
        """Leave the panel."""
        self._progress.end()

    def say(self, line: str, spec: ExperimentSpec | None = None) -> None:
        """Write a line, or a text of several: of one experiment, or of all."""
        before = "" if spec is None else f"{prefix(spec)} | "
        self._progress.say("\n".join(before + part for part in line.split("\n")))

    def say_once(self, lines: Sequence[str], spec: ExperimentSpec) -> None:
        """Write those of the lines that no other experiment has said."""
        for line in lines:
            if line not in self._once:
                self._once.add(line)
                self.say(f"  {line}", spec)

    def stands(self, spec: ExperimentSpec, stage: Stage, text: str | None = None) -> None:
        """Take note of how an experiment stands; `text` is what a panel of its own would show, None for what it was."""
        before = self._running.get(prefix(spec), (stage, ""))[1]
        self._running[prefix(spec)] = (stage, before if text is None else text)

    def over(self, spec: ExperimentSpec | None = None) -> None:
        """Take note that one experiment more is over; None for one that was so before."""
        self._over += 1
        if spec is not None:
            self._running.pop(prefix(spec), None)

    def text(self) -> str:
        """Return what the panel shows."""
        running = sorted(self._running.items())
        head = f"{duration(self._clock() - self._began)} | {self._over}/{self._count} experiments over | {len(running)} at once"
        lines = [head]
        for name, (stage, text) in running:
            first, *rest = text.split("\n")
            lines.append(f"{name} | {first or {Stage.WAITS: 'waits for cores'}.get(stage, 'begins')}")
            lines += rest if len(running) <= _FEW else []
        return "\n".join(lines)


def prefix(spec: ExperimentSpec) -> str:
    """Return what tells the lines of an experiment from those of others."""
    return f"{spec.definition.name} {spec.method} {spec.number}"
