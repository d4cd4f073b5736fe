"""How far a program is, from the counters in its own lines: epochs and steps in them become one count."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from backends.metrics.expression import Expression
from backends.metrics.patterns import own_parts
from backends.metrics.prefilter import required_texts
from definitions.metrics import ProgressSources

_RECENT = 64
"""Counts that are remembered: what is said again is said by another rank, or by a bar that is drawn again."""


class Count(NamedTuple):
    """How far a program says that it is: `done` of `total`, or of `at_most` where it may stop early; None of what it does not say."""

    done: float
    total: float | None
    at_most: float | None = None


class ProgressLines:
    """Finds the counters of one life of a program in its lines.

    Args:
        sources: what to look for.

    Attributes:
        texts: of which a line has one, or nothing is found in it; None where that is not known.
    """

    def __init__(self, sources: ProgressSources) -> None:
        self._sources = sources
        self._expressions = [Expression(text) for text in sources.expressions]
        found = [required_texts(text) for text in sources.expressions]
        known = [texts for texts in found if texts is not None]
        self.texts = tuple({text for texts in known for text in texts}) if len(known) == len(found) else None
        self.ignores_case = any(one.ignores_case for one in self._expressions)
        self._has_steps, self._says_begins = (any(place in text for text in sources.expressions) for place in ("?P<step>", "?P<begins>"))
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what was counted, as the program begins another life."""
        self._counters: dict[str, float] = {}
        self._first_epoch: int | None = None
        self._epoch_steps: float | None = None
        self._recent: deque[Count] = deque()
        self._known: set[Count] = set()

    def take(self, text: str) -> Count | None:
        """Take a line; return how far the program is now, where the line says so and it was not said before."""
        is_new = False
        for part in own_parts(text) if "]" in text else (text,):
            for expression in self._expressions:
                match = expression.search(part)
                if match is not None:
                    self._update({name: float(number) for name, number in match.groupdict().items() if number is not None})
                    is_new = True
        found = self._count() if is_new else None
        if found is None or found in self._known:
            return None
        self._recent.append(found)
        self._known.add(found)
        if len(self._recent) > _RECENT:
            self._known.discard(self._recent.popleft())
        return found

    def _update(self, found: dict[str, float]) -> None:
        counters = self._counters
        if "begins" in found:
            found["epoch"] = found.pop("begins")
        if "epoch" in found:
            if self._first_epoch is None:
                # Who counts from 0 begins with it.
                self._first_epoch = 0 if found["epoch"] == 0 else 1
            if found["epoch"] != counters.get("epoch") and "epoch" in counters:
                # Where it does not say how many steps an epoch has, those of the one before are counted.
                self._epoch_steps = counters.get("step") or self._epoch_steps
                counters["step"] = 0.0
        counters.update(found)

    def _count(self) -> Count | None:
        counters = self._counters
        if "percent" in counters:
            return Count(counters["percent"], 100.0)
        at_most, steps = counters.get("at_most"), counters.get("steps")
        if "epoch" not in counters:
            return Count(counters["step"], steps, at_most) if "step" in counters else None
        epochs = counters.get("epochs", self._sources.epochs)
        before = counters["epoch"] - (self._first_epoch or 0)
        if not self._has_steps:
            return Count(before if self._says_begins else before + 1, epochs, at_most)
        each = steps if steps is not None else self._epoch_steps
        if each is None:
            return Count(counters.get("step", 0.0), None) if before == 0 else None
        return Count(before * each + counters.get("step", 0.0), None if epochs is None else epochs * each)
