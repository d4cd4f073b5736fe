"""The best share of a growing set of numbers, in O(log n) a number: what a rung of successive halving has to know. Pure."""

from __future__ import annotations

import heapq
import math


class BestShare:
    """Numbers by key (small ones are good), of which the best floor(share x n) are kept apart; ties go to who came first.

    Args:
        share: in (0, 1).
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self._wanted = 0
        self._order = 0
        # The best ones as a heap with the worst of them on top, the others with their best on top.
        self._best: list[tuple[float, int, int]] = []
        self._rest: list[tuple[float, int, int]] = []
        self._members: set[int] = set()
        self._fresh: list[tuple[float, int, int]] = []
        self._taken: set[int] = set()

    def __len__(self) -> int:
        return self._order

    def add(self, key: int, value: float) -> bool:
        """Add a number and return whether it belongs to the best: at most `share` of all, itself included, are smaller.

        Args:
            key: who has it; no key is added twice.
            value: the number; NaN counts as the worst of all.
        """
        value = math.inf if value != value else value
        self._order += 1
        self._grow()
        among = len(self._rest) == 0 or self._rest[0][0] >= value
        entry = (value, self._order, key)
        if len(self._best) < self._wanted:
            self._enter(heapq.heappushpop(self._rest, entry))
        elif self._best and value < -self._best[0][0]:
            worst = heapq.heapreplace(self._best, (-value, -self._order, key))
            self._members.discard(worst[2])
            self._join(entry)
            heapq.heappush(self._rest, (-worst[0], -worst[1], worst[2]))
        else:
            heapq.heappush(self._rest, entry)
        return among

    def best(self) -> int | None:
        """Return the key of the best number that is kept apart and was not taken; None where there is none."""
        while self._fresh and (self._fresh[0][2] in self._taken or self._fresh[0][2] not in self._members):
            heapq.heappop(self._fresh)
        return self._fresh[0][2] if self._fresh else None

    def holds(self, key: int) -> bool:
        """Return whether a key's number is among those kept apart."""
        return key in self._members

    def take(self, key: int) -> None:
        """Let `best` never return this key again."""
        self._taken.add(key)

    def _grow(self) -> None:
        """Let the best ones be as many as there should be now, but for the number that is being added."""
        while (self._wanted + 1) / self._order <= self._share:
            self._wanted += 1
        while len(self._best) < self._wanted and self._rest:
            self._enter(heapq.heappop(self._rest))

    def _enter(self, entry: tuple[float, int, int]) -> None:
        value, order, key = entry
        heapq.heappush(self._best, (-value, -order, key))
        self._join(entry)

    def _join(self, entry: tuple[float, int, int]) -> None:
        self._members.add(entry[2])
        heapq.heappush(self._fresh, entry)
