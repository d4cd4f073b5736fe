"""How many bad samples may be skipped, counted over all loader workers; and what else readers count."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.utils.data import get_worker_info

from .samples import BadSampleError

_MOST_WORKERS = 1024
_KINDS = ("bad_samples", "read_errors", "read_retries", "unlabelled")

_MOST_SAID = 20

Result = TypeVar("Result")


class Tolerance:
    """Counts what went wrong, and ends the reading at one bad sample too many.

    Workers count in rows of their own of a tensor in shared memory, so that no lock has to travel to them.

    Args:
        max_bad_samples: how many may be skipped; the next one is fatal.
        say: called with a line for each that is skipped, and for the first reads of a process that are tried again.
    """

    def __init__(self, max_bad_samples: int = 0, say: Callable[[str], object] | None = None) -> None:
        self._allowed, self._say, self._retried = max_bad_samples, say, 0
        self._counts = torch.zeros(_MOST_WORKERS, len(_KINDS), dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]

    def counts(self) -> dict[str, int]:
        """Return how often each kind happened since the beginning, in all workers: bad samples, read errors, retries, missing labels."""
        return dict(zip(_KINDS, (int(number) for number in self._counts.sum(0)), strict=True))

    def count(self, kind: str) -> None:
        """Count one event; raises `ValueError` where there is no such kind."""
        worker = get_worker_info()
        self._counts[(worker.id + 1) % _MOST_WORKERS if worker else 0, _KINDS.index(kind)] += 1

    def retry(self, name: str, error: Exception) -> None:
        """Count a failed read that is tried again, and say of which object, as long as there are few."""
        self.count("read_errors")
        self.count("read_retries")
        self._retried += 1
        if self._retried <= _MOST_SAID:
            more = "; further ones are counted alone" if self._retried == _MOST_SAID else ""
            self._tell(f"{name}: it is asked for again after {type(error).__name__}: {error!s:.200}{more}")

    def skip(self, error: BadSampleError) -> None:
        """Count a bad sample; raises `BadSampleError` where it is one more than may be skipped."""
        self.count("bad_samples")
        so_far = self.counts()["bad_samples"]
        if so_far > self._allowed:
            allowed = f"max_bad_samples is {self._allowed}" + (f", and it is bad sample {so_far}" if self._allowed else "")
            raise BadSampleError(f"{error} ({allowed})") from error
        self._tell(f"bad sample {so_far} of at most {self._allowed} skipped: {error}")

    def _tell(self, line: str) -> None:
        if self._say is not None:
            self._say(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def guarded(self, function: Callable[[Any], Result], given: Any) -> Result | None:
        """Return a function's result, or None where it raises `BadSampleError` and that may be skipped."""
        try:
            return function(given)
        except BadSampleError as error:
            self.skip(error)
            return None
