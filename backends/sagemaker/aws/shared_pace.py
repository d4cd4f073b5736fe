"""The pace of calls that all processes of a user on this machine keep together: the time of the last one, in a small locked file."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from backends.common.file_lock import try_lock
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
    """

    def __init__(self, folder: Path, key: str, interval_s: float, rng: random.Random, clock: Callable[[], float] = time.monotonic) -> None:
        self._path, self._key, self._interval_s, self._rng, self._clock = folder / _FILE, key, interval_s, rng, clock
        self._not_before = clock()

    def wait_s(self) -> float:
        """Return the seconds until it is worth trying to make a call, as far as is known here."""
        return max(0.0, self._not_before - self._clock())

    def take(self) -> bool:
        """Count a call that is made now, and return whether it may be."""
        if self.wait_s() > 0.0:
            return False
        try:
            with self._opened() as descriptor:
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
        _write(descriptor, {**known, self._key: now})
        # Those that waited for this one come before the next of ours.
        self._not_before = now + 1.03 * self._interval_s
        return True

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int | None]:
        """Give the locked file; None where another process has it at this moment."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        taken = False
        try:
            taken = try_lock(descriptor, fcntl.LOCK_EX, self._path, "")
            yield descriptor if taken else None
        finally:
            if taken:
                # Unlocked and not only closed: a forked child of this process may have the descriptor too.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


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
