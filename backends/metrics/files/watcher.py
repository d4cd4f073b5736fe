"""Watches all files that a job's metrics are read from, and makes reports of what comes."""

from __future__ import annotations

import glob
import os
import re

from backends.metrics.files.documents import JsonReader
from backends.metrics.files.events import STEP, EventsReader
from backends.metrics.files.lines import CsvReader, JsonLinesReader
from backends.metrics.gathering import LevelGatherer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from backends.metrics.files.rows import Reader
    from definitions.file_source import FileSource

_READERS = {"csv": CsvReader, "jsonl": JsonLinesReader, "json": JsonReader, "tensorboard": EventsReader}
_MOST_FILES = 100
_MOST_TURNS = 8
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])rank[_.=-]?0*[1-9][0-9]*(?![0-9])", re.IGNORECASE)
_PLACE = re.compile(r"\$(\$\{)|\$\{([^{}]+)\}")


class MetricFiles:
    """The files of one job.

    Args:
        sources: what is read.
        folder: where the job starts.
        places: what `${place}` in a path stands for.
    """

    def __init__(self, sources: Sequence[FileSource], folder: str, places: Mapping[str, str]) -> None:
        self._sources = [_Watched(source, _path(source.path, folder, places)) for source in sources]
        levels = [source.level_name for source in self._sources if source.level_name is not None]
        wanted = [name for source in sources for name in source.wanted]
        self._level = levels[0] if levels else None
        self._gatherer = LevelGatherer(self._level, wanted) if self._level is not None else None

    def begin(self) -> None:
        """Take what is there before the script starts as not its own."""
        for source in self._sources:
            source.begin()

    def read(self) -> list[dict[str, Any]]:
        """Return the reports of what was written since, as much as can be read in a moment."""
        found, is_more = self._some()
        if not is_more and self._gatherer is not None:
            found += self._gatherer.ready()
        return found

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        """Return all that is left, and release the files.

        Args:
            is_whole: whether the script ended by itself, so that a last line without an end is not cut off.
        """
        for source in self._sources:
            source.look_again()
        found, is_more = self._some()
        while is_more:
            more, is_more = self._some()
            found += more
        found += self._reports([row for source in self._sources for row in source.finish(is_whole)])
        if self._gatherer is not None:
            found += self._gatherer.finish()
        return found

    @property
    def other_ranks(self) -> int:
        """Rows of ranks other than 0, which are not reported."""
        return sum(source.other_ranks for source in self._sources)

    def problems(self) -> list[str]:
        """Return a sentence for each source that gave less than it should have: no file, unreadable rows, no such column."""
        return [text for source in self._sources for text in source.problems()]

    def _some(self) -> tuple[list[dict[str, Any]], bool]:
        rows: list[dict[str, Any]] = []
        is_more = True
        for _ in range(_MOST_TURNS):
            read = [source.read() for source in self._sources]
            rows += [row for some, _ in read for row in some]
            is_more = any(more for _, more in read)
            if not is_more:
                break
        return [*self._reports(rows)], is_more

    def _reports(self, rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        if self._gatherer is None or self._level is None:
            yield from rows
            return
        # What several files have of one level belongs together; what has no level belongs to that before it.
        level = self._gatherer.level
        keyed = []
        for row in rows:
            level = row.get(self._level, level)
            keyed.append((level if isinstance(level, (int, float)) else float("-inf"), row))
        for _, row in sorted(keyed, key=lambda one: one[0]):
            if self._level not in row and self._gatherer.level is None:
                yield row
            else:
                yield from self._gatherer.add(row, is_news=self._gatherer.adds_to(row))


class _Watched:
    """One source: the files that its pattern matches, and what its columns are called in reports."""

    def __init__(self, source: FileSource, pattern: str) -> None:
        self._source, self._pattern = source, pattern
        self._readers: dict[str, Reader] = {}
        self.other_ranks = 0
        # Of event files the steps tell rows apart anyway, so that they are levels where nothing else is.
        steps = source.format == "tensorboard" and not source.level
        self._level = STEP if steps else source.level
        self.level_name = None if self._level is None else source.reported_as or self._level or "step"

    def begin(self) -> None:
        for path in self._paths():
            self._reader(path).begin()

    def read(self) -> tuple[list[dict[str, Any]], bool]:
        rows: list[dict[str, Any]] = []
        is_more = False
        for path in self._paths():
            some, more = self._reader(path).read()
            rows += self._own(some)
            is_more = is_more or more
        return rows, is_more

    def look_again(self) -> None:
        for reader in self._readers.values():
            reader.look_again()

    def finish(self, is_whole: bool) -> list[dict[str, Any]]:
        return self._own([row for reader in self._readers.values() for row in reader.finish(is_whole)])

    def problems(self) -> Iterator[str]:
        if not self._readers:
            yield f"there is no {self._source.path}, which `read` names"
            return
        unreadable = sum(reader.unreadable for reader in self._readers.values())
        if unreadable:
            yield f"{unreadable} row{'s' * (unreadable > 1)} of {self._source.path} could not be read"
        columns = dict.fromkeys(name for reader in self._readers.values() for name in reader.columns)
        wanted = [*([self._source.level] if self._source.level else []), *self._source.names]
        missing = [name for name in wanted if name not in columns]
        if missing and columns:
            names = ", ".join(list(columns)[:20])
            yield f"{self._source.path} has no {', '.join(missing)}; it has {names}"

    def _paths(self) -> list[str]:
        found = sorted(glob.glob(self._pattern, recursive=True))  # noqa: PTH207 (as text, several times a second)
        # One that is gone was perhaps replaced just now, and what was written to it until then is still to be read.
        paths = [*dict.fromkeys([*self._readers, *found])]
        return [path for path in paths if not _RANK_IN_NAME.search(os.path.basename(path))][:_MOST_FILES]  # noqa: PTH119

    def _reader(self, path: str) -> Reader:
        if path not in self._readers:
            self._readers[path] = _READERS[self._source.format](path)
        return self._readers[path]

    def _own(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows of rank 0, or of none, as they are reported."""
        own = [row for row in rows if all(row.get(name) in (None, 0) for name in self._source.ranks)]
        self.other_ranks += len(rows) - len(own)
        return [self._named(row) for row in own]

    def _named(self, row: Mapping[str, Any]) -> dict[str, Any]:
        found = {self._source.names.get(name, name): value for name, value in row.items() if name not in (STEP, self._level)}
        if self._level is not None and self.level_name is not None and self._level in row:
            level = row[self._level]
            is_number = isinstance(level, (int, float)) and not isinstance(level, bool)
            found[self.level_name] = level + 1 if is_number and self._source.counts_from == 0 else level
        return found


def _path(path: str, folder: str, places: Mapping[str, str]) -> str:
    filled = _PLACE.sub(lambda match: match[1] or glob.escape(places[match[2]]), path)
    return os.path.join(glob.escape(folder), filled)  # noqa: PTH118
