"""Prints what is read from files as lines of reports, beside the script that writes them: where who listens sees the log alone."""

from __future__ import annotations

import json
import os
import sys
import threading
import time

from backends.metrics.files.watcher import MetricFiles
from definitions.file_source import FileSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

EVERY_S = 1.0
_MOST_SHARE = 0.05
"""Part of the time that reading may take; large folders are looked at less often."""


class ReportPrinter:
    """Reads files while a script runs, in a thread of its own.

    Args:
        sources: fields of `FileSource`.
        folder: where the script starts.
        places: what `${place}` in a path stands for.
        write: takes a whole line; by default it goes to standard output with one call, so that it does not mix with others.
        every_s: seconds between two looks, at least.
    """

    def __init__(
        self,
        sources: Sequence[Mapping[str, Any]],
        folder: str,
        places: Mapping[str, str],
        write: Callable[[bytes], object] = lambda line: os.write(1, line),
        every_s: float = EVERY_S,
    ) -> None:
        self._files = MetricFiles([FileSource(**one) for one in sources], folder, places)
        self._write = write
        self._every_s = every_s
        self._number = 0
        self._is_over = threading.Event()
        self._begun_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Take what is there as not the script's, and begin to read."""
        self._files.begin()
        self._begun_s = time.monotonic()
        self._thread.start()

    def finish(self, is_whole: bool) -> None:
        """Print what is left, and where all went well, which source gave less than it should have.

        Args:
            is_whole: whether the script ended by itself.
        """
        self._is_over.set()
        self._thread.join()
        self._print(self._files.finish(is_whole))
        # Of a script that failed its own last words are the cause.
        for problem in self._files.problems() if is_whole else ():
            sys.stderr.write(f"[outrider] {problem}\n")

    def _run(self) -> None:
        pause_s = self._every_s
        while not self._is_over.wait(pause_s):
            begun_s = time.thread_time()
            self._print(self._files.read())
            pause_s = max(self._every_s, (time.thread_time() - begun_s) / _MOST_SHARE)

    def _print(self, reports: Sequence[Mapping[str, Any]]) -> None:
        for metrics in reports:
            body = dict(metrics)
            body.update(
                st_worker_time=round(time.monotonic() - self._begun_s, 6),
                st_worker_timestamp=time.time(),
                outrider_files=self._number,
            )
            self._number += 1
            try:
                self._write(f"[tune-metric]: {json.dumps(body)}\n".encode())
            except OSError:
                return
