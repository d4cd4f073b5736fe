"""Writes how a study stands into the log of its controller's job, where the console of the cloud finds it, from the journals here."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, MutableMapping
from pathlib import Path

from benchmarking.archive.stored import StoredExperiment, experiments_of, load
from benchmarking.controller.state import ExperimentState
from benchmarking.remote.console import console_lines, console_values
from benchmarking.studies.files import read_study
from definitions.errors import UserError
from definitions.resolve import Resolved

logger = logging.getLogger(__name__)

EVERY_S = 30.0
"""Seconds between two looks."""


class StudyConsole:
    """Follows the journals of a run, which it only reads, in a thread of its own.

    Args:
        write: takes a line of the log.
        start: starts the thread; for tests.
    """

    def __init__(self, write: Callable[[str], None], start: Callable[[threading.Thread], None] = threading.Thread.start) -> None:
        self._write, self._start = write, start
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._seen: MutableMapping[tuple[str, str], Resolved] = {}
        self._states: dict[Path, tuple[StoredExperiment, ExperimentState]] = {}
        self._said: list[str] = []

    def follow(self, tag_folder: Path) -> None:
        """Look at the journals of this folder from now on, and at those of no other."""
        with self._lock:
            is_first, self._folder = self._folder is None, tag_folder
            self._states.clear()
        if is_first:
            self._start(threading.Thread(target=self._run, name="study-console", daemon=True))

    def look(self) -> None:
        """Write how the study stands, where that has changed; what is wrong with it is no reason to end anything."""
        try:
            with self._lock:
                lines = [] if self._folder is None else self._lines(self._folder)
                if lines and lines != self._said:
                    self._said = lines
                    for line in lines:
                        self._write(line)
        except Exception:
            # It is only for people who look at a console.
            logger.exception("how the study stands could not be written")

    def _run(self) -> None:
        never = threading.Event()
        while not never.wait(EVERY_S):
            self.look()

    def _lines(self, tag_folder: Path) -> list[str]:
        for folder in experiments_of(tag_folder):
            # One whose journal is being made is there at the next look.
            with contextlib.suppress(UserError):
                self._read(folder)
        found = [(stored.spec, state) for stored, state in self._states.values() if state.sequence]
        study = read_study(tag_folder)
        return [] if study is None else console_lines(console_values(found, [one.key for one in study.experiments]))

    def _read(self, folder: Path) -> None:
        known = self._states.get(folder)
        stored = load(folder, self._seen) if known is None else known[0]
        if not stored.is_started:
            return
        with stored.journal() as journal:
            if known is None:
                self._states[folder] = stored, stored.state(journal)
                return
            for record in journal.records(known[1].sequence):
                known[1].apply(record)
