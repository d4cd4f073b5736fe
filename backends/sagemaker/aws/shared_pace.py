"""The pace of calls that all processes of a user on this machine keep together: who made the last ones and when, in a small locked file."""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from backends.common.file_lock import locked_within
from definitions import strict_json
from definitions.errors import UserError

_FILE = "calls.json"
_FORGOTTEN_S = 60.0
"""After so many seconds a call is no reason for anything any more."""
_BUSY_S = 0.02
_MOST_BYTES = 65536


class SharedPace:
    """Lets one call pass in so many seconds, whichever process makes it.

    Where the file cannot be used, calls pass: the pace that each process keeps by itself is left.

    Args:
        folder: of the file; made where it does not exist.
        key: what the pace is of, e.g. `key_of` a service.
        interval_s: seconds from one call to the next.
        rng: of the order among those that wait.
        clock: seconds that all processes see alike, and that are not set: those since the machine's start.
        process: names this process among them.

    Its `sharers` are how many processes made such calls lately, this one among them, as seen at its last call.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        interval_s: float,
        rng: random.Random,
        clock: Callable[[], float] = time.monotonic,
        process: int | None = None,
    ) -> None:
        self._path, self._key, self._interval_s, self._rng, self._clock = folder / _FILE, key, interval_s, rng, clock
        self._not_before = clock()
        self._own_key = f"{key}/{os.getpid() if process is None else process}"
        self.sharers = 1

    def wait_s(self) -> float:
        """Return the seconds until it is worth trying to make a call, as far as is known here."""
        return max(0.0, self._not_before - self._clock())

    def take(self) -> bool:
        """Count a call that is made now, and return whether it may be."""
        if self.wait_s() > 0.0:
            return False
        try:
            with locked_within(self._path, 0.0) as descriptor:
                if descriptor is None:
                    self._not_before = self._clock() + _BUSY_S
                    return False
                return self._take(descriptor)
        except (OSError, UserError):
            return True

    def _take(self, descriptor: int) -> bool:
        # Asked under the lock, so that no call of the file can be later than now.
        now = self._clock()
        calls = _read(descriptor)
        last = calls.get(self._key)
        # One in the future is from before the machine was started anew.
        if last is not None and 0.0 <= now - last < self._interval_s:
            # Not all at the same moment again, or the same one might always be first.
            self._not_before = last + self._interval_s * (1.0 + 0.02 * self._rng.random())
            return False
        known = {key: at for key, at in calls.items() if 0.0 <= now - at < _FORGOTTEN_S}
        known |= {self._key: now, self._own_key: now}
        self.sharers = sum(key.startswith(f"{self._key}/") for key in known)
        _write(descriptor, known)
        # Those that waited for this one come before the next of ours.
        self._not_before = now + 1.03 * self._interval_s
        return True


def key_of(operation: str, region: str, endpoint: str | None) -> str:
    """Return what tells the calls of an operation from those of other services.

    Args:
        operation: its name.
        region: that is asked.
        endpoint: URL of the service; None for AWS's own.
    """
    return hashlib.sha256("\0".join((operation, region, endpoint or "")).encode()).hexdigest()[:16]


def _read(descriptor: int) -> dict[str, float]:
    try:
        found = strict_json.loads(os.pread(descriptor, _MOST_BYTES, 0).decode("utf-8"))
        return {str(key): float(at) for key, at in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}  # new, or torn by a full disk


def _write(descriptor: int, calls: dict[str, float]) -> None:
    text = strict_json.dumps(calls).encode()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))
