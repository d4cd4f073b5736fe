"""Gathers metrics of one level into one report; standard library only, as it travels to jobs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


class LevelGatherer:
    """Makes one report of all that is found at one level.

    Args:
        level: the metric that says how far a job is.
        wanted: metrics that a report waits for until the next level begins.
    """

    def __init__(self, level: str, wanted: Iterable[str]) -> None:
        self._level = level
        self._wanted = frozenset(wanted)
        self._gathered: dict[str, Any] = {}
        self._is_due = False

    @property
    def level(self) -> Any:
        """The level of what is gathered; None as long as there was none."""
        return self._gathered.get(self._level)

    def add(self, found: Mapping[str, Any], *, is_news: bool = True) -> list[dict[str, Any]]:
        """Take metrics that stood together; return the report of the level that is over with them, if it was not told.

        Args:
            found: with the level, or of the level before.
            is_news: whether there is something to report in them.
        """
        level, known = found.get(self._level), self._gathered.get(self._level)
        reports = []
        if level is not None and known is not None and level != known:
            reports = self.finish()
            self._gathered = {}
        if is_news and not self._is_due:
            self._is_due = len(found) > (self._level in found)
        self._gathered.update(found)
        return reports

    def adds_to(self, found: Mapping[str, Any]) -> bool:
        """Return whether metrics tell anything beside what is gathered; a NaN is the same as another."""
        return any(repr(self._gathered.get(name)) != repr(value) or name not in self._gathered for name, value in found.items())

    def ready(self) -> list[dict[str, Any]]:
        """Return the report of the level as far as it is known, if all that is wanted is there and it was not told."""
        return self.finish() if self._is_due and self._wanted <= self._gathered.keys() else []

    def finish(self) -> list[dict[str, Any]]:
        """Return what was not told yet."""
        if not self._is_due:
            return []
        self._is_due = False
        return [dict(self._gathered)]


def number(text: str) -> Any:
    """Return what a text holds: a whole number, a number (NaN and infinities included), or the text where it is none."""
    try:
        if "." not in text:
            return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
