"""What is counted of a load: durations with cold and warm apart, errors by kind, blocks of the schedule. Parts are merged exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from .histogram import LatencyHistogram

WARM, COLD = "warm", "cold"

LEVELS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.49, 0.4, 0.343, 0.24, 0.168, 0.118, 0.082, 0.058)
"""Shares of the limit at which blocks count too: how requests of a block depend on each other shows there before the limit is reached."""


class TallyWindow:
    """What ended within one second of a load."""

    __slots__ = ("errors", "latency", "users")

    def __init__(self) -> None:
        self.latency = LatencyHistogram()
        self.errors = 0
        self.users = 0


class LoadTally:
    """Counts of one load, or of a process' share of it.

    Args:
        limit_s: a request that takes longer, from its intended start, is over the limit, and so is one that fails.
        failure_s: what a failed request counts as, at least: whoever asked would have had to ask again.
        counts_cold: whether a cold answer that takes longer is over the limit too, or is left out of blocks.
    """

    def __init__(self, limit_s: float, failure_s: float, counts_cold: bool = True) -> None:
        self.limit_s, self.failure_s, self._counts_cold = limit_s, failure_s, counts_cold
        self.latency = {WARM: LatencyHistogram(), COLD: LatencyHistogram()}
        self.service = {WARM: LatencyHistogram(), COLD: LatencyHistogram()}
        self.load = LatencyHistogram()
        self.lag = LatencyHistogram()
        self.errors: Counter[str] = Counter()
        self.texts: dict[str, str] = {}
        self.blocks: dict[int, list[int]] = {}
        self.windows: dict[int, TallyWindow] = {}
        self.sent = 0
        self.untold = 0

    def sends(self, block: int, lag_s: float) -> None:
        """Count a request that is sent.

        Args:
            block: of the schedule in which it is due.
            lag_s: by how much later than intended.
        """
        self.sent += 1
        self.lag.add(lag_s)
        counts = self.blocks.get(block)
        if counts is None:
            counts = self.blocks[block] = [0] * (2 + len(LEVELS))
        counts[0] += 1

    def ages(self, block: int) -> None:
        """Count a request that is unanswered beyond the limit: over it, whatever comes."""
        self._settle(block, len(LEVELS))

    def answers(
        self, block: int, second: int, latency_s: float, service_s: float, *, is_cold: bool | None = None, is_settled: bool = False
    ) -> None:
        """Count a right answer.

        Args:
            block: in which it was due.
            second: of the load in which the answer came.
            latency_s: from the intended start.
            service_s: from sending.
            is_cold: whether a model was loaded for it; None where that is not known: then it counts as warm.
            is_settled: whether it was counted as over the limit before.
        """
        kind = COLD if is_cold else WARM
        self.untold += is_cold is None
        self.latency[kind].add(latency_s)
        self.service[kind].add(service_s)
        self._window(second).latency.add(latency_s)
        if is_cold and not self._counts_cold:
            self.blocks[block][0] -= 1
            if is_settled:
                self._settle(block, len(LEVELS), -1)
        elif not is_settled:
            level, limit_s = len(LEVELS), self.limit_s
            while level and latency_s > limit_s * LEVELS[level - 1]:
                level -= 1
            self._settle(block, len(LEVELS) - level)

    def fails(self, block: int, second: int, kind: str, age_s: float, text: str = "", *, is_settled: bool = False) -> None:
        """Count a request that failed: `age_s` since its intended start; `text`: what the answer said, kept for the first of a kind."""
        self.errors[kind] += 1
        self.texts.setdefault(kind, text)
        self.failure_s = max(self.failure_s, age_s)
        self._window(second).errors += 1
        if not is_settled:
            self._settle(block, len(LEVELS))

    def settled_blocks(self, until: int) -> list[tuple[int, ...]]:
        """Return the blocks before `until` all of whose requests are settled, as far as none before is not: see `evidence.BlockCounts`."""
        found = []
        for block in range(until):
            counts = self.blocks.get(block)
            if counts is None:
                continue  # nothing was due in it
            if counts[1] < counts[0]:
                break
            found.append((counts[0], *counts[2:]))
        return found

    def _settle(self, block: int, exceeded: int, by: int = 1) -> None:
        """Count a request as settled, over the lowest `exceeded` levels."""
        counts = self.blocks[block]
        counts[1] += by
        for level in range(len(LEVELS) - exceeded, len(LEVELS)):
            counts[2 + level] += by

    def _window(self, second: int) -> TallyWindow:
        found = self.windows.get(second)
        if found is None:
            found = self.windows[second] = TallyWindow()
        return found

    @property
    def failed(self) -> int:
        """Requests that failed."""
        return sum(self.errors.values())

    @property
    def answered(self) -> int:
        """Requests with a right answer."""
        return self.latency[WARM].n + self.latency[COLD].n

    def merge(self, other: LoadTally) -> None:
        """Add what another process counted of the same load."""
        for kind in (WARM, COLD):
            self.latency[kind].merge(other.latency[kind])
            self.service[kind].merge(other.service[kind])
        self.load.merge(other.load)
        self.lag.merge(other.lag)
        self.errors.update(other.errors)
        self.texts = {**other.texts, **self.texts}
        self.sent += other.sent
        self.untold += other.untold
        self.failure_s = max(self.failure_s, other.failure_s)
        for block, counts in other.blocks.items():
            mine = self.blocks.setdefault(block, [0] * len(counts))
            for place, count in enumerate(counts):
                mine[place] += count
        for second, window in other.windows.items():
            here = self._window(second)
            here.latency.merge(window.latency)
            here.errors += window.errors
            here.users += window.users

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as JSON types."""
        return {
            "limit_s": self.limit_s,
            "failure_s": self.failure_s,
            "sent": self.sent,
            "untold": self.untold,
            "errors": dict(sorted(self.errors.items())),
            "texts": dict(sorted(self.texts.items())),
            "latency": {kind: held.as_dict() for kind, held in self.latency.items()},
            "service": {kind: held.as_dict() for kind, held in self.service.items()},
            "load": self.load.as_dict(),
            "lag": self.lag.as_dict(),
            "blocks": [[block, *self.blocks[block]] for block in sorted(self.blocks)],
            "windows": [[at, one.errors, one.users, one.latency.as_dict()] for at, one in sorted(self.windows.items())],
        }

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> LoadTally:
        """Return the counts that `as_dict` gave."""
        made = cls(float(held["limit_s"]), float(held["failure_s"]))
        made.sent, made.untold = int(held["sent"]), int(held["untold"])
        made.errors, made.texts = Counter(held["errors"]), dict(held["texts"])
        for kind in (WARM, COLD):
            made.latency[kind] = LatencyHistogram.from_dict(held["latency"][kind])
            made.service[kind] = LatencyHistogram.from_dict(held["service"][kind])
        made.load, made.lag = LatencyHistogram.from_dict(held["load"]), LatencyHistogram.from_dict(held["lag"])
        made.blocks = {int(block): [int(count) for count in counts] for block, *counts in held["blocks"]}
        for at, errors, users, latency in held["windows"]:
            window = made._window(int(at))
            window.errors, window.users, window.latency = int(errors), int(users), LatencyHistogram.from_dict(latency)
        return made
