"""The last word of each experiment, live.json: how it stands, renewed while it changes and at most every half minute."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from backends.object_store import ObjectStore
from benchmarking.archive.identity import ExperimentSpec
from benchmarking.controller.interfaces import Observer
from benchmarking.controller.journal import Record
from benchmarking.controller.state import ExperimentState
from benchmarking.remote.layout import live_key
from benchmarking.remote.segments import Writer
from benchmarking.remote.shipping import ShippingPace
from definitions import strict_json
from definitions.errors import OutriderError

logger = logging.getLogger(__name__)

LIVE_VERSION = 1
EVERY_S = 30.0
"""Seconds between two words of one experiment, at least."""
_TRIES = 5

Describe = Callable[[ExperimentSpec, ExperimentState], Mapping[str, Any]]
"""Returns how an experiment stands, of JSON types; called in another thread than the one that changes the state."""


@dataclass
class _Told:
    """An experiment, and what was said of it last."""

    spec: ExperimentSpec
    state: ExperimentState | None = None
    is_new: bool = False
    at: float = float("-inf")


class LiveWords:
    """Says how experiments stand, without holding them up.

    Args:
        store: of the run.
        writer: who says so.
        describe: see `Describe`.
        utc: seconds since 1970.
        pace: clock and waiting.
        start: starts a thread; for tests.
    """

    def __init__(
        self,
        store: ObjectStore,
        writer: Writer,
        describe: Describe,
        utc: Callable[[], float],
        pace: ShippingPace,
        start: Callable[[threading.Thread], None] = threading.Thread.start,
    ) -> None:
        self._store, self._writer, self._describe, self._utc, self._pace, self._start = store, writer, describe, utc, pace, start
        self._told: dict[str, _Told] = {}
        self._stirred = threading.Event()
        self._is_started = False

    def observer(self, experiment: str, spec: ExperimentSpec) -> Observer:
        """Return what takes note of each record of an experiment."""
        told = self._told[experiment] = _Told(spec)
        if not self._is_started:
            self._is_started = True
            self._start(threading.Thread(target=self.run, name="live-words", daemon=True))

        def observe(record: Record, state: ExperimentState) -> None:
            told.state = state
            if not told.is_new:
                told.is_new = True
                self._stirred.set()

        return observe

    def last(self, experiment: str) -> None:
        """Say how an experiment stands for the last time; that it cannot be said is no reason to fail."""
        told = self._told.pop(experiment, None)
        if told is not None and told.state is not None:
            self._say(experiment, told)

    def run(self, over: Callable[[], bool] = lambda: False) -> None:
        """Say what is new, again and again, until `over` says so."""
        while True:
            self._stirred.clear()
            if over():
                return
            now = self._pace.now()
            waiting = [(told.at + EVERY_S, experiment, told) for experiment, told in [*self._told.items()] if told.is_new]
            for due_at, experiment, told in waiting:
                if due_at <= now:
                    told.is_new, told.at = False, now
                    self._say(experiment, told)
            later = [due_at - now for due_at, _, _ in waiting if due_at > now]
            # What has become new meanwhile stirs again.
            self._pace.wait(self._stirred, min(later, default=None))

    def _say(self, experiment: str, told: _Told) -> None:
        try:
            self._store.put(live_key(experiment), self._document(told))
        except OutriderError as error:
            logger.warning("how %s stands could not be said: %s", experiment, error)
        except Exception:
            # A fault of ours in what is only for people must not keep later words away.
            logger.exception("how %s stands could not be said", experiment)

    def _document(self, told: _Told) -> bytes:
        assert told.state is not None
        about = {
            "schema_version": LIVE_VERSION,
            "at": self._utc(),
            "controller": self._writer.controller,
            "generation": self._writer.generation,
            "records": told.state.sequence,
        }
        for number in range(_TRIES):
            try:
                return (strict_json.dumps({**about, **self._describe(told.spec, told.state)}) + "\n").encode()
            except RuntimeError:
                # The loop has added a trial while they were counted.
                if number + 1 == _TRIES:
                    raise
        raise AssertionError("the last try returns or raises")
