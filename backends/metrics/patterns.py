"""Finds metrics in lines by regular expressions, and gathers those of one level into one report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from backends.metrics.expression import SAFE_LENGTH, Expression
from backends.metrics.gathering import LevelGatherer, number
from backends.metrics.prefilter import required_texts
from definitions.metrics import MetricSources, counted

if TYPE_CHECKING:
    from backends.metrics.presets import Preset

ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\r\n]*(?:\x07|\x1b\\)|[@-Z\\-_])|\x08+")
"""Colours, movements of the cursor, titles of windows, backspaces."""

_RANKS = re.compile(r"\[(?:rank|default)([0-9]+)\]: ?|\[[0-9]+,([0-9]+)\]<std(?:out|err)>: ?")
_RANK_ENDS = (b"]:", b">:")
_MOST_CODES = 16
_NARROWEST = 60
"""A shorter line is not wrapped."""


class MetricMatcher:
    """Finds the metrics of one job in its lines.

    Args:
        sources: what to look for.

    Attributes:
        texts: of which a line has one, or it can be given to `passed`; None where that is not known.
        ignores_case: whether upper and lower case are the same in these.
    """

    def __init__(self, sources: MetricSources) -> None:
        self._expressions = [(name, Expression(text)) for name, text in sources.expressions]
        self._presets = _presets(sources.presets)
        levels = [preset.level_name for preset in self._presets]
        known = sources.level in [*levels, *(name for name, _ in sources.expressions)]
        # What a library prints is counted as it is read.
        self._from_zero = sources.from_zero if sources.from_zero in {name for name, _ in sources.expressions} else None
        self._level = sources.level if known else levels[0] if levels else None
        self._gatherer = None if self._level is None else LevelGatherer(self._level, sources.objectives)
        self._is_running = any(preset.is_running for preset in self._presets)
        self._wraps: list[Preset] = []
        # What has no words can be in any line, and is searched in each; that takes no longer than finding out where it can be.
        self._anywhere = [(name, one) for name, one in self._expressions if not one.has_words]
        expressions = [one.words for _, one in self._expressions if one.has_words]
        expressions += [required_texts(one) for preset in self._presets for one in preset.expressions()]
        known_texts = [texts for texts in expressions if texts is not None]
        self.texts = tuple({text for texts in known_texts for text in texts}) if len(known_texts) == len(expressions) else None
        self.ignores_case = any(one.ignores_case for _, one in self._expressions)
        self._open: dict[str, str] = {}
        self._bar: Mapping[str, Any] | None = None
        self._before, self._above = "", ""

    def remarks(self) -> list[str]:
        """Return a sentence for each expression that took too long on some lines, so that these were not searched to their end."""
        return [
            f"{one.given_up} lines took too long for the expression of {name!r} and were searched in part"
            for name, one in self._expressions
            if one.given_up
        ]

    def take(self, text: str, is_rewritten: bool) -> list[dict[str, Any]]:
        """Take one line; return the metrics of each report that is complete with it.

        Args:
            text: without its end.
            is_rewritten: whether it ends with a carriage return, as the states of a progress bar do.
        """
        reports: list[dict[str, Any]] = []
        before, self._open = self._open, {}
        for part in own_parts(text) if "]" in text else (text,):
            found = self._found(part, before, is_rewritten)
            if not found:
                continue
            # A bar is drawn again and again with the same figures, which are one report; in a line of their own they are another one.
            is_news = self._bar is None or not _same(self._bar, found)
            if self._gatherer is not None:
                reports += self._gatherer.add(found, is_news=is_news)
            elif is_news:
                reports.append(found)
            self._bar = found
        return reports if is_rewritten else reports + self.over()

    @property
    def is_open(self) -> bool:
        """Whether the next line may go on with what the last one began, as programs wrap lines to the width of a terminal."""
        return bool(self._open)

    def passed(self, lines: bytes) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Take whole lines that have none of the texts, while none is open.

        Args:
            lines: with their ends.

        Yields:
            Each line in which something was found, and the reports that are complete with it.
        """
        self._wraps, self._before = [], ""
        self._above = decoded(lines[lines.rfind(b"\n", 0, -1) + 1 :].rstrip(b"\n")) if lines.endswith(b"\n") else ""
        if not self._anywhere:
            if reports := self.over() if b"\n" in lines else []:
                yield "", reports
            return
        if b"\r" in lines:
            lines = lines.replace(b"\r\n", b"\n")
        rows = _decoded_rows(lines)
        if b"\r" in lines or any(mark in lines for mark in _RANK_ENDS):
            yield from self._each(rows)
            return
        del rows[-1]
        # What came before may be due with the first line's end, whatever that line is.
        yield from self._each([*rows[:1], ""])
        anywhere = [(name, one.search_in(rows)) for name, one in self._anywhere]
        for row in rows[1:]:
            found = {}
            for name, search in anywhere:
                match = search(row)
                if match is not None and match[1] is not None:
                    found[name] = number(match[1])
            if self._from_zero is not None:
                found = dict(counted(found, self._from_zero))
            if found:
                yield row, [found] if self._gatherer is None else self._gatherer.add(found) + self.over()

    def _each(self, rows: Iterable[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Take lines one by one; what stands before a carriage return is a state of a bar."""
        *whole, last = rows
        for row, is_whole in [*((row, True) for row in whole), (last, False)]:
            *states, line = row.split("\r")
            for state in filter(None, states):
                if reports := self.take(state, is_rewritten=True):
                    yield state, reports
            if is_whole and (reports := self.take(line, is_rewritten=False)):
                yield line, reports

    def over(self) -> list[dict[str, Any]]:
        """Take the end of a line that is not written over; return the report of the level as far as it is known, if it is due."""
        self._bar = None
        return [] if self._gatherer is None or self._is_running else self._gatherer.ready()

    def finish(self) -> list[dict[str, Any]]:
        """Return what is gathered and was not yet told."""
        return [] if self._gatherer is None else self._gatherer.finish()

    def _found(self, text: str, before: Mapping[str, str], is_rewritten: bool) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._presets:
            shown = [(preset, {} if self._is_recalled(preset) else self._by_preset(preset, text)) for preset in self._presets]
            self._wraps = [preset for preset, metrics in shown if metrics]
            for _, metrics in shown:
                found |= metrics
        for name, expression in self._expressions:
            match = expression.search(text)
            above = before.get(name, self._above)
            if match is None and len(above) >= _NARROWEST and (name in before or expression.may_end_in(text, above)):
                match = expression.search_wrapped(above, text)
            if match is None and not is_rewritten and len(text) >= _NARROWEST and expression.goes_on_after(text):
                self._open[name] = text
            if match is not None and match[1] is not None:
                found[name] = number(match[1])
        if self._from_zero is not None:
            found = dict(counted(found, self._from_zero))
        self._before, self._above = text[:SAFE_LENGTH], "" if is_rewritten else text
        return found

    def _by_preset(self, preset: Preset, text: str) -> dict[str, Any]:
        text = text[:SAFE_LENGTH]
        found: dict[str, Any] = {}
        goes_on = preset.wrapped is not None and preset in self._wraps and preset.wrapped.search(text) is not None
        if goes_on or preset.line.search(text) is not None:
            found = {
                "-".join(part.strip().replace(" ", "-") for part in names): number(value) for *names, value in preset.pair.findall(text)
            }
        level = preset.level.search(text) if preset.level is not None and (found or preset.level_added == 0) else None
        if level is not None:
            found[preset.level_name] = int(level[1]) + preset.level_added
        return found

    def _is_recalled(self, preset: Preset) -> bool:
        return preset.recalled_after is not None and preset.recalled_after.search(self._before) is not None


class EscapeRemover:
    """Takes colours and backspaces out of lines; the few codes that a program uses are known after the first lines."""

    def __init__(self) -> None:
        self._codes: list[bytes] = []

    def plain(self, lines: bytes) -> bytes:
        """Return lines without colours and backspaces."""
        if b"\x08" in lines:
            return ESCAPES.sub(b"", lines)
        if b"\x1b" in lines:
            # Many times faster than by an expression.
            for code in self._codes:
                lines = lines.replace(code, b"")
            if b"\x1b" in lines:
                found = dict.fromkeys(ESCAPES.findall(lines))
                self._codes = [*found, *self._codes][:_MOST_CODES]
                lines = ESCAPES.sub(b"", lines)
        return lines


def decoded(line: bytes) -> str:
    """Return a line as text: UTF-8, else Latin-1, in which all bytes are letters."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _presets(names: Sequence[str]) -> list[Preset]:
    if not names:
        return []
    # Compiling theirs takes longer than all that most jobs need to have their output read.
    from backends.metrics.presets import PRESETS

    return [PRESETS[name] for name in names]


def _decoded_rows(lines: bytes) -> list[str]:
    """Return as text what stands between line feeds, and after the last."""
    try:
        return lines.decode().split("\n")
    except UnicodeDecodeError:
        return ["\r".join(map(decoded, row.split(b"\r"))) for row in lines.split(b"\n")]


def own_parts(text: str) -> Iterator[str]:
    """Yield what rank 0 printed in a line, or who tells no rank: several may have written into the same one."""
    start, rank = 0, 0
    for match in _RANKS.finditer(text):
        if rank == 0 and match.start() > start:
            yield text[start : match.start()]
        start, rank = match.end(), int(match[1] or match[2])
    if rank == 0:
        yield text[start:]


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two states show the same, where a NaN is the same as another."""
    return repr(one) == repr(other)
