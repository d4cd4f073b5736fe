"""The report of experiments that go on: made anew when they have changed, and how they stand at its top."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from definitions.errors import UserError
from launch.report_server import ServedReport

if TYPE_CHECKING:
    from benchmarking.page.drawing import Section
    from benchmarking.status import ExperimentStatus

_REST = 4.0
"""How many times as long as it took to make a report at least passes until the next is made: readers take a fifth of a core at most."""


class LiveReport:
    """Makes the report of some tags when it is asked for and something has changed; else gives the last one.

    Args:
        look: returns the folders of the tags, and how their experiments stand.
        clock: seconds that only go forward.
    """

    def __init__(
        self,
        look: Callable[[], tuple[Sequence[Path], Sequence[ExperimentStatus]]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from benchmarking.page.library import drawing_library

        self._look, self._clock = look, clock
        self._library = drawing_library()
        self._making = threading.Lock()
        self._last: ServedReport | None = None
        self._seen: Sequence[ExperimentStatus] = ()
        self._not_before = 0.0

    def __call__(self) -> ServedReport:
        """Return the report; while it is made for one reader, others get the one before, and wait only for the first."""
        last = self._last
        if not self._making.acquire(blocking=last is None):
            assert last is not None
            return last
        try:
            if self._last is None or self._clock() >= self._not_before:
                self._renew()
            assert self._last is not None
            return self._last
        finally:
            self._making.release()

    def _renew(self) -> None:
        began = self._clock()
        folders, standing = self._look()
        if self._last is None or standing != self._seen:
            self._last, self._seen = self._made(folders, standing), standing
        self._not_before = self._clock() + _REST * (self._clock() - began)

    def _made(self, folders: Sequence[Path], standing: Sequence[ExperimentStatus]) -> ServedReport:
        from benchmarking.archive.stored import experiments_of
        from benchmarking.figures.data import as_json
        from benchmarking.page.drawing import Page
        from benchmarking.page.render import render
        from launch.report_files import report_page

        try:
            begun = [str(folder) for folder in folders if experiments_of(folder)]
            if not begun:
                raise UserError("no experiment has begun")
            made = report_page(begun, folders[0].parent, {}, lambda line: None)
            page, figures = made.page, made.figures
        except UserError as error:
            title = ", ".join(folder.name for folder in folders)
            page, figures = Page(f"Outrider report: {title}", "", (), (" ".join(str(error).split()),), ()), []
        page = replace(page, sections=[standing_section(standing), *page.sections])
        data = as_json(figures)
        version = hashlib.sha256(f"{page!r}\n{data}".encode("utf-8", "backslashreplace")).hexdigest()[:32]
        return ServedReport(version, render(page, self._library, version=version), data)


def standing_section(found: Sequence[ExperimentStatus]) -> Section:
    """Return a table of how experiments stand, as `outrider status` shows it."""
    from benchmarking.page.drawing import Section
    from benchmarking.page.tables import table_of

    counts = Counter(str(one.standing) for one in found)
    about = f"{len(found)} experiments: {', '.join(f'{count} {standing}' for standing, count in counts.items())}. This page renews itself."
    rows = [
        {
            "tag": one.tag,
            "benchmark": one.benchmark,
            "method": one.method,
            "seed": one.seed,
            "state": str(one.standing),
            "trials": ", ".join(f"{count} {status}" for status, count in one.trials.items()),
            "objective": one.objective,
            "best": one.best,
            "time (s)": one.elapsed_s if one.trials else None,
            "spent (USD)": one.spent_usd if one.trials else None,
            "forecast": one.forecast,
            "note": one.note,
        }
        for one in found
    ]
    # What is empty in all rows is no column.
    there = [name for name in rows[0] if any(row[name] not in (None, "") for row in rows)] if rows else []
    return Section(
        "standing",
        "How they stand",
        notes=[about],
        tables=[table_of("Each experiment", [{name: row[name] for name in there} for row in rows])],
    )
