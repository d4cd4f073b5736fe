"""The report of some experiments as files: the page, and the data of its figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.comparison.methods import ComparisonQuestion
    from benchmarking.page.drawing import Page


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Args:
        path: of the page.
        page: what it holds.
        drawn: whether its figures are drawn.
    """

    path: Path
    page: Page
    drawn: bool


def report_page(named: Sequence[str], results_dir: Path, question: ComparisonQuestion) -> Page:
    """Return the report of the experiments that are named.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        question: what is asked of the comparison.

    Raises:
        UserError: there is nothing to report on, or the question does not fit it.
    """
    from benchmarking.comparison.document import document
    from benchmarking.page.report import page_of
    from launch.named_results import named_runs

    found = named_runs(named, results_dir, "report")
    return page_of(", ".join(dict.fromkeys(run.tag for _, run in found)), found, document([run for _, run in found], question))


def write_report(named: Sequence[str], results_dir: Path, output: Path, question: ComparisonQuestion) -> WrittenReport:
    """Write the report of the experiments that are named.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        output: the file to write.
        question: what is asked of the comparison.

    Raises:
        UserError: as `report_page`; the file cannot be written.
    """
    from benchmarking.page.library import drawing_library
    from benchmarking.page.render import render
    from definitions.files import write_atomically

    page = report_page(named, results_dir, question)
    library = drawing_library()
    write_atomically(output, render(page, library))
    return WrittenReport(output, page, library is not None)
