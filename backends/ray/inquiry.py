"""What is asked of a cluster again and again, and never waited for for long: its head may be gone, and Ray waits for it in silence."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Answer = TypeVar("Answer")

WAIT_S = 2.0
"""Seconds that a new answer is waited for where there is an older one."""


class Inquiry(Generic[Answer]):
    """One thing to ask. It is asked in a thread of its own, one at a time; who asks while nobody answers gets what was last known.

    Args:
        ask: asks it, and may wait for as long as it likes.
        wait_s: seconds that a new answer is waited for.
    """

    def __init__(self, ask: Callable[[], Answer], wait_s: float = WAIT_S) -> None:
        self._ask, self._wait_s = ask, wait_s
        self._last: Answer | None = None
        self._is_known = False
        self._asking: threading.Thread | None = None
        self._error: BaseException | None = None

    def answer(self) -> Answer:
        """Return the answer; where none comes in time, the one before. The first is waited for without a limit.

        Raises:
            Exception: what asking has raised.
        """
        if self._asking is None or not self._asking.is_alive():
            self._error = None  # of one that came too late
            self._asking = threading.Thread(target=self._run, name="inquiry", daemon=True)
            self._asking.start()
            self._asking.join(self._wait_s if self._is_known else None)
        elif not self._is_known:
            self._asking.join()
        error, self._error = self._error, None
        if error is not None:
            raise error
        assert self._last is not None
        return self._last

    def _run(self) -> None:
        try:
            found = self._ask()
        except BaseException as error:  # noqa: BLE001 (raised where it was asked)
            self._error = error
        else:
            self._last, self._is_known = found, True
