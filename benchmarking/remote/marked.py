"""Ends experiments by the mark to stop of their run, where their back-end has no jobs elsewhere before which it would read it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backends.object_store import ObjectStore
from backends.stop_mark import left
from benchmarking.archive.stop_requests import ask
from benchmarking.remote.shipping import ShippingPace
from definitions.errors import OutriderError

logger = logging.getLogger(__name__)

EVERY_S = 10.0
"""Seconds between two looks for a mark."""


@dataclass
class _Watched:
    """A running experiment: its folder, and whether it was asked to end."""

    folder: Path
    is_asked: bool = False


class MarkedEnds:
    """Looks for the mark while experiments run, and asks those that it concerns to end, as `outrider stop` asks them on their machine.

    Args:
        store: of the run.
        pace: clock and waiting.
        start: starts a thread; for tests.
    """

    def __init__(self, store: ObjectStore, pace: ShippingPace, start: Callable[[threading.Thread], None] = threading.Thread.start) -> None:
        self._store, self._pace, self._start = store, pace, start
        self._watched: dict[str, _Watched] = {}
        self._stirred = threading.Event()
        self._is_started = False

    def begin(self, experiment: str, folder: Path) -> None:
        """Watch for an experiment, whose controller takes requests in this folder."""
        self._watched[experiment] = _Watched(folder)
        self._stirred.set()
        if not self._is_started:
            self._is_started = True
            self._start(threading.Thread(target=self.run, name="stop-marks", daemon=True))

    def end(self, experiment: str) -> None:
        """Watch no longer for an experiment."""
        self._watched.pop(experiment, None)

    def run(self, over: Callable[[], bool] = lambda: False) -> None:
        """Look again and again, until `over` says so; where nothing is watched it waits for what begins."""
        while not over():
            self._stirred.clear()
            waiting = [(name, one) for name, one in [*self._watched.items()] if not one.is_asked]
            if not waiting:
                self._pace.wait(self._stirred, None)
                continue
            self._look(waiting)
            self._pace.wait(threading.Event(), EVERY_S)

    def _look(self, waiting: list[tuple[str, _Watched]]) -> None:
        try:
            mark = left(self._store)
        except OutriderError as error:
            logger.warning("whether the run is to end is not known: %s", error)
            return
        for name, one in waiting:
            # Where nobody listens yet, it is asked at the next look.
            if mark is not None and mark.concerns(name) and ask(one.folder, None, alone=not mark.is_of_all):
                one.is_asked = True
                logger.warning("%s: %s asked for its end from elsewhere", name, mark.by)
