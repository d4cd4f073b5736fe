"""The report of some experiments as files: the page, and the data of its figures beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarking.comparison.methods import ComparisonQuestion
    from benchmarking.figures.data import Figure
    from benchmarking.page.drawing import Page

REPORT = "report.html"
"""What a report is called unless it is said."""


@dataclass(frozen=True)
class WrittenReport:
    """A report that was written.

    Args:
        path: of the page.
        page: what it holds.
        data: of its figures.
        drawn: whether its figures are drawn.
    """

    path: Path
    page: Page
    data: Path
    drawn: bool


def report_page(
    named: Sequence[str], results_dir: Path, question: ComparisonQuestion, say: Callable[[str], None] | None = None
) -> tuple[Page, list[Figure]]:
    """Return the report of the experiments that are named, and its figures.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        question: what is asked of the comparison.
        say: takes what cannot be read as it should; it is printed where this is not given.

    Raises:
        UserError: there is nothing to report on, or the question does not fit it.
    """
    from benchmarking.comparison.document import document
    from benchmarking.figures.every import figures_of
    from benchmarking.page.report import page_of
    from launch.named_results import looks_of, named_details

    experiments = named_details(named, results_dir, "report", say)
    runs = [one.run for one in experiments]
    question = replace(question, looks=looks_of(named, results_dir, "report"))
    compared = document(runs, question)
    figures = figures_of(experiments, compared, question)
    return page_of(", ".join(dict.fromkeys(run.tag for run in runs)), runs, compared, figures), figures


def write_report(
    named: Sequence[str], results_dir: Path, output: Path, question: ComparisonQuestion, say: Callable[[str], None] | None = None
) -> WrittenReport:
    """Write the report of the experiments that are named, and beside it the data of its figures as NAME.figures.json.

    Args:
        named: tags and folders.
        results_dir: folder of results, where tags are.
        output: the file to write.
        question: what is asked of the comparison.
        say: as for `report_page`.

    Raises:
        UserError: as `report_page`; a file cannot be written.
    """
    from benchmarking.figures.data import as_json
    from benchmarking.page.library import drawing_library
    from benchmarking.page.render import render
    from definitions.files import write_atomically

    page, figures = report_page(named, results_dir, question, say)
    library = drawing_library()
    data = output.with_name("figures.json" if output.name == REPORT else f"{output.stem}.figures.json")
    write_atomically(data, as_json(figures))
    write_atomically(output, render(page, library))
    return WrittenReport(output, page, data, library is not None)
