"""How long jobs waited for what others held while none of them ran: no run time, where a budget of time is asked."""

from __future__ import annotations


class Waits:
    """Adds up the time in which some jobs were submitted and none ran. Before the first job's start nothing counts at all.

    Args:
        counts: whether jobs wait for what others hold; else no wait is counted.
    """

    def __init__(self, *, counts: bool) -> None:
        self._counts = counts
        self._waiting: set[str] = set()
        self._running: set[str] = set()
        self._has_begun = False
        self._since: float | None = None
        self._total_s = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether jobs wait now, and none runs."""
        return self._since is not None

    def seconds(self, now: float = 0.0) -> float:
        """Return the seconds up to now, those of past waits alone where that is not given."""
        return self._total_s + (0.0 if self._since is None else max(0.0, now - self._since))

    def submitted(self, job: str, at: float) -> None:
        """A job may wait from now on."""
        self._waiting.add(job)
        self._look(at)

    def started(self, job: str, at: float) -> None:
        """A job runs."""
        self._has_begun = True
        self._waiting.discard(job)
        self._running.add(job)
        self._look(at)

    def over(self, job: str, at: float) -> None:
        """A job neither runs nor waits any more."""
        self._waiting.discard(job)
        self._running.discard(job)
        self._look(at)

    def skip(self, last_at: float, at: float) -> None:
        """No controller was at work between two times: that is counted elsewhere."""
        if self._since is not None:
            self._total_s += max(0.0, last_at - self._since)
            self._since = at

    def _look(self, at: float) -> None:
        waits = self._counts and self._has_begun and bool(self._waiting) and not self._running
        if self._since is not None and not waits:
            self._total_s += max(0.0, at - self._since)
            self._since = None
        elif waits and self._since is None:
            self._since = at
