"""The best share of a growing set of vectors: by non-dominated fronts, within the one that straddles the limit by crowding. Pure.

The counterpart of `best_share` for several objectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class ParetoShare:
    """Vectors by key (small numbers are good), ranked by front (0: dominated by none), then by the distance to their neighbours.

    An addition costs a few vectorised passes over all vectors. Crowding is that of NSGA-II (Deb et al., 2002).

    Args:
        share: in (0, 1).
    """

    def __init__(self, share: float) -> None:
        import numpy as np

        self._np = np
        self._share = share
        self._keys: list[int] = []
        self._values: Any = np.empty((0, 0))
        self._fronts: Any = np.empty(0, dtype=int)
        self._taken: set[int] = set()
        self._apart: list[int] | None = []

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: int, value: Sequence[float]) -> bool:
        """Add a vector and return whether it belongs to the best: at most `share` of all, itself included, rank before it.

        Args:
            key: who has it; no key is added twice.
            value: its finite objectives, as many as every other has.
        """
        np = self._np
        new = np.asarray(value, dtype=float)
        count = len(self._keys)
        if count == len(self._fronts):
            self._values = np.resize(self._values, (2 * count + 8, len(new)))
            self._fronts = np.resize(self._fronts, 2 * count + 8)
        # A vector's front is one behind the last front that dominates it. All dominators lie in fronts that are known, so one pass tells.
        known = self._values[:count]
        above = (known <= new).all(axis=1) & (known < new).any(axis=1)
        front = int(self._fronts[:count][above].max()) + 1 if above.any() else 0
        # Before the new vector is stored, as it dominates nothing of its own front afterwards.
        self._push_down(new, front, count)
        self._values[count], self._fronts[count] = new, front
        self._keys.append(key)
        self._apart = None
        return self._is_good(front, count)

    @property
    def fronts(self) -> list[int]:
        """The front of each vector, in the order in which they were added."""
        return [int(front) for front in self._fronts[: len(self._keys)]]

    def best(self) -> int | None:
        """Return the key of the best vector that is kept apart and was not taken; None where there is none."""
        return next((key for key in self._kept_apart() if key not in self._taken), None)

    def holds(self, key: int) -> bool:
        """Return whether a key's vector is among the best floor(share x n)."""
        return key in self._kept_apart()

    def take(self, key: int) -> None:
        """Let `best` never return this key again."""
        self._taken.add(key)

    def _push_down(self, new: Any, front: int, count: int) -> None:
        """Move the vectors that the new one dominates, and those that these dominate, to later fronts."""
        np = self._np
        values, fronts = self._values[:count], self._fronts[:count]
        # What it dominates further back lies behind it already; in its own front such a vector must move.
        same = np.flatnonzero(fronts == front)
        moving = same[(new <= values[same]).all(axis=1) & (new < values[same]).any(axis=1)]
        while len(moving):
            front += 1
            # A vector that moves into the next front pushes on what it dominates there; all pairs are compared at once.
            there = np.flatnonzero(fronts == front)
            by, of = values[moving][:, None, :], values[there][None, :, :]
            pushed = there[((by <= of).all(axis=2) & (by < of).any(axis=2)).any(axis=0)] if len(there) else there
            fronts[moving] = front
            moving = pushed

    def _is_good(self, front: int, position: int) -> bool:
        np = self._np
        total = position + 1
        fronts = self._fronts[:total]
        # The rank is the number of vectors before it: those of better fronts count whole ...
        before = int((fronts < front).sum())
        if before / total > self._share:
            return False
        members = np.flatnonzero(fronts == front)
        # ... and where even the last of its front would be good, the costly distances need not be known.
        if (before + len(members) - 1) / total <= self._share:
            return True
        distances = self._crowding(members)
        # Within the front those rank before it that lie further from their neighbours; the new vector is the last member.
        wider = int((distances > distances[-1]).sum())
        return (before + wider) / total <= self._share

    def _crowding(self, members: Any) -> Any:
        """Return how far apart from its neighbours each member of a front lies; infinite for the ends.

        Args:
            members: positions of the front's vectors: (n,).
        """
        np = self._np
        values = self._values[members]
        found = np.zeros(len(members))
        # The crowding distance of NSGA-II: for each objective the gap between both neighbours, as a share of the front's whole spread.
        for column in values.T:
            order = np.argsort(column, kind="stable")
            ascending = column[order]
            spread = ascending[-1] - ascending[0]
            found[order[[0, -1]]] = np.inf
            # Where all are equal in an objective, it tells none of them apart.
            if spread > 0:
                found[order[1:-1]] += (ascending[2:] - ascending[:-2]) / spread
        return found

    def _kept_apart(self) -> list[int]:
        if self._apart is None:
            np = self._np
            total = len(self._keys)
            # The largest k with k / n <= share; the product may round to either side of it, so both candidates are tried.
            left = max(k for k in (int(total * self._share), int(total * self._share) + 1) if k == 0 or k / total <= self._share)
            found: list[int] = []
            fronts = self._fronts[:total]
            front = 0
            while len(found) < left:
                members = np.flatnonzero(fronts == front)
                # A front that fits is taken whole and needs no order; in the one that straddles the limit the least crowded come first.
                order = members if len(members) + len(found) <= left else members[np.argsort(-self._crowding(members), kind="stable")]
                found += [self._keys[k] for k in order]
                front += 1
            self._apart = found[:left]
        return self._apart
