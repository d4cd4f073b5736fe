"""Gathers metrics of one level into one report; standard library only, as it travels to jobs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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

    def add(self, found: Mapping[str, Any], *, is_news: bool = True) -> Iterator[dict[str, Any]]:
        """Take metrics that stood together; yield the report of the level that is over with them, if it was not told.

        Args:
            found: with the level, or of the level before.
            is_news: whether there is something to report in them.
        """
        level, known = found.get(self._level), self.level
        if level is not None and known is not None and level != known:
            if self._is_due:
                yield self._told()
            self._gathered = {}
        self._is_due = self._is_due or (is_news and any(name != self._level for name in found))
        self._gathered.update(found)

    def adds_to(self, found: Mapping[str, Any]) -> bool:
        """Return whether metrics tell anything beside what is gathered; a NaN is the same as another."""
        return any(repr(self._gathered.get(name)) != repr(value) or name not in self._gathered for name, value in found.items())

    def ready(self) -> Iterator[dict[str, Any]]:
        """Yield the report of the level as far as it is known, if all that is wanted is there and it was not told."""
        if self._is_due and self._wanted <= self._gathered.keys():
            yield self._told()

    def finish(self) -> Iterator[dict[str, Any]]:
        """Yield what was not told yet, as nothing follows."""
        if self._is_due:
            yield self._told()

    def _told(self) -> dict[str, Any]:
        self._is_due = False
        return dict(self._gathered)


def number(text: str) -> Any:
    """Return what a text holds: a whole number, a number (NaN and infinities included), or the text where it is none."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
