"""Keeps each ceiling in a file by what it depends on, so that all trials that share it measure it once. Standard library only."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

_WAIT_S = 120.0
_LOOK_AGAIN_S = 0.05


def key_of(facts: Mapping[str, Any]) -> str:
    """Return a short name for what a ceiling depends on; equal facts have equal names, whatever their order."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:16]


class CeilingFiles:
    """Ceilings of one study.

    Args:
        folder: where they are kept, which other trials write too; None to measure each anew.
        sleep: waits; another for tests.
    """

    def __init__(self, folder: Path | None, sleep: Callable[[float], Any] = time.sleep) -> None:
        self._folder, self._sleep = folder, sleep

    def get(self, kind: str, facts: Mapping[str, Any], measure: Callable[[], Mapping[str, Any] | None]) -> Mapping[str, Any] | None:
        """Return a ceiling, measured where it was not yet; None where it could not be measured, which is tried again next time.

        While one process measures, others that need the same one wait for it, for two minutes at most.

        Args:
            kind: of ceiling, e.g. `compute`.
            facts: all that it depends on.
            measure: measures it.
        """
        if self._folder is None:
            return measure()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            return measure()
        path = self._folder / f"{kind}-{key_of(facts)}.json"
        with self._alone(path.with_suffix(".lock")):
            known = _read(path)
            if known is not None:
                return known
            found = measure()
            if found is not None:
                _write(path, {"kind": kind, "facts": dict(facts), "found": dict(found)})
            return found

    @contextlib.contextmanager
    def _alone(self, path: Path) -> Iterator[None]:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield
            return
        try:
            waited_s = 0.0
            # The kernel lets go of the lock of a process that dies. One that hangs is not waited for.
            while not _locked(descriptor) and waited_s < _WAIT_S:
                self._sleep(_LOOK_AGAIN_S)
                waited_s += _LOOK_AGAIN_S
            yield
        finally:
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["found"]
    except (OSError, ValueError, KeyError, TypeError):
        return None  # not there, or torn: it is measured, and written anew
    return found if isinstance(found, dict) else None


def _write(path: Path, document: Mapping[str, Any]) -> None:
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(document, file)
        Path(name).replace(path)
    except OSError:
        return  # a full disk costs the next trial a measurement, and this one nothing
