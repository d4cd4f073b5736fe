"""That a run has no mark by which its end is asked for, read once for all experiments of a user on this machine.

Only that there is none is shared: a mark that was found is read anew by each process, so that one which is lifted holds nobody up.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from backends.common.file_lock import locked_within
from definitions import strict_json
from definitions.errors import UserError

_FILE = "marks.json"
_LONGEST_WAIT_S = 5.0
_FORGOTTEN_S = 60.0
_MOST_BYTES = 65536


class KnownAbsence:
    """When a run was last seen without a mark, kept in a locked file; where it cannot be used, each process looks for itself.

    Args:
        folder: of the file; made where it does not exist.
        key: of the run, as one service and one set of credentials see it.
        clock: seconds that all processes see alike, and that are not set.
        sleep: waits so many seconds.
    """

    def __init__(
        self, folder: Path, key: str, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._path, self._key, self._clock, self._sleep = folder / _FILE, key, clock, sleep

    @contextlib.contextmanager
    def in_turn(self) -> Iterator[SeenAbsence]:
        """Inside the block no other process looks, so that who waits is told by who looked; one that takes long is not waited for."""
        with contextlib.ExitStack() as stack:
            descriptor: int | None = None
            with contextlib.suppress(OSError, UserError):
                descriptor = stack.enter_context(locked_within(self._path, _LONGEST_WAIT_S, self._clock, self._sleep))
            yield SeenAbsence(descriptor, self._key, self._clock)


class SeenAbsence:
    """What the file says while it is locked, and can be told.

    Args:
        descriptor: of the file; None where it cannot be used.
        key: of the run.
        clock: as of the file.
    """

    def __init__(self, descriptor: int | None, key: str, clock: Callable[[], float]) -> None:
        self._descriptor, self._key, self._clock = descriptor, key, clock

    def at(self) -> float | None:
        """Return when somebody last asked and was told that there is no mark, by the clock; None where that is not known."""
        return None if self._descriptor is None else self._known(self._descriptor).get(self._key)

    def tell(self, asked_at: float) -> None:
        """Write down that there was no mark for who asked at that time; a full disk makes the others look for themselves."""
        if self._descriptor is None:
            return
        text = strict_json.dumps({**self._known(self._descriptor), self._key: asked_at}).encode()
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, text, 0)
            os.ftruncate(self._descriptor, len(text))

    def _known(self, descriptor: int) -> dict[str, float]:
        now = self._clock()
        try:
            found = strict_json.loads(os.pread(descriptor, _MOST_BYTES, 0).decode("utf-8"))
            # One in the future is from before the machine was started anew.
            return {str(key): float(at) for key, at in found.items() if 0.0 <= now - float(at) < _FORGOTTEN_S}
        except (ValueError, TypeError, AttributeError):
            return {}  # new, or torn by a full disk
