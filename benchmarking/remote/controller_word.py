"""The last word of a controller, `.controllers/<i>/live.json`: how it stands, for whoever asks from anywhere."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import asdict, dataclass

from backends.object_store import ObjectStore
from benchmarking.remote.layout import controller_live_key
from definitions import strict_json
from definitions.errors import OutriderError

EVERY_S = 30.0
"""Seconds between two words while nothing changes."""


class ControllerState(enum.StrEnum):
    """How a controller stands, by its own word."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting to start again"
    WINDING_DOWN = "winding down"
    DETACHING = "letting trials run on"
    HANDING_OVER = "handing over"
    INTERRUPTED = "interrupted"
    HANDED_OVER = "handed over"
    ENDED = "ended"
    STOPPED = "stopped"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether this generation is over, and no other one follows by itself."""
        return self in (ControllerState.ENDED, ControllerState.STOPPED, ControllerState.FAILED)


@dataclass(frozen=True)
class Restart:
    """One restart of a controller's process: when, in seconds since 1970, and why."""

    at: float
    why: str


@dataclass(frozen=True)
class ControllerWord:
    """What a controller says of itself.

    Args:
        controller, generation: who; both count from 1.
        job: name of its training job.
        at: when it said so, in seconds since 1970 by its own clock.
        state: how it stands; `why`: in words, where there is a reason.
        restarts: of its process in this generation.
        seconds_left: until the limit of its job; None where there is none.
        started_at: when this generation began, likewise; None where that is not known.
    """

    controller: int
    generation: int
    job: str
    at: float
    state: ControllerState
    why: str = ""
    restarts: tuple[Restart, ...] = ()
    seconds_left: float | None = None
    started_at: float | None = None


def as_bytes(word: ControllerWord) -> bytes:
    """Return the content of live.json."""
    return (strict_json.dumps(asdict(word)) + "\n").encode()


def from_bytes(body: bytes) -> ControllerWord | None:
    """Return the word in the content of a live.json; None where it cannot be read."""
    try:
        data = strict_json.loads(body.decode())
        known = {key: value for key, value in data.items() if key in ControllerWord.__dataclass_fields__}
        restarts = tuple(Restart(float(one["at"]), str(one["why"])) for one in known.pop("restarts", ()))
        return ControllerWord(**{**known, "state": ControllerState(known["state"]), "restarts": restarts})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def read_word(store: ObjectStore, controller: int) -> ControllerWord | None:
    """Return the last word of a controller; None where there is none; raises `OutriderError` where the store refuses."""
    there = store.get(controller_live_key(controller))
    return None if there is None else from_bytes(there.body)


class WordWriter:
    """Says how one generation of a controller stands; a later one has the last word.

    What cannot be written is passed over, as no job depends on it: the next word says it again.

    Args:
        store: of the run.
        controller: whose word it is.
        generation: that speaks.
        warn: takes what could not be written, in words.
    """

    def __init__(self, store: ObjectStore, controller: int, generation: int, warn: Callable[[str], None]) -> None:
        self._store, self._key, self._generation, self._warn = store, controller_live_key(controller), generation, warn
        self._etag: str | None = None
        self.is_silenced = False
        """Whether a later generation has spoken."""

    def earlier(self) -> ControllerWord | None:
        """Return the last word that there is, whoever said it."""
        try:
            there = self._store.get(self._key)
        except OutriderError as error:
            self._warn(str(error))
            return None
        self._etag = None if there is None else there.etag
        return None if there is None else from_bytes(there.body)

    def say(self, word: ControllerWord) -> None:
        """Replace the last word, unless a later generation said it."""
        if self.is_silenced:
            return
        body = as_bytes(word)
        try:
            while True:
                if self._etag is None:
                    if self._store.create(self._key, body):
                        self.earlier()  # for its ETag, once
                        return
                else:
                    self._etag = self._store.replace(self._key, body, self._etag)
                    if self._etag is not None:
                        return
                found = self.earlier()
                if found is not None and found.generation > self._generation:
                    self.is_silenced = True
                    return
        except OutriderError as error:
            self._warn(str(error))
