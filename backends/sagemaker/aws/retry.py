"""Calls AWS again, later and later, while it is busy. Used by the commands that have no loop of their own: `doctor`, `stop`, `clean`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

from backends.sagemaker.aws.errors import refusal_of


class Patience:
    """Repeats a call that is throttled or that the service fails, with exponential back-off and full jitter.

    Args:
        patience_s: most seconds from a call's first try to its last.
        first_s: longest wait before the second try; it doubles up to `longest_s`.
        monotonic: a clock in seconds; `sleep`: waits so many of them.
        rng: draws the waits.
    """

    def __init__(
        self,
        patience_s: float = 120.0,
        first_s: float = 0.5,
        longest_s: float = 20.0,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._patience_s, self._first_s, self._longest_s = patience_s, first_s, longest_s
        self._rng = rng or random.Random()
        self.monotonic, self.sleep = monotonic, sleep
        self.repeated = 0

    def __call__(self, call: Callable[..., Any], **arguments: Any) -> Any:
        """Return what the call returns; raises its last exception where patience is at its end, any other at once."""
        end = self.monotonic() + self._patience_s
        longest_s = self._first_s
        while True:
            try:
                return call(**arguments)
            except Exception as error:
                refusal = refusal_of(error)
                wait_s = self._rng.uniform(0, longest_s)
                if refusal is None or not refusal.transient or self.monotonic() + wait_s > end:
                    raise
            self.repeated += 1
            self.sleep(wait_s)
            longest_s = min(2 * longest_s, self._longest_s)
